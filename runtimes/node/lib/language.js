'use strict';
// What the language has and the engine lacks. It runs once for each engine, before any
// code of a plugin; what costs more than a few microseconds waits until it is used.

const lazy = (name) => require(name);

function define(object, methods) {
  for (const name of Reflect.ownKeys(methods)) {
    if (!(name in object)) Object.defineProperty(object, name, { value: methods[name], writable: true, configurable: true, enumerable: false });
  }
}
// replace is define for what the engine has, but does not do right.
function replace(object, methods) {
  for (const name of Object.keys(methods)) Object.defineProperty(object, name, { value: methods[name], writable: true, configurable: true, enumerable: false });
}

for (const name of ['asyncIterator', 'dispose', 'asyncDispose']) {
  if (!(name in Symbol)) Object.defineProperty(Symbol, name, { value: Symbol(`Symbol.${name}`) });
}

define(Object, { groupBy(items, f) { return lazy('internal/language_more').groupBy(items, f); } });
define(Map, { groupBy(items, f) { return lazy('internal/language_more').mapGroupBy(items, f); } });
define(Array, { fromAsync(items, f, self) { return lazy('internal/language_more').fromAsync(this, items, f, self); } });
define(Promise, {
  withResolvers() { let resolve, reject; const promise = new this((yes, no) => { resolve = yes; reject = no; }); return { promise, resolve, reject }; },
  try(f, ...args) { return new this((resolve) => resolve(f(...args))); },
});
define(String.prototype, {
  isWellFormed() { return host.isWellFormed(this); },
  toWellFormed() { return host.toWellFormed(this); },
});
define(Error, { captureStackTrace(object, above) { host.captureStackTrace(object, above); }, stackTraceLimit: 10 });
define(ArrayBuffer.prototype, {
  transfer(length) { return lazy('internal/language_more').transfer(this, length); },
  transferToFixedLength(length) { return lazy('internal/language_more').transfer(this, length); },
});

const iterator = {};
for (const name of ['map', 'filter', 'take', 'drop', 'flatMap', 'reduce', 'toArray', 'forEach', 'some', 'every', 'find']) {
  iterator[name] = { [name](...args) { return lazy('internal/iterator').methods[name].apply(this, args); } }[name];
}
define(Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())), iterator);

// Dates, numbers and texts as people of a locale write them. The engine ignores locales
// and options; these give what is right for en-US, or say what is missing.
const { toLocaleUpperCase, toLocaleLowerCase, localeCompare } = String.prototype;
replace(String.prototype, {
  localeCompare(that, locales, options) {
    if (locales === undefined && options === undefined) return localeCompare.call(this, that);
    return lazy('internal/intl').compare(localeCompare, `${this}`, `${that}`, locales, options);
  },
  toLocaleUpperCase(locales) { if (locales !== undefined) lazy('internal/intl').checkCasing(locales); return toLocaleUpperCase.call(this); },
  toLocaleLowerCase(locales) { if (locales !== undefined) lazy('internal/intl').checkCasing(locales); return toLocaleLowerCase.call(this); },
});
replace(Number.prototype, { toLocaleString(locales, options) { return lazy('internal/intl').formatNumber(Number.prototype.valueOf.call(this), locales, options); } });
replace(BigInt.prototype, { toLocaleString(locales, options) { return lazy('internal/intl').formatNumber(BigInt.prototype.valueOf.call(this), locales, options); } });
replace(Array.prototype, { toLocaleString(locales, options) { return lazy('internal/intl').formatList(this, locales, options); } });
replace(Date.prototype, {
  toLocaleString(locales, options) { return lazy('internal/intl').formatDate(this, locales, options, 'any', 'all'); },
  toLocaleDateString(locales, options) { return lazy('internal/intl').formatDate(this, locales, options, 'date', 'date'); },
  toLocaleTimeString(locales, options) { return lazy('internal/intl').formatDate(this, locales, options, 'time', 'time'); },
});

// What the host calls. A callback must run below a function of script: promise jobs run
// as soon as the outermost call of Go into the engine returns, and that must not be sooner.
const { apply } = Reflect;
const then = Promise.prototype.then;
const resolved = Promise.resolve();

// capture gives a function that runs f in the asynchronous context of now.
function capture(f) {
  const kept = host.context();
  if (kept === undefined) return f;
  return function (...args) {
    const before = host.context();
    host.setContext(kept);
    try { return apply(f, this, args); } finally { host.setContext(before); }
  };
}

module.exports = {
  capture,
  turn(f, after, ...args) { f(...args); after(); },
  queueMicrotask(callback) {
    if (typeof callback !== 'function') throw require('internal/errors').invalidArgType('callback', 'function', callback);
    const f = capture(callback);
    apply(then, resolved, [() => { try { f(); } catch (error) { host.uncaught(error); } }]);
  },
};
