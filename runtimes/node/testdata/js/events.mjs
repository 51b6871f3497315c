import EventEmitter, { once, on, errorMonitor } from 'node:events';
export default async function () {
  const log = (...a) => console.log(...a);
  const e = new EventEmitter(); const seen = [];
  e.on('newListener', (n) => seen.push('new:' + String(n)));
  const f = (...a) => seen.push('f' + a.join(''));
  e.on('x', f); e.once('x', (v) => seen.push('once' + v)); e.prependListener('x', () => seen.push('first')); e.prependOnceListener('x', () => seen.push('firstonce'));
  log(e.emit('x', 1, 2), e.emit('x', 3), e.emit('none'), seen.join());
  log(e.listenerCount('x'), e.eventNames(), e.listeners('x').length, e.rawListeners('x').length, e.getMaxListeners(), EventEmitter.defaultMaxListeners);
  e.off('x', f); log(e.listenerCount('x')); e.removeAllListeners('x'); log(e.listenerCount('x'), e.emit('x'));
  for (const g of [() => e.emit('error', new Error('boom')), () => e.emit('error', 'text'), () => e.emit('error'), () => e.emit('error', { a: 1 }), () => e.on('x', 1), () => e.setMaxListeners(-1)]) { try { g(); } catch (err) { log(err.name, err.code, err.message); } }
  const m = new EventEmitter(); m.on(errorMonitor, (err) => log('monitor', err.message)); m.on('error', (err) => log('handled', err.message)); m.emit('error', new Error('seen'));
  setTimeout(() => e.emit('later', 1, 2), 2); log(await once(e, 'later')); setTimeout(() => e.emit('error', new Error('in once')), 2); try { await once(e, 'never'); } catch (err) { log(err.message); }
  setTimeout(() => { e.emit('tick', 1); e.emit('tick', 2); e.emit('tick', 3); }, 2); let n = 0; for await (const [v] of on(e, 'tick')) { log('tick', v); if (++n === 3) break; } log(e.listenerCount('tick'));
  const c = new AbortController(); setTimeout(() => c.abort(), 2); try { await once(e, 'never', { signal: c.signal }); } catch (err) { log(err.name, err.code); }
  class Mine extends EventEmitter { constructor() { super(); this.on('a', function () { log(this === me); }); } } const me = new Mine(); me.emit('a'); log(me instanceof EventEmitter, EventEmitter.EventEmitter === EventEmitter);
  const order = []; e.on('self', function h() { order.push(1); e.off('self', h); }); e.on('self', () => order.push(2)); e.emit('self'); e.emit('self'); log(order.join());
  e.on('removeListener', (t) => log('removed', t)); const k = () => {}; e.on('k', k); e.removeListener('k', k); const sym = Symbol('s'); e.on(sym, () => {}); log(e.eventNames().includes(sym));
  // EventTarget
  const t = new EventTarget(); const ev = []; const h = (x) => ev.push(x.type + x.target.constructor.name);
  t.addEventListener('a', h); t.addEventListener('a', h); t.addEventListener('a', { handleEvent(x) { ev.push('obj' + x.type); } }); t.addEventListener('a', () => ev.push('once'), { once: true }); t.addEventListener('a', (x) => x.preventDefault());
  log(t.dispatchEvent(new Event('a', { cancelable: true })), t.dispatchEvent(new Event('a')), ev.join()); t.removeEventListener('a', h); t.addEventListener('s', (x) => { x.stopImmediatePropagation(); ev.push('s1'); }); t.addEventListener('s', () => ev.push('s2')); t.dispatchEvent(new Event('s')); log(ev.join());
  const ce = new CustomEvent('c', { detail: 5 }); log(ce.detail, ce.type, ce instanceof Event, new Event('q').bubbles, Event.AT_TARGET); for (const g of [() => new Event(), () => t.addEventListener('x'), () => t.dispatchEvent({}), () => new AbortSignal()]) { try { g(); } catch (err) { log(err.name, err.code, err.message); } }
  const ac = new AbortController(); ac.signal.onabort = () => log('onabort'); ac.signal.addEventListener('abort', (x) => log('abort', x.type, ac.signal.aborted)); log(ac.signal.aborted, ac.signal.reason); ac.abort(); ac.abort('again'); log(ac.signal.reason.name, ac.signal.reason.message, ac.signal.reason.code); try { ac.signal.throwIfAborted(); } catch (err) { log(err === ac.signal.reason); }
  log(AbortSignal.abort('why').reason, AbortSignal.abort().reason.name); const to = AbortSignal.timeout(5); setTimeout(() => {}, 10); await once(to, 'abort'); log(to.reason.name, to.reason.message, to.reason.code); const a1 = new AbortController(), any = AbortSignal.any([a1.signal, AbortSignal.timeout(10000)]); a1.abort('any'); log(any.aborted, any.reason, AbortSignal.any([AbortSignal.abort(1)]).reason, AbortSignal.any([]).aborted);
  const d = new DOMException('m', 'AbortError'); log(d.name, d.code, d.message, d instanceof Error, String(d), DOMException.ABORT_ERR, new DOMException().name, Object.prototype.toString.call(d), DOMException.DATA_CLONE_ERR, DOMException.INVALID_STATE_ERR);
}
