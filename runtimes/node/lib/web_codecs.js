'use strict';
// Streams that encode, decode, compress and decompress.
const { show, custom, finishClass, invalidThis } = require('internal/web_queue');
const { make } = require('internal/web_transform');
const { invalidArgValue, invalidArgType } = require('internal/errors');

function codecClass(name, members, transformer) {
  let transformOf;
  const kind = { [name]: class {
    #transform; #extra;
    static { transformOf = (value) => { if (value === null || typeof value !== 'object' || !(#transform in value)) throw invalidThis(name); return [value.#transform, value.#extra]; }; }
    constructor(...args) {
      const [extra, algorithms] = transformer(...args);
      this.#extra = extra;
      this.#transform = make(algorithms);
    }
    get readable() { return transformOf(this)[0].readable; }
    get writable() { return transformOf(this)[0].writable; }
    [custom](depth, options) {
      const [transform, extra] = transformOf(this);
      const shown = {};
      for (const key of members) shown[key] = extra[key];
      return show(name, { ...shown, readable: transform.readable, writable: transform.writable }, depth, options);
    }
  } }[name];
  for (const key of members) Object.defineProperty(kind.prototype, key, { configurable: true, get() { return transformOf(this)[1][key]; } });
  finishClass(kind, members.length > 0 ? undefined : name); // those of text have no tag in Node
  Object.defineProperty(kind, 'length', { value: 0, configurable: true });
  return kind;
}

const TextEncoderStream = codecClass('TextEncoderStream', ['encoding'], () => {
  const encoder = new (require('internal/text_codecs').TextEncoder)();
  let high = ''; // a first half of a character that the next chunk may complete
  return [encoder, {
    transform(chunk, controller) {
      let text = high + chunk;
      high = '';
      const last = text.charCodeAt(text.length - 1);
      if (last >= 0xd800 && last <= 0xdbff) { high = text[text.length - 1]; text = text.slice(0, -1); }
      if (text !== '') controller.enqueue(encoder.encode(text));
    },
    flush(controller) { if (high !== '') controller.enqueue(encoder.encode(high)); },
  }];
});

const TextDecoderStream = codecClass('TextDecoderStream', ['encoding', 'fatal', 'ignoreBOM'], (encoding = 'utf-8', options = {}) => {
  const decoder = new (require('internal/text_codecs').TextDecoder)(encoding, options);
  return [decoder, {
    transform(chunk, controller) {
      const text = decoder.decode(chunk, { stream: true });
      if (text !== '') controller.enqueue(text);
    },
    flush(controller) {
      const text = decoder.decode();
      if (text !== '') controller.enqueue(text);
    },
  }];
});

const kinds = { __proto__: null, gzip: ['createGzip', 'createGunzip'], deflate: ['createDeflate', 'createInflate'], 'deflate-raw': ['createDeflateRaw', 'createInflateRaw'] };

function zipClass(name, which) {
  return codecClass(name, [], (format) => {
    const made = kinds[format];
    if (made === undefined) throw invalidArgValue('format', format);
    const stream = require('zlib')[made[which]]();
    let give, refuse, failure;
    stream.on('data', (chunk) => give?.(chunk));
    stream.on('error', (error) => { failure = error; refuse?.(error); });
    const through = (controller, act) => new Promise((resolve, reject) => {
      if (failure) { reject(failure); return; }
      give = (chunk) => controller.enqueue(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length));
      refuse = reject;
      act(resolve);
    });
    return [{}, {
      transform(chunk, controller) {
        if (!ArrayBuffer.isView(chunk) && Object.prototype.toString.call(chunk) !== '[object ArrayBuffer]') throw invalidArgType('chunk', ['Buffer', 'TypedArray', 'DataView'], chunk);
        const bytes = ArrayBuffer.isView(chunk) ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength) : new Uint8Array(chunk);
        return through(controller, (done) => stream.write(bytes, () => done()));
      },
      flush: (controller) => through(controller, (done) => { stream.once('end', done); stream.end(); }),
      cancel() { stream.destroy(); },
    }];
  });
}

module.exports = { TextEncoderStream, TextDecoderStream, CompressionStream: zipClass('CompressionStream', 0), DecompressionStream: zipClass('DecompressionStream', 1) };
