'use strict';
const channels = new Map();
class Channel {
  #subscribers = [];
  constructor(name) { this.name = name; }
  get hasSubscribers() { return this.#subscribers.length > 0; }
  subscribe(f) { this.#subscribers = [...this.#subscribers, f]; }
  unsubscribe(f) { const at = this.#subscribers.indexOf(f); if (at < 0) return false; this.#subscribers = this.#subscribers.toSpliced(at, 1); return true; }
  publish(message) { for (const f of this.#subscribers) { try { f(message, this.name); } catch (error) { queueMicrotask(() => { throw error; }); } } }
  bindStore() {} unbindStore() { return false; }
  runStores(data, f, self, ...args) { this.publish(data); return f.apply(self, args); }
}
function channel(name) { let c = channels.get(name); if (!c) channels.set(name, c = new Channel(name)); return c; }
function tracingChannel(name) {
  const parts = {};
  for (const event of ['start', 'end', 'asyncStart', 'asyncEnd', 'error']) parts[event] = typeof name === 'string' ? channel(`tracing:${name}:${event}`) : name[event];
  return {
    ...parts,
    subscribe(handlers) { for (const event of Object.keys(handlers)) parts[event]?.subscribe(handlers[event]); },
    unsubscribe(handlers) { return Object.keys(handlers).every((event) => parts[event]?.unsubscribe(handlers[event])); },
    traceSync(f, context = {}, self, ...args) {
      parts.start.publish(context);
      try { return context.result = f.apply(self, args); } catch (error) { context.error = error; parts.error.publish(context); throw error; } finally { parts.end.publish(context); }
    },
    traceCallback(f, position = -1, context = {}, self = undefined, ...args) {
      const at = position < 0 ? args.length + position : position, callback = args[at];
      require('internal/errors').check.function(callback, 'callback');
      args[at] = function (error, result) {
        if (error) { context.error = error; parts.error.publish(context); } else context.result = result;
        parts.asyncStart.publish(context);
        try { return Reflect.apply(callback, this, arguments); } finally { parts.asyncEnd.publish(context); }
      };
      parts.start.publish(context);
      try { return Reflect.apply(f, self, args); } catch (error) { context.error = error; parts.error.publish(context); throw error; } finally { parts.end.publish(context); }
    },
    tracePromise(f, context = {}, self, ...args) {
      const settled = () => { parts.asyncStart.publish(context); parts.asyncEnd.publish(context); };
      parts.start.publish(context);
      try {
        let promise = Reflect.apply(f, self, args);
        if (typeof promise?.then !== 'function') promise = Promise.resolve(promise);
        return promise.then((result) => { context.result = result; settled(); return result; }, (error) => { context.error = error; parts.error.publish(context); settled(); throw error; });
      } catch (error) { context.error = error; parts.error.publish(context); throw error; } finally { parts.end.publish(context); }
    },
  };
}
module.exports = { channel, Channel, tracingChannel, hasSubscribers: (name) => channels.get(name)?.hasSubscribers ?? false, subscribe: (name, f) => channel(name).subscribe(f), unsubscribe: (name, f) => channel(name).unsubscribe(f) };
