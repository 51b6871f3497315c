'use strict';
const { inspect, format, formatWithOptions, stripVTControlCharacters } = require('internal/inspect');
const { nodeError, invalidArgType, invalidArgValue, outOfRange, check } = require('internal/errors');
const { kindOf, proxyParts } = host;

const customPromisify = Symbol.for('nodejs.util.promisify.custom');

function promisify(original) {
  check.function(original, 'original');
  const own = original[customPromisify];
  if (own) {
    check.function(own, 'util.promisify.custom');
    return Object.defineProperty(own, customPromisify, { value: own, enumerable: false, writable: false, configurable: true });
  }
  function f(...args) {
    return new Promise((resolve, reject) => {
      Reflect.apply(original, this, [...args, (error, ...values) => error ? reject(error) : resolve(values[0])]);
    });
  }
  Object.setPrototypeOf(f, Object.getPrototypeOf(original));
  Object.defineProperty(f, customPromisify, { value: f, enumerable: false, writable: false, configurable: true });
  const own_ = Object.getOwnPropertyDescriptors(original);
  for (const key of Reflect.ownKeys(own_)) { try { Object.defineProperty(f, key, own_[key]); } catch { /* a property of every function */ } }
  return f;
}
promisify.custom = customPromisify;

function callbackify(original) {
  check.function(original, 'original');
  function f(...args) {
    const done = args.pop();
    check.function(done, 'last argument');
    const call = (...values) => process.nextTick(() => Reflect.apply(done, this, values));
    Reflect.apply(original, this, args).then((value) => call(null, value), (reason) => {
      if (!reason) { const error = nodeError('Error', 'ERR_FALSY_VALUE_REJECTION', 'Promise was rejected with falsy value'); error.reason = reason; reason = error; }
      call(reason);
    });
  }
  Object.defineProperty(f, 'name', { value: `${original.name}Callbackified`, configurable: true });
  return f;
}

function inherits(constructor, parent) {
  check.function(constructor, 'ctor');
  check.function(parent, 'superCtor');
  if (parent.prototype === undefined) throw invalidArgType('superCtor.prototype', 'Object', parent.prototype);
  Object.defineProperty(constructor, 'super_', { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(constructor.prototype, parent.prototype);
}

const warned = new Set();
function deprecate(f, message, code) {
  if (code !== undefined) check.string(code, 'code');
  let told = false;
  function deprecated(...args) {
    if (!told) {
      told = true;
      if (code === undefined || !warned.has(code)) { warned.add(code); process.emitWarning(message, 'DeprecationWarning', code); }
    }
    return new.target && this instanceof deprecated ? Reflect.construct(f, args, new.target) : Reflect.apply(f, this, args);
  }
  Object.setPrototypeOf(deprecated, f);
  if (f.prototype) deprecated.prototype = f.prototype;
  return deprecated;
}

const tagOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;
const is = (...kinds) => (value) => value !== null && (typeof value === 'object' || typeof value === 'function') && kinds.includes(kindOf(value));
const source = (f) => typeof f === 'function' ? Function.prototype.toString.call(f) : '';
const types = {
  isExternal: () => false, isDate: is('Date'), isArgumentsObject: is('Arguments'), isBigIntObject: is('BigInt'), isBooleanObject: is('Boolean'), isNumberObject: is('Number'),
  isStringObject: is('String'), isSymbolObject: is('Symbol'), isBoxedPrimitive: is('BigInt', 'Boolean', 'Number', 'String', 'Symbol'), isNativeError: is('Error'), isRegExp: is('RegExp'),
  isAsyncFunction: (f) => /^async\b/.test(source(f)), isGeneratorFunction: (f) => /^(async\s+)?(function\s*\*|\*)/.test(source(f)), isGeneratorObject: is('Generator'), isPromise: is('Promise'), isMap: is('Map'), isSet: is('Set'),
  isMapIterator: is('Map Iterator'), isSetIterator: is('Set Iterator'), isWeakMap: is('WeakMap'), isWeakSet: is('WeakSet'), isArrayBuffer: is('ArrayBuffer'), isAnyArrayBuffer: is('ArrayBuffer'),
  isDataView: is('DataView'), isSharedArrayBuffer: () => false, isProxy: is('Proxy'), isModuleNamespaceObject: () => false,
  isCryptoKey: (value) => value?.[Symbol.toStringTag] === 'CryptoKey' && require('internal/webcrypto').handleOf(value) !== undefined, isKeyObject: (value) => value?.[Symbol.toStringTag] === 'KeyObject' && require('internal/crypto_keys').infoOf(value) !== undefined,
  isArrayBufferView: ArrayBuffer.isView, isTypedArray: (value) => ArrayBuffer.isView(value) && tagOf.call(value) !== undefined,
};
for (const name of ['Uint8Array', 'Uint8ClampedArray', 'Uint16Array', 'Uint32Array', 'Int8Array', 'Int16Array', 'Int32Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array']) {
  types[`is${name}`] = (value) => ArrayBuffer.isView(value) && tagOf.call(value) === name;
}

// equal compares deeply; strict compares types and prototypes too, loose as == does.
function equal(a, b, strict, seen) {
  if (a === b) return a !== 0 || !strict || Object.is(a, b);
  const objects = a !== null && b !== null && typeof a === 'object' && typeof b === 'object';
  if (!objects) {
    if (strict) {
      if (typeof a === 'number' && typeof b === 'number') return Number.isNaN(a) && Number.isNaN(b);
      return false;
    }
    if (a === null || typeof a !== 'object') return (b === null || typeof b !== 'object') && (a == b || a !== a && b !== b); // eslint-disable-line eqeqeq
    return false;
  }
  if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  const kind = kindOf(a);
  if (kind !== kindOf(b) || Object.prototype.toString.call(a) !== Object.prototype.toString.call(b)) return false;
  switch (kind) {
    case 'Date': if (!Object.is(Date.prototype.getTime.call(a), Date.prototype.getTime.call(b))) return false; break;
    case 'RegExp': if (a.source !== b.source || a.flags !== b.flags || a.lastIndex !== b.lastIndex) return false; break;
    case 'Error': if (a.message !== b.message || a.name !== b.name || strict && ('cause' in a !== 'cause' in b || !equal(a.cause, b.cause, strict, seen))) return false; break;
    case 'Number': case 'String': case 'Boolean': case 'BigInt': case 'Symbol': if (!Object.is(a.valueOf(), b.valueOf())) return false; break;
    case 'ArrayBuffer': return bytesEqual(new Uint8Array(a), new Uint8Array(b));
    case 'DataView': return bytesEqual(new Uint8Array(a.buffer, a.byteOffset, a.byteLength), new Uint8Array(b.buffer, b.byteOffset, b.byteLength));
    case 'TypedArray':
      if (a.length !== b.length || tagOf.call(a) !== tagOf.call(b)) return false;
      for (let i = 0; i < a.length; i++) if (strict ? !Object.is(a[i], b[i]) : a[i] !== b[i] && !(a[i] !== a[i] && b[i] !== b[i])) return false;
      break;
    case 'Array': if (a.length !== b.length) return false; break;
    case 'Set': case 'Map': if (a.size !== b.size) return false; break;
    case 'Promise': case 'WeakMap': case 'WeakSet': return false;
  }
  const skipIndexes = kind === 'TypedArray';
  const keysA = Object.keys(a).filter((key) => !skipIndexes || !/^\d+$/.test(key)), keysB = Object.keys(b).filter((key) => !skipIndexes || !/^\d+$/.test(key));
  if (keysA.length !== keysB.length || !keysA.every((key) => Object.hasOwn(b, key) && Object.prototype.propertyIsEnumerable.call(b, key))) return false;
  if (strict) {
    const own = (o) => Object.getOwnPropertySymbols(o).filter((key) => Object.prototype.propertyIsEnumerable.call(o, key));
    const symbols = own(a);
    if (symbols.length !== own(b).length || !symbols.every((key) => own(b).includes(key))) return false;
    keysA.push(...symbols);
  }
  seen ??= new Map();
  const before = seen.get(a);
  if (before?.has(b)) return true;
  if (before) before.add(b); else seen.set(a, new Set([b]));
  let same = keysA.every((key) => equal(a[key], b[key], strict, seen));
  if (same && kind === 'Set') same = sameItems([...Set.prototype.values.call(a)], [...Set.prototype.values.call(b)], (x, y) => equal(x, y, strict, seen), (x) => Set.prototype.has.call(b, x));
  if (same && kind === 'Map') {
    same = sameItems([...Map.prototype.entries.call(a)], [...Map.prototype.entries.call(b)], ([k1, v1], [k2, v2]) => equal(k1, k2, strict, seen) && equal(v1, v2, strict, seen), () => false);
  }
  seen.get(a).delete(b);
  return same;
}

function bytesEqual(a, b) { return a.length === b.length && a.every((byte, i) => byte === b[i]); }

// sameItems pairs each item of a with an equal one of b.
function sameItems(a, b, same, has) {
  const left = [...b];
  for (const item of a) {
    let at = -1;
    if (item === null || typeof item !== 'object') { if (has(item)) at = left.findIndex((other) => Object.is(other, item) || other === item); }
    if (at < 0) at = left.findIndex((other) => same(item, other));
    if (at < 0) return false;
    left.splice(at, 1);
  }
  return true;
}

const isDeepStrictEqual = (a, b) => equal(a, b, true);

function parseArgs(config = {}) {
  check.object(config, 'config');
  const { args = [], options = {}, strict = true, allowPositionals = !strict, tokens: wantTokens = false, allowNegative = false } = config;
  if (!Array.isArray(args)) throw invalidArgType('args', 'Array', args);
  check.boolean(strict, 'strict');
  check.boolean(allowPositionals, 'allowPositionals');
  check.object(options, 'options');
  const values = { __proto__: null }, positionals = [], tokens = [];
  const shorts = {};
  for (const name of Object.keys(options)) {
    const type = options[name].type;
    if (type !== 'string' && type !== 'boolean') throw invalidArgType(`options.${name}.type`, "('string|boolean')", type);
    if (options[name].short !== undefined) { if (options[name].short.length !== 1) throw invalidArgValue(`options.${name}.short`, options[name].short, 'must be a single character'); shorts[options[name].short] = name; }
  }
  const store = (name, value) => {
    if (options[name]?.multiple) (values[name] ??= []).push(value ?? true); else values[name] = value ?? true;
  };
  const fail = (code, message) => { throw nodeError('TypeError', code, message); };
  const use = (name, raw, value, inline, index) => {
    const known = Object.hasOwn(options, name);
    if (strict && !known) fail('ERR_PARSE_ARGS_UNKNOWN_OPTION', `Unknown option '${raw}'${allowPositionals ? `. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- "${raw}"` : ''}`);
    const type = options[name]?.type;
    const short = options[name]?.short ? `-${options[name].short}, ` : '';
    if (strict && type === 'string' && value === undefined) fail('ERR_PARSE_ARGS_INVALID_OPTION_VALUE', `Option '${short}--${name} <value>' argument missing`);
    if (strict && type === 'boolean' && value !== undefined) fail('ERR_PARSE_ARGS_INVALID_OPTION_VALUE', `Option '${short}--${name}' does not take an argument`);
    if (strict && type === 'string' && !inline && value.startsWith('-') && value.length > 1) fail('ERR_PARSE_ARGS_INVALID_OPTION_VALUE', `Option '${raw}' argument is ambiguous.\nDid you forget to specify the option argument for '${raw}'?\nTo specify an option argument starting with a dash use '${raw.startsWith('--') ? `${raw}=-XYZ` : `--${name}=-XYZ' or '${raw}-XYZ`}'.`);
    tokens.push({ kind: 'option', name, rawName: raw, index, value, inlineValue: value === undefined ? undefined : inline });
    store(name, value);
  };
  for (let i = 0; i < args.length; i++) {
    const arg = args[i];
    if (arg === '--') { tokens.push({ kind: 'option-terminator', index: i }); for (let j = i + 1; j < args.length; j++) { positionals.push(args[j]); tokens.push({ kind: 'positional', index: j, value: args[j] }); } break; }
    if (arg.startsWith('--')) {
      const eq = arg.indexOf('=');
      const name = arg.slice(2, eq < 0 ? undefined : eq);
      if (eq >= 0) use(name, `--${name}`, arg.slice(eq + 1), true, i);
      else if (options[name]?.type === 'string' && i + 1 < args.length) use(name, arg, args[++i], false, i - 1);
      else use(name, arg, undefined, false, i);
    } else if (arg.startsWith('-') && arg.length > 1) {
      for (let j = 1; j < arg.length; j++) {
        const name = shorts[arg[j]] ?? arg[j];
        if (options[name]?.type === 'string') {
          if (j + 1 < arg.length) use(name, `-${arg[j]}`, arg.slice(j + 1), true, i);
          else if (i + 1 < args.length) { use(name, `-${arg[j]}`, args[i + 1], false, i); i++; } else use(name, `-${arg[j]}`, undefined, false, i);
          break;
        }
        use(name, `-${arg[j]}`, undefined, false, i);
      }
    } else {
      if (!allowPositionals) fail('ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL', `Unexpected argument '${arg}'. This command does not take positional arguments`);
      positionals.push(arg);
      tokens.push({ kind: 'positional', index: i, value: arg });
    }
  }
  for (const name of Object.keys(options)) if (options[name].default !== undefined && values[name] === undefined) values[name] = options[name].default;
  return wantTokens ? { values, positionals, tokens } : { values, positionals };
}

// styleText gives text with the codes of colours; one style alone only where a terminal will show it.
function styleText(styles, text, { validateStream = true, stream } = {}) {
  check.string(text, 'text');
  check.boolean(validateStream, 'options.validateStream');
  if (validateStream && stream !== undefined && typeof stream?.write !== 'function' && typeof stream?.read !== 'function' && typeof stream?.getWriter !== 'function' && typeof stream?.getReader !== 'function') throw invalidArgType('stream', ['ReadableStream', 'WritableStream', 'Stream'], stream);
  let left = '', right = '';
  for (const name of Array.isArray(styles) ? styles : [styles]) {
    const codes = inspect.colors[name];
    if (codes === undefined) throw invalidArgValue('format', name, `must be one of: ${Object.keys(inspect.colors).map((key) => `'${key}'`).join(', ')}`);
    left += `\u001b[${codes[0]}m`;
    right = `\u001b[${codes[1]}m${right}`;
  }
  if (!Array.isArray(styles) && validateStream && stream?.isTTY !== true) return text;
  return left + text + right;
}

// debuglog writes where the environment variable NODE_DEBUG, if it is granted, names the part.
function debuglog(set, made) {
  const name = `${set}`.toUpperCase();
  let on;
  const enabled = () => on ??= `${process.env.NODE_DEBUG ?? ''}`.toUpperCase().split(',').some((part) => part !== '' && new RegExp(`^${part.replace(/[|\\{}()[\]^$+?.]/g, '\\$&').replace(/\*/g, '.*')}$`).test(name));
  const log = (...args) => {
    if (typeof made === 'function') { const f = made; made = undefined; f(log); }
    if (enabled()) process.stderr.write(`${name} ${process.pid}: ${format(...args)}\n`);
  };
  return Object.defineProperty(log, 'enabled', { get: enabled, enumerable: true, configurable: true });
}

const util = {
  inspect, format, formatWithOptions, stripVTControlCharacters, promisify, callbackify, inherits, deprecate, types, isDeepStrictEqual, parseArgs, styleText,
  debuglog,
  toUSVString: (text) => host.toWellFormed(`${text}`),
  getSystemErrorName: (errno) => systemErrors().get(errno)?.[0],
  getSystemErrorMap: () => systemErrors(),
  aborted(signal, resource) {
    if (signal === undefined) return Promise.reject(invalidArgType('signal', 'AbortSignal', signal));
    try { check.signal(signal, 'signal'); if (resource === null || typeof resource !== 'object' && typeof resource !== 'function') throw invalidArgType('resource', 'object', resource); } catch (error) { return Promise.reject(error); }
    return new Promise((resolve) => { if (signal.aborted) resolve(); else signal.addEventListener('abort', () => resolve(), { once: true }); });
  },
  transferableAbortController: () => new AbortController(), transferableAbortSignal: (signal) => signal,

  isArray: Array.isArray, isBoolean: (v) => typeof v === 'boolean', isNull: (v) => v === null, isNullOrUndefined: (v) => v == null, isNumber: (v) => typeof v === 'number', isString: (v) => typeof v === 'string',
  isSymbol: (v) => typeof v === 'symbol', isUndefined: (v) => v === undefined, isRegExp: types.isRegExp, isObject: (v) => v !== null && typeof v === 'object', isDate: types.isDate, isError: (v) => types.isNativeError(v) || v instanceof Error,
  isFunction: (v) => typeof v === 'function', isPrimitive: (v) => v === null || typeof v !== 'object' && typeof v !== 'function', isBuffer: (v) => Buffer.isBuffer(v),
  log: (...args) => console.log(...args), _extend: (target, source_) => source_ === null || typeof source_ !== 'object' ? target : Object.assign(target, source_),
};
util.debug = util.debuglog;
let errorMap;
const systemErrors = () => errorMap ??= new Map(host.systemErrors());
for (const name of ['MIMEType', 'MIMEParams']) Object.defineProperty(util, name, { enumerable: true, configurable: true, get: () => require('internal/mime')[name] });
for (const name of ['TextEncoder', 'TextDecoder']) Object.defineProperty(util, name, { enumerable: true, configurable: true, get: () => require('internal/text_codecs')[name] });
Object.defineProperty(util, Symbol.for('toolhost.equal'), { value: equal, enumerable: false });
module.exports = util;
