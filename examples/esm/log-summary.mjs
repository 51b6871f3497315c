import { readFile } from 'node:fs/promises'; // the same files as ctx.fs gives, by Node's own names

import { levelOf } from './lib/level.mjs';
import levels from './levels.json' with { type: 'json' };

export default async function logSummary({ path, last = 5 }, ctx) {
  const lines = (await readFile(path, 'utf8')).split(/\r?\n/);
  const counts = new Map(levels.map(({ name }) => [name, 0]));
  const errors = [];
  for (const [i, line] of lines.entries()) {
    if (i > 0 && i % 20000 === 0) {
      // Whoever waits sees how far it is; whoever has stopped waiting ends the work.
      ctx.progress(`${i} of ${lines.length} lines`);
      await new Promise((resolve) => setTimeout(resolve));
      ctx.signal.throwIfAborted();
    }
    const level = levelOf(line);
    if (level === null) continue;
    counts.set(level, counts.get(level) + 1);
    if (level === 'error') errors.push(`line ${i + 1}: ${line.slice(0, 500)}`);
  }
  ctx.log.debug(`${lines.length} lines read`); // to the host's log, not to the agent
  const head = [...counts].map(([name, n]) => `${name}: ${n}`).join(', ');
  return [head, ...errors.slice(Math.max(0, errors.length - last))].join('\n');
}
