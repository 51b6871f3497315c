'use strict';
// node:zlib. The packing is done in Go; a stream asks it for output step by step, so that
// a small input with a huge output takes no more memory than its reader has room for.
const { Transform } = require('stream');
const { nodeError, invalidArgType, outOfRange, check } = require('internal/errors');
const { isArrayBuffer } = require('internal/buffer');
const { constants, codes } = require('internal/zlib_constants');

const { Z_MIN_WINDOWBITS, Z_MAX_WINDOWBITS, Z_MIN_CHUNK, Z_DEFAULT_CHUNK, Z_MIN_LEVEL, Z_MAX_LEVEL, Z_MIN_MEMLEVEL, Z_MAX_MEMLEVEL, Z_FIXED, Z_BLOCK, Z_NO_FLUSH, Z_FINISH, Z_SYNC_FLUSH,
  Z_HUFFMAN_ONLY, Z_FULL_FLUSH, BROTLI_OPERATION_PROCESS, BROTLI_OPERATION_FLUSH, BROTLI_OPERATION_FINISH, BROTLI_OPERATION_EMIT_METADATA } = constants;

// The kinds of streams, by their classes' names: [format, unpacks].
const kinds = {
  __proto__: null, Deflate: ['deflate', false], Inflate: ['deflate', true], Gzip: ['gzip', false], Gunzip: ['gzip', true], DeflateRaw: ['deflate-raw', false], InflateRaw: ['deflate-raw', true],
  Unzip: ['any', true], BrotliCompress: ['brotli', false], BrotliDecompress: ['brotli', true],
};

function number(value, name, min, max, otherwise) {
  if (value === undefined || Number.isNaN(value)) return otherwise;
  if (typeof value !== 'number') throw invalidArgType(name, 'number', value);
  if (!Number.isFinite(value)) throw outOfRange(name, 'a finite number', value);
  if (value < min || value > max) throw outOfRange(name, max === Infinity ? `>= ${min}` : `>= ${min} and <= ${max}`, value);
  return value;
}

// bytes gives the bytes of what may be packed.
function bytes(value, name = 'buffer', types = ['string', 'Buffer', 'TypedArray', 'DataView', 'ArrayBuffer']) {
  if (typeof value === 'string' && types[0] === 'string') return Buffer.from(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (isArrayBuffer(value)) return new Uint8Array(value);
  throw invalidArgType(name, types, value);
}

// settingsOf checks the options as Node does. own is what Go takes.
function settingsOf(name, options) {
  const [format, unpack] = kinds[name];
  options ??= {};
  const brotli = format === 'brotli';
  const flushes = brotli ? [BROTLI_OPERATION_PROCESS, BROTLI_OPERATION_EMIT_METADATA] : [Z_NO_FLUSH, Z_BLOCK];
  const chunkSize = number(options.chunkSize, 'options.chunkSize', Z_MIN_CHUNK, Infinity, Z_DEFAULT_CHUNK);
  const flush = number(options.flush, 'options.flush', ...flushes, flushes[0]);
  const finishFlush = number(options.finishFlush, 'options.finishFlush', ...flushes, brotli ? BROTLI_OPERATION_FINISH : Z_FINISH);
  const maxOutputLength = Math.min(number(options.maxOutputLength, 'options.maxOutputLength', 1, 4294967296, 4294967296), host.maxBytes);
  const s = { brotli, unpack, chunkSize, flush, finishFlush, maxOutputLength, info: !!options.info, level: -1, strategy: 0, own: { format, unpack, chunk: Math.trunc(chunkSize), level: -1, window: 0, dictionary: undefined } };
  if (brotli) {
    s.own.level = 11;
    for (const key of Object.keys(options.params ?? {})) {
      const value = options.params[key];
      if (!/^\d+$/.test(key) || key > (unpack ? 1 : 8)) throw nodeError('RangeError', 'ERR_BROTLI_INVALID_PARAM', `${key} is not a valid Brotli parameter`);
      if (typeof value !== 'number' && typeof value !== 'boolean') throw invalidArgType('options.params[key]', 'number', value);
      if (unpack) continue;
      if (key === '1') s.own.level = Math.min(Math.max(Math.trunc(+value), 0), 11);
      if (key === '2') s.own.window = Math.min(Math.max(Math.trunc(+value), 10), 24);
    }
    return s;
  }
  const mayBeZero = unpack && (options.windowBits == null || options.windowBits === 0);
  const windowBits = mayBeZero ? 0 : number(options.windowBits, 'options.windowBits', name === 'Gzip' ? Z_MIN_WINDOWBITS + 1 : Z_MIN_WINDOWBITS, Z_MAX_WINDOWBITS, 15);
  s.level = number(options.level, 'options.level', Z_MIN_LEVEL, Z_MAX_LEVEL, -1);
  number(options.memLevel, 'options.memLevel', Z_MIN_MEMLEVEL, Z_MAX_MEMLEVEL, 8);
  s.strategy = number(options.strategy, 'options.strategy', 0, Z_FIXED, 0);
  if (options.dictionary !== undefined) s.own.dictionary = bytes(options.dictionary, 'options.dictionary', ['Buffer', 'TypedArray', 'DataView', 'ArrayBuffer']);
  s.own.level = s.strategy === Z_HUFFMAN_ONLY && s.level !== 0 ? -2 : Math.trunc(s.level);
  s.own.window = windowBits;
  return s;
}

// flushOf numbers a flush as Go does: none, some, the end.
const flushOf = (s, flush) => s.brotli ? Math.min(flush, 2) === flush ? flush : 1 : flush === Z_NO_FLUSH ? 0 : flush === Z_FINISH ? 2 : 1;

const settings = Symbol('settings'), handle = Symbol('handle'), wanted = Symbol('flush'), resume = Symbol('resume');
const nothing = () => Buffer.alloc(0);

function ZlibBase(options, name) {
  const s = settingsOf(name, options);
  Transform.call(this, { autoDestroy: true, ...options, objectMode: false, readableObjectMode: false, writableObjectMode: false });
  Object.defineProperty(this, settings, { value: s });
  Object.defineProperty(this, handle, { value: host.open(s.own), writable: true });
  Object.defineProperty(this, resume, { value: null, writable: true });
  this.bytesWritten = 0;
}
Object.setPrototypeOf(ZlibBase.prototype, Transform.prototype);
Object.setPrototypeOf(ZlibBase, Transform);

Object.assign(ZlibBase.prototype, {
  _transform(chunk, encoding, done) {
    const s = this[settings];
    const last = this.writableEnded && this.writableLength === chunk.length && chunk[wanted] === undefined;
    run(this, chunk, chunk[wanted] ?? (last ? s.finishFlush : s.flush), last, done);
  },
  _flush(done) { run(this, nothing(), this[settings].finishFlush, true, done); },
  _read(n) {
    if (this[resume]) { const go = this[resume]; this[resume] = null; go(); } else Transform.prototype._read.call(this, n);
  },
  _destroy(error, done) { close(this); done(error); },
  _processChunk(chunk, flush, done) {
    if (typeof done === 'function') { run(this, chunk, flush, flush === Z_FINISH, done); return undefined; }
    return processSync(this, chunk, flush);
  },
  flush(kind, done) {
    if (typeof kind === 'function' || kind === undefined && done === undefined) { done = kind; kind = this[settings].brotli ? BROTLI_OPERATION_FLUSH : Z_FULL_FLUSH; }
    if (this.writableFinished) { if (done) process.nextTick(done); return; }
    if (this.writableEnded) { if (done) this.once('end', done); return; }
    this.write(Object.defineProperty(nothing(), wanted, { value: kind }), '', done);
  },
  close(done) {
    if (done) { if (this.closed) process.nextTick(done); else this.once('close', done); }
    this.destroy();
  },
  // What was packed so far stays as it is; the strategy is up to the packer.
  params(level, strategy, done) {
    number(level, 'level', Z_MIN_LEVEL, Z_MAX_LEVEL);
    number(strategy, 'strategy', 0, Z_FIXED);
    this.flush(Z_SYNC_FLUSH, done);
  },
  reset() {
    if (this[handle] === null) throw new Error('zlib binding closed');
    this[handle].close();
    this[handle] = host.open(this[settings].own);
  },
});
Object.defineProperty(ZlibBase.prototype, '_closed', { configurable: true, enumerable: true, get() { return this[handle] === null; } });
Object.defineProperty(ZlibBase.prototype, 'bytesRead', { configurable: true, enumerable: true, get() { return this.bytesWritten; }, set(value) { this.bytesWritten = value; } });

function close(stream) {
  if (stream[handle] === null) return;
  stream[handle].close();
  stream[handle] = null;
}

// run gives a chunk to the packer, and what it makes of it to the reader, as fast as that reads.
function run(stream, chunk, flush, last, done) {
  const s = stream[settings];
  if (stream[handle] === null) { process.nextTick(done); return; }
  stream[handle].feed(chunk, flushOf(s, flush), last);
  const step = () => {
    if (stream[handle] === null) return; // it was destroyed, which has told everybody
    stream[handle].step((error, out, over, used) => {
      if (stream.destroyed) return;
      if (error) { stream.destroy(error); return; }
      stream.bytesWritten = used;
      const room = out === undefined || stream.push(out);
      if (over) { done(); return; }
      if (room) step(); else stream[resume] = step;
    });
  };
  step();
}

function processSync(stream, chunk, flush) {
  if (stream[handle] === null) throw new Error('zlib binding closed');
  const s = stream[settings], parts = [];
  let total = 0;
  stream[handle].feed(chunk, flushOf(s, flush), flush === s.finishFlush);
  for (;;) {
    let out, over, used;
    try { [, out, over, used] = stream[handle].stepSync(); } catch (error) { close(stream); throw error; }
    stream.bytesWritten = used;
    if (out !== undefined) {
      parts.push(out);
      total += out.length;
      if (total > s.maxOutputLength) { close(stream); throw nodeError('RangeError', 'ERR_BUFFER_TOO_LARGE', `Cannot create a Buffer larger than ${s.maxOutputLength} bytes`); }
    }
    if (over) return parts.length === 1 ? parts[0] : Buffer.concat(parts);
  }
}

const zlib = { crc32(value, start = 0) {
  const data = bytes(value, 'data', ['string', 'Buffer', 'TypedArray', 'DataView']);
  check.integer(start, 'value', 0, 2 ** 32 - 1);
  return host.crc32(data, start);
} };

const createProperty = (kind) => ({ configurable: true, enumerable: true, value: (options) => new kind(options) });

for (const name of Object.keys(kinds)) {
  const kind = { [name]: function (options) {
    if (!(this instanceof kind)) return new kind(options);
    ZlibBase.call(this, options, name);
  } }[name];
  Object.setPrototypeOf(kind.prototype, ZlibBase.prototype);
  Object.setPrototypeOf(kind, ZlibBase);
  zlib[name] = kind;
}

// result is what the one-shot functions give: the bytes, or with info the stream that made them too.
function result(name, s, options, out, used) {
  const buffer = Buffer.from(out);
  if (!s.info) return buffer;
  const engine = new zlib[name](options);
  engine.bytesWritten = used;
  close(engine);
  return { buffer, engine };
}

for (const name of Object.keys(kinds)) {
  const method = name[0].toLowerCase() + name.slice(1);
  zlib[method] = { [method](value, options, done) {
    if (typeof options === 'function') { done = options; options = {}; }
    check.function(done, 'callback');
    const s = settingsOf(name, options);
    const data = bytes(value);
    host.start((error, out, used) => { if (error) done(error); else done(null, result(name, s, options, out, used)); }, s.own, data, flushOf(s, s.finishFlush), s.maxOutputLength);
  } }[method];
  zlib[`${method}Sync`] = { [`${method}Sync`](value, options) {
    const data = bytes(value);
    const s = settingsOf(name, options);
    return result(name, s, options, ...host.sync(s.own, data, flushOf(s, s.finishFlush), s.maxOutputLength));
  } }[`${method}Sync`];
}
for (const name of Object.keys(kinds)) Object.defineProperty(zlib, `create${name}`, createProperty(zlib[name]));
Object.defineProperty(zlib, 'constants', { enumerable: true, value: constants });
Object.defineProperty(zlib, 'codes', { enumerable: true, value: codes });

module.exports = zlib;
