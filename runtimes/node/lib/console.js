'use strict';
// console: each line goes to the plugin's log.
const { line } = host; // (level, text)
const inspector = () => require('internal/inspect'); // big: plain texts do without

let counts, timers; // Maps; made when they are used
const now = () => host.now();

function duration(ms) {
  if (ms >= 1000) {
    if (ms >= 3600000) { const s = Math.floor(ms / 1000); return `${Math.floor(s / 3600)}:${String(Math.floor(s / 60) % 60).padStart(2, '0')}:${String(s % 60).padStart(2, '0')} (h:mm:ss)`; }
    if (ms >= 60000) { const s = ms / 1000; return `${Math.floor(s / 60)}:${(s % 60).toFixed(3).padStart(6, '0')} (m:ss.mmm)`; }
    return `${(ms / 1000).toFixed(3)}s`;
  }
  return `${Number(ms.toFixed(3))}ms`;
}

function drawTable(head, columns) {
  const { width } = inspector();
  const widths = head.map((text) => width(text) + 2);
  const rows = Math.max(...columns.map((column) => column.length));
  const cells = columns.map((column) => Array.from({ length: rows }, (_, i) => Object.hasOwn(column, i) ? column[i] : ''));
  cells.forEach((column, i) => column.forEach((text) => { widths[i] = Math.max(widths[i], width(text) + 2); }));
  const rule = widths.map((n) => '─'.repeat(n));
  const row = (texts) => `│${texts.map((text, i) => {
    const space = widths[i] - width(text);
    const left = Math.floor(space / 2);
    return ' '.repeat(left) + text + ' '.repeat(space - left);
  }).join('│')}│`;
  const lines = [`┌${rule.join('┬')}┐`, row(head), `├${rule.join('┼')}┤`];
  for (let i = 0; i < rows; i++) lines.push(row(cells.map((column) => column[i])));
  lines.push(`└${rule.join('┴')}┘`);
  return lines.join('\n');
}

function table(data, wanted) {
  const { inspect } = inspector();
  const cell = (value) => inspect(value, { maxArrayLength: 3, breakLength: Infinity, depth: value !== null && typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length > 2 ? -1 : 0 });
  let index = '(index)', rows = [];
  if (data instanceof Map) {
    index = '(iteration index)';
    const entries = [...data];
    return drawTable([index, 'Key', 'Values'], [entries.map((_, i) => String(i)), entries.map(([k]) => cell(k)), entries.map(([, v]) => cell(v))]);
  }
  if (data instanceof Set) { index = '(iteration index)'; rows = [...data].map((v, i) => [String(i), v]); } else rows = Object.keys(data).map((key) => [key, data[key]]);
  const columns = new Map(), values = [];
  let primitives = false;
  rows.forEach(([, row], i) => {
    if (row === null || typeof row !== 'object' && typeof row !== 'function') { primitives = true; values[i] = cell(row); return; }
    for (const key of wanted ?? Object.keys(row)) {
      if (!columns.has(key)) columns.set(key, []);
      columns.get(key)[i] = Object.hasOwn(row, key) ? cell(row[key]) : '';
    }
  });
  const head = [index, ...columns.keys()], body = [rows.map(([key]) => key), ...columns.values()];
  if (primitives) { head.push('Values'); body.push(values); }
  return drawTable(head, body);
}

let indent = '';

function write(level, args) {
  let text = '';
  let plain = true;
  for (let i = 0; i < args.length && plain; i++) {
    plain = typeof args[i] === 'string';
    if (plain) text += i === 0 ? args[i] : ` ${args[i]}`;
  }
  if (!plain || args.length > 1 && args[0].includes('%')) text = inspector().formatWithOptions({}, ...args);
  if (indent !== '') text = indent + text.replaceAll('\n', `\n${indent}`);
  line(level, text);
}

class Console {
  constructor() {
    // Methods are bound, so that they may be handed on.
    for (const name of Object.getOwnPropertyNames(methods)) this[name] = methods[name];
  }
}

const methods = {
  log(...args) { write('info', args); },
  info(...args) { write('info', args); },
  debug(...args) { write('debug', args); },
  warn(...args) { write('warn', args); },
  error(...args) { write('error', args); },
  dir(value, options) { write('info', [inspector().inspect(value, { customInspect: false, ...options })]); },
  dirxml(...args) { write('info', args); },
  trace(...args) {
    const error = { name: 'Trace', message: inspector().formatWithOptions({}, ...args) };
    host.captureStackTrace(error);
    const frames = inspector().nodeStack({ stack: error.stack }).split('\n').filter((text) => text.startsWith('    at '));
    write('error', [[`Trace${error.message ? `: ${error.message}` : ''}`, ...frames].join('\n')]);
  },
  assert(condition, ...args) {
    if (condition) return;
    if (typeof args[0] === 'string') args[0] = `Assertion failed: ${args[0]}`;
    else args.unshift('Assertion failed');
    write('warn', args);
  },
  clear() {},
  count(label = 'default') {
    label = `${label}`;
    counts ??= new Map();
    const n = (counts.get(label) ?? 0) + 1;
    counts.set(label, n);
    write('info', [`${label}: ${n}`]);
  },
  countReset(label = 'default') {
    if (!counts?.delete(`${label}`)) write('warn', [`Count for '${label}' does not exist`]);
  },
  group(...args) {
    if (args.length > 0) write('info', args);
    indent += '  ';
  },
  groupEnd() { indent = indent.slice(2); },
  table(data, wanted) {
    if (data === null || typeof data !== 'object') { write('info', [data]); return; }
    if (wanted !== undefined && !Array.isArray(wanted)) throw require('internal/errors').invalidArgType('properties', 'Array', wanted);
    write('info', [table(data, wanted)]);
  },
  time(label = 'default') {
    label = `${label}`;
    timers ??= new Map();
    if (timers.has(label)) { write('warn', [`Warning: Label '${label}' already exists for console.time()`]); return; }
    timers.set(label, now());
  },
  timeEnd(label = 'default') { stopwatch(`${label}`, 'timeEnd', []); timers?.delete(`${label}`); },
  timeLog(label = 'default', ...args) { stopwatch(`${label}`, 'timeLog', args); },
  profile() {}, profileEnd() {}, timeStamp() {},
};
methods.groupCollapsed = methods.group;

function stopwatch(label, method, args) {
  const start = timers?.get(label);
  if (start === undefined) { write('warn', [`Warning: No such label '${label}' for console.${method}()`]); return; }
  write('info', [`${label}: ${duration(now() - start)}`, ...args]);
}

const console = {};
for (const name of Object.keys(methods)) console[name] = methods[name];
console.Console = Console;
Object.defineProperty(console, Symbol.toStringTag, { value: 'console', configurable: true });
module.exports = console;
