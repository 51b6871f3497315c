'use strict';
const marks = [];
class PerformanceEntry {
  constructor(name, entryType, startTime, duration, detail) { this.name = name; this.entryType = entryType; this.startTime = startTime; this.duration = duration; this.detail = detail ?? null; }
  toJSON() { return { ...this }; }
}
function timeOf(mark) {
  if (typeof mark === 'number') return mark;
  const found = marks.findLast((m) => m.entryType === 'mark' && m.name === mark);
  if (!found) throw new (require('internal/dom_exception'))(`The "${mark}" performance mark has not been set`, 'SyntaxError');
  return found.startTime;
}
const performance = {
  now: () => host.now(), timeOrigin: host.timeOrigin,
  mark(name, options) { const m = new PerformanceEntry(`${name}`, 'mark', options?.startTime ?? host.now(), 0, options?.detail); marks.push(m); return m; },
  measure(name, from, to) {
    const options = from !== null && typeof from === 'object' ? from : { start: from, end: to };
    const start = options.start === undefined ? 0 : timeOf(options.start);
    const end = options.end === undefined ? options.duration === undefined ? host.now() : start + options.duration : timeOf(options.end);
    const m = new PerformanceEntry(`${name}`, 'measure', start, end - start, options.detail);
    marks.push(m);
    return m;
  },
  clearMarks(name) { clear('mark', name); }, clearMeasures(name) { clear('measure', name); },
  getEntries: () => marks.slice(), getEntriesByName: (name, type) => marks.filter((m) => m.name === name && (type === undefined || m.entryType === type)), getEntriesByType: (type) => marks.filter((m) => m.entryType === type),
  timerify: (f) => f, eventLoopUtilization: () => ({ idle: 0, active: 0, utilization: 0 }),
  toJSON: () => ({ timeOrigin: host.timeOrigin }),
};
function clear(type, name) {
  for (let i = marks.length - 1; i >= 0; i--) if (marks[i].entryType === type && (name === undefined || marks[i].name === name)) marks.splice(i, 1);
}
class PerformanceObserver { observe() {} disconnect() {} takeRecords() { return []; } static get supportedEntryTypes() { return []; } }
module.exports = { performance, PerformanceEntry, PerformanceObserver, constants: {} };
