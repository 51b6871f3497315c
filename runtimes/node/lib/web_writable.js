'use strict';
// WritableStream, its writer and its controller.
const { react, markHandled, deferred, settled, failed, invalidState, invalidThis, invalidValue, illegalConstructor, making, method, highWaterMarkOf, sizeOf, Queue, show, custom, finishClass } = require('internal/web_queue');
const { invalidArgType } = require('internal/errors');

// The state of a stream: { object, state, error, writer, controller, requests (of writes that wait), writing,
// closeRequest, closing, abort (what waits for the end of what runs), backpressure }.
let stateOf, writerOf, controllerOf;

class WritableStream {
  #state;
  static { stateOf = (value) => value !== null && typeof value === 'object' && #state in value ? value.#state : undefined; }
  constructor(sink = null, strategy = {}) {
    this.#state = {
      object: this, state: 'writable', error: undefined, writer: undefined, controller: undefined, requests: [], writing: undefined, closeRequest: undefined, closing: undefined,
      abort: undefined, backpressure: false,
    };
    if (sink === making) { strategy(this.#state); return; }
    const type = sink?.type;
    if (type !== undefined) throw invalidValue('type', type, 'RangeError');
    const size = sizeOf(strategy), highWaterMark = highWaterMarkOf(strategy, 1);
    const write = method(sink, 'write', 'sink'), close = method(sink, 'close', 'sink'), abort = method(sink, 'abort', 'sink'), start = sink?.start;
    if (start !== undefined && typeof start !== 'function') throw invalidArgType('sink.start', 'Function', start);
    setUp(this.#state, { start: start && ((c) => Reflect.apply(start, sink, [c])), write, close, abort }, highWaterMark, size);
  }
  get locked() { return streamOf(this).writer !== undefined; }
  abort(reason = undefined) {
    const s = stateOf(this);
    if (s === undefined) return Promise.reject(invalidThis('WritableStream'));
    if (s.writer !== undefined) return Promise.reject(invalidState('WritableStream is locked'));
    return abortStream(s, reason);
  }
  close() {
    const s = stateOf(this);
    if (s === undefined) return Promise.reject(invalidThis('WritableStream'));
    if (s.writer !== undefined) return Promise.reject(invalidState('WritableStream is locked'));
    if (closes(s)) return Promise.reject(invalidState('Failure closing WritableStream'));
    return closeStream(s);
  }
  getWriter() { return new WritableStreamDefaultWriter(streamOf(this).object); }
  [custom](depth, options) {
    const s = streamOf(this);
    return show('WritableStream', { locked: s.writer !== undefined, state: s.state }, depth, options);
  }
}
finishClass(WritableStream, 'WritableStream');

function streamOf(value) {
  const s = stateOf(value);
  if (s === undefined) throw invalidThis('WritableStream');
  return s;
}

class WritableStreamDefaultWriter {
  #writer;
  static { writerOf = (value) => value !== null && typeof value === 'object' && #writer in value ? value.#writer : undefined; }
  constructor(stream) {
    const s = stateOf(stream);
    if (s === undefined) throw invalidArgType('stream', 'WritableStream', stream);
    if (s.writer !== undefined) throw invalidState('WritableStream is locked');
    const w = this.#writer = { object: this, stream: s, closed: undefined, ready: undefined };
    s.writer = w;
    if (s.state === 'writable') {
      w.ready = !closes(s) && s.backpressure ? deferred() : settled(undefined);
      w.closed = deferred();
    } else if (s.state === 'erroring') { w.ready = failed(s.error); w.closed = deferred(); } else if (s.state === 'closed') { w.ready = settled(undefined); w.closed = settled(undefined); } else { w.ready = failed(s.error); w.closed = failed(s.error); }
  }
  get closed() { return writerOf(this)?.closed.promise ?? Promise.reject(invalidThis('WritableStreamDefaultWriter')); }
  get ready() { return writerOf(this)?.ready.promise ?? Promise.reject(invalidThis('WritableStreamDefaultWriter')); }
  get desiredSize() {
    const w = writerOf(this);
    if (w === undefined) throw invalidThis('WritableStreamDefaultWriter');
    if (w.stream === undefined) throw invalidState('Writer is not bound to a WritableStream');
    return desiredSizeOf(w.stream);
  }
  abort(reason = undefined) {
    const w = writerOf(this);
    if (w === undefined) return Promise.reject(invalidThis('WritableStreamDefaultWriter'));
    if (w.stream === undefined) return Promise.reject(invalidState('Writer is not bound to a WritableStream'));
    return abortStream(w.stream, reason);
  }
  close() {
    const w = writerOf(this);
    if (w === undefined) return Promise.reject(invalidThis('WritableStreamDefaultWriter'));
    if (w.stream === undefined) return Promise.reject(invalidState('Writer is not bound to a WritableStream'));
    if (closes(w.stream)) return Promise.reject(invalidState('Failure to close WritableStream'));
    return closeStream(w.stream);
  }
  releaseLock() {
    const w = writerOf(this);
    if (w === undefined) throw invalidThis('WritableStreamDefaultWriter');
    if (w.stream !== undefined) release(w);
  }
  write(chunk = undefined) {
    const w = writerOf(this);
    if (w === undefined) return Promise.reject(invalidThis('WritableStreamDefaultWriter'));
    if (w.stream === undefined) return Promise.reject(invalidState('Writer is not bound to a WritableStream'));
    return write(w, chunk);
  }
  [custom](depth, options) {
    const w = writerOf(this);
    return show('WritableStreamDefaultWriter', { stream: w.stream?.object, close: w.closed.promise, ready: w.ready.promise }, depth, options);
  }
}
finishClass(WritableStreamDefaultWriter, 'WritableStreamDefaultWriter');

class WritableStreamDefaultController {
  #state;
  static { controllerOf = (value) => { if (value === null || typeof value !== 'object' || !(#state in value)) throw invalidThis('WritableStreamDefaultController'); return value.#state; }; }
  constructor(token, state) {
    if (token !== making) throw illegalConstructor();
    this.#state = state;
  }
  get signal() { return controllerOf(this).aborter.signal; }
  error(reason = undefined) {
    const c = controllerOf(this);
    if (c.stream.state === 'writable') failController(c, reason);
  }
  [custom](depth, options) { return show('WritableStreamDefaultController', { stream: controllerOf(this).stream.object }, depth, options); }
}
finishClass(WritableStreamDefaultController, 'WritableStreamDefaultController');

// A token for the end of the stream in the queue of what is to be written.
const end = Symbol('end');

function setUp(s, { start, write: writeChunk, close, abort }, highWaterMark, size) {
  let aborter;
  const c = {
    object: undefined, stream: s, queue: new Queue(), started: false, highWaterMark, size, write: writeChunk, close, abort,
    get aborter() { return aborter ??= new (require('internal/event_target').AbortController)(); },
  };
  c.object = new WritableStreamDefaultController(making, c);
  s.controller = c;
  setBackpressure(s, pressure(c));
  const started = start === undefined ? undefined : start(c.object);
  react(Promise.resolve(started), () => { c.started = true; advance(c); }, (error) => { c.started = true; deal(s, error); });
}

function make(algorithms, highWaterMark = 1, size = () => 1) { return new WritableStream(making, (s) => setUp(s, algorithms, highWaterMark, size)); }

const closes = (s) => s.closeRequest !== undefined || s.closing !== undefined;
const pressure = (c) => c.highWaterMark - c.queue.total <= 0;

function desiredSizeOf(s) {
  if (s.state === 'errored' || s.state === 'erroring') return null;
  if (s.state === 'closed') return 0;
  return s.controller.highWaterMark - s.controller.queue.total;
}

function setBackpressure(s, on) {
  const w = s.writer;
  if (w !== undefined && on !== s.backpressure) { if (on) w.ready = deferred(); else w.ready.resolve?.(undefined); }
  s.backpressure = on;
}

function abortStream(s, reason) {
  if (s.state === 'closed' || s.state === 'errored') return Promise.resolve(undefined);
  s.controller.aborter.abort(reason);
  if (s.state === 'closed' || s.state === 'errored') return Promise.resolve(undefined);
  if (s.abort !== undefined) return s.abort.done.promise;
  const wasErroring = s.state === 'erroring';
  const done = deferred();
  s.abort = { done, reason: wasErroring ? undefined : reason, wasErroring };
  if (!wasErroring) startErroring(s, reason);
  return done.promise;
}

function closeStream(s) {
  if (s.state === 'closed' || s.state === 'errored') return Promise.reject(invalidState('WritableStream is closed'));
  const done = deferred();
  s.closeRequest = done;
  if (s.writer !== undefined && s.backpressure && s.state === 'writable') s.writer.ready.resolve?.(undefined);
  s.controller.queue.put(end, 0);
  advance(s.controller);
  return done.promise;
}

function write(w, chunk) {
  const s = w.stream, c = s.controller;
  let size;
  try { size = c.size(chunk); } catch (error) { failIfNeeded(c, error); size = 1; }
  if (s !== w.stream) return Promise.reject(invalidState('Mismatched WritableStreams'));
  if (s.state === 'errored') return Promise.reject(s.error);
  if (closes(s) || s.state === 'closed') return Promise.reject(invalidState('WritableStream is closed'));
  if (s.state === 'erroring') return Promise.reject(s.error);
  const done = deferred();
  s.requests.push(done);
  try { c.queue.put({ chunk }, size); } catch (error) { failIfNeeded(c, error); return done.promise; }
  if (!closes(s) && s.state === 'writable') setBackpressure(s, pressure(c));
  advance(c);
  return done.promise;
}

function failIfNeeded(c, error) { if (c.stream.state === 'writable') failController(c, error); }
function failController(c, error) { forget(c); startErroring(c.stream, error); }
function forget(c) { c.write = c.close = c.abort = undefined; c.size = () => 1; }

// deal is what happens when something failed.
function deal(s, error) {
  if (s.state === 'writable') startErroring(s, error); else finishErroring(s);
}

function startErroring(s, reason) {
  s.state = 'erroring';
  s.error = reason;
  const w = s.writer;
  if (w !== undefined) rejectReady(w, reason);
  if (s.writing === undefined && s.closing === undefined && s.controller.started) finishErroring(s);
}

function rejectReady(w, reason) {
  if (w.ready.reject && awaitsRoom(w)) w.ready.reject(reason); else w.ready = failed(reason);
  markHandled(w.ready.promise);
}
// A ready promise is pending just while there is backpressure and nothing was asked to close.
const awaitsRoom = (w) => w.stream !== undefined && w.stream.backpressure && !closes(w.stream);

function finishErroring(s) {
  s.state = 'errored';
  s.controller.queue.reset();
  for (const done of s.requests.splice(0)) done.reject(s.error);
  const { abort } = s;
  if (abort === undefined) { rejectClose(s); return; }
  s.abort = undefined;
  if (abort.wasErroring) { abort.done.reject(s.error); rejectClose(s); return; }
  const f = s.controller.abort;
  forget(s.controller);
  react(call(f, abort.reason), () => { abort.done.resolve(undefined); rejectClose(s); }, (error) => { abort.done.reject(error); rejectClose(s); });
}

function call(f, ...args) {
  if (f === undefined) return Promise.resolve(undefined);
  try { return Promise.resolve(f(...args)); } catch (error) { return Promise.reject(error); }
}

function rejectClose(s) {
  if (s.closeRequest !== undefined) { s.closeRequest.reject(s.error); s.closeRequest = undefined; }
  const w = s.writer;
  if (w !== undefined) { w.closed.reject?.(s.error); markHandled(w.closed.promise); }
}

function release(w) {
  const s = w.stream;
  const error = invalidState('Writer has been released');
  rejectReady(w, error);
  if (s.state === 'closed' || s.state === 'errored') w.closed = failed(error); else { w.closed.reject(error); markHandled(w.closed.promise); }
  s.writer = undefined;
  w.stream = undefined;
}

function advance(c) {
  const s = c.stream;
  if (!c.started || s.writing !== undefined) return;
  if (s.state === 'closed' || s.state === 'errored') return;
  if (s.state === 'erroring') { if (s.closing === undefined) finishErroring(s); return; }
  if (c.queue.length === 0) return;
  if (c.queue.peek() === end) runClose(c); else runWrite(c, c.queue.peek().chunk);
}

function runClose(c) {
  const s = c.stream;
  s.closing = s.closeRequest;
  s.closeRequest = undefined;
  c.queue.take();
  const f = c.close;
  const result = call(f);
  forget(c);
  react(result, () => {
    s.closing.resolve(undefined);
    s.closing = undefined;
    if (s.state === 'erroring') {
      s.error = undefined;
      if (s.abort !== undefined) { s.abort.done.resolve(undefined); s.abort = undefined; }
    }
    s.state = 'closed';
    s.writer?.closed.resolve?.(undefined);
  }, (error) => {
    s.closing.reject(error);
    s.closing = undefined;
    if (s.abort !== undefined) { s.abort.done.reject(error); s.abort = undefined; }
    deal(s, error);
  });
}

function runWrite(c, chunk) {
  const s = c.stream;
  s.writing = s.requests.shift();
  react(call(c.write, chunk, c.object), () => {
    s.writing.resolve(undefined);
    s.writing = undefined;
    c.queue.take();
    if (!closes(s) && s.state === 'writable') setBackpressure(s, pressure(c));
    advance(c);
  }, (error) => {
    if (s.state === 'writable') forget(c);
    s.writing.reject(error);
    s.writing = undefined;
    deal(s, error);
  });
}

// closeWithPropagation is what a pipe does at the end of its source.
function closeWithPropagation(w) {
  const s = w.stream;
  if (closes(s) || s.state === 'closed') return Promise.resolve(undefined);
  if (s.state === 'errored') return Promise.reject(s.error);
  return closeStream(s);
}

module.exports = { WritableStream, WritableStreamDefaultWriter, WritableStreamDefaultController, stateOf, writerOf, make, closes, desiredSizeOf, abortStream, closeStream, write, release, failIfNeeded, closeWithPropagation, setBackpressure };
