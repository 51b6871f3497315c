import { Readable } from 'node:stream';
export default async function () {
  for (const autoDestroy of [true, false]) {
    for (const how of ['end', 'break', 'keep', 'error', 'throw', 'late']) {
      let n = 0;
      const s = new Readable({ autoDestroy, read() { if (n++ < 2) this.push('x'); else if (how === 'error') this.destroy(new Error('boom')); else this.push(null); } });
      s.on('error', () => {});
      try {
        if (how === 'keep') { for await (const c of s.iterator({ destroyOnReturn: false })) break; }
        else if (how === 'late') { await new Promise((r) => setTimeout(r, 5)); for await (const c of s) break; }
        else for await (const c of s) { if (how === 'break') break; if (how === 'throw') throw new Error('mine'); }
      } catch (e) { console.log(e.message); }
      console.log(autoDestroy, how, s.destroyed, s.listenerCount('readable'));
    }
  }
  const it = Readable.from(['a', 'b'])[Symbol.asyncIterator]();
  console.log(await it.next(), await it.return('v'), await it.next());
}
