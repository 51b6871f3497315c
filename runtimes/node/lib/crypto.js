'use strict';
// node:crypto: hashes, random bytes, derived keys. Ciphers, keys, signatures and the API of
// the web are in libraries of their own, which are loaded when they are used.
const { nodeError, invalidArgType, outOfRange, check } = require('internal/errors');
const { bytesOf, isArrayBuffer, encodingOf } = require('internal/buffer');
const { textOrView, anyBytes, output, callback, viewTypes, invalidDigest } = require('internal/crypto_shared');
const unsupported = require('internal/unsupported');
const { lazyStream } = require('internal/lazy_stream');

const cipher = () => require('internal/crypto_cipher'), keys = () => require('internal/crypto_keys'), signing = () => require('internal/crypto_sign');

const finished = () => nodeError('Error', 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
const making = Symbol('making');

// Hashes. The state is the host's; a stream gives its digest at the end.
class Hash {
  #state; #done = false;
  constructor(algorithm, options) {
    if (algorithm === making) this.#state = options;
    else {
      check.string(algorithm, 'algorithm');
      const length = options?.outputLength;
      if (length !== undefined) check.integer(length, 'options.outputLength', 0, 2 ** 32 - 1);
      this.#state = host.hash(algorithm, undefined, length);
      if (this.#state === undefined) throw new Error('Digest method not supported');
    }
    this._options = algorithm === making ? undefined : options;
  }
  update(value, encoding) {
    if (this.#done) throw finished();
    this.#state.update(textOrView(value, encoding, 'data'));
    return this;
  }
  digest(encoding) {
    if (this.#done) throw finished();
    this.#done = true;
    return output(this.#state.digest(), encoding && encodingOfOutput(encoding));
  }
  copy(options) {
    if (this.#done) throw finished();
    return new Hash(making, this.#state.copy(options?.outputLength));
  }
  _transform(chunk, encoding, done) { this.update(chunk, encoding); done(); }
  _flush(done) { this.push(this.digest()); done(); }
}

class Hmac {
  #state; #done = false;
  constructor(algorithm, key, options) {
    check.string(algorithm, 'hmac');
    const encoding = options?.encoding;
    const bytes = secretBytes(key, encoding);
    this.#state = host.hash(algorithm, bytes);
    if (this.#state === undefined) throw invalidDigest(algorithm);
    this._options = options;
  }
  update(value, encoding) {
    if (this.#done) throw finished();
    this.#state.update(textOrView(value, encoding, 'data'));
    return this;
  }
  digest(encoding) {
    if (this.#done) return output(new ArrayBuffer(0), encoding);
    this.#done = true;
    return output(this.#state.digest(), encoding && encodingOfOutput(encoding));
  }
  _transform(chunk, encoding, done) { this.update(chunk, encoding); done(); }
  _flush(done) { this.push(this.digest()); done(); }
}
for (const kind of [Hash, Hmac]) {
  for (const name of ['_transform', '_flush', 'update', 'digest', 'copy']) if (kind.prototype[name]) Object.defineProperty(kind.prototype, name, { enumerable: true });
  lazyStream(kind, 'Transform', (object) => object._options);
}

const encodingOfOutput = (encoding) => encoding === 'buffer' ? encoding : encodingOf(encoding);

// secretBytes gives the bytes of a secret: text, bytes, or a key that was made of them.
function secretBytes(key, encoding) {
  if (typeof key !== 'string' && !ArrayBuffer.isView(key) && !isArrayBuffer(key) && key !== null && typeof key === 'object') {
    const secret = keys().secretOf(key);
    if (secret !== undefined) return secret;
  }
  return anyBytes(key, 'key', encoding, [...viewTypes, 'KeyObject', 'CryptoKey']);
}

// new works without "new" in Node.
const callable = (kind) => new Proxy(kind, { apply: (target, self, args) => new target(...args) });

function hash(algorithm, value, encoding = 'hex') {
  check.string(algorithm, 'algorithm');
  const bytes = textOrView(value, 'utf8', 'input', ['Buffer', 'TypedArray', 'DataView', 'string']);
  const state = host.hash(algorithm);
  if (state === undefined) throw new Error('Digest method not supported');
  state.update(bytes);
  return output(state.digest(), encodingOfOutput(encoding));
}

// Random bytes.
function randomBytes(size, done) {
  check.number(size, 'size');
  if (!(size >= 0 && size <= 2147483647)) throw outOfRange('size', '>= 0 && <= 2147483647', size);
  if (done !== undefined) check.function(done, 'callback');
  const bytes = Buffer.alloc(size);
  host.random(bytes);
  if (done === undefined) return bytes;
  setImmediate(done, null, bytes);
}

function randomFillSync(buffer, offset = 0, size) {
  if (!ArrayBuffer.isView(buffer) && !isArrayBuffer(buffer)) throw nodeError('TypeError', 'ERR_INVALID_ARG_TYPE', invalidArgType('buf', ['ArrayBuffer', 'ArrayBufferView'], buffer).message);
  const unit = buffer.BYTES_PER_ELEMENT ?? 1, all = bytesOf(buffer);
  check.number(offset, 'offset');
  const from = offset * unit;
  if (!(from >= 0 && from <= all.length)) throw outOfRange('offset', `>= 0 && <= ${all.length}`, from);
  let count = all.length - from;
  if (size !== undefined) {
    check.number(size, 'size');
    count = size * unit;
    if (!(count >= 0 && count <= 2147483647)) throw outOfRange('size', '>= 0 && <= 2147483647', count);
    if (count + from > all.length) throw outOfRange('size + offset', `<= ${all.length}`, count + from);
  }
  host.random(all.subarray(from, from + count));
  return buffer;
}

function randomFill(buffer, offset, size, done) {
  if (typeof offset === 'function') { done = offset; offset = undefined; size = undefined; } else if (typeof size === 'function') { done = size; size = undefined; }
  check.function(done, 'callback');
  randomFillSync(buffer, offset, size);
  setImmediate(done, null, buffer);
}

function randomInt(min, max, done) {
  const minNotSpecified = max === undefined || typeof max === 'function';
  if (minNotSpecified) { done = max; max = min; min = 0; }
  if (done !== undefined) check.function(done, 'callback');
  if (!Number.isSafeInteger(min)) throw invalidArgType('min', 'a safe integer', min);
  if (!Number.isSafeInteger(max)) throw invalidArgType('max', 'a safe integer', max);
  if (max <= min) throw outOfRange('max', `greater than the value of "min" (${min})`, max);
  const range = max - min;
  if (range > 2 ** 48 - 1) throw outOfRange(minNotSpecified ? 'max' : 'max - min', '<= 281474976710655', range);
  const limit = 2 ** 48 - (2 ** 48 % range);
  const bytes = new Uint8Array(6);
  let n;
  do { host.random(bytes); n = bytes.reduce((sum, byte) => sum * 256 + byte, 0); } while (n >= limit);
  n = n % range + min;
  if (done === undefined) return n;
  setImmediate(done, undefined, n);
}

function randomUUID(options) {
  if (options !== undefined) {
    check.object(options, 'options');
    if (options.disableEntropyCache !== undefined) check.boolean(options.disableEntropyCache, 'options.disableEntropyCache');
  }
  return host.uuid();
}

function timingSafeEqual(a, b) {
  for (const [name, value] of [['buf1', a], ['buf2', b]]) if (!ArrayBuffer.isView(value) && !isArrayBuffer(value)) throw nodeError('TypeError', 'ERR_INVALID_ARG_TYPE', `The "${name}" argument must be an instance of ArrayBuffer, Buffer, TypedArray, or DataView.`);
  if (a.byteLength !== b.byteLength) throw nodeError('RangeError', 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH', 'Input buffers must have the same byte length');
  return host.equal(bytesOf(a), bytesOf(b));
}

// Keys that are derived from passwords and other keys.
const toBuffer = (value) => Buffer.from(value);
const lengthOf = (value) => { check.number(value, 'keylen'); if (!Number.isInteger(value)) throw outOfRange('keylen', 'an integer', value); if (value < 0 || value > 2147483647) throw outOfRange('keylen', '>= 0 && <= 2147483647', value); return value; };

function pbkdf2Args(password, salt, iterations, keylen, digest) {
  check.string(digest, 'digest');
  password = anyBytes(password, 'password');
  salt = anyBytes(salt, 'salt');
  check.number(iterations, 'iterations');
  if (!Number.isInteger(iterations)) throw outOfRange('iterations', 'an integer', iterations);
  if (iterations < 1 || iterations > 2147483647) throw outOfRange('iterations', '>= 1 && <= 2147483647', iterations);
  return ['pbkdf2', password, salt, iterations, lengthOf(keylen), digest];
}
function pbkdf2(password, salt, iterations, keylen, digest, done) {
  if (typeof digest === 'function') { done = digest; digest = undefined; }
  const args = pbkdf2Args(password, salt, iterations, keylen, digest);
  check.function(done, 'callback');
  if (host.hash(digest) === undefined) throw invalidDigest(digest);
  host.start(callback(done, toBuffer), ...args);
}

function scryptArgs(password, salt, keylen, options) {
  password = anyBytes(password, 'password');
  salt = anyBytes(salt, 'salt');
  lengthOf(keylen);
  const values = { N: 16384, r: 8, p: 1, maxmem: 33554432 };
  const other = { cost: 'N', blockSize: 'r', parallelization: 'p' };
  for (const [long, short] of Object.entries(other)) {
    const a = options?.[short] !== undefined, b = options?.[long] !== undefined;
    if (a && b) throw nodeError('Error', 'ERR_CRYPTO_SCRYPT_INVALID_PARAMETER', 'Invalid scrypt parameter');
    const name = a ? short : long;
    if (a || b) { check.integer(options[name], name, 0, 2 ** 32 - 1); values[short] = options[name] || values[short]; }
  }
  if (options?.maxmem !== undefined) { check.integer(options.maxmem, 'maxmem', 0); values.maxmem = options.maxmem; }
  return ['scrypt', password, salt, keylen, values.N, values.r, values.p, values.maxmem];
}
function scrypt(password, salt, keylen, options, done) {
  if (done === undefined) { done = options; options = undefined; }
  const args = scryptArgs(password, salt, keylen, options);
  check.function(done, 'callback');
  host.start(callback(done, toBuffer), ...args);
}

function hkdfArgs(digest, key, salt, info, length) {
  check.string(digest, 'digest');
  key = secretBytes(key);
  salt = anyBytes(salt, 'salt');
  info = anyBytes(info, 'info');
  check.number(length, 'length');
  if (!Number.isInteger(length)) throw outOfRange('length', 'an integer', length);
  if (length < 0 || length > 2147483647) throw outOfRange('length', '>= 0 && <= 2147483647', length);
  if (info.byteLength > 1024) throw outOfRange('info', 'must not contain more than 1024 bytes', info.byteLength);
  const state = host.hash(digest);
  if (state === undefined) throw invalidDigest(digest);
  if (length > 255 * state.digest().byteLength) throw nodeError('RangeError', 'ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length');
  return ['hkdf', digest, key, salt, info, length];
}
function hkdf(digest, key, salt, info, length, done) {
  const args = hkdfArgs(digest, key, salt, info, length);
  check.function(done, 'callback');
  host.start(callback(done), ...args);
}

const crypto = {
  createHash: (algorithm, options) => new Hash(algorithm, options), createHmac: (algorithm, key, options) => new Hmac(algorithm, key, options), hash,
  randomBytes, randomFill, randomFillSync, randomInt, randomUUID, timingSafeEqual,
  pbkdf2, pbkdf2Sync: (...args) => toBuffer(host.sync(...pbkdf2Args(...args))), scrypt, scryptSync: (...args) => toBuffer(host.sync(...scryptArgs(...args))),
  hkdf, hkdfSync: (...args) => host.sync(...hkdfArgs(...args)),
  getHashes: () => host.hashNames(), getCiphers: () => host.cipherNames(), getCurves: () => ['prime256v1', 'secp224r1', 'secp384r1', 'secp521r1'],
  getFips: () => 0, setFips(on) { if (on) throw nodeError('Error', 'ERR_UNSUPPORTED_IN_HOST', 'crypto.setFips is not available to handlers of this host; the mode is that of the host'); },
  secureHeapUsed: () => ({ total: 0, min: 0, used: 0, utilization: 0 }), setEngine: unsupported.member('crypto', 'setEngine'),
};
crypto.pseudoRandomBytes = crypto.rng = crypto.prng = randomBytes;
for (const name of ['pseudoRandomBytes', 'rng', 'prng']) Object.defineProperty(crypto, name, { enumerable: false });

// What other libraries have.
for (const [home, names] of [
  [cipher, ['createCipheriv', 'createDecipheriv', 'getCipherInfo', 'publicEncrypt', 'privateDecrypt', 'privateEncrypt', 'publicDecrypt']],
  [keys, ['createSecretKey', 'createPrivateKey', 'createPublicKey', 'generateKeyPair', 'generateKeyPairSync', 'generateKey', 'generateKeySync', 'diffieHellman', 'createECDH']],
  [signing, ['createSign', 'createVerify', 'sign', 'verify']],
]) for (const name of names) crypto[name] = { [name]: (...args) => home()[name](...args) }[name];
for (const name of ['createDiffieHellman', 'createDiffieHellmanGroup', 'getDiffieHellman', 'DiffieHellman', 'DiffieHellmanGroup', 'generatePrime', 'generatePrimeSync', 'checkPrime', 'checkPrimeSync', 'X509Certificate', 'Certificate']) {
  crypto[name] = unsupported.member('crypto', name);
}

const lazy = (name, make) => Object.defineProperty(crypto, name, { configurable: true, enumerable: true, get() { const value = make(); Object.defineProperty(crypto, name, { value, configurable: true, enumerable: true, writable: true }); return value; } });
lazy('Hash', () => callable(Hash));
lazy('Hmac', () => callable(Hmac));
for (const name of ['Cipheriv', 'Decipheriv']) lazy(name, () => callable(cipher()[name]));
for (const name of ['Sign', 'Verify']) lazy(name, () => callable(signing()[name]));
lazy('ECDH', () => keys().ECDH);
lazy('KeyObject', () => keys().KeyObject);
lazy('constants', () => require('internal/crypto_constants'));
lazy('webcrypto', () => require('internal/webcrypto').crypto);
lazy('subtle', () => require('internal/webcrypto').crypto.subtle);
lazy('getRandomValues', () => require('internal/webcrypto').getRandomValues);

// The promise forms of those whose callback gets more than one value.
const promisified = Symbol.for('nodejs.util.promisify.custom');
Object.defineProperty(crypto.generateKeyPair, promisified, { value: (type, options) => new Promise((resolve, reject) => crypto.generateKeyPair(type, options, (error, publicKey, privateKey) => error ? reject(error) : resolve({ publicKey, privateKey }))) });

module.exports = crypto;
