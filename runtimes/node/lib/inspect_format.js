'use strict';
// util.format.
const { kindOf, proxyParts } = host;
const { getOwnPropertyDescriptor, getPrototypeOf, hasOwn } = Object;
const { inspect } = require('internal/inspect');
const { plain, formatNumber, formatBigInt } = require('internal/inspect_text');

const builtinToString = new Set();
for (const c of [Object, Error, Date, RegExp, Array, Function, Map, Set, Promise]) builtinToString.add(c);

function hasOwnText(value) {
  if (kindOf(value) === 'Proxy') { value = proxyParts(value)[0]; if (value === null) return true; }
  if (typeof value[Symbol.toPrimitive] === 'function' && kindOf(value) !== 'Date') return true;
  if (typeof value.toString !== 'function') return false;
  if (hasOwn(value, 'toString')) return true;
  let object = value;
  do { object = getPrototypeOf(object); } while (object !== null && !hasOwn(object, 'toString'));
  if (object === null) return false;
  const found = getOwnPropertyDescriptor(object, 'constructor');
  return !(found !== undefined && typeof found.value === 'function' && builtinToString.has(found.value));
}

function formatWithOptions(options, ...args) {
  if (args.length === 0) return '';
  const first = args[0];
  let i = 0, text = '', join = '';
  if (typeof first === 'string') {
    if (args.length === 1) return first;
    let from = 0;
    for (let at = first.indexOf('%'); at !== -1 && at < first.length - 1; at = first.indexOf('%', at + 1)) {
      const kind = first[at + 1];
      if (kind === '%') { text += first.slice(from, at + 1); from = at + 2; at++; continue; }
      if (i + 1 >= args.length) continue;
      let part;
      const value = args[i + 1];
      switch (kind) {
        case 's':
          if (typeof value === 'number') part = formatNumber(plain, value, false);
          else if (typeof value === 'bigint') part = formatBigInt(plain, value, false);
          else if (typeof value !== 'object' || value === null || hasOwnText(value)) part = String(value);
          else part = inspect(value, { ...options, depth: 0, colors: false, compact: 3 });
          break;
        case 'j': part = asJSON(value); break;
        case 'd':
          part = typeof value === 'bigint' ? formatBigInt(plain, value, false) : typeof value === 'symbol' ? 'NaN' : formatNumber(plain, Number(value), false);
          break;
        case 'O': part = inspect(value, options); break;
        case 'o': part = inspect(value, { ...options, showHidden: true, showProxy: true, depth: 4 }); break;
        case 'i':
          part = typeof value === 'bigint' ? formatBigInt(plain, value, false) : typeof value === 'symbol' ? 'NaN' : formatNumber(plain, parseInt(value), false);
          break;
        case 'f': part = typeof value === 'symbol' ? 'NaN' : formatNumber(plain, parseFloat(value), false); break;
        case 'c': part = ''; break;
        default: continue;
      }
      text += first.slice(from, at) + part;
      from = at + 2;
      i++;
      at++;
    }
    if (from !== 0) { text += first.slice(from); join = ' '; i++; } else { text = ''; }
  }
  for (; i < args.length; i++) {
    text += join + (typeof args[i] === 'string' ? args[i] : inspect(args[i], options));
    join = ' ';
  }
  return text;
}

function asJSON(value) {
  try { return String(JSON.stringify(value)); } catch (error) {
    if (/circular/i.test(error.message)) return '[Circular]';
    throw error;
  }
}

module.exports = { format: (...args) => formatWithOptions(undefined, ...args), formatWithOptions };
