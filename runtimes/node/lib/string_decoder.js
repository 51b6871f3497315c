'use strict';
const { encodingOf, bytesOf, codec } = require('internal/buffer');
const { invalidArgType } = require('internal/errors');

class StringDecoder {
  #kept = Buffer.alloc(0);
  constructor(encoding) {
    const name = encodingOf(encoding);
    Object.defineProperty(this, 'codec', { value: name });
    this.encoding = name;
  }
  write(chunk) {
    if (typeof chunk === 'string') return chunk;
    if (!ArrayBuffer.isView(chunk)) throw invalidArgType('buf', ['Buffer', 'TypedArray', 'DataView'], chunk);
    let bytes = bytesOf(chunk);
    if (this.#kept.length > 0) bytes = Buffer.concat([this.#kept, bytes]);
    const rest = unfinished(bytes, this.codec);
    this.#kept = Buffer.from(bytes.subarray(bytes.length - rest));
    return codec.decode(bytes, this.codec, 0, bytes.length - rest);
  }
  end(chunk) {
    let text = chunk === undefined ? '' : this.write(chunk);
    if (this.#kept.length > 0) {
      text += codec.decode(this.#kept, this.codec, 0, this.#kept.length);
      this.#kept = Buffer.alloc(0);
    }
    return text;
  }
  text(buffer, offset) { this.#kept = Buffer.alloc(0); return this.write(buffer.slice(offset)); }
  // How many bytes the character that was begun lacks, how many it has, and those that came.
  get lastNeed() { return this.#kept.length === 0 ? 0 : this.lastTotal - this.#kept.length; }
  get lastTotal() {
    if (this.#kept.length === 0) return 0;
    if (this.codec === 'utf8') { const first = this.#kept[0]; return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2; }
    return this.codec === 'utf16le' ? this.#kept.length > 1 ? 4 : 2 : 3;
  }
  get lastChar() { return this.#kept; }
}

function unfinished(bytes, encoding) {
  switch (encoding) {
    case 'utf8': return codec.unfinishedUTF8(bytes);
    case 'utf16le': {
      const odd = bytes.length % 2, end = bytes.length - odd;
      return end >= 2 && (bytes[end - 1] & 0xfc) === 0xd8 ? odd + 2 : odd;
    }
    case 'base64': case 'base64url': return bytes.length % 3;
  }
  return 0;
}
module.exports = { StringDecoder };
