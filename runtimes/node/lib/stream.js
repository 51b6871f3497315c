'use strict';
// node:stream: its parts are in libraries of their own.
const { Stream, addAbortSignal } = require('internal/stream_base');
const { Readable } = require('internal/stream_readable');
const { Writable } = require('internal/stream_writable');
const { Duplex, Transform, PassThrough } = require('internal/stream_duplex');
const { finished, pipeline, promises } = require('internal/stream_pipeline');

const lazy = { consumers: { enumerable: true, configurable: true, get: () => require('internal/stream_consumers') } };
module.exports = Object.defineProperties(Object.assign(Stream, {
  Stream, Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished, addAbortSignal, promises,
  compose: (first, ...streams) => streams.reduce((stream, next) => stream.compose(next), first instanceof Readable ? first : Duplex.from(first)),
  destroy: (stream, error) => { if (stream && !stream.destroyed) stream.destroy(error ?? new (require('internal/errors').AbortError)()); return stream; },
  isErrored: (stream) => !!stream.errored, isReadable: (stream) => stream.readable === true, isDisturbed: (stream) => !!stream.readableDidRead,
  getDefaultHighWaterMark: (objectMode) => objectMode ? 16 : 16384, setDefaultHighWaterMark() {}, _uint8ArrayToBuffer: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
}), lazy);
