'use strict';
// Streams of Node made from those of the web, and the other way round.
const { invalidArgType, AbortError } = require('internal/errors');
const { finished } = require('internal/stream_pipeline');
const { Readable } = require('internal/stream_readable');
const { Writable } = require('internal/stream_writable');
const { Duplex } = require('internal/stream_duplex');

const isReadable = (value) => require('internal/web_readable').stateOf(value) !== undefined, isWritable = (value) => require('internal/web_writable').stateOf(value) !== undefined;

// reading gives read and destroy of a stream that reads from the web's.
function reading(reader) {
  let ended = false;
  reader.closed.then(() => { ended = true; }, () => { ended = true; });
  return {
    read() { reader.read().then(({ value, done }) => { if (done) { ended = true; this.push(null); } else this.push(value); }, (error) => this.destroy(error)); },
    cancel(error, done) {
      if (ended) { done(); return; }
      ended = true;
      reader.cancel(error).then(() => done(), done);
    },
  };
}

// writing gives write, final and destroy of a stream that writes to the web's.
function writing(writer) {
  let ended = false;
  writer.closed.then(() => { ended = true; }, () => { ended = true; });
  return {
    write(chunk, encoding, done) { writer.ready.then(() => writer.write(chunk)).then(() => done(), (error) => done(error)); },
    final(done) { if (ended) done(); else writer.close().then(() => { ended = true; done(); }, (error) => done(error)); },
    abort(error, done) {
      if (ended) { done(); return; }
      ended = true;
      (error == null ? writer.close() : writer.abort(error)).then(() => done(), done);
    },
    closed: writer.closed,
  };
}

function readableFromWeb(stream, options = {}) {
  if (!isReadable(stream)) throw invalidArgType('readableStream', 'ReadableStream', stream);
  const { highWaterMark, encoding, objectMode = false, signal } = options;
  const { read, cancel } = reading(stream.getReader());
  return new Readable({ objectMode, highWaterMark, encoding, signal, read, destroy(error, done) { cancel(error, (failure) => done(error ?? failure)); } });
}

function writableFromWeb(stream, options = {}) {
  if (!isWritable(stream)) throw invalidArgType('writableStream', 'WritableStream', stream);
  const { highWaterMark, decodeStrings = true, objectMode = false, signal } = options;
  const { write, final, abort, closed } = writing(stream.getWriter());
  const writable = new Writable({ objectMode, highWaterMark, decodeStrings, signal, write, final, destroy(error, done) { abort(error, () => done(error)); } });
  closed.catch((error) => { if (!writable.destroyed) writable.destroy(error); });
  return writable;
}

function duplexFromWeb(pair, options = {}) {
  if (!isReadable(pair?.readable)) throw invalidArgType('pair.readable', 'ReadableStream', pair?.readable);
  if (!isWritable(pair.writable)) throw invalidArgType('pair.writable', 'WritableStream', pair.writable);
  const { allowHalfOpen = false, objectMode = false, encoding, decodeStrings = true, highWaterMark, signal } = options;
  const { read, cancel } = reading(pair.readable.getReader()), { write, final, abort, closed } = writing(pair.writable.getWriter());
  const duplex = new Duplex({ allowHalfOpen, objectMode, encoding, decodeStrings, highWaterMark, signal, read, write, final, destroy(error, done) { cancel(error, () => abort(error, () => done(error))); } });
  closed.catch((error) => { if (!duplex.destroyed) duplex.destroy(error); });
  return duplex;
}

function readableToWeb(stream, options = {}) {
  if (typeof stream?.read !== 'function' || typeof stream.on !== 'function') throw invalidArgType('streamReadable', 'stream.Readable', stream);
  if (stream.destroyed || stream.readable === false) { const empty = new ReadableStream(); empty.cancel(); return empty; }
  const { readableObjectMode: objectMode, readableHighWaterMark: highWaterMark } = stream;
  const strategy = options?.strategy ?? (objectMode ? new CountQueuingStrategy({ highWaterMark }) : { highWaterMark });
  let controller;
  const onData = (chunk) => {
    if (Buffer.isBuffer(chunk) && !objectMode) chunk = new Uint8Array(chunk);
    controller.enqueue(chunk);
    if (controller.desiredSize <= 0) stream.pause();
  };
  stream.pause();
  const cleanup = finished(stream, { writable: false }, (error) => {
    if (error?.code === 'ERR_STREAM_PREMATURE_CLOSE') error = new AbortError(undefined, { cause: error });
    cleanup();
    stream.on('error', () => {});
    if (error) controller.error(error); else controller.close();
  });
  stream.on('data', onData);
  return new ReadableStream({
    start(c) { controller = c; },
    pull() { stream.resume(); },
    cancel(reason) { if (!stream.destroyed) stream.destroy(reason instanceof Error ? reason : reason === undefined ? undefined : new AbortError(undefined, { cause: reason })); },
  }, strategy);
}

function writableToWeb(stream) {
  if (typeof stream?.write !== 'function' || typeof stream.on !== 'function') throw invalidArgType('streamWritable', 'stream.Writable', stream);
  if (stream.destroyed || stream.writable === false) { const closed = new WritableStream(); closed.close(); return closed; }
  const { writableObjectMode: objectMode, writableHighWaterMark: highWaterMark } = stream;
  let controller, drained = null, closing = null;
  const cleanup = finished(stream, { readable: false }, (error) => {
    if (error?.code === 'ERR_STREAM_PREMATURE_CLOSE') error = new AbortError(undefined, { cause: error });
    cleanup();
    stream.on('error', () => {});
    if (error) { drained?.reject(error); closing?.reject(error); if (!closing) controller.error(error); } else if (closing) closing.resolve(); else controller.error(new AbortError());
    drained = closing = null;
  });
  const wait = () => { const d = {}; d.promise = new Promise((resolve, reject) => { d.resolve = resolve; d.reject = reject; }); return d; };
  stream.on('drain', () => { drained?.resolve(); drained = null; });
  return new WritableStream({
    start(c) { controller = c; },
    write(chunk) {
      if (stream.writableNeedDrain || !stream.write(chunk)) { drained = wait(); return drained.promise.then(() => undefined); }
      return undefined;
    },
    abort(reason) { stream.destroy(reason); },
    close() { if (closing === null && !stream.writableEnded) { closing = wait(); const { promise } = closing; stream.end(); return promise; } return undefined; },
  }, objectMode ? new CountQueuingStrategy({ highWaterMark }) : { highWaterMark });
}

const duplexToWeb = (stream) => {
  if (stream?._readable === undefined || stream?._writable === undefined) throw invalidArgType('duplex', 'stream.Duplex', stream);
  return { readable: readableToWeb(stream), writable: writableToWeb(stream) };
};

module.exports = { readableFromWeb, readableToWeb, writableFromWeb, writableToWeb, duplexFromWeb, duplexToWeb };
