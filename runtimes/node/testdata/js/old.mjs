// What old packages use: Annex B, the last match, the prototype of async iterators.
import constants from 'node:constants';
export default async function () {
  const show = (...values) => console.log(JSON.stringify(values));
  const d = new Date(Date.UTC(1999, 11, 31));
  show(d.getYear(), d.toGMTString(), new Date(d).setYear(5), new Date(d).setYear(NaN), new Date(d).setYear(2024), Date.prototype.toGMTString === Date.prototype.toUTCString);
  const o = {};
  o.__defineGetter__('a', () => 5);
  o.__defineSetter__('a', function (v) { this.b = v; });
  o.a = 7;
  show(o, typeof o.__lookupGetter__('a'), typeof o.__lookupSetter__('a'), o.__lookupGetter__('none') === undefined, Object.keys(o));
  show('x'.anchor('a"b'), 'x'.bold(), 'x'.link('u'), 'x'.sup(), 'x'.fontcolor('red'), escape('é b'), unescape('%u0107%20'), 'abc'.substr(-2, 1));
  show(/(\d+)-(\w)/.test('a 12-x z'), RegExp.$1, RegExp.$2, RegExp.$3, RegExp.lastMatch, RegExp.leftContext, RegExp["$'"], RegExp.input, RegExp.lastParen);
  'key=value'.replace(/(\w+)=(\w+)/, '');
  const { $1: key, $2: value } = RegExp;
  show(key, value, /none/.test('x'), RegExp.$1);
  'a1b2'.match(/[a-z](\d)/g);
  show(RegExp.lastMatch, RegExp.$1);
  show(Float64Array.BYTES_PER_ELEMENT, ArrayBuffer.isView(new DataView(new ArrayBuffer(1))), ArrayBuffer[Symbol.species] === ArrayBuffer, Object.getOwnPropertyNames(Float64Array).includes('BYTES_PER_ELEMENT'));
  const TypedArray = Object.getPrototypeOf(Uint8Array);
  show(TypedArray.name, typeof Object.getOwnPropertyDescriptor(TypedArray.prototype, 'buffer').get, Object.getPrototypeOf(Float32Array) === TypedArray, Uint8Array.from([1, 2]).length, Uint16Array.of(1).byteLength);
  const AsyncGeneratorFunctionPrototype = Object.getPrototypeOf(async function* () {});
  const AsyncIteratorPrototype = Object.getPrototypeOf(AsyncGeneratorFunctionPrototype.prototype);
  const made = Object.create(AsyncIteratorPrototype, { next: { value: async () => ({ done: true }) } });
  show(made[Symbol.asyncIterator]() === made, Object.prototype.toString.call(AsyncGeneratorFunctionPrototype.prototype));
  let n = 0;
  for await (const x of made) n++;
  show(n, constants.hasOwnProperty('O_RDONLY'), constants.O_RDONLY, constants.SIGTERM, constants.ENOENT);
  show(typeof SharedArrayBuffer, typeof Object.getOwnPropertyDescriptor(SharedArrayBuffer.prototype, 'byteLength').get, new ArrayBuffer(2) instanceof SharedArrayBuffer);
  show([, 0, 5].find(Boolean), [,].find(Boolean) === undefined, [, , 'x'].findIndex(Boolean), [1, ,].findLast(Boolean), [, 1].findLastIndex(Boolean));
  show(new ArrayBuffer(3).resizable, new ArrayBuffer(3).maxByteLength);
  show(/a/.hasIndices, /a/.unicodeSets, RegExp('[\\p{XID_Start}_]\\p{XID_Continue}*', 'u').exec('1été_2')[0], /^\p{Alphabetic}+$/u.test('ßЖ中'), /\p{Lowercase}/u.test('Aª'));
}
