'use strict';
// Headers, as fetch has them.
const custom = Symbol.for('nodejs.util.inspect.custom');
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const take = Reflect.apply;

function byteString(value) {
  const text = `${value}`;
  const at = text.search(/[^\x00-\xff]/);
  if (at >= 0) throw new TypeError(`Cannot convert argument to a ByteString because the character at index ${at} has a value of ${text.charCodeAt(at)} which is greater than 255.`);
  return text;
}

function checkName(name, method) {
  name = byteString(name);
  if (!token.test(name)) throw new TypeError(`Headers.${method}: ${quoted(name)} is an invalid header name.`);
  return name.toLowerCase();
}
const quoted = (text) => `"${text}"`;

function checkValue(value, method) {
  value = byteString(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
  if (/[\0\r\n]/.test(value)) throw new TypeError(`Headers.${method}: ${quoted(value)} is an invalid header value.`);
  return value;
}

function need(count, given, method) {
  if (given < count) throw new TypeError(`Headers.${method}: ${count} argument${count > 1 ? 's' : ''} required, but${given === 0 && count > 1 ? '' : ' only'} ${given} found.`.replace('only 0', '0'));
}

const joined = (key, values) => values.join(key === 'cookie' ? '; ' : ', ');
let fill, freeze, rawOf;

class Headers {
  #map = new Map(); // lower-case name → { name as first written, values }
  #immutable = false;
  constructor(init = undefined) { if (init !== undefined) fill(this, init); }
  static {
    fill = (headers, init) => {
      if (init instanceof Headers) { for (const [key, { name, values }] of init.#map) headers.#map.set(key, { name, values: [...values] }); return; }
      if (init === null || typeof init !== 'object' && typeof init !== 'function') throw new TypeError('Headers constructor: Argument 1 could not be converted to one of: sequence<sequence<ByteString>>, record<ByteString, ByteString>.');
      if (typeof init[Symbol.iterator] === 'function') {
        for (const item of init) {
          const pair = [...item];
          if (pair.length !== 2) throw new TypeError(`Headers constructor: expected name/value pair to be length 2, found ${pair.length}.`);
          headers.append(pair[0], pair[1]);
        }
        return;
      }
      for (const key of Reflect.ownKeys(init)) {
        if (!Object.prototype.propertyIsEnumerable.call(init, key)) continue;
        if (typeof key === 'symbol') throw new TypeError(`Headers constructor: Key ${String(key)} in init is a symbol, which cannot be converted to a ByteString.`);
        headers.append(key, init[key]);
      }
    };
    freeze = (headers) => { headers.#immutable = true; return headers; };
    // rawOf gives names and values in turn, each value by itself where it can.
    rawOf = (headers) => [...headers.#map].flatMap(([key, { values }]) => key === 'set-cookie' ? values.flatMap((value) => [key, value]) : [key, joined(key, values)]);
  }
  #change() { if (this.#immutable) throw new TypeError('immutable'); }
  append(name, value) {
    need(2, arguments.length, 'append');
    const key = checkName(name, 'append');
    value = checkValue(value, 'append');
    this.#change();
    const field = this.#map.get(key);
    if (field) field.values.push(value); else this.#map.set(key, { name: `${name}`, values: [value] });
  }
  delete(name) { need(1, arguments.length, 'delete'); name = checkName(name, 'delete'); this.#change(); this.#map.delete(name); }
  get(name) { need(1, arguments.length, 'get'); const key = checkName(name, 'get'), field = this.#map.get(key); return field ? joined(key, field.values) : null; }
  has(name) { need(1, arguments.length, 'has'); return this.#map.has(checkName(name, 'has')); }
  set(name, value) {
    need(2, arguments.length, 'set');
    const key = checkName(name, 'set');
    value = checkValue(value, 'set');
    this.#change();
    this.#map.set(key, { name: `${name}`, values: [value] });
  }
  getSetCookie() { return [...this.#map.get('set-cookie')?.values ?? []]; }
  *entries() {
    for (const key of [...this.#map.keys()].sort()) {
      const { values } = this.#map.get(key);
      if (key === 'set-cookie') for (const value of values) yield [key, value];
      else yield [key, joined(key, values)];
    }
  }
  *keys() { for (const [name] of this.entries()) yield name; }
  *values() { for (const [, value] of this.entries()) yield value; }
  forEach(callback, self) {
    need(1, arguments.length, 'forEach');
    if (typeof callback !== 'function') throw new TypeError(`Failed to execute 'forEach' on 'Headers': parameter 1 is not of type 'Function'.`);
    for (const [name, value] of this.entries()) take(callback, self, [value, name, this]);
  }
  [Symbol.iterator]() { return this.entries(); }
  [custom](depth, options, inspect) {
    const shown = {};
    for (const [key, { name, values }] of this.#map) shown[name] = joined(key, values);
    return `Headers ${inspect(shown, { ...options, depth: options.depth ?? 2 })}`;
  }
}
Object.defineProperty(Headers.prototype, Symbol.toStringTag, { configurable: true, value: 'Headers' });
for (const name of ['append', 'delete', 'get', 'has', 'set', 'getSetCookie', 'entries', 'keys', 'values', 'forEach']) Object.defineProperty(Headers.prototype, name, { enumerable: true });

module.exports = { Headers, freeze, rawOf, byteString, token };
