'use strict';
// What the language has and the engine lacks, in parts: the host runs those that the code
// of a plugin names. What is big waits until it is used.

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

module.exports = {
  groupBy() {
    define(Object, { groupBy(items, f) { return lazy('internal/language_more').groupBy(items, f); } });
    define(Map, { groupBy(items, f) { return lazy('internal/language_more').mapGroupBy(items, f); } });
  },
  fromAsync() { define(Array, { fromAsync(items, f, self) { return lazy('internal/language_more').fromAsync(this, items, f, self); } }); },
  promise() {
    define(Promise, {
      withResolvers() { let resolve, reject; const promise = new this((yes, no) => { resolve = yes; reject = no; }); return { promise, resolve, reject }; },
      try(f, ...args) { return new this((resolve) => resolve(f(...args))); },
    });
  },
  wellFormed() {
    define(String.prototype, {
      isWellFormed() { return host.isWellFormed(this); },
      toWellFormed() { return host.toWellFormed(this); },
    });
  },
  errors() { define(Error, { captureStackTrace(object) { host.captureStackTrace(object); }, stackTraceLimit: 10 }); },
  transfer() {
    define(ArrayBuffer.prototype, {
      transfer(length) { return lazy('internal/language_more').transfer(this, length); },
      transferToFixedLength(length) { return lazy('internal/language_more').transfer(this, length); },
    });
  },
  // The engine's own functions cannot take the holes that these give them.
  find() {
    for (const name of ['find', 'findIndex', 'findLast', 'findLastIndex']) {
      const original = Array.prototype[name];
      replace(Array.prototype, { [name](f, self) { return original.call(this, typeof f === 'function' ? (value, i, list) => f.call(self, value, i, list) : f); } });
    }
  },
  resizable() {
    const { get } = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, 'byteLength');
    Object.defineProperty(ArrayBuffer.prototype, 'resizable', { get() { get.call(this); return false; }, configurable: true });
    Object.defineProperty(ArrayBuffer.prototype, 'maxByteLength', { get() { return get.call(this); }, configurable: true });
  },
  iterator() {
    const methods = {};
    for (const name of ['map', 'filter', 'take', 'drop', 'flatMap', 'reduce', 'toArray', 'forEach', 'some', 'every', 'find']) {
      methods[name] = { [name](...args) { return lazy('internal/iterator').methods[name].apply(this, args); } }[name];
    }
    define(Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())), methods);
  },

  // The engine reads other texts as dates than V8 does; all else of a date is its own.
  dates() {
    const Own = globalThis.Date, { construct } = Reflect, { UTC, now, prototype } = Own, { dateArgument, readDate } = host;
    function Date(year, month, date, hours, minutes, seconds, ms) {
      if (!new.target) return Own();
      return construct(Own, arguments.length === 1 ? [dateArgument(year)] : arguments, new.target);
    }
    Object.defineProperty(Date, 'prototype', { value: prototype, writable: false });
    replace(Date, { now, parse(text) { return readDate(`${text}`); }, UTC });
    replace(prototype, { constructor: Date });
    replace(globalThis, { Date });
  },

  // What old code still uses.
  oldDates() {
    const { toUTCString, getFullYear, setFullYear } = Date.prototype;
    define(Date.prototype, {
      getYear() { return getFullYear.call(this) - 1900; },
      setYear(year) { year = +year; return Number.isNaN(year) ? this.setTime(NaN) : setFullYear.call(this, year >= 0 && year <= 99 ? 1900 + Math.trunc(year) : year); },
    });
    Object.defineProperty(Date.prototype, 'toGMTString', { value: toUTCString, writable: true, configurable: true });
  },
  oldAccessors() {
    const lookup = (kind) => function (key) {
      for (let o = Object(this); o !== null; o = Object.getPrototypeOf(o)) {
        const found = Object.getOwnPropertyDescriptor(o, key);
        if (found) return found[kind];
      }
    };
    const callable = (f) => { if (typeof f !== 'function') throw new TypeError('Object.prototype.__defineGetter__: Expecting function'); return f; };
    define(Object.prototype, {
      __defineGetter__(key, f) { Object.defineProperty(Object(this), key, { get: callable(f), enumerable: true, configurable: true }); },
      __defineSetter__(key, f) { Object.defineProperty(Object(this), key, { set: callable(f), enumerable: true, configurable: true }); },
      __lookupGetter__: lookup('get'),
      __lookupSetter__: lookup('set'),
    });
  },
  oldTags() {
    const methods = {};
    const tag = (name, element, attribute) => {
      methods[name] = { [name](value) {
        const text = String(this), with_ = attribute === undefined ? '' : ` ${attribute}="${String(value).replaceAll('"', '&quot;')}"`;
        return `<${element}${with_}>${text}</${element}>`;
      } }[name];
    };
    for (const [name, element, attribute] of [['anchor', 'a', 'name'], ['big', 'big'], ['blink', 'blink'], ['bold', 'b'], ['fixed', 'tt'], ['fontcolor', 'font', 'color'], ['fontsize', 'font', 'size'], ['italics', 'i'], ['link', 'a', 'href'], ['small', 'small'], ['strike', 'strike'], ['sub', 'sub'], ['sup', 'sup']]) tag(name, element, attribute);
    define(String.prototype, methods);
  },

  // Dates, numbers and texts as people of a locale write them. The engine ignores locales
  // and options; these give what is right for en-US, or say what is missing.
  compare() {
    const { localeCompare } = String.prototype;
    replace(String.prototype, { localeCompare(that, locales, options) {
      if (locales === undefined && options === undefined) return localeCompare.call(this, that);
      return lazy('internal/intl').compare(localeCompare, `${this}`, `${that}`, locales, options);
    } });
  },
  casing() {
    const { toLocaleUpperCase, toLocaleLowerCase } = String.prototype;
    replace(String.prototype, {
      toLocaleUpperCase(locales) { if (locales !== undefined) lazy('internal/intl').checkCasing(locales); return toLocaleUpperCase.call(this); },
      toLocaleLowerCase(locales) { if (locales !== undefined) lazy('internal/intl').checkCasing(locales); return toLocaleLowerCase.call(this); },
    });
  },
  locale() {
    replace(Number.prototype, { toLocaleString(locales, options) { return lazy('internal/intl').formatNumber(Number.prototype.valueOf.call(this), locales, options); } });
    replace(BigInt.prototype, { toLocaleString(locales, options) { return lazy('internal/intl').formatNumber(BigInt.prototype.valueOf.call(this), locales, options); } });
    replace(Array.prototype, { toLocaleString(locales, options) { return lazy('internal/intl').formatList(this, locales, options); } });
    replace(Date.prototype, {
      toLocaleString(locales, options) { return lazy('internal/intl').formatDate(this, locales, options, 'any', 'all'); },
      toLocaleDateString(locales, options) { return lazy('internal/intl').formatDate(this, locales, options, 'date', 'date'); },
      toLocaleTimeString(locales, options) { return lazy('internal/intl').formatDate(this, locales, options, 'time', 'time'); },
    });
  },
};
