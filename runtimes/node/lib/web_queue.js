'use strict';
// What the streams of the WHATWG standard share: queues, strategies, promises.
const { nodeError, invalidArgType } = require('internal/errors');
const { inspect } = require('internal/inspect');
require('internal/symbols');

const { apply } = Reflect;
const { then } = Promise.prototype;
const noop = () => {};

const react = (promise, fulfilled, rejected) => apply(then, promise, [fulfilled, rejected]);
const markHandled = (promise) => { react(promise, noop, noop); };

function deferred() {
  const d = { promise: undefined, resolve: undefined, reject: undefined };
  d.promise = new Promise((resolve, reject) => { d.resolve = resolve; d.reject = reject; });
  return d;
}
function settled(value) { return { promise: Promise.resolve(value), resolve: undefined, reject: undefined }; }
function failed(error) {
  const d = { promise: Promise.reject(error), resolve: undefined, reject: undefined };
  markHandled(d.promise);
  return d;
}

const invalidState = (message, kind = 'TypeError') => nodeError(kind, 'ERR_INVALID_STATE', `Invalid state: ${message}`);
const invalidThis = (name) => nodeError('TypeError', 'ERR_INVALID_THIS', `Value of "this" must be of type ${name}`);
const illegalConstructor = () => nodeError('TypeError', 'ERR_ILLEGAL_CONSTRUCTOR', 'Illegal constructor');
function invalidValue(name, value, kind = 'TypeError', reason = 'is invalid') {
  let shown = inspect(value);
  if (shown.length > 128) shown = `${shown.slice(0, 128)}...`;
  return nodeError(kind, 'ERR_INVALID_ARG_VALUE', `The ${name.includes('.') ? 'property' : 'argument'} '${name}' ${reason}. Received ${shown}`);
}

// A token that only the libraries have lets them call constructors that script may not call.
const making = Symbol('making');

// method gives a function of an author's source or sink as one that gives a promise.
function method(object, name, what) {
  const f = object?.[name];
  if (f === undefined) return undefined;
  if (typeof f !== 'function') throw invalidArgType(`${what}.${name}`, 'Function', f);
  return (...args) => {
    try { return Promise.resolve(apply(f, object, args)); } catch (error) { return Promise.reject(error); }
  };
}

function highWaterMarkOf(strategy, otherwise) {
  const value = strategy?.highWaterMark;
  if (value === undefined) return otherwise;
  const n = +value;
  if (typeof value !== 'number' || Number.isNaN(n) || n < 0) throw invalidValue('strategy.highWaterMark', value, 'RangeError');
  return n;
}

function sizeOf(strategy) {
  const size = strategy?.size;
  if (size === undefined) return () => 1;
  if (typeof size !== 'function') throw invalidArgType('strategy.size', 'Function', size);
  return (chunk) => size(chunk);
}

// Queue is a queue of values with sizes. Taking from its front costs the same however long it is.
class Queue {
  #items = []; #from = 0;
  total = 0;
  get length() { return this.#items.length - this.#from; }
  put(value, size) {
    if (typeof size !== 'number' || Number.isNaN(size) || size < 0 || size === Infinity) throw invalidValue('size', size, 'RangeError');
    this.#items.push({ value, size });
    this.total += size;
  }
  take() {
    const { value, size } = this.#items[this.#from];
    this.#items[this.#from++] = undefined;
    if (this.#from > 32 && this.#from * 2 > this.#items.length) { this.#items = this.#items.slice(this.#from); this.#from = 0; }
    this.total = Math.max(0, this.total - size);
    return value;
  }
  peek() { return this.#items[this.#from].value; }
  reset() { this.#items = []; this.#from = 0; this.total = 0; }
}

// show says what an object looks like in the console.
function show(name, members, depth, options, kind = inspect) {
  if (depth < 0) return `${name} [Object]`;
  const more = { ...options, depth: options.depth == null ? null : options.depth - 1 };
  return `${name} ${kind(members, more)}`;
}
const custom = Symbol.for('nodejs.util.inspect.custom');

// finishClass makes the members of a class enumerable, as an interface of the web has them.
function finishClass(kind, name) {
  const { prototype } = kind;
  for (const key of Object.getOwnPropertyNames(prototype)) {
    if (key === 'constructor') continue;
    const own = Object.getOwnPropertyDescriptor(prototype, key);
    own.enumerable = true;
    Object.defineProperty(prototype, key, own);
  }
  if (name !== undefined) Object.defineProperty(prototype, Symbol.toStringTag, { value: name, writable: false, enumerable: false, configurable: true });
}

const byteSize = (chunk) => chunk.byteLength;
const countSize = () => 1;
Object.defineProperty(byteSize, 'name', { value: 'size' });
Object.defineProperty(countSize, 'name', { value: 'size' });

function strategyClass(name, size) {
  const kind = { [name]: class {
    #highWaterMark;
    constructor(init) {
      if (init === null || typeof init !== 'object' && typeof init !== 'function') throw invalidArgType('init', 'Object', init);
      if (init.highWaterMark === undefined) throw nodeError('TypeError', 'ERR_MISSING_OPTION', 'init.highWaterMark is required');
      this.#highWaterMark = +init.highWaterMark;
    }
    get highWaterMark() { return this.#highWaterMark; }
    get size() { void this.#highWaterMark; return size; }
    [custom](depth, options) { return show(name, { highWaterMark: this.#highWaterMark }, depth, options); }
  } }[name];
  finishClass(kind, name);
  return kind;
}

module.exports = {
  react, markHandled, deferred, settled, failed, noop, invalidState, invalidThis, invalidValue, illegalConstructor, making, method, highWaterMarkOf, sizeOf, Queue, show, custom, finishClass,
  ByteLengthQueuingStrategy: strategyClass('ByteLengthQueuingStrategy', byteSize), CountQueuingStrategy: strategyClass('CountQueuingStrategy', countSize),
};
