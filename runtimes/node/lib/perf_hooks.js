'use strict';
// node:perf_hooks. Observers and histograms are in perf_observer.js.
const custom = Symbol.for('nodejs.util.inspect.custom');
const entries = [];
let watchers = null; // who is told of new entries; null until an observer was made
const { nodeError, invalidArgType } = require('internal/errors');
const more = () => require('internal/perf_observer');

class PerformanceEntry {
  #name; #type; #start; #duration;
  constructor(name, type, start, duration) { this.#name = name; this.#type = type; this.#start = start; this.#duration = duration; }
  get name() { return this.#name; }
  get entryType() { return this.#type; }
  get startTime() { return this.#start; }
  get duration() { return this.#duration; }
  toJSON() { return { name: this.name, entryType: this.entryType, startTime: this.startTime, duration: this.duration }; }
  [custom](depth, options, inspect) {
    if (depth < 0) return this;
    const shown = { name: this.name, entryType: this.entryType, startTime: this.startTime, duration: this.duration };
    if ('detail' in this) shown.detail = this.detail;
    return `${this.constructor.name} ${inspect(shown, { ...options, depth: options.depth == null ? null : options.depth - 1 })}`;
  }
}
class Detailed extends PerformanceEntry {
  #detail;
  constructor(name, type, start, duration, detail) { super(name, type, start, duration); this.#detail = detail === undefined || detail === null ? null : structuredClone(detail); }
  get detail() { return this.#detail; }
  toJSON() { return { ...super.toJSON(), detail: this.detail }; }
}
class PerformanceMark extends Detailed {
  constructor(name, options) {
    name = `${name}`;
    if (options != null && typeof options !== 'object') throw invalidArgType('options', 'Object', options);
    const start = options?.startTime ?? host.now();
    if (typeof start !== 'number') throw invalidArgType('startTime', 'number', start);
    if (start < 0) throw nodeError('TypeError', 'ERR_PERFORMANCE_INVALID_TIMESTAMP', `${start} is not a valid timestamp`);
    super(name, 'mark', start, 0, options?.detail);
  }
}
class PerformanceMeasure extends Detailed {}

function add(entry) {
  entries.push(entry);
  watchers?.(entry);
  return entry;
}

function timeOf(mark) {
  if (mark === undefined) return undefined;
  if (typeof mark === 'number') {
    if (mark < 0) throw nodeError('TypeError', 'ERR_PERFORMANCE_INVALID_TIMESTAMP', `${mark} is not a valid timestamp`);
    return mark;
  }
  const found = entries.findLast((entry) => entry.entryType === 'mark' && entry.name === `${mark}`);
  if (!found) throw new (require('internal/dom_exception'))(`The "${mark}" performance mark has not been set`, 'SyntaxError');
  return found.startTime;
}

function measure(name, from, to) {
  if (typeof name !== 'string') throw invalidArgType('name', 'string', name);
  const options = from !== null && typeof from === 'object' ? from : { start: from, end: to };
  if (from !== null && typeof from === 'object' && options.start === undefined && options.end === undefined && Object.keys(options).length > 0) throw nodeError('TypeError', 'ERR_PERFORMANCE_MEASURE_INVALID_OPTIONS', 'One of options.start or options.end is required');
  const { duration } = options;
  let end = timeOf(options.end);
  end ??= options.start !== undefined && duration !== undefined ? timeOf(options.start) + duration : host.now();
  const start = timeOf(options.start) ?? (duration !== undefined ? end - duration : 0);
  return add(new PerformanceMeasure(name, 'measure', start, end - start, options.detail));
}

function clear(type, name) {
  for (let i = entries.length - 1; i >= 0; i--) if (entries[i].entryType === type && (name === undefined || entries[i].name === `${name}`)) entries.splice(i, 1);
}

const sorted = (list) => list.sort((a, b) => a.startTime - b.startTime);

class Performance {
  now() { return host.now(); }
  get timeOrigin() { return host.timeOrigin; }
  mark(name, options) { return add(new PerformanceMark(name, options)); }
  measure(name, from, to) { return measure(name, from, to); }
  clearMarks(name) { clear('mark', name); }
  clearMeasures(name) { clear('measure', name); }
  clearResourceTimings(name) { clear('resource', name); }
  setResourceTimingBufferSize() {}
  markResourceTiming() {}
  getEntries() { return sorted(entries.slice()); }
  getEntriesByName(name, type) { return sorted(entries.filter((entry) => entry.name === `${name}` && (type === undefined || entry.entryType === type))); }
  getEntriesByType(type) { return sorted(entries.filter((entry) => entry.entryType === `${type}`)); }
  timerify(f, options) { return more().timerify(f, options); }
  eventLoopUtilization() { return { idle: 0, active: 0, utilization: 0 }; }
  get nodeTiming() { return { name: 'node', entryType: 'node', startTime: 0, duration: host.now(), nodeStart: 0, v8Start: 0, bootstrapComplete: 0, environment: 0, loopStart: 0, loopExit: -1, idleTime: 0 }; }
  toJSON() { return { nodeTiming: this.nodeTiming, timeOrigin: host.timeOrigin, eventLoopUtilization: this.eventLoopUtilization() }; }
  get [Symbol.toStringTag]() { return 'Performance'; }
}
const performance = new Performance();

module.exports = Object.defineProperties({
  performance, PerformanceEntry, PerformanceMark, PerformanceMeasure, watch(f) { watchers = f; },
  createHistogram: (options) => more().createHistogram(options), monitorEventLoopDelay: (options) => more().monitorEventLoopDelay(options),
  constants: { NODE_PERFORMANCE_GC_MAJOR: 4, NODE_PERFORMANCE_GC_MINOR: 1, NODE_PERFORMANCE_GC_INCREMENTAL: 8, NODE_PERFORMANCE_GC_WEAKCB: 16, NODE_PERFORMANCE_GC_FLAGS_NO: 0, NODE_PERFORMANCE_GC_FLAGS_CONSTRUCT_RETAINED: 2, NODE_PERFORMANCE_GC_FLAGS_FORCED: 4, NODE_PERFORMANCE_GC_FLAGS_SYNCHRONOUS_PHANTOM_PROCESSING: 8, NODE_PERFORMANCE_GC_FLAGS_ALL_AVAILABLE_GARBAGE: 16, NODE_PERFORMANCE_GC_FLAGS_ALL_EXTERNAL_MEMORY: 32, NODE_PERFORMANCE_GC_FLAGS_SCHEDULE_IDLE: 64 },
}, Object.fromEntries(['PerformanceObserver', 'PerformanceObserverEntryList', 'PerformanceResourceTiming'].map((name) => [name, { enumerable: true, configurable: true, get: () => more()[name] }])));
Object.defineProperty(module.exports, 'watch', { enumerable: false });
