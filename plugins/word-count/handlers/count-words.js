// A reader of prose gets through about this many words a minute (Brysbaert 2019).
const WORDS_PER_MINUTE = 238;

const PART = 256 * 1024;

export default async function countWords({ path }, ctx) {
  const bytes = await ctx.fs.read(path);
  if (bytes.includes(0)) {
    throw new Error(`${path} is not a text file: it contains NUL bytes`);
  }
  const text = bytes.toString('utf8');
  let words = 0;
  let breaks = 0;
  let pairs = 0; // characters outside the basic plane are two units of a JavaScript string
  for (let at = 0; at < text.length; ) {
    // A part at a time, since what match gives takes many times the memory of the text.
    let end = Math.min(at + PART, text.length);
    if (isHighSurrogate(text, end - 1)) end++;
    const part = text.slice(at, end);
    words += occurrences(part, /\S+/g);
    if (at > 0 && /^\S/.test(part) && /\S$/.test(text.slice(at - 2, at))) words--; // the cut went through a word
    breaks += occurrences(part, /\n/g);
    pairs += occurrences(part, /[\u{10000}-\u{10ffff}]/gu);
    at = end;
  }
  const lines = text === '' || text.endsWith('\n') ? breaks : breaks + 1;
  const characters = text.length - pairs;
  const minutes = Math.max(1, Math.round(words / WORDS_PER_MINUTE));

  return [
    `${count(words, 'word')} in ${path}`,
    `${count(lines, 'line')}, ${count(characters, 'character')}, ${count(bytes.length, 'byte')}, about ${count(minutes, 'minute')} to read`,
  ].join('\n');
}

function occurrences(text, pattern) {
  return (text.match(pattern) ?? []).length;
}

function isHighSurrogate(text, at) {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff;
}

function count(n, unit) {
  return `${n} ${unit}${n === 1 ? '' : 's'}`;
}
