'use strict';
// Observers and histograms of node:perf_hooks.
const hooks = require('perf_hooks');
const { nodeError, invalidArgType, outOfRange, check } = require('internal/errors');
const { PerformanceEntry } = hooks;

const supported = ['function', 'mark', 'measure', 'resource'];
const observers = new Set();
let tell; // tells all observers of an entry

class PerformanceObserverEntryList {
  #entries;
  constructor(entries) { this.#entries = entries.sort((a, b) => a.startTime - b.startTime); }
  getEntries() { return this.#entries.slice(); }
  getEntriesByType(type) { return this.#entries.filter((entry) => entry.entryType === `${type}`); }
  getEntriesByName(name, type) { return this.#entries.filter((entry) => entry.name === `${name}` && (type === undefined || entry.entryType === type)); }
}

class PerformanceObserver {
  #f; #types = new Set(); #buffer = []; #scheduled = false;
  constructor(f) { check.function(f, 'callback'); this.#f = f; }
  observe(options = {}) {
    check.object(options, 'options');
    const { entryTypes, type, buffered } = options;
    if (entryTypes === undefined && type === undefined) throw nodeError('TypeError', 'ERR_MISSING_ARGS', 'The "options.entryTypes" or "options.type" argument must be specified');
    if (entryTypes != null && type != null) throw nodeError('TypeError', 'ERR_INVALID_ARG_VALUE', `The property 'options.entryTypes' options.entryTypes can not set with options.type together. Received ${require('internal/inspect').inspect(entryTypes)}`);
    if (entryTypes !== undefined) {
      if (!Array.isArray(entryTypes)) throw invalidArgType('options.entryTypes', 'string[]', entryTypes);
      this.#types = new Set(entryTypes.filter((name) => supported.includes(name)));
    } else {
      if (!supported.includes(type)) return;
      this.#types.add(type);
      if (buffered) for (const entry of hooks.performance.getEntriesByType(type)) this.#put(entry);
    }
    if (this.#types.size > 0) observers.add(this); else this.disconnect();
  }
  disconnect() { observers.delete(this); this.#buffer = []; this.#types.clear(); }
  takeRecords() { return this.#buffer.splice(0); }
  static get supportedEntryTypes() { return supported.slice(); }
  static { tell = (entry) => { for (const observer of observers) if (observer.#types.has(entry.entryType)) observer.#put(entry); }; }
  #put(entry) {
    this.#buffer.push(entry);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const list = this.#buffer.splice(0);
      if (list.length > 0) this.#f(new PerformanceObserverEntryList(list), this);
    });
  }
}

function timerify(f, options) {
  check.function(f, 'fn');
  const { histogram } = options ?? {};
  const done = (start, args) => {
    const duration = hooks.performance.now() - start;
    histogram?.record(Math.max(1, Math.ceil(duration * 1e6)));
    if (observers.size === 0) return;
    const entry = new PerformanceEntry(f.name, 'function', start, duration);
    Object.defineProperty(entry, 'detail', { value: args, enumerable: true });
    for (let i = 0; i < args.length; i++) entry[i] = args[i];
    tell(entry);
  };
  function timerified(...args) {
    const start = hooks.performance.now();
    const result = new.target ? Reflect.construct(f, args, f) : Reflect.apply(f, this, args);
    if (!new.target && typeof result?.finally === 'function') return result.finally(() => done(start, args));
    done(start, args);
    return result;
  }
  Object.defineProperty(timerified, 'length', { configurable: true, value: f.length });
  Object.defineProperty(timerified, 'name', { configurable: true, value: `timerified ${f.name}` });
  return timerified;
}
hooks.watch(tell);

// Histogram keeps each value that was recorded, with its count: few values differ.
class Histogram {
  #counts = new Map(); #count = 0; #exceeds = 0; #low; #high;
  constructor(low, high) { this.#low = low; this.#high = high; }
  get count() { return this.#count; }
  get countBigInt() { return BigInt(this.#count); }
  get exceeds() { return this.#exceeds; }
  get exceedsBigInt() { return BigInt(this.#exceeds); }
  get min() { return this.#count === 0 ? 9223372036854776000 : Math.min(...this.#counts.keys()); }
  get max() { return this.#count === 0 ? 0 : Math.max(...this.#counts.keys()); }
  get minBigInt() { return this.#count === 0 ? 9223372036854775807n : BigInt(this.min); }
  get maxBigInt() { return BigInt(this.max); }
  get mean() { let sum = 0; for (const [value, n] of this.#counts) sum += value * n; return sum / this.#count; }
  get stddev() { const { mean } = this; let sum = 0; for (const [value, n] of this.#counts) sum += n * (value - mean) ** 2; return Math.sqrt(sum / this.#count); }
  percentile(p) {
    check.number(p, 'percentile');
    if (!(p > 0 && p <= 100)) throw outOfRange('percentile', '> 0 && <= 100', p);
    let left = Math.max(1, Math.ceil(this.#count * p / 100));
    for (const value of this.#values()) { left -= this.#counts.get(value); if (left <= 0) return value; }
    return 0;
  }
  percentileBigInt(p) { return BigInt(this.percentile(p)); }
  get percentiles() {
    const out = new Map([[0, this.#count === 0 ? 0 : this.min]]);
    if (this.#count > 0) { for (let step = 50, p = 50; p < 100 && out.size < 20; step /= 2, p += step) out.set(p, this.percentile(p)); }
    return out.set(100, this.max);
  }
  #values() { return [...this.#counts.keys()].sort((a, b) => a - b); }
  record(value) {
    if (typeof value !== 'bigint') check.integer(value, 'val', 1);
    value = Number(value);
    if (value > this.#high) { this.#exceeds++; return; }
    value = Math.max(value, this.#low);
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
    this.#count++;
  }
  add(other) {
    if (!(other instanceof Histogram)) throw invalidArgType('other', 'RecordableHistogram', other);
    for (const [value, n] of other.#counts) { this.#counts.set(value, (this.#counts.get(value) ?? 0) + n); this.#count += n; }
    this.#exceeds += other.#exceeds;
  }
  reset() { this.#counts.clear(); this.#count = this.#exceeds = 0; }
  toJSON() { return { count: this.count, min: this.min, max: this.max, mean: this.mean, exceeds: this.exceeds, stddev: this.stddev, percentiles: Object.fromEntries(this.percentiles) }; }
}
class RecordableHistogram extends Histogram {
  #last;
  recordDelta() { const now = Math.round(hooks.performance.now() * 1e6); if (this.#last !== undefined) this.record(Math.max(1, now - this.#last)); this.#last = now; }
}
function createHistogram(options = {}) {
  check.object(options, 'options');
  const { lowest = 1, highest = Number.MAX_SAFE_INTEGER, figures = 3 } = options;
  if (typeof lowest !== 'bigint') check.integer(lowest, 'options.lowest', 1);
  if (typeof highest !== 'bigint') check.integer(highest, 'options.highest', 2 * Number(lowest));
  check.integer(figures, 'options.figures', 1, 5);
  return new RecordableHistogram(Number(lowest), Number(highest));
}

class IntervalHistogram extends Histogram {
  #timer; #resolution;
  constructor(resolution) { super(1, 3.6e12); this.#resolution = resolution; }
  enable() {
    if (this.#timer !== undefined) return false;
    let last = hooks.performance.now();
    this.#timer = setInterval(() => { const now = hooks.performance.now(); this.record(Math.max(1, Math.round((now - last) * 1e6))); last = now; }, this.#resolution);
    this.#timer.unref();
    return true;
  }
  disable() { if (this.#timer === undefined) return false; clearInterval(this.#timer); this.#timer = undefined; return true; }
}
function monitorEventLoopDelay(options = {}) {
  check.object(options, 'options');
  const { resolution = 10 } = options;
  check.integer(resolution, 'options.resolution', 1);
  return new IntervalHistogram(resolution);
}

class PerformanceResourceTiming extends PerformanceEntry {
  constructor() { throw nodeError('TypeError', 'ERR_ILLEGAL_CONSTRUCTOR', 'Illegal constructor'); }
}

module.exports = { PerformanceObserver, PerformanceObserverEntryList, PerformanceResourceTiming, timerify, createHistogram, monitorEventLoopDelay };
