'use strict';
// Signatures of node:crypto.
const { nodeError, invalidArgType, invalidArgValue, check } = require('internal/errors');
const { textOrView, anyBytes, output, callback } = require('internal/crypto_shared');
const { privateInfo, publicInfo } = require('internal/crypto_keys');
const { lazyStream } = require('internal/lazy_stream');

// how reads the padding, the length of the salt and the form of a signature from a key's options.
function how(key, type) {
  const own = key !== null && typeof key === 'object' && !ArrayBuffer.isView(key) ? key : {};
  const padding = own.padding ?? 1;
  if (!Number.isInteger(padding)) throw invalidArgValue('options.padding', own.padding);
  const salt = own.saltLength ?? -2;
  if (!Number.isInteger(salt)) throw invalidArgValue('options.saltLength', own.saltLength);
  const form = own.dsaEncoding ?? 'der';
  if (form !== 'der' && form !== 'ieee-p1363') throw invalidArgValue('options.dsaEncoding', own.dsaEncoding);
  return [padding, salt, type === 'ec' && form === 'ieee-p1363'];
}

class Signature {
  #parts = []; #algorithm;
  constructor(algorithm, options) {
    check.string(algorithm, 'algorithm');
    if (host.hash(algorithm) === undefined) throw nodeError('TypeError', 'ERR_CRYPTO_INVALID_DIGEST', 'Invalid digest');
    this.#algorithm = algorithm;
    this._options = options;
  }
  update(data, encoding) {
    this.#parts.push(Buffer.from(textOrView(data, encoding, 'data')));
    return this;
  }
  _write(chunk, encoding, done) { this.update(chunk, encoding); done(); }
  static take(signature) { return [signature.#algorithm, Buffer.concat(signature.#parts)]; }
}

class Sign extends Signature {
  sign(key, encoding) {
    if (!key) throw nodeError('Error', 'ERR_CRYPTO_SIGN_KEY_REQUIRED', 'No key provided to sign');
    const info = privateInfo(key);
    const [algorithm, data] = Signature.take(this);
    return output(host.sync('sign', algorithm, data, info.handle, ...how(key, info.type)), encoding);
  }
}
class Verify extends Signature {
  verify(key, signature, encoding) {
    const info = publicInfo(key);
    signature = anyBytes(signature, 'signature', encoding);
    const [algorithm, data] = Signature.take(this);
    return host.sync('verify', algorithm, data, info.handle, ...how(key, info.type), signature);
  }
}
for (const kind of [Sign, Verify]) lazyStream(kind, 'Writable', (object) => object._options);

const dataOf = (data) => anyBytes(data, 'data', undefined, ['ArrayBuffer', 'Buffer', 'TypedArray', 'DataView']);

function sign(algorithm, data, key, done) {
  if (algorithm != null) check.string(algorithm, 'algorithm');
  if (done !== undefined) check.function(done, 'callback');
  const bytes = dataOf(data);
  if (!key) throw nodeError('Error', 'ERR_CRYPTO_SIGN_KEY_REQUIRED', 'No key provided to sign');
  const info = privateInfo(key);
  if (algorithm != null && host.hash(algorithm) === undefined) throw nodeError('TypeError', 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${algorithm}`);
  const op = ['sign', algorithm ?? '', bytes, info.handle, ...how(key, info.type)];
  if (done === undefined) return output(host.sync(...op));
  host.start(callback(done, output), ...op);
}

function verify(algorithm, data, key, signature, done) {
  if (algorithm != null) check.string(algorithm, 'algorithm');
  if (done !== undefined) check.function(done, 'callback');
  const bytes = dataOf(data);
  if (!ArrayBuffer.isView(signature) && !require('internal/buffer').isArrayBuffer(signature)) throw invalidArgType('signature', ['ArrayBuffer', 'Buffer', 'TypedArray', 'DataView'], signature);
  const info = publicInfo(key);
  if (algorithm != null && host.hash(algorithm) === undefined) throw nodeError('TypeError', 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${algorithm}`);
  const op = ['verify', algorithm ?? '', bytes, info.handle, ...how(key, info.type), anyBytes(signature, 'signature')];
  if (done === undefined) return host.sync(...op);
  host.start(callback(done), ...op);
}

module.exports = { Sign, Verify, createSign: (...args) => new Sign(...args), createVerify: (...args) => new Verify(...args), sign, verify };
