'use strict';
// node:net for clients. The host connects, to hosts that permissions.net names.
const { Duplex } = require('stream');
const { nodeError, invalidArgType, check } = require('internal/errors');
const unsupported = require('internal/unsupported');
const tick = (f, ...args) => process.nextTick(f, ...args);

const isIP = unsupported.isIP;

// normalize reads the arguments of connect: (options), (port, host), (path), each with a callback.
function normalize(args) {
  if (Array.isArray(args[0])) args = args[0];
  let options = {};
  if (args[0] !== null && typeof args[0] === 'object') options = args[0];
  else if (typeof args[0] === 'string' && !/^\d+$/.test(args[0])) options = { path: args[0] };
  else { options = { port: args[0] }; if (typeof args[1] === 'string') options.host = args[1]; }
  const last = args[args.length - 1];
  return [options, typeof last === 'function' ? last : null];
}

function checkPort(port) {
  if (typeof port !== 'number' && typeof port !== 'string') throw nodeError('TypeError', 'ERR_MISSING_ARGS', 'The "options" or "port" or "path" argument must be specified');
  const n = typeof port === 'string' && port.trim() === '' ? NaN : Number(port);
  if (!Number.isInteger(n) || n < 0 || n > 65535) throw nodeError('RangeError', 'ERR_SOCKET_BAD_PORT', `Port should be >= 0 and < 65536. Received ${typeof port === 'string' ? `type string ('${port}')` : `type number (${port})`}.`);
  return n;
}

class Socket extends Duplex {
  #id = 0; #reading = null; #timer = null; #delay = 0; #timeoutOn = false;
  constructor(options = {}) {
    if (typeof options === 'number') throw invalidArgType('options', 'Object', options);
    super({ allowHalfOpen: true, emitClose: false, autoDestroy: true, decodeStrings: true, highWaterMark: options?.highWaterMark, signal: options?.signal });
    this.allowHalfOpen = !!options?.allowHalfOpen;
    this.connecting = false;
    this.pending = true;
    this._hadError = false;
    this.bytesRead = 0;
    this._bytesWritten = 0;
    this.timeout = 0;
    this.on('end', () => { if (!this.allowHalfOpen) this.end(); });
  }
  get bytesWritten() { return this._bytesWritten + (this.writableLength ?? 0); }
  get readyState() {
    if (this.connecting) return 'opening';
    if (this.readable && this.writable) return 'open';
    return this.readable ? 'readOnly' : this.writable ? 'writeOnly' : 'closed';
  }
  connect(...args) {
    const [options, callback] = normalize(args);
    if (callback) this.once('connect', callback);
    if (options.path !== undefined && options.path !== null && options.port === undefined) throw unsupported.unsupported('net', 'connect to a path', 'connect to a host and a port that permissions.net names');
    const port = checkPort(options.port), name = `${options.host ?? 'localhost'}`;
    this.connecting = true;
    this._host = name;
    if (options.timeout) this.setTimeout(options.timeout);
    const [id, opened] = host.open(name, port);
    this.#id = id;
    opened.then(([localAddress, localPort, remoteAddress, remotePort, remoteFamily]) => {
      if (this.destroyed) return;
      Object.assign(this, { localAddress, localPort, localFamily: remoteFamily, remoteAddress, remotePort, remoteFamily });
      if (!isIP(name)) this.emit('lookup', null, remoteAddress, remoteFamily === 'IPv6' ? 6 : 4, name);
      this._ready();
    }, (error) => { this.connecting = false; this.destroy(error); });
    return this;
  }
  // _ready tells that the connection is there, and sends what was written before.
  _ready() {
    this.connecting = this.pending = false;
    this._touch();
    this.emit('connect');
    this.emit('ready');
    this.emit('_connected');
    this.read(0);
    this._read(); // a server that closes is noticed, and the call waits for what may come
  }
  _read() {
    if (this.pending || this._successor || this.#reading !== null || this.destroyed) return;
    this.#reading = host.read(this.#id).then((chunk) => {
      this.#reading = null;
      if (this.destroyed || this._successor || chunk === undefined) return; // what came before TLS is no part of it
      this._take(chunk);
    }, (error) => { this.#reading = null; if (!this._successor) this.destroy(error); });
  }
  _take(chunk) {
    this._touch();
    if (chunk !== null) this.bytesRead += chunk.length;
    this.push(chunk === null ? null : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
  }
  _write(chunk, encoding, done) {
    if (this.pending) { this.once('_connected', () => this._write(chunk, encoding, done)); return; }
    this._touch();
    host.write(this.#id, chunk).then(() => { this._bytesWritten += chunk.length; this._touch(); done(); }, done);
  }
  _final(done) {
    if (this.pending) { if (this.connecting) this.once('_connected', () => this._final(done)); else done(); return; }
    host.end(this.#id).then(() => done(), () => done());
  }
  _destroy(error, done) {
    this.connecting = false;
    clearTimeout(this.#timer);
    if (this.#id !== 0 && !this._successor) host.close(this.#id);
    done(error);
    tick(() => this.emit('close', !!error));
  }
  // _handOver gives the connection to the one that goes on with it as TLS, once nothing reads it any more.
  async _handOver(successor) {
    this._successor = successor;
    successor._adopt(this.#id);
    host.pause(this.#id);
    await this.#reading;
    return this.#id;
  }
  _adopt(id) { this.#id = id; }
  _touch() {
    if (this.#delay === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => { if (!this.destroyed) this.emit('timeout'); }, this.#delay);
    this.#timer.unref?.();
  }
  setTimeout(delay, callback) {
    check.number(delay, 'msecs');
    if (callback !== undefined) check.function(callback, 'callback');
    this.timeout = this.#delay = Math.max(0, delay);
    clearTimeout(this.#timer);
    if (delay === 0) { if (callback) this.removeListener('timeout', callback); } else { if (callback) this.once('timeout', callback); this._touch(); }
    return this;
  }
  setNoDelay() { return this; }
  setKeepAlive() { return this; }
  ref() { return this; }
  unref() { return this; }
  address() { return this.localAddress === undefined ? {} : { address: this.localAddress, family: this.localFamily, port: this.localPort }; }
  destroySoon() { if (this.writable) this.end(); if (this.writableFinished) this.destroy(); else this.once('finish', this.destroy); }
  resetAndDestroy() { return this.destroy(); }
}
Object.defineProperty(Socket.prototype, '_type', { value: 'net' });

const connect = (...args) => {
  const [options, callback] = normalize(args);
  return new Socket(options).connect(options, ...(callback ? [callback] : []));
};

let autoSelectFamily = true;

class BlockList {
  constructor() { throw unsupported.unsupported('net', 'BlockList', 'the manifest says which hosts there are'); }
}

const NetSocket = callable(Socket);

module.exports = unsupported.module('net', {
  Socket: NetSocket, Stream: NetSocket, connect, createConnection: connect, BlockList, isIP, isIPv4: (text) => isIP(text) === 4, isIPv6: (text) => isIP(text) === 6,
  getDefaultAutoSelectFamily: () => autoSelectFamily, setDefaultAutoSelectFamily: (value) => { autoSelectFamily = !!value; },
  getDefaultAutoSelectFamilyAttemptTimeout: () => 250, setDefaultAutoSelectFamilyAttemptTimeout() {},
  _normalizeArgs: normalize,
});

// callable lets a class be called without new, as Node's is.
function callable(C) {
  const f = { [C.name]: function (...args) { return Reflect.construct(C, args, new.target ?? f); } }[C.name];
  Object.setPrototypeOf(f, C);
  Object.defineProperty(f, 'prototype', { value: C.prototype });
  Object.defineProperty(C.prototype, 'constructor', { value: f, writable: true, configurable: true });
  return f;
}
