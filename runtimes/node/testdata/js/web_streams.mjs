import * as web from 'node:stream/web';
import { inspect } from 'node:util';

const show = (name, value) => console.log(name, inspect(value, { depth: 6 }));
const attempt = async (name, f) => { try { show(name, await f()); } catch (e) { console.log(name, 'threw', e?.name, e?.code, e?.message ?? e); } };
const all = async (stream) => { const out = []; for await (const chunk of stream) out.push(chunk); return out; };
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export default async function () {
  const names = Object.keys(web).filter((name) => name !== 'default').sort();
  for (const name of names) console.log(name, globalThis[name] === web[name], Object.prototype.toString.call(web[name].prototype), Object.keys(web[name].prototype).sort().join());

  // Reading.
  await attempt('chunks', () => all(new ReadableStream({ start(c) { c.enqueue(1); c.enqueue('b'); c.enqueue({ x: 1 }); c.close(); } })));
  {
    let n = 0;
    const s = new ReadableStream({ pull(c) { if (n < 5) c.enqueue(n++); else c.close(); } }, { highWaterMark: 2 });
    await later(1);
    console.log('pulled ahead', n);
    const r = s.getReader();
    show('locked', [s.locked, await r.read(), await r.read()]);
    await attempt('get a second reader', () => s.getReader());
    await attempt('cancel while locked', () => s.cancel());
    r.releaseLock();
    await attempt('closed after release', () => r.closed);
    await attempt('read after release', () => r.read());
    show('rest', await all(s));
    show('state', s);
  }
  {
    const log = [];
    const s = new ReadableStream({ start(c) { log.push(['start', c.desiredSize]); c.enqueue('x'); log.push(c.desiredSize); }, pull() { log.push('pull'); }, cancel(reason) { log.push(['cancel', reason]); return 'ignored'; } }, { highWaterMark: 3, size: (v) => v.length });
    show('cancel', await s.cancel('why'));
    show('log', log);
    show('after cancel', await s.getReader().read());
  }
  await attempt('error in start', () => new ReadableStream({ start() { throw new Error('no start'); } }));
  await attempt('error in pull', () => all(new ReadableStream({ pull() { throw new Error('no pull'); } })));
  await attempt('controller.error', () => all(new ReadableStream({ start(c) { c.enqueue(1); c.error(new TypeError('bad')); } })));
  await attempt('enqueue after close', () => new ReadableStream({ start(c) { c.close(); c.enqueue(1); } }));
  await attempt('bad size', () => new ReadableStream({ start(c) { c.enqueue(1); } }, { size: () => -1 }));
  await attempt('bad highWaterMark', () => new ReadableStream({}, { highWaterMark: -1 }));
  await attempt('bad type', () => new ReadableStream({ type: 'x' }));
  await attempt('bad pull', () => new ReadableStream({ pull: 1 }));
  await attempt('constructor', () => new web.ReadableStreamDefaultController());
  {
    const s = new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.enqueue(3); c.close(); }, cancel(r) { console.log('cancelled with', r); } });
    for await (const v of s.values({ preventCancel: true })) { console.log('first', v); break; }
    for await (const v of s) { console.log('second', v); break; }
    console.log(s.locked, inspect(s));
  }

  // from
  await attempt('from list', () => all(ReadableStream.from([1, Promise.resolve(2), 3])));
  await attempt('from generator', () => all(ReadableStream.from((async function* () { yield 'a'; yield 'b'; })())));
  await attempt('from failing', () => all(ReadableStream.from((function* () { yield 'a'; throw new Error('gen'); })())));
  await attempt('from nothing', () => ReadableStream.from(5));
  await attempt('from text', () => all(ReadableStream.from('abc')));

  // tee
  {
    const [a, b] = new ReadableStream({ start(c) { c.enqueue({ n: 1 }); c.enqueue(2); c.close(); } }).tee();
    const [x, y] = await Promise.all([all(a), all(b)]);
    show('tee', [x, y, x[0] === y[0]]);
    const reasons = [];
    const s = new ReadableStream({ cancel(r) { reasons.push(r); } });
    const [c, d] = s.tee();
    const p = c.cancel('one');
    await d.cancel('two');
    await p;
    show('tee cancelled', [reasons, s.locked]);
    const [e, f] = new ReadableStream({ pull() { throw new Error('torn'); } }).tee();
    await attempt('tee error 1', () => all(e));
    await attempt('tee error 2', () => all(f));
  }

  // Writing.
  {
    const log = [];
    const w = new WritableStream({ start(c) { log.push(['start', c.signal instanceof AbortSignal]); }, async write(chunk) { await later(1); log.push(['write', chunk]); }, close() { log.push('close'); }, abort(r) { log.push(['abort', r]); } }, { highWaterMark: 2 });
    const writer = w.getWriter();
    show('desired', writer.desiredSize);
    const first = writer.write('a');
    writer.write('b');
    show('desired', writer.desiredSize);
    await writer.ready;
    await first;
    await writer.close();
    show('log', log);
    show('closed', [await writer.closed, writer.desiredSize, w]);
    await attempt('close twice', () => writer.close());
    await attempt('second writer', () => w.getWriter());
    writer.releaseLock();
    await attempt('released', () => writer.closed);
    await attempt('released size', () => writer.desiredSize);
  }
  {
    const w = new WritableStream({ write(chunk) { throw new Error(`cannot write ${chunk}`); } });
    const writer = w.getWriter();
    writer.closed.catch(() => {});
    await attempt('failing write', () => writer.write('a'));
    await attempt('after failing write', () => writer.write('b'));
    await attempt('closed', () => writer.closed);
    show('state', w);
  }
  {
    let controller; const log = [];
    const w = new WritableStream({ start(c) { controller = c; c.signal.addEventListener('abort', () => log.push(['signal', c.signal.reason])); }, abort(r) { log.push(['abort', r]); } });
    await w.abort('stop');
    show('aborted', [log, w, controller.signal.aborted]);
    await attempt('close aborted', () => w.close());
    const e = new WritableStream({ start(c) { c.error('wrong'); } });
    await attempt('errored', () => e.getWriter().write(1));
  }
  await attempt('bad sink type', () => new WritableStream({ type: 1 }));

  // Pipes and transforms.
  {
    const got = [];
    await ReadableStream.from([1, 2, 3]).pipeTo(new WritableStream({ write(c) { got.push(c); }, close() { got.push('end'); } }));
    show('pipeTo', got);
    const double = new TransformStream({ start(c) { c.enqueue('head'); }, transform(chunk, c) { c.enqueue(chunk * 2); }, flush(c) { c.enqueue('tail'); } });
    show('transform', double);
    show('pipeThrough', await all(ReadableStream.from([1, 2, 3]).pipeThrough(double)));
    show('identity', await all(ReadableStream.from(['a', 'b']).pipeThrough(new TransformStream())));
    await attempt('failing transform', () => all(ReadableStream.from([1]).pipeThrough(new TransformStream({ transform() { throw new Error('nope'); } }))));
    await attempt('terminate', () => all(ReadableStream.from([1, 2, 3]).pipeThrough(new TransformStream({ transform(v, c) { c.enqueue(v); if (v === 2) c.terminate(); } }))));
    const cancelled = [];
    await attempt('failing sink', () => new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); }, cancel(r) { cancelled.push(r.message); } }).pipeTo(new WritableStream({ write() { throw new Error('full'); } })));
    show('cancelled', cancelled);
    const aborted = [];
    await attempt('failing source', () => new ReadableStream({ start(c) { c.error(new Error('dry')); } }).pipeTo(new WritableStream({ abort(r) { aborted.push(r.message); } })));
    show('aborted', aborted);
    const controller = new AbortController();
    const piping = new ReadableStream({ pull(c) { return later(1).then(() => c.enqueue('x')); } }).pipeTo(new WritableStream(), { signal: controller.signal });
    setTimeout(() => controller.abort(), 5);
    await attempt('abort a pipe', () => piping);
    await attempt('aborted before', () => ReadableStream.from([1]).pipeTo(new WritableStream(), { signal: AbortSignal.abort('early') }));
    const w = new WritableStream();
    await ReadableStream.from([1]).pipeTo(w, { preventClose: true });
    show('not closed', w);
    await attempt('pipe to what is none', () => new ReadableStream().pipeTo({}));
    await attempt('pipe through what is none', () => new ReadableStream().pipeThrough({}));
  }

  // Bytes.
  {
    const s = new ReadableStream({ type: 'bytes', start(c) { c.enqueue(new Uint8Array([1, 2, 3, 4, 5])); c.enqueue(new Uint8Array([6, 7])); c.close(); } });
    show('byte stream', s);
    const r = s.getReader({ mode: 'byob' });
    show('byob', await r.read(new Uint8Array(3)));
    show('byob 16', await r.read(new Uint16Array(1)));
    show('byob big', await r.read(new Uint8Array(10)));
    show('byob end', await r.read(new Uint8Array(2)));
    let turn = 0;
    const t = new ReadableStream({ type: 'bytes', autoAllocateChunkSize: 4, pull(c) {
      const request = c.byobRequest;
      if (turn++ === 2) { c.close(); request?.respond(0); return; }
      request.view[0] = turn; request.view[1] = turn * 10;
      request.respond(2);
    } });
    show('auto', await all(t));
    const u = new ReadableStream({ type: 'bytes', pull(c) { const v = c.byobRequest.view; v[0] = 9; c.byobRequest.respondWithNewView(new Uint8Array(v.buffer, v.byteOffset, 1)); } });
    const ur = u.getReader({ mode: 'byob' });
    show('new view', await ur.read(new Uint8Array(4)));
    await attempt('empty view', () => ur.read(new Uint8Array(0)));
    const [a, b] = new ReadableStream({ type: 'bytes', start(c) { c.enqueue(new Uint8Array([1, 2])); c.close(); } }).tee();
    show('byte tee', [await all(a), await all(b)]);
    await attempt('byob of no bytes', () => new ReadableStream().getReader({ mode: 'byob' }));
    await attempt('size of bytes', () => new ReadableStream({ type: 'bytes' }, { size: () => 1 }));
    await attempt('enqueue no bytes', () => new ReadableStream({ type: 'bytes', start(c) { c.enqueue('x'); } }));
  }

  // Strategies and codecs.
  show('strategy', [new CountQueuingStrategy({ highWaterMark: 3 }), new ByteLengthQueuingStrategy({ highWaterMark: 9 }).size(new Uint8Array(4))]);
  await attempt('no strategy', () => new CountQueuingStrategy({}));
  show('encode', await all(ReadableStream.from(['zażółć ', '\ud83d', '\ude00', '\ud83d']).pipeThrough(new TextEncoderStream())));
  show('decode', await all(ReadableStream.from([new Uint8Array([0xc5]), new Uint8Array([0xbc, 0x41]), new Uint8Array([0xe2])]).pipeThrough(new TextDecoderStream())));
  await attempt('fatal', () => all(ReadableStream.from([new Uint8Array([0xff])]).pipeThrough(new TextDecoderStream('utf-8', { fatal: true }))));
  show('codec', [new TextEncoderStream().encoding, new TextDecoderStream('latin1').encoding]);
}
