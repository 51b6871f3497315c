import zlib, { gzipSync, gunzipSync, constants } from 'node:zlib';
import { promisify } from 'node:util';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { buffer } from 'node:stream/consumers';

const attempt = async (name, f) => { try { console.log(name, await f()); } catch (e) { console.log(name, 'threw', e?.name, e?.code, e?.errno, e?.message ?? e); } };
const text = 'zażółć gęślą jaźń '.repeat(2000);

export default async function () {
  console.log(Object.keys(zlib).sort().join(' '));
  console.log(zlib.constants, zlib.codes);
  for (const [pack, unpack] of [['gzip', 'gunzip'], ['deflate', 'inflate'], ['deflateRaw', 'inflateRaw'], ['gzip', 'unzip'], ['deflate', 'unzip'], ['brotliCompress', 'brotliDecompress']]) {
    const packed = zlib[`${pack}Sync`](text), again = await promisify(zlib[pack])(Buffer.from(text));
    console.log(pack, unpack, packed.length < 2000, zlib[`${unpack}Sync`](packed).toString() === text, (await promisify(zlib[unpack])(again)).toString() === text, Buffer.isBuffer(packed));
  }
  console.log(gzipSync('').subarray(0, 10).toString('hex'), zlib.deflateSync('').subarray(0, 2).toString('hex'));
  for (const level of [-1, 1, 9]) console.log(level, gunzipSync(gzipSync(text, { level })).length, gzipSync(text, { level })[8]);
  const g = Buffer.from('1f8b0800000000000003cb48cdc9c95728cf2fca4951c840b0013bcee2ea17000000', 'hex');
  const changed = (at, value) => { const b = Buffer.from(g); b[(at + b.length) % b.length] = value; return b; };
  await attempt('known', () => gunzipSync(g).toString());
  await attempt('kinds of input', () => [gunzipSync(new Uint8Array(g)), gunzipSync(new DataView(g.buffer, g.byteOffset, g.length)), zlib.gzipSync(new Uint16Array([1, 2])).length > 10].map(String));
  await attempt('garbage', () => gunzipSync('garbage'));
  await attempt('garbage inflate', () => zlib.inflateSync(Buffer.from('garbage')));
  await attempt('garbage raw', () => zlib.inflateRawSync(Buffer.from('garbage')));
  await attempt('garbage stored', () => zlib.inflateRawSync(Buffer.from([0, 1, 2, 3, 4, 5])));
  await attempt('cut', () => gunzipSync(g.subarray(0, 20)));
  await attempt('cut, lenient', () => gunzipSync(g.subarray(0, 24), { finishFlush: constants.Z_SYNC_FLUSH }).toString());
  await attempt('empty', () => gunzipSync(Buffer.alloc(0)));
  await attempt('trailing text', () => gunzipSync(Buffer.concat([g, Buffer.from('xyz')])));
  await attempt('trailing zeros', () => gunzipSync(Buffer.concat([g, Buffer.alloc(5)])).toString());
  await attempt('two members', () => gunzipSync(Buffer.concat([g, g])).toString());
  await attempt('trailing magic', () => gunzipSync(Buffer.concat([g, Buffer.from([0x1f, 0x8b, 255, 255])])));
  await attempt('checksum', () => gunzipSync(changed(-6, 0)));
  await attempt('length', () => gunzipSync(changed(-1, 7)));
  await attempt('method', () => gunzipSync(changed(2, 7)));
  await attempt('flags', () => gunzipSync(changed(3, 0xe0)));
  await attempt('limit', () => gunzipSync(g, { maxOutputLength: 5 }));
  await attempt('limit later', () => promisify(zlib.gunzip)(g, { maxOutputLength: 5 }));
  const d = Buffer.from('789c4b4c4a0600024d0127', 'hex');
  await attempt('zlib', () => zlib.inflateSync(d).toString());
  await attempt('zlib checksum', () => { const b = Buffer.from(d); b[10] ^= 1; return zlib.inflateSync(b); });
  await attempt('zlib trailing', () => zlib.inflateSync(Buffer.concat([d, Buffer.from('zzz')])).toString());
  await attempt('unzip neither', () => zlib.unzipSync(Buffer.from([0x1f, 0, 0])));
  const packed = zlib.deflateSync('hello hello', { dictionary: Buffer.from('hello') });
  await attempt('dictionary', () => zlib.inflateSync(packed, { dictionary: Buffer.from('hello') }).toString());
  await attempt('no dictionary', () => zlib.inflateSync(packed));
  await attempt('bad dictionary', () => zlib.inflateSync(packed, { dictionary: Buffer.from('x') }));
  await attempt('raw dictionary', () => zlib.inflateRawSync(zlib.deflateRawSync('abcabc', { dictionary: Buffer.from('abc') }), { dictionary: Buffer.from('abc') }).toString());
  for (const options of [{ level: 10 }, { level: 'x' }, { chunkSize: 1 }, { windowBits: 5 }, { memLevel: 0 }, { strategy: 9 }, { flush: 99 }, { finishFlush: -1 }, { maxOutputLength: 0 }, { level: NaN }, { level: Infinity }, { dictionary: 5 }, 'x']) {
    await attempt(JSON.stringify(options), () => gunzipSync(gzipSync('a', options)).toString());
  }
  for (const value of [5, null, undefined, {}, []]) await attempt('input', () => gzipSync(value));
  await attempt('no callback', () => zlib.gzip('a'));
  await attempt('info', () => { const r = gzipSync('abc', { info: true }); return [Object.keys(r), r.engine.bytesWritten, r.engine.constructor.name]; });
  await attempt('brotli garbage', () => zlib.brotliDecompressSync(Buffer.from('garbage')));
  await attempt('brotli cut', () => zlib.brotliDecompressSync(zlib.brotliCompressSync('hello hello hello').subarray(0, 8)));
  await attempt('brotli empty', () => zlib.brotliDecompressSync(Buffer.alloc(0)));
  await attempt('brotli known', () => zlib.brotliDecompressSync(Buffer.from('CwWAaGVsbG8gd29ybGQD', 'base64')).toString());
  await attempt('brotli limit', () => zlib.brotliDecompressSync(zlib.brotliCompressSync(Buffer.alloc(100000)), { maxOutputLength: 1000 }));
  await attempt('brotli quality', () => zlib.brotliDecompressSync(zlib.brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })).length);
  await attempt('brotli param', () => zlib.brotliCompressSync('a', { params: { 9999: 1 } }));
  await attempt('brotli value', () => zlib.brotliCompressSync('a', { params: { 1: 'x' } }));
  console.log(zlib.crc32('hello'), zlib.crc32(Buffer.from('world'), zlib.crc32('hello')));
  await attempt('crc32', () => zlib.crc32(5));

  // Streams.
  console.log(zlib.Gzip() instanceof zlib.Gzip, zlib.createGunzip().constructor === zlib.Gunzip, new zlib.Inflate({ chunkSize: 64 }) instanceof zlib.Inflate);
  const chunks = [];
  await pipeline(Readable.from([text, text]), zlib.createGzip(), zlib.createGunzip(), new Writable({ write(c, e, done) { chunks.push(c); done(); } }));
  console.log(Buffer.concat(chunks).toString() === text + text, chunks.length > 1);
  const one = zlib.createInflate();
  const parts = zlib.deflateSync(text);
  for (const byte of parts) one.write(Buffer.from([byte]));
  one.end();
  console.log((await buffer(one)).toString() === text, one.bytesWritten === parts.length, one.destroyed, one._closed);
  const flushed = zlib.createDeflateRaw(), got = [];
  flushed.on('data', (c) => got.push(c));
  flushed.write('first ');
  await new Promise((resolve) => flushed.flush(resolve));
  console.log('flushed', zlib.inflateRawSync(Buffer.concat(got), { finishFlush: constants.Z_SYNC_FLUSH }).toString());
  flushed.end('second');
  await new Promise((resolve) => flushed.on('end', resolve));
  console.log('ended', zlib.inflateRawSync(Buffer.concat(got)).toString());
  for (const make of ['createGunzip', 'createInflate', 'createInflateRaw', 'createBrotliDecompress']) await attempt(make, () => buffer(zlib[make]().end('not packed at all')));
  await attempt('stream cut', () => buffer(zlib.createGunzip().end(g.subarray(0, 20))));
  await attempt('stream of two', async () => (await buffer(zlib.createGunzip().end(Buffer.concat([g, g])))).toString());
  await attempt('stream brotli', async () => (await buffer(Readable.from([zlib.brotliCompressSync(text)]).pipe(zlib.createBrotliDecompress()))).length);
  const bomb = zlib.createGunzip();
  bomb.end(gzipSync(Buffer.alloc(20_000_000)));
  let seen = 0;
  for await (const chunk of bomb) { seen += chunk.length; if (seen > 100000) break; }
  console.log('bomb', seen < 1000000, bomb.destroyed);
  const closed = zlib.createGzip();
  await new Promise((resolve) => closed.close(resolve));
  console.log('closed', closed.destroyed, closed._closed);

  // The streams of the web.
  const all = async (stream) => { const out = []; for await (const chunk of stream) out.push(chunk); return Buffer.concat(out); };
  for (const format of ['gzip', 'deflate', 'deflate-raw']) {
    const packed = await all(ReadableStream.from([Buffer.from(text)]).pipeThrough(new CompressionStream(format)));
    console.log(format, packed.length < 2000, (await all(ReadableStream.from([packed]).pipeThrough(new DecompressionStream(format)))).toString() === text);
  }
  await attempt('format', () => new CompressionStream('zip'));
}
