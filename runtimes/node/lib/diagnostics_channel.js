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
    async tracePromise(f, context = {}, self, ...args) {
      parts.start.publish(context);
      try { return context.result = await f.apply(self, args); } catch (error) { context.error = error; parts.error.publish(context); throw error; } finally { parts.asyncEnd.publish(context); }
    },
  };
}
module.exports = { channel, Channel, tracingChannel, hasSubscribers: (name) => channels.get(name)?.hasSubscribers ?? false, subscribe: (name, f) => channel(name).subscribe(f), unsubscribe: (name, f) => channel(name).unsubscribe(f) };
