'use strict';
const { kindOf } = host;
const DOMException = require('internal/dom_exception');
const { typedArrays, tagOf } = require('internal/typed_arrays');
const errors = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
const { hasOwn, keys } = Object;
const mapSet = Map.prototype.set, setAdd = Set.prototype.add;

function refuse(value) {
  let shown;
  try { shown = typeof value === 'symbol' ? Symbol.prototype.toString.call(value) : typeof value === 'function' ? Function.prototype.toString.call(value) : `#<${kindOf(value) === 'Object' ? value.constructor?.name || 'Object' : kindOf(value)}>`; } catch { shown = '#<Object>'; }
  throw new DOMException(`${shown} could not be cloned.`, 'DataCloneError');
}

function clone(value, seen) {
  if (typeof value === 'function' || typeof value === 'symbol') refuse(value);
  if (value === null || typeof value !== 'object') return value;
  if (seen.has(value)) return seen.get(value);
  const keep = (made) => { seen.set(value, made); return made; };
  const kind = kindOf(value);
  switch (kind) {
    case 'Boolean': return keep(Object(Boolean.prototype.valueOf.call(value)));
    case 'Number': return keep(Object(Number.prototype.valueOf.call(value)));
    case 'String': return keep(Object(String.prototype.valueOf.call(value)));
    case 'BigInt': return keep(Object(BigInt.prototype.valueOf.call(value)));
    case 'Date': return keep(new Date(Date.prototype.getTime.call(value)));
    case 'RegExp': return keep(new RegExp(value.source, value.flags));
    case 'ArrayBuffer': return keep(value.slice(0));
    case 'DataView': return keep(new DataView(clone(value.buffer, seen), value.byteOffset, value.byteLength));
    case 'TypedArray': return keep(new typedArrays[tagOf.call(value)](clone(value.buffer, seen), value.byteOffset, value.length));
    case 'Map': {
      const made = keep(new Map());
      for (const [key, item] of [...Map.prototype.entries.call(value)]) mapSet.call(made, clone(key, seen), clone(item, seen));
      return made;
    }
    case 'Set': {
      const made = keep(new Set());
      for (const item of [...Set.prototype.values.call(value)]) setAdd.call(made, clone(item, seen));
      return made;
    }
    case 'Error': {
      const error = keep(hasOwn(errors, value.name) ? new errors[value.name]() : new Error());
      delete error.message;
      for (const key of ['stack', 'message', 'cause']) {
        const found = Object.getOwnPropertyDescriptor(value, key);
        if (found !== undefined && 'value' in found) Object.defineProperty(error, key, { value: key === 'cause' ? clone(found.value, seen) : `${found.value}`, writable: true, configurable: true, enumerable: false });
        else if (found !== undefined && key === 'stack') Object.defineProperty(error, key, { value: `${value.stack}`, writable: true, configurable: true, enumerable: false });
      }
      return error;
    }
    case 'Array': {
      const made = keep(new Array(value.length));
      for (const key of keys(value)) made[key] = clone(value[key], seen);
      return made;
    }
    case 'Object': case 'Arguments': {
      const made = keep({});
      for (const key of keys(value)) {
        const item = clone(value[key], seen);
        if (key === '__proto__') Object.defineProperty(made, key, { value: item, writable: true, enumerable: true, configurable: true }); else made[key] = item;
      }
      return made;
    }
  }
  return refuse(value);
}

function structuredClone(value, options) {
  if (arguments.length === 0) throw require('internal/errors').nodeError('TypeError', 'ERR_MISSING_ARGS', 'The value argument must be specified');
  const transfer = options?.transfer === undefined ? [] : [...options.transfer];
  const seen = new Map();
  for (const buffer of transfer) if (kindOf(buffer) !== 'ArrayBuffer') throw new DOMException('Value not transferable', 'DataCloneError');
  const made = clone(value, seen);
  for (const buffer of transfer) require('internal/language_more').transfer(buffer);
  return made;
}
module.exports = structuredClone;
