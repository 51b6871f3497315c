'use strict';
// Streams of bytes: their controller, and readers that bring a buffer of their own.
const { react, markHandled, deferred, invalidState, invalidThis, invalidValue, illegalConstructor, making, method, show, custom, finishClass } = require('internal/web_queue');
const { invalidArgType } = require('internal/errors');
const web = require('internal/web_readable');
const transfer = (buffer) => require('internal/language_more').transfer(buffer);
const { tagOf, typedArrays } = require('internal/typed_arrays');

// A buffer that waits to be filled: { buffer, offset, length, filled, minimum, elementSize, kind, byob },
// byob being "reader", "default" (one that was allocated for a reader without one) or "none"
// (its reader let go).
let controllerOf, requestOf, readerOf;

class ReadableByteStreamController {
  #state;
  static { controllerOf = (value) => { if (value === null || typeof value !== 'object' || !(#state in value)) throw invalidThis('ReadableByteStreamController'); return value.#state; }; }
  constructor(token, state) {
    if (token !== making) throw illegalConstructor();
    this.#state = state;
  }
  get byobRequest() {
    const c = controllerOf(this);
    if (c.request === null && c.pending.length > 0) c.request = new ReadableStreamBYOBRequest(making, c, restOf(c.pending[0]));
    return c.request;
  }
  get desiredSize() { return desiredSize(controllerOf(this)); }
  close() {
    const c = controllerOf(this);
    if (c.closing) throw invalidState('Controller is already closed');
    if (c.stream.state !== 'readable') throw invalidState('ReadableStream is already closed');
    close(c);
  }
  enqueue(chunk) {
    const c = controllerOf(this);
    if (!ArrayBuffer.isView(chunk)) throw invalidArgType('buffer', ['Buffer', 'TypedArray', 'DataView'], chunk);
    if (chunk.byteLength === 0 || chunk.buffer.byteLength === 0) throw invalidState('chunk ArrayBuffer is zero-length or detached');
    if (c.closing) throw invalidState('Controller is already closed');
    if (c.stream.state !== 'readable') throw invalidState('ReadableStream is already closed');
    enqueue(c, chunk);
  }
  error(reason = undefined) { fail(controllerOf(this), reason); }
  [custom](depth, options) { return show('ReadableByteStreamController', {}, depth, options); }
}
finishClass(ReadableByteStreamController, 'ReadableByteStreamController');

class ReadableStreamBYOBRequest {
  #state;
  static { requestOf = (value) => { if (value === null || typeof value !== 'object' || !(#state in value)) throw invalidThis('ReadableStreamBYOBRequest'); return value.#state; }; }
  constructor(token, controller, view) {
    if (token !== making) throw illegalConstructor();
    this.#state = { controller, view };
  }
  get view() { return requestOf(this).view; }
  respond(count) {
    const { controller: c, view } = requestOf(this);
    if (c === undefined) throw invalidState('This BYOB request has been invalidated');
    if (view.buffer.byteLength === 0) throw invalidState('Viewed ArrayBuffer is detached');
    count = Math.trunc(+count);
    if (!(count >= 0)) throw invalidValue('bytesWritten', count);
    respond(c, count);
  }
  respondWithNewView(view) {
    const { controller: c } = requestOf(this);
    if (c === undefined) throw invalidState('This BYOB request has been invalidated');
    if (!ArrayBuffer.isView(view)) throw invalidArgType('view', ['Buffer', 'TypedArray', 'DataView'], view);
    respondWithView(c, view);
  }
  [custom](depth, options) { return show('ReadableStreamBYOBRequest', { view: this.view, controller: requestOf(this).controller?.object }, depth, options); }
}
finishClass(ReadableStreamBYOBRequest, 'ReadableStreamBYOBRequest');

class ReadableStreamBYOBReader {
  #reader;
  static { readerOf = (value) => value !== null && typeof value === 'object' && #reader in value ? value.#reader : undefined; }
  constructor(stream) {
    const s = web.stateOf(stream);
    if (s === undefined) throw invalidArgType('stream', 'ReadableStream', stream);
    if (web.isLocked(s)) throw invalidState('ReadableStream is locked');
    if (!s.controller.isBytes) throw invalidValue('stream', stream, 'TypeError', 'must be a byte stream');
    this.#reader = web.attach(this, s, true);
  }
  get closed() {
    const reader = readerOf(this);
    return reader === undefined ? Promise.reject(invalidThis('ReadableStreamBYOBReader')) : reader.closed.promise;
  }
  cancel(reason = undefined) {
    const reader = readerOf(this);
    return reader === undefined ? Promise.reject(invalidThis('ReadableStreamBYOBReader')) : web.cancelReader(reader, reason);
  }
  async read(view, options = {}) {
    const reader = readerOf(this);
    if (reader === undefined) throw invalidThis('ReadableStreamBYOBReader');
    if (!ArrayBuffer.isView(view)) throw invalidArgType('view', ['Buffer', 'TypedArray', 'DataView'], view);
    if (view.byteLength === 0) throw invalidState('View or Viewed ArrayBuffer is zero-length or detached');
    if (view.buffer.byteLength === 0) throw invalidState('View or Viewed ArrayBuffer is zero-length or detached');
    const min = options?.min ?? 1;
    if (!Number.isInteger(min)) throw invalidValue('options.min', min, 'TypeError', 'must be an integer');
    if (min < 1) throw invalidValue('options.min', min, 'TypeError', 'must be greater than 0');
    if (min > (view.length ?? view.byteLength)) throw require('internal/errors').outOfRange('options.min', `<= ${view.length ?? view.byteLength}`, min);
    if (reader.stream === undefined) throw invalidState('The reader is not attached to a stream');
    return new Promise((resolve, reject) => {
      readInto(reader, view, min, { chunk(value) { resolve({ value, done: false }); }, close(value) { resolve({ value, done: true }); }, error: reject });
    });
  }
  releaseLock() {
    const reader = readerOf(this);
    if (reader === undefined) throw invalidThis('ReadableStreamBYOBReader');
    if (reader.stream !== undefined) web.release(reader);
  }
  [custom](depth, options) {
    const reader = readerOf(this);
    return show('ReadableStreamBYOBReader', { stream: reader.stream?.object, readIntoRequests: reader.requests.length, close: reader.closed.promise }, depth, options);
  }
}
finishClass(ReadableStreamBYOBReader, 'ReadableStreamBYOBReader');

const restOf = (p) => new Uint8Array(p.buffer, p.offset + p.filled, p.length - p.filled);

function readInto(reader, view, min, request) {
  const s = reader.stream;
  s.disturbed = true;
  if (s.state === 'errored') { request.error(s.error); return; }
  pullInto(s.controller, view, min, request);
}

function setUpFromSource(s, source, highWaterMark) {
  const start = source.start, auto = source.autoAllocateChunkSize;
  const pull = method(source, 'pull', 'source'), cancel = method(source, 'cancel', 'source');
  if (start !== undefined && typeof start !== 'function') throw invalidArgType('source.start', 'Function', start);
  if (auto !== undefined && !(Math.trunc(+auto) > 0)) throw invalidValue('source.autoAllocateChunkSize', auto);
  setUp(s, { start: start && ((c) => Reflect.apply(start, source, [c])), pull, cancel, auto: auto === undefined ? undefined : Math.trunc(+auto) }, highWaterMark);
}

function setUp(s, { start, pull, cancel, auto }, highWaterMark) {
  const c = {
    object: undefined, stream: s, isBytes: true, chunks: [], total: 0, started: false, closing: false, pulling: false, pullAgain: false, highWaterMark, pull, cancel, auto, pending: [], request: null,
    pullSteps: (request) => pullSteps(c, request),
    cancelSteps(reason) {
      c.pending = [];
      reset(c);
      const f = c.cancel;
      c.pull = c.cancel = undefined;
      return web.promiseOf(f, reason);
    },
    releaseSteps() { if (c.pending.length > 0) { c.pending[0].byob = 'none'; c.pending.length = 1; } },
  };
  c.object = new ReadableByteStreamController(making, c);
  s.controller = c;
  web.begin(c, start, () => pullIfNeeded(c), (error) => fail(c, error));
}

// make makes a byte stream of the host's own libraries.
function make(algorithms, highWaterMark = 0) { return new web.ReadableStream(making, (s) => setUp(s, algorithms, highWaterMark)); }

function reset(c) { c.chunks = []; c.total = 0; }

function desiredSize(c) {
  if (c.stream.state === 'errored') return null;
  if (c.stream.state === 'closed') return 0;
  return c.highWaterMark - c.total;
}

function pullIfNeeded(c) {
  if (c.stream.state !== 'readable' || c.closing || !c.started) return;
  if (!(c.stream.reader?.requests.length > 0) && !(desiredSize(c) > 0)) return;
  if (c.pulling) { c.pullAgain = true; return; }
  c.pulling = true;
  react(web.promiseOf(c.pull, c.object), () => {
    c.pulling = false;
    if (c.pullAgain) { c.pullAgain = false; pullIfNeeded(c); }
  }, (error) => fail(c, error));
}

function forgetRequest(c) {
  if (c.request === null) return;
  const state = requestOf(c.request);
  state.controller = undefined;
  state.view = null;
  c.request = null;
}

function fail(c, error) {
  if (c.stream.state !== 'readable') return;
  forgetRequest(c);
  c.pending = [];
  reset(c);
  c.pull = c.cancel = undefined;
  web.errorStream(c.stream, error);
}

function finish(c) {
  c.pull = c.cancel = undefined;
  web.closeStream(c.stream);
}

function close(c) {
  if (c.closing || c.stream.state !== 'readable') return;
  if (c.total > 0) { c.closing = true; return; }
  if (c.pending.length > 0 && c.pending[0].filled % c.pending[0].elementSize !== 0) {
    const error = invalidState('Partial read');
    fail(c, error);
    throw error;
  }
  finish(c);
}

function put(c, buffer, offset, length) { c.chunks.push({ buffer, offset, length }); c.total += length; }

function enqueue(c, chunk) {
  if (c.closing || c.stream.state !== 'readable') return;
  const { byteOffset, byteLength } = chunk;
  const buffer = transfer(chunk.buffer);
  if (c.pending.length > 0) {
    const first = c.pending[0];
    forgetRequest(c);
    first.buffer = transfer(first.buffer);
    if (first.byob === 'none') { keepPart(c, first); c.pending.shift(); }
  }
  const { reader } = c.stream;
  if (reader !== undefined && !reader.byob) {
    while (c.total > 0 && reader.requests.length > 0) giveFromQueue(c, reader.requests.shift());
    if (reader.requests.length === 0) put(c, buffer, byteOffset, byteLength);
    else {
      if (c.pending.length > 0) c.pending.shift();
      reader.requests.shift().chunk(new Uint8Array(buffer, byteOffset, byteLength));
    }
  } else {
    put(c, buffer, byteOffset, byteLength);
    if (reader?.byob) fillPending(c);
  }
  pullIfNeeded(c);
}

// keepPart puts what a reader's buffer held when the reader let go back in the queue.
function keepPart(c, p) {
  if (p.filled > 0) put(c, p.buffer.slice(p.offset, p.offset + p.filled), 0, p.filled);
}

function giveFromQueue(c, request) {
  const { buffer, offset, length } = c.chunks.shift();
  c.total -= length;
  drained(c);
  request.chunk(new Uint8Array(buffer, offset, length));
}

function drained(c) {
  if (c.total === 0 && c.closing) finish(c); else pullIfNeeded(c);
}

function pullSteps(c, request) {
  if (c.total > 0) { giveFromQueue(c, request); return; }
  if (c.auto !== undefined) {
    let buffer;
    try { buffer = new ArrayBuffer(c.auto); } catch (error) { request.error(error); return; }
    c.pending.push({ buffer, offset: 0, length: c.auto, filled: 0, minimum: 1, elementSize: 1, kind: 'Uint8Array', byob: 'default' });
  }
  c.stream.reader.requests.push(request);
  pullIfNeeded(c);
}

// fill moves bytes of the queue into a buffer that waits, and tells whether it may be given.
function fill(c, p) {
  const most = Math.min(c.total, p.length - p.filled), after = p.filled + most;
  const aligned = after - after % p.elementSize;
  const ready = aligned >= p.minimum;
  let left = ready ? aligned - p.filled : most;
  const target = new Uint8Array(p.buffer);
  while (left > 0) {
    const head = c.chunks[0], n = Math.min(left, head.length);
    target.set(new Uint8Array(head.buffer, head.offset, n), p.offset + p.filled);
    if (n === head.length) c.chunks.shift(); else { head.offset += n; head.length -= n; }
    c.total -= n;
    p.filled += n;
    left -= n;
  }
  return ready;
}

function viewOf(p) {
  const buffer = transfer(p.buffer);
  if (p.kind === 'DataView') return new DataView(buffer, p.offset, p.filled);
  const kind = p.kind === 'Buffer' ? undefined : typedArrays[p.kind];
  return kind === undefined ? Buffer.from(buffer, p.offset, p.filled) : new kind(buffer, p.offset, p.filled / p.elementSize);
}

function pullInto(c, view, min, request) {
  const kind = view instanceof DataView ? 'DataView' : Buffer.isBuffer(view) ? 'Buffer' : tagOf.call(view);
  const elementSize = view.BYTES_PER_ELEMENT ?? 1;
  const { byteOffset, byteLength } = view;
  let buffer;
  try { buffer = transfer(view.buffer); } catch (error) { request.error(error); return; }
  const p = { buffer, offset: byteOffset, length: byteLength, filled: 0, minimum: min * elementSize, elementSize, kind, byob: 'reader' };
  const { stream: s } = c;
  if (c.pending.length > 0) { c.pending.push(p); s.reader.requests.push(request); return; }
  if (s.state === 'closed') { request.close(viewOf(p)); return; }
  if (c.total > 0) {
    if (fill(c, p)) {
      const made = viewOf(p);
      drained(c);
      request.chunk(made);
      return;
    }
    if (c.closing) { const error = invalidState('ReadableStream closed'); fail(c, error); request.error(error); return; }
  }
  c.pending.push(p);
  s.reader.requests.push(request);
  pullIfNeeded(c);
}

// commit gives a filled buffer to the reader that brought it.
function commit(c, p) {
  const { stream: s } = c;
  const done = s.state === 'closed', made = viewOf(p);
  const request = s.reader.requests.shift();
  if (done) request.close(made); else request.chunk(made);
}

function fillPending(c) {
  while (c.pending.length > 0 && c.total > 0) {
    if (!fill(c, c.pending[0])) return;
    commit(c, c.pending.shift());
  }
}

function respond(c, count) {
  const first = c.pending[0];
  if (c.stream.state === 'closed') {
    if (count !== 0) throw invalidState('Controller is closed');
  } else {
    if (count === 0) throw invalidState('View is zero-length');
    if (first.filled + count > first.length) throw invalidState('The buffer size is invalid', 'RangeError');
  }
  first.buffer = transfer(first.buffer);
  responded(c, count);
}

function respondWithView(c, view) {
  const first = c.pending[0];
  if (c.stream.state === 'closed') { if (view.byteLength !== 0) throw invalidState('View is not zero-length'); } else if (view.byteLength === 0) throw invalidState('View is zero-length');
  if (first.offset + first.filled !== view.byteOffset || first.buffer.byteLength !== view.buffer.byteLength || first.filled + view.byteLength > first.length) throw invalidValue('view', view, 'RangeError');
  const { byteLength } = view;
  first.buffer = transfer(view.buffer);
  responded(c, byteLength);
}

function responded(c, count) {
  const first = c.pending[0];
  forgetRequest(c);
  if (c.stream.state === 'closed') {
    if (first.byob === 'none') c.pending.shift();
    while (c.stream.reader?.byob && c.stream.reader.requests.length > 0 && c.pending.length > 0) commit(c, c.pending.shift());
    return;
  }
  first.filled += count;
  if (first.byob === 'none') {
    keepPart(c, first);
    c.pending.shift();
    if (c.stream.reader?.byob) fillPending(c);
    pullIfNeeded(c);
    return;
  }
  if (first.filled >= first.minimum) {
    c.pending.shift();
    const over = first.filled % first.elementSize;
    if (over > 0) {
      const end = first.offset + first.filled;
      put(c, first.buffer.slice(end - over, end), 0, over);
      first.filled -= over;
    }
    if (first.byob === 'default') {
      const made = viewOf(first);
      c.stream.reader.requests.shift().chunk(made);
    } else commit(c, first);
    if (c.stream.reader?.byob) fillPending(c);
  }
  pullIfNeeded(c);
}

// tee gives two byte streams of what one gives; the second gets copies.
function tee(s) {
  const r = web.readerOf(new web.ReadableStreamDefaultReader(s.object));
  const cancelled = deferred();
  const gone = [false, false], reasons = [undefined, undefined], branches = [];
  let reading = false, again = false;
  const pull = () => {
    if (reading) { again = true; return; }
    reading = true;
    web.readInto(r, {
      chunk(value) {
        react(Promise.resolve(), () => {
          again = false;
          const second = gone[1] ? undefined : value.slice();
          if (!gone[0]) enqueue(branches[0].controller, value);
          if (!gone[1]) enqueue(branches[1].controller, second);
          reading = false;
          if (again) pull();
        });
      },
      close() {
        reading = false;
        branches.forEach((branch, i) => {
          if (!gone[i]) close(branch.controller);
          if (branch.controller.pending.length > 0) respond(branch.controller, 0);
        });
        if (!gone[0] || !gone[1]) cancelled.resolve(undefined);
      },
      error() { reading = false; },
    });
  };
  for (const i of [0, 1]) {
    branches.push(web.stateOf(make({
      pull,
      cancel(reason) {
        gone[i] = true;
        reasons[i] = reason;
        if (gone[1 - i]) cancelled.resolve(web.cancelStream(s, reasons));
        return cancelled.promise;
      },
    })));
  }
  react(r.closed.promise, undefined, (error) => {
    branches.forEach((branch) => fail(branch.controller, error));
    if (!gone[0] || !gone[1]) cancelled.resolve(undefined);
  });
  markHandled(cancelled.promise);
  return branches.map((branch) => branch.object);
}

module.exports = { ReadableByteStreamController, ReadableStreamBYOBRequest, ReadableStreamBYOBReader, setUpFromSource, make, tee, enqueue, close, fail };
