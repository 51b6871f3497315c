'use strict';
const { inspect } = require('internal/inspect');
const { nodeError, invalidArgType, check } = require('internal/errors');
const util = require('util');
const equal = util[Symbol.for('toolhost.equal')];

const titles = {
  deepStrictEqual: 'Expected values to be strictly deep-equal:', strictEqual: 'Expected values to be strictly equal:', deepEqual: 'Expected values to be loosely deep-equal:',
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:', notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:', strictEqualObject: 'Expected "actual" to be reference-equal to "expected":',
};

const show = (value) => inspect(value, { compact: false, customInspect: false, depth: 1000, maxArrayLength: Infinity, showHidden: false, sorted: true, getters: true });

function describe(operator, actual, expected, title = titles[operator]) {
  const a = show(actual), b = show(expected);
  if (operator === 'strictEqual' || operator === 'deepStrictEqual' || operator === 'deepEqual') {
    const primitives = (actual === null || typeof actual !== 'object' && typeof actual !== 'function') && (expected === null || typeof expected !== 'object' && typeof expected !== 'function');
    if (primitives && a.length + b.length < 60 && !a.includes('\n') && !b.includes('\n') && (actual !== 0 || expected !== 0)) return `${title}\n\n${a} !== ${b}\n`;
    if (operator === 'strictEqual' && a === b) return `Values have same structure but are not reference-equal:\n\n${a}\n`;
    return `${title}\n+ actual - expected\n\n${diff(a.split('\n'), b.split('\n'))}`;
  }
  if (operator === 'notStrictEqual' || operator === 'notDeepStrictEqual' || operator === 'notDeepEqual') return `${titles[operator]}${b.includes('\n') || b.length > 5 ? '\n\n' : ' '}${b}${b.includes('\n') ? '\n' : ''}`;
  return `${a} ${operator} ${b}`;
}

// diff shows two lists of lines with what only one of them has.
function diff(a, b) {
  const table = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  if (a.length * b.length > 250000) return [...a.map((line) => `+ ${line}`), ...b.map((line) => `- ${line}`)].join('\n');
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  const out = [];
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { out.push(`  ${a[i]}`); i++; j++; } else if (i < a.length && (j === b.length || table[i + 1][j] >= table[i][j + 1])) out.push(`+ ${a[i++]}`); else out.push(`- ${b[j++]}`);
  }
  return out.join('\n');
}

class AssertionError extends Error {
  constructor(options) {
    check.object(options, 'options');
    const { message, operator, actual, expected } = options;
    super(message == null ? describe(operator, actual, expected) : operator === 'strictEqual' || operator === 'deepStrictEqual' ? describe(operator, actual, expected, `${message}`) : `${message}`);
    this.generatedMessage = message == null;
    Object.defineProperty(this, 'name', { value: 'AssertionError', enumerable: false, writable: true, configurable: true });
    this.code = 'ERR_ASSERTION';
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
  }
  toString() { return `${this.name} [${this.code}]: ${this.message}`; }
}

function fail(message, actual, expected, operator, given) {
  if (message instanceof Error) throw message;
  const error = new AssertionError({ message, actual, expected, operator });
  if (given !== undefined) error.generatedMessage = given;
  throw error;
}

function ok(value, ...rest) {
  if (value) return;
  if (arguments.length === 0) fail('No value argument passed to `assert.ok()`', undefined, true, '==', true);
  const [message] = rest;
  if (message == null) fail(`The expression evaluated to a falsy value:\n\n  assert(${inspect(value)})\n`, value, true, '==', true);
  fail(message, value, true, '==');
}

const assert = (...args) => ok(...args);
const compare = (name, test) => ({ [name](actual, expected, message) {
  if (arguments.length < 2) throw nodeError('TypeError', 'ERR_MISSING_ARGS', 'The "actual" and "expected" arguments must be specified');
  if (!test(actual, expected)) fail(message, actual, expected, { equal: '==', notEqual: '!=' }[name] ?? name);
} })[name];

Object.assign(assert, {
  ok, AssertionError,
  fail(message) { fail(message === undefined ? 'Failed' : message, undefined, undefined, 'fail', message === undefined); },
  equal: compare('equal', (a, b) => a == b || a !== a && b !== b), // eslint-disable-line eqeqeq
  notEqual: compare('notEqual', (a, b) => !(a == b || a !== a && b !== b)), // eslint-disable-line eqeqeq
  strictEqual: compare('strictEqual', Object.is), notStrictEqual: compare('notStrictEqual', (a, b) => !Object.is(a, b)),
  deepEqual: compare('deepEqual', (a, b) => equal(a, b, false)), notDeepEqual: compare('notDeepEqual', (a, b) => !equal(a, b, false)),
  deepStrictEqual: compare('deepStrictEqual', (a, b) => equal(a, b, true)), notDeepStrictEqual: compare('notDeepStrictEqual', (a, b) => !equal(a, b, true)),
  match(text, regexp, message) {
    if (!util.types.isRegExp(regexp)) throw invalidArgType('regexp', 'RegExp', regexp);
    if (typeof text !== 'string' || !regexp.test(text)) fail(message ?? (typeof text !== 'string' ? `The "string" argument must be of type string. Received type ${typeof text} (${inspect(text)})` : `The input did not match the regular expression ${inspect(regexp)}. Input:\n\n${inspect(text)}\n`), text, regexp, 'match', message == null);
  },
  doesNotMatch(text, regexp, message) {
    if (!util.types.isRegExp(regexp)) throw invalidArgType('regexp', 'RegExp', regexp);
    if (typeof text !== 'string' || regexp.test(text)) fail(message ?? (typeof text !== 'string' ? `The "string" argument must be of type string. Received type ${typeof text} (${inspect(text)})` : `The input was expected to not match the regular expression ${inspect(regexp)}. Input:\n\n${inspect(text)}\n`), text, regexp, 'doesNotMatch', message == null);
  },
  throws(f, ...rest) { check.function(f, 'fn'); expects('throws', attempt(f), ...rest); },
  doesNotThrow(f, ...rest) { check.function(f, 'fn'); expectsNone('doesNotThrow', attempt(f), ...rest); },
  async rejects(f, ...rest) { expects('rejects', await attemptAsync(f), ...rest); },
  async doesNotReject(f, ...rest) { expectsNone('doesNotReject', await attemptAsync(f), ...rest); },
  ifError(error) {
    if (error === null || error === undefined) return;
    const text = typeof error === 'object' && typeof error.message === 'string' ? error.message.length === 0 && error.constructor ? error.constructor.name : error.message : inspect(error);
    fail(`ifError got unwanted exception: ${text}`, error, null, 'ifError', false);
  },
});

const none = Symbol('none');
function attempt(f) { try { f(); } catch (error) { return error; } return none; }
async function attemptAsync(f) {
  let promise = f;
  if (typeof f === 'function') {
    promise = f();
    if (typeof promise?.then !== 'function') throw nodeError('TypeError', 'ERR_INVALID_RETURN_VALUE', `Expected instance of Promise to be returned from the "promiseFn" function but got ${promise === null || typeof promise !== 'object' ? `type ${typeof promise}` : `an instance of ${promise.constructor?.name}`}.`);
  } else if (typeof f?.then !== 'function') throw invalidArgType('promiseFn', ['function', 'Promise'], f);
  try { await promise; } catch (error) { return error; }
  return none;
}

// Comparison is what an error is compared as: those of its members that were asked for.
class Comparison {}

function expects(name, error, expected, message) {
  if (typeof expected === 'string') { message = expected; expected = undefined; }
  if (error === none) {
    let detail = expected?.name ? ` (${expected.name})` : '';
    detail += message ? `: ${message}` : '.';
    fail(`Missing expected ${name === 'rejects' ? 'rejection' : 'exception'}${detail}`, undefined, expected, name, false);
  }
  if (expected === undefined) return;
  if (typeof expected === 'function') {
    if (expected.prototype !== undefined && error instanceof expected) return;
    if (Object.prototype.isPrototypeOf.call(Error, expected) || expected === Error) {
      fail(message ?? `The error is expected to be an instance of "${expected.name}". Received ${error instanceof Error ? `"${error.name}"\n\nError message:\n\n${error.message}` : `"${inspect(error, { depth: -1 })}"`}`, error, expected, name, message == null);
    }
    const result = expected.call({}, error);
    if (result !== true) fail(message ?? `The ${expected.name ? `"${expected.name}" ` : ''}validation function is expected to return "true". Received ${inspect(result)}${error instanceof Error ? `\n\nCaught error:\n\n${error}` : ''}`, error, expected, name, message == null);
    return;
  }
  if (util.types.isRegExp(expected)) {
    if (!expected.test(String(error))) fail(message ?? `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(String(error))}\n`, error, expected, name, message == null);
    return;
  }
  if (expected === null || typeof expected !== 'object') throw invalidArgType('expected', ['function', 'Error', 'RegExp', 'Object'], expected);
  const keys = Object.keys(expected);
  if (expected instanceof Error) keys.push('name', 'message');
  for (const key of keys) {
    if (typeof error[key] === 'string' && util.types.isRegExp(expected[key]) && expected[key].test(error[key])) continue;
    if (!(key in error) || !equal(error[key], expected[key], true)) {
      const pick = (o) => Object.assign(new Comparison(), Object.fromEntries(keys.filter((k) => k in o).map((k) => [k, o[k]])));
      fail(message ?? describe('deepStrictEqual', pick(error), pick(expected)), error, expected, name, message == null);
    }
  }
}

function expectsNone(name, error, expected, message) {
  if (error === none) return;
  if (typeof expected === 'string') { message = expected; expected = undefined; }
  if (typeof expected === 'function' && !(error instanceof expected)) throw error;
  fail(`Got unwanted ${name === 'doesNotReject' ? 'rejection' : 'exception'}${message ? `: ${message}` : '.'}\nActual message: "${error?.message}"`, error, expected, name);
}

const strict = Object.assign((...args) => ok(...args), assert, { equal: assert.strictEqual, deepEqual: assert.deepStrictEqual, notEqual: assert.notStrictEqual, notDeepEqual: assert.notDeepStrictEqual });
assert.strict = strict;
strict.strict = strict;
module.exports = assert;
