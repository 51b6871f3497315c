'use strict';
// Keys of node:crypto: KeyObject, and how keys are read, written, made and agreed on.
const { nodeError, invalidArgType, invalidArgValue, check } = require('internal/errors');
const { isArrayBuffer } = require('internal/buffer');
const { anyBytes, viewTypes, output } = require('internal/crypto_shared');

const making = Symbol('making');
let infoOf; // what the host tells of the key of a KeyObject

class KeyObject {
  #info;
  static { infoOf = (value) => value !== null && typeof value === 'object' && #info in value ? value.#info : undefined; }
  constructor(type, info) {
    if (type !== making) {
      if (type !== 'secret' && type !== 'public' && type !== 'private') throw invalidArgValue('type', type);
      throw invalidArgType('handle', 'object', info);
    }
    this.#info = info;
  }
  get type() { return this.#info.kind; }
  equals(other) {
    if (infoOf(other) === undefined) throw invalidArgType('otherKeyObject', 'KeyObject', other);
    return host.sync('equalKeys', this.#info.handle, infoOf(other).handle);
  }
  static from(key) {
    const handle = require('internal/webcrypto').handleOf(key);
    if (handle === undefined) throw invalidArgType('key', 'CryptoKey', key);
    return wrap(handle);
  }
}
Object.defineProperty(KeyObject.prototype, Symbol.toStringTag, { configurable: true, value: 'KeyObject' });

class SecretKeyObject extends KeyObject {
  get symmetricKeySize() { return infoOf(this).size; }
  export(options) {
    if (options !== undefined) {
      check.object(options, 'options');
      if (options.format !== undefined && options.format !== 'buffer' && options.format !== 'jwk') throw invalidArgValue('options.format', options.format);
      if (options.format === 'jwk') return jwkOf(this);
    }
    return Buffer.from(host.sync('rawKey', infoOf(this).handle));
  }
}

class AsymmetricKeyObject extends KeyObject {
  get asymmetricKeyType() { return infoOf(this).type; }
  get asymmetricKeyDetails() {
    const { type, bits, exponent, curve } = infoOf(this);
    return type === 'rsa' ? { modulusLength: bits, publicExponent: BigInt(exponent) } : type === 'ec' ? { namedCurve: curve } : {};
  }
}
class PublicKeyObject extends AsymmetricKeyObject {
  export(options) {
    check.object(options, 'options');
    if (options.format === 'jwk') return jwkOf(this);
    return exported(infoOf(this), options, false);
  }
}
class PrivateKeyObject extends AsymmetricKeyObject {
  export(options) {
    check.object(options, 'options');
    if (options.format === 'jwk') {
      if (options.cipher !== undefined || options.passphrase !== undefined) throw nodeError('Error', 'ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS', 'The selected key encoding jwk does not support encryption.');
      return jwkOf(this);
    }
    return exported(infoOf(this), options, true);
  }
}
const custom = Symbol.for('nodejs.util.inspect.custom');
for (const kind of [SecretKeyObject, PublicKeyObject, PrivateKeyObject]) {
  Object.defineProperty(kind.prototype, custom, { configurable: true, value(depth, options, inspect) {
    const { kind: type, type: keyType } = infoOf(this);
    return `${kind.name} [KeyObject] ${inspect({ type, ...(keyType ? { asymmetricKeyType: keyType } : {}) }, options)}`;
  } });
}

function wrap(info) {
  return new { secret: SecretKeyObject, public: PublicKeyObject, private: PrivateKeyObject }[info.kind](making, info);
}

const base64url = (bytes) => Buffer.from(bytes).toString('base64url');
const fieldOrder = ['kty', 'k', 'n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi', 'crv', 'x', 'y'];
function jwkFields(handle) {
  const fields = host.sync('exportJWK', handle), out = {};
  const order = fields.kty === 'EC' ? ['kty', 'x', 'y', 'crv', 'd'] : fields.kty === 'OKP' ? ['crv', 'd', 'x', 'kty'] : fieldOrder;
  for (const name of order) {
    const value = fields[name];
    if (value !== undefined) out[name] = typeof value === 'string' ? value : base64url(value);
  }
  return out;
}
const jwkOf = (key) => jwkFields(infoOf(key).handle);

// exported writes a key as the options of Node say.
function exported({ handle, type: keyType }, { format, type, cipher, passphrase, encoding }, isPrivate, prefix = 'options') {
  if (format !== 'pem' && format !== 'der') throw invalidArgValue(`${prefix}.format`, format);
  const types = isPrivate ? ['pkcs1', 'pkcs8', 'sec1'] : ['pkcs1', 'spki'];
  if (!types.includes(type)) throw invalidArgValue(`${prefix}.type`, type);
  if (type === 'pkcs1' && keyType !== 'rsa') throw nodeError('Error', 'ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS', 'The selected key encoding pkcs1 can only be used for RSA keys.');
  if (type === 'sec1' && keyType !== 'ec') throw nodeError('Error', 'ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS', 'The selected key encoding sec1 can only be used for EC keys.');
  let secret;
  if (isPrivate && cipher != null) {
    check.string(cipher, `${prefix}.cipher`);
    if (format === 'der' && type !== 'pkcs8') throw nodeError('Error', 'ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS', `The selected key encoding ${type} does not support encryption.`);
    if (passphrase === undefined) throw invalidArgValue(`${prefix}.passphrase`, passphrase);
    secret = anyBytes(passphrase, `${prefix}.passphrase`, encoding);
  } else if (passphrase !== undefined) throw invalidArgValue(`${prefix}.cipher`, cipher);
  const out = host.sync('exportKey', handle, format, type, cipher ?? undefined, secret);
  return format === 'pem' ? out : Buffer.from(out);
}

function createSecretKey(key, encoding) {
  return wrap(host.sync('secretKey', anyBytes(key, 'key', encoding)));
}

// read gives what the host tells of a key that script gave: {key, format, type, passphrase}, text or bytes.
function read(given, isPrivate, name = 'key') {
  if (typeof given === 'string' || ArrayBuffer.isView(given) || isArrayBuffer(given)) return host.sync('readKey', anyBytes(given, name), 'pem', '', undefined, isPrivate);
  if (given === null || typeof given !== 'object') throw invalidArgType(name, isPrivate ? [...viewTypes] : [...viewTypes], given);
  const { key, format = 'pem', type, passphrase, encoding } = given;
  if (format === 'jwk') return readJWK(key, isPrivate);
  if (typeof key !== 'string' && !ArrayBuffer.isView(key) && !isArrayBuffer(key)) throw invalidArgType(`${name}.key`, [...viewTypes], key);
  if (format !== 'pem' && format !== 'der') throw invalidArgValue('options.format', format);
  if (format === 'der') {
    const types = isPrivate ? ['pkcs1', 'pkcs8', 'sec1'] : ['pkcs1', 'spki'];
    if (!types.includes(type)) throw invalidArgValue('options.type', type);
  }
  const secret = passphrase === undefined ? undefined : anyBytes(passphrase, `${name}.passphrase`, encoding);
  return host.sync('readKey', anyBytes(key, `${name}.key`, encoding), format, type ?? '', secret, isPrivate);
}

function readJWK(jwk, isPrivate) {
  check.object(jwk, 'key.key');
  const { kty, crv } = jwk;
  if (kty !== 'RSA' && kty !== 'EC' && kty !== 'OKP') throw invalidArgValue('key.kty', kty, "must be one of: 'RSA', 'EC', 'OKP'");
  if (kty === 'OKP' && !['Ed25519', 'X25519', 'Ed448', 'X448'].includes(crv)) throw invalidArgValue('key.crv', crv, "must be one of: 'Ed25519', 'Ed448', 'X25519', 'X448'");
  const names = [], values = [];
  const wanted = { RSA: isPrivate ? ['n', 'e', 'd', 'p', 'q'] : ['n', 'e'], EC: isPrivate ? ['x', 'y', 'd'] : ['x', 'y'], OKP: isPrivate ? ['x', 'd'] : ['x'] }[kty];
  for (const name of wanted) {
    check.string(jwk[name], `key.${name}`);
    names.push(name);
    values.push(Buffer.from(jwk[name], 'base64url'));
  }
  return host.sync('readJWK', kty, crv === undefined ? '' : `${crv}`, names, values, isPrivate);
}

const wrongKind = (kind, expected) => nodeError('TypeError', 'ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE', `Invalid key object type ${kind}, expected ${expected}.`);

// keyInfoOf gives what the host tells of a KeyObject or CryptoKey; undefined for anything else.
function keyInfoOf(value) {
  const own = infoOf(value);
  if (own !== undefined || value === null || typeof value !== 'object') return own;
  return value?.[Symbol.toStringTag] === 'CryptoKey' ? require('internal/webcrypto').handleOf(value) : undefined;
}

function privateInfo(key) {
  const own = keyInfoOf(key) ?? keyInfoOf(key?.key);
  if (own === undefined) return read(key, true);
  if (own.kind !== 'private') throw wrongKind(own.kind, 'private');
  return own;
}
function publicInfo(key) {
  const own = keyInfoOf(key) ?? keyInfoOf(key?.key);
  if (own === undefined) return readPublic(key);
  if (own.kind === 'secret') throw wrongKind(own.kind, 'private or public');
  return own.kind === 'private' ? host.sync('publicOf', own.handle) : own;
}
function readPublic(key) {
  const data = typeof key === 'object' && key !== null && !ArrayBuffer.isView(key) && !isArrayBuffer(key) ? key : { key };
  const pem = (data.format ?? 'pem') === 'pem' && (typeof data.key === 'string' || ArrayBuffer.isView(data.key));
  if (pem && /-----BEGIN (?:[A-Z ]+ )?PRIVATE KEY-----/.test(typeof data.key === 'string' ? data.key : Buffer.from(data.key.buffer, data.key.byteOffset, data.key.byteLength).toString('latin1'))) return host.sync('publicOf', read(key, true).handle);
  if (data.format === 'der' && (data.type === 'pkcs8' || data.type === 'sec1')) return host.sync('publicOf', read(key, true).handle);
  return read(key, false);
}

function createPrivateKey(key) {
  if (infoOf(key) !== undefined) throw invalidArgType('key', [...viewTypes], key);
  return wrap(privateInfo(key));
}
function createPublicKey(key) {
  const own = infoOf(key);
  if (own !== undefined && own.kind !== 'private') throw wrongKind(own.kind, 'private');
  return wrap(publicInfo(key));
}

// secretOf gives the bytes of a KeyObject or CryptoKey that holds a secret; undefined for what is none.
function secretOf(key) {
  const own = keyInfoOf(key);
  if (own === undefined) return undefined;
  if (own.kind !== 'secret') throw wrongKind(own.kind, 'secret');
  return new Uint8Array(host.sync('rawKey', own.handle));
}
const secretKeyBytes = (key, encoding) => secretOf(key) ?? anyBytes(key, 'key', encoding, [...viewTypes, 'KeyObject', 'CryptoKey']);

// Making keys.
function generation(type, options) {
  check.string(type, 'type');
  switch (type) {
    case 'rsa': case 'rsa-pss': {
      check.object(options, 'options');
      unsigned(options.modulusLength, 'options.modulusLength');
      const exponent = options.publicExponent ?? 65537;
      unsigned(exponent, 'options.publicExponent');
      if (exponent !== 65537) throw nodeError('Error', 'ERR_UNSUPPORTED_IN_HOST', 'RSA keys are made here with the public exponent 65537 only');
      return ['generate', type, options.modulusLength];
    }
    case 'ec':
      check.object(options, 'options');
      check.string(options.namedCurve, 'options.namedCurve');
      return ['generate', 'ec', undefined, options.namedCurve];
    case 'ed25519': case 'x25519': case 'ed448': case 'x448': case 'dsa': case 'dh': return ['generate', type];
  }
  throw invalidArgValue('type', type, 'must be a supported key type');
}
function unsigned(value, name) {
  if (typeof value !== 'number') throw invalidArgType(name, 'number', value);
  check.integer(value, name, 0, 2 ** 32 - 1);
}

// encoder gives how the options say that a made key is given: as a KeyObject, or written.
function encoder(options, name, isPrivate) {
  const encoding = options?.[name];
  if (encoding === undefined) return wrap;
  check.object(encoding, `options.${name}`);
  if (encoding.format === 'jwk') return (info) => jwkFields(info.handle);
  return (info) => exported(info, encoding, isPrivate, `options.${name}`);
}

function generateKeyPairSync(type, options) {
  const op = generation(type, options);
  const asPublic = encoder(options, 'publicKeyEncoding', false), asPrivate = encoder(options, 'privateKeyEncoding', true);
  const [publicKey, privateKey] = host.sync(...op);
  return { publicKey: asPublic(publicKey), privateKey: asPrivate(privateKey) };
}
function generateKeyPair(type, options, done) {
  if (typeof options === 'function') { done = options; options = undefined; }
  check.function(done, 'callback');
  const op = generation(type, options);
  const asPublic = encoder(options, 'publicKeyEncoding', false), asPrivate = encoder(options, 'privateKeyEncoding', true);
  host.start((error, pair) => {
    if (error) { done(error); return; }
    let publicKey, privateKey;
    try { publicKey = asPublic(pair[0]); privateKey = asPrivate(pair[1]); } catch (failure) { done(failure); return; }
    done(null, publicKey, privateKey);
  }, ...op);
}

function generateKeySync(type, options) {
  check.string(type, 'type');
  if (type !== 'hmac' && type !== 'aes') throw invalidArgValue('type', type, 'must be a supported key type');
  check.object(options, 'options');
  const { length } = options;
  if (type === 'hmac') check.integer(length, 'options.length', 8, 2 ** 31 - 1);
  else if (![128, 192, 256].includes(length)) throw invalidArgValue('options.length', length, 'must be one of: 128, 192, 256');
  const bytes = new Uint8Array(Math.floor(length / 8));
  host.random(bytes);
  return wrap(host.sync('secretKey', bytes));
}
function generateKey(type, options, done) {
  check.function(done, 'callback');
  const key = generateKeySync(type, options);
  setImmediate(done, null, key);
}

// Agreeing on a secret.
function diffieHellman(options) {
  check.object(options, 'options');
  const { privateKey, publicKey } = options;
  const mine = infoOf(privateKey), theirs = infoOf(publicKey);
  if (mine === undefined) throw invalidArgValue('options.privateKey', privateKey);
  if (theirs === undefined) throw invalidArgValue('options.publicKey', publicKey);
  if (mine.kind !== 'private') throw wrongKind(mine.kind, 'private');
  if (theirs.kind === 'secret') throw wrongKind(theirs.kind, 'private or public');
  if (mine.type !== theirs.type) throw nodeError('Error', 'ERR_CRYPTO_INCOMPATIBLE_KEY', `Incompatible key types for Diffie-Hellman: ${mine.type} and ${theirs.type}`);
  return Buffer.from(host.sync('agree', mine.handle, theirs.handle));
}

class ECDH {
  #curve; #key;
  constructor(curve) {
    check.string(curve, 'curve');
    if (!['prime256v1', 'P-256', 'secp224r1', 'P-224', 'secp384r1', 'P-384', 'secp521r1', 'P-521'].includes(curve)) throw nodeError('TypeError', 'ERR_CRYPTO_INVALID_CURVE', 'Invalid EC curve name');
    this.#curve = curve;
  }
  generateKeys(encoding, format) {
    this.#key = host.sync('generate', 'ec', undefined, this.#curve)[1];
    return this.getPublicKey(encoding, format);
  }
  computeSecret(other, inputEncoding, outputEncoding) {
    const raw = anyBytes(other, 'otherPublicKey', inputEncoding);
    if (this.#key === undefined) throw new Error('Private key is not set');
    let theirs;
    try { theirs = host.sync('keyFromRaw', this.#curve, raw, false); } catch { throw nodeError('Error', 'ERR_CRYPTO_ECDH_INVALID_PUBLIC_KEY', 'Public key is not valid for specified curve'); }
    return output(host.sync('agree', this.#key.handle, theirs.handle), outputEncoding);
  }
  getPrivateKey(encoding) {
    if (this.#key === undefined) throw nodeError('Error', 'ERR_CRYPTO_OPERATION_FAILED', 'Failed to get ECDH private key');
    return output(host.sync('rawKey', this.#key.handle, true), encoding);
  }
  getPublicKey(encoding, format = 'uncompressed') {
    if (!['uncompressed', 'compressed', 'hybrid'].includes(format)) throw nodeError('TypeError', 'ERR_CRYPTO_ECDH_INVALID_FORMAT', `Invalid ECDH format: ${format}`);
    if (this.#key === undefined) throw nodeError('Error', 'ERR_CRYPTO_OPERATION_FAILED', 'Failed to get ECDH public key');
    return output(pointAs(new Uint8Array(host.sync('rawKey', this.#key.handle)), format), encoding);
  }
  setPrivateKey(key, encoding) {
    const raw = anyBytes(key, 'key', encoding);
    try { this.#key = host.sync('keyFromRaw', this.#curve, raw, true); } catch { throw new Error('Private key is not valid for specified curve.'); }
  }
  static convertKey(key, curve, inputEncoding, outputEncoding, format = 'uncompressed') {
    check.string(curve, 'curve');
    const raw = anyBytes(key, 'key', inputEncoding);
    return output(pointAs(new Uint8Array(host.sync('rawKey', host.sync('keyFromRaw', curve, raw, false).handle)), format), outputEncoding);
  }
}

// pointAs writes a point in one of the forms that OpenSSL has.
function pointAs(point, format) {
  if (format === 'uncompressed') return point;
  const half = (point.length - 1) / 2, odd = point[point.length - 1] & 1;
  const out = format === 'compressed' ? point.slice(0, half + 1) : point.slice();
  out[0] = (format === 'compressed' ? 2 : 6) + odd;
  return out;
}

module.exports = {
  KeyObject, ECDH, createECDH: (curve) => new ECDH(curve), createSecretKey, createPrivateKey, createPublicKey, generateKeyPair, generateKeyPairSync, generateKey, generateKeySync, diffieHellman,
  wrap, infoOf, keyInfoOf, jwkFields, readJWK, secretOf, secretKeyBytes, privateInfo, publicInfo,
  privateHandle: (key) => privateInfo(key).handle, publicHandle: (key) => publicInfo(key).handle,
};
