'use strict';
const timers = require('timers');
require('internal/symbols');
const { check, AbortError } = require('internal/errors');

function cancellable(options, begin) {
  if (options === null || typeof options !== 'object') return Promise.reject(require('internal/errors').invalidArgType('options', 'Object', options));
  const { signal, ref = true } = options;
  try {
    check.signal(signal, 'options.signal');
    check.boolean(ref, 'options.ref');
  } catch (error) { return Promise.reject(error); }
  if (signal?.aborted) return Promise.reject(new AbortError(undefined, { cause: signal.reason }));
  return new Promise((resolve, reject) => {
    const { timer, clear } = begin((value) => { signal?.removeEventListener('abort', onAbort); resolve(value); });
    if (!ref) timer.unref();
    function onAbort() { clear(timer); reject(new AbortError(undefined, { cause: signal.reason })); }
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

const setTimeout = (delay, value, options = {}) => cancellable(options, (done) => ({ timer: timers.setTimeout(() => done(value), delay), clear: timers.clearTimeout }));
const setImmediate = (value, options = {}) => cancellable(options, (done) => ({ timer: timers.setImmediate(() => done(value)), clear: timers.clearImmediate }));

// setInterval gives an async iterator: one value a tick; ticks that nobody waits for are kept.
function setInterval(delay, value, options = {}) {
  const { signal } = options;
  let ticks = 0, waiting = null, ended = false, failure = null;
  const timer = timers.setInterval(() => {
    ticks++;
    if (waiting) { const w = waiting; waiting = null; ticks--; w.resolve({ value, done: false }); }
  }, delay);
  if (options.ref === false) timer.unref();
  const end = () => { ended = true; timers.clearInterval(timer); signal?.removeEventListener('abort', onAbort); };
  function onAbort() {
    failure = new AbortError(undefined, { cause: signal.reason });
    end();
    if (waiting) { const w = waiting; waiting = null; w.reject(failure); }
  }
  if (signal?.aborted) onAbort(); else signal?.addEventListener('abort', onAbort, { once: true });
  return {
    next() {
      if (failure) { const error = failure; failure = null; return Promise.reject(error); }
      if (ended) return Promise.resolve({ value: undefined, done: true });
      if (ticks > 0) { ticks--; return Promise.resolve({ value, done: false }); }
      return new Promise((resolve, reject) => { waiting = { resolve, reject }; });
    },
    return(v) { end(); return Promise.resolve({ value: v, done: true }); },
    [Symbol.asyncIterator]() { return this; },
  };
}

module.exports = { setTimeout, setImmediate, setInterval, scheduler: { wait: (delay, options) => setTimeout(delay, undefined, options), yield: () => setImmediate() } };
