'use strict';
// An engine lives for one call, so nothing needs to be let go of before its end: a
// WeakRef holds its target, and no callback of a FinalizationRegistry runs.
const held = new WeakMap();
const isObject = (value) => value !== null && (typeof value === 'object' || typeof value === 'function');

class WeakRef {
  constructor(target) {
    if (!isObject(target)) throw new TypeError('WeakRef: target must be an object');
    held.set(this, target);
  }
  deref() { return held.get(this); }
  get [Symbol.toStringTag]() { return 'WeakRef'; }
}

class FinalizationRegistry {
  constructor(cleanup) { if (typeof cleanup !== 'function') throw new TypeError('FinalizationRegistry: cleanup must be callable'); held.set(this, new WeakSet()); }
  register(target, value, token) {
    if (!isObject(target)) throw new TypeError('FinalizationRegistry.prototype.register: invalid target');
    if (target === value) throw new TypeError('FinalizationRegistry.prototype.register: target and holdings must not be same');
    if (isObject(token)) held.get(this).add(token);
  }
  unregister(token) {
    if (!isObject(token)) throw new TypeError(`Invalid unregisterToken ('${String(token)}')`);
    return held.get(this).delete(token);
  }
  get [Symbol.toStringTag]() { return 'FinalizationRegistry'; }
}

// What a script may ask about and not have: nobody shares memory with an engine.
class SharedArrayBuffer {
  constructor() { throw require('internal/errors').nodeError('Error', 'ERR_UNSUPPORTED_IN_HOST', 'SharedArrayBuffer is not available in this host: a handler has one thread; use ArrayBuffer'); }
  get byteLength() { throw new TypeError(`Method SharedArrayBuffer.prototype.byteLength called on incompatible receiver ${String(this)}`); }
  get growable() { return this.byteLength; }
  slice() { return this.byteLength; }
  get [Symbol.toStringTag]() { return 'SharedArrayBuffer'; }
}
module.exports = { WeakRef, FinalizationRegistry, SharedArrayBuffer };
