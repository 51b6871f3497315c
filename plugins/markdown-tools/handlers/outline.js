import { parse } from '../lib/markdown.js';
import { readText } from '../lib/read.js';

export default async function outline({ path, depth = 6 }, ctx) {
  const { headings } = parse(await readText(path, ctx));
  const shown = headings.filter((h) => h.level <= depth);
  if (shown.length === 0) return `${path} has no headings${headings.length > 0 ? ` down to level ${depth}` : ''}`;

  const top = Math.min(...shown.map((h) => h.level));
  return shown
    .map((h) => `${'  '.repeat(h.level - top)}- ${h.text || '(empty heading)'} (line ${h.line}, #${h.anchor})`)
    .join('\n');
}
