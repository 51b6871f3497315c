import readline from 'node:readline';
import { createInterface, Readline } from 'node:readline/promises';
import { Readable, PassThrough, Writable } from 'node:stream';
import fs from 'node:fs';
import { promisify } from 'node:util';

const attempt = async (name, f) => { try { console.log(name, await f()); } catch (e) { console.log(name, 'threw', e?.name, e?.code, e?.message ?? e); } };
const sink = () => { const out = []; return Object.assign(new Writable({ write(c, e, done) { out.push(String(c)); done(); } }), { out }); };

export default async function () {
  const lines = [];
  for await (const line of readline.createInterface({ input: Readable.from(['a\nb', 'c\r\n', 'd\re\r', '\nf\n\ng']), crlfDelay: Infinity })) lines.push(line);
  console.log(lines);
  fs.writeFileSync('lines.txt', 'zażółć\ngęślą\njaźń');
  const rl = readline.createInterface(fs.createReadStream('lines.txt', { highWaterMark: 3 }));
  const seen = [];
  rl.on('line', (line) => seen.push(line)).on('pause', () => seen.push('pause'));
  await new Promise((resolve) => rl.on('close', resolve));
  console.log(seen, rl.closed, rl.terminal, rl.line);
  const early = [];
  for await (const line of readline.createInterface({ input: fs.createReadStream('lines.txt') })) { early.push(line); break; }
  console.log(early);
  const input = new PassThrough(), output = sink();
  const asking = readline.createInterface({ input, output, prompt: '$ ' });
  const answer = new Promise((resolve) => asking.question('name? ', resolve));
  input.write('Ada\n');
  console.log(await answer, output.out);
  const again = promisify(asking.question).call(asking, 'again? ');
  input.write('yes\nline\n');
  console.log(await again, asking.getPrompt());
  asking.on('line', (line) => console.log('line', line));
  asking.prompt();
  input.write('last\n');
  await new Promise((resolve) => setTimeout(resolve, 5));
  asking.close();
  asking.close();
  await attempt('closed', () => asking.question('?', () => {}));
  console.log(output.out);
  const promising = createInterface({ input: Readable.from(['one\ntwo\n']), output: sink() });
  console.log(await promising.question('? '));
  await attempt('aborted', () => createInterface({ input: new PassThrough() }).question('?', { signal: AbortSignal.abort() }));
  const control = sink();
  readline.cursorTo(control, 3); readline.cursorTo(control, 1, 2); readline.moveCursor(control, -1, 2); readline.clearLine(control, 0); readline.clearScreenDown(control);
  await new Readline(control).cursorTo(0).clearLine(-1).commit();
  console.log(control.out);
  await attempt('cursor', () => readline.cursorTo(control, 'x'));
  const handle = await fs.promises.open('lines.txt');
  const found = [];
  for await (const line of handle.readLines()) found.push(line);
  console.log(found);
}
