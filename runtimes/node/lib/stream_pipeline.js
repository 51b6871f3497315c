'use strict';
// finished and pipeline.
const { nodeError, check, AbortError } = require('internal/errors');
const { noop, tick } = require('internal/stream_base');
const { Readable } = require('internal/stream_readable');

// finished tells when a stream has ended, failed or been closed early.
function finished(stream, options, done) {
  if (typeof options === 'function') { done = options; options = {}; }
  options ??= {};
  check.function(done, 'callback');
  let over = false;
  const finish = (error) => { if (over) return; over = true; cleanup(); done.call(stream, error ?? undefined); };
  const wantRead = options.readable !== false && (stream._readable ? stream._readable.enabled !== false : stream.readable === true);
  const wantWrite = options.writable !== false && (stream._writable ? stream._writable.enabled !== false : stream.writable === true);
  let readDone = !wantRead || stream.readableEnded === true, writeDone = !wantWrite || stream.writableFinished === true;
  const check_ = () => { if (readDone && writeDone) finish(); };
  const onEnd = () => { readDone = true; check_(); };
  const onFinish = () => { writeDone = true; check_(); };
  const onError = (error) => finish(error);
  const onClose = () => {
    if (stream.errored) finish(stream.errored);
    else if (!readDone || !writeDone) finish(nodeError('Error', 'ERR_STREAM_PREMATURE_CLOSE', 'Premature close'));
    else finish();
  };
  const onAbort = () => finish(new AbortError(undefined, { cause: options.signal.reason }));
  stream.on('end', onEnd); stream.on('finish', onFinish); stream.on('close', onClose);
  if (options.error !== false) stream.on('error', onError);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  if (options.signal?.aborted) tick(onAbort);
  else if (stream.closed) tick(onClose);
  else if (readDone && writeDone && (wantRead || wantWrite)) tick(finish);
  function cleanup() {
    stream.removeListener('end', onEnd); stream.removeListener('finish', onFinish); stream.removeListener('close', onClose); stream.removeListener('error', onError);
    options.signal?.removeEventListener('abort', onAbort);
  }
  return cleanup;
}

const isStream = (value) => value !== null && typeof value === 'object' && typeof value.pipe === 'function' || value?._writable !== undefined;

function pipeline(...streams) {
  const done = streams.pop();
  check.function(done, 'streams[stream.length - 1]');
  if (streams.length === 1 && Array.isArray(streams[0])) streams = streams[0];
  let options = {};
  const last = streams[streams.length - 1];
  if (streams.length > 2 && last && !isStream(last) && typeof last === 'object' && !last[Symbol.asyncIterator] && !last[Symbol.iterator]) options = streams.pop();
  if (streams.length < 2) throw nodeError('TypeError', 'ERR_MISSING_ARGS', 'The "streams" argument must be specified');
  let over = false, value;
  const made = [];
  const finish = (error) => {
    if (over) return;
    over = true;
    if (error) for (const s of made) s.on('error', noop), s.destroy(error);
    done(error ?? undefined, value);
  };
  let left = 0;
  const watch = (stream, sides) => {
    left++;
    made.push(stream);
    finished(stream, sides, (error) => { if (error) finish(error); else if (--left === 0) finish(); });
  };
  let current = streams[0];
  if (typeof current === 'function') current = current({ signal: options.signal });
  if (!isStream(current)) current = Readable.from(current);
  watch(current, { writable: false });
  for (let i = 1; i < streams.length; i++) {
    const next = streams[i], isLast = i === streams.length - 1;
    if (typeof next === 'function') {
      const result = next(current, { signal: options.signal });
      if (isLast && typeof result?.then === 'function') {
        left++;
        result.then((v) => { value = v; if (--left === 0) finish(); }, finish);
        break;
      }
      if (result?.[Symbol.asyncIterator] == null && !isStream(result)) { finish(nodeError('TypeError', 'ERR_INVALID_RETURN_VALUE', `Expected AsyncIterable to be returned from the "transform[${i - 1}]" function.`)); break; }
      current = isStream(result) ? result : Readable.from(result);
      watch(current, { writable: false });
      if (isLast) current.resume();
      continue;
    }
    watch(next, isLast ? { readable: false } : {});
    current.pipe(next, { end: options.end !== false || !isLast });
    current = next;
  }
  if (options.signal) { if (options.signal.aborted) tick(finish, new AbortError(undefined, { cause: options.signal.reason })); else options.signal.addEventListener('abort', () => finish(new AbortError(undefined, { cause: options.signal.reason })), { once: true }); }
  return current;
}

const promises = {
  pipeline: (...streams) => new Promise((resolve, reject) => pipeline(...streams, (error, value) => error ? reject(error) : resolve(value))),
  finished: (stream, options) => new Promise((resolve, reject) => finished(stream, options ?? {}, (error) => error ? reject(error) : resolve())),
};

const customPromisify = Symbol.for('nodejs.util.promisify.custom');
Object.defineProperty(pipeline, customPromisify, { enumerable: true, get: () => promises.pipeline });
Object.defineProperty(finished, customPromisify, { enumerable: true, get: () => promises.finished });

module.exports = { finished, pipeline, promises, isStream };
