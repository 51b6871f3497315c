import Papa from 'papaparse';
import { Readable } from 'node:stream';
import { writeFileSync, createReadStream } from 'node:fs';

const text = 'id,name,note,amount\r\n1,Ada,"quoted, with ""inner"" quotes",1.5\r\n2,Zoë,"two\r\nlines",\r\n3,"",plain,-2e3\r\n4,short\r\n5,a,b,c,d\r\n';

export default async function () {
  const show = (name, value) => console.log(name, JSON.stringify(value));
  show('plain', Papa.parse(text));
  show('header', Papa.parse(text, { header: true, dynamicTyping: true, skipEmptyLines: true }));
  show('delimiter', ['a;b;c\n1;2;3\n4;5;6', 'a\tb\n1\t2', 'a|b\n1|2', 'single\ncolumn'].map((s) => { const r = Papa.parse(s); return [r.data, r.meta.delimiter, r.meta.linebreak, r.errors]; }));
  show('comments', Papa.parse('# c\na,b\n#d\n1,2', { comments: '#', header: true }).data);
  show('transform', Papa.parse(' A , B \n x , y ', { header: true, transformHeader: (h) => h.trim().toLowerCase(), transform: (v, field) => `${field}:${v.trim()}` }).data);
  show('preview', Papa.parse(text, { preview: 2 }).meta);
  show('quotes', Papa.parse("'a','b''c'\n'd\ne',f", { quoteChar: "'" }).data);
  show('broken', Papa.parse('a,"b\nc,d').errors);
  const steps = [];
  Papa.parse(text, { header: true, step: (row, parser) => { steps.push(row.data.name); if (steps.length === 3) parser.abort(); }, complete: (r) => steps.push(r.meta.aborted) });
  show('step', steps);
  show('typed', Papa.parse('n,b,d,t\n1e3,TRUE,2024-02-29T00:00:00Z,007\n', { header: true, dynamicTyping: { n: true, b: true, d: true } }).data);
  console.log(Papa.unparse([{ a: 1, b: 'x,y', c: null }, { a: -2.5, b: 'q"q', c: 'line\nbreak', d: true }]));
  console.log(Papa.unparse({ fields: ['z', 'a'], data: [[1, 2], { z: 3, a: 4 }] }, { delimiter: ';', newline: '\n', quotes: true }));
  console.log(Papa.unparse([['=1+1', '@x', 'ok', ' space ', new Date(0)]], { escapeFormulae: true, header: false }));
  const chunks = [];
  await new Promise((complete, error) => {
    const stream = Readable.from(['a,b\n1,', '2\n3,"4', '4"\n5,6\n'].map((s) => Buffer.from(s)));
    Papa.parse(stream, { header: true, step: (r) => chunks.push(r.data), complete, error });
  });
  show('stream', chunks);
  const rows = [];
  const parser = Papa.parse(Papa.NODE_STREAM_INPUT, { dynamicTyping: true });
  parser.on('data', (row) => rows.push(row));
  const ended = new Promise((done, fail) => parser.on('end', done).on('error', fail));
  writeFileSync('data.csv', Array.from({ length: 3000 }, (_, i) => `${i},row ${i},${i / 4}`).join('\n'));
  createReadStream('data.csv', { highWaterMark: 1000 }).pipe(parser);
  await ended;
  show('pipe', [rows.length, rows[0], rows[2999]]);
}
