import punycode from 'node:punycode';
import util, { parseArgs, styleText, MIMEType, promisify, callbackify, debuglog, inherits, isDeepStrictEqual, stripVTControlCharacters, TextDecoder } from 'node:util';
import { StringDecoder } from 'node:string_decoder';
import querystring from 'node:querystring';
import timers from 'node:timers/promises';
import { performance, PerformanceObserver, createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { createRequire, isBuiltin, builtinModules } from 'node:module';
import dc from 'node:diagnostics_channel';
import tty from 'node:tty';
import os from 'node:os';
import v8 from 'node:v8';
import vm from 'node:vm';
import { Worker, isMainThread } from 'node:worker_threads';
import constants from 'node:constants';

const attempt = async (name, f) => { try { console.log(name, await f()); } catch (e) { console.log(name, 'threw', e?.name, e?.code, e?.message ?? e); } };

export default async function () {
  console.log(punycode.encode('mañana'), punycode.decode('maana-pta'), punycode.toASCII('żółw.example.com'), punycode.toUnicode('xn--w-uga1v8h.example.com'), punycode.encode('☃-⌘'), punycode.ucs2.decode('a😀'), punycode.toASCII('a@b.ñ'));
  await attempt('punycode', () => punycode.decode('ł-'));
  await attempt('punycode', () => punycode.decode('%'));

  // util
  console.log(styleText('red', 'x'), JSON.stringify(styleText(['bold', 'underline'], 'y')), stripVTControlCharacters('\u001b[31mred\u001b[39m'));
  await attempt('style', () => styleText('nope', 'x'));
  console.log(parseArgs({ args: ['-f', '--bar', 'b', 'pos'], options: { foo: { type: 'boolean', short: 'f' }, bar: { type: 'string' }, baz: { type: 'string', default: 'd' } }, allowPositionals: true }));
  console.log(parseArgs({ args: ['-xy=1', '--m', '1', '--m=2', '--', '-z'], options: { m: { type: 'string', multiple: true } }, strict: false, tokens: true }));
  for (const config of [{ args: ['--nope'] }, { args: ['pos'] }, { args: ['--s'], options: { s: { type: 'string' } } }, { args: ['--b=1'], options: { b: { type: 'boolean', short: 'b' } } }, { args: ['--s', '-x'], options: { s: { type: 'string', short: 's' } } }, { args: [], options: { s: { type: 'x' } } }, { args: [], options: { s: { type: 'string', short: 'ab' } } }, { args: 5 }]) await attempt('parseArgs', () => parseArgs(config));
  const mime = new MIMEType('text/HTML; charset=utf-8; q="a b"');
  console.log(mime.type, mime.subtype, mime.essence, String(mime), mime.params.get('charset'), [...mime.params], JSON.stringify(mime));
  mime.type = 'application'; mime.subtype = 'json'; mime.params.set('x', 'y z'); mime.params.delete('q');
  console.log(String(mime), mime.params.has('q'), String(new MIMEType('a/b;c="\\"q";c=2;bad')));
  await attempt('mime', () => new MIMEType('nope'));
  await attempt('mime', () => new MIMEType('a b/c'));
  class Thing { static [promisify.custom] = () => Promise.resolve('custom'); }
  console.log(await promisify(Object.assign((cb) => cb(), { [promisify.custom]: Thing[promisify.custom] }))(), await promisify((a, cb) => cb(null, a, 2))(1));
  await attempt('promisify', () => promisify(5));
  await attempt('rejects', () => promisify((cb) => cb(new Error('e')))());
  await new Promise((resolve) => callbackify(async (x) => x)(3, (e, v) => { console.log('callbackify', e, v); resolve(); }));
  await new Promise((resolve) => callbackify(async () => { throw null; })((e) => { console.log(e.code, e.message, e.reason); resolve(); }));
  function Old() {} function Base() {} inherits(Old, Base);
  console.log(new Old() instanceof Base, Old.super_ === Base, debuglog('x').enabled);
  console.log(isDeepStrictEqual({ a: [1, new Map([[1, { b: 2 }]])] }, { a: [1, new Map([[1, { b: 2 }]])] }), isDeepStrictEqual(new Set([{ a: 1 }]), new Set([{ a: 2 }])), isDeepStrictEqual([, 1], [undefined, 1]), isDeepStrictEqual(NaN, NaN), isDeepStrictEqual(0, -0));
  console.log(util.getSystemErrorName(-2), util.getSystemErrorName(-111), util.getSystemErrorMap().get(-13), util.types.isProxy(new Proxy({}, {})), util.toUSVString('\ud800'), util.format('%s %d %i %f %j %o %O %c%%', 'a', '1', 2.5, '3.5', { a: 1 }, [1], { b: 2 }, 'css'));
  console.log(new TextDecoder('latin1').decode(new Uint8Array([0xe9])), typeof util.types.isKeyObject, typeof util.aborted, typeof util.getCallSite);
  const ac = new AbortController(); setTimeout(() => ac.abort(), 1);
  await util.aborted(ac.signal, {});
  console.log(util.types.isUint8Array(Buffer.alloc(1)), util.types.isAsyncFunction(async () => {}), util.types.isGeneratorFunction(function* () {}), util.transferableAbortController?.().signal.aborted);

  // string_decoder, querystring
  for (const encoding of ['utf8', 'utf16le', 'base64', 'hex', 'latin1']) { const d = new StringDecoder(encoding); let s = ''; for (const b of Buffer.from('zaż€😀')) s += d.write(Buffer.from([b])); console.log(encoding, s + d.end()); }
  const d = new StringDecoder('utf8');
  console.log(d.write(Buffer.from([0xe2, 0x82])), d.lastNeed, d.lastTotal, d.end(), d.encoding);
  await attempt('decoder', () => new StringDecoder('nope'));
  console.log(querystring.stringify({ a: [1, 'b c', true], d: null, e: undefined, f: 5n, g: {}, 'ż': '&=' }), querystring.stringify({ a: 1, b: 2 }, ';', ':'));
  console.log(querystring.parse('a=1&a=2&b=%20c+d&=x&e&%zz=%c5%bc&f=1=2'), querystring.parse('a:1;b:2', ';', ':', { maxKeys: 1 }), querystring.escape('a b&'), querystring.unescape('%41%'));

  // timers/promises
  console.log(await timers.setTimeout(1, 'v'), await timers.setImmediate('i'), await timers.scheduler.wait(1), await timers.scheduler.yield());
  let n = 0;
  for await (const v of timers.setInterval(1, 'tick')) { console.log(v); if (++n === 3) break; }
  await attempt('abort', () => timers.setTimeout(1000, 0, { signal: AbortSignal.abort('why') }));
  await attempt('interval', async () => { const c = new AbortController(); for await (const v of timers.setInterval(1, 0, { signal: c.signal })) c.abort(v); });
  await attempt('options', () => timers.setTimeout(1, 0, 5));
  await attempt('ref', () => timers.setTimeout(1, 0, { ref: 'x' }));

  // perf_hooks
  performance.mark('a', { detail: { x: 1 } }); performance.mark('b');
  const m = performance.measure('m', 'a', 'b');
  console.log(m.name, m.entryType, m.duration >= 0, performance.getEntriesByName('a').length, performance.getEntriesByType('measure').length, performance.mark('c', { startTime: 5 }).startTime, performance.measure('x', { start: 1, duration: 2 }).duration);
  await attempt('measure', () => performance.measure('q', 'missing'));
  performance.clearMarks('a'); performance.clearMeasures();
  console.log(performance.getEntries().map((e) => e.name).filter((x) => x !== 'node').join(), performance.timerify((x) => x * 2)(4), typeof performance.now(), typeof performance.timeOrigin);
  const entries = await new Promise((resolve) => { const o = new PerformanceObserver((list, self) => { self.disconnect(); resolve(list.getEntries().map((e) => [e.name, e.entryType, e.detail])); }); o.observe({ entryTypes: ['mark'] }); performance.mark('seen', { detail: 7 }); });
  console.log(entries, PerformanceObserver.supportedEntryTypes.includes('mark'));
  const h = createHistogram();
  h.record(1); h.record(10); h.record(5n);
  console.log(h.min, h.max, h.mean, h.count, h.exceeds, h.percentile(50), h.stddev > 0);
  await attempt('histogram', () => h.record(0));
  h.reset(); console.log(h.count, typeof monitorEventLoopDelay().enable);
  console.log(typeof performance.eventLoopUtilization().utilization, Object.prototype.toString.call(performance));

  // module, diagnostics_channel, tty, os, constants
  const require = createRequire(import.meta.url);
  console.log(require('node:path').join('a', 'b'), require.resolve('fs'), isBuiltin('node:fs'), isBuiltin('nope'), builtinModules.includes('zlib'));
  await attempt('require', () => { try { require('./nope.cjs'); } catch (e) { return e.code; } });
  await attempt('createRequire', () => createRequire('relative'));
  const channel = dc.channel('c'), got = [];
  dc.subscribe('c', (message, name) => got.push([message, name]));
  channel.publish({ a: 1 });
  console.log(got, channel.hasSubscribers, dc.hasSubscribers('none'), channel === dc.channel('c'));
  const tracing = dc.tracingChannel('t'), events = [];
  const handlers = {}; for (const e of ['start', 'end', 'asyncStart', 'asyncEnd', 'error']) handlers[e] = (x) => events.push(e + (x.result ?? x.error?.message ?? ''));
  tracing.subscribe(handlers);
  console.log(tracing.traceSync(() => 1, {}), await tracing.tracePromise(async () => 2, {}), await new Promise((resolve) => tracing.traceCallback((cb) => cb(null, 3), 0, {}, null, (e, v) => resolve(v))), events.join());
  tracing.unsubscribe(handlers);
  console.log(tty.isatty(0) === true || tty.isatty(0) === false, os.EOL === '\n', typeof os.hostname(), os.constants.signals.SIGTERM, os.constants.errno.ENOENT, constants.O_RDONLY, constants.SIGINT, os.platform() === process.platform, os.devNull);
  class MyWorker extends Worker {}
  class MyScript extends vm.Script {}
  console.log(isMainThread, typeof MyWorker, typeof MyScript, typeof v8.serialize);

  // process
  console.log(typeof process.hrtime()[1], typeof process.hrtime.bigint(), process.uptime() > 0, typeof process.memoryUsage().heapUsed, typeof process.memoryUsage.rss(), process.version, process.versions.node, process.release.name, process.argv.length > 0, typeof process.pid, process.exitCode, process.cwd().length > 0, process.platform.length > 0, String(process));
  console.log(process.emitWarning.length >= 0, process.once('exit', () => {}) === process, typeof process.umask(), Object.keys(process.cpuUsage()), Object.keys(process.resourceUsage()).length > 2, process.features.inspector !== undefined, process.hrtime([0, 0]).length, process.env.NOPE, 'NOPE' in process.env, typeof process.constrainedMemory, process.getuid() >= 0);
  await attempt('nextTick', () => process.nextTick(5));
}
