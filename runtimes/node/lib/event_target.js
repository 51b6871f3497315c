'use strict';
// Event, EventTarget, AbortController and AbortSignal.
const { nodeError, invalidArgType } = require('internal/errors');

const stop = Symbol('stop'), targetOf = Symbol('target'), dispatching = Symbol('dispatching'), passiveNow = Symbol('passive');
const time = () => host.now();

class Event {
  #type; #bubbles; #cancelable; #composed; #prevented = false; #stopped = false; #time = time();
  constructor(type, options = undefined) {
    if (arguments.length === 0) throw nodeError('TypeError', 'ERR_MISSING_ARGS', 'The "type" argument must be specified');
    if (options != null && typeof options !== 'object') throw invalidArgType('options', 'Object', options);
    this.#bubbles = !!options?.bubbles;
    this.#cancelable = !!options?.cancelable;
    this.#composed = !!options?.composed;
    this.#type = `${type}`;
    for (const [key, value] of [[stop, false], [targetOf, null], [dispatching, false], [passiveNow, false]]) Object.defineProperty(this, key, { value, writable: true });
  }
  get type() { return this.#type; }
  get target() { return this[targetOf]; }
  get currentTarget() { return this[dispatching] ? this[targetOf] : null; }
  get srcElement() { return this[targetOf]; }
  get bubbles() { return this.#bubbles; }
  get cancelable() { return this.#cancelable; }
  get composed() { return this.#composed; }
  get defaultPrevented() { return this.#cancelable && this.#prevented; }
  get returnValue() { return !this.defaultPrevented; }
  get timeStamp() { return this.#time; }
  get eventPhase() { return this[dispatching] ? 2 : 0; }
  get cancelBubble() { return this.#stopped; }
  set cancelBubble(value) { if (value) this.#stopped = true; }
  get isTrusted() { return false; }
  composedPath() { return this[dispatching] ? [this[targetOf]] : []; }
  preventDefault() { if (!this[passiveNow]) this.#prevented = true; }
  stopPropagation() { this.#stopped = true; }
  stopImmediatePropagation() { this.#stopped = true; this[stop] = true; }
  get [Symbol.toStringTag]() { return 'Event'; }
}
for (const [name, value] of [['NONE', 0], ['CAPTURING_PHASE', 1], ['AT_TARGET', 2], ['BUBBLING_PHASE', 3]]) {
  Object.defineProperty(Event, name, { value, enumerable: true });
  Object.defineProperty(Event.prototype, name, { value, enumerable: true });
}

class CustomEvent extends Event {
  #detail;
  constructor(type, options) { super(type, options); this.#detail = options?.detail ?? null; }
  get detail() { return this.#detail; }
  get [Symbol.toStringTag]() { return 'CustomEvent'; }
}

const lists = new WeakMap(); // target → Map of type → listeners

class EventTarget {
  constructor() { lists.set(this, new Map()); }

  addEventListener(type, listener, options) {
    if (arguments.length < 2) throw nodeError('TypeError', 'ERR_MISSING_ARGS', 'The "type" and "listener" arguments must be specified');
    if (typeof options === 'boolean') options = { capture: options };
    const { once = false, capture = false, passive = false, signal } = options ?? {};
    if (listener == null) return;
    if (typeof listener !== 'function' && typeof listener !== 'object') throw invalidArgType('listener', 'EventListener', listener);
    if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalidArgType('options.signal', 'AbortSignal', signal);
    if (signal?.aborted) return;
    type = `${type}`;
    const all = lists.get(this);
    let list = all.get(type);
    if (!list) all.set(type, list = []);
    if (list.some((l) => l.listener === listener && l.capture === !!capture)) return;
    list.push({ listener, capture: !!capture, once: !!once, passive: !!passive, removed: false });
    signal?.addEventListener('abort', () => this.removeEventListener(type, listener, options), { once: true });
  }

  removeEventListener(type, listener, options) {
    const capture = !!(typeof options === 'boolean' ? options : options?.capture);
    const list = lists.get(this).get(`${type}`);
    const at = list ? list.findIndex((l) => l.listener === listener && l.capture === capture) : -1;
    if (at >= 0) { list[at].removed = true; list.splice(at, 1); }
  }

  dispatchEvent(event) {
    if (!(event instanceof Event)) throw invalidArgType('event', 'Event', event);
    if (event[dispatching]) throw nodeError('Error', 'ERR_EVENT_RECURSION', `The event "${event.type}" is already being dispatched`);
    event[targetOf] = this;
    event[dispatching] = true;
    try {
      for (const l of [...(lists.get(this).get(event.type) ?? [])]) {
        if (l.removed) continue;
        if (l.once) this.removeEventListener(event.type, l.listener, { capture: l.capture });
        event[passiveNow] = l.passive;
        try {
          if (typeof l.listener === 'function') l.listener.call(this, event);
          else if (typeof l.listener.handleEvent === 'function') l.listener.handleEvent(event);
        } catch (error) { host.uncaught(error); } finally { event[passiveNow] = false; }
        if (event[stop]) break;
      }
    } finally { event[dispatching] = false; }
    return !event.defaultPrevented;
  }
  get [Symbol.toStringTag]() { return 'EventTarget'; }
}

function defineHandler(proto, type) {
  const handlers = new WeakMap();
  Object.defineProperty(proto, `on${type}`, {
    configurable: true, enumerable: true,
    get() { return handlers.get(this)?.f ?? null; },
    set(f) {
      const old = handlers.get(this);
      if (typeof f !== 'function' && (typeof f !== 'object' || f === null)) { handlers.delete(this); if (old) this.removeEventListener(type, old.listener); return; }
      if (old) { old.f = f; return; }
      const handler = { f, listener: (event) => { if (typeof handler.f === 'function') handler.f.call(this, event); } };
      handlers.set(this, handler);
      this.addEventListener(type, handler.listener);
    },
  });
}

const making = Symbol('making');

class AbortSignal extends EventTarget {
  #aborted = false; #reason; #followers = [];
  constructor(token) {
    if (token !== making) throw nodeError('TypeError', 'ERR_ILLEGAL_CONSTRUCTOR', 'Illegal constructor');
    super();
  }
  get aborted() { return this.#aborted; }
  get reason() { return this.#reason; }
  throwIfAborted() { if (this.#aborted) throw this.#reason; }

  static abort(reason = abortError()) { const signal = new AbortSignal(making); signal.#aborted = true; signal.#reason = reason; return signal; }
  static timeout(delay) {
    require('internal/errors').check.integer(delay, 'delay', 0);
    const signal = new AbortSignal(making);
    require('timers').setTimeout(() => AbortSignal.#abort(signal, new (require('internal/dom_exception'))('The operation was aborted due to timeout', 'TimeoutError')), delay).unref();
    return signal;
  }
  static any(signals) {
    const result = new AbortSignal(making);
    signals = [...signals];
    signals.forEach((s, i) => { if (!(s instanceof AbortSignal)) throw invalidArgType(`signals[${i}]`, 'AbortSignal', s); });
    for (const s of signals) if (s.#aborted) { result.#aborted = true; result.#reason = s.#reason; return result; }
    for (const s of signals) s.#followers.push(result);
    return result;
  }
  static #abort(signal, reason) {
    if (signal.#aborted) return;
    signal.#aborted = true;
    signal.#reason = reason;
    signal.dispatchEvent(new Event('abort'));
    for (const follower of signal.#followers.splice(0)) AbortSignal.#abort(follower, reason);
  }
  static { abortSignal = (signal, reason) => AbortSignal.#abort(signal, reason); }
  [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) { return `AbortSignal ${inspect({ aborted: this.#aborted }, options)}`; }
  get [Symbol.toStringTag]() { return 'AbortSignal'; }
}
var abortSignal;
defineHandler(AbortSignal.prototype, 'abort');

const abortError = () => new (require('internal/dom_exception'))('This operation was aborted', 'AbortError');

class AbortController {
  #signal = new AbortSignal(making);
  get signal() { return this.#signal; }
  abort(reason = abortError()) { abortSignal(this.#signal, reason); }
  [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) { return `AbortController ${inspect({ signal: this.#signal }, options)}`; }
  get [Symbol.toStringTag]() { return 'AbortController'; }
}

module.exports = {
  Event, CustomEvent, EventTarget, AbortSignal, AbortController, defineHandler,
  listenersOf: (target, type) => (lists.get(target)?.get(type) ?? []).map((l) => l.listener),
  makeSignal() {
    const controller = new AbortController();
    return { signal: controller.signal, abort: (message, name) => controller.abort(new (require('internal/dom_exception'))(message, name)) };
  },
};
