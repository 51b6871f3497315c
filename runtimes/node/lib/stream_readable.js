'use strict';
// Readable. Iteration and what arrays have are in stream_operators.js.
const EventEmitter = require('events');
const { nodeError, invalidArgType, AbortError } = require('internal/errors');
const { tick, highWater, Stream, destroyable, initLife, lifeGetters } = require('internal/stream_base');

const operators = () => require('internal/stream_operators');

// Readable side.
function initReadable(stream, options) {
  const objectMode = !!(options.objectMode || options.readableObjectMode);
  Object.defineProperty(stream, '_readable', { value: {
    objectMode, highWaterMark: highWater(options, 'readable', objectMode), buffer: [], length: 0, flowing: null, ended: false, endEmitted: false, reading: false, sync: true,
    decoder: null, encoding: null, pipes: [], scheduled: false, waitingForReadable: false, didRead: false, paused: false, aborted: false,
  } });
  if (typeof options.read === 'function') stream._read = options.read;
  if (options.encoding) stream.setEncoding(options.encoding);
}

function Readable(options = {}) {
  if (!new.target && !(this instanceof Readable)) return new Readable(options);
  options ??= {};
  EventEmitter.call(this, options);
  initReadable(this, options);
  initLife(this, options);
}
Object.setPrototypeOf(Readable.prototype, Stream.prototype);
Object.setPrototypeOf(Readable, Stream);

function chunkSize(state, chunk) { return state.objectMode ? 1 : chunk.length; }

function addChunk(stream, chunk, front) {
  const state = stream._readable;
  if (state.flowing && state.length === 0 && !front && !state.sync && stream.listenerCount('data') > 0) { stream.emit('data', chunk); return; }
  state.length += chunkSize(state, chunk);
  if (front) state.buffer.unshift(chunk); else state.buffer.push(chunk);
  schedule(stream);
}

// schedule hands on what is kept, in a tick of its own.
function schedule(stream) {
  const state = stream._readable;
  if (state.scheduled) return;
  state.scheduled = true;
  tick(() => {
    state.scheduled = false;
    if (stream._life.destroyed) return;
    if (state.flowing) flow(stream);
    else if ((state.length > 0 || state.ended) && stream.listenerCount('readable') > 0 && !state.endEmitted) {
      stream.emit('readable');
      if (state.length < state.highWaterMark) maybeRead(stream);
    } else maybeRead(stream);
    endIfDone(stream);
  });
}

function flow(stream) {
  const state = stream._readable;
  while (state.flowing && state.length > 0 && !stream._life.destroyed) stream.emit('data', take(state));
  if (state.flowing) maybeRead(stream);
}

function take(state) {
  const chunk = state.buffer.shift();
  state.length -= chunkSize(state, chunk);
  return chunk;
}

function maybeRead(stream) {
  const state = stream._readable;
  if (state.reading || state.ended || stream._life.destroyed || !stream._life.constructed || state.length >= Math.max(state.highWaterMark, 1)) return;
  if (!state.flowing && state.flowing !== null && stream.listenerCount('readable') === 0) return;
  state.reading = true;
  state.sync = true;
  try { stream._read(state.highWaterMark); } catch (error) { stream.destroy(error); }
  state.sync = false;
}

function endIfDone(stream) {
  const state = stream._readable;
  if (!state.ended || state.endEmitted || state.length > 0 || stream._life.destroyed) return;
  if (!state.flowing && !state.didRead && stream.listenerCount('readable') === 0) return;
  state.endEmitted = true;
  tick(() => {
    if (stream._life.destroyed && stream._life.errored) return;
    stream.emit('end');
    if (stream._writable && stream.allowHalfOpen === false) stream.end();
    if (stream._life.autoDestroy && (!stream._writable || stream._writable.finished)) stream.destroy();
  });
}

Object.assign(Readable.prototype, {
  _read() { throw nodeError('Error', 'ERR_METHOD_NOT_IMPLEMENTED', 'The _read() method is not implemented'); },
  push(chunk, encoding) { return pushChunk(this, chunk, encoding, false); },
  unshift(chunk, encoding) { return pushChunk(this, chunk, encoding, true); },
  setEncoding(encoding) {
    const { StringDecoder } = require('string_decoder');
    const state = this._readable;
    state.decoder = new StringDecoder(encoding);
    state.encoding = state.decoder.encoding;
    if (state.buffer.length > 0) {
      const text = state.buffer.map((chunk) => state.decoder.write(chunk)).join('');
      state.buffer = text === '' ? [] : [text];
      state.length = text.length;
    }
    return this;
  },
  read(n) {
    const state = this._readable;
    state.didRead = true;
    if (n === 0) { maybeRead(this); return null; }
    if (state.length === 0) { maybeRead(this); if (state.length === 0) { endIfDone(this); return null; } }
    let chunk;
    if (state.objectMode) chunk = take(state);
    else if (n === undefined || Number.isNaN(n)) {
      chunk = state.flowing && state.buffer.length > 0 ? take(state) : joined(state, state.length);
    } else {
      if (n > state.length) { if (!state.ended) { state.highWaterMark = Math.max(state.highWaterMark, n); maybeRead(this); return null; } n = state.length; }
      if (n > state.length) return null;
      chunk = joined(state, n);
    }
    if (chunk === null) return null;
    maybeRead(this);
    this.emit('data', chunk);
    endIfDone(this);
    return chunk;
  },
  on(type, listener) {
    EventEmitter.prototype.on.call(this, type, listener);
    const state = this._readable;
    if (type === 'data' && state.flowing !== false && this.listenerCount('readable') === 0) this.resume();
    else if (type === 'readable') { state.flowing = false; schedule(this); }
    return this;
  },
  pause() {
    const state = this._readable;
    if (state.flowing !== false) { state.flowing = false; this.emit('pause'); }
    state.paused = true;
    return this;
  },
  resume() {
    const state = this._readable;
    state.paused = false;
    if (!state.flowing) {
      state.flowing = this.listenerCount('readable') === 0;
      tick(() => { this.emit('resume'); });
      schedule(this);
    }
    return this;
  },
  isPaused() { return this._readable.paused || this._readable.flowing === false; },
  pipe(target, options) {
    const source = this, state = this._readable;
    const onData = (chunk) => { if (target.write(chunk) === false) source.pause(); };
    const onDrain = () => source.resume();
    const onEnd = () => target.end();
    const onError = (error) => { unpipe(); if (target.listenerCount('error') === 0) target.emit('error', error); };
    const unpipe = () => {
      source.removeListener('data', onData); target.removeListener('drain', onDrain); source.removeListener('end', onEnd);
      target.removeListener('error', onError); target.removeListener('close', unpipe); target.removeListener('finish', unpipe);
      state.pipes = state.pipes.filter((p) => p.target !== target);
      target.emit('unpipe', source, { hasUnpiped: true });
    };
    state.pipes.push({ target, unpipe });
    target.on('drain', onDrain);
    target.prependListener('error', onError);
    target.once('close', unpipe);
    target.once('finish', unpipe);
    if (options?.end !== false && target !== process.stdout && target !== process.stderr) { if (state.endEmitted) tick(onEnd); else source.once('end', onEnd); }
    target.emit('pipe', source);
    source.on('data', onData);
    if (state.flowing === false && !state.paused) source.resume();
    return target;
  },
  unpipe(target) {
    for (const p of [...this._readable.pipes]) if (target === undefined || p.target === target) p.unpipe();
    if (this._readable.pipes.length === 0) this.pause();
    return this;
  },
  wrap(old) {
    old.on('data', (chunk) => { if (!this.push(chunk)) old.pause?.(); });
    old.on('end', () => this.push(null));
    old.on('error', (error) => this.destroy(error));
    this._read = () => old.resume?.();
    return this;
  },
  destroy: destroyable.destroy, _destroy: destroyable._destroy,
  [Symbol.asyncIterator]() { return operators().iterate(this, {}); },
  iterator(options = {}) { return operators().iterate(this, options); },
});
Object.defineProperty(Readable.prototype, Symbol.asyncDispose, { configurable: true, writable: true, value() { this.destroy(this._readable.endEmitted ? undefined : new AbortError()); return new Promise((resolve) => require('internal/stream_pipeline').finished(this, () => resolve())); } });
Readable.prototype.addListener = Readable.prototype.on;

function pushChunk(stream, chunk, encoding, front) {
  const state = stream._readable;
  state.reading = false;
  if (chunk === null) {
    if (state.ended) return false;
    state.ended = true;
    if (state.decoder) { const rest = state.decoder.end(); if (rest !== '') { state.buffer.push(rest); state.length += rest.length; } }
    if (state.flowing || stream.listenerCount('readable') > 0 || state.didRead) schedule(stream);
    return false;
  }
  if (!state.objectMode) {
    if (typeof chunk === 'string') {
      if (!(state.decoder && (encoding ?? 'utf8') === state.encoding)) chunk = Buffer.from(chunk, encoding);
    } else if (chunk instanceof Uint8Array) { if (!Buffer.isBuffer(chunk)) chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length); } else if (chunk !== undefined) {
      stream.destroy(invalidArgType('chunk', ['string', 'Buffer', 'Uint8Array'], chunk));
      return false;
    }
    if (chunk === undefined || chunk.length === 0) { if (chunk === undefined && !state.objectMode) return false; schedule(stream); return state.length < state.highWaterMark; }
    if (state.decoder && typeof chunk !== 'string') { chunk = state.decoder.write(chunk); if (chunk === '') { schedule(stream); return true; } }
  }
  if (state.ended && !front) { stream.destroy(nodeError('Error', 'ERR_STREAM_PUSH_AFTER_EOF', 'stream.push() after EOF')); return false; }
  if (stream._life.destroyed) return false;
  addChunk(stream, chunk, front);
  if (state.flowing && state.length === 0) schedule(stream);
  return state.length < state.highWaterMark;
}

function joined(state, n) {
  if (state.buffer.length === 0) return null;
  const all = state.decoder || typeof state.buffer[0] === 'string' ? state.buffer.join('') : state.buffer.length === 1 ? state.buffer[0] : Buffer.concat(state.buffer);
  const head = all.slice(0, n), rest = all.slice(n);
  state.buffer = rest.length > 0 ? [rest] : [];
  state.length = rest.length;
  return head;
}

Object.defineProperties(Readable.prototype, {
  ...lifeGetters,
  readable: { configurable: true, get() { const s = this._readable; return s !== undefined && !this._life.destroyed && !s.endEmitted && !this._life.errored && s.enabled !== false; }, set(value) { this._readable.enabled = !!value; } },
  readableFlowing: { configurable: true, get() { return this._readable.flowing; }, set(value) { this._readable.flowing = value; } },
  readableLength: { configurable: true, get() { return this._readable.length; } },
  readableHighWaterMark: { configurable: true, get() { return this._readable.highWaterMark; } },
  readableObjectMode: { configurable: true, get() { return this._readable.objectMode; } },
  readableEncoding: { configurable: true, get() { return this._readable.encoding; } },
  readableEnded: { configurable: true, get() { return this._readable.endEmitted; } },
  readableAborted: { configurable: true, get() { return this._life.destroyed && !this._readable.endEmitted; } },
  readableDidRead: { configurable: true, get() { return this._readable.didRead || this._readable.flowing === true; } },
});

Readable.from = (source, options) => operators().from(source, options);
Readable.fromWeb = (stream, options) => require('internal/stream_web').readableFromWeb(stream, options);
Readable.toWeb = (stream, options) => require('internal/stream_web').readableToWeb(stream, options);
Readable.wrap = (source, options) => new Readable({ objectMode: source.readableObjectMode ?? source.objectMode ?? true, ...options, destroy(error, done) { source.destroy?.(error); done(error); } }).wrap(source);
for (const name of ['map', 'filter', 'forEach', 'toArray', 'some', 'every', 'find', 'reduce', 'take', 'drop', 'flatMap', 'asIndexedPairs', 'compose']) {
  Object.defineProperty(Readable.prototype, name, { enumerable: true, configurable: true, writable: true, value: { [name](...args) { return Reflect.apply(operators().methods[name], this, args); } }[name] });
}

module.exports = { Readable, initReadable, maybeRead };
