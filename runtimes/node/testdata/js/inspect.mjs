import util from 'node:util';
export default async function () {
  const log = console.log;
  const i = (v, o) => log(util.inspect(v, o));
  log(1, 'a', true, null, undefined, 10n, Symbol('s'), -0, NaN, [1, 'b', null], { a: 1 });
  i('it\'s'); i('a"b\'c'); i('`a"b\'c'); i('line\nbreak\t\x00\x1b\x7f\u0085'); i('\ud83d'); i('😀');
  i([]); i({}); i([[]]); i([undefined, null]); i([1, , 3]); i([, , ,]); i(Object.assign([1, 2], { x: 1, '-y': 2 })); i([1.5, -2, 1e21]);
  i({ a: { b: { c: { d: 1 } } } }); i({ a: { b: { c: [] } } }); i({ a: { b: { c: {} } } }); i([[[[1]]]]); i({ a: { b: { c: { d: 1 } } } }, { depth: 0 }); i({ a: { b: { c: { d: { e: 1 } } } } }, { depth: null });
  i(new Map([['a', 1], [{ k: 1 }, [2]]])); i(new Set([1, 'x', {}])); i(new Map()); i(new Set()); i(new Map([['m', new Map([['n', new Map([['o', {}]])]])]]));
  i(new Date(0)); i(new Date(NaN)); i(/a\/b/gi); i(function foo() {}); i(() => {}); i(class A {}); i(class B extends Array {}); i(async function af() {}); i(function* g() {}); i(Object.assign(function f() {}, { x: 1 })); i(async () => {}); i(class {});
  i(new Error('msg').message); i(Object.create(null)); i(Object.assign(Object.create(null), { a: 1 })); i(new (class Foo { constructor() { this.a = 1; } })()); i(new (class Foo extends Map {})([[1, 2]])); i(new (class Arr extends Array {})(3));
  const c = { name: 'c' }; c.self = c; c.list = [c, { c }]; i(c); const arr = [1]; arr.push(arr); i(arr); const m = new Map(); m.set('m', m); i(m);
  i({ get a() { return 1; }, set a(v) {}, get b() { return 2; }, set c(v) {} }); i({ get a() { return { x: 1 }; } }, { getters: true });
  i({ [Symbol('k')]: 1, 'a-b': 2, 3: 4, $x: 5, __proto__: { z: 1 } }); i({ fn() {}, arrow: () => {} }); i({ undef: undefined, nul: null });
  i(new Number(3)); i(new String('abc')); i(new Boolean(false)); i(Object(Symbol('q'))); i(Object(5n)); i(Object.assign(new String('hi'), { x: 1 }));
  i(Promise.resolve(4)); i(new Promise(() => {})); const r = Promise.reject(new Error('x')); r.catch(() => {}); i(Promise.resolve({ a: [1] }));
  i(new Uint8Array([1, 2, 3])); i(new Float64Array(2)); i(new BigInt64Array(1)); i(new ArrayBuffer(4)); i(new DataView(new ArrayBuffer(2))); i(new Uint8Array(0)); i(Buffer.from('hey'));
  i(new WeakMap()); i(new WeakSet()); i(Symbol.iterator); i(Symbol('')); i(globalThis === global); i((function () { return arguments; })(1, 2));
  i(Array.from({ length: 120 }, (_, k) => k)); i(Array.from({ length: 7 }, (_, k) => 'item' + k)); i(Array.from({ length: 30 }, (_, k) => k * 1000)); i(Array.from({ length: 27 }, (_, k) => 'x'.repeat(k)));
  i(Array.from({ length: 101 }, () => 'ab')); i(new Set(Array.from({ length: 12 }, (_, k) => k))); i(Array.from({ length: 10 }, (_, k) => ({ k })));
  i('x'.repeat(200)); i(['x'.repeat(100), 'y']); i({ long: 'word '.repeat(30), other: 1 }); i('a\nb'.repeat(20)); i({ t: 'first line\nsecond line that is rather long\nthird' }); i('z'.repeat(10010));
  i({ a: 1, b: 'two', c: [3, 4, { five: 5 }], d: { e: { f: { g: 1 } } }, h: new Map([['key', { v: [1, 2] }]]), i: null, j: undefined, k: () => {}, l: new Date(86400000) });
  i({ aaaaaaaaaaaaaaaaaaaaaaaa: 'bbbbbbbbbbbbbbbbbbbbbbbbbb', cccccccccccccccccccccc: 'ddddddddddddddddd', e: 1 });
  i({ a: 1, b: [1, 2, 3] }, { compact: false }); i([1, 2, [3, { a: 4 }]], { compact: false }); i({ a: { b: 1 } }, { compact: true }); i({ b: 1, a: 2 }, { sorted: true }); i([1, 2, 3, 4], { maxArrayLength: 2 }); i('abcdef', { maxStringLength: 3 }); i({ a: [1, { b: 2 }], s: 'x', n: 5n, u: undefined, f() {}, d: new Date(0), r: /x/ }, { colors: true }); i(1234567.891, { numericSeparator: true }); i([123456789n, -1000], { numericSeparator: true });
  i({ [util.inspect.custom](d, o, ins) { return `custom ${d} ${typeof o.stylize} ${ins === util.inspect}`; } }); i({ inner: { [util.inspect.custom]() { return { made: 1 }; } } }); i({ a: { [util.inspect.custom]: () => 'x\ny' } });
  i(new Proxy({ a: 1 }, {})); i(new Proxy(function f() {}, {})); i(new Proxy([1], {}), { showProxy: true }); i([1], { showHidden: true }); i({ x: Object.defineProperty({}, 'h', { value: 1 }) }, { showHidden: true });
  i(Object.create({}, { constructor: { value: null } })); i(Object.create(class Q {}.prototype)); class T { get [Symbol.toStringTag]() { return 'Tag'; } } i(new T()); i({ [Symbol.toStringTag]: 'own' }); i(Math); i(JSON); i(Reflect.ownKeys({ a: 1 }));
  log('%s %d %i %f %j %o %O %c %%', 'str', '42.5', '42.5', '1.5', { a: 1 }, [1], { b: { c: {} } }, 'css', 'extra', { x: 1 }); log('%s', null, undefined, 5n, Symbol('a')); log('%s', { a: { b: 1 } }, [1, [2, [3]]], () => 1, class X {}); log('%d', {}, '%s'); log('%i %f', 'x', 'y'); log('100%', 1); log('%x', 1); log('a%'); log('%%', 1); log('%s'); log('%s', 'a', 'b'); log('%j', { get x() { return 1; } }); log('%s', new Date(0)); log('%s', Object.create(null)); log('%s', { toString() { return 'mine'; } }); log('%s', -0, 1.0); log('%d', -0, 7n); log('%O', { a: { b: { c: { d: 1 } } } }); log(util.format('%s', new (class Z { toString() { return 'Zs'; } })())); log(util.format(1, 2, '3'), util.format('a', 'b'), util.format(), util.format({}, 'x'));
  const strip = (e) => util.inspect(e).replace(/\n {4,}(at |\.\.\. \d+ lines matching).*/g, '');
  class Foo extends Error {} class MyError extends Error {} class Named extends Error { constructor(m) { super(m); this.name = 'QuotaError'; } }
  log(strip(new Foo('x'))); log(strip(new MyError('x'))); log(strip(new Named('hey'))); log(strip(Object.assign(new Error('c'), { code: 'E1', extra: [1] }))); log(strip(new Error('outer', { cause: new TypeError('inner') }))); log(strip(new AggregateError([new Error('one')], 'many'))); log(strip(new RangeError(''))); log(strip({ e: new Error('nested') })); const bare = new Error('bare'); bare.stack = undefined; log(strip(bare)); const nn = new Error('n'); nn.name = 'Bar'; log(strip(nn)); try { Buffer.alloc('x'); } catch (e) { log(strip(e)); }
  log(new URL('http://u:p@h.com:81/p?q=1#f')); log(new URLSearchParams('a=1&b=2')); log(new AbortController()); log(util.inspect(new Map([[{ a: 1 }, 'b']]).keys()).length > 0);
  log([['a', 1], ['b', 2]], [{ a: 1, b: 2 }, { a: 3, b: 4 }], { x: [{ y: [{ z: 1 }] }] }); log(['a', 'b'].entries().next()); log([1.0, 2.25, -3]); log([true, false]); log(['a'.repeat(20), 'b'.repeat(20), 'c'.repeat(20), 'd'.repeat(20)]); log([['日本', 'ab', 'cd', 'ef', 'gh', 'ij', 'kl', 'mn']]);
}
