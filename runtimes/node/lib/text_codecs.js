'use strict';
// TextEncoder and TextDecoder.
const { encode, decode, encodeInto, validUTF8, unfinishedUTF8, toWellFormed } = host;
const { nodeError, invalidArgType } = require('internal/errors');

const labels = { __proto__: null };
for (const [name, list] of [
  ['utf-8', 'unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8'],
  ['utf-16le', 'csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le'],
  ['utf-16be', 'unicodefffe utf-16be'],
  ['windows-1252', 'ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252'],
]) for (const label of list.split(' ')) labels[label] = name;

// What windows-1252 has in place of the C1 controls.
const windows1252 = '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

class TextEncoder {
  get encoding() { return 'utf-8'; }
  encode(text = '') { return new Uint8Array(encode(`${text}`, 'utf8')); }
  encodeInto(text, target) {
    if (typeof text !== 'string') throw invalidArgType('src', 'string', text);
    if (!(target instanceof Uint8Array)) throw invalidArgType('dest', 'Uint8Array', target);
    const [read, written] = encodeInto(text, target);
    return { read, written };
  }
  get [Symbol.toStringTag]() { return 'TextEncoder'; }
}

function view(input) {
  if (input === undefined) return new Uint8Array(0);
  if (input instanceof Uint8Array) return input;
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (Object.prototype.toString.call(input) === '[object ArrayBuffer]') return new Uint8Array(input);
  throw nodeError('TypeError', 'ERR_INVALID_ARG_TYPE', 'The "list" argument must be an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView.');
}

class TextDecoder {
  #encoding; #fatal; #ignoreBOM; #kept = null; #started = false;
  constructor(label = 'utf-8', options = {}) {
    const encoding = labels[`${label}`.trim().toLowerCase()];
    if (encoding === undefined) {
      const error = nodeError('RangeError', 'ERR_ENCODING_NOT_SUPPORTED', `The "${label}" encoding is not supported`);
      throw error;
    }
    if (options !== null && typeof options !== 'object' && typeof options !== 'function') throw invalidArgType('options', 'Object', options);
    this.#encoding = encoding;
    this.#fatal = !!options?.fatal;
    this.#ignoreBOM = !!options?.ignoreBOM;
  }
  get encoding() { return this.#encoding; }
  get fatal() { return this.#fatal; }
  get ignoreBOM() { return this.#ignoreBOM; }

  decode(input = undefined, options = {}) {
    const stream = !!options?.stream;
    let bytes = view(input);
    if (this.#kept !== null) {
      const joined = new Uint8Array(this.#kept.length + bytes.length);
      joined.set(this.#kept);
      joined.set(bytes, this.#kept.length);
      bytes = joined;
      this.#kept = null;
    }
    let text;
    if (this.#encoding === 'windows-1252') {
      text = decode(bytes, 'latin1', 0, bytes.length).replace(/[\x80-\x9f]/g, (c) => windows1252[c.charCodeAt(0) - 128]);
    } else {
      let end = bytes.length;
      if (stream) {
        end -= this.#encoding === 'utf-8' ? unfinishedUTF8(bytes) : unfinishedUTF16(bytes, this.#encoding === 'utf-16be');
        if (end < bytes.length) this.#kept = bytes.slice(end);
      }
      if (this.#encoding === 'utf-8') {
        if (this.#fatal && !validUTF8(new Uint8Array(bytes.buffer, bytes.byteOffset, end))) this.#fail();
        text = decode(bytes, 'utf8', 0, end);
      } else {
        if (this.#encoding === 'utf-16be') { bytes = bytes.slice(); for (let i = 0; i + 1 < end; i += 2) { const b = bytes[i]; bytes[i] = bytes[i + 1]; bytes[i + 1] = b; } }
        text = decode(bytes, 'utf16le', 0, end - end % 2);
        if (end % 2 !== 0) text += '\ufffd';
        const whole = toWellFormed(text);
        if (this.#fatal && (whole !== text || end % 2 !== 0)) this.#fail();
        text = whole;
      }
    }
    if (!this.#ignoreBOM && !this.#started && this.#encoding !== 'windows-1252' && text.charCodeAt(0) === 0xfeff) text = text.slice(1), this.#started = true;
    if (text !== '') this.#started = true;
    if (!stream) this.#started = false;
    return text;
  }

  #fail() {
    this.#kept = null;
    this.#started = false;
    throw nodeError('TypeError', 'ERR_ENCODING_INVALID_ENCODED_DATA', `The encoded data was not valid for encoding ${this.#encoding}`);
  }
  get [Symbol.toStringTag]() { return 'TextDecoder'; }
}

function unfinishedUTF16(bytes, big) {
  const odd = bytes.length % 2, end = bytes.length - odd;
  if (end >= 2 && (bytes[big ? end - 2 : end - 1] & 0xfc) === 0xd8) return 2 + odd;
  return odd;
}

module.exports = { TextEncoder, TextDecoder };
