'use strict';
// What the host calls. A callback must run below a function of script: promise jobs run
// as soon as the outermost call of Go into the engine returns, and that must not be sooner.
const { apply } = Reflect;
const then = Promise.prototype.then;
const resolved = Promise.resolve();

// capture gives a function that runs f in the asynchronous context of now.
function capture(f) {
  const kept = host.context();
  if (kept === undefined) return f;
  return function (...args) {
    const before = host.context();
    host.setContext(kept);
    try { return apply(f, this, args); } finally { host.setContext(before); }
  };
}

module.exports = {
  capture,
  turn(f, after, ...args) { f(...args); after(); },
  queueMicrotask(callback) {
    if (typeof callback !== 'function') throw require('internal/errors').invalidArgType('callback', 'function', callback);
    const f = capture(callback);
    apply(then, resolved, [() => { try { f(); } catch (error) { host.uncaught(error); } }]);
  },
};
