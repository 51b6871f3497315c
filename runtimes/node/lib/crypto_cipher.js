'use strict';
// Ciphers of node:crypto, and encryption with RSA keys.
const { nodeError, invalidArgType, check } = require('internal/errors');
const { textOrView, anyBytes, output } = require('internal/crypto_shared');
const { secretKeyBytes, privateHandle, publicHandle } = require('internal/crypto_keys');
const { lazyStream } = require('internal/lazy_stream');

const invalidState = (name) => nodeError('Error', 'ERR_CRYPTO_INVALID_STATE', `Invalid state for operation ${name}`);
const invalidTag = (length) => nodeError('TypeError', 'ERR_CRYPTO_INVALID_AUTH_TAG', `Invalid authentication tag length: ${length}`);

// Crypt is what ciphers and deciphers are. A tag may have the lengths that its cipher allows.
class Crypt {
  #state; #decrypt; #tagLength; #tagSet = false; #begun = false; #done = false; #decoder;
  constructor(decrypt, name, key, iv, options) {
    check.string(name, 'cipher');
    const secret = secretKeyBytes(key, options?.encoding);
    if (iv !== null) iv = anyBytes(iv, 'iv');
    this.#tagLength = options?.authTagLength;
    if (this.#tagLength !== undefined && (!Number.isInteger(this.#tagLength) || this.#tagLength < 0)) throw nodeError('TypeError', 'ERR_INVALID_ARG_VALUE', `The property 'options.authTagLength' is invalid. Received ${require('internal/inspect').inspect(this.#tagLength)}`);
    this.#state = host.cipher(name, decrypt, secret, iv ?? undefined);
    if (this.#state === undefined) throw nodeError('Error', 'ERR_CRYPTO_UNKNOWN_CIPHER', 'Unknown cipher');
    if (this.#state.authenticated && this.#tagLength !== undefined) this.#checkTag(this.#tagLength);
    this.#decrypt = decrypt;
    this._options = options;
  }
  #checkTag(length) {
    const ok = this.#state.mode === 'gcm' ? length === 4 || length === 8 || length >= 12 && length <= 16 : length >= 1 && length <= 16;
    if (!ok) throw invalidTag(length);
  }
  #give(bytes, encoding) {
    if (encoding === undefined || encoding === null || encoding === 'buffer') return Buffer.from(bytes);
    this.#decoder ??= new (require('string_decoder').StringDecoder)(encoding);
    if (this.#decoder.encoding !== require('internal/buffer').encodingOf(encoding)) throw nodeError('Error', 'ERR_INTERNAL_ASSERTION', 'Cannot change encoding');
    return this.#decoder.write(Buffer.from(bytes));
  }
  update(data, inputEncoding, outputEncoding) {
    const bytes = textOrView(data, inputEncoding, 'data');
    if (this.#done) throw new Error('Trying to add data in unsupported state');
    this.#begun = true;
    return this.#give(this.#state.update(bytes), outputEncoding);
  }
  final(outputEncoding) {
    if (this.#done) throw nodeError('Error', 'ERR_CRYPTO_INVALID_STATE', 'Invalid state');
    this.#done = true;
    const bytes = this.#state.final();
    const given = this.#give(bytes, outputEncoding);
    return typeof given === 'string' ? given + this.#decoder.end() : given;
  }
  setAutoPadding(on = true) {
    if (this.#done) throw invalidState('setAutoPadding');
    this.#state.padding(!!on);
    return this;
  }
  setAAD(bytes, options) {
    bytes = anyBytes(bytes, 'buffer', options?.encoding);
    if (!this.#state.authenticated || this.#begun || this.#done) throw invalidState('setAAD');
    this.#state.aad(bytes);
    return this;
  }
  // The two that only one kind of cipher has.
  static tagOf(crypt) {
    if (!crypt.#done || !crypt.#state.authenticated) throw invalidState('getAuthTag');
    return Buffer.from(crypt.#state.tag().slice(0, crypt.#tagLength ?? 16));
  }
  static setTag(crypt, tag, encoding) {
    tag = anyBytes(tag, 'buffer', encoding);
    if (!crypt.#state.authenticated || crypt.#tagSet || crypt.#done) throw invalidState('setAuthTag');
    crypt.#checkTag(tag.length);
    if (crypt.#tagLength !== undefined && tag.length !== crypt.#tagLength) throw invalidTag(tag.length);
    crypt.#tagSet = true;
    crypt.#state.setTag(tag);
  }
  _transform(chunk, encoding, done) { this.push(this.update(chunk, encoding)); done(); }
  _flush(done) {
    try { this.push(this.final()); } catch (error) { done(error); return; }
    done();
  }
}

class Cipheriv extends Crypt {
  constructor(name, key, iv, options) { super(false, name, key, iv, options); }
  getAuthTag() { return Crypt.tagOf(this); }
}
class Decipheriv extends Crypt {
  constructor(name, key, iv, options) { super(true, name, key, iv, options); }
  setAuthTag(tag, encoding) { Crypt.setTag(this, tag, encoding); return this; }
}
lazyStream(Cipheriv, 'Transform', (object) => object._options);
lazyStream(Decipheriv, 'Transform', (object) => object._options);

function getCipherInfo(name, options) {
  if (typeof name !== 'string' && typeof name !== 'number') throw invalidArgType('nameOrNid', ['string', 'number'], name);
  if (typeof name === 'number') check.integer(name, 'nameOrNid', -2147483648, 2147483647);
  const found = host.cipherInfo(name);
  if (found === undefined) return undefined;
  const [mode, own, nid, block, iv, key] = found;
  const { keyLength, ivLength } = options ?? {};
  if (keyLength !== undefined) { check.integer(keyLength, 'options.keyLength'); if (keyLength !== key) return undefined; }
  if (ivLength !== undefined) { check.integer(ivLength, 'options.ivLength'); if (mode === 'gcm' ? ivLength < 1 : mode === 'stream' ? ivLength < 1 || ivLength > 12 : ivLength !== iv) return undefined; }
  const info = { mode, name: own, nid };
  if (mode !== 'stream') info.blockSize = block;
  if (iv > 0) info.ivLength = ivLength ?? iv;
  info.keyLength = key;
  return info;
}

// RSA.
const paddings = { pkcs1: 1, none: 3, oaep: 4 };

function rsaOptions(key, padding) {
  const own = key !== null && typeof key === 'object' && !ArrayBuffer.isView(key) ? key : {};
  const chosen = own.padding ?? padding;
  const hash = own.oaepHash ?? 'sha1';
  check.string(hash, 'key.oaepHash');
  const label = own.oaepLabel === undefined ? undefined : anyBytes(own.oaepLabel, 'key.oaepLabel', own.encoding);
  return { padding: chosen, hash, label };
}
const dataOf = (buffer, key) => anyBytes(buffer, 'buffer', key?.encoding);

function publicEncrypt(key, buffer) {
  const { padding, hash, label } = rsaOptions(key, paddings.oaep);
  return output(host.sync('encryptRSA', publicHandle(key), dataOf(buffer, key), padding, hash, label));
}
function privateDecrypt(key, buffer) {
  const { padding, hash, label } = rsaOptions(key, paddings.oaep);
  const handle = privateHandle(key), bytes = dataOf(buffer, key);
  if (padding === paddings.pkcs1) throw nodeError('TypeError', 'ERR_INVALID_ARG_VALUE', 'RSA_PKCS1_PADDING is no longer supported for private decryption, this can be reverted with --security-revert=CVE-2023-46809');
  if (padding !== paddings.oaep) throw nodeError('Error', 'ERR_UNSUPPORTED_IN_HOST', 'crypto.privateDecrypt takes RSA_PKCS1_OAEP_PADDING only here');
  return output(host.sync('decryptRSA', handle, bytes, hash, label));
}
function privateEncrypt(key, buffer) {
  const { padding } = rsaOptions(key, paddings.pkcs1);
  if (padding !== paddings.pkcs1) throw nodeError('Error', 'ERR_UNSUPPORTED_IN_HOST', 'crypto.privateEncrypt takes RSA_PKCS1_PADDING only here');
  return output(host.sync('privateEncrypt', privateHandle(key), dataOf(buffer, key)));
}
function publicDecrypt(key, buffer) {
  const { padding } = rsaOptions(key, paddings.pkcs1);
  if (padding !== paddings.pkcs1) throw nodeError('Error', 'ERR_UNSUPPORTED_IN_HOST', 'crypto.publicDecrypt takes RSA_PKCS1_PADDING only here');
  return output(host.sync('publicDecrypt', publicHandle(key), dataOf(buffer, key)));
}

module.exports = {
  Cipheriv, Decipheriv, createCipheriv: (...args) => new Cipheriv(...args), createDecipheriv: (...args) => new Decipheriv(...args), getCipherInfo,
  publicEncrypt, privateDecrypt, privateEncrypt, publicDecrypt,
};
