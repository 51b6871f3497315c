'use strict';
require('internal/symbols');
const { nodeError, invalidArgType, outOfRange, check, AbortError } = require('internal/errors');

const errorMonitor = Symbol('events.errorMonitor');
const captureRejectionSymbol = Symbol.for('nodejs.rejection');
const kCapture = Symbol('kCapture');
let defaultMaxListeners = 10;

function EventEmitter(options) { EventEmitter.init.call(this, options); }

EventEmitter.prototype._events = undefined;
EventEmitter.prototype._eventsCount = 0;
EventEmitter.prototype._maxListeners = undefined;

EventEmitter.init = function (options) {
  if (this._events === undefined || this._events === Object.getPrototypeOf(this)._events) {
    this._events = { __proto__: null };
    this._eventsCount = 0;
  }
  this._maxListeners = this._maxListeners || undefined;
  if (options?.captureRejections) {
    check.boolean(options.captureRejections, 'options.captureRejections');
    Object.defineProperty(this, kCapture, { value: true, writable: true, configurable: true });
  }
};

const maxOf = (emitter) => emitter._maxListeners === undefined ? EventEmitter.defaultMaxListeners : emitter._maxListeners;
const checkListener = (f) => { if (typeof f !== 'function') throw invalidArgType('listener', 'function', f); };

function add(emitter, type, listener, first) {
  checkListener(listener);
  let events = emitter._events;
  if (events === undefined) {
    events = emitter._events = { __proto__: null };
    emitter._eventsCount = 0;
  } else if (events.newListener !== undefined) {
    emitter.emit('newListener', type, listener.listener ?? listener);
    events = emitter._events;
  }
  let list = events[type];
  if (list === undefined) { events[type] = listener; emitter._eventsCount++; return emitter; }
  if (typeof list === 'function') list = events[type] = first ? [listener, list] : [list, listener];
  else if (first) list.unshift(listener);
  else list.push(listener);
  const max = maxOf(emitter);
  if (max > 0 && list.length > max && !list.warned) {
    list.warned = true;
    require('process').emitWarning(`Possible EventEmitter memory leak detected. ${list.length} ${String(type)} listeners added to ${require('internal/inspect').inspect(emitter, { depth: -1 })}. Use emitter.setMaxListeners() to increase limit`, 'MaxListenersExceededWarning');
  }
  return emitter;
}

function onceWrapper(emitter, type, listener) {
  checkListener(listener);
  let fired = false;
  const wrapped = function (...args) {
    if (fired) return undefined;
    fired = true;
    emitter.removeListener(type, wrapped);
    return listener.apply(emitter, args);
  };
  wrapped.listener = listener;
  return wrapped;
}

const proto = EventEmitter.prototype;
const methods = {
  setMaxListeners(n) {
    if (typeof n !== 'number') throw invalidArgType('setMaxListeners', 'number', n);
    if (!(n >= 0)) throw outOfRange('setMaxListeners', '>= 0', n);
    this._maxListeners = n;
    return this;
  },
  getMaxListeners() { return maxOf(this); },
  emit(type, ...args) {
    const events = this._events;
    if (type === 'error') {
      if (events?.[errorMonitor] !== undefined) this.emit(errorMonitor, ...args);
      if (events?.error === undefined) {
        const error = args[0];
        if (error instanceof Error) throw error;
        const shown = require('internal/inspect').inspect(error);
        const unhandled = nodeError('Error', 'ERR_UNHANDLED_ERROR', `Unhandled error. (${args.length > 0 && typeof error === 'string' ? shown : shown})`);
        unhandled.context = error;
        throw unhandled;
      }
    }
    const handler = events?.[type];
    if (handler === undefined) return false;
    const list = typeof handler === 'function' ? [handler] : handler.slice();
    for (const listener of list) {
      const result = listener.apply(this, args);
      if (this[kCapture] && result !== undefined && result !== null && typeof result.then === 'function') {
        result.then(undefined, (error) => queueMicrotask(() => {
          if (typeof this[captureRejectionSymbol] === 'function') this[captureRejectionSymbol](error, type, ...args);
          else { this[kCapture] = false; try { this.emit('error', error); } finally { this[kCapture] = true; } }
        }));
      }
    }
    return true;
  },
  addListener(type, listener) { return add(this, type, listener, false); },
  prependListener(type, listener) { return add(this, type, listener, true); },
  once(type, listener) { return this.on(type, onceWrapper(this, type, listener)); },
  prependOnceListener(type, listener) { return this.prependListener(type, onceWrapper(this, type, listener)); },
  removeListener(type, listener) {
    checkListener(listener);
    const events = this._events;
    const list = events?.[type];
    if (list === undefined) return this;
    const wanted = (f) => f === listener || f.listener === listener;
    if (typeof list === 'function') {
      if (!wanted(list)) return this;
      delete events[type];
      this._eventsCount--;
    } else {
      const at = list.findLastIndex(wanted);
      if (at < 0) return this;
      list.splice(at, 1);
      if (list.length === 1) events[type] = list[0];
    }
    if (events.removeListener !== undefined) this.emit('removeListener', type, listener);
    return this;
  },
  removeAllListeners(type) {
    const events = this._events;
    if (events === undefined) return this;
    if (events.removeListener === undefined) {
      if (arguments.length === 0) { this._events = { __proto__: null }; this._eventsCount = 0; }
      else if (events[type] !== undefined) { delete events[type]; this._eventsCount--; }
      return this;
    }
    if (arguments.length === 0) {
      for (const key of Reflect.ownKeys(events)) if (key !== 'removeListener') this.removeAllListeners(key);
      this.removeAllListeners('removeListener');
      this._events = { __proto__: null };
      this._eventsCount = 0;
      return this;
    }
    for (const listener of this.rawListeners(type).reverse()) this.removeListener(type, listener);
    return this;
  },
  listeners(type) { return this.rawListeners(type).map((f) => f.listener ?? f); },
  rawListeners(type) {
    const list = this._events?.[type];
    return list === undefined ? [] : typeof list === 'function' ? [list] : list.slice();
  },
  listenerCount(type, listener) {
    const list = this.rawListeners(type);
    return listener ? list.filter((f) => f === listener || f.listener === listener).length : list.length;
  },
  eventNames() { return this._eventsCount > 0 ? Reflect.ownKeys(this._events) : []; },
};
for (const name of Object.keys(methods)) proto[name] = methods[name];
proto.on = proto.addListener;
proto.off = proto.removeListener;

function listen(emitter, type, f, once) {
  if (typeof emitter.on === 'function') emitter[once ? 'once' : 'on'](type, f);
  else if (typeof emitter.addEventListener === 'function') emitter.addEventListener(type, f, { once });
  else throw invalidArgType('emitter', 'EventEmitter', emitter);
}
function unlisten(emitter, type, f) {
  if (typeof emitter.removeListener === 'function') emitter.removeListener(type, f);
  else emitter.removeEventListener?.(type, f);
}

// once gives a promise of the arguments of the next event.
async function once(emitter, type, options = {}) {
  const { signal } = options ?? {};
  check.signal(signal, 'options.signal');
  if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason });
  return new Promise((resolve, reject) => {
    const done = () => {
      unlisten(emitter, type, onEvent);
      if (type !== 'error' && typeof emitter.on === 'function') unlisten(emitter, 'error', onError);
      signal?.removeEventListener('abort', onAbort);
    };
    function onEvent(...args) { done(); resolve(args); }
    function onError(error) { done(); reject(error); }
    function onAbort() { done(); reject(new AbortError(undefined, { cause: signal.reason })); }
    listen(emitter, type, onEvent, true);
    if (type !== 'error' && typeof emitter.on === 'function') emitter.once('error', onError);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

// on gives an async iterator over the arguments of an event.
function on(emitter, type, options = {}) {
  const { signal } = options ?? {};
  check.signal(signal, 'options.signal');
  if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason });
  const kept = [], waiting = [];
  let failure = null, ended = false;
  const onEvent = (...args) => { const w = waiting.shift(); if (w) w.resolve({ value: args, done: false }); else kept.push(args); };
  const onError = (error) => { const w = waiting.shift(); if (w) w.reject(error); else failure = error; end(); };
  const onAbort = () => onError(new AbortError(undefined, { cause: signal.reason }));
  function end() {
    ended = true;
    unlisten(emitter, type, onEvent);
    if (typeof emitter.on === 'function') unlisten(emitter, 'error', onError);
    for (const name of options.close ?? []) unlisten(emitter, name, end);
    signal?.removeEventListener('abort', onAbort);
    for (const w of waiting.splice(0)) w.resolve({ value: undefined, done: true });
    return Promise.resolve({ value: undefined, done: true });
  }
  listen(emitter, type, onEvent, false);
  if (type !== 'error' && typeof emitter.on === 'function') emitter.on('error', onError);
  for (const name of options.close ?? []) listen(emitter, name, end, false);
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    next() {
      if (kept.length > 0) return Promise.resolve({ value: kept.shift(), done: false });
      if (failure) { const error = failure; failure = null; return Promise.reject(error); }
      if (ended) return Promise.resolve({ value: undefined, done: true });
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    return: end,
    throw(error) { onError(error); return Promise.resolve({ value: undefined, done: true }); },
    [Symbol.asyncIterator]() { return this; },
  };
}

function getEventListeners(emitter, type) {
  if (typeof emitter.listeners === 'function') return emitter.listeners(type);
  return require('internal/event_target').listenersOf(emitter, type);
}

module.exports = Object.assign(EventEmitter, {
  EventEmitter, once, on, errorMonitor, captureRejectionSymbol, captureRejections: false, getEventListeners,
  usingDomains: false,
  listenerCount: (emitter, type) => emitter.listenerCount(type),
  getMaxListeners: (emitter) => typeof emitter.getMaxListeners === 'function' ? emitter.getMaxListeners() : defaultMaxListeners,
  setMaxListeners(n = defaultMaxListeners, ...targets) {
    if (typeof n !== 'number' || !(n >= 0)) throw outOfRange('n', 'a non-negative number', n);
    if (targets.length === 0) defaultMaxListeners = n;
    for (const target of targets) target.setMaxListeners?.(n);
  },
  addAbortListener(signal, listener) {
    if (signal.aborted) queueMicrotask(() => listener());
    else signal.addEventListener('abort', listener, { once: true });
    return { [Symbol.dispose]() { signal.removeEventListener('abort', listener); } };
  },
});
Object.defineProperty(EventEmitter, 'defaultMaxListeners', {
  enumerable: true, get: () => defaultMaxListeners,
  set(n) { if (typeof n !== 'number' || !(n >= 0)) throw outOfRange('defaultMaxListeners', 'a non-negative number', n); defaultMaxListeners = n; },
});
class EventEmitterAsyncResource extends EventEmitter {}
EventEmitter.EventEmitterAsyncResource = EventEmitterAsyncResource;
