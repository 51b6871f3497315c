'use strict';
// The files that fs.promises.open gives.
const { promised, handle } = require('internal/fs_core');
const fs = require('internal/fs_members');
const { ops, readArgs, readInto, readvInto, writeArgs, writeFrom, writevFrom } = require('internal/fs');

class FileHandle extends require('events') {
  #fd;
  constructor(fd) { super(); this.#fd = fd; }
  get fd() { return this.#fd; }
  appendFile(value, opts) { return this.writeFile(value, opts); }
  writeFile(value, opts) { return this.#run(ops.writeFile(this.#fd, value, opts)); }
  readFile(opts) { return this.#run(ops.readFile(this.#fd, opts)); }
  stat(opts) { return this.#run(ops.fstat(this.#fd, opts)); }
  truncate(length) { return this.#run(ops.ftruncate(this.#fd, length)); }
  sync() { return this.#run(ops.fsync(this.#fd)); }
  datasync() { return this.#run(ops.fsync(this.#fd)); }
  async read(...args) { const a = readArgs(...args); return { bytesRead: await this.#run(readInto(this.#fd, a)), buffer: a.buffer }; }
  async write(value, ...args) { return { bytesWritten: await this.#run(writeFrom(this.#fd, writeArgs(value, ...args))), buffer: value }; }
  async readv(buffers, position) { return { bytesRead: await this.#run(readvInto(this.#fd, buffers, position)), buffers }; }
  async writev(buffers, position) { return { bytesWritten: await this.#run(writevFrom(this.#fd, buffers, position)), buffers }; }
  async close() {
    if (this.#fd === -1) return;
    const fd = this.#fd;
    this.#fd = -1;
    await promised(ops.close(fd));
    this.emit('close');
  }
  createReadStream(opts) { return fs.createReadStream(null, { ...opts, fd: this.#fd }); }
  createWriteStream(opts) { return fs.createWriteStream(null, { ...opts, fd: this.#fd }); }
  readLines(opts) { return lines(this.createReadStream({ encoding: 'utf8', ...opts })); }
  #run(steps) {
    if (this.#fd === -1) return Promise.reject(Object.assign(new Error('file closed'), { code: 'EBADF', syscall: 'fstat', errno: -9 }));
    return promised(steps);
  }
}
Object.defineProperty(FileHandle.prototype, Symbol.asyncDispose, { configurable: true, writable: true, value() { return this.close(); } });

// lines gives an async iterator over the lines of a stream of text.
function lines(stream) {
  const parts = stream[Symbol.asyncIterator]();
  let kept = '', ended = false;
  const ready = [];
  return {
    async next() {
      while (ready.length === 0 && !ended) {
        const { value, done } = await parts.next();
        if (done) { ended = true; if (kept !== '') ready.push(kept); break; }
        const found = (kept + value).split(/\r?\n/);
        kept = found.pop();
        ready.push(...found);
      }
      return ready.length > 0 ? { value: ready.shift(), done: false } : { value: undefined, done: true };
    },
    async return(value) { await parts.return?.(); return { value, done: true }; },
    [Symbol.asyncIterator]() { return this; },
  };
}

Object.defineProperty(FileHandle.prototype, handle, { value: true });

module.exports = { FileHandle };
