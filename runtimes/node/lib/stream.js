'use strict';
// node:stream: Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished.
const EventEmitter = require('events');
require('internal/symbols');
const { nodeError, invalidArgType, check, AbortError } = require('internal/errors');

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
        else { if (stream._readable) maybeRead(stream); if (stream._writable) advance(stream); }
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
  [Symbol.asyncIterator]() { return iterate(this, {}); },
  iterator(options = {}) { return iterate(this, options); },
});
Object.defineProperty(Readable.prototype, Symbol.asyncDispose, { configurable: true, writable: true, value() { this.destroy(this._readable.endEmitted ? undefined : new AbortError()); return new Promise((resolve) => finished(this, () => resolve())); } });
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

// iterate reads chunk by chunk; leaving early destroys the stream.
function iterate(stream, { destroyOnReturn = true }) {
  let failure = null, ended = false, waiting = null;
  const wake = () => { if (waiting) { const w = waiting; waiting = null; w(); } };
  stream.on('readable', wake);
  finished(stream, { writable: false }, (error) => { ended = true; failure = error ?? null; wake(); });
  const generator = {
    async next() {
      for (;;) {
        if (failure) { const error = failure; failure = null; throw error; }
        const chunk = stream._life.destroyed ? null : stream.read();
        if (chunk !== null) return { value: chunk, done: false };
        if (ended) { if (failure) continue; if (!stream._life.destroyed) stream.destroy(); return { value: undefined, done: true }; }
        await new Promise((resolve) => { waiting = resolve; });
      }
    },
    async return(value) {
      stream.removeListener('readable', wake);
      if (destroyOnReturn && !stream._life.destroyed) stream.destroy();
      ended = true;
      return { value, done: true };
    },
    async throw(error) { stream.destroy(error); throw error; },
    [Symbol.asyncIterator]() { return this; },
  };
  return generator;
}

Readable.from = function (source, options) {
  if (typeof source === 'string' || source instanceof Uint8Array) {
    return new Readable({ objectMode: true, ...options, read() { this.push(source); this.push(null); } });
  }
  const isAsync = source?.[Symbol.asyncIterator] != null;
  const iterator = isAsync ? source[Symbol.asyncIterator]() : source?.[Symbol.iterator]?.();
  if (iterator === undefined) throw invalidArgType('iterable', ['Iterable'], source);
  const stream = new Readable({ objectMode: true, highWaterMark: 1, ...options });
  let busy = false;
  stream._read = () => { if (!busy) { busy = true; pump(); } };
  async function pump() {
    for (;;) {
      try {
        const { value, done } = isAsync ? await iterator.next() : iterator.next();
        if (done) { stream.push(null); return; }
        const chunk = value && typeof value.then === 'function' ? await value : value;
        if (chunk === null) { busy = false; throw nodeError('TypeError', 'ERR_STREAM_NULL_VALUES', 'May not write null values to stream'); }
        if (!stream.push(chunk)) { busy = false; return; }
      } catch (error) { stream.destroy(error); return; }
    }
  }
  stream._destroy = (error, done) => { Promise.resolve(iterator.return?.()).then(() => tick(done, error), (failure) => tick(done, failure ?? error)); };
  return stream;
};

// What arrays have, for streams of objects.
const operators = {
  map: (f) => async function (chunk, emit, i) { emit(await f(chunk, i)); },
  filter: (f) => async function (chunk, emit, i) { if (await f(chunk, i)) emit(chunk); },
};
for (const name of Object.keys(operators)) {
  Readable.prototype[name] = function (f, options) {
    check.function(f, 'fn');
    const source = this, apply = operators[name](f);
    return from(this, options, async (emit) => { let i = 0; const it = source[Symbol.asyncIterator](); for (;;) { const r = await it.next(); if (r.done) return; await apply(r.value, emit, { signal: undefined, i: i++ }); } });
  };
}
function from(source, options, run) {
  const out = [];
  let wake = null, ended = false, failure = null;
  run((value) => { out.push(value); wake?.(); }).then(() => { ended = true; wake?.(); }, (error) => { failure = error; wake?.(); });
  return Readable.from({ [Symbol.asyncIterator]: () => ({
    async next() { for (;;) { if (out.length > 0) return { value: out.shift(), done: false }; if (failure) throw failure; if (ended) return { value: undefined, done: true }; await new Promise((resolve) => { wake = resolve; }); } },
    async return() { source.destroy(); return { value: undefined, done: true }; },
  }) }, options);
}
async function each(stream, f) { const it = stream[Symbol.asyncIterator](); for (;;) { const r = await it.next(); if (r.done) return; if (await f(r.value) === false) { await it.return(); return; } } }
Object.assign(Readable.prototype, {
  async toArray() { const out = []; await each(this, (chunk) => { out.push(chunk); }); return out; },
  async forEach(f) { check.function(f, 'fn'); await each(this, async (chunk) => { await f(chunk); }); },
  async some(f) { let found = false; await each(this, async (chunk) => { if (await f(chunk)) { found = true; return false; } return true; }); return found; },
  async every(f) { let all = true; await each(this, async (chunk) => { if (!await f(chunk)) { all = false; return false; } return true; }); return all; },
  async find(f) { let found; await each(this, async (chunk) => { if (await f(chunk)) { found = chunk; return false; } return true; }); return found; },
  async reduce(f, ...initial) {
    let has = initial.length > 0, value = initial[0];
    await each(this, async (chunk) => { if (!has) { has = true; value = chunk; } else value = await f(value, chunk); });
    if (!has) throw new TypeError('Reduce of an empty stream requires an initial value');
    return value;
  },
  take(n) { const source = this; return from(this, undefined, async (emit) => { let left = n; if (left > 0) await each(source, (chunk) => { emit(chunk); return --left > 0; }); }); },
  drop(n) { const source = this; return from(this, undefined, async (emit) => { let left = n; await each(source, (chunk) => { if (left-- <= 0) emit(chunk); }); }); },
  flatMap(f) { const source = this; return from(this, undefined, async (emit) => { await each(source, async (chunk) => { const inner = await f(chunk); if (inner?.[Symbol.asyncIterator]) { const it = inner[Symbol.asyncIterator](); for (;;) { const r = await it.next(); if (r.done) break; emit(r.value); } } else for (const item of inner) emit(item); }); }); },
});

// Writable side.
function initWritable(stream, options) {
  const objectMode = !!(options.objectMode || options.writableObjectMode);
  Object.defineProperty(stream, '_writable', { value: {
    objectMode, highWaterMark: highWater(options, 'writable', objectMode), decodeStrings: options.decodeStrings !== false, defaultEncoding: options.defaultEncoding ?? 'utf8',
    queue: [], length: 0, writing: false, corked: 0, ending: false, finished: false, finalCalled: false, needDrain: false, ended: false, callbacks: [], prefinished: false,
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

function advance(stream) {
  const state = stream._writable;
  if (state.writing || state.corked > 0 || stream._life.destroyed || !stream._life.constructed) return;
  if (state.queue.length === 0) { finishIfDone(stream); return; }
  state.writing = true;
  const batch = typeof stream._writev === 'function' && state.queue.length > 1 ? state.queue.splice(0) : [state.queue.shift()];
  let sync = true;
  const done = (error) => {
    if (!batch) return;
    const after = () => {
      state.writing = false;
      for (const entry of batch) state.length -= entry.size;
      if (error) {
        for (const entry of batch) entry.done(error);
        failQueue(state, error);
        stream.destroy(error);
        return;
      }
      const drain = state.needDrain && state.length === 0 && !state.ending;
      if (drain) { state.needDrain = false; stream.emit('drain'); }
      for (const entry of batch) entry.done(null);
      advance(stream);
    };
    if (sync) tick(after); else after();
  };
  try {
    if (batch.length > 1) stream._writev(batch.map(({ chunk, encoding }) => ({ chunk, encoding })), done);
    else if (typeof stream._write === 'function') stream._write(batch[0].chunk, batch[0].encoding, done);
    else stream._writev([{ chunk: batch[0].chunk, encoding: batch[0].encoding }], done);
  } catch (error) { sync = true; done(error); }
  sync = false;
}

function failQueue(state, error) {
  for (const entry of state.queue.splice(0)) entry.done(error);
  for (const done of state.callbacks.splice(0)) done(error);
}

function finishIfDone(stream) {
  const state = stream._writable;
  if (!state.ending || state.finished || state.writing || state.queue.length > 0 || stream._life.destroyed || state.finalCalled) return;
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
  if (typeof stream._final === 'function') tick(() => { try { stream._final(finish); } catch (error) { finish(error); } });
  else finish();
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
Duplex.from = (source) => {
  if (typeof source?.pipe === 'function') return source;
  const readable = Readable.from(typeof source === 'function' ? source() : source);
  return Object.assign(readable);
};

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

// finished tells when a stream has ended, failed or been closed early.
function finished(stream, options, done) {
  if (typeof options === 'function') { done = options; options = {}; }
  options ??= {};
  check.function(done, 'callback');
  let over = false;
  const finish = (error) => { if (over) return; over = true; cleanup(); done.call(stream, error ?? undefined); };
  const wantRead = options.readable !== false && (stream._readable ? stream._readable.enabled !== false : stream.readable === true);
  const wantWrite = options.writable !== false && (stream._writable ? stream._writable.enabled !== false : stream.writable === true);
  let readDone = !wantRead || stream.readableEnded === true, writeDone = !wantWrite || stream.writableFinished === true;
  const check_ = () => { if (readDone && writeDone) finish(); };
  const onEnd = () => { readDone = true; check_(); };
  const onFinish = () => { writeDone = true; check_(); };
  const onError = (error) => finish(error);
  const onClose = () => {
    if (stream.errored) finish(stream.errored);
    else if (!readDone || !writeDone) finish(nodeError('Error', 'ERR_STREAM_PREMATURE_CLOSE', 'Premature close'));
    else finish();
  };
  const onAbort = () => finish(new AbortError(undefined, { cause: options.signal.reason }));
  stream.on('end', onEnd); stream.on('finish', onFinish); stream.on('close', onClose);
  if (options.error !== false) stream.on('error', onError);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  if (options.signal?.aborted) tick(onAbort);
  else if (stream.closed) tick(onClose);
  else if (readDone && writeDone && (wantRead || wantWrite)) tick(finish);
  function cleanup() {
    stream.removeListener('end', onEnd); stream.removeListener('finish', onFinish); stream.removeListener('close', onClose); stream.removeListener('error', onError);
    options.signal?.removeEventListener('abort', onAbort);
  }
  return cleanup;
}

const isStream = (value) => value !== null && typeof value === 'object' && typeof value.pipe === 'function' || value?._writable !== undefined;

function pipeline(...streams) {
  const done = streams.pop();
  check.function(done, 'streams[stream.length - 1]');
  if (streams.length === 1 && Array.isArray(streams[0])) streams = streams[0];
  let options = {};
  const last = streams[streams.length - 1];
  if (streams.length > 2 && last && !isStream(last) && typeof last === 'object' && !last[Symbol.asyncIterator] && !last[Symbol.iterator]) options = streams.pop();
  if (streams.length < 2) throw nodeError('TypeError', 'ERR_MISSING_ARGS', 'The "streams" argument must be specified');
  let over = false, value;
  const made = [];
  const finish = (error) => {
    if (over) return;
    over = true;
    if (error) for (const s of made) s.on('error', noop), s.destroy(error);
    done(error ?? undefined, value);
  };
  let left = 0;
  const watch = (stream, sides) => {
    left++;
    made.push(stream);
    finished(stream, sides, (error) => { if (error) finish(error); else if (--left === 0) finish(); });
  };
  let current = streams[0];
  if (typeof current === 'function') current = current({ signal: options.signal });
  if (!isStream(current)) current = Readable.from(current);
  watch(current, { writable: false });
  for (let i = 1; i < streams.length; i++) {
    const next = streams[i], isLast = i === streams.length - 1;
    if (typeof next === 'function') {
      const result = next(current, { signal: options.signal });
      if (isLast && typeof result?.then === 'function') {
        left++;
        result.then((v) => { value = v; if (--left === 0) finish(); }, finish);
        break;
      }
      if (result?.[Symbol.asyncIterator] == null && !isStream(result)) { finish(nodeError('TypeError', 'ERR_INVALID_RETURN_VALUE', `Expected AsyncIterable to be returned from the "transform[${i - 1}]" function.`)); break; }
      current = isStream(result) ? result : Readable.from(result);
      watch(current, { writable: false });
      if (isLast) current.resume();
      continue;
    }
    watch(next, isLast ? { readable: false } : {});
    current.pipe(next, { end: options.end !== false || !isLast });
    current = next;
  }
  if (options.signal) { if (options.signal.aborted) tick(finish, new AbortError(undefined, { cause: options.signal.reason })); else options.signal.addEventListener('abort', () => finish(new AbortError(undefined, { cause: options.signal.reason })), { once: true }); }
  return current;
}

function addAbortSignal(signal, stream) {
  check.signal(signal, 'signal');
  const abort = () => stream.destroy(new AbortError(undefined, { cause: signal.reason }));
  if (signal.aborted) tick(abort); else signal.addEventListener('abort', abort, { once: true });
  return stream;
}

const promises = {
  pipeline: (...streams) => new Promise((resolve, reject) => pipeline(...streams, (error, value) => error ? reject(error) : resolve(value))),
  finished: (stream, options) => new Promise((resolve, reject) => finished(stream, options ?? {}, (error) => error ? reject(error) : resolve())),
};

async function collect(stream) {
  const out = [];
  const it = stream[Symbol.asyncIterator]();
  for (;;) { const { value, done } = await it.next(); if (done) break; out.push(typeof value === 'string' ? Buffer.from(value) : value); }
  return Buffer.concat(out);
}
const consumers = {
  buffer: collect,
  text: async (stream) => new TextDecoder().decode(await collect(stream)),
  json: async (stream) => JSON.parse(new TextDecoder().decode(await collect(stream))),
  arrayBuffer: async (stream) => { const b = await collect(stream); return b.buffer.slice(b.byteOffset, b.byteOffset + b.length); },
};

const customPromisify = Symbol.for('nodejs.util.promisify.custom');
Object.defineProperty(pipeline, customPromisify, { enumerable: true, get: () => promises.pipeline });
Object.defineProperty(finished, customPromisify, { enumerable: true, get: () => promises.finished });

module.exports = Object.assign(Stream, {
  Stream, Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished, addAbortSignal, promises, consumers,
  isErrored: (stream) => !!stream.errored, isReadable: (stream) => stream.readable === true, isDisturbed: (stream) => !!stream.readableDidRead,
  getDefaultHighWaterMark: (objectMode) => objectMode ? 16 : 16384, setDefaultHighWaterMark() {}, _uint8ArrayToBuffer: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
});
