'use strict';
// What the libraries of node:crypto share: how they take bytes and give them.
const { nodeError, invalidArgType } = require('internal/errors');
const { bytesOf, encode, encodingOf, isArrayBuffer } = require('internal/buffer');

const viewTypes = ['string', 'ArrayBuffer', 'Buffer', 'TypedArray', 'DataView'];

// textOrView gives the bytes of a text or a view; arrayBuffers counts ArrayBuffer too.
function textOrView(value, encoding, name, types = ['string', 'Buffer', 'TypedArray', 'DataView']) {
  if (typeof value === 'string') return new Uint8Array(encode(value, encodingOf(encoding === 'buffer' ? 'utf8' : encoding)));
  if (ArrayBuffer.isView(value)) return bytesOf(value);
  throw invalidArgType(name, types, value);
}

// anyBytes gives the bytes of a text, a view or an ArrayBuffer.
function anyBytes(value, name, encoding, types = viewTypes) {
  if (isArrayBuffer(value)) return new Uint8Array(value);
  return textOrView(value, encoding, name, types);
}

const output = (buffer, encoding) => encoding === undefined || encoding === null || encoding === 'buffer' ? Buffer.from(buffer) : Buffer.from(buffer).toString(encoding);

// callback gives what host.start calls: it hands errors on, and made what comes else.
const callback = (done, made = (value) => value) => (error, value) => { if (error) done(error); else done(null, made(value)); };

const promised = (...op) => new Promise((resolve, reject) => host.start((error, value) => error ? reject(error) : resolve(value), ...op));

const invalidDigest = (name) => nodeError('TypeError', 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${name}`);

module.exports = { textOrView, anyBytes, output, callback, promised, viewTypes, invalidDigest };
