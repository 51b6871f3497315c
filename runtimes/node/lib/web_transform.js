'use strict';
// TransformStream: what is written to one side is given, changed, by the other.
const { react, deferred, invalidState, invalidThis, invalidValue, illegalConstructor, making, method, highWaterMarkOf, sizeOf, show, custom, finishClass } = require('internal/web_queue');
const { invalidArgType } = require('internal/errors');
const readable = require('internal/web_readable');
const writable = require('internal/web_writable');

let stateOf, controllerOf;

class TransformStream {
  #state;
  static { stateOf = (value) => { if (value === null || typeof value !== 'object' || !(#state in value)) throw invalidThis('TransformStream'); return value.#state; }; }
  constructor(transformer = null, writableStrategy = {}, readableStrategy = {}) {
    if (transformer === making) { this.#state = setUp(writableStrategy, 1, () => 1, 0, () => 1); return; }
    const readableType = transformer?.readableType, writableType = transformer?.writableType, start = transformer?.start;
    if (readableType !== undefined) throw invalidValue('transformer.readableType', readableType, 'RangeError');
    if (writableType !== undefined) throw invalidValue('transformer.writableType', writableType, 'RangeError');
    const readableHigh = highWaterMarkOf(readableStrategy, 0), readableSize = sizeOf(readableStrategy);
    const writableHigh = highWaterMarkOf(writableStrategy, 1), writableSize = sizeOf(writableStrategy);
    const transform = method(transformer, 'transform', 'transformer'), flush = method(transformer, 'flush', 'transformer'), cancel = method(transformer, 'cancel', 'transformer');
    if (start !== undefined && typeof start !== 'function') throw invalidArgType('transformer.start', 'Function', start);
    this.#state = setUp({ start: start && ((c) => Reflect.apply(start, transformer, [c])), transform, flush, cancel }, writableHigh, writableSize, readableHigh, readableSize);
  }
  get readable() { return stateOf(this).readable.object; }
  get writable() { return stateOf(this).writable.object; }
  [custom](depth, options) {
    const t = stateOf(this);
    return show('TransformStream', { readable: t.readable.object, writable: t.writable.object, backpressure: t.backpressure }, depth, options);
  }
}
finishClass(TransformStream, 'TransformStream');

class TransformStreamDefaultController {
  #state;
  static { controllerOf = (value) => { if (value === null || typeof value !== 'object' || !(#state in value)) throw invalidThis('TransformStreamDefaultController'); return value.#state; }; }
  constructor(token, state) {
    if (token !== making) throw illegalConstructor();
    this.#state = state;
  }
  get desiredSize() { return readable.desiredSize(controllerOf(this).readable.controller); }
  enqueue(chunk = undefined) { enqueue(controllerOf(this), chunk); }
  error(reason = undefined) { fail(controllerOf(this), reason); }
  terminate() {
    const t = controllerOf(this), c = t.readable.controller;
    if (readable.canEnqueue(c)) readable.close(c);
    failWritable(t, invalidState('TransformStream has been terminated'));
  }
  [custom](depth, options) { return show('TransformStreamDefaultController', { stream: controllerOf(this).object }, depth, options); }
}
finishClass(TransformStreamDefaultController, 'TransformStreamDefaultController');

function setUp({ start, transform, flush, cancel }, writableHigh, writableSize, readableHigh, readableSize) {
  const t = { readable: undefined, writable: undefined, controller: undefined, backpressure: undefined, change: undefined, transform, flush, cancel, ending: undefined };
  const started = deferred();
  t.writable = writable.stateOf(writable.make({
    start: () => started.promise,
    write(chunk) {
      if (!t.backpressure) return run(t, chunk);
      return react(t.change.promise, () => {
        if (t.writable.state === 'erroring') throw t.writable.error;
        return run(t, chunk);
      });
    },
    abort: (reason) => finish(t, () => t.cancel?.(reason), (failed, error) => {
      if (failed) { readable.fail(t.readable.controller, error); throw error; }
      if (t.readable.state === 'errored') throw t.readable.error;
      readable.fail(t.readable.controller, reason);
    }),
    close: () => finish(t, () => t.flush?.(t.controller), (failed, error) => {
      if (failed) { readable.fail(t.readable.controller, error); throw error; }
      if (t.readable.state === 'errored') throw t.readable.error;
      const c = t.readable.controller;
      if (readable.canEnqueue(c)) readable.close(c);
    }),
  }, writableHigh, writableSize));
  t.readable = readable.stateOf(readable.make({
    start: () => started.promise,
    pull() { setBackpressure(t, false); return t.change.promise; },
    cancel: (reason) => finish(t, () => t.cancel?.(reason), (failed, error) => {
      if (failed) { writable.failIfNeeded(t.writable.controller, error); unblock(t); throw error; }
      if (t.writable.state === 'errored') throw t.writable.error;
      writable.failIfNeeded(t.writable.controller, reason);
      unblock(t);
    }),
  }, readableHigh, readableSize));
  setBackpressure(t, true);
  t.controller = new TransformStreamDefaultController(making, t);
  started.resolve(start === undefined ? undefined : start(t.controller));
  return t;
}

// finish runs the end of the transformer once, whichever side asked for it first.
function finish(t, act, after) {
  if (t.ending !== undefined) return t.ending;
  const done = deferred();
  t.ending = done.promise;
  let result;
  try { result = Promise.resolve(act()); } catch (error) { result = Promise.reject(error); }
  forget(t);
  const end = (failed) => (value) => { try { after(failed, value); done.resolve(undefined); } catch (error) { done.reject(error); } };
  react(result, end(false), end(true));
  return t.ending;
}

function forget(t) { t.transform = () => undefined; t.flush = t.cancel = undefined; }

function setBackpressure(t, on) {
  t.change?.resolve(undefined);
  t.change = deferred();
  t.backpressure = on;
}
function unblock(t) { if (t.backpressure) setBackpressure(t, false); }

function enqueue(t, chunk) {
  const c = t.readable.controller;
  if (!readable.canEnqueue(c)) throw invalidState('Unable to enqueue');
  try { readable.enqueue(c, chunk); } catch (error) { failWritable(t, error); throw t.readable.error; }
  const full = !(t.readable.reader?.requests.length > 0) && !(readable.desiredSize(c) > 0);
  if (full !== t.backpressure) setBackpressure(t, true);
}

function fail(t, error) {
  readable.fail(t.readable.controller, error);
  failWritable(t, error);
}

function failWritable(t, error) {
  forget(t);
  writable.failIfNeeded(t.writable.controller, error);
  unblock(t);
}

function run(t, chunk) {
  if (t.transform === undefined) {
    try { enqueue(t, chunk); return undefined; } catch (error) { fail(t, error); throw error; }
  }
  let result;
  try { result = Promise.resolve(t.transform(chunk, t.controller)); } catch (error) { result = Promise.reject(error); }
  return react(result, undefined, (error) => { fail(t, error); throw error; });
}

// make makes a pair of the host's own libraries: transform(chunk, controller), flush(controller).
const make = (algorithms) => new TransformStream(making, algorithms);

module.exports = { TransformStream, TransformStreamDefaultController, make };
