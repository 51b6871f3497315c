'use strict';
// pipeTo: reads from one stream and writes to another until either ends.
const { react, deferred } = require('internal/web_queue');
const { ReadableStreamDefaultReader, readerOf, readInto, release: releaseReader, cancelStream } = require('internal/web_readable');
const writable = require('internal/web_writable');
const { invalidState } = require('internal/web_queue');
const noop = () => {};

function pipe(source, target, { preventAbort, preventCancel, preventClose, signal }) {
  const reader = readerOf(new ReadableStreamDefaultReader(source.object));
  const writer = writable.writerOf(new writable.WritableStreamDefaultWriter(target.object));
  const done = deferred();
  source.disturbed = true;
  let over = false, lastWrite = Promise.resolve(undefined);

  const finish = (failed, error) => {
    writable.release(writer);
    releaseReader(reader);
    signal?.removeEventListener('abort', onAbort);
    if (failed) done.reject(error); else done.resolve(undefined);
  };
  // shutdown waits for what was read to be written, then acts, then ends.
  const shutdown = (action, failed, error) => {
    if (over) return;
    over = true;
    const act = () => {
      if (action === undefined) { finish(failed, error); return; }
      react(action(), () => finish(failed, error), (reason) => finish(true, reason));
    };
    if (target.state === 'writable' && !writable.closes(target)) settle(act); else act();
  };
  // settle waits until no write that was begun is left.
  const settle = (act) => {
    const write = lastWrite;
    const next = () => { if (write === lastWrite) act(); else settle(act); };
    react(write, next, next);
  };
  function onAbort() {
    const { reason } = signal;
    const actions = [];
    if (!preventAbort) actions.push(() => target.state === 'writable' ? writable.abortStream(target, reason) : Promise.resolve(undefined));
    if (!preventCancel) actions.push(() => source.state === 'readable' ? cancelStream(source, reason) : Promise.resolve(undefined));
    shutdown(() => Promise.all(actions.map((action) => action())), true, reason);
  }
  if (signal !== undefined) {
    if (signal.aborted) { onAbort(); return done.promise; }
    signal.addEventListener('abort', onAbort, { once: true });
  }

  const sourceFailed = () => { if (preventAbort) shutdown(undefined, true, source.error); else shutdown(() => writable.abortStream(target, source.error), true, source.error); };
  const targetFailed = () => { if (preventCancel) shutdown(undefined, true, target.error); else shutdown(() => cancelStream(source, target.error), true, target.error); };
  const sourceEnded = () => { if (preventClose) shutdown(undefined, false); else shutdown(() => writable.closeWithPropagation(writer), false); };

  if (source.state === 'errored') sourceFailed(); else react(reader.closed.promise, noop, () => { if (source.state === 'errored') sourceFailed(); });
  if (target.state === 'errored') targetFailed(); else react(writer.closed.promise, noop, () => { if (target.state === 'errored') targetFailed(); });
  if (source.state === 'closed') sourceEnded(); else react(reader.closed.promise, () => { if (source.state === 'closed') sourceEnded(); }, noop);
  if (writable.closes(target) || target.state === 'closed') {
    const error = invalidState('Destination WritableStream is closed');
    if (preventCancel) shutdown(undefined, true, error); else shutdown(() => cancelStream(source, error), true, error);
  }

  const step = () => {
    if (over) return;
    react(writer.ready.promise, () => {
      if (over) return;
      readInto(reader, {
        chunk(value) {
          // In a job of its own, so that what a read sets off does not run within another.
          lastWrite = react(Promise.resolve(), () => writable.write(writer, value));
          react(lastWrite, noop, noop);
          react(Promise.resolve(), step);
        },
        close: noop, error: noop,
      });
    }, noop);
  };
  step();
  return done.promise;
}

module.exports = { pipe };
