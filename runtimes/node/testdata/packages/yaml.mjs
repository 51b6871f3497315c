import YAML, { parseDocument, parseAllDocuments, stringify, Lexer, Parser, isMap, Scalar, visit } from 'yaml';

const text = `# a comment
name: toolhost
version: 0x1F
list: [1, 2.5, .inf, -.INF, ~, true, 'quoted', "esc\\u00e9 \\n"]
anchors:
  base: &base {a: 1, b: 2}
  derived:
    <<: *base
    b: 3
folded: >-
  one
  two

  three
literal: |+
  keep
    this

? complex key
: [x, y]
date: 2024-02-29T10:00:00Z
octal: 0o17
binary: !!binary aGVsbG8=
set: !!set {x, y}
omap: !!omap [a: 1, b: 2]
emoji: "😀 ünï"
`;

export default async function () {
  const show = (name, value) => console.log(name, JSON.stringify(value));
  show('parse', YAML.parse(text, { merge: true }));
  const doc = parseDocument(text, { merge: true, customTags: ['timestamp', 'binary', 'set', 'omap'] });
  const js = doc.toJS();
  show('schema', [js.date.toISOString(), Buffer.from(js.binary).toString(), [...js.set], [...js.omap.entries()]]);
  doc.set('version', 2);
  doc.setIn(['anchors', 'base', 'c'], 'new');
  doc.getIn(['list'], true).flow = false;
  doc.delete('folded');
  doc.commentBefore = ' changed';
  console.log(doc.toString());
  console.log(stringify({ a: [1, { b: 'two\nlines\n', c: null }], d: 'yes', e: '123', f: -0, g: new Map([['k', new Set([1])]]), h: 'x: y # z', long: 'word '.repeat(30), date: new Date(0), n: 12345678901234567890n }));
  console.log(stringify({ z: 1, a: { q: 'it\'s' } }, { sortMapEntries: true, indent: 4, defaultStringType: 'QUOTE_DOUBLE', version: '1.1' }));
  show('all', parseAllDocuments('a: 1\n---\nb: 2\n...\n---\n- c\n').map((d) => d.toJS()));
  const broken = parseDocument('a: [1, 2\nb: {c: d\n  e: "unclosed\n');
  show('errors', broken.errors.map((e) => [e.name, e.code, e.linePos, e.message]));
  try {
    YAML.parse('a: 1\na: 2\n');
  } catch (err) {
    console.log(err.name, err.message);
  }
  show('reviver', YAML.parse('a: 1\nb: [2, 3]', (k, v) => (typeof v === 'number' ? v * 2 : v)));
  show('lexer', [...new Lexer().lex('- a: 1 # c\n')]);
  show('cst', [...new Parser().parse('a: *x\n')].map((t) => t.type));
  const visited = [];
  visit(parseDocument('a: [b, {c: d}]'), { Scalar: (k, n) => { visited.push(n.value); }, Pair: () => undefined });
  show('visit', visited);
  const made = new YAML.Document({ a: 1 });
  const scalar = new Scalar('folded text that is long enough to be folded somewhere near the end of this line, at eighty');
  scalar.type = 'BLOCK_FOLDED';
  made.set('b', scalar);
  made.contents.items[0].key.comment = ' trailing';
  show('made', [isMap(made.contents), made.toString()]);
  const shared = { s: 1 };
  console.log(stringify({ one: shared, two: shared }));
  show('core', ['yes', 'on', '012', '1_000', '0b11', '1:30'].map((s) => [YAML.parse(s), YAML.parse(s, { version: '1.1' })]));
}
