import stream, { Readable, Writable, Duplex, Transform, PassThrough, finished } from 'node:stream';
import { finished as done } from 'node:stream/promises';
import crypto from 'node:crypto';

const attempt = async (name, f) => { try { console.log(name, await f()); } catch (e) { console.log(name, 'threw', e?.name, e?.code, e?.message ?? e); } };
const collect = async (s) => { const out = []; for await (const c of s) out.push(c); return out; };
const later = (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value));

export default async function () {
  // Writes that are done at once.
  const order = [];
  const w = new Writable({ write(c, e, cb) { order.push(`write ${c}`); cb(); }, final(cb) { order.push('final'); cb(); } });
  w.on('finish', () => order.push('finish')).on('close', () => order.push('close'));
  w.write('a', () => order.push('a done'));
  w.write('b', () => order.push('b done'));
  w.end('c', () => order.push('end done'));
  order.push('after', w.writableLength, w.writableFinished);
  await done(w);
  await later(1);
  console.log(order.join(', '));
  const many = new Writable({ write(c, e, cb) { cb(); } });
  many.cork();
  for (let i = 0; i < 3000; i++) many.write('x');
  many.uncork();
  many.end();
  await done(many);
  console.log('many', many.writableFinished);
  const t = new Transform({ transform(c, e, cb) { cb(null, String(c).toUpperCase()); } });
  t.end('now');
  console.log(String(t.read()));
  console.log(crypto.createHmac('md5', 'k').update('x').end('y').read().toString('hex'));
  const sign = crypto.createVerify('sha256');
  sign.write('some '); sign.end('data');
  const pair = crypto.generateKeyPairSync('ed25519');
  await attempt('verify', () => sign.verify(crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey, Buffer.alloc(4)));
  void pair;
  const failing = new Writable({ write(c, e, cb) { cb(new Error('no')); } });
  failing.on('error', (e) => order.push(e.message));
  failing.write('1', (e) => console.log('cb', e.message)); failing.write('2', (e) => console.log('cb', e.code, e.message)); failing.end((e) => console.log('end', e?.code));
  await later(2);

  // What arrays have.
  console.log(await Readable.from([3, 1, 2]).map((n) => later(n, n * 2), { concurrency: 3 }).toArray(), await Readable.from([1, 2, 3, 4]).filter(async (n) => n % 2 === 0).toArray());
  console.log(await Readable.from([1, 2, 3]).asIndexedPairs().toArray(), await Readable.from([1, 2, 3]).find((n) => n > 1), await Readable.from([1, 2]).every((n) => n > 0), await Readable.from([]).reduce((a, b) => a + b, 5));
  const seen = [];
  await Readable.from(['a', 'b']).forEach((c) => { seen.push(c); });
  console.log(seen, await Readable.from([1, 2]).flatMap((n) => Readable.from([n, n])).toArray(), await Readable.from([1, 2, 3]).take(0).toArray(), await Readable.from([1]).drop(5).toArray());
  await attempt('map', () => Readable.from([1]).map(5));
  await attempt('concurrency', () => Readable.from([1]).map((x) => x, { concurrency: 0 }));
  await attempt('throwing', () => Readable.from([1, 2]).map((n) => { if (n === 2) throw new Error('two'); return n; }).toArray());
  await attempt('reduce nothing', () => Readable.from([]).reduce((a, b) => a + b));
  await attempt('take', () => Readable.from([1]).take(-1));
  await attempt('aborted', () => Readable.from([1]).toArray({ signal: AbortSignal.abort() }));

  // Streams of the web.
  console.log((await collect(Readable.fromWeb(new ReadableStream({ start(c) { c.enqueue(Buffer.from('a')); c.enqueue('b'); c.close(); } })))).map(String).join(''));
  console.log(await collect(Readable.toWeb(Readable.from(['x', 'y']))), await collect(Readable.toWeb(new Readable({ read() { this.push('bytes'); this.push(null); } }))));
  await attempt('toWeb fails', () => collect(Readable.toWeb(new Readable({ read() { this.destroy(new Error('torn')); } }))));
  await attempt('fromWeb fails', () => collect(Readable.fromWeb(new ReadableStream({ pull() { throw new Error('dry'); } }))));
  await attempt('fromWeb', () => Readable.fromWeb({}));
  const got = [];
  const web = Writable.toWeb(new Writable({ highWaterMark: 2, write(c, e, cb) { got.push(String(c)); setTimeout(cb, 1); } })).getWriter();
  for (const c of ['a', 'bcd', 'e']) await web.write(c);
  await web.close();
  const node = Writable.fromWeb(new WritableStream({ write(c) { got.push(String(c)); }, close() { got.push('closed'); } }));
  node.write('f'); node.end('g');
  await done(node);
  console.log(got.join());
  const pt = Duplex.toWeb(new PassThrough());
  pt.writable.getWriter().write(Buffer.from('through'));
  console.log(Buffer.from((await pt.readable.getReader().read()).value).toString());
  const upper = Duplex.fromWeb(new TransformStream({ transform(c, controller) { controller.enqueue(String(c).toUpperCase()); } }));
  upper.end('shout');
  console.log((await collect(upper)).map(String));

  // Duplex.from and compose.
  console.log(await collect(Duplex.from(['a', 'b'])), await collect(Duplex.from(Promise.resolve('p'))), await collect(Duplex.from(async function* (source) { for await (const c of source) yield String(c).toUpperCase(); }).end('f')));
  await attempt('Duplex.from', () => Duplex.from(5));
  console.log(await Readable.from(['a', 'b']).compose(async function* (source) { for await (const c of source) yield c + c; }).toArray());
  console.log(typeof stream.compose, typeof stream.addAbortSignal, stream.isReadable(Readable.from([])), stream.isDisturbed(Readable.from([])));
  finished(Readable.from(['z']).resume(), (e) => console.log('finished', e));
  await later(2);
}
