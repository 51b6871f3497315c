// Plays a model for an agent: it asks for one call of a tool, and then says what came of it.
//
//	node model.mjs TOOL ARGUMENTS
//
// It serves the API of Claude on a free port of 127.0.0.1, which the first line of its output names.
import { createServer } from 'node:http';

const [tool, args] = [process.argv[2], JSON.parse(process.argv[3])];

// answer gives what the model says next: the call, or its result.
function answer({ tools = [], messages }) {
  const last = messages.at(-1).content;
  const result = Array.isArray(last) && last.find((block) => block.type === 'tool_result');
  if (result) return { type: 'text', text: `the tool says ${JSON.stringify(result.content)}` };
  const name = tools.map((t) => t.name).find((n) => n.endsWith(`__${tool}`));
  if (!name) return { type: 'text', text: `there is no tool ${tool}` };
  return { type: 'tool_use', id: 'toolu_1', name, input: args };
}

// events gives the message as the API streams it.
function* events(model, block) {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
  yield { type: 'message_start', message };
  const isCall = block.type === 'tool_use';
  yield { type: 'content_block_start', index: 0, content_block: isCall ? { ...block, input: {} } : { type: 'text', text: '' } };
  const delta = isCall ? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) } : { type: 'text_delta', text: block.text };
  yield { type: 'content_block_delta', index: 0, delta };
  yield { type: 'content_block_stop', index: 0 };
  yield { type: 'message_delta', delta: { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } };
  yield { type: 'message_stop' };
}

const server = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  if (!request.url.startsWith('/v1/messages?') && request.url !== '/v1/messages') {
    response.end('{}');
    return;
  }
  const asked = JSON.parse(body);
  response.setHeader('Content-Type', 'text/event-stream');
  for (const event of events(asked.model, answer(asked))) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
