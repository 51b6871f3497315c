// Dates made of texts, by all that makes one.
export default function () {
  const show = (...values) => console.log(JSON.stringify(values.map((v) => typeof v === 'number' ? String(v) : v)));
  const when = (d) => Number.isNaN(d.getTime()) ? 'none' : d.toISOString();
  for (const text of ['Jan 32 2024 UTC', 'Foo 1 2024 GMT', '1 Foo 2024 GMT', 'the 4 of July 2024 UTC', 'Jan 5 2024 13:00 PM UTC', 'Jan 5 2024 12:30 AM UTC', '2024-02-30', '2024-02-30T00:00Z', '-1', '2024-01-02T10:20:30,5Z', 'Jan 5 2024 10:20 (a (b) c) GMT+0230']) show(text, Date.parse(text), when(new Date(text)));
  const d = new Date('2024-03-05T01:02:03.004Z');
  show(when(new Date(d)), new Date(5).getTime(), new Date(true).getTime(), new Date(null).getTime(), new Date(undefined).getTime(), new Date(1e20).getTime(), new Date(2024, 1, 3).getMonth(), new Date(2024, 0, 1, 0, 0, 0, 7).getMilliseconds(), typeof new Date().getTime());
  show(when(new Date(['2024-01-02'])), when(new Date(new String('2024-01-02'))), when(new Date({ valueOf: () => 7 })), when(new Date({ toString: () => '2024-01-02', valueOf: () => ({}) })), when(new Date({ [Symbol.toPrimitive]: (hint) => hint === 'default' ? '2024-01-02' : 0 })), when(new Date(new Number(8))));
  for (const f of [() => new Date(Symbol('x')), () => new Date(1n), () => new Date({ valueOf() { throw new TypeError('mine'); } }), () => new Date({ toString: 1, valueOf: 1 }), () => Date.parse(Symbol('x'))]) {
    try { show(f()); } catch (e) { show(e.name, e.message === 'mine'); }
  }
  class Day extends Date { day() { return this.toISOString().slice(0, 10); } }
  const day = new Day('Jan 2 2024 UTC');
  show(day.day(), day instanceof Day, day instanceof Date, day.constructor === Day, Object.prototype.toString.call(day));
  function Old(text) { return Reflect.construct(Date, [text], new.target); }
  Old.prototype = Object.create(Date.prototype, { constructor: { value: Old } });
  show(when(new Old('2024-01-02')), new Old('2024-01-02') instanceof Old, Object.getPrototypeOf(Reflect.construct(Date, [0], Array)) === Array.prototype);
  show(typeof Date(), Date.length, Date.name, Date.parse.name, Date.parse.length, new Date(0).constructor === Date, d instanceof Date, Object.getOwnPropertyNames(Date).sort(), Object.keys(Date), Date.prototype.constructor === Date, globalThis.Date === Date);
  show(Object.getOwnPropertyDescriptor(globalThis, 'Date').enumerable, Object.getOwnPropertyDescriptor(Date, 'parse').writable, Object.getOwnPropertyDescriptor(Date, 'prototype').writable, typeof Date.now(), Date.UTC(2024, 1));
  show(structuredClone(d).getTime() === d.getTime(), structuredClone(d) instanceof Date, JSON.stringify({ d }), String(new Date('x')), [new Date('2024-01-02'), new Date('x')]);
  console.log(d, [new Date(NaN)], { at: day }, Date);
  Date.more = 1;
  show(Date.more, delete Date.more, Date.more ?? 'gone', Reflect.ownKeys(Date).length);
}
