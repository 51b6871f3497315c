'use strict';
// The Web Cryptography API: crypto, crypto.subtle, CryptoKey.
const { nodeError, invalidArgType } = require('internal/errors');
const { bytesOf, isArrayBuffer } = require('internal/buffer');
const { promised } = require('internal/crypto_shared');
const { tagOf } = require('internal/typed_arrays');
const DOMException = require('internal/dom_exception');

const notSupported = (message = 'Unrecognized algorithm name') => new DOMException(message, 'NotSupportedError');
const operation = (cause) => new DOMException('The operation failed for an operation-specific reason', { name: 'OperationError', cause });
const invalidAccess = (message) => new DOMException(message, 'InvalidAccessError');
const dataError = (message) => new DOMException(message, 'DataError');
const syntaxError = (message) => new DOMException(message, 'SyntaxError');
const invalidThis = (name) => nodeError('TypeError', 'ERR_INVALID_THIS', `Value of "this" must be of type ${name}`);

const making = Symbol('making');
let partsOf; // { handle (what the host tells of the key), algorithm, extractable, usages }

class CryptoKey {
  #parts;
  static { partsOf = (value) => value !== null && typeof value === 'object' && #parts in value ? value.#parts : undefined; }
  constructor(token, parts) {
    if (token !== making) throw nodeError('TypeError', 'ERR_ILLEGAL_CONSTRUCTOR', 'Illegal constructor');
    this.#parts = parts;
  }
  get type() { return mine(this).handle.kind; }
  get extractable() { return mine(this).extractable; }
  get algorithm() { return mine(this).algorithm; }
  get usages() { return mine(this).usages; }
  [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
    if (depth < 0) return this;
    const { type, extractable, algorithm, usages } = this;
    return `CryptoKey ${inspect({ type, extractable, algorithm, usages }, { ...options, depth: options.depth == null ? null : options.depth - 1 })}`;
  }
}
function mine(key) { const parts = partsOf(key); if (parts === undefined) throw invalidThis('CryptoKey'); return parts; }
for (const name of ['type', 'extractable', 'algorithm', 'usages']) Object.defineProperty(CryptoKey.prototype, name, { enumerable: true });
Object.defineProperty(CryptoKey.prototype, Symbol.toStringTag, { configurable: true, value: 'CryptoKey' });

const allUsages = ['encrypt', 'decrypt', 'sign', 'verify', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'];
const makeKey = (handle, algorithm, extractable, usages) => new CryptoKey(making, { handle, algorithm, extractable, usages: allUsages.filter((usage) => usages.includes(usage)) });

// Algorithms.
const algorithmNames = {};
for (const name of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512', 'HMAC', 'AES-CBC', 'AES-CTR', 'AES-GCM', 'AES-KW', 'RSA-OAEP', 'RSA-PSS', 'RSASSA-PKCS1-v1_5', 'ECDSA', 'ECDH', 'Ed25519', 'X25519', 'HKDF', 'PBKDF2']) algorithmNames[name.toLowerCase()] = name;

// normal gives an algorithm as an object with the name as the standard writes it.
function normal(algorithm) {
  const given = typeof algorithm === 'string' ? { name: algorithm } : algorithm;
  if (given === null || typeof given !== 'object') throw notSupported();
  if (given.name === undefined) throw nodeError('TypeError', 'ERR_MISSING_OPTION', "Failed to normalize algorithm: 'name' is required in 'Algorithm'.");
  const name = algorithmNames[`${given.name}`.toLowerCase()];
  if (name === undefined) throw notSupported();
  const out = { ...given, name };
  if (given.hash !== undefined) out.hash = { name: hashOf(given.hash) };
  return out;
}
function hashOf(hash) {
  const name = algorithmNames[`${typeof hash === 'string' ? hash : hash?.name}`.toLowerCase()];
  if (name === undefined || !name.startsWith('SHA-')) throw notSupported();
  return name;
}
const digestName = (hash) => hash.name.toLowerCase().replace('-', '');
const blockSizes = { 'SHA-1': 512, 'SHA-256': 512, 'SHA-384': 1024, 'SHA-512': 1024 };

function source(value, name = 'data') {
  if (isArrayBuffer(value)) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return bytesOf(value);
  throw nodeError('TypeError', 'ERR_INVALID_ARG_TYPE', invalidArgType(name, ['ArrayBuffer', 'Buffer', 'TypedArray', 'DataView'], value).message);
}

function required(algorithm, ...names) {
  for (const name of names) if (algorithm[name] === undefined) throw nodeError('TypeError', 'ERR_MISSING_OPTION', `Failed to normalize algorithm: '${name}' is required in '${algorithm.name}'.`);
}

function keyFor(key, usage, algorithm) {
  const parts = partsOf(key);
  if (parts === undefined) throw invalidArgType('key', 'CryptoKey', key);
  if (algorithm !== undefined && parts.algorithm.name !== algorithm.name) throw invalidAccess('Key algorithm mismatch');
  if (usage !== undefined && !parts.usages.includes(usage)) throw invalidAccess(`Unable to use this key to ${usage}`);
  return parts;
}

// run hands an operation to the host; what fails there says no more than that it failed.
const run = async (...op) => { try { return await promised(...op); } catch (error) { if (error?.name === 'AbortError') throw error; throw operation(error); } };

function checkUsages(usages, allowed, needed = false) {
  if (usages === null || typeof usages !== 'object') throw invalidArgType('keyUsages', 'Array', usages);
  usages = [...usages];
  for (const usage of usages) {
    if (!allUsages.includes(usage)) throw nodeError('TypeError', 'ERR_INVALID_ARG_VALUE', `The argument 'keyUsages' is invalid: '${usage}' is no usage of keys`);
    if (!allowed.includes(usage)) throw syntaxError('Unsupported key usage for this key');
  }
  if (needed && usages.length === 0) throw syntaxError('Usages cannot be empty when importing a secret or private key.');
  return usages;
}

// What keys of an algorithm may be used for: [public or secret, private].
const usagesOf = {
  HMAC: [['sign', 'verify']], 'AES-CBC': [['encrypt', 'decrypt', 'wrapKey', 'unwrapKey']], 'AES-CTR': [['encrypt', 'decrypt', 'wrapKey', 'unwrapKey']], 'AES-GCM': [['encrypt', 'decrypt', 'wrapKey', 'unwrapKey']],
  'AES-KW': [['wrapKey', 'unwrapKey']], HKDF: [['deriveKey', 'deriveBits']], PBKDF2: [['deriveKey', 'deriveBits']],
  'RSA-OAEP': [['encrypt', 'wrapKey'], ['decrypt', 'unwrapKey']], 'RSA-PSS': [['verify'], ['sign']], 'RSASSA-PKCS1-v1_5': [['verify'], ['sign']], ECDSA: [['verify'], ['sign']], Ed25519: [['verify'], ['sign']],
  ECDH: [[], ['deriveKey', 'deriveBits']], X25519: [[], ['deriveKey', 'deriveBits']],
};
const isSecret = (name) => usagesOf[name]?.length === 1;
const isRSA = (name) => name.startsWith('RSA');
const curves = ['P-256', 'P-384', 'P-521'];

async function generateKey(algorithm, extractable, usages) {
  const a = normal(algorithm);
  const [first, second] = usagesOf[a.name] ?? [];
  if (first === undefined || a.name === 'HKDF' || a.name === 'PBKDF2') throw notSupported();
  usages = checkUsages(usages, [...first, ...(second ?? [])]);
  extractable = !!extractable;
  if (isSecret(a.name)) {
    let { length } = a;
    if (a.name === 'HMAC') {
      required(a, 'hash');
      length ??= blockSizes[a.hash.name];
      if (!(length > 0)) throw operation();
    } else {
      required(a, 'length');
      if (![128, 192, 256].includes(length)) throw operation(new RangeError('Invalid key length'));
    }
    if (usages.length === 0) throw syntaxError('Usages cannot be empty when creating a key.');
    const bytes = new Uint8Array(Math.ceil(length / 8));
    host.random(bytes);
    const made = a.name === 'HMAC' ? { name: a.name, length, hash: a.hash } : { name: a.name, length };
    return makeKey(host.sync('secretKey', bytes), made, extractable, usages);
  }
  let made, op;
  if (isRSA(a.name)) {
    required(a, 'modulusLength', 'publicExponent', 'hash');
    const exponent = [...source(a.publicExponent, 'publicExponent')].reduce((n, byte) => n * 256 + byte, 0);
    if (exponent !== 65537) throw operation(new Error('RSA keys are made here with the public exponent 65537 only'));
    made = { name: a.name, modulusLength: a.modulusLength, publicExponent: new Uint8Array(a.publicExponent), hash: a.hash };
    op = ['generate', 'rsa', a.modulusLength];
  } else if (a.name === 'ECDSA' || a.name === 'ECDH') {
    required(a, 'namedCurve');
    if (!curves.includes(a.namedCurve)) throw notSupported('Unrecognized namedCurve');
    made = { name: a.name, namedCurve: a.namedCurve };
    op = ['generate', 'ec', undefined, a.namedCurve];
  } else {
    made = { name: a.name };
    op = ['generate', a.name.toLowerCase()];
  }
  const forPrivate = usages.filter((usage) => second.includes(usage));
  if (forPrivate.length === 0) throw syntaxError('Usages cannot be empty when creating a key.');
  const [publicKey, privateKey] = await run(...op);
  return { publicKey: makeKey(publicKey, made, true, usages.filter((usage) => first.includes(usage))), privateKey: makeKey(privateKey, made, extractable, forPrivate) };
}

// jwkName is what the "alg" of a JWK must be.
function jwkName(a, length) {
  switch (a.name) {
    case 'HMAC': return `HS${a.hash.name === 'SHA-1' ? '1' : a.hash.name.slice(4)}`;
    case 'AES-CBC': case 'AES-CTR': case 'AES-GCM': case 'AES-KW': return `A${length}${a.name.slice(4)}`;
    case 'Ed25519': return a.name;
    case 'RSA-OAEP': return `RSA-OAEP${a.hash.name === 'SHA-1' ? '' : `-${a.hash.name.slice(4)}`}`;
    case 'RSA-PSS': return `PS${a.hash.name === 'SHA-1' ? '1' : a.hash.name.slice(4)}`;
    case 'RSASSA-PKCS1-v1_5': return `RS${a.hash.name === 'SHA-1' ? '1' : a.hash.name.slice(4)}`;
  }
  return undefined;
}

async function importKey(format, data, algorithm, extractable, usages) {
  if (!['raw', 'pkcs8', 'spki', 'jwk'].includes(format)) throw nodeError('TypeError', 'ERR_INVALID_ARG_VALUE', `The argument 'format' is invalid. Received ${require('internal/inspect').inspect(format)}`);
  const a = normal(algorithm);
  const [first, second] = usagesOf[a.name] ?? [];
  if (first === undefined) throw notSupported();
  if (a.name === 'HMAC' || isRSA(a.name)) required(a, 'hash');
  extractable = !!extractable;
  const jwk = format === 'jwk' ? data : undefined;
  if (format === 'jwk') {
    if (data === null || typeof data !== 'object') throw invalidArgType('keyData', 'object', data);
    if (jwk.ext === false && extractable) throw dataError('JWK "ext" Parameter and extractable mismatch');
    if (Array.isArray(jwk.key_ops) && [...usages].some((usage) => !jwk.key_ops.includes(usage))) throw dataError('Key operations and usage mismatch');
  }
  if (isSecret(a.name)) {
    if (format !== 'raw' && format !== 'jwk') throw notSupported(`Unable to import ${a.name} key with format ${format}`);
    const derived = a.name === 'HKDF' || a.name === 'PBKDF2';
    if (derived && format === 'jwk') throw notSupported(`Unable to import ${a.name} key with format ${format}`);
    if (derived && extractable) throw syntaxError(`${a.name} keys are not extractable`);
    usages = checkUsages(usages, first, true);
    let bytes;
    if (jwk) {
      if (jwk.kty !== 'oct') throw dataError('Invalid JWK "kty" Parameter');
      if (typeof jwk.k !== 'string') throw dataError('Invalid keyData');
      bytes = new Uint8Array(Buffer.from(jwk.k, 'base64url'));
    } else bytes = source(data, 'keyData').slice();
    const length = bytes.length * 8;
    if (a.name.startsWith('AES') && ![128, 192, 256].includes(length)) throw dataError('Invalid key length');
    if (a.name === 'HMAC' && length === 0) throw dataError('Zero-length key is not supported');
    if (jwk?.alg !== undefined && jwk.alg !== jwkName(a, length)) throw dataError('JWK "alg" does not match the requested algorithm');
    const made = a.name === 'HMAC' ? { name: a.name, hash: a.hash, length: a.length ?? length } : derived ? { name: a.name } : { name: a.name, length };
    return makeKey(host.sync('secretKey', bytes), made, extractable, usages);
  }
  let handle;
  const invalid = (error) => dataError(error?.message && format === 'jwk' ? 'Invalid JWK' : 'Invalid keyData');
  const curve = a.name === 'ECDSA' || a.name === 'ECDH' ? a.namedCurve : undefined;
  if ((a.name === 'ECDSA' || a.name === 'ECDH') && !curves.includes(curve)) { required(a, 'namedCurve'); throw notSupported('Unrecognized namedCurve'); }
  const isPrivate = format === 'pkcs8' || jwk?.d !== undefined;
  usages = checkUsages(usages, isPrivate ? second : first, isPrivate);
  try {
    if (format === 'raw') {
      if (isRSA(a.name)) throw notSupported(`Unable to import ${a.name} key with format raw`);
      handle = host.sync('keyFromRaw', curve ?? a.name.toLowerCase(), source(data, 'keyData'), false);
    } else if (jwk) {
      const kty = isRSA(a.name) ? 'RSA' : curve ? 'EC' : 'OKP';
      if (jwk.kty !== kty) throw dataError('Invalid JWK "kty" Parameter');
      if (curve && jwk.crv !== curve) throw dataError('JWK "crv" does not match the requested algorithm');
      if (kty === 'OKP' && jwk.crv !== a.name) throw dataError('JWK "crv" Parameter and algorithm name mismatch');
      if (jwk.alg !== undefined && kty === 'RSA' && jwk.alg !== jwkName(a)) throw dataError('JWK "alg" does not match the requested algorithm');
      handle = require('internal/crypto_keys').readJWK(jwk, isPrivate);
    } else handle = host.sync('readKey', source(data, 'keyData'), 'der', format, undefined, isPrivate);
  } catch (error) { if (error instanceof DOMException || error?.code === 'ERR_INVALID_ARG_TYPE' && format !== 'jwk') throw error; throw invalid(error); }
  const type = isRSA(a.name) ? 'rsa' : curve ? 'ec' : a.name.toLowerCase();
  if (handle.type !== type) throw dataError('Invalid key type');
  if (curve && handle.curve !== { 'P-256': 'prime256v1', 'P-384': 'secp384r1', 'P-521': 'secp521r1' }[curve]) throw dataError('Named curve mismatch');
  const made = isRSA(a.name) ? { name: a.name, modulusLength: handle.bits, publicExponent: exponentBytes(handle.exponent), hash: a.hash } : curve ? { name: a.name, namedCurve: curve } : { name: a.name };
  return makeKey(handle, made, extractable, usages);
}

function exponentBytes(n) {
  const bytes = [];
  for (; n > 0; n = Math.floor(n / 256)) bytes.unshift(n % 256);
  return new Uint8Array(bytes);
}

async function exportKey(format, key) {
  const parts = keyFor(key);
  if (!['raw', 'pkcs8', 'spki', 'jwk'].includes(format)) throw nodeError('TypeError', 'ERR_INVALID_ARG_VALUE', `The argument 'format' is invalid. Received ${require('internal/inspect').inspect(format)}`);
  if (!parts.extractable) throw invalidAccess('key is not extractable');
  const { handle, algorithm, usages } = parts;
  const refuse = () => notSupported(`Unable to export a ${format} ${handle.kind} key of algorithm ${algorithm.name}`);
  if (format === 'jwk') {
    const out = require('internal/crypto_keys').jwkFields(handle.handle);
    const alg = jwkName(algorithm, algorithm.length);
    return { key_ops: [...usages], ext: parts.extractable, ...out, ...(alg ? { alg } : {}) };
  }
  try {
    if (format === 'raw') {
      if (handle.kind === 'private' || handle.type === 'rsa') throw refuse();
      return host.sync('rawKey', handle.handle);
    }
    if (handle.kind !== (format === 'pkcs8' ? 'private' : 'public')) throw refuse();
    return host.sync('exportKey', handle.handle, 'der', format);
  } catch (error) { if (error instanceof DOMException) throw error; throw operation(error); }
}

async function sign(algorithm, key, data) { return signature('sign', normal(algorithm), key, undefined, data); }
async function verify(algorithm, key, given, data) { return signature('verify', normal(algorithm), key, given, data); }

async function signature(act, a, key, given, data) {
  const { handle, algorithm } = keyFor(key, act, a);
  data = source(data);
  const expected = act === 'verify' ? source(given, 'signature') : undefined;
  switch (a.name) {
    case 'HMAC': {
      const state = host.hash(digestName(algorithm.hash), new Uint8Array(host.sync('rawKey', handle.handle)));
      state.update(data);
      const made = state.digest();
      if (act === 'sign') return made;
      return expected.byteLength === made.byteLength && host.equal(new Uint8Array(made), expected);
    }
    case 'RSASSA-PKCS1-v1_5': return run(act, digestName(algorithm.hash), data, handle.handle, 1, -2, false, expected);
    case 'RSA-PSS':
      required(a, 'saltLength');
      return run(act, digestName(algorithm.hash), data, handle.handle, 6, a.saltLength, false, expected);
    case 'ECDSA':
      required(a, 'hash');
      return run(act, digestName(a.hash), data, handle.handle, 0, 0, true, expected);
    case 'Ed25519': return run(act, '', data, handle.handle, 0, 0, false, expected);
  }
  throw notSupported();
}

async function encrypt(algorithm, key, data) { return crypt(false, normal(algorithm), keyFor(key, 'encrypt', normal(algorithm)), source(data)); }
async function decrypt(algorithm, key, data) { return crypt(true, normal(algorithm), keyFor(key, 'decrypt', normal(algorithm)), source(data)); }

async function crypt(decrypting, a, { handle, algorithm }, data) {
  if (a.name === 'RSA-OAEP') {
    const label = a.label === undefined ? undefined : source(a.label, 'algorithm.label');
    if (decrypting) return run('decryptRSA', handle.handle, data, digestName(algorithm.hash), label);
    return run('encryptRSA', handle.handle, data, 4, digestName(algorithm.hash), label);
  }
  if (!a.name.startsWith('AES') || a.name === 'AES-KW') throw notSupported();
  const mode = a.name.slice(4).toLowerCase();
  let iv, tagLength = 16;
  if (a.name === 'AES-CTR') {
    required(a, 'counter', 'length');
    iv = source(a.counter, 'algorithm.counter');
    if (iv.length !== 16) throw operation(new RangeError('algorithm.counter must have 16 bytes'));
    if (!(a.length > 0 && a.length <= 128)) throw operation(new RangeError('algorithm.length must be between 1 and 128'));
  } else {
    required(a, 'iv');
    iv = source(a.iv, 'algorithm.iv');
    if (a.name === 'AES-CBC' && iv.length !== 16) throw operation(new RangeError('algorithm.iv must contain exactly 16 bytes'));
  }
  if (a.name === 'AES-GCM') {
    const bits = a.tagLength ?? 128;
    if (![32, 64, 96, 104, 112, 120, 128].includes(bits)) throw operation(new RangeError(`${bits} is not a valid AES-GCM tag length`));
    tagLength = bits / 8;
  }
  try {
    const secret = new Uint8Array(host.sync('rawKey', handle.handle));
    if (a.name === 'AES-CTR' && a.length < 128) checkCounter(iv, a.length, data.length);
    const state = host.cipher(`aes-${algorithm.length}-${mode}`, decrypting, secret, iv);
    if (a.name === 'AES-GCM') {
      if (a.additionalData !== undefined) state.aad(source(a.additionalData, 'algorithm.additionalData'));
      if (decrypting) {
        if (data.length < tagLength) throw new Error('the data is too short for its tag');
        state.setTag(data.subarray(data.length - tagLength));
        data = data.subarray(0, data.length - tagLength);
      }
    }
    const parts = [new Uint8Array(state.update(data)), new Uint8Array(state.final())];
    if (a.name === 'AES-GCM' && !decrypting) parts.push(new Uint8Array(state.tag()).subarray(0, tagLength));
    return joined(parts);
  } catch (error) { if (error instanceof DOMException || error?.code === 'ERR_INVALID_ARG_TYPE') throw error; throw operation(error); }
}

// checkCounter refuses what would let a counter of fewer bits than the block begin again.
function checkCounter(counter, bits, length) {
  let value = 0n;
  for (const byte of counter) value = value * 256n + BigInt(byte);
  const room = (1n << BigInt(bits)) - (value & ((1n << BigInt(bits)) - 1n));
  if (BigInt(Math.ceil(length / 16)) > room) throw new Error('the counter has too few bits for data of this length');
}

function joined(parts) {
  const out = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) { out.set(part, at); at += part.length; }
  return out.buffer;
}

async function deriveBits(algorithm, key, length) {
  const a = normal(algorithm);
  return bitsOf(a, keyFor(key, 'deriveBits', a), length);
}

async function bitsOf(a, { handle }, length) {
  switch (a.name) {
    case 'PBKDF2': case 'HKDF': {
      required(a, 'hash', 'salt', a.name === 'HKDF' ? 'info' : 'iterations');
      if (length === null || length === undefined) throw operation(new Error('length cannot be null'));
      if (length % 8 !== 0 || length < 0) throw operation(new Error('length must be a multiple of 8'));
      const secret = new Uint8Array(host.sync('rawKey', handle.handle)), salt = source(a.salt, 'algorithm.salt');
      if (a.name === 'HKDF') return run('hkdf', digestName(a.hash), secret, salt, source(a.info, 'algorithm.info'), length / 8);
      if (!(a.iterations >= 1)) throw operation(new Error('iterations cannot be zero'));
      return run('pbkdf2', secret, salt, a.iterations, length / 8, digestName(a.hash));
    }
    case 'ECDH': case 'X25519': {
      required(a, 'public');
      const other = keyFor(a.public);
      if (handle.kind !== 'private' || other.handle.kind !== 'public') throw invalidAccess(`algorithm.public must be a public key`);
      if (other.algorithm.name !== a.name) throw invalidAccess('algorithm.public must be a key of the same algorithm');
      if (other.handle.curve !== handle.curve) throw invalidAccess('Named curve mismatch');
      const bits = await run('agree', handle.handle, other.handle.handle);
      if (length === null || length === undefined) return bits;
      const size = Math.ceil(length / 8);
      if (bits.byteLength < size) throw operation(new Error('derived bit length is too small'));
      const cut = bits.slice(0, size);
      if (length % 8 !== 0) new Uint8Array(cut)[size - 1] &= 0xff00 >> (length % 8);
      return cut;
    }
  }
  throw notSupported();
}

async function deriveKey(algorithm, key, derived, extractable, usages) {
  const a = normal(algorithm), d = normal(derived);
  const parts = keyFor(key, 'deriveKey', a);
  let length = null;
  if (d.name.startsWith('AES')) { if (![128, 192, 256].includes(d.length)) throw operation(new Error('Invalid key length')); ({ length } = d); } else if (d.name === 'HMAC') { required(d, 'hash'); length = d.length ?? blockSizes[d.hash.name]; }
  const bits = await bitsOf(a, parts, length);
  return importKey('raw', bits, d, extractable, usages);
}

async function wrapKey(format, key, wrapping, algorithm) {
  const a = normal(algorithm);
  const parts = keyFor(wrapping, 'wrapKey', a);
  const exported = await exportKey(format, key);
  const bytes = format === 'jwk' ? new Uint8Array(Buffer.from(JSON.stringify(exported))) : new Uint8Array(exported);
  if (a.name === 'AES-KW') return run('wrapAES', parts.handle.handle, bytes);
  return crypt(false, a, parts, bytes);
}
async function unwrapKey(format, wrapped, wrapping, algorithm, keyAlgorithm, extractable, usages) {
  const a = normal(algorithm);
  const parts = keyFor(wrapping, 'unwrapKey', a);
  const bytes = a.name === 'AES-KW' ? await run('unwrapAES', parts.handle.handle, source(wrapped, 'wrappedKey')) : await crypt(true, a, parts, source(wrapped, 'wrappedKey'));
  let data = bytes;
  if (format === 'jwk') { try { data = JSON.parse(Buffer.from(bytes).toString()); } catch { throw dataError('Invalid wrapped JWK key'); } }
  return importKey(format, data, keyAlgorithm, extractable, usages);
}

async function digest(algorithm, data) {
  const a = normal(algorithm);
  if (!a.name.startsWith('SHA-')) throw notSupported();
  const state = host.hash(digestName(a));
  state.update(source(data));
  return state.digest();
}

function getRandomValues(view) {
  if (!ArrayBuffer.isView(view) || ['Float32Array', 'Float64Array', undefined].includes(tagOf.call(view))) throw new DOMException('The data argument must be an integer-type TypedArray', 'TypeMismatchError');
  if (view.byteLength > 65536) throw new DOMException(`The requested length exceeds 65,536 bytes`, 'QuotaExceededError');
  host.random(bytesOf(view));
  return view;
}

const functions = { encrypt, decrypt, sign, verify, digest, generateKey, deriveKey, deriveBits, importKey, exportKey, wrapKey, unwrapKey };
const counts = { encrypt: 3, decrypt: 3, sign: 3, verify: 4, digest: 2, generateKey: 3, deriveKey: 5, deriveBits: 3, importKey: 5, exportKey: 2, wrapKey: 4, unwrapKey: 7 };
class SubtleCrypto {
  constructor(token) { if (token !== making) throw nodeError('TypeError', 'ERR_ILLEGAL_CONSTRUCTOR', 'Illegal constructor'); }
}
for (const name of Object.keys(functions)) {
  Object.defineProperty(SubtleCrypto.prototype, name, { enumerable: true, configurable: true, writable: true, value: { async [name](...args) {
    if (this !== subtle) throw invalidThis('SubtleCrypto');
    const wanted = name === 'deriveBits' ? 2 : counts[name];
    if (args.length < wanted) throw nodeError('TypeError', 'ERR_MISSING_ARGS', `Failed to execute '${name}' on 'SubtleCrypto': ${wanted} arguments required, but only ${args.length} present.`);
    return functions[name](...args);
  } }[name] });
}
Object.defineProperty(SubtleCrypto.prototype, Symbol.toStringTag, { configurable: true, value: 'SubtleCrypto' });

class Crypto {
  constructor(token) { if (token !== making) throw nodeError('TypeError', 'ERR_ILLEGAL_CONSTRUCTOR', 'Illegal constructor'); }
  get subtle() { if (this !== crypto) throw invalidThis('Crypto'); return subtle; }
  getRandomValues(view) { if (this !== crypto) throw invalidThis('Crypto'); return getRandomValues(view); }
  randomUUID() { if (this !== crypto) throw invalidThis('Crypto'); return host.uuid(); }
  get CryptoKey() { return CryptoKey; }
}
for (const name of ['subtle', 'getRandomValues', 'randomUUID']) Object.defineProperty(Crypto.prototype, name, { enumerable: true });
Object.defineProperty(Crypto.prototype, 'CryptoKey', { enumerable: false });
Object.defineProperty(Crypto.prototype, Symbol.toStringTag, { configurable: true, value: 'Crypto' });

const subtle = new SubtleCrypto(making), crypto = new Crypto(making);
module.exports = { crypto, Crypto, SubtleCrypto, CryptoKey, getRandomValues, handleOf: (key) => partsOf(key)?.handle };
