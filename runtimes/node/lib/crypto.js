'use strict';
const { nodeError, invalidArgType, outOfRange, check } = require('internal/errors');
const { bytesOf, encode, encodingOf } = require('internal/buffer');
const unsupported = require('internal/unsupported');

function input(value, encoding, name) {
  if (typeof value === 'string') return new Uint8Array(encode(value, encodingOf(encoding === 'buffer' ? 'utf8' : encoding)));
  if (ArrayBuffer.isView(value)) return bytesOf(value);
  throw invalidArgType(name, ['string', 'Buffer', 'TypedArray', 'DataView'], value);
}

const output = (buffer, encoding) => encoding === undefined || encoding === 'buffer' ? Buffer.from(buffer) : Buffer.from(buffer).toString(encoding);
const named = (algorithm) => algorithm.toLowerCase().replace(/^rsa-/, '').replace(/^sha-(?=\d)/, 'sha').replace('/', '-');

class Hash {
  #state; #done = false; #name;
  constructor(algorithm, state) { this.#name = algorithm; this.#state = state; }
  update(value, encoding) {
    if (this.#done) throw nodeError('Error', 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
    this.#state.update(input(value, encoding, 'data'));
    return this;
  }
  digest(encoding) {
    if (this.#done) {
      if (this instanceof Hmac) return output(new ArrayBuffer(0), encoding);
      throw nodeError('Error', 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
    }
    this.#done = true;
    return output(this.#state.digest(), encoding);
  }
  copy() {
    if (this.#done) throw nodeError('Error', 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
    return new Hash(this.#name, this.#state.copy());
  }
}
class Hmac extends Hash {}

function createHash(algorithm) {
  check.string(algorithm, 'algorithm');
  const state = host.hash(named(algorithm));
  if (state === undefined) throw new Error('Digest method not supported');
  return new Hash(algorithm, state);
}

function createHmac(algorithm, key) {
  check.string(algorithm, 'hmac');
  const state = host.hash(named(algorithm), input(key, undefined, 'key'));
  if (state === undefined) throw nodeError('Error', 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${algorithm}`);
  return new Hmac(algorithm, state);
}

function randomBytes(size, done) {
  check.number(size, 'size');
  if (!(size >= 0 && size <= 2147483647)) throw outOfRange('size', '>= 0 && <= 2147483647', size);
  const bytes = Buffer.alloc(size);
  host.random(bytes);
  if (done === undefined) return bytes;
  check.function(done, 'callback');
  setImmediate(done, null, bytes);
}

function randomFillSync(buffer, offset = 0, size) {
  const bytes = bytesOf(buffer);
  host.random(bytes.subarray(offset, size === undefined ? undefined : offset + size));
  return buffer;
}

function randomInt(min, max, done) {
  if (max === undefined || typeof max === 'function') { done = max; max = min; min = 0; }
  if (!Number.isSafeInteger(min)) throw invalidArgType('min', 'a safe integer', min);
  if (!Number.isSafeInteger(max)) throw invalidArgType('max', 'a safe integer', max);
  if (max <= min) throw outOfRange('max', `greater than the value of "min" (${min})`, max);
  const range = max - min;
  if (range > 2 ** 48 - 1) throw outOfRange('max - min', '<= 281474976710655', range);
  const limit = 2 ** 48 - (2 ** 48 % range);
  const bytes = new Uint8Array(6);
  let n;
  do { host.random(bytes); n = bytes.reduce((sum, byte) => sum * 256 + byte, 0); } while (n >= limit);
  n = n % range + min;
  if (done === undefined) return n;
  setImmediate(done, undefined, n);
}

function timingSafeEqual(a, b) {
  for (const [name, value] of [['buf1', a], ['buf2', b]]) if (!ArrayBuffer.isView(value) && !require('internal/buffer').isArrayBuffer(value)) throw invalidArgType(name, ['ArrayBuffer', 'Buffer', 'TypedArray', 'DataView'], value);
  if (a.byteLength !== b.byteLength) throw nodeError('RangeError', 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH', 'Input buffers must have the same byte length');
  return host.equal(bytesOf(a), bytesOf(b));
}

function getRandomValues(view) {
  if (!ArrayBuffer.isView(view) || view instanceof DataView || view instanceof Float32Array || view instanceof Float64Array) throw new (require('internal/dom_exception'))('The data argument must be an integer-type TypedArray', 'TypeMismatchError');
  if (view.byteLength > 65536) throw new (require('internal/dom_exception'))(`The requested length exceeds 65,536 bytes`, 'QuotaExceededError');
  host.random(bytesOf(view));
  return view;
}

const randomUUID = () => host.uuid();

const subtle = {
  async digest(algorithm, value) {
    const name = named(typeof algorithm === 'string' ? algorithm : algorithm?.name ?? '');
    const state = ['sha1', 'sha256', 'sha384', 'sha512'].includes(name) ? host.hash(name) : undefined;
    if (state === undefined) throw new (require('internal/dom_exception'))('Unrecognized algorithm name', 'NotSupportedError');
    state.update(bytesOf(value));
    return state.digest();
  },
};
for (const name of ['encrypt', 'decrypt', 'sign', 'verify', 'generateKey', 'deriveKey', 'deriveBits', 'importKey', 'exportKey', 'wrapKey', 'unwrapKey']) subtle[name] = unsupported.member('crypto.subtle', name);

const webcrypto = { getRandomValues, randomUUID, subtle };
Object.defineProperty(webcrypto, Symbol.toStringTag, { value: 'Crypto', configurable: true });

const crypto = {
  createHash, createHmac, Hash, Hmac, randomBytes, pseudoRandomBytes: randomBytes, randomFillSync, randomInt, randomUUID, timingSafeEqual, webcrypto, subtle, getRandomValues,
  randomFill(buffer, ...args) { const done = args.pop(); randomFillSync(buffer, ...args); setImmediate(done, null, buffer); },
  getHashes: () => Object.keys(host.names).sort(),
  constants: {},
};
for (const name of ['createCipheriv', 'createDecipheriv', 'createSign', 'createVerify', 'sign', 'verify', 'createPublicKey', 'createPrivateKey', 'createSecretKey', 'generateKeyPair',
  'generateKeyPairSync', 'generateKey', 'generateKeySync', 'createDiffieHellman', 'createECDH', 'diffieHellman', 'pbkdf2', 'pbkdf2Sync', 'scrypt', 'scryptSync', 'hkdf', 'hkdfSync',
  'publicEncrypt', 'publicDecrypt', 'privateEncrypt', 'privateDecrypt', 'getCiphers', 'getCurves', 'X509Certificate', 'KeyObject']) crypto[name] = unsupported.member('crypto', name);

module.exports = crypto;
