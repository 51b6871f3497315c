// Reads and writes CSV as RFC 4180 has it. Fields are found with indexOf rather than
// character by character: in an interpreter that is many times faster.

/** Reads a CSV text as a list of rows, each a list of texts. Empty lines are no rows. */
export function parseCsv(text, delimiter) {
  if (text.startsWith('\ufeff')) text = text.slice(1);
  if (!text.includes('"')) {
    return text.split(/\r\n|\n|\r/).filter((line) => line !== '').map((line) => line.split(delimiter));
  }
  const nextDelimiter = finder(text, delimiter);
  const nextLf = finder(text, '\n');
  const nextCr = finder(text, '\r');
  const rows = [];
  let row = [];
  let at = 0;
  while (at < text.length) {
    let field = '';
    if (text[at] === '"') [field, at] = quoted(text, at, rows.length + 1);
    // What stands between a closing quote and the delimiter belongs to the field, as spreadsheets read it.
    const end = Math.min(nextDelimiter(at), nextLf(at), nextCr(at));
    row.push(field + text.slice(at, end));
    at = end;
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

/** Gives a function that finds the next place of a mark, and looks at no character twice while places go up. */
function finder(text, mark) {
  let found = -1;
  return (from) => {
    if (found < from) {
      found = text.indexOf(mark, from);
      if (found < 0) found = text.length;
    }
    return found;
  };
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
