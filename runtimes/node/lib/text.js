'use strict';
// @toolhost/text: long texts, worked through in Go.
const { nodeError } = require('internal/errors');

const kind = (value) => value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`;
const wrong = (where, wanted, value) => nodeError('TypeError', 'ERR_INVALID_ARG_TYPE', `${where} must be ${wanted}, not ${kind(value)}`);
const isBytes = (value) => ArrayBuffer.isView(value) && !(value instanceof DataView);

function text(value, where) {
  if (typeof value === 'string' || isBytes(value)) return value;
  throw wrong(where, 'a string or a Buffer with UTF-8', value);
}

// take reads the options of a function: each has its default, by which its type is known.
function take(options, known, where) {
  if (options === undefined) return known;
  if (options === null || typeof options !== 'object') throw wrong(`the options of ${where}`, 'an object', options);
  const out = { ...known };
  for (const key of Object.keys(options)) {
    if (!Object.hasOwn(known, key)) throw nodeError('TypeError', 'ERR_INVALID_ARG_VALUE', `${where} has no option ${JSON.stringify(key)}; it has ${Object.keys(known).join(', ')}`);
    const value = options[key];
    if (value === undefined) continue;
    if (typeof value !== typeof known[key]) throw wrong(`the option ${JSON.stringify(key)} of ${where}`, `a ${typeof known[key]}`, value);
    if (typeof value === 'number' && !(Number.isInteger(value) && value >= 0)) throw nodeError('RangeError', 'ERR_OUT_OF_RANGE', `the option ${JSON.stringify(key)} of ${where} must be a whole number from 0 on, not ${value}`);
    out[key] = value;
  }
  return out;
}

const most = 100_000; // entries of one result

function limited(n, where) {
  if (n > most) throw nodeError('RangeError', 'ERR_OUT_OF_RANGE', `the option "limit" of ${where} may be ${most} at most, not ${n}`);
  return n === 0 ? most : n;
}

function wordCount(value) { return host.wordCount(text(value, 'the text of wordCount')); }

function wordFrequency(value, options) {
  const o = take(options, { caseSensitive: false, minLength: 1, limit: 1000 }, 'wordFrequency');
  return host.wordFrequency(text(value, 'the text of wordFrequency'), o.caseSensitive, o.minLength, limited(o.limit, 'wordFrequency'));
}

function lines(value) { return host.lines(text(value, 'the text of lines')); }

function search(value, pattern, options) {
  text(value, 'the text of search');
  const o = take(options, { limit: 1000, ignoreCase: false }, 'search');
  const limit = limited(o.limit, 'search');
  if (typeof pattern === 'string') {
    if (pattern === '') throw nodeError('TypeError', 'ERR_INVALID_ARG_VALUE', 'the pattern of search is empty');
    return o.ignoreCase ? host.search(value, pattern.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'i', limit) : host.search(value, pattern, undefined, limit);
  }
  if (Object.prototype.toString.call(pattern) !== '[object RegExp]') throw wrong('the pattern of search', 'a string or a RegExp', pattern);
  const flags = pattern.flags;
  return host.search(value, pattern.source, o.ignoreCase && !flags.includes('i') ? `${flags}i` : flags, limit);
}

function diff(from, to, options) {
  const o = take(options, { from: 'a', to: 'b' }, 'diff');
  return host.diff(text(from, 'the first text of diff'), text(to, 'the second text of diff'), o.from, o.to);
}

function hash(value, algorithm = 'sha256', encoding = 'hex') {
  text(value, 'the data of hash');
  if (typeof algorithm !== 'string') throw wrong('the algorithm of hash', 'a string', algorithm);
  if (encoding !== 'hex' && encoding !== 'base64' && encoding !== 'base64url') throw nodeError('TypeError', 'ERR_INVALID_ARG_VALUE', `the encoding of hash is "hex", "base64" or "base64url", not ${JSON.stringify(encoding)}`);
  return host.hash(value, algorithm, encoding);
}

function delimiterOf(o, where) {
  if (!/^[\t -!#-~]$/.test(o.delimiter)) throw nodeError('TypeError', 'ERR_INVALID_ARG_VALUE', `the option "delimiter" of ${where} is one ASCII character, and no quote or line end, not ${JSON.stringify(o.delimiter)}`);
  return o.delimiter.charCodeAt(0);
}

const csv = {
  parse(value, options) {
    const o = take(options, { delimiter: ',', header: false, limit: 0 }, 'csv.parse');
    return host.parseCSV(text(value, 'the text of csv.parse'), delimiterOf(o, 'csv.parse'), o.header, o.limit);
  },
  stringify(rows, options) {
    const { columns, ...rest } = options ?? {};
    const o = take(options === undefined ? undefined : rest, { delimiter: ',', newline: '\n', header: true }, 'csv.stringify');
    const delimiter = delimiterOf(o, 'csv.stringify');
    if (o.newline !== '\n' && o.newline !== '\r\n') throw nodeError('TypeError', 'ERR_INVALID_ARG_VALUE', 'the option "newline" of csv.stringify is "\\n" or "\\r\\n"');
    if (!Array.isArray(rows)) throw wrong('the rows of csv.stringify', 'an array', rows);
    let names = columns;
    if (names !== undefined && (!Array.isArray(names) || names.some((name) => typeof name !== 'string'))) throw wrong('the option "columns" of csv.stringify', 'an array of strings', names);
    const cell = (value) => value === null || value === undefined ? '' : value instanceof Date ? value.toISOString() : typeof value === 'object' ? JSON.stringify(value) ?? '' : String(value);
    if (names === undefined) {
      const made = host.stringifyCSV(rows, delimiter, o.newline, cell);
      if (made !== undefined) return made;
    }
    if (names === undefined && rows.some((row) => row !== null && typeof row === 'object' && !Array.isArray(row))) names = [...new Set(rows.flatMap((row) => Array.isArray(row) ? [] : Object.keys(row ?? {})))];
    const list = [];
    if (names !== undefined && o.header) list.push(names);
    rows.forEach((row, i) => {
      if (Array.isArray(row)) list.push(row);
      else if (row !== null && typeof row === 'object') list.push(names.map((name) => Object.hasOwn(row, name) ? row[name] : undefined));
      else throw wrong(`row ${i} of csv.stringify`, 'an array or an object', row);
    });
    return host.stringifyCSV(list, delimiter, o.newline, cell);
  },
};

function glob(pattern, paths) {
  if (typeof pattern !== 'string') throw wrong('the pattern of glob', 'a string', pattern);
  if (typeof paths === 'string') return host.glob(pattern, [paths])[0];
  if (!Array.isArray(paths) || paths.some((path) => typeof path !== 'string')) throw wrong('the paths of glob', 'a string or an array of strings', paths);
  const found = host.glob(pattern, paths);
  return paths.filter((path, i) => found[i]);
}

module.exports = { wordCount, wordFrequency, lines, search, diff, hash, csv, glob };
