'use strict';
// node:readline over streams: lines and questions. There is no terminal, so nothing is edited.
const EventEmitter = require('events');
require('internal/symbols');
const { nodeError, invalidArgType, invalidArgValue, check, AbortError } = require('internal/errors');
const { StringDecoder } = require('string_decoder');

const lineEnd = /\r?\n|\r(?!\n)|\u2028|\u2029/g;
const closedError = () => nodeError('Error', 'ERR_USE_AFTER_CLOSE', 'readline was closed');

class InterfaceBase extends EventEmitter {
  #decoder = new StringDecoder('utf8'); #kept = ''; #sawReturn = 0; #question = null; #started = false; #cleanup;
  constructor(input, output, completer, terminal) {
    super();
    let crlfDelay, prompt = '> ', signal;
    if (input?.input !== undefined) {
      ({ output, completer, terminal, crlfDelay, signal } = input);
      if (input.prompt !== undefined) ({ prompt } = input);
      const { historySize, history } = input;
      if (historySize !== undefined) check.integer(historySize, 'historySize', 0);
      if (history !== undefined && !Array.isArray(history)) throw invalidArgType('history', 'Array', history);
      ({ input } = input);
    }
    if (typeof input?.on !== 'function') throw invalidArgType('input', 'stream.Readable', input);
    if (completer !== undefined && completer !== null && typeof completer !== 'function') throw invalidArgValue('completer', completer);
    if (signal !== undefined) check.signal(signal, 'options.signal');
    Object.assign(this, { input, output: output ?? undefined, terminal: !!terminal, line: '', cursor: 0, closed: false, paused: false, crlfDelay: crlfDelay ? Math.max(100, crlfDelay) : 100, history: [] });
    Object.defineProperty(this, '_prompt', { value: prompt, writable: true });
    const onData = (chunk) => { this.#take(typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)); };
    const onEnd = () => {
      this.#take(this.#decoder.end());
      if (this.#kept !== '') { const line = this.#kept; this.#kept = ''; this.#line(line); }
      this.close();
    };
    const onError = (error) => { this.emit('error', error); };
    const onAbort = () => this.close();
    input.on('data', onData);
    input.on('end', onEnd);
    input.on('error', onError);
    if (signal?.aborted) process.nextTick(onAbort); else signal?.addEventListener('abort', onAbort, { once: true });
    this.#cleanup = () => { input.removeListener('data', onData); input.removeListener('end', onEnd); input.removeListener('error', onError); signal?.removeEventListener('abort', onAbort); };
    input.resume?.();
    this.#started = true;
  }
  #take(text) {
    if (text === '') return;
    // A "\n" soon after a "\r" belongs to it, also when the chunk ended between them.
    if (this.#sawReturn && text[0] === '\n' && Date.now() - this.#sawReturn <= this.crlfDelay) text = text.slice(1);
    this.#sawReturn = text[text.length - 1] === '\r' ? Date.now() : 0;
    const parts = (this.#kept + text).split(lineEnd);
    this.#kept = parts.pop();
    for (const line of parts) this.#line(line);
  }
  #line(line) {
    if (this.#question) {
      const answer = this.#question;
      this.#question = null;
      answer(line);
      return;
    }
    this.emit('line', line);
  }
  _ask(query, answer) {
    if (this.closed) throw closedError();
    if (this.#question) { this.prompt(); return; }
    this.output?.write(query);
    this.#question = answer;
    if (this.paused) this.resume();
  }
  _unask(answer) { if (this.#question === answer) this.#question = null; }
  setPrompt(prompt) { this._prompt = `${prompt}`; }
  getPrompt() { return this._prompt; }
  prompt() { if (this.paused) this.resume(); this.output?.write(this._prompt); }
  pause() {
    if (this.paused) return this;
    this.input.pause?.();
    this.paused = true;
    this.emit('pause');
    return this;
  }
  resume() {
    if (!this.paused) return this;
    this.input.resume?.();
    this.paused = false;
    this.emit('resume');
    return this;
  }
  write(text) {
    if (this.closed) throw closedError();
    if (this.paused) this.resume();
    if (text != null) this.#take(typeof text === 'string' ? text : this.#decoder.write(text));
  }
  close() {
    if (this.closed) return;
    this.#cleanup?.();
    if (this.#started) this.pause();
    this.closed = true;
    this.emit('close');
  }
  getCursorPos() { return { rows: 0, cols: 0 }; }
  [Symbol.asyncIterator]() {
    const lines = [], waiting = [];
    let ended = this.closed, failure;
    const next = () => {
      while (waiting.length > 0) {
        if (lines.length > 0) waiting.shift().resolve({ value: lines.shift(), done: false });
        else if (failure) { const w = waiting.shift(); w.reject(failure); failure = undefined; ended = true; } else if (ended) waiting.shift().resolve({ value: undefined, done: true });
        else break;
      }
    };
    const onLine = (line) => { lines.push(line); if (lines.length > 1024) this.pause(); next(); };
    const onClose = () => { ended = true; next(); };
    const onError = (error) => { failure = error; next(); };
    this.on('line', onLine);
    this.on('close', onClose);
    this.on('error', onError);
    const stop = () => { this.removeListener('line', onLine); this.removeListener('close', onClose); this.removeListener('error', onError); };
    return {
      next: () => new Promise((resolve, reject) => { waiting.push({ resolve, reject }); next(); if (lines.length < 512 && this.paused && !this.closed) this.resume(); }),
      return: (value) => { ended = true; stop(); next(); this.close(); return Promise.resolve({ value, done: true }); },
      throw: (error) => { stop(); this.close(); return Promise.reject(error); },
      [Symbol.asyncIterator]() { return this; },
    };
  }
}
Object.defineProperty(InterfaceBase.prototype, Symbol.dispose, { configurable: true, writable: true, value() { this.close(); } });

class Interface extends InterfaceBase {
  question(query, options, done) {
    if (typeof options === 'function') { done = options; options = {}; }
    const { signal } = options ?? {};
    if (signal !== undefined) {
      check.signal(signal, 'options.signal');
      if (signal.aborted) return;
      const answer = (line) => { signal.removeEventListener('abort', onAbort); done(line); };
      const onAbort = () => this._unask(answer);
      signal.addEventListener('abort', onAbort, { once: true });
      this._ask(query, answer);
      return;
    }
    if (typeof done === 'function') this._ask(query, done);
  }
}
Object.defineProperty(Interface.prototype.question, Symbol.for('nodejs.util.promisify.custom'), { value: function (query, options) { return Reflect.apply(ask, this, [query, options]); } });

// ask is question of node:readline/promises.
function ask(query, options = {}) {
  return new Promise((resolve, reject) => {
    const signal = options?.signal;
    if (signal !== undefined) {
      check.signal(signal, 'options.signal');
      if (signal.aborted) { reject(new AbortError(undefined, { cause: signal.reason })); return; }
    }
    const answer = (line) => { signal?.removeEventListener('abort', onAbort); resolve(line); };
    const onAbort = () => { this._unask(answer); reject(new AbortError(undefined, { cause: signal.reason })); };
    this._ask(query, answer);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
class PromisesInterface extends InterfaceBase {
  question(query, options) { return Reflect.apply(ask, this, [query, options]); }
}

// What moves the cursor of a terminal, as the text that says so.
function send(stream, text, done) {
  if (done !== undefined) check.function(done, 'callback');
  if (stream === null || stream === undefined || text === '') { if (done) process.nextTick(done, null); return true; }
  return stream.write(text, done);
}
const move = (dx, dy) => (dx < 0 ? `\x1b[${-dx}D` : dx > 0 ? `\x1b[${dx}C` : '') + (dy < 0 ? `\x1b[${-dy}A` : dy > 0 ? `\x1b[${dy}B` : '');
function place(x, y) {
  if (Number.isNaN(x)) throw invalidArgValue('x', x);
  if (Number.isNaN(y)) throw invalidArgValue('y', y);
  if (typeof x !== 'number' && typeof y === 'number') throw nodeError('TypeError', 'ERR_INVALID_CURSOR_POS', 'Cannot set cursor row without setting its column');
  if (typeof x !== 'number') return '';
  return typeof y !== 'number' ? `\x1b[${x + 1}G` : `\x1b[${y + 1};${x + 1}H`;
}
const clear = (direction) => direction < 0 ? '\x1b[1K' : direction > 0 ? '\x1b[0K' : '\x1b[2K';

class Readline {
  #stream; #todo = []; #autoCommit;
  constructor(stream, options) {
    if (typeof stream?.write !== 'function') throw invalidArgType('stream', 'Writable', stream);
    this.#stream = stream;
    this.#autoCommit = !!options?.autoCommit;
  }
  #do(text) { if (this.#autoCommit) process.nextTick(() => this.#stream.write(text)); else this.#todo.push(text); return this; }
  cursorTo(x, y) { return this.#do(place(x, y)); }
  moveCursor(dx, dy) { return dx || dy ? this.#do(move(dx, dy)) : this; }
  clearLine(direction) { check.integer(direction, 'dir', -1, 1); return this.#do(clear(direction)); }
  clearScreenDown() { return this.#do('\x1b[0J'); }
  commit() { return new Promise((resolve) => { this.#stream.write(this.#todo.join(''), resolve); this.#todo = []; }); }
  rollback() { this.#todo = []; return this; }
}

// An interface is made with and without "new".
const callable = (kind) => new Proxy(kind, { apply: (target, self, args) => new target(...args) });

const readline = {
  Interface: callable(Interface),
  createInterface: (...args) => new Interface(...args),
  clearLine: (stream, direction, done) => send(stream, clear(direction), done),
  clearScreenDown: (stream, done) => send(stream, '\x1b[0J', done),
  cursorTo(stream, x, y, done) { if (typeof y === 'function') { done = y; y = undefined; } return send(stream, stream == null ? '' : place(x, y), done); },
  moveCursor: (stream, dx, dy, done) => send(stream, move(dx, dy), done),
  emitKeypressEvents() {},
  promises: { Interface: PromisesInterface, Readline, createInterface: (...args) => new PromisesInterface(...args) },
};
module.exports = readline;
