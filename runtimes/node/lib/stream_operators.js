'use strict';
// How streams are read as iterators, made from them, and what they have of arrays.
const { nodeError, invalidArgType, outOfRange, check, AbortError } = require('internal/errors');
const { tick } = require('internal/stream_base');
const { Readable } = require('internal/stream_readable');
const { finished } = require('internal/stream_pipeline');

// iterate reads chunk by chunk; leaving early destroys the stream. One that was read to its
// end is destroyed only if it destroys itself then (autoDestroy).
function iterate(stream, { destroyOnReturn = true }) {
  let failure = null, ended = false, left = false, waiting = null;
  const wake = () => { if (waiting) { const w = waiting; waiting = null; w(); } };
  stream.on('readable', wake);
  finished(stream, { writable: false }, (error) => { ended = true; failure = error ?? null; wake(); });
  const leave = (destroy) => {
    if (left) return;
    left = true;
    if (destroy) { if (!stream._life.destroyed) stream.destroy(); } else stream.removeListener('readable', wake);
  };
  const generator = {
    async next() {
      for (;;) {
        if (left) return { value: undefined, done: true };
        if (failure) { leave(stream._life.autoDestroy); throw failure; }
        const chunk = stream._life.destroyed ? null : stream.read();
        if (chunk !== null) return { value: chunk, done: false };
        if (!ended) await new Promise((resolve) => { waiting = resolve; });
        else if (!failure) leave(stream._life.autoDestroy);
      }
    },
    async return(value) { leave(destroyOnReturn && (!ended || stream._life.autoDestroy)); return { value, done: true }; },
    async throw(error) { leave(stream._life.autoDestroy); throw error; },
    [Symbol.asyncIterator]() { return this; },
  };
  return generator;
}

function from(source, options) {
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
}

const left = Symbol('left'); // what a filter leaves out

function optionsOf(options) {
  if (options != null) check.object(options, 'options');
  if (options?.signal != null) check.signal(options.signal, 'options.signal');
  let concurrency = 1;
  if (options?.concurrency != null) concurrency = Math.floor(options.concurrency);
  check.integer(concurrency, 'options.concurrency', 1);
  return { concurrency, signal: options?.signal };
}
const aborted = (signal) => new AbortError(undefined, { cause: signal.reason });

// mapped calls f with each chunk, concurrency of them at a time, and gives the results in order.
function mapped(source, f, { concurrency, signal }) {
  const controller = new AbortController(), ready = [];
  let it, running = 0, ended = false, failure, wake = null, room = null, stopped = false;
  const onAbort = () => { failure ??= { error: aborted(signal) }; controller.abort(signal.reason); wake?.(); };
  if (signal?.aborted) onAbort(); else signal?.addEventListener('abort', onAbort, { once: true });
  const call = (chunk) => { try { return Promise.resolve(f(chunk, { signal: controller.signal })); } catch (error) { return Promise.reject(error); } };
  const pump = async () => {
    try {
      for (;;) {
        const step = await it.next();
        if (step.done || stopped) break;
        running++;
        const result = call(step.value);
        const settled = () => { running--; room?.(); };
        result.then(settled, settled);
        ready.push(result);
        wake?.();
        while ((running >= concurrency || ready.length >= concurrency) && !stopped) await new Promise((resolve) => { room = resolve; });
      }
    } catch (error) { failure ??= { error }; }
    ended = true;
    wake?.();
  };
  const stop = async () => {
    stopped = true;
    signal?.removeEventListener('abort', onAbort);
    controller.abort();
    room?.();
    await it?.return?.();
  };
  return {
    async next() {
      if (it === undefined) { it = source[Symbol.asyncIterator](); pump(); }
      for (;;) {
        if (signal?.aborted && failure) { await stop(); throw failure.error; }
        if (ready.length > 0) {
          const result = ready.shift();
          let value;
          try { value = await result; } catch (error) { await stop(); throw error; }
          room?.();
          if (value === left) continue;
          return { value, done: false };
        }
        if (failure) throw failure.error;
        if (ended) { signal?.removeEventListener('abort', onAbort); return { value: undefined, done: true }; }
        await new Promise((resolve) => { wake = resolve; });
      }
    },
    async return(value) { await stop(); return { value, done: true }; },
    [Symbol.asyncIterator]() { return this; },
  };
}

// each calls f with each chunk, one after the other; false ends it.
async function each(stream, options, f) {
  const { signal } = optionsOf(options);
  if (signal?.aborted) throw aborted(signal);
  const it = stream[Symbol.asyncIterator]();
  let onAbort;
  const stopped = signal && new Promise((resolve, reject) => { onAbort = () => reject(aborted(signal)); signal.addEventListener('abort', onAbort, { once: true }); });
  stopped?.catch(() => {});
  try {
    for (;;) {
      const next = it.next();
      const step = await (stopped ? Promise.race([next, stopped]) : next);
      if (step.done) return;
      if (await f(step.value) === false) { await it.return(); return; }
    }
  } catch (error) {
    if (!stream.destroyed) stream.destroy(error instanceof AbortError ? error : undefined);
    throw error;
  } finally { if (onAbort) signal.removeEventListener('abort', onAbort); }
}

// lazily makes an async iterator of steps: next(iterator) gives what it gives.
function stepped(source, next) {
  let it;
  return {
    next() { it ??= source[Symbol.asyncIterator](); return next(it); },
    async return(value) { await it?.return?.(); return { value, done: true }; },
    [Symbol.asyncIterator]() { return this; },
  };
}

const needFunction = (f, name = 'fn') => { if (typeof f !== 'function') throw invalidArgType(name, ['Function', 'AsyncFunction'], f); };
function count(n) {
  n = Number(n);
  if (Number.isNaN(n)) return 0;
  if (n < 0) throw outOfRange('number', '>= 0', n);
  return n;
}
const some = async (stream, f, options) => {
  let found = false;
  const it = mapped(stream, f, optionsOf(options));
  for (;;) { const step = await it.next(); if (step.done) break; if (step.value) { found = true; await it.return(); break; } }
  return found;
};

const methods = {
  map(f, options) { needFunction(f); return Readable.from(mapped(this, f, optionsOf(options))); },
  filter(f, options) { needFunction(f); return Readable.from(mapped(this, async (chunk, more) => await f(chunk, more) ? chunk : left, optionsOf(options))); },
  flatMap(f, options) {
    needFunction(f);
    const outer = mapped(this, f, optionsOf(options));
    let inner = null;
    return Readable.from({
      async next() {
        for (;;) {
          if (inner === null) {
            const step = await outer.next();
            if (step.done) return step;
            inner = step.value?.[Symbol.asyncIterator]?.() ?? step.value[Symbol.iterator]();
          }
          const step = await inner.next();
          if (!step.done) return step;
          inner = null;
        }
      },
      return: (value) => outer.return(value),
      [Symbol.asyncIterator]() { return this; },
    });
  },
  take(n, options) {
    optionsOf(options);
    let rest = count(n);
    return Readable.from(stepped(this, async (it) => {
      if (rest-- > 0) return it.next();
      await it.return?.();
      return { value: undefined, done: true };
    }));
  },
  drop(n, options) {
    optionsOf(options);
    let rest = count(n);
    return Readable.from(stepped(this, async (it) => { for (; rest > 0; rest--) { const step = await it.next(); if (step.done) return step; } return it.next(); }));
  },
  asIndexedPairs(options) {
    optionsOf(options);
    let i = 0;
    return Readable.from(stepped(this, async (it) => { const step = await it.next(); return step.done ? step : { value: [i++, step.value], done: false }; }));
  },
  async toArray(options) { const out = []; await each(this, options, (chunk) => { out.push(chunk); }); return out; },
  async forEach(f, options) { needFunction(f); const it = mapped(this, async (chunk, more) => { await f(chunk, more); return left; }, optionsOf(options)); await it.next(); },
  async some(f, options) { needFunction(f); return some(this, f, options); },
  async every(f, options) { needFunction(f); return !await some(this, async (...args) => !await f(...args), options); },
  async find(f, options) {
    needFunction(f);
    const it = mapped(this, async (chunk, more) => await f(chunk, more) ? { chunk } : left, optionsOf(options));
    const step = await it.next();
    await it.return();
    return step.value?.chunk;
  },
  async reduce(f, initial, options) {
    needFunction(f, 'reducer');
    let has = arguments.length > 1, value = initial;
    const { signal } = optionsOf(options);
    await each(this, options, async (chunk) => { if (has) value = await f(value, chunk, { signal }); else { has = true; value = chunk; } });
    if (!has) throw nodeError('TypeError', 'ERR_MISSING_ARGS', 'Reduce of an empty stream requires an initial value');
    return value;
  },
  compose(stream, options) {
    const { signal } = optionsOf(options);
    const { PassThrough } = require('internal/stream_duplex'), { pipeline, isStream } = require('internal/stream_pipeline');
    if (typeof stream !== 'function' && !isStream(stream)) throw invalidArgType('stream', ['Stream', 'Function'], stream);
    if (typeof stream === 'function') return Readable.from(stream(this, { signal }));
    const out = new PassThrough({ objectMode: true });
    pipeline(this, stream, out, (error) => { if (error) out.destroy(error); });
    return out;
  },
};

// duplexFrom makes a stream of what can be read, written to, or both.
function duplexFrom(body) {
  const { Duplex, PassThrough } = require('internal/stream_duplex'), { isStream } = require('internal/stream_pipeline');
  if (body?._readable !== undefined && body?._writable !== undefined) return body;
  if (isStream(body)) return joined(Duplex, body._readable ? body : undefined, body._writable ? body : undefined);
  if (typeof Blob === 'function' && body instanceof Blob) return duplexFrom(body.arrayBuffer());
  if (typeof body?.getReader === 'function') return duplexFrom(Readable.fromWeb(body));
  if (typeof body?.getWriter === 'function') return duplexFrom(require('internal/stream_writable').Writable.fromWeb(body));
  if (typeof body === 'function') {
    const input = new PassThrough({ objectMode: true });
    const result = body(input, {});
    if (result?.[Symbol.asyncIterator]) return joined(Duplex, Readable.from(result), input);
    if (typeof result?.then === 'function') {
      const duplex = joined(Duplex, undefined, input);
      result.then((value) => { if (value != null) duplex.destroy(nodeError('TypeError', 'ERR_INVALID_RETURN_VALUE', 'Expected nully to be returned from the "body" function but got an instance of Object.')); }, (error) => duplex.destroy(error));
      return duplex;
    }
    throw nodeError('TypeError', 'ERR_INVALID_RETURN_VALUE', 'Expected Iterable, AsyncIterable or AsyncFunction to be returned from the "body" function.');
  }
  if (typeof body?.then === 'function') {
    return new Duplex({ objectMode: true, writable: false, read() { body.then((value) => { if (value != null) this.push(value); this.push(null); }, (error) => this.destroy(error)); } });
  }
  if (body !== null && typeof body === 'object' && (body.readable !== undefined || body.writable !== undefined)) {
    const side = (part) => part === undefined ? undefined : isStream(part) ? part : duplexFrom(part);
    return joined(Duplex, side(body.readable), side(body.writable));
  }
  if (body?.[Symbol.asyncIterator] || body?.[Symbol.iterator]) return joined(Duplex, Readable.from(body), undefined);
  throw invalidArgType('body', ['Blob', 'ReadableStream', 'WritableStream', 'Stream', 'Iterable', 'AsyncIterable', 'Function', '{ readable, writable } pair', 'Promise'], body);
}

// joined makes one stream of two sides.
function joined(Duplex, source, target) {
  let resume = null;
  const duplex = new Duplex({
    readableObjectMode: source?.readableObjectMode ?? false, writableObjectMode: target?.writableObjectMode ?? false, readable: source !== undefined, writable: target !== undefined,
    read() {
      for (;;) {
        const chunk = source.read();
        if (chunk === null) { resume = () => this._read(); return; }
        if (!this.push(chunk)) return;
      }
    },
    write(chunk, encoding, done) { if (target.write(chunk, encoding)) done(); else target.once('drain', () => done()); },
    final(done) { target.end(); finished(target, { readable: false }, (error) => done(error)); },
    destroy(error, done) { source?.destroy(error ?? undefined); if (target !== source) target?.destroy(error ?? undefined); done(error); },
  });
  if (source) {
    source.on('readable', () => { const go = resume; resume = null; go?.(); });
    finished(source, { writable: false }, (error) => { if (error) duplex.destroy(error); else duplex.push(null); });
  }
  if (target) finished(target, { readable: false }, (error) => { if (error && !duplex.destroyed) duplex.destroy(error); });
  return duplex;
}

module.exports = { iterate, from, methods, duplexFrom };
