'use strict';
// What all streams share: how they begin and end.
const EventEmitter = require('events');
require('internal/symbols');
const { check, AbortError } = require('internal/errors');

const noop = () => {};
const tick = (f, ...args) => process.nextTick(f, ...args);
const highWater = (options, side, objectMode) => options[`${side}HighWaterMark`] ?? options.highWaterMark ?? (objectMode ? 16 : 16384);

function Stream(options) { EventEmitter.call(this, options); }
Object.setPrototypeOf(Stream.prototype, EventEmitter.prototype);
Object.setPrototypeOf(Stream, EventEmitter);
Stream.prototype.pipe = function (target, options) {
  const source = this;
  source.on('data', (chunk) => { if (target.writable !== false && target.write(chunk) === false) source.pause?.(); });
  target.on('drain', () => source.resume?.());
  if (options?.end !== false) source.once('end', () => target.end());
  target.emit('pipe', source);
  return target;
};

// destruction is what readable and writable sides share.
const destroyable = {
  destroy(error, done) {
    const state = this._life;
    if (state.destroyed) { if (typeof done === 'function') tick(done, error ?? null); return this; }
    state.destroyed = true;
    if (error) { state.errored = error; }
    const close = (failure) => {
      failure ??= error;
      if (failure) state.errored = failure;
      if (state.closed) return;
      state.closed = true;
      done?.(failure ?? null);
      tick(() => {
        if (failure && !state.errorEmitted) { state.errorEmitted = true; this.emit('error', failure); }
        if (state.emitClose) { this.emit('close'); }
      });
    };
    const run = () => { try { this._destroy(error ?? null, close); } catch (thrown) { close(thrown); } };
    if (state.constructed) run(); else this.once('_constructed', run);
    return this;
  },
  _destroy(error, done) { done(error); },
};

function initLife(stream, options) {
  if (stream._life) return;
  Object.defineProperty(stream, '_life', { value: { destroyed: false, closed: false, errored: null, errorEmitted: false, emitClose: options.emitClose !== false, constructed: true, autoDestroy: options.autoDestroy !== false } });
  if (typeof options.destroy === 'function') stream._destroy = options.destroy;
  if (typeof options.construct === 'function') stream._construct = options.construct;
  if (options.signal) addAbortSignal(options.signal, stream);
  if (typeof stream._construct === 'function') {
    stream._life.constructed = false;
    tick(() => {
      const ready = (error) => {
        stream._life.constructed = true;
        stream.emit('_constructed');
        if (error) stream.destroy(error);
        else { if (stream._readable) require('internal/stream_readable').maybeRead(stream); if (stream._writable) require('internal/stream_writable').advance(stream); }
      };
      try { stream._construct(ready); } catch (error) { ready(error); }
    });
  }
}

const lifeGetters = {
  destroyed: { configurable: true, get() { return this._life?.destroyed ?? false; }, set(value) { if (this._life) this._life.destroyed = value; } },
  closed: { configurable: true, get() { return this._life.closed; } },
  errored: { configurable: true, get() { return this._life.errored; } },
};

function addAbortSignal(signal, stream) {
  check.signal(signal, 'signal');
  const abort = () => stream.destroy(new AbortError(undefined, { cause: signal.reason }));
  if (signal.aborted) tick(abort); else signal.addEventListener('abort', abort, { once: true });
  return stream;
}

module.exports = { noop, tick, highWater, Stream, destroyable, initLife, lifeGetters, addAbortSignal };
