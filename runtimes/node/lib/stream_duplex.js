'use strict';
// Duplex, Transform, PassThrough.
const EventEmitter = require('events');
const { nodeError } = require('internal/errors');
const { initLife } = require('internal/stream_base');
const { Readable, initReadable } = require('internal/stream_readable');
const { Writable, initWritable, writableMethods, writableGetters } = require('internal/stream_writable');

// Both sides.
function Duplex(options = {}) {
  if (!new.target && !(this instanceof Duplex)) return new Duplex(options);
  options ??= {};
  EventEmitter.call(this, options);
  initReadable(this, options);
  initWritable(this, options);
  this.allowHalfOpen = options.allowHalfOpen !== false;
  initLife(this, options);
  if (options.readable === false) { this._readable.enabled = false; this._readable.ended = this._readable.endEmitted = true; }
  if (options.writable === false) { this._writable.enabled = false; this._writable.ending = this._writable.finished = true; }
}
Object.setPrototypeOf(Duplex.prototype, Readable.prototype);
Object.setPrototypeOf(Duplex, Readable);
Object.assign(Duplex.prototype, writableMethods, { _write: Writable.prototype._write, destroy: Writable.prototype.destroy });
Object.defineProperties(Duplex.prototype, writableGetters);
Duplex.from = (source) => require('internal/stream_operators').duplexFrom(source);
Duplex.fromWeb = (pair, options) => require('internal/stream_web').duplexFromWeb(pair, options);
Duplex.toWeb = (stream) => require('internal/stream_web').duplexToWeb(stream);

function Transform(options = {}) {
  if (!new.target && !(this instanceof Transform)) return new Transform(options);
  options ??= {};
  Duplex.call(this, options);
  Object.defineProperty(this, '_waiting', { value: null, writable: true });
  if (typeof options.transform === 'function') this._transform = options.transform;
  if (typeof options.flush === 'function') this._flush = options.flush;
}
Object.setPrototypeOf(Transform.prototype, Duplex.prototype);
Object.setPrototypeOf(Transform, Duplex);
Object.assign(Transform.prototype, {
  _transform() { throw nodeError('Error', 'ERR_METHOD_NOT_IMPLEMENTED', 'The _transform() method is not implemented'); },
  _write(chunk, encoding, done) {
    const before = this._readable.length;
    const after = (error, value) => {
      if (error) { done(error); return; }
      if (value != null) this.push(value);
      const state = this._readable;
      if (this._writable.ending || before === state.length || state.length < state.highWaterMark) done();
      else this._waiting = done;
    };
    this._transform(chunk, encoding, after);
  },
  _read() { if (this._waiting) { const done = this._waiting; this._waiting = null; done(); } this._readable.reading = false; },
  _final(done) {
    if (typeof this._flush !== 'function') { this.push(null); done(); return; }
    this._flush((error, value) => {
      if (error) { done(error); return; }
      if (value != null) this.push(value);
      this.push(null);
      done();
    });
  },
});

function PassThrough(options) {
  if (!new.target && !(this instanceof PassThrough)) return new PassThrough(options);
  Transform.call(this, options);
}
Object.setPrototypeOf(PassThrough.prototype, Transform.prototype);
Object.setPrototypeOf(PassThrough, Transform);
PassThrough.prototype._transform = function (chunk, encoding, done) { done(null, chunk); };

module.exports = { Duplex, Transform, PassThrough };
