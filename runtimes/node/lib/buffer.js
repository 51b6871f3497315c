'use strict';
const { codec, compare, search, fill, swap, read, write, alias } = host;
const { nodeError, invalidArgType, outOfRange } = require('internal/errors');

const kMaxLength = 0x100000000;
const kStringMaxLength = 0x1fffffe8;
const UINT = 0, INT = 1, BIGUINT = 2, BIGINT = 3, FLOAT = 4;
const isView = ArrayBuffer.isView;

// The encodings by all their names; the value is the codec's name.
const encodings = {
  __proto__: null, utf8: 'utf8', 'utf-8': 'utf8', hex: 'hex', base64: 'base64', base64url: 'base64url', latin1: 'latin1', binary: 'latin1',
  ascii: 'ascii', ucs2: 'utf16le', 'ucs-2': 'utf16le', utf16le: 'utf16le', 'utf-16le': 'utf16le',
};

function encodingOf(name) {
  if (name === undefined || name === null || name === '') return 'utf8';
  const found = encodings[name] ?? encodings[String(name).toLowerCase()];
  if (found === undefined) throw nodeError('TypeError', 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${name}`);
  return found;
}

const encode = (text, encoding) => codec.encode(text, encoding === 'ascii' ? 'latin1' : encoding);

function bytesOf(view) {
  if (view instanceof Uint8Array) return view;
  if (isView(view)) return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  return new Uint8Array(view);
}

const isArrayBuffer = (value) => Object.prototype.toString.call(value) === '[object ArrayBuffer]';

function checkSize(size, name = 'size') {
  if (typeof size !== 'number') throw invalidArgType(name, 'number', size);
  if (!(size >= 0 && size <= kMaxLength)) throw outOfRange(name, `>= 0 && <= ${kMaxLength}`, size);
  if (size > codec.maxBytes) throw new RangeError(`Array buffer allocation failed: ${size} bytes are more than the ${codec.maxBytes} that this host gives`);
}

// clamp turns an index argument as slice() takes it into a place between 0 and length.
function clamp(value, length, otherwise) {
  if (value === undefined) return otherwise;
  value = Math.trunc(+value) || 0;
  if (value < 0) return Math.max(value + length, 0);
  return Math.min(value, length);
}

function checkOffset(buffer, offset, size) {
  if (typeof offset !== 'number') throw invalidArgType('offset', 'number', offset);
  if (offset >= 0 && offset + size <= buffer.length && Number.isInteger(offset)) return;
  if (!Number.isInteger(offset)) throw outOfRange('offset', 'an integer', offset);
  if (buffer.length - size < 0) throw nodeError('RangeError', 'ERR_BUFFER_OUT_OF_BOUNDS', 'Attempt to access memory outside buffer bounds');
  throw outOfRange('offset', `>= 0 and <= ${buffer.length - size}`, offset);
}

function checkByteLength(value) {
  if (value === undefined || typeof value !== 'number') throw invalidArgType('byteLength', 'number', value);
  if (!Number.isInteger(value)) throw outOfRange('byteLength', 'an integer', value);
  if (value < 1 || value > 6) throw outOfRange('byteLength', '>= 1 and <= 6', value);
}

function get(buffer, kind, little, offset, size) {
  if (offset === undefined) offset = 0;
  checkOffset(buffer, offset, size);
  return read(buffer, kind, little, offset, size);
}

function put(buffer, kind, little, value, offset, size) {
  if (offset === undefined) offset = 0;
  if (kind === BIGUINT || kind === BIGINT) {
    if (typeof value !== 'bigint') throw new TypeError('Cannot mix BigInt and other types, use explicit conversions');
    const min = kind === BIGINT ? -(2n ** 63n) : 0n;
    const max = kind === BIGINT ? 2n ** 63n - 1n : 2n ** 64n - 1n;
    if (value < min || value > max) throw outOfRange('value', kind === BIGINT ? '>= -(2n ** 63n) and < 2n ** 63n' : '>= 0n and < 2n ** 64n', value);
  } else {
    value = +value;
    if (kind !== FLOAT) {
      const bits = 8 * size;
      const min = kind === INT ? -(2 ** (bits - 1)) : 0;
      const max = kind === INT ? 2 ** (bits - 1) - 1 : 2 ** bits - 1;
      if (value < min || value > max) {
        let range = `>= ${min} and <= ${max}`;
        if (size > 4) range = kind === INT ? `>= -(2 ** ${bits - 1}) and < 2 ** ${bits - 1}` : `>= 0 and < 2 ** ${bits}`;
        throw outOfRange('value', range, value);
      }
    }
  }
  checkOffset(buffer, offset, size);
  return write(buffer, kind, little, offset, size, value);
}

// statics are the static members, enumerable as in Node, where old packages list them.
const statics = {
  __proto__: null,
  from(value, encodingOrOffset, length) { return from(value, encodingOrOffset, length); },

  alloc(size, value, encoding) {
    checkSize(size);
    const buffer = make(new ArrayBuffer(size));
    if (value !== undefined && value !== 0 && size > 0) buffer.fill(value, encoding);
    return buffer;
  },

  allocUnsafe(size) { checkSize(size); return make(new ArrayBuffer(size)); },
  allocUnsafeSlow(size) { return statics.allocUnsafe(size); },
  isBuffer(value) { return value instanceof Buffer; },
  isEncoding(name) { return typeof name === 'string' && name.length > 0 && encodings[name.toLowerCase()] !== undefined; },

  byteLength(value, encoding) {
    if (typeof value !== 'string') {
      if (isView(value) || isArrayBuffer(value)) return value.byteLength;
      throw invalidArgType('string', ['string', 'Buffer', 'ArrayBuffer'], value);
    }
    switch (encodings[String(encoding).toLowerCase()]) {
      case 'latin1': case 'ascii': return value.length;
      case 'utf16le': return value.length * 2;
      case 'hex': return value.length >>> 1;
      case 'base64': case 'base64url': {
        let n = value.length;
        if (n > 0 && value[n - 1] === '=') n--;
        if (n > 1 && value[n - 1] === '=') n--;
        return (n * 3) >>> 2;
      }
    }
    return codec.byteLength(value);
  },

  compare(a, b) {
    if (!(a instanceof Uint8Array)) throw invalidArgType('buf1', ['Buffer', 'Uint8Array'], a);
    if (!(b instanceof Uint8Array)) throw invalidArgType('buf2', ['Buffer', 'Uint8Array'], b);
    return compare(a, b);
  },

  concat(list, total) {
    if (!Array.isArray(list)) throw invalidArgType('list', 'Array', list);
    if (list.length === 0) return make(new ArrayBuffer(0));
    if (total === undefined) {
      total = 0;
      for (let i = 0; i < list.length; i++) if (list[i]?.length) total += list[i].length;
    } else if (typeof total !== 'number') throw invalidArgType('length', 'number', total);
    else if (!Number.isInteger(total)) throw outOfRange('length', 'an integer', total);
    else if (total < 0) throw outOfRange('length', `>= 0 && <= ${Number.MAX_SAFE_INTEGER}`, total);
    const buffer = statics.allocUnsafe(total);
    let at = 0;
    for (let i = 0; i < list.length; i++) {
      let part = list[i];
      if (!(part instanceof Uint8Array)) throw invalidArgType(`list[${i}]`, ['Buffer', 'Uint8Array'], part);
      if (at >= total) continue;
      if (at + part.length > total) part = Uint8Array.prototype.subarray.call(part, 0, total - at);
      buffer.set(part, at);
      at += part.length;
    }
    return buffer;
  },

  copyBytesFrom(view, offset = 0, length) {
    if (!isView(view) || view instanceof DataView) throw invalidArgType('view', ['TypedArray'], view);
    const part = view.subarray(offset, length === undefined ? undefined : offset + length);
    return from(bytesOf(part));
  },

  of(...items) { return from(items); },
  poolSize: 8192,
};

class Buffer extends Uint8Array {
  // Called with new, as old code does: a number is a size, all else as from().
  constructor(value, encodingOrOffset, length) {
    if (value instanceof Raw) super(value.buffer, value.offset, value.length);
    else if (typeof value === 'number') { checkSize(value); super(value); }
    else if (isArrayBuffer(value)) super(value, encodingOrOffset, length);
    else {
      const made = from(value, encodingOrOffset, length);
      super(made.buffer, made.byteOffset, made.length);
    }
  }

  get parent() { return this.buffer; }
  get offset() { return this.byteOffset; }

  toString(encoding, start, end) {
    const length = this.length;
    start = start === undefined || start <= 0 ? 0 : Math.trunc(start) || 0;
    end = end === undefined || end > length ? length : Math.trunc(end) || 0;
    encoding = encodingOf(encoding);
    if (start >= end || start >= length) return '';
    return codec.decode(this, encoding, start, end);
  }

  toLocaleString(encoding, start, end) { return this.toString(encoding, start, end); }
  toJSON() { return { type: 'Buffer', data: Array.from(this) }; }

  equals(other) {
    if (!(other instanceof Uint8Array)) throw invalidArgType('otherBuffer', ['Buffer', 'Uint8Array'], other);
    return this === other || this.length === other.length && compare(this, other) === 0;
  }

  compare(target, targetStart = 0, targetEnd, start = 0, end) {
    if (!(target instanceof Uint8Array)) throw invalidArgType('target', ['Buffer', 'Uint8Array'], target);
    targetEnd = targetEnd === undefined ? target.length : targetEnd;
    end = end === undefined ? this.length : end;
    checkIndex(targetStart, 'targetStart', Infinity); checkIndex(targetEnd, 'targetEnd', target.length);
    checkIndex(start, 'sourceStart', Infinity); checkIndex(end, 'sourceEnd', this.length);
    if (start >= end) return targetStart >= targetEnd ? 0 : -1;
    if (targetStart >= targetEnd) return 1;
    const sub = Uint8Array.prototype.subarray;
    return compare(bytesOf(sub.call(this, start, end)), bytesOf(sub.call(target, targetStart, targetEnd)));
  }

  copy(target, targetStart, start, end) {
    if (!isView(target)) throw invalidArgType('target', ['Buffer', 'Uint8Array'], target);
    targetStart = toIndex(targetStart, 0, 'targetStart', Infinity);
    start = toIndex(start, 0, 'sourceStart', this.length);
    end = toIndex(end, this.length, 'sourceEnd', Infinity);
    const bytes = bytesOf(target);
    if (targetStart >= bytes.length || start >= end) return 0;
    end = Math.min(end, this.length, start + bytes.length - targetStart);
    if (end <= start) return 0;
    Uint8Array.prototype.set.call(bytes, Uint8Array.prototype.subarray.call(this, start, end), targetStart);
    return end - start;
  }

  slice(start, end) { return this.subarray(start, end); }

  subarray(start, end) {
    const length = this.length;
    start = clamp(start, length, 0);
    end = clamp(end, length, length);
    return make(this.buffer, this.byteOffset + start, Math.max(end - start, 0));
  }

  fill(value, start, end, encoding) {
    if (typeof start === 'string') { encoding = start; start = undefined; end = undefined; }
    else if (typeof end === 'string') { encoding = end; end = undefined; }
    if (start !== undefined) checkIndex(start, 'offset', typeof start === 'number' && end === undefined ? this.length : Infinity);
    start = start === undefined ? 0 : start;
    end = end === undefined ? this.length : end;
    checkIndex(end, 'end', this.length);
    if (encoding !== undefined && typeof value === 'string') {
      if (typeof encoding !== 'string') throw invalidArgType('encoding', 'string', encoding);
      encodingOf(encoding);
    }
    if (start >= end) return this;
    let pattern;
    if (typeof value === 'string') {
      pattern = new Uint8Array(encode(value, encodingOf(encoding)));
      if (pattern.length === 0) {
        if (value.length > 0) throw nodeError('TypeError', 'ERR_INVALID_ARG_VALUE', `The argument 'value' is invalid. Received '${value}'`);
        pattern = new Uint8Array(1);
      }
    } else if (isView(value)) {
      pattern = bytesOf(value);
      if (pattern.length === 0) throw nodeError('TypeError', 'ERR_INVALID_ARG_VALUE', "The argument 'value' is invalid. Received " + require('internal/inspect').inspect(value));
    } else pattern = new Uint8Array([typeof value === 'boolean' ? +value : value & 255]);
    fill(this, pattern, start, end);
    return this;
  }

  indexOf(value, from, encoding) { return find(this, value, from, encoding, false); }
  lastIndexOf(value, from, encoding) { return find(this, value, from, encoding, true); }
  includes(value, from, encoding) { return find(this, value, from, encoding, false) !== -1; }

  write(text, offset, length, encoding) {
    if (typeof text !== 'string') throw invalidArgType('argument', 'string', text);
    if (typeof offset === 'string') { encoding = offset; offset = undefined; length = undefined; }
    else if (typeof length === 'string') { encoding = length; length = undefined; }
    offset = offset === undefined ? 0 : offset;
    checkIndex(offset, 'offset', this.length);
    const left = this.length - offset;
    if (length === undefined) length = left;
    else { checkIndex(length, 'length', this.length); length = Math.min(length, left); }
    encoding = encodingOf(encoding);
    if (encoding === 'utf8') return codec.encodeInto(text, Uint8Array.prototype.subarray.call(this, offset, offset + length))[1];
    let bytes = new Uint8Array(encode(text, encoding));
    if (bytes.length > length) bytes = bytes.subarray(0, encoding === 'utf16le' ? length & ~1 : length);
    this.set(bytes, offset);
    return bytes.length;
  }

  swap16() { return swapped(this, 2); }
  swap32() { return swapped(this, 4); }
  swap64() { return swapped(this, 8); }

  readUIntLE(offset, size) { return getSized(this, UINT, true, offset, size); }
  readUIntBE(offset, size) { return getSized(this, UINT, false, offset, size); }
  readIntLE(offset, size) { return getSized(this, INT, true, offset, size); }
  readIntBE(offset, size) { return getSized(this, INT, false, offset, size); }
  writeUIntLE(value, offset, size) { checkByteLength(size); return put(this, UINT, true, value, offset, size); }
  writeUIntBE(value, offset, size) { checkByteLength(size); return put(this, UINT, false, value, offset, size); }
  writeIntLE(value, offset, size) { checkByteLength(size); return put(this, INT, true, value, offset, size); }
  writeIntBE(value, offset, size) { checkByteLength(size); return put(this, INT, false, value, offset, size); }

  readUInt8(offset) { return get(this, UINT, true, offset, 1); }
  readUInt16LE(offset) { return get(this, UINT, true, offset, 2); }
  readUInt16BE(offset) { return get(this, UINT, false, offset, 2); }
  readUInt32LE(offset) { return get(this, UINT, true, offset, 4); }
  readUInt32BE(offset) { return get(this, UINT, false, offset, 4); }
  readInt8(offset) { return get(this, INT, true, offset, 1); }
  readInt16LE(offset) { return get(this, INT, true, offset, 2); }
  readInt16BE(offset) { return get(this, INT, false, offset, 2); }
  readInt32LE(offset) { return get(this, INT, true, offset, 4); }
  readInt32BE(offset) { return get(this, INT, false, offset, 4); }
  readFloatLE(offset) { return get(this, FLOAT, true, offset, 4); }
  readFloatBE(offset) { return get(this, FLOAT, false, offset, 4); }
  readDoubleLE(offset) { return get(this, FLOAT, true, offset, 8); }
  readDoubleBE(offset) { return get(this, FLOAT, false, offset, 8); }
  readBigUInt64LE(offset) { return get(this, BIGUINT, true, offset, 8); }
  readBigUInt64BE(offset) { return get(this, BIGUINT, false, offset, 8); }
  readBigInt64LE(offset) { return get(this, BIGINT, true, offset, 8); }
  readBigInt64BE(offset) { return get(this, BIGINT, false, offset, 8); }

  writeUInt8(value, offset) { return put(this, UINT, true, value, offset, 1); }
  writeUInt16LE(value, offset) { return put(this, UINT, true, value, offset, 2); }
  writeUInt16BE(value, offset) { return put(this, UINT, false, value, offset, 2); }
  writeUInt32LE(value, offset) { return put(this, UINT, true, value, offset, 4); }
  writeUInt32BE(value, offset) { return put(this, UINT, false, value, offset, 4); }
  writeInt8(value, offset) { return put(this, INT, true, value, offset, 1); }
  writeInt16LE(value, offset) { return put(this, INT, true, value, offset, 2); }
  writeInt16BE(value, offset) { return put(this, INT, false, value, offset, 2); }
  writeInt32LE(value, offset) { return put(this, INT, true, value, offset, 4); }
  writeInt32BE(value, offset) { return put(this, INT, false, value, offset, 4); }
  writeFloatLE(value, offset) { return put(this, FLOAT, true, value, offset, 4); }
  writeFloatBE(value, offset) { return put(this, FLOAT, false, value, offset, 4); }
  writeDoubleLE(value, offset) { return put(this, FLOAT, true, value, offset, 8); }
  writeDoubleBE(value, offset) { return put(this, FLOAT, false, value, offset, 8); }
  writeBigUInt64LE(value, offset) { return put(this, BIGUINT, true, value, offset, 8); }
  writeBigUInt64BE(value, offset) { return put(this, BIGUINT, false, value, offset, 8); }
  writeBigInt64LE(value, offset) { return put(this, BIGINT, true, value, offset, 8); }
  writeBigInt64BE(value, offset) { return put(this, BIGINT, false, value, offset, 8); }

  [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
    const shown = this.length > 50 ? codec.decode(this, 'hex', 0, 50) : codec.decode(this, 'hex', 0, this.length);
    let text = shown.replace(/(.{2})(?!$)/g, '$1 ');
    const more = this.length - 50;
    if (more > 0) text += ` ... ${more} more byte${more > 1 ? 's' : ''}`;
    let extras = '';
    if (this.length <= 10000) for (const key of Object.keys(this).slice(this.length)) extras += `, ${key}: ${(inspect ?? require('internal/inspect').inspect)(this[key], options)}`;
    return `<${this.constructor.name} ${text}${text ? extras : extras.slice(2)}>`;
  }
}

// Raw asks the constructor for a Buffer over a part of an ArrayBuffer.
class Raw { constructor(buffer, offset, length) { this.buffer = buffer; this.offset = offset; this.length = length; } }

const proto = Buffer.prototype;
alias(proto, 'readUIntLE readUIntBE writeUIntLE writeUIntBE readUInt8 readUInt16LE readUInt16BE readUInt32LE readUInt32BE readBigUInt64LE readBigUInt64BE' +
  ' writeUInt8 writeUInt16LE writeUInt16BE writeUInt32LE writeUInt32BE writeBigUInt64LE writeBigUInt64BE');

// callable is Buffer that may also be called without new, as old code does. It stands
// before the class, whose instances are its own.
function callable(...args) {
  // In a function that a constructor calls, the engine has new.target still.
  if (new.target === undefined || !(this instanceof callable)) return typeof args[0] === 'number' ? statics.alloc(args[0]) : from(...args);
  return Reflect.construct(Buffer, args, new.target);
}
Object.defineProperty(callable, 'name', { value: 'Buffer' });
Object.defineProperty(callable, 'prototype', { value: proto, writable: false, enumerable: false });
Object.setPrototypeOf(callable, Uint8Array);
Object.assign(callable, statics);
Object.defineProperty(proto, 'constructor', { value: callable, writable: true, configurable: true });

function make(buffer, offset, length) {
  return new Buffer(new Raw(buffer, offset, length));
}

function from(value, encodingOrOffset, length) {
  if (typeof value === 'string') return make(encode(value, encodingOf(typeof encodingOrOffset === 'string' ? encodingOrOffset : undefined)));
  if (typeof value === 'object' && value !== null) {
    if (isArrayBuffer(value)) {
      const offset = encodingOrOffset === undefined ? 0 : Math.trunc(+encodingOrOffset) || 0;
      const most = value.byteLength - offset;
      if (most < 0 || offset < 0) throw nodeError('RangeError', 'ERR_BUFFER_OUT_OF_BOUNDS', '"offset" is outside of buffer bounds');
      if (length === undefined) length = most;
      else {
        length = +length;
        length = length > 0 ? Math.trunc(length) : 0;
        if (length > most) throw nodeError('RangeError', 'ERR_BUFFER_OUT_OF_BOUNDS', '"length" is outside of buffer bounds');
      }
      return make(value, offset, length);
    }
    const primitive = value.valueOf && value.valueOf();
    if (primitive != null && primitive !== value && (typeof primitive === 'string' || typeof primitive === 'object')) return from(primitive, encodingOrOffset, length);
    const made = fromObject(value);
    if (made) return made;
    if (typeof value[Symbol.toPrimitive] === 'function') {
      const text = value[Symbol.toPrimitive]('string');
      if (typeof text === 'string') return from(text, encodingOrOffset);
    }
  }
  throw invalidArgType('first argument', null, value);
}

function fromObject(value) {
  if (value instanceof Uint8Array) {
    const buffer = make(new ArrayBuffer(value.length));
    Uint8Array.prototype.set.call(buffer, value);
    return buffer;
  }
  if (value.length !== undefined || isArrayBuffer(value.buffer)) {
    if (typeof value.length !== 'number') return make(new ArrayBuffer(0));
    return fromArrayLike(value);
  }
  if (value.type === 'Buffer' && Array.isArray(value.data)) return fromArrayLike(value.data);
}

function fromArrayLike(value) {
  const length = value.length > 0 ? value.length : 0;
  checkSize(length);
  const buffer = make(new ArrayBuffer(length));
  for (let i = 0; i < length; i++) buffer[i] = value[i];
  return buffer;
}

function checkIndex(value, name, max) {
  if (typeof value !== 'number') throw invalidArgType(name, 'number', value);
  if (!Number.isInteger(value)) throw outOfRange(name, 'an integer', value);
  if (value < 0 || value > max) throw outOfRange(name, `>= 0 && <= ${max === Infinity ? Number.MAX_SAFE_INTEGER : max}`, value);
}

function toIndex(value, otherwise, name, max) {
  if (value === undefined) return otherwise;
  value = Math.trunc(+value) || 0;
  if (value < 0 || value > max) throw outOfRange(name, max === Infinity ? '>= 0' : `>= 0 && <= ${max}`, value);
  return value;
}

function getSized(buffer, kind, little, offset, size) {
  if (offset === undefined) throw invalidArgType('offset', 'number', offset);
  checkByteLength(size);
  return get(buffer, kind, little, offset, size);
}

function swapped(buffer, size) {
  if (buffer.length % size !== 0) throw nodeError('RangeError', 'ERR_INVALID_BUFFER_SIZE', `Buffer size must be a multiple of ${8 * size}-bits`);
  swap(buffer, size);
  return buffer;
}

function find(buffer, value, from, encoding, backwards) {
  if (typeof from === 'string') { encoding = from; from = undefined; }
  const length = buffer.length;
  from = +from;
  if (Number.isNaN(from)) from = backwards ? length : 0;
  from = Math.trunc(Math.max(Math.min(from, 0x7fffffff), -0x80000000));
  if (typeof value === 'number') value = new Uint8Array([value & 255]);
  else if (typeof value === 'string') { encoding = encodingOf(encoding); value = new Uint8Array(encode(value, encoding)); }
  else if (value instanceof Uint8Array) encoding = encoding === undefined ? 'utf8' : encodingOf(encoding);
  else throw invalidArgType('value', ['number', 'string', 'Buffer', 'Uint8Array'], value);
  if (from < 0) from += length;
  if (from < 0) { if (backwards) return -1; from = 0; }
  if (value.length === 0) return Math.min(from, length);
  if (length === 0 || value.length > length) return -1;
  return search(buffer, value, from, backwards, encoding === 'utf16le' ? 2 : 1);
}

function transcode(source, fromEncoding, toEncoding) {
  if (!(source instanceof Uint8Array)) throw invalidArgType('source', ['Buffer', 'Uint8Array'], source);
  let text = codec.decode(source, encodingOf(fromEncoding), 0, source.length);
  const target = encodingOf(toEncoding);
  if (target === 'latin1' || target === 'ascii') text = text.replace(target === 'ascii' ? /[^\0-\x7f]/gu : /[^\0-\xff]/gu, '?');
  return from(text, toEncoding);
}

function btoa(text) {
  if (arguments.length === 0) throw nodeError('TypeError', 'ERR_MISSING_ARGS', 'The "data" argument must be specified');
  const encoded = codec.btoa(`${text}`);
  if (encoded === undefined) throw new (require('internal/dom_exception'))('Invalid character', 'InvalidCharacterError');
  return encoded;
}

function atob(text) {
  if (arguments.length === 0) throw nodeError('TypeError', 'ERR_MISSING_ARGS', 'The "data" argument must be specified');
  const decoded = codec.atob(`${text}`);
  if (typeof decoded === 'number') throw new (require('internal/dom_exception'))(decoded === 0 ? 'Invalid character' : 'The string to be decoded is not correctly encoded.', 'InvalidCharacterError');
  return decoded;
}

const viewOf = (input) => {
  if (isView(input) || isArrayBuffer(input)) return bytesOf(input);
  throw invalidArgType('input', ['ArrayBuffer', 'Buffer', 'TypedArray'], input);
};

module.exports = {
  fromArrayBuffer: (buffer) => make(buffer),
  encodingOf, bytesOf, isArrayBuffer, codec, encode,
  public: {
    Buffer: callable,
    SlowBuffer: (size) => statics.allocUnsafeSlow(size),
    transcode,
    isUtf8: (input) => codec.validUTF8(viewOf(input)),
    isAscii: (input) => viewOf(input).every((byte) => byte < 128),
    kMaxLength, kStringMaxLength,
    constants: { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: kStringMaxLength },
    INSPECT_MAX_BYTES: 50,
    atob, btoa,
    get Blob() { return require('internal/blob').Blob; },
    get File() { return require('internal/blob').File; },
    resolveObjectURL: (id) => require('internal/blob').resolveObjectURL(id),
  },
};
