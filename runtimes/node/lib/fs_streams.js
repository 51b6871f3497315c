'use strict';
const { Readable, Writable } = require('stream');
const fs = require('internal/fs_members');
const { toPath, parseFlags } = require('internal/fs_core');
const { FileHandle } = require('internal/fs_handle');
const { outOfRange, check } = require('internal/errors');

function settings(options, defaults) {
  if (typeof options === 'string') options = { encoding: options };
  if (options != null && typeof options !== 'object') throw require('internal/errors').invalidArgType('options', ['string', 'Object'], options);
  return { ...defaults, ...options };
}

class ReadStream extends Readable {
  constructor(path, options) {
    options = settings(options, { highWaterMark: 65536, flags: 'r', mode: 0o666, autoClose: true });
    if (options.start !== undefined) check.integer(options.start, 'start', 0);
    const end = options.end === undefined || options.end === Infinity ? Infinity : options.end;
    if (end !== Infinity) check.integer(end, 'end', 0);
    if ((options.start ?? 0) > end) throw outOfRange('start', `<= "end" (here: ${end})`, options.start);
    super({ highWaterMark: options.highWaterMark, encoding: options.encoding, autoDestroy: options.autoClose !== false, emitClose: options.emitClose, signal: options.signal });
    this.fd = options.fd instanceof FileHandle ? options.fd.fd : options.fd ?? null;
    this.path = this.fd === null ? toPath(path) : undefined;
    this.flags = options.flags;
    this.mode = options.mode;
    this.start = options.start;
    this.end = end;
    this.pos = options.start ?? undefined;
    this.bytesRead = 0;
    this.autoClose = options.autoClose !== false;
    this._life.constructed = this.fd !== null;
    if (this.fd === null) this._open();
  }
  get pending() { return this.fd === null; }
  _open() {
    openFD(this, () => {
      if (this._readable.flowing || this.listenerCount('readable') > 0) Readable.prototype.read.call(this, 0);
    });
  }
  _read(n) {
    n = this.end === Infinity ? n : Math.min(n, this.end - (this.pos ?? this.bytesRead) + 1);
    if (n <= 0) { this.push(null); return; }
    fs.read(this.fd, Buffer.alloc(n), 0, n, this.pos ?? null, (error, count, buffer) => {
      if (this._life.destroyed) return;
      if (error) { this.destroy(error); return; }
      this.bytesRead += count;
      if (this.pos !== undefined) this.pos += count;
      this.push(count > 0 ? count < n ? buffer.subarray(0, count) : buffer : null);
    });
  }
  _destroy(error, done) { closeFD(this, error, done); }
  close(done) { if (done) this.once('close', done); this.destroy(); }
}

function openFD(stream, opened) {
  parseFlags(stream.flags);
  fs.open(stream.path, stream.flags, stream.mode, (error, fd) => {
    stream._life.constructed = true;
    if (error) { stream.emit('_constructed'); stream.destroy(error); return; }
    stream.fd = fd;
    stream.emit('_constructed');
    if (stream._life.destroyed) return;
    stream.emit('open', fd);
    stream.emit('ready');
    opened();
  });
}

function closeFD(stream, error, done) {
  if (stream.fd === null || !stream.autoClose) { done(error); return; }
  const fd = stream.fd;
  stream.fd = null;
  fs.close(fd, (failure) => done(error ?? failure));
}

class WriteStream extends Writable {
  constructor(path, options) {
    options = settings(options, { flags: 'w', mode: 0o666, autoClose: true });
    if (options.start !== undefined) check.integer(options.start, 'start', 0);
    super({ highWaterMark: options.highWaterMark, decodeStrings: true, defaultEncoding: options.encoding ?? options.defaultEncoding, autoDestroy: options.autoClose !== false, emitClose: options.emitClose, signal: options.signal });
    this.fd = options.fd instanceof FileHandle ? options.fd.fd : options.fd ?? null;
    this.path = this.fd === null ? toPath(path) : undefined;
    this.flags = options.flags;
    this.mode = options.mode;
    this.start = options.start;
    this.pos = options.start;
    this.bytesWritten = 0;
    this.autoClose = options.autoClose !== false;
    this._life.constructed = this.fd !== null;
    if (this.fd === null) this._open();
  }
  get pending() { return this.fd === null; }
  _open() {
    openFD(this, () => { this.cork(); this.uncork(); });
  }
  _write(chunk, encoding, done) {
    fs.write(this.fd, chunk, 0, chunk.length, this.pos ?? null, (error, count) => {
      if (error) { done(error); return; }
      this.bytesWritten += count;
      if (this.pos !== undefined) this.pos += count;
      if (count < chunk.length) this._write(chunk.subarray(count), encoding, done); else done();
    });
  }
  _final(done) {
    // What was written is there when 'finish' says so, so the file is closed before.
    if (!this.autoClose || this.fd === null) { done(); return; }
    const fd = this.fd;
    this.fd = null;
    fs.close(fd, done);
  }
  _destroy(error, done) { closeFD(this, error, done); }
  close(done) {
    if (done) { if (this._life.closed) { process.nextTick(done); return; } this.once('close', done); }
    if (!this.autoClose) this.once('finish', () => this.destroy());
    this.end();
  }
  destroySoon(...args) { return this.end(...args); }
}

module.exports = { ReadStream, WriteStream };
