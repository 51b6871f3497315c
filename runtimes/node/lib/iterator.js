'use strict';
// Iterator and its helpers.
const proto = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));

function Iterator() {
  if (new.target === undefined || new.target === Iterator) throw new TypeError('Abstract class Iterator not directly constructable');
}
Object.defineProperty(Iterator, 'prototype', { value: proto, writable: false });

const helperProto = Object.create(proto);
const helpers = new WeakMap();
Object.defineProperties(helperProto, {
  next: { configurable: true, writable: true, value() { return helpers.get(this).next(); } },
  return: { configurable: true, writable: true, value() { return helpers.get(this).return(); } },
  [Symbol.toStringTag]: { configurable: true, value: 'Iterator Helper' },
});

function direct(iterator) {
  if (iterator === null || typeof iterator !== 'object' && typeof iterator !== 'function') throw new TypeError(`${String(iterator)} is not an object`);
  return { iterator, next: iterator.next };
}

function step({ iterator, next }) {
  const result = next.call(iterator);
  if (result === null || typeof result !== 'object' && typeof result !== 'function') throw new TypeError(`Iterator result ${String(result)} is not an object`);
  return result;
}

function closeWith(record, error) { try { record.iterator.return?.(); } catch { /* the first error counts */ } throw error; }
const guarded = (record, f) => { try { return f(); } catch (error) { closeWith(record, error); } };

function helper(record, generate) {
  const source = generate(record);
  const made = Object.create(helperProto);
  let started = false, done = false;
  helpers.set(made, {
    next() { started = true; return source.next(); },
    return() {
      if (!started && !done) { done = true; source.return(); record.iterator.return?.(); return { value: undefined, done: true }; }
      return source.return();
    },
  });
  return made;
}

const callable = (f) => { if (typeof f !== 'function') throw new TypeError(`${String(f)} is not a function`); };

// each runs a generator body over a source and closes the source when it is left early.
function over(body) {
  return function* (record) {
    let finished = false;
    try {
      const result = yield* body(record, () => { const r = step(record); if (r.done) finished = true; return r; }, (f) => guarded2(() => { finished = true; }, record, f));
      return result;
    } finally { if (!finished) record.iterator.return?.(); }
  };
}
function guarded2(mark, record, f) { try { return f(); } catch (error) { mark(); closeWith(record, error); } }

function count(n, name) {
  const number = Number(n);
  if (Number.isNaN(number)) throw new RangeError(`${String(n)} must be positive`);
  const whole = Math.trunc(number);
  if (whole < 0) throw new RangeError(`${String(n)} must be positive`);
  return whole;
}

const methods = {
  map(f) { callable(f); return helper(direct(this), over(function* (record, next, call) { for (let i = 0; ; i++) { const r = next(); if (r.done) return; const i_ = i; yield call(() => f(r.value, i_)); } })); },
  filter(f) { callable(f); return helper(direct(this), over(function* (record, next, call) { for (let i = 0; ; i++) { const r = next(); if (r.done) return; const value = r.value, i_ = i; if (call(() => f(value, i_))) yield value; } })); },
  take(n) { n = count(n); return helper(direct(this), over(function* (record, next) { for (let left = n; left > 0; left--) { const r = next(); if (r.done) return; yield r.value; } })); },
  drop(n) { n = count(n); return helper(direct(this), over(function* (record, next) { for (let left = n; ; ) { const r = next(); if (r.done) return; if (left > 0) { left--; continue; } yield r.value; } })); },
  flatMap(f) {
    callable(f);
    return helper(direct(this), over(function* (record, next, call) {
      for (let i = 0; ; i++) {
        const r = next();
        if (r.done) return;
        const i_ = i;
        const inner = call(() => {
          const mapped = f(r.value, i_);
          if (mapped === null || typeof mapped !== 'object' && typeof mapped !== 'function') throw new TypeError(`${String(mapped)} is not an object`);
          return mapped[Symbol.iterator] ? mapped[Symbol.iterator]() : mapped;
        });
        for (;;) { const x = inner.next(); if (x.done) break; yield x.value; }
      }
    }));
  },
  reduce(f, ...initial) {
    callable(f);
    const record = direct(this);
    let i = 0, value;
    if (initial.length > 0) value = initial[0];
    else { const r = step(record); if (r.done) throw new TypeError('Reduce of a done iterator with no initial value'); value = r.value; i = 1; }
    for (;; i++) { const r = step(record); if (r.done) return value; value = guarded(record, () => f(value, r.value, i)); }
  },
  toArray() { const record = direct(this), out = []; for (;;) { const r = step(record); if (r.done) return out; out.push(r.value); } },
  forEach(f) { callable(f); const record = direct(this); for (let i = 0; ; i++) { const r = step(record); if (r.done) return; guarded(record, () => f(r.value, i)); } },
  some(f) { callable(f); const record = direct(this); for (let i = 0; ; i++) { const r = step(record); if (r.done) return false; if (guarded(record, () => f(r.value, i))) { record.iterator.return?.(); return true; } } },
  every(f) { callable(f); const record = direct(this); for (let i = 0; ; i++) { const r = step(record); if (r.done) return true; if (!guarded(record, () => f(r.value, i))) { record.iterator.return?.(); return false; } } },
  find(f) { callable(f); const record = direct(this); for (let i = 0; ; i++) { const r = step(record); if (r.done) return undefined; if (guarded(record, () => f(r.value, i))) { record.iterator.return?.(); return r.value; } } },
};

const wrapProto = Object.create(proto);
const wrapped = new WeakMap();
Object.defineProperties(wrapProto, {
  next: { configurable: true, writable: true, value() { return step(wrapped.get(this)); } },
  return: { configurable: true, writable: true, value() { const { iterator } = wrapped.get(this); return iterator.return ? iterator.return() : { value: undefined, done: true }; } },
});
Object.defineProperty(Iterator, 'from', { configurable: true, writable: true, value(source) {
  if (typeof source !== 'string' && (source === null || typeof source !== 'object' && typeof source !== 'function')) throw new TypeError(`${String(source)} is not an object`);
  const make = source[Symbol.iterator];
  const record = direct(make == null ? source : make.call(source));
  if (proto.isPrototypeOf(record.iterator)) return record.iterator;
  const made = Object.create(wrapProto);
  wrapped.set(made, record);
  return made;
} });

module.exports = { Iterator, methods };
