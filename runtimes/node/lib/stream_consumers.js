'use strict';
// node:stream/consumers: a stream as a whole.
async function collect(stream) {
  const out = [];
  const it = stream[Symbol.asyncIterator]();
  for (;;) { const { value, done } = await it.next(); if (done) break; out.push(typeof value === 'string' ? Buffer.from(value) : value); }
  return Buffer.concat(out);
}
module.exports = {
  buffer: collect, blob: async (stream) => new Blob([await collect(stream)]),
  text: async (stream) => new TextDecoder().decode(await collect(stream)),
  json: async (stream) => JSON.parse(new TextDecoder().decode(await collect(stream))),
  arrayBuffer: async (stream) => { const b = await collect(stream); return b.buffer.slice(b.byteOffset, b.byteOffset + b.length); },
};
