'use strict';
// Classes that are streams too, and whose instances are hardly ever used as such: node:stream
// is loaded when one is.
const common = ['addListener', 'cork', 'destroy', 'emit', 'end', 'eventNames', 'getMaxListeners', 'listenerCount', 'listeners', 'off', 'on', 'once', 'pipe', 'prependListener', 'prependOnceListener',
  'rawListeners', 'removeAllListeners', 'removeListener', 'setDefaultEncoding', 'setMaxListeners', 'uncork', 'write'];
const reading = ['_read', '_final', 'isPaused', 'pause', 'push', 'read', 'resume', 'setEncoding', 'unpipe', 'unshift', 'wrap'];
const members = ['_life', '_readable', '_writable', '_waiting', 'closed', 'destroyed', 'errored', 'readable', 'readableEnded', 'readableFlowing', 'readableLength', 'writable', 'writableEnded',
  'writableFinished', 'writableLength', 'writableNeedDrain'];

// lazyStream makes the instances of kind streams of the class base ("Transform", "Writable")
// when they are used as such. optionsOf gives what its constructor takes.
function lazyStream(kind, base, optionsOf = () => undefined) {
  const { prototype } = kind, ready = new WeakSet();
  let Base;
  const become = (object) => {
    if (Base === undefined) {
      Base = require('stream')[base];
      let last = prototype;
      while (Object.getPrototypeOf(last) !== Object.prototype && !(Object.getPrototypeOf(last) instanceof Base)) last = Object.getPrototypeOf(last);
      if (Object.getPrototypeOf(last) === Object.prototype) Object.setPrototypeOf(last, Base.prototype);
    }
    if (object === prototype || ready.has(object)) return;
    ready.add(object);
    Base.call(object, optionsOf(object));
  };
  for (const name of base === 'Writable' ? common : [...common, ...reading]) {
    if (Object.hasOwn(prototype, name)) continue;
    Object.defineProperty(prototype, name, { configurable: true, writable: true, value: { [name](...args) { become(this); return Reflect.apply(Base.prototype[name], this, args); } }[name] });
  }
  for (const name of members) {
    Object.defineProperty(prototype, name, {
      configurable: true,
      get() { if (this === prototype) return undefined; become(this); return Object.hasOwn(this, name) ? this[name] : Reflect.get(Base.prototype, name, this); },
      set(value) { become(this); Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true }); },
    });
  }
}

module.exports = { lazyStream };
