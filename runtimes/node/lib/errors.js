'use strict';
// Errors as Node makes them: with a code, which String() shows.

const kinds = { Error, TypeError, RangeError };

function nodeError(kind, code, message) {
  const error = new kinds[kind](message);
  Object.defineProperty(error, 'toString', {
    value() { return `${this.name} [${code}]: ${this.message}`; },
    enumerable: false, writable: true, configurable: true,
  });
  error.code = code;
  return error;
}

const primitive = ['string', 'function', 'number', 'object', 'boolean', 'bigint', 'symbol', 'Function', 'Object'];

// received says what came, as Node words it.
function received(value) {
  if (value == null) return ` Received ${value}`;
  if (typeof value === 'function') return ` Received function ${value.name}`;
  if (typeof value === 'object') {
    if (value.constructor?.name) return ` Received an instance of ${value.constructor.name}`;
    return ` Received ${require('internal/inspect').inspect(value, { depth: -1 })}`;
  }
  let shown = require('internal/inspect').inspect(value, { colors: false });
  if (shown.length > 28) shown = `${shown.slice(0, 25)}...`;
  return ` Received type ${typeof value} (${shown})`;
}

function list(words, last) {
  if (words.length < 2) return words.join('');
  if (words.length === 2) return `${words[0]} ${last} ${words[1]}`;
  return `${words.slice(0, -1).join(', ')}, ${last} ${words[words.length - 1]}`;
}

function invalidArgType(name, expected, value) {
  if (expected === null) return nodeError('TypeError', 'ERR_INVALID_ARG_TYPE', `The ${name} must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object.${received(value)}`);
  if (!Array.isArray(expected)) expected = [expected];
  const types = [], instances = [], other = [];
  for (const word of expected) {
    if (primitive.includes(word)) types.push(word.toLowerCase());
    else if (/^[A-Z]/.test(word)) instances.push(word);
    else other.push(word);
  }
  // "object" reads better as one of the instances where there are others.
  if (instances.length > 0 && types.includes('object')) { types.splice(types.indexOf('object'), 1); instances.push('Object'); }
  const parts = [];
  if (types.length > 0) parts.push(`${types.length > 1 ? 'one of type' : 'of type'} ${list(types, 'or')}`);
  if (instances.length > 0) parts.push(`an instance of ${list(instances, 'or')}`);
  if (other.length > 0) parts.push(other.length > 1 ? `one of ${list(other, 'or')}` : (other[0].toLowerCase() !== other[0] ? 'an ' : '') + other[0]);
  const what = name.endsWith(' argument') ? `The ${name}` : `The "${name}" ${name.includes('.') ? 'property' : 'argument'}`;
  return nodeError('TypeError', 'ERR_INVALID_ARG_TYPE', `${what} must be ${parts.join(' or ')}.${received(value)}`);
}

function invalidArgValue(name, value, reason = 'is invalid') {
  let shown = require('internal/inspect').inspect(value);
  if (shown.length > 128) shown = `${shown.slice(0, 128)}...`;
  return nodeError('TypeError', 'ERR_INVALID_ARG_VALUE', `The ${name.includes('.') ? 'property' : 'argument'} '${name}' ${reason}. Received ${shown}`);
}

function withSeparators(text) {
  let out = '', i = text.length;
  const start = text[0] === '-' ? 1 : 0;
  for (; i >= start + 4; i -= 3) out = `_${text.slice(i - 3, i)}${out}`;
  return text.slice(0, i) + out;
}

function outOfRange(name, range, value) {
  let shown;
  if (Number.isInteger(value) && Math.abs(value) > 2 ** 32) shown = withSeparators(String(value));
  else if (typeof value === 'bigint') {
    shown = String(value);
    if (value > 2n ** 32n || value < -(2n ** 32n)) shown = withSeparators(shown);
    shown += 'n';
  } else shown = require('internal/inspect').inspect(value);
  return nodeError('RangeError', 'ERR_OUT_OF_RANGE', `The value of "${name}" is out of range. It must be ${range}. Received ${shown}`);
}

const check = {
  string(value, name) { if (typeof value !== 'string') throw invalidArgType(name, 'string', value); },
  number(value, name) { if (typeof value !== 'number') throw invalidArgType(name, 'number', value); },
  boolean(value, name) { if (typeof value !== 'boolean') throw invalidArgType(name, 'boolean', value); },
  function(value, name) { if (typeof value !== 'function') throw invalidArgType(name, 'function', value); },
  object(value, name) { if (value === null || typeof value !== 'object' || Array.isArray(value)) throw invalidArgType(name, 'Object', value); },
  integer(value, name, min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER) {
    if (typeof value !== 'number') throw invalidArgType(name, 'number', value);
    if (!Number.isInteger(value)) throw outOfRange(name, 'an integer', value);
    if (value < min || value > max) throw outOfRange(name, `>= ${min} && <= ${max}`, value);
  },
  signal(value, name) {
    if (value !== undefined && (value === null || typeof value !== 'object' || !('aborted' in value))) throw invalidArgType(name, 'AbortSignal', value);
  },
};

class AbortError extends Error {
  constructor(message = 'The operation was aborted', options) {
    super(message, options);
    this.code = 'ABORT_ERR';
    this.name = 'AbortError';
  }
}

module.exports = { nodeError, invalidArgType, invalidArgValue, outOfRange, check, AbortError };
