// A reader of prose gets through about this many words a minute (Brysbaert 2019).
const WORDS_PER_MINUTE = 238;

export default async function countWords({ path }, ctx) {
  const bytes = await ctx.fs.read(path);
  if (bytes.includes(0)) {
    throw new Error(`${path} is not a text file: it contains NUL bytes`);
  }
  const text = bytes.toString('utf8');
  const words = occurrences(text, /\S+/g);
  const breaks = occurrences(text, /\n/g);
  const lines = text === '' || text.endsWith('\n') ? breaks : breaks + 1;
  // A character outside the basic plane is two units of a JavaScript string.
  const characters = text.length - occurrences(text, /[\u{10000}-\u{10ffff}]/gu);
  const minutes = Math.max(1, Math.round(words / WORDS_PER_MINUTE));

  return [
    `${count(words, 'word')} in ${path}`,
    `${count(lines, 'line')}, ${count(characters, 'character')}, ${count(bytes.length, 'byte')}, about ${count(minutes, 'minute')} to read`,
  ].join('\n');
}

function occurrences(text, pattern) {
  return (text.match(pattern) ?? []).length;
}

function count(n, unit) {
  return `${n} ${unit}${n === 1 ? '' : 's'}`;
}
