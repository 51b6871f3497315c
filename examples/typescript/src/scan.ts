export enum Kind {
  Todo = 'TODO',
  Fixme = 'FIXME',
  Hack = 'HACK',
}

export interface Finding {
  file: string;
  line: number;
  kind: Kind;
  text: string;
}

// A comment sign must come before the word: "TODO" in a text is not one.
const comment = /(?:\/\/|#|\/\*|<!--|--|;|^\s*\*)\s*(TODO|FIXME|HACK)\b[:\s]*(.*)/;

export function* scan(file: string, text: string): Generator<Finding> {
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    const found = comment.exec(line);
    if (found === null) continue;
    const [, kind, rest] = found;
    yield { file, line: i + 1, kind: kind as Kind, text: rest.replace(/\s*(\*\/|-->)\s*$/, '').slice(0, 200) };
  }
}
