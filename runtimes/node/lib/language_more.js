'use strict';
// What language.js defines and does not need at once.

function grouped(items, f, add) {
  if (items == null) throw new TypeError(`${items} is not iterable`);
  if (typeof f !== 'function') throw new TypeError(`${String(f)} is not a function`);
  let i = 0;
  for (const item of items) add(f(item, i++), item);
}

module.exports = {
  groupBy(items, f) {
    const groups = { __proto__: null };
    grouped(items, f, (key, item) => {
      if (typeof key !== 'symbol') key = `${key}`;
      if (Object.hasOwn(groups, key)) groups[key].push(item); else Object.defineProperty(groups, key, { value: [item], writable: true, enumerable: true, configurable: true });
    });
    return groups;
  },
  mapGroupBy(items, f) {
    const groups = new Map();
    grouped(items, f, (key, item) => { const list = groups.get(key); if (list) list.push(item); else groups.set(key, [item]); });
    return groups;
  },
  async fromAsync(self, items, f, thisArg) {
    if (f !== undefined && typeof f !== 'function') throw new TypeError(`${String(f)} is not a function`);
    if (items == null) throw new TypeError(`${items} is not iterable`);
    const isConstructor = typeof self === 'function';
    const asyncMake = items[Symbol.asyncIterator], make = items[Symbol.iterator];
    let i = 0;
    if (asyncMake == null && make == null) {
      const length = Math.max(0, Math.min(Math.trunc(Number(items.length)) || 0, Number.MAX_SAFE_INTEGER));
      const out = isConstructor ? new self(length) : new Array(length);
      for (; i < length; i++) { const value = await items[i]; out[i] = f ? await f.call(thisArg, value, i) : value; }
      out.length = length;
      return out;
    }
    const out = isConstructor ? new self() : [];
    const iterator = (asyncMake ?? make).call(items);
    const next = iterator.next;
    for (;; i++) {
      let result = next.call(iterator);
      if (asyncMake != null) result = await result;
      if (result === null || typeof result !== 'object') throw new TypeError(`Iterator result ${String(result)} is not an object`);
      if (result.done) { out.length = i; return out; }
      try {
        let value = asyncMake != null ? result.value : await result.value;
        if (f) value = await f.call(thisArg, value, i);
        out[i] = value;
      } catch (error) {
        try { await iterator.return?.(); } catch { /* the first error counts */ }
        throw error;
      }
    }
  },
  asyncGenerator() {
    const iterator = Object.defineProperty({}, Symbol.asyncIterator, { value: { [Symbol.asyncIterator]() { return this; } }[Symbol.asyncIterator], writable: true, configurable: true });
    const prototype = Object.create(iterator, { [Symbol.toStringTag]: { value: 'AsyncGenerator', configurable: true } });
    for (const name of ['next', 'return', 'throw']) Object.defineProperty(prototype, name, { value: { async [name]() { throw new TypeError(`${name} method called on incompatible receiver ${String(this)}`); } }[name], writable: true, configurable: true });
    return Object.create(Function.prototype, { prototype: { value: prototype, configurable: true }, [Symbol.toStringTag]: { value: 'AsyncGeneratorFunction', configurable: true } });
  },
  escape(text) {
    if (typeof text !== 'string') throw new TypeError('RegExp.escape: argument must be a string');
    const hex = (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
    let out = '';
    let first = true;
    for (const char of text) {
      if (first && /[0-9A-Za-z]/.test(char)) out += hex(char);
      else if ('^$\\.*+?()[]{}|/'.includes(char)) out += `\\${char}`;
      else if ('\t\n\v\f\r'.includes(char)) out += { '\t': '\\t', '\n': '\\n', '\v': '\\v', '\f': '\\f', '\r': '\\r' }[char];
      else if (',-=<>#&!%:;@~\'`"'.includes(char) || /\s/.test(char) || char.length === 1 && char >= '\ud800' && char <= '\udfff') out += char.charCodeAt(0) > 255 ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : hex(char);
      else out += char;
      first = false;
    }
    return out;
  },
  transfer(buffer, length) {
    length = length === undefined ? buffer.byteLength : Math.trunc(+length) || 0;
    if (length < 0 || length > host.maxBytes) throw new RangeError('Invalid array buffer length');
    const made = new ArrayBuffer(length);
    new Uint8Array(made).set(new Uint8Array(buffer, 0, Math.min(length, buffer.byteLength)));
    host.detach(buffer);
    return made;
  },
};
