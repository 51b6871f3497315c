import path from 'node:path';

import type { Context } from './context';
import { Kind, scan, type Finding } from './scan';

interface Params {
  path: string;
  kinds?: Kind[];
}

const skipped: ReadonlySet<string> = new Set(['node_modules', 'vendor', 'dist']);
const maxBytes = 1_000_000;
const maxFindings = 500;

export default async function todoList({ path: start, kinds = Object.values(Kind) }: Params, ctx: Context): Promise<string> {
  const findings: Finding[] = [];
  let files = 0;
  for await (const file of walk(start, ctx)) {
    const bytes = await ctx.fs.read(file);
    if (bytes.length > maxBytes || bytes.includes(0)) continue; // too long for source, or binary
    files++;
    for (const finding of scan(file, bytes.toString('utf8'))) {
      if (kinds.includes(finding.kind)) findings.push(finding);
    }
    if (findings.length > maxFindings) break;
  }
  const shown = findings.slice(0, maxFindings).map((f) => `${f.file}:${f.line}: ${f.kind} ${f.text}`.trimEnd());
  const more = findings.length > maxFindings ? [`[more than ${maxFindings}; name a deeper folder]`] : [];
  return [`${findings.length} found in ${files} ${files === 1 ? 'file' : 'files'}`, ...shown, ...more].join('\n');
}

/** Gives the files at a path, in the order of their names. */
async function* walk(at: string, ctx: Context): AsyncGenerator<string> {
  ctx.signal.throwIfAborted();
  const info = await ctx.fs.stat(at);
  if (info.isFile()) yield at;
  if (!info.isDirectory()) return;
  for (const name of await ctx.fs.list(at)) {
    if (!name.startsWith('.') && !skipped.has(name)) yield* walk(path.join(at, name), ctx);
  }
}
