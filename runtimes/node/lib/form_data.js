'use strict';
// FormData, and its form on the wire.
const { Blob, File, bytesOf, join, uuid } = require('internal/blob');
const custom = Symbol.for('nodejs.util.inspect.custom');
const usv = (value) => { const text = `${value}`; return text.toWellFormed?.() ?? text; };
const noBlob = (method) => new TypeError(`Failed to execute '${method}' on 'FormData': parameter 2 is not of type 'Blob'`);

function need(count, given, method) {
  if (given < count) throw new TypeError(`FormData.${method}: ${count} argument${count > 1 ? 's' : ''} required, but ${given === 0 ? '' : 'only '}${given} found.`);
}

function entryOf(value, filename, given, method) {
  if (given > 2 && !(value instanceof Blob)) throw noBlob(method);
  if (!(value instanceof Blob)) return usv(value);
  if (value instanceof File && filename === undefined) return value;
  return new File([value], filename === undefined ? 'blob' : usv(filename), { type: value.type, lastModified: value instanceof File ? value.lastModified : undefined });
}

class FormData {
  #list = [];
  constructor(form = undefined) { if (form !== undefined) throw new TypeError('FormData constructor: Argument 1 could not be converted to: undefined.'); }
  append(name, value, filename = undefined) { need(2, arguments.length, 'append'); this.#list.push([usv(name), entryOf(value, filename, arguments.length, 'append')]); }
  delete(name) { need(1, arguments.length, 'delete'); name = usv(name); this.#list = this.#list.filter(([n]) => n !== name); }
  get(name) { need(1, arguments.length, 'get'); name = usv(name); return this.#list.find(([n]) => n === name)?.[1] ?? null; }
  getAll(name) { need(1, arguments.length, 'getAll'); name = usv(name); return this.#list.filter(([n]) => n === name).map(([, value]) => value); }
  has(name) { need(1, arguments.length, 'has'); name = usv(name); return this.#list.some(([n]) => n === name); }
  set(name, value, filename = undefined) {
    need(2, arguments.length, 'set');
    name = usv(name); value = entryOf(value, filename, arguments.length, 'set');
    const at = this.#list.findIndex(([n]) => n === name);
    if (at < 0) { this.#list.push([name, value]); return; }
    this.#list[at] = [name, value];
    this.#list = this.#list.filter(([n], i) => n !== name || i === at);
  }
  *entries() { for (const [name, value] of this.#list) yield [name, value]; }
  *keys() { for (const [name] of this.#list) yield name; }
  *values() { for (const [, value] of this.#list) yield value; }
  forEach(callback, self) {
    need(1, arguments.length, 'forEach');
    if (typeof callback !== 'function') throw new TypeError(`Failed to execute 'forEach' on 'FormData': parameter 1 is not of type 'Function'.`);
    for (const [name, value] of this.entries()) Reflect.apply(callback, self, [value, name, this]);
  }
  [Symbol.iterator]() { return this.entries(); }
  [custom](depth, options, inspect) {
    const shown = {};
    for (const [name, value] of this.#list) {
      if (!Object.hasOwn(shown, name)) shown[name] = value;
      else if (Array.isArray(shown[name])) shown[name].push(value);
      else shown[name] = [shown[name], value];
    }
    return `FormData ${inspect(shown, { ...options, depth: options.depth ?? 2 })}`;
  }
}
Object.defineProperty(FormData.prototype, Symbol.toStringTag, { configurable: true, value: 'FormData' });
for (const name of ['append', 'delete', 'get', 'getAll', 'has', 'set', 'entries', 'keys', 'values', 'forEach']) Object.defineProperty(FormData.prototype, name, { enumerable: true });

const escaped = (text) => text.replace(/\n/g, '%0A').replace(/\r/g, '%0D').replace(/"/g, '%22');
const lines = (text) => text.replace(/\r\n|\r|\n/g, '\r\n');

// encode gives the bytes of a form, and their content type.
function encode(form) {
  const boundary = `----formdata-toolhost-${uuid()}`;
  const parts = [], text = (s) => parts.push(Buffer.from(s));
  for (const [name, value] of form) {
    text(`--${boundary}\r\nContent-Disposition: form-data; name="${escaped(lines(name))}"`);
    if (typeof value === 'string') { text(`\r\n\r\n${lines(value)}\r\n`); continue; }
    text(`; filename="${escaped(value.name)}"\r\nContent-Type: ${value.type || 'application/octet-stream'}\r\n\r\n`);
    parts.push(bytesOf(value));
    text('\r\n');
  }
  text(`--${boundary}--\r\n`);
  return [join(parts), `multipart/form-data; boundary=${boundary}`];
}

const broken = () => new TypeError('Failed to parse body as FormData.');

// parameters reads `; name="x"; filename="y"` of a header.
function parameters(text) {
  const out = { __proto__: null };
  for (const [, name, quoted, plain] of text.matchAll(/;\s*([^\s=;]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/g)) out[name.toLowerCase()] ??= quoted === undefined ? plain.trim() : quoted.replace(/\\(["\\])/g, '$1');
  return out;
}
const unescaped = (text) => text.replace(/%0A/gi, '\n').replace(/%0D/gi, '\r').replace(/%22/g, '"');

// decode reads a form of a content type.
function decode(bytes, contentType) {
  const form = new FormData();
  const kind = (contentType ?? '').split(';')[0].trim().toLowerCase();
  if (kind === 'application/x-www-form-urlencoded') {
    for (const [name, value] of new URLSearchParams(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))) form.append(name, value);
    return form;
  }
  if (kind !== 'multipart/form-data') throw new TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".');
  const { boundary } = parameters(contentType.slice(contentType.indexOf(';')));
  if (!boundary || boundary.length > 70) throw broken();
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), mark = Buffer.from(`--${boundary}`), next = Buffer.from(`\r\n--${boundary}`);
  let at = data.indexOf(mark);
  if (at < 0) throw broken();
  at += mark.length;
  for (;;) {
    const after = data.toString('latin1', at, at + 2);
    if (after === '--') return form;
    if (after !== '\r\n') throw broken();
    const head = data.indexOf('\r\n\r\n', at);
    const end = head < 0 ? -1 : data.indexOf(next, head + 2);
    if (end < 0) throw broken();
    const headers = data.toString('utf8', at + 2, head + 2);
    const disposition = /^content-disposition\s*:\s*form-data\s*(;.*)\r\n/im.exec(headers);
    if (!disposition) throw broken();
    const { name, filename } = parameters(disposition[1]);
    if (name === undefined) throw broken();
    const value = data.subarray(Math.min(head + 4, end), end);
    if (filename === undefined) form.append(unescaped(name), new TextDecoder('utf-8', { ignoreBOM: true }).decode(value));
    else form.append(unescaped(name), new File([value], unescaped(filename), { type: /^content-type\s*:\s*(.*)\r\n/im.exec(headers)?.[1].trim() ?? 'text/plain' }));
    at = end + next.length;
  }
}

module.exports = { FormData, encode, decode };
