'use strict';
// ReadableStream, its readers, and the controller of streams of any values. Byte streams
// are in web_readable_bytes.js, which is loaded when there is one; so is pipeTo.
const {
  react, markHandled, deferred, settled, failed, invalidState, invalidThis, invalidValue, illegalConstructor, making, method, highWaterMarkOf, sizeOf, Queue, show, custom, finishClass,
} = require('internal/web_queue');
const { nodeError, invalidArgType } = require('internal/errors');

const bytes = () => require('internal/web_readable_bytes');

// The state of a stream: { object, state, reader, error, disturbed, controller }. A reader's:
// { object, stream, closed, requests, byob }. A request is { chunk(value), close(value), error(reason) }.
let stateOf, readerOf;

function initStream(object) { return { object, state: 'readable', reader: undefined, error: undefined, disturbed: false, controller: undefined }; }

const isLocked = (s) => s.reader !== undefined;

function streamOf(value) {
  const s = stateOf(value);
  if (s === undefined) throw invalidThis('ReadableStream');
  return s;
}

class ReadableStream {
  #state;
  static { stateOf = (value) => value !== null && typeof value === 'object' && #state in value ? value.#state : undefined; }

  constructor(source = {}, strategy = {}) {
    if (source === making) { this.#state = initStream(this); strategy(this.#state); return; }
    if (source === null || typeof source !== 'object' && typeof source !== 'function') throw invalidArgType('source', 'Object', source);
    this.#state = initStream(this);
    const type = source.type;
    if (type !== undefined && `${type}` === 'bytes') {
      if (strategy?.size !== undefined) throw invalidValue('strategy.size', strategy.size, 'RangeError');
      bytes().setUpFromSource(this.#state, source, highWaterMarkOf(strategy, 0));
      return;
    }
    if (type !== undefined) throw invalidValue('source.type', type);
    const size = sizeOf(strategy), highWaterMark = highWaterMarkOf(strategy, 1);
    const pull = method(source, 'pull', 'source'), cancel = method(source, 'cancel', 'source'), start = source.start;
    if (start !== undefined && typeof start !== 'function') throw invalidArgType('source.start', 'Function', start);
    setUpDefault(this.#state, { start: start && ((c) => Reflect.apply(start, source, [c])), pull, cancel }, highWaterMark, size);
  }

  static from(iterable) { return fromIterable(iterable); }
  get locked() { return isLocked(streamOf(this)); }
  cancel(reason = undefined) {
    const s = stateOf(this);
    if (s === undefined) return Promise.reject(invalidThis('ReadableStream'));
    if (isLocked(s)) return Promise.reject(invalidState('ReadableStream is locked'));
    return cancelStream(s, reason);
  }
  getReader(options = {}) {
    const s = streamOf(this);
    if (options !== null && options !== undefined && typeof options !== 'object' && typeof options !== 'function') throw invalidArgType('options', 'Object', options);
    const mode = options?.mode;
    if (mode === undefined) return new ReadableStreamDefaultReader(s.object);
    if (`${mode}` !== 'byob') throw invalidValue('options.mode', mode);
    return new (bytes().ReadableStreamBYOBReader)(s.object);
  }
  pipeThrough(transform, options = {}) {
    const s = streamOf(this);
    const readable = transform?.readable;
    if (stateOf(readable) === undefined) throw invalidArgType('transform.readable', 'ReadableStream', readable);
    const writable = transform.writable, target = require('internal/web_writable').stateOf(writable);
    if (target === undefined) throw invalidArgType('transform.writable', 'WritableStream', writable);
    const how = pipeOptions(options);
    if (isLocked(s)) throw invalidState('The ReadableStream is locked');
    if (target.writer !== undefined) throw invalidState('The WritableStream is locked');
    markHandled(require('internal/web_pipe').pipe(s, target, how));
    return readable;
  }
  pipeTo(destination, options = {}) {
    try {
      const s = streamOf(this), target = require('internal/web_writable').stateOf(destination);
      if (target === undefined) throw invalidArgType('transform.writable', 'WritableStream', destination);
      const how = pipeOptions(options);
      if (isLocked(s)) throw invalidState('The ReadableStream is locked');
      if (target.writer !== undefined) throw invalidState('The WritableStream is locked');
      return require('internal/web_pipe').pipe(s, target, how);
    } catch (error) { return Promise.reject(error); }
  }
  tee() {
    const s = streamOf(this);
    if (isLocked(s)) throw invalidState('ReadableStream is locked');
    return tee(s, false);
  }
  values(options = {}) {
    const s = streamOf(this);
    if (options !== null && options !== undefined && typeof options !== 'object' && typeof options !== 'function') throw invalidArgType('options', 'Object', options);
    return iterate(s, !!options?.preventCancel);
  }
  [custom](depth, options) {
    const s = streamOf(this);
    return show('ReadableStream', { locked: isLocked(s), state: s.state, supportsBYOB: s.controller.isBytes }, depth, options);
  }
}
finishClass(ReadableStream, 'ReadableStream');
Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, { value: ReadableStream.prototype.values, writable: true, enumerable: false, configurable: true });
Object.defineProperty(ReadableStream, 'from', { enumerable: true });

function pipeOptions(options) {
  if (options !== null && options !== undefined && typeof options !== 'object' && typeof options !== 'function') throw invalidArgType('options', 'Object', options);
  const how = { preventAbort: !!options?.preventAbort, preventCancel: !!options?.preventCancel, preventClose: !!options?.preventClose, signal: options?.signal };
  if (how.signal !== undefined && !(how.signal instanceof require('internal/event_target').AbortSignal)) throw invalidArgType('options.signal', 'AbortSignal', how.signal);
  return how;
}

// make makes a stream of the host's own libraries: its functions may give what is no promise.
function make(algorithms, highWaterMark = 1, size = () => 1) {
  return new ReadableStream(making, (s) => setUpDefault(s, algorithms, highWaterMark, size));
}

function cancelStream(s, reason) {
  s.disturbed = true;
  if (s.state === 'closed') return Promise.resolve(undefined);
  if (s.state === 'errored') return Promise.reject(s.error);
  closeStream(s);
  if (s.reader?.byob) for (const request of s.reader.requests.splice(0)) request.close(undefined);
  return react(s.controller.cancelSteps(reason), () => undefined);
}

function closeStream(s) {
  s.state = 'closed';
  if (s.reader === undefined) return;
  s.reader.closed.resolve?.(undefined);
  if (!s.reader.byob) for (const request of s.reader.requests.splice(0)) request.close();
}

function errorStream(s, reason) {
  s.state = 'errored';
  s.error = reason;
  const { reader } = s;
  if (reader === undefined) return;
  reader.closed.reject?.(reason);
  markHandled(reader.closed.promise);
  for (const request of reader.requests.splice(0)) request.error(reason);
}

// Readers.
function attach(object, s, byob) {
  const reader = { object, stream: s, closed: undefined, requests: [], byob };
  s.reader = reader;
  reader.closed = s.state === 'readable' ? deferred() : s.state === 'closed' ? settled(undefined) : failed(s.error);
  return reader;
}

function release(reader) {
  const s = reader.stream;
  const error = invalidState('Reader released');
  if (s.state === 'readable') { reader.closed.reject(error); markHandled(reader.closed.promise); } else reader.closed = failed(error);
  s.controller.releaseSteps();
  s.reader = undefined;
  reader.stream = undefined;
  const gone = invalidState('Releasing reader');
  for (const request of reader.requests.splice(0)) request.error(gone);
}

function readInto(reader, request) {
  const s = reader.stream;
  s.disturbed = true;
  if (s.state === 'closed') request.close();
  else if (s.state === 'errored') request.error(s.error);
  else s.controller.pullSteps(request);
}

function cancelReader(reader, reason) {
  if (reader.stream === undefined) return Promise.reject(invalidState('The reader is not attached to a stream'));
  return cancelStream(reader.stream, reason);
}

class ReadableStreamDefaultReader {
  #reader;
  static { readerOf = (value) => value !== null && typeof value === 'object' && #reader in value ? value.#reader : undefined; }
  constructor(stream) {
    const s = stateOf(stream);
    if (s === undefined) throw invalidArgType('stream', 'ReadableStream', stream);
    if (isLocked(s)) throw invalidState('ReadableStream is locked');
    this.#reader = attach(this, s, false);
  }
  get closed() {
    const reader = readerOf(this);
    return reader === undefined ? Promise.reject(invalidThis('ReadableStreamDefaultReader')) : reader.closed.promise;
  }
  cancel(reason = undefined) {
    const reader = readerOf(this);
    return reader === undefined ? Promise.reject(invalidThis('ReadableStreamDefaultReader')) : cancelReader(reader, reason);
  }
  read() {
    const reader = readerOf(this);
    if (reader === undefined) return Promise.reject(invalidThis('ReadableStreamDefaultReader'));
    if (reader.stream === undefined) return Promise.reject(invalidState('The reader is not attached to a stream'));
    return new Promise((resolve, reject) => {
      readInto(reader, { chunk(value) { resolve({ value, done: false }); }, close() { resolve({ value: undefined, done: true }); }, error: reject });
    });
  }
  releaseLock() {
    const reader = readerOf(this);
    if (reader === undefined) throw invalidThis('ReadableStreamDefaultReader');
    if (reader.stream !== undefined) release(reader);
  }
  [custom](depth, options) {
    const reader = readerOf(this);
    return show('ReadableStreamDefaultReader', { stream: reader.stream?.object, readRequests: reader.requests.length, close: reader.closed.promise }, depth, options);
  }
}
finishClass(ReadableStreamDefaultReader, 'ReadableStreamDefaultReader');

// The controller: { object, stream, queue, started, closing, pulling, pullAgain, highWaterMark, size, pull, cancel }.
let controllerOf;
class ReadableStreamDefaultController {
  #state;
  static { controllerOf = (value) => { if (value === null || typeof value !== 'object' || !(#state in value)) throw invalidThis('ReadableStreamDefaultController'); return value.#state; }; }
  constructor(token, state) {
    if (token !== making) throw illegalConstructor();
    this.#state = state;
  }
  get desiredSize() { return desiredSize(controllerOf(this)); }
  close() {
    const c = controllerOf(this);
    if (!canEnqueue(c)) throw invalidState('Controller is already closed');
    close(c);
  }
  enqueue(chunk = undefined) {
    const c = controllerOf(this);
    if (!canEnqueue(c)) throw invalidState('Controller is already closed');
    enqueue(c, chunk);
  }
  error(reason = undefined) { fail(controllerOf(this), reason); }
  [custom](depth, options) { return show('ReadableStreamDefaultController', {}, depth, options); }
}
finishClass(ReadableStreamDefaultController, 'ReadableStreamDefaultController');

// promiseOf calls a function of the host's libraries or of an author's source.
function promiseOf(f, ...args) {
  if (f === undefined) return Promise.resolve(undefined);
  try { return Promise.resolve(f(...args)); } catch (error) { return Promise.reject(error); }
}

function setUpDefault(s, { start, pull, cancel }, highWaterMark, size) {
  const c = {
    object: undefined, stream: s, isBytes: false, queue: new Queue(), started: false, closing: false, pulling: false, pullAgain: false, highWaterMark, size, pull, cancel,
    pullSteps: (request) => pullSteps(c, request), cancelSteps: (reason) => cancelSteps(c, reason), releaseSteps() {},
  };
  c.object = new ReadableStreamDefaultController(making, c);
  s.controller = c;
  begin(c, start, () => pullIfNeeded(c), (error) => fail(c, error));
}

// begin calls start, which throws on, and goes on when what it gives is settled.
function begin(c, start, go, refuse) {
  const started = start === undefined ? undefined : start(c.object);
  react(Promise.resolve(started), () => { c.started = true; go(); }, refuse);
}

const canEnqueue = (c) => !c.closing && c.stream.state === 'readable';

function desiredSize(c) {
  if (c.stream.state === 'errored') return null;
  if (c.stream.state === 'closed') return 0;
  return c.highWaterMark - c.queue.total;
}

function shouldPull(c) {
  if (!canEnqueue(c) || !c.started) return false;
  return c.stream.reader?.requests.length > 0 || desiredSize(c) > 0;
}

function pullIfNeeded(c) {
  if (!shouldPull(c)) return;
  if (c.pulling) { c.pullAgain = true; return; }
  c.pulling = true;
  react(promiseOf(c.pull, c.object), () => {
    c.pulling = false;
    if (c.pullAgain) { c.pullAgain = false; pullIfNeeded(c); }
  }, (error) => fail(c, error));
}

function forget(c) { c.pull = c.cancel = undefined; c.size = () => 1; }

function close(c) {
  c.closing = true;
  if (c.queue.length === 0) { forget(c); closeStream(c.stream); }
}

function enqueue(c, chunk) {
  const { reader } = c.stream;
  if (reader !== undefined && reader.requests.length > 0) reader.requests.shift().chunk(chunk);
  else {
    try { c.queue.put(chunk, c.size(chunk)); } catch (error) { fail(c, error); throw error; }
  }
  pullIfNeeded(c);
}

function fail(c, error) {
  if (c.stream.state !== 'readable') return;
  c.queue.reset();
  forget(c);
  errorStream(c.stream, error);
}

function pullSteps(c, request) {
  if (c.queue.length > 0) {
    const chunk = c.queue.take();
    if (c.closing && c.queue.length === 0) { forget(c); closeStream(c.stream); } else pullIfNeeded(c);
    request.chunk(chunk);
    return;
  }
  c.stream.reader.requests.push(request);
  pullIfNeeded(c);
}

function cancelSteps(c, reason) {
  c.queue.reset();
  const { cancel } = c;
  forget(c);
  return promiseOf(cancel, reason);
}

// tee gives two streams of what one gives. Chunks are not copied unless wanted.
function tee(s, clone) {
  if (s.controller.isBytes) return bytes().tee(s);
  const reader = new ReadableStreamDefaultReader(s.object), r = readerOf(reader);
  const cancelled = deferred();
  let reading = false, again = false;
  const gone = [false, false], reasons = [undefined, undefined], branches = [];
  const pull = () => {
    if (reading) { again = true; return; }
    reading = true;
    readInto(r, {
      chunk(value) {
        react(Promise.resolve(), () => {
          again = false;
          let second = value;
          if (clone && !gone[1]) {
            try { second = structuredClone(value); } catch (error) {
              branches.forEach((branch) => fail(branch.controller, error));
              cancelled.resolve(cancelStream(s, error));
              return;
            }
          }
          if (!gone[0]) enqueue(branches[0].controller, value);
          if (!gone[1]) enqueue(branches[1].controller, second);
          reading = false;
          if (again) pull();
        });
      },
      close() {
        reading = false;
        branches.forEach((branch, i) => { if (!gone[i]) close(branch.controller); });
        if (!gone[0] || !gone[1]) cancelled.resolve(undefined);
      },
      error() { reading = false; },
    });
  };
  const cancel = (i) => (reason) => {
    gone[i] = true;
    reasons[i] = reason;
    if (gone[1 - i]) cancelled.resolve(cancelStream(s, reasons));
    return cancelled.promise;
  };
  for (const i of [0, 1]) branches.push(stateOf(make({ pull, cancel: cancel(i) })));
  react(r.closed.promise, undefined, (error) => {
    branches.forEach((branch) => fail(branch.controller, error));
    if (!gone[0] || !gone[1]) cancelled.resolve(undefined);
  });
  return branches.map((branch) => branch.object);
}

const asyncIteratorPrototype = { __proto__: { [Symbol.asyncIterator]() { return this; } } };

// iterate reads chunk by chunk; each call waits for the one before.
function iterate(s, preventCancel) {
  if (isLocked(s)) throw invalidState('ReadableStream is locked');
  const r = readerOf(new ReadableStreamDefaultReader(s.object));
  let ended = false, last;
  const end = { value: undefined, done: true };
  const read = () => {
    if (ended) return Promise.resolve(end);
    return new Promise((resolve, reject) => readInto(r, {
      chunk(value) { resolve({ value, done: false }); },
      close() { ended = true; release(r); resolve({ value: undefined, done: true }); },
      error(reason) { ended = true; release(r); reject(reason); },
    }));
  };
  const finish = (value) => {
    if (ended) return Promise.resolve({ value, done: true });
    ended = true;
    if (preventCancel) { release(r); return Promise.resolve({ value, done: true }); }
    const result = cancelStream(s, value);
    release(r);
    return react(result, () => ({ value, done: true }));
  };
  const after = (f) => { last = last === undefined ? f() : react(last, f, f); return last; };
  return Object.create(asyncIteratorPrototype, {
    next: { value: () => after(read), writable: true, enumerable: true, configurable: true },
    return: { value: (value) => after(() => finish(value)), writable: true, enumerable: true, configurable: true },
  });
}

function fromIterable(iterable) {
  const isAsync = iterable?.[Symbol.asyncIterator] != null;
  const f = isAsync ? iterable[Symbol.asyncIterator] : iterable?.[Symbol.iterator];
  if (typeof f !== 'function') throw nodeError('TypeError', 'ERR_ARG_NOT_ITERABLE', `${require('internal/inspect').inspect(iterable)} must be iterable`);
  const iterator = Reflect.apply(f, iterable, []);
  if (iterator === null || typeof iterator !== 'object') throw invalidState('The iterator method must return an object');
  const { next } = iterator;
  const stream = make({
    pull() {
      const result = promiseOf(() => Reflect.apply(next, iterator, []));
      return react(result, (step) => {
        if (step === null || typeof step !== 'object') throw invalidState('The iterator.next() method must return an object');
        const c = stateOf(stream).controller;
        if (step.done) { close(c); return undefined; }
        if (isAsync) { enqueue(c, step.value); return undefined; }
        return react(Promise.resolve(step.value), (value) => enqueue(c, value));
      });
    },
    cancel(reason) {
      const stop = iterator.return;
      if (stop == null) return undefined;
      return react(promiseOf(() => Reflect.apply(stop, iterator, [reason])), (step) => {
        if (step === null || typeof step !== 'object') throw invalidState('The iterator.return() method must return an object');
      });
    },
  }, 0);
  return stream;
}

module.exports = {
  ReadableStream, ReadableStreamDefaultReader, ReadableStreamDefaultController, stateOf, readerOf, make, initStream, isLocked, cancelStream, closeStream, errorStream, attach, release, readInto,
  cancelReader, begin, promiseOf, pullIfNeeded, canEnqueue, desiredSize, close, enqueue, fail, tee,
};
