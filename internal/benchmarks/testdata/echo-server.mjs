// An MCP server of the TypeScript SDK with one tool that gives its argument back: on stdio, or with
// the argument "http" on a free port of 127.0.0.1, which the first line of its output names.
// Run it in the folder that the SDK is installed in.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(process.cwd() + '/');
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { McpServer } = await load('@modelcontextprotocol/sdk/server/mcp.js');
const { z } = await load('zod');

function newServer() {
  const server = new McpServer({ name: 'echo', version: '1' });
  server.registerTool('echo', { description: 'Echoes.', inputSchema: { text: z.string() } },
    ({ text }) => ({ content: [{ type: 'text', text }] }));
  return server;
}

if (process.argv[2] === 'http') {
  const { StreamableHTTPServerTransport } = await load('@modelcontextprotocol/sdk/server/streamableHttp.js');
  const sessions = new Map();
  const web = createServer(async (req, res) => {
    let transport = sessions.get(req.headers['mcp-session-id']);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => sessions.set(id, transport),
      });
      await newServer().connect(transport);
    }
    await transport.handleRequest(req, res);
  });
  web.listen(0, '127.0.0.1', () => console.log(web.address().port));
  process.stdin.on('end', () => process.exit()).resume();
} else {
  const { StdioServerTransport } = await load('@modelcontextprotocol/sdk/server/stdio.js');
  await newServer().connect(new StdioServerTransport());
}
