'use strict';
// Writable.
const EventEmitter = require('events');
const { nodeError, invalidArgType } = require('internal/errors');
const { noop, tick, highWater, Stream, destroyable, initLife, lifeGetters } = require('internal/stream_base');

// Writable side.
function initWritable(stream, options) {
  const objectMode = !!(options.objectMode || options.writableObjectMode);
  Object.defineProperty(stream, '_writable', { value: {
    objectMode, highWaterMark: highWater(options, 'writable', objectMode), decodeStrings: options.decodeStrings !== false, defaultEncoding: options.defaultEncoding ?? 'utf8',
    queue: [], length: 0, writing: false, corked: 0, ending: false, finished: false, finalCalled: false, needDrain: false, ended: false, callbacks: [], prefinished: false, failed: false,
  } });
  for (const name of ['write', 'writev', 'final']) if (typeof options[name] === 'function') stream[`_${name}`] = options[name];
}

function Writable(options = {}) {
  if (!new.target && !(this instanceof Writable)) return new Writable(options);
  options ??= {};
  EventEmitter.call(this, options);
  initWritable(this, options);
  initLife(this, options);
}
Object.setPrototypeOf(Writable.prototype, Stream.prototype);
Object.setPrototypeOf(Writable, Stream);

// advance writes what waits, one after the other while that is done at once.
function advance(stream) {
  const state = stream._writable;
  while (!state.writing && !state.failed && state.corked === 0 && !stream._life.destroyed && stream._life.constructed) {
    if (state.queue.length === 0) { finishIfDone(stream); return; }
    writeNext(stream, state);
  }
}

function writeNext(stream, state) {
  state.writing = true;
  const batch = typeof stream._writev === 'function' && state.queue.length > 1 ? state.queue.splice(0) : [state.queue.shift()];
  let sync = true, over = false;
  const done = (error) => {
    if (over) return;
    over = true;
    state.writing = false;
    for (const entry of batch) state.length -= entry.size;
    if (error) state.failed = true;
    const after = () => {
      if (error) {
        for (const entry of batch) entry.done(error);
        failQueue(state, error);
        stream.destroy(error);
        return;
      }
      if (state.needDrain && state.length === 0 && !state.ending && !stream._life.destroyed) { state.needDrain = false; stream.emit('drain'); }
      for (const entry of batch) entry.done(null);
      advance(stream);
    };
    // What is done at once is told later, so that no callback runs before write() has returned.
    if (sync) tick(after); else after();
  };
  try {
    if (batch.length > 1) stream._writev(batch.map(({ chunk, encoding }) => ({ chunk, encoding })), done);
    else if (typeof stream._write === 'function') stream._write(batch[0].chunk, batch[0].encoding, done);
    else stream._writev([{ chunk: batch[0].chunk, encoding: batch[0].encoding }], done);
  } catch (error) { done(error); }
  sync = false;
}

function failQueue(state, error) {
  for (const entry of state.queue.splice(0)) entry.done(error);
  for (const done of state.callbacks.splice(0)) done(error);
}

function finishIfDone(stream) {
  const state = stream._writable;
  if (!state.ending || state.finished || state.failed || state.writing || state.queue.length > 0 || stream._life.destroyed || state.finalCalled) return;
  state.finalCalled = true;
  const finish = (error) => {
    if (error) { failQueue(state, error); stream.destroy(error); return; }
    if (!state.prefinished) { state.prefinished = true; stream.emit('prefinish'); }
    tick(() => {
      if (stream._life.destroyed && stream._life.errored) return;
      state.finished = true;
      for (const done of state.callbacks.splice(0)) done(null);
      stream.emit('finish');
      if (stream._life.autoDestroy && (!stream._readable || stream._readable.endEmitted)) stream.destroy();
    });
  };
  if (typeof stream._final === 'function') { try { stream._final(finish); } catch (error) { finish(error); } } else finish();
}

const writableMethods = {
  write(chunk, encoding, done) {
    if (typeof encoding === 'function') { done = encoding; encoding = undefined; }
    done ??= noop;
    const state = this._writable;
    if (chunk === null) throw nodeError('TypeError', 'ERR_STREAM_NULL_VALUES', 'May not write null values to stream');
    encoding ??= state.defaultEncoding;
    if (!state.objectMode) {
      if (typeof chunk === 'string') { if (state.decodeStrings) { chunk = Buffer.from(chunk, encoding); encoding = 'buffer'; } } else if (chunk instanceof Uint8Array) { if (!Buffer.isBuffer(chunk)) chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length); encoding = 'buffer'; } else throw invalidArgType('chunk', ['string', 'Buffer', 'TypedArray', 'DataView'], chunk);
    }
    let error;
    if (state.ending) error = nodeError('Error', 'ERR_STREAM_WRITE_AFTER_END', 'write after end');
    else if (this._life.destroyed) error = nodeError('Error', 'ERR_STREAM_DESTROYED', 'Cannot call write after a stream was destroyed');
    if (error) {
      tick(done, error);
      if (state.ending && !this._life.destroyed) this.destroy(error);
      return false;
    }
    const size = state.objectMode ? 1 : chunk.length;
    state.length += size;
    const room = state.length < state.highWaterMark;
    if (!room) state.needDrain = true;
    state.queue.push({ chunk, encoding, done, size });
    advance(this);
    return room && !this._life.errored && !this._life.destroyed;
  },
  end(chunk, encoding, done) {
    if (typeof chunk === 'function') { done = chunk; chunk = undefined; encoding = undefined; } else if (typeof encoding === 'function') { done = encoding; encoding = undefined; }
    const state = this._writable;
    if (chunk !== undefined && chunk !== null) this.write(chunk, encoding);
    if (state.corked) { state.corked = 1; this.uncork(); }
    if (typeof done === 'function') {
      if (state.finished) tick(done, nodeError('Error', 'ERR_STREAM_ALREADY_FINISHED', 'Cannot call end after a stream was finished'));
      else if (this._life.destroyed) tick(done, this._life.errored ?? nodeError('Error', 'ERR_STREAM_DESTROYED', 'Cannot call end after a stream was destroyed'));
      else state.callbacks.push(done);
    }
    if (!state.ending && !this._life.destroyed) { state.ending = true; state.ended = true; advance(this); finishIfDone(this); }
    return this;
  },
  cork() { this._writable.corked++; },
  uncork() { const state = this._writable; if (state.corked > 0 && --state.corked === 0) advance(this); },
  setDefaultEncoding(encoding) { this._writable.defaultEncoding = encoding; return this; },
};
Object.assign(Writable.prototype, writableMethods, {
  _write(chunk, encoding, done) {
    if (this._writev) this._writev([{ chunk, encoding }], done);
    else throw nodeError('Error', 'ERR_METHOD_NOT_IMPLEMENTED', 'The _write() method is not implemented');
  },
  pipe() { this.destroy(nodeError('Error', 'ERR_STREAM_CANNOT_PIPE', 'Cannot pipe, not readable')); },
  destroy(error, done) { destroyable.destroy.call(this, error, done); abandon(this); return this; },
  _destroy: destroyable._destroy,
});
function abandon(stream) {
  const state = stream._writable;
  if (state.finished || state.queue.length === 0 && state.callbacks.length === 0) return;
  tick(() => failQueue(state, stream._life.errored ?? nodeError('Error', 'ERR_STREAM_DESTROYED', 'Cannot call write after a stream was destroyed')));
}
const writableGetters = {
  writable: { configurable: true, get() { const s = this._writable; return s !== undefined && !s.ending && !s.ended && !this._life.destroyed && !this._life.errored && s.enabled !== false; }, set(value) { this._writable.enabled = !!value; } },
  writableLength: { configurable: true, get() { return this._writable.length; } },
  writableHighWaterMark: { configurable: true, get() { return this._writable.highWaterMark; } },
  writableObjectMode: { configurable: true, get() { return this._writable.objectMode; } },
  writableEnded: { configurable: true, get() { return this._writable.ending; } },
  writableFinished: { configurable: true, get() { return this._writable.finished; } },
  writableCorked: { configurable: true, get() { return this._writable.corked; } },
  writableNeedDrain: { configurable: true, get() { const s = this._writable; return !this._life.destroyed && !s.ending && s.needDrain; } },
};
Object.defineProperties(Writable.prototype, { ...lifeGetters, ...writableGetters });
Object.defineProperty(Writable, Symbol.hasInstance, { value(value) { return Function.prototype[Symbol.hasInstance].call(this, value) || this === Writable && value?._writable !== undefined; } });

Writable.fromWeb = (stream, options) => require('internal/stream_web').writableFromWeb(stream, options);
Writable.toWeb = (stream) => require('internal/stream_web').writableToWeb(stream);

module.exports = { Writable, initWritable, writableMethods, writableGetters, advance };
