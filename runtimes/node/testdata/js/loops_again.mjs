// What a loop threw in one round must not be there in the next.
const later = () => new Promise((r) => setTimeout(r, 1));
async function* numbers(log) { try { yield 1; yield 2; } finally { log.push('returned'); } }
const broken = (k) => ({ [Symbol.asyncIterator]: () => ({ next: () => (k === 2 ? Promise.reject(new Error('next')) : Promise.resolve({ value: k, done: false })), return: async () => { console.log('return', k); return {}; } }) });

export default async function () {
  for (const k of [1, 2, 3]) {
    const log = [];
    try {
      for await (const n of numbers(log)) if (k === 1) throw new Error(`thrown in ${k}`);
      console.log('whole', k, log);
    } catch (e) { console.log('caught', k, e.message, log); }
  }
  for (const k of [1, 2, 3]) {
    try { for await (const n of broken(k)) break; console.log('left', k); } catch (e) { console.log('caught', k, e.message); }
  }
  for (const k of [1, 2]) {
    try { for await (const n of k === 2 ? null : [1]) break; console.log('left', k); } catch (e) { console.log('caught', k, e.name); }
  }
  outer: for (const k of [1, 2]) {
    inner: for await (const n of numbers([])) { if (n === 1) continue inner; if (k === 1) continue outer; console.log('labels', k, n); }
  }
  async function* outside() {
    for (const k of [1, 2]) try { for await (const n of numbers([])) { if (k === 1) throw new Error('inside'); yield n; } } catch (e) { yield e.message; }
  }
  const got = [];
  for await (const x of outside()) got.push(x);
  console.log(got);
  await later();
}
