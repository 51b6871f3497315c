'use strict';
require('internal/symbols');
const { set, clear, ref, immediate, capture } = host;
const { check } = require('internal/errors');

const maxDelay = 2 ** 31 - 1;
const live = new Map(); // by id, for clearTimeout(number)
const id = Symbol('id'), callback = Symbol('callback'), refed = Symbol('refed'), delayOf = Symbol('delay'), repeats = Symbol('repeat'), asyncContext = Symbol('context');

class Timeout {
  constructor(f, delay, args, repeat) {
    delay *= 1;
    if (!(delay >= 1 && delay <= maxDelay)) delay = 1;
    delay = Math.trunc(delay);
    Object.defineProperty(this, asyncContext, { value: capture(args.length === 0 ? f : () => f(...args)) });
    for (const [key, value] of [[callback, f], [delayOf, delay], [repeats, repeat], [refed, true], [id, 0]]) Object.defineProperty(this, key, { value, writable: true });
    start(this);
  }

  ref() { this[refed] = true; if (live.has(this[id])) ref(this[id], true); return this; }
  unref() { this[refed] = false; if (live.has(this[id])) ref(this[id], false); return this; }
  hasRef() { return this[refed]; }
  refresh() {
    if (live.has(this[id])) { stop(this); start(this); }
    return this;
  }
  close() { stop(this); return this; }
  [Symbol.toPrimitive]() { return this[id]; }
  [Symbol.dispose]() { stop(this); }
}

function start(timer) {
  const run = timer[asyncContext];
  // 0: the call that sets it is over, and it will never fire.
  const made = set(timer[delayOf], timer[repeats], () => {
    if (!timer[repeats]) live.delete(timer[id]);
    run.call(timer);
  });
  // A timer keeps the number that it was first known by.
  timer[id] = made;
  if (made === 0) return;
  live.set(made, timer);
  if (!timer[refed]) ref(made, false);
}

function stop(timer) {
  if (live.delete(timer[id])) clear(timer[id]);
}

host.forget((id) => live.delete(id));

class Immediate {
  constructor(f, args) {
    const run = capture(args.length === 0 ? f : () => f(...args));
    Object.defineProperty(this, 'active', { value: true, writable: true });
    Object.defineProperty(this, refed, { value: true, writable: true });
    immediate(() => { if (this.active) { this.active = false; run.call(this); } });
  }
  ref() { this[refed] = true; return this; }
  unref() { this[refed] = false; return this; }
  hasRef() { return this.active && this[refed]; }
  [Symbol.dispose]() { this.active = false; }
}

function setTimeout(f, delay, ...args) { check.function(f, 'callback'); return new Timeout(f, delay, args, false); }
function setInterval(f, delay, ...args) { check.function(f, 'callback'); return new Timeout(f, delay, args, true); }
function setImmediate(f, ...args) { check.function(f, 'callback'); return new Immediate(f, args); }

function clearTimeout(timer) {
  if (timer instanceof Timeout) stop(timer);
  else if (typeof timer === 'number' || typeof timer === 'string') { const found = live.get(+timer); if (found) stop(found); }
}

function clearImmediate(timer) { if (timer instanceof Immediate) timer.active = false; }

module.exports = { setTimeout, clearTimeout, setInterval, clearInterval: (timer) => clearTimeout(timer), setImmediate, clearImmediate };

// util.promisify(setTimeout) is the promise form.
const promisified = Symbol.for('nodejs.util.promisify.custom');
for (const name of ['setTimeout', 'setImmediate']) {
  Object.defineProperty(module.exports[name], promisified, { enumerable: true, get: () => require('timers/promises')[name] });
}
Object.defineProperty(module.exports, 'promises', { enumerable: true, configurable: true, get: () => require('timers/promises') });
