'use strict';
// Blob and File, and the URLs that stand for them.
const { nodeError, invalidArgType } = require('internal/errors');
const { isArrayBuffer } = require('internal/buffer');

const custom = Symbol.for('nodejs.util.inspect.custom');
const chunkSize = 65536;
let bytesOf, blobOf; // the bytes of a Blob, not copied; a Blob over bytes that nobody else changes

// partBytes gives the bytes of one part of a Blob; those of a view are not copied.
function partBytes(part, endings) {
  if (part instanceof Blob) return bytesOf(part);
  if (ArrayBuffer.isView(part)) return new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
  if (isArrayBuffer(part)) return new Uint8Array(part);
  let text = `${part}`;
  if (endings === 'native') text = text.replace(/\r\n|\n/g, '\n');
  return new Uint8Array(require('internal/buffer').encode(text, 'utf8'));
}

function join(parts) {
  let size = 0;
  for (const part of parts) size += part.length;
  const out = new Uint8Array(size);
  let at = 0;
  for (const part of parts) { out.set(part, at); at += part.length; }
  return out;
}

const typeOf = (type) => { type = `${type}`; return /[^\x20-\x7e]/.test(type) ? '' : type.toLowerCase(); };
const making = Symbol('making');

class Blob {
  #bytes; #type;
  constructor(sources = [], options = {}) {
    if (sources === making) { this.#bytes = options.bytes; this.#type = options.type; return; }
    if (sources === null || typeof sources !== 'object' || typeof sources[Symbol.iterator] !== 'function') throw nodeError('TypeError', 'ERR_INVALID_ARG_TYPE', `The "sources" argument must be a sequence.${invalidArgType('x', 'x', sources).message.replace(/^.*?\.(?= Received)/, '')}`);
    if (options !== null && typeof options !== 'object' && typeof options !== 'function') throw invalidArgType('options', 'Object', options);
    const endings = options?.endings ?? 'transparent';
    if (endings !== 'transparent' && endings !== 'native') throw require('internal/errors').invalidArgValue('options.endings', endings);
    this.#bytes = join([...sources].map((part) => partBytes(part, endings)));
    this.#type = typeOf(options?.type ?? '');
  }
  static {
    bytesOf = (blob) => blob.#bytes;
    blobOf = (bytes, type = '') => new Blob(making, { bytes, type: typeOf(type) });
  }
  get size() { return this.#bytes.length; }
  get type() { return this.#type; }
  slice(start = 0, end = this.size, type = '') {
    const size = this.size;
    const at = (n) => { n = Math.trunc(Number(n)) || 0; return n < 0 ? Math.max(size + n, 0) : Math.min(n, size); };
    const from = at(start);
    return blobOf(this.#bytes.subarray(from, Math.max(at(end), from)), type);
  }
  async arrayBuffer() { return this.#bytes.slice().buffer; }
  async bytes() { return this.#bytes.slice(); }
  async text() { return new TextDecoder().decode(this.#bytes); }
  stream() {
    const bytes = this.#bytes;
    let at = 0;
    return new (require('stream/web').ReadableStream)({
      type: 'bytes',
      pull(controller) {
        if (at < bytes.length) controller.enqueue(bytes.slice(at, at += chunkSize));
        if (at >= bytes.length) { controller.close(); controller.byobRequest?.respond(0); }
      },
    });
  }
  [custom](depth, options, inspect) { return depth < 0 ? this : `${this.constructor.name} ${inspect({ size: this.size, type: this.type }, options)}`; }
}
Object.defineProperty(Blob.prototype, Symbol.toStringTag, { configurable: true, value: 'Blob' });
for (const name of ['size', 'type', 'slice', 'stream', 'text', 'arrayBuffer', 'bytes']) Object.defineProperty(Blob.prototype, name, { enumerable: true });

class File extends Blob {
  #name; #lastModified;
  constructor(bits, name, options = {}) {
    if (arguments.length < 2) throw nodeError('TypeError', 'ERR_MISSING_ARGS', 'The "fileBits" and "fileName" arguments must be specified');
    super(bits, options);
    this.#name = `${name}`.toWellFormed?.() ?? `${name}`;
    const time = options?.lastModified;
    this.#lastModified = time === undefined ? Date.now() : Number(time) || 0;
  }
  get name() { return this.#name; }
  get lastModified() { return this.#lastModified; }
  [custom](depth, options, inspect) { return depth < 0 ? this : `File ${inspect({ size: this.size, type: this.type, name: this.#name, lastModified: this.#lastModified }, options)}`; }
}
Object.defineProperty(File.prototype, Symbol.toStringTag, { configurable: true, value: 'File' });
for (const name of ['name', 'lastModified']) Object.defineProperty(File.prototype, name, { enumerable: true });

const urls = new Map();

module.exports = {
  Blob, File, bytesOf, blobOf, join, uuid: host.uuid,
  createObjectURL(blob) {
    if (!(blob instanceof Blob)) throw invalidArgType('obj', 'Blob', blob);
    const url = `blob:nodedata:${host.uuid()}`;
    urls.set(url, blob);
    return url;
  },
  revokeObjectURL(url) { urls.delete(`${url}`); },
  resolveObjectURL: (url) => urls.get(`${url}`),
};
