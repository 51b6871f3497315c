'use strict';
// The classes of node:stream/web by name, each made when it is touched.
const readable = 'internal/web_readable', bytes = 'internal/web_readable_bytes', writable = 'internal/web_writable', transform = 'internal/web_transform', queue = 'internal/web_queue', codecs = 'internal/web_codecs';
const homes = {
  __proto__: null,
  ReadableStream: readable, ReadableStreamDefaultReader: readable, ReadableStreamBYOBReader: bytes, ReadableStreamBYOBRequest: bytes, ReadableByteStreamController: bytes,
  ReadableStreamDefaultController: readable, TransformStream: transform, TransformStreamDefaultController: transform, WritableStream: writable, WritableStreamDefaultController: writable,
  WritableStreamDefaultWriter: writable, ByteLengthQueuingStrategy: queue, CountQueuingStrategy: queue, TextEncoderStream: codecs, TextDecoderStream: codecs, CompressionStream: codecs, DecompressionStream: codecs,
};
module.exports = require('internal/lazy').lazy(Object.keys(homes), (object, name) => { object[name] = require(homes[name])[name]; });
