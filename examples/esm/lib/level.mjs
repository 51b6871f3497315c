import levels from '../levels.json' with { type: 'json' };

const known = new Map(levels.flatMap(({ name, words }) => words.map((word) => [word, name])));
const word = new RegExp(`\\b(${[...known.keys()].join('|')})\\b`, 'i');

/** Gives the level that the first level word of a line stands for, or null. */
export function levelOf(line) {
  const found = word.exec(line);
  return found === null ? null : known.get(found[1].toLowerCase());
}
