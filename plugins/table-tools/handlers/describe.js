import { compare, count, readTable, toNumber } from '../lib/table.js';

const MAX_COLUMNS = 200;
const MAX_DISTINCT = 1000;

export default async function describe({ path, delimiter }, ctx) {
  const table = await readTable(path, delimiter, ctx);
  const lines = [`${path}: ${table.format}, ${count(table.rows.length, 'row')}, ${count(table.columns.length, 'column')}`];
  if (table.ragged > 0) {
    lines.push(`note: ${count(table.ragged, 'row')} of another length than the header${table.extra > 0 ? `; cells beyond it are left out` : ''}`);
  }
  for (const [i, name] of table.columns.slice(0, MAX_COLUMNS).entries()) {
    lines.push(`- ${JSON.stringify(name)}: ${describeColumn(table.rows, i)}`);
  }
  if (table.columns.length > MAX_COLUMNS) lines.push(`[${table.columns.length - MAX_COLUMNS} more columns not shown]`);
  return lines.join('\n');
}

function describeColumn(rows, i) {
  const distinct = new Set();
  let empty = 0;
  let min = null;
  let max = null;
  const types = new Set();
  for (const row of rows) {
    const value = row[i];
    if (value === null) {
      empty++;
      continue;
    }
    const text = String(value);
    if (distinct.has(text)) continue; // it tells nothing new
    if (distinct.size < MAX_DISTINCT) distinct.add(text);
    types.add(typeOf(value));
    if (min === null || compare(value, min) < 0) min = value;
    if (max === null || compare(value, max) > 0) max = value;
  }
  if (min === null) return 'no values';
  const parts = [typeName(types)];
  if (empty > 0) parts.push(`${empty} empty`);
  parts.push(`${distinct.size >= MAX_DISTINCT ? `at least ${MAX_DISTINCT}` : distinct.size} different`);
  if (distinct.size > 1) parts.push(`from ${short(min)} to ${short(max)}`);
  const examples = [...distinct].slice(0, 3).map(short).join(', ');
  return `${parts.join(', ')}; for example ${examples}`;
}

function typeOf(value) {
  if (typeof value === 'boolean' || value === 'true' || value === 'false') return 'boolean';
  const n = toNumber(value);
  if (!Number.isNaN(n)) return Number.isInteger(n) ? 'integer' : 'number';
  return /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/.test(value) ? 'date' : 'text';
}

function typeName(types) {
  if (types.size === 2 && types.has('integer') && types.has('number')) return 'number';
  return types.size === 1 ? [...types][0] : 'text';
}

function short(value) {
  const text = String(value);
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 39)}…` : text);
}
