import timers from 'node:timers';
import { setTimeout as wait, setImmediate as soon, setInterval as every } from 'node:timers/promises';
import { AsyncLocalStorage } from 'node:async_hooks';
export default async function () {
  const seen = [];
  await new Promise((done) => {
    setTimeout(() => { seen.push('t1'); queueMicrotask(() => seen.push('m1')); process.nextTick(() => seen.push('n1')); Promise.resolve().then(() => seen.push('p1')); }, 1);
    setTimeout(() => seen.push('t2'), 10);
    setTimeout((a, b) => seen.push(a + b), 20, 'x', 'y');
    const i = setInterval(() => { seen.push('i'); if (seen.filter((s) => s === 'i').length === 3) { clearInterval(i); done(); } }, 40);
    const dead = setTimeout(() => seen.push('dead'), 2); clearTimeout(dead); clearTimeout(undefined); clearTimeout(null); clearTimeout({}); clearTimeout(dead);
  });
  console.log(seen.join());
  const order = [];
  await new Promise((done) => setTimeout(() => {
    setImmediate(() => order.push('immediate'));
    process.nextTick(() => order.push('tick1', ''));
    Promise.resolve().then(() => { order.push('promise'); process.nextTick(() => order.push('tick in promise')); }).then(() => order.push('promise2'));
    queueMicrotask(() => order.push('micro'));
    process.nextTick(() => { process.nextTick(() => order.push('nested tick')); });
    setTimeout(done, 20);
  }, 1));
  console.log(order.join());
  const t = setTimeout(() => {}, 1000);
  console.log(typeof t, t.hasRef(), t.unref() === t, t.hasRef(), t.ref().hasRef(), typeof t[Symbol.toPrimitive](), t.refresh() === t, t.constructor.name);
  clearTimeout(+t);
  const im = setImmediate(() => console.log('never')); console.log(im.hasRef(), im.constructor.name); clearImmediate(im);
  for (const f of [() => setTimeout('x'), () => setInterval(), () => setImmediate(1), () => queueMicrotask({}), () => process.nextTick(3)]) { try { f(); } catch (e) { console.log(e.name, e.code, e.message); } }
  console.log(await wait(5, 'value'), await soon('now'), timers.setTimeout === setTimeout);
  const c = new AbortController(); const p = wait(1000, 'x', { signal: c.signal }); c.abort();
  try { await p; } catch (e) { console.log(e.name, e.code, e.message, e.cause?.name); }
  let n = 0; for await (const v of every(3, 'tick')) { if (++n === 3) break; } console.log(n);
  const store = new AsyncLocalStorage();
  const inside = await store.run({ id: 7 }, async () => { await null; const a = store.getStore().id; await new Promise((r) => setTimeout(r, 2)); return [a, store.getStore().id, await new Promise((r) => setTimeout(() => r(store.getStore()?.id), 1))]; });
  console.log(inside, store.getStore());
  const { promisify } = await import('node:util');
  console.log(await promisify(setTimeout)(1, 'promisified'));
  let spins = 0, fired = false; setTimeout(() => { fired = true; }, 5);
  await new Promise((done) => { (function spin() { spins++; if (fired) done(); else setImmediate(spin); })(); });
  console.log(fired, spins > 0);
}
