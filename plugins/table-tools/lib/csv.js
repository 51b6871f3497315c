// Reads and writes CSV as RFC 4180 has it. Fields are found with indexOf rather than
// character by character: in an interpreter that is many times faster.

/** Reads a CSV text as a list of rows, each a list of texts. Empty lines are no rows. */
export function parseCsv(text, delimiter) {
  if (text.startsWith('\ufeff')) text = text.slice(1);
  if (!text.includes('"')) {
    return text.split(/\r\n|\n|\r/).filter((line) => line !== '').map((line) => line.split(delimiter));
  }
  const rows = [];
  let row = [];
  let at = 0;
  while (at < text.length) {
    let field;
    if (text[at] === '"') {
      [field, at] = quoted(text, at, rows.length + 1);
      // What stands between the closing quote and the delimiter belongs to the field, as spreadsheets read it.
      const end = fieldEnd(text, at, delimiter);
      field += text.slice(at, end);
      at = end;
    } else {
      const end = fieldEnd(text, at, delimiter);
      field = text.slice(at, end);
      at = end;
    }
    row.push(field);
    if (text[at] === delimiter) {
      at++;
      if (at < text.length) continue;
      row.push('');
    }
    if (text[at] === '\r' && text[at + 1] === '\n') at++;
    at++;
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  }
  return rows;
}

/** Reads the quoted field that starts at an index, and gives it with the index after it. */
function quoted(text, at, row) {
  const parts = [];
  for (let from = at + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote < 0) throw new Error(`the quote that opens a field in row ${row} is never closed`);
    if (text[quote + 1] !== '"') {
      parts.push(text.slice(from, quote));
      return [parts.join('"'), quote + 1];
    }
    parts.push(text.slice(from, quote));
    from = quote + 2;
  }
}

const LINE_END = /[\r\n]/g;

function fieldEnd(text, at, delimiter) {
  // Looking for the line's end first bounds the search for the delimiter to one line.
  LINE_END.lastIndex = at;
  const m = LINE_END.exec(text);
  const line = m === null ? text.length : m.index;
  const end = text.slice(at, line).indexOf(delimiter);
  return end < 0 ? line : at + end;
}

/** Finds out what separates the cells from the first line of a text. */
export function findDelimiter(text) {
  const first = text.slice(0, 10000).replace(/"[^"]*"/g, '').split(/[\r\n]/, 1)[0];
  let best = ',';
  let most = 0;
  for (const d of [',', ';', '\t', '|']) {
    const n = first.split(d).length;
    if (n > most) [best, most] = [d, n];
  }
  return best;
}

/** Writes rows of texts as CSV, without a line break at the end. */
export function writeCsv(rows) {
  return rows.map((row) => row.map(quote).join(',')).join('\n');
}

function quote(field) {
  return /[",\r\n]/.test(field) || field !== field.trim() ? `"${field.replace(/"/g, '""')}"` : field;
}
