import path from 'node:path';

import { findDelimiter, parseCsv } from './csv.js';

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads a table: {format, columns: [name], rows: [[cell]], ragged}. A cell is a text, a
 * number, a boolean, or null where there is none; ragged counts rows of another length.
 */
export async function readTable(file, delimiter, ctx) {
  const bytes = await ctx.fs.read(file);
  if (bytes.length > MAX_BYTES) throw new Error(`${file} has ${bytes.length} bytes; tables of up to ${MAX_BYTES} bytes are read`);
  if (bytes.includes(0)) throw new Error(`${file} is not a text file: it contains NUL bytes`);
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  const extension = path.extname(file).toLowerCase();
  if (extension === '.json') return fromJson(text, file);
  if (extension === '.jsonl' || extension === '.ndjson') return fromJsonLines(text, file);
  return fromCsv(text, file, delimiter ?? (extension === '.tsv' ? '\t' : findDelimiter(text)));
}

function fromCsv(text, file, delimiter) {
  let all;
  try {
    all = parseCsv(text, delimiter);
  } catch (err) {
    throw new Error(`${file}: ${err.message}`);
  }
  if (all.length === 0) throw new Error(`${file} is empty; a table needs a first line with the names of its columns`);
  const columns = uniqueNames(all[0]);
  let ragged = 0;
  const rows = all.slice(1).map((row) => {
    if (row.length !== columns.length) ragged++;
    return columns.map((_, i) => (row[i] === undefined || row[i] === '' ? null : row[i]));
  });
  const extra = all.reduce((most, row) => Math.max(most, row.length), 0) - columns.length;
  return { format: delimiter === '\t' ? 'TSV' : `CSV with ${JSON.stringify(delimiter)}`, columns, rows, ragged, extra };
}

/** Gives every column a name of its own: "name", "name (2)", "column 3" where it has none. */
function uniqueNames(header) {
  const seen = new Set();
  return header.map((raw, i) => {
    const base = raw.trim() || `column ${i + 1}`;
    let name = base;
    for (let n = 2; seen.has(name); n++) name = `${base} (${n})`;
    seen.add(name);
    return name;
  });
}

function fromJson(text, file) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (err) {
    throw new Error(`${file} is no valid JSON: ${err.message}`);
  }
  if (!Array.isArray(value)) throw new Error(`${file} is no table: its JSON is ${kindOf(value)}, and a list of objects is needed`);
  return fromObjects(value, file, 'JSON');
}

function fromJsonLines(text, file) {
  const values = [];
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    try {
      values.push(JSON.parse(line));
    } catch (err) {
      throw new Error(`${file}, line ${i + 1}, is no valid JSON: ${err.message}`);
    }
  }
  return fromObjects(values, file, 'JSON Lines');
}

function fromObjects(values, file, format) {
  const at = new Map(); // column name → index
  for (const [i, v] of values.entries()) {
    if (v === null || typeof v !== 'object' || Array.isArray(v)) {
      throw new Error(`${file} is no table: item ${i + 1} is ${kindOf(v)}, and every item must be an object`);
    }
    for (const name of Object.keys(v)) if (!at.has(name)) at.set(name, at.size);
    if (at.size > 2000) throw new Error(`${file} has more than 2000 columns`);
  }
  const columns = [...at.keys()];
  const rows = values.map((v) => columns.map((name) => (Object.hasOwn(v, name) ? cell(v[name]) : null)));
  return { format, columns, rows, ragged: 0, extra: 0 };
}

/** A JSON value as a cell: what is nested becomes its JSON text. */
function cell(value) {
  if (value === undefined || value === '') return null;
  return value !== null && typeof value === 'object' ? JSON.stringify(value) : value;
}

function kindOf(value) {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** A cell as a number, or NaN where it is none. */
export function toNumber(value) {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : NaN;
}

/** Compares two cells: numbers as numbers, everything else as text; empty cells come last. */
export function compare(a, b) {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const x = toNumber(a);
  const y = toNumber(b);
  const bothNumbers = !Number.isNaN(x) && !Number.isNaN(y);
  const [l, r] = bothNumbers ? [x, y] : [String(a), String(b)];
  return l < r ? -1 : l > r ? 1 : 0;
}

/** Gives the index of a column, or throws with the names that there are. */
export function columnIndex(table, name) {
  const i = table.columns.indexOf(name);
  if (i >= 0) return i;
  const near = table.columns.find((c) => c.trim().toLowerCase() === name.trim().toLowerCase());
  const names = table.columns.slice(0, 50).map((c) => JSON.stringify(c)).join(', ');
  throw new Error(`there is no column ${JSON.stringify(name)}${near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`} (columns: ${names}${table.columns.length > 50 ? ', …' : ''})`);
}

export function count(n, unit) {
  return `${n} ${unit}${n === 1 ? '' : 's'}`;
}
