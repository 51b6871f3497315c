import { writeCsv } from '../lib/csv.js';
import { columnIndex, compare, count, readTable } from '../lib/table.js';

// The host takes results of up to a mebibyte; quotes and line breaks grow in JSON.
const MAX_TEXT = 300_000;

export default async function filter(params, ctx) {
  const { path, where = [], sortBy, descending = false, offset = 0, limit = 50, output = 'csv', delimiter } = params;
  const table = await readTable(path, delimiter, ctx);
  const names = params.columns?.length > 0 ? params.columns : table.columns;
  const picked = names.map((name) => columnIndex(table, name));
  const tests = where.map((c) => condition(table, c));
  let rows = table.rows.filter((row) => tests.every((test) => test(row)));
  if (sortBy !== undefined) {
    const i = columnIndex(table, sortBy);
    rows.sort((a, b) => (descending && a[i] !== null && b[i] !== null ? compare(b[i], a[i]) : compare(a[i], b[i])));
  }
  const found = rows.length;
  rows = rows.slice(offset, offset + limit).map((row) => picked.map((i) => row[i]));

  let text = render(names, rows, output);
  while (text.length > MAX_TEXT && rows.length > 1) {
    rows = rows.slice(0, Math.max(1, Math.floor((rows.length * MAX_TEXT) / text.length / 1.1)));
    text = render(names, rows, output);
  }
  if (text.length > MAX_TEXT) {
    throw new Error(`one row alone has ${text.length} characters; ask for fewer columns (at most ${MAX_TEXT} characters are given)`);
  }
  return `${text}\n\n${summary(found, table.rows.length, offset, rows.length)}`;
}

function summary(found, total, offset, shown) {
  const head = `${found} of ${count(total, 'row')} ${found === 1 ? 'matches' : 'match'}`;
  if (shown === 0 && found > 0) return `${head}; offset ${offset} is beyond the last one`;
  if (shown === found) return head;
  const end = offset + shown;
  return `${head}; rows ${offset + 1} to ${end} are shown${end < found ? `, go on with offset ${end}` : ''}`;
}

function render(names, rows, output) {
  if (output === 'json') {
    // A list of pairs, not a plain object: a column may be named __proto__.
    const members = (row) => row.map((value, i) => `${JSON.stringify(names[i])}: ${JSON.stringify(value)}`).join(', ');
    return rows.length === 0 ? '[]' : `[\n${rows.map((row) => `  {${members(row)}}`).join(',\n')}\n]`;
  }
  return writeCsv([names, ...rows.map((row) => row.map((value) => (value === null ? '' : String(value))))]);
}

/** Makes a test for rows from one condition. */
function condition(table, { column, operator, value }) {
  const i = columnIndex(table, column);
  if (operator === 'empty') return (row) => row[i] === null;
  if (operator === 'notEmpty') return (row) => row[i] !== null;
  if (value === undefined) throw new Error(`the condition on ${JSON.stringify(column)} needs a value for ${operator}`);
  const wanted = value === '' ? null : value;
  const folded = String(value).toLowerCase();
  const text = (row) => (row[i] === null ? '' : String(row[i]).toLowerCase());
  const ordered = (test) => (row) => row[i] !== null && wanted !== null && test(compare(row[i], wanted));
  switch (operator) {
    case 'equals': return (row) => compare(row[i], wanted) === 0;
    case 'notEquals': return (row) => compare(row[i], wanted) !== 0;
    case 'contains': return (row) => text(row).includes(folded);
    case 'startsWith': return (row) => text(row).startsWith(folded);
    case 'endsWith': return (row) => text(row).endsWith(folded);
    case 'less': return ordered((c) => c < 0);
    case 'atMost': return ordered((c) => c <= 0);
    case 'greater': return ordered((c) => c > 0);
    default: return ordered((c) => c >= 0); // atLeast: the schema knows no other
  }
}
