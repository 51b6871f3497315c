'use strict';
const { get, set, capture } = host;

// run calls a function with a context, which callbacks and promises made in it inherit.
function within(context, f, self, args) {
  const before = get();
  set(context);
  try { return f.apply(self, args); } finally { set(before); }
}

class AsyncLocalStorage {
  getStore() { return get()?.get(this); }
  run(store, f, ...args) { return within(new Map(get() ?? []).set(this, store), f, undefined, args); }
  exit(f, ...args) { const map = new Map(get() ?? []); map.delete(this); return within(map, f, undefined, args); }
  enterWith(store) { set(new Map(get() ?? []).set(this, store)); }
  disable() { const map = new Map(get() ?? []); map.delete(this); set(map); }
  static bind(f) { return capture(f); }
  static snapshot() { return capture((f, ...args) => f(...args)); }
}

let ids = 1;
class AsyncResource {
  #run = capture((f, self, args) => f.apply(self, args));
  #id = ++ids;
  constructor(type) { this.type = type; }
  runInAsyncScope(f, self, ...args) { return this.#run(f, self, args); }
  emitDestroy() { return this; }
  asyncId() { return this.#id; }
  triggerAsyncId() { return 1; }
  bind(f) { const run = this.#run; return function (...args) { return run(f, this, args); }; }
  static bind(f, type) { return new AsyncResource(type ?? f.name).bind(f); }
}

module.exports = {
  AsyncLocalStorage, AsyncResource, asyncWrapProviders: {},
  executionAsyncId: () => 1, triggerAsyncId: () => 0, executionAsyncResource: () => ({}),
  createHook: () => ({ enable() { return this; }, disable() { return this; } }),
};
