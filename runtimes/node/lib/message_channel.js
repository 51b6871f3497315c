'use strict';
// MessageChannel, MessagePort and BroadcastChannel, within one engine: there are no other threads.
const { nodeError } = require('internal/errors');
const { Event, EventTarget, defineHandler, listenersOf } = require('internal/event_target');
const DOMException = require('internal/dom_exception');
const clone = require('internal/clone');

class MessageEvent extends Event {
  #data; #origin; #lastEventId; #source; #ports;
  constructor(type, options = undefined) {
    super(type, options);
    this.#data = options?.data === undefined ? null : options.data;
    this.#origin = `${options?.origin ?? ''}`;
    this.#lastEventId = `${options?.lastEventId ?? ''}`;
    this.#source = options?.source ?? null;
    this.#ports = [...(options?.ports ?? [])];
  }
  get data() { return this.#data; }
  get origin() { return this.#origin; }
  get lastEventId() { return this.#lastEventId; }
  get source() { return this.#source; }
  get ports() { return this.#ports; }
  get [Symbol.toStringTag]() { return 'MessageEvent'; }
}

// NodeEventTarget has the methods of EventEmitter; its listeners get what a message holds.
class NodeEventTarget extends EventTarget {
  #wrapped = new Map(); // type → Map of listener → what was added for it
  #add(type, listener, once) {
    if (typeof listener !== 'function') return super.addEventListener(type, listener, { once });
    const added = (event) => {
      if (once) this.off(type, listener);
      listener.call(this, event instanceof MessageEvent ? event.data : event);
    };
    if (!this.#wrapped.has(type)) this.#wrapped.set(type, new Map());
    this.#wrapped.get(type).set(listener, added);
    this.addEventListener(type, added);
  }
  on(type, listener) { this.#add(`${type}`, listener, false); return this; }
  addListener(type, listener) { return this.on(type, listener); }
  once(type, listener) { this.#add(`${type}`, listener, true); return this; }
  off(type, listener) {
    const list = this.#wrapped.get(`${type}`);
    this.removeEventListener(type, list?.get(listener) ?? listener);
    list?.delete(listener);
    return this;
  }
  removeListener(type, listener) { return this.off(type, listener); }
  removeAllListeners(type) {
    for (const name of type === undefined ? this.#wrapped.keys() : [`${type}`]) {
      for (const listener of listenersOf(this, name)) this.removeEventListener(name, listener);
      this.#wrapped.delete(name);
    }
    return this;
  }
  listenerCount(type) { return listenersOf(this, `${type}`).length; }
}

const making = Symbol('making');
let join, receive;

class MessagePort extends NodeEventTarget {
  #other = null; #queue = []; #started = false; #closed = false; #due = false;
  constructor(token) {
    if (token !== making) throw nodeError('TypeError', 'ERR_CONSTRUCT_CALL_INVALID', 'Constructor cannot be called');
    super();
  }
  static {
    join = (a, b) => { a.#other = b; b.#other = a; };
    receive = (port) => port.#queue.shift();
  }
  addEventListener(type, ...rest) {
    super.addEventListener(type, ...rest);
    if (`${type}` === 'message') this.start();
  }
  postMessage(value, options) {
    if (arguments.length === 0) throw nodeError('TypeError', 'ERR_MISSING_ARGS', 'The "message" argument must be specified');
    const transfer = Array.isArray(options) ? options : options?.transfer;
    const data = clone(value, { transfer: transfer ?? [] });
    const other = this.#other;
    if (this.#closed || other === null) return;
    other.#queue.push({ data });
    other.#schedule();
  }
  start() { this.#started = true; this.#schedule(); }
  #schedule() {
    if (this.#due || !this.#started || this.#closed || this.#queue.length === 0) return;
    this.#due = true;
    require('timers').setImmediate(() => {
      this.#due = false;
      if (this.#closed) return;
      const next = this.#queue.shift();
      if (next === undefined) return;
      try { this.dispatchEvent(new MessageEvent('message', { data: next.data })); } finally { this.#schedule(); }
    });
  }
  close() {
    for (const port of [this, this.#other]) {
      if (port === null || port.#closed) continue;
      const left = port === this ? 0 : port.#queue.length; // what was sent before still arrives
      const end = () => { port.#closed = true; port.dispatchEvent(new Event('close')); };
      const drain = (n) => require('timers').setImmediate(() => { if (n > 0 && port.#queue.length > 0 && port.#started) drain(n - 1); else end(); });
      if (port === this) { port.#closed = true; require('timers').setImmediate(end); } else drain(left);
    }
  }
  ref() {}
  unref() {}
  hasRef() { return false; }
  get [Symbol.toStringTag]() { return 'MessagePort'; }
}
defineHandler(MessagePort.prototype, 'message');
defineHandler(MessagePort.prototype, 'messageerror');

class MessageChannel {
  constructor() {
    const [port1, port2] = [new MessagePort(making), new MessagePort(making)];
    join(port1, port2);
    Object.defineProperties(this, {
      port1: { value: port1, enumerable: true, configurable: true, writable: true },
      port2: { value: port2, enumerable: true, configurable: true, writable: true },
    });
  }
  get [Symbol.toStringTag]() { return 'MessageChannel'; }
}

function receiveMessageOnPort(port) {
  if (!(port instanceof MessagePort)) throw nodeError('TypeError', 'ERR_INVALID_ARG_TYPE', 'The "port" argument must be a MessagePort instance');
  const next = receive(port);
  return next && { message: next.data };
}

const channels = new Map(); // name → set of open channels

class BroadcastChannel extends EventTarget {
  #name; #closed = false;
  constructor(name) {
    if (arguments.length === 0) throw nodeError('TypeError', 'ERR_MISSING_ARGS', 'The "name" argument must be specified');
    super();
    this.#name = `${name}`;
    if (!channels.has(this.#name)) channels.set(this.#name, new Set());
    channels.get(this.#name).add(this);
  }
  get name() { return this.#name; }
  postMessage(value) {
    if (arguments.length === 0) throw nodeError('TypeError', 'ERR_MISSING_ARGS', 'The "message" argument must be specified');
    if (this.#closed) throw new DOMException('BroadcastChannel is closed.', 'InvalidStateError');
    clone(value); // what cannot be sent throws here
    for (const other of channels.get(this.#name)) {
      if (other === this) continue;
      const data = clone(value);
      require('timers').setImmediate(() => { if (!other.#closed) other.dispatchEvent(new MessageEvent('message', { data })); });
    }
  }
  close() {
    this.#closed = true;
    channels.get(this.#name)?.delete(this);
    if (channels.get(this.#name)?.size === 0) channels.delete(this.#name);
  }
  ref() { return this; }
  unref() { return this; }
  get [Symbol.toStringTag]() { return 'BroadcastChannel'; }
}
defineHandler(BroadcastChannel.prototype, 'message');
defineHandler(BroadcastChannel.prototype, 'messageerror');

module.exports = { MessageChannel, MessagePort, MessageEvent, BroadcastChannel, receiveMessageOnPort };
