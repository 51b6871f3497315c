'use strict';
// node:http and node:https for clients. A request is made by the host, as one of fetch is:
// to hosts that permissions.fetch names, without following redirects. Its body is collected
// before it is sent; what the host has decompressed is told as if it had never been compressed.
const { Readable, Writable } = require('stream');
const EventEmitter = require('events');
const { nodeError, invalidArgType, check } = require('internal/errors');
const unsupported = require('internal/unsupported');
const { wire } = require('internal/fetch');
const { token } = require('internal/headers');
const tick = (f, ...args) => process.nextTick(f, ...args);

const METHODS = 'ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE'.split(' ');
const STATUS_CODES = Object.fromEntries(`100 Continue|101 Switching Protocols|102 Processing|103 Early Hints|200 OK|201 Created|202 Accepted|203 Non-Authoritative Information|204 No Content|205 Reset Content|206 Partial Content|207 Multi-Status|208 Already Reported|226 IM Used|300 Multiple Choices|301 Moved Permanently|302 Found|303 See Other|304 Not Modified|305 Use Proxy|307 Temporary Redirect|308 Permanent Redirect|400 Bad Request|401 Unauthorized|402 Payment Required|403 Forbidden|404 Not Found|405 Method Not Allowed|406 Not Acceptable|407 Proxy Authentication Required|408 Request Timeout|409 Conflict|410 Gone|411 Length Required|412 Precondition Failed|413 Payload Too Large|414 URI Too Long|415 Unsupported Media Type|416 Range Not Satisfiable|417 Expectation Failed|418 I'm a Teapot|421 Misdirected Request|422 Unprocessable Entity|423 Locked|424 Failed Dependency|425 Too Early|426 Upgrade Required|428 Precondition Required|429 Too Many Requests|431 Request Header Fields Too Large|451 Unavailable For Legal Reasons|500 Internal Server Error|501 Not Implemented|502 Bad Gateway|503 Service Unavailable|504 Gateway Timeout|505 HTTP Version Not Supported|506 Variant Also Negotiates|507 Insufficient Storage|508 Loop Detected|509 Bandwidth Limit Exceeded|510 Not Extended|511 Network Authentication Required`.split('|').map((line) => [line.slice(0, 3), line.slice(4)]));

const maxBody = 64 * 1024 * 1024;

function validateHeaderName(name, label) {
  if (typeof name !== 'string' || !token.test(name)) throw nodeError('TypeError', 'ERR_INVALID_HTTP_TOKEN', `${label || 'Header name'} must be a valid HTTP token ["${name}"]`);
}
function validateHeaderValue(name, value) {
  if (value === undefined) throw nodeError('TypeError', 'ERR_HTTP_INVALID_HEADER_VALUE', `Invalid value "${value}" for header "${name}"`);
  if (/[^\t\x20-\x7e\x80-\xff]/.test(`${value}`)) throw nodeError('TypeError', 'ERR_INVALID_CHAR', `Invalid character in header content ["${name}"]`);
}

// Agent is what code expects of one; the host keeps the connections.
class Agent extends EventEmitter {
  constructor(options = {}) {
    super();
    this.options = { ...options, path: null };
    this.requests = {}; this.sockets = {}; this.freeSockets = {};
    this.keepAlive = !!options.keepAlive; this.keepAliveMsecs = options.keepAliveMsecs ?? 1000;
    this.maxSockets = options.maxSockets ?? Infinity; this.maxFreeSockets = options.maxFreeSockets ?? 256; this.maxTotalSockets = options.maxTotalSockets ?? Infinity;
    this.scheduling = options.scheduling ?? 'lifo';
  }
  get defaultPort() { return 80; }
  get protocol() { return 'http:'; }
  getName(options = {}) { return `${options.host ?? 'localhost'}:${options.port ?? ''}:${options.localAddress ?? ''}`; }
  createConnection() { throw unsupported.unsupported('http', 'Agent.createConnection', 'the host makes the connections of requests; for one of your own use node:net'); }
  keepSocketAlive() { return false; }
  reuseSocket() {}
  destroy() {}
}
class SecureAgent extends Agent {
  get defaultPort() { return 443; }
  get protocol() { return 'https:'; }
}

// pretended stands where code looks at the connection of a request.
class Pretended extends EventEmitter {
  constructor(encrypted) { super(); this.encrypted = encrypted; this.authorized = encrypted; this.destroyed = false; this.connecting = false; this.readable = this.writable = true; }
  setKeepAlive() { return this; }
  setNoDelay() { return this; }
  setTimeout() { return this; }
  ref() { return this; }
  unref() { return this; }
  cork() {}
  uncork() {}
  end() { return this; }
  destroy() { this.destroyed = true; return this; }
  address() { return {}; }
  getPeerCertificate() { return {}; }
}

class IncomingMessage extends Readable {
  #id = 0; #busy = false;
  constructor(socket = null) {
    super({ autoDestroy: true });
    Object.assign(this, { socket, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1, headers: {}, headersDistinct: {}, rawHeaders: [], trailers: {}, trailersDistinct: {}, rawTrailers: [], complete: false, aborted: false, url: '', method: null, statusCode: null, statusMessage: null });
  }
  get connection() { return this.socket; }
  _begin(id, status, text, raw) {
    this.#id = id;
    this.statusCode = status;
    this.statusMessage = text;
    const decoded = raw.some((name, i) => i % 2 === 0 && name === 'content-encoding' && /^(gzip|x-gzip|br|deflate)$/i.test(raw[i + 1]));
    for (let i = 0; i < raw.length; i += 2) {
      const name = raw[i], value = raw[i + 1];
      if (decoded && (name === 'content-encoding' || name === 'content-length')) continue;
      this.rawHeaders.push(name, value);
      (this.headersDistinct[name] ??= []).push(value);
      if (name === 'set-cookie') (this.headers[name] ??= []).push(value);
      else if (this.headers[name] === undefined) this.headers[name] = value;
      else if (!single.has(name)) this.headers[name] += (name === 'cookie' ? '; ' : ', ') + value;
    }
  }
  _end() { this.complete = true; this.push(null); }
  _read() {
    if (this.#busy || this.complete) return;
    this.#busy = true;
    wire.read(this.#id).then((chunk) => {
      this.#busy = false;
      if (this.destroyed) return;
      if (chunk === null) { this._end(); return; }
      this.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    }, (error) => {
      this.#busy = false;
      this.aborted = true;
      this.emit('aborted');
      this.destroy(error.code === 'UND_ERR_SOCKET' ? Object.assign(new Error('aborted'), { code: 'ECONNRESET' }) : error);
    });
  }
  _destroy(error, done) { if (!this.complete && this.#id !== 0) wire.abort(this.#id); done(error); }
  setTimeout(delay, callback) { this.req?.setTimeout(delay, callback); return this; }
}
const single = new Set(['age', 'authorization', 'content-length', 'content-type', 'etag', 'expires', 'from', 'host', 'if-modified-since', 'if-unmodified-since', 'last-modified', 'location', 'max-forwards', 'proxy-authorization', 'referer', 'retry-after', 'server', 'user-agent']);

class OutgoingMessage extends Writable {
  #headers = new Map(); // lower-case name → [name, value]
  constructor(options) {
    super({ autoDestroy: false, decodeStrings: true, ...options });
    this.headersSent = false; this.sendDate = false; this.chunkedEncoding = false; this.shouldKeepAlive = true; this.useChunkedEncodingByDefault = true;
  }
  setHeader(name, value) {
    if (this.headersSent) throw nodeError('Error', 'ERR_HTTP_HEADERS_SENT', 'Cannot set headers after they are sent to the client');
    validateHeaderName(name);
    if (value === undefined) validateHeaderValue(name, value);
    for (const item of [value].flat()) validateHeaderValue(name, item);
    this.#headers.set(name.toLowerCase(), [name, value]);
    return this;
  }
  setHeaders(headers) { for (const [name, value] of headers) this.setHeader(name, value); return this; }
  appendHeader(name, value) { const old = this.getHeader(name); return this.setHeader(name, old === undefined ? value : [old, value].flat()); }
  getHeader(name) { return this.#headers.get(`${name}`.toLowerCase())?.[1]; }
  getHeaderNames() { return [...this.#headers.keys()]; }
  getRawHeaderNames() { return [...this.#headers.values()].map(([name]) => name); }
  getHeaders() { return Object.assign(Object.create(null), Object.fromEntries([...this.#headers].map(([key, [, value]]) => [key, value]))); }
  hasHeader(name) { return this.#headers.has(`${name}`.toLowerCase()); }
  removeHeader(name) { this.#headers.delete(`${name}`.toLowerCase()); }
  flushHeaders() {}
  addTrailers() {}
  _raw() { return [...this.#headers.values()].flatMap(([name, value]) => [value].flat().flatMap((item) => [name, `${item}`])); }
}

function normalize(args, protocol) {
  let [input, options, callback] = args;
  if (typeof input === 'string') input = new URL(input);
  if (input instanceof URL) input = require('url').urlToHttpOptions(input); else { callback = options; options = input; input = null; }
  if (typeof options === 'function') { callback = options; options = {}; }
  return [{ protocol, ...input, ...options }, callback];
}

class ClientRequest extends OutgoingMessage {
  #parts = []; #size = 0; #id = 0; #timer = null; #protocol; #url;
  constructor(...args) {
    super();
    const [options, callback] = normalize(args, args[0]?.agent?.protocol ?? 'http:');
    if (options.socketPath) throw unsupported.unsupported('http', 'request over a socketPath', 'name a host that permissions.fetch names');
    this.#protocol = options.protocol ?? 'http:';
    if (this.#protocol !== 'http:' && this.#protocol !== 'https:') throw nodeError('TypeError', 'ERR_INVALID_PROTOCOL', `Protocol "${this.#protocol}" not supported. Expected "http:"`);
    const expected = options.agent?.protocol;
    if (expected !== undefined && options.agent !== false && expected !== this.#protocol) throw nodeError('TypeError', 'ERR_INVALID_PROTOCOL', `Protocol "${this.#protocol}" not supported. Expected "${expected}"`);
    this.method = (options.method ?? 'GET').toUpperCase();
    if (!token.test(this.method)) throw nodeError('TypeError', 'ERR_INVALID_HTTP_TOKEN', `Method must be a valid HTTP token ["${options.method}"]`);
    this.path = options.path || '/';
    if (/[^\x21-\xff]/.test(this.path)) throw nodeError('TypeError', 'ERR_UNESCAPED_CHARACTERS', 'Request path contains unescaped characters');
    this.host = options.hostname || options.host || 'localhost';
    this.protocol = this.#protocol;
    this.agent = options.agent === false ? new Agent() : options.agent ?? (this.#protocol === 'https:' ? secureAgent : globalAgent);
    this.aborted = false; this.reusedSocket = false; this.maxHeadersCount = null; this.res = null;
    const port = options.port || options.defaultPort || (this.#protocol === 'https:' ? 443 : 80);
    const name = this.host.includes(':') && !this.host.startsWith('[') ? `[${this.host}]` : this.host;
    this.#url = `${this.#protocol}//${name}:${port}${this.path.startsWith('/') ? '' : '/'}${this.path}`;
    if (Array.isArray(options.headers)) for (let i = 0; i + 1 < options.headers.length; i += 2) this.appendHeader(options.headers[i], options.headers[i + 1]);
    else for (const [key, value] of Object.entries(options.headers ?? {})) this.setHeader(key, value);
    if (!this.hasHeader('host')) this.setHeader('Host', (this.#protocol === 'https:' ? 443 : 80) === Number(port) ? name : `${name}:${port}`);
    if (options.auth && !this.hasHeader('authorization')) this.setHeader('Authorization', `Basic ${Buffer.from(options.auth).toString('base64')}`);
    if (callback) this.once('response', callback);
    this.socket = new Pretended(this.#protocol === 'https:');
    tick(() => { if (!this.destroyed) this.emit('socket', this.socket); });
    if (options.timeout !== undefined) this.setTimeout(options.timeout);
    if (options.signal) {
      check.signal(options.signal, 'options.signal');
      const abort = () => this.destroy(new (require('internal/errors').AbortError)(undefined, { cause: options.signal.reason }));
      if (options.signal.aborted) tick(abort); else options.signal.addEventListener('abort', abort, { once: true });
    }
  }
  get connection() { return this.socket; }
  _write(chunk, encoding, done) {
    this.#size += chunk.length;
    if (this.#size > maxBody) { done(nodeError('RangeError', 'ERR_OUT_OF_RANGE', `the request's body has more than ${maxBody} bytes, which is the most that this host sends`)); return; }
    this.#parts.push(Buffer.from(chunk));
    done();
  }
  _final(done) {
    done();
    if (this.destroyed) return;
    this.headersSent = true;
    const body = this.#size > 0 ? new Uint8Array(Buffer.concat(this.#parts)) : null;
    this.#parts = [];
    let answer;
    try { [this.#id, answer] = wire.send(this.method, this.#url, this._raw(), body, 'manual'); } catch (error) { this.destroy(error); return; }
    answer.then(([status, text, , , raw]) => {
      if (this.destroyed) { wire.abort(this.#id); return; }
      clearTimeout(this.#timer);
      const message = this.res = new IncomingMessage(this.socket);
      message.req = this;
      message._begin(this.#id, status, text, raw);
      if (this.method === 'HEAD' || status === 204 || status === 304) { wire.abort(this.#id); message._end(); }
      message.once('close', () => { if (!this.destroyed) this.destroy(); });
      if (!this.emit('response', message)) message.resume(); // nobody takes it
    }, (error) => this.destroy(error));
  }
  _destroy(error, done) {
    clearTimeout(this.#timer);
    if (this.res === null) {
      if (this.#id !== 0) wire.abort(this.#id);
      error ??= Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    } else if (!this.res.complete && !this.res.destroyed) this.res.destroy(error);
    this.socket.destroyed = true;
    done(error);
    tick(() => this.socket.emit('close', !!error));
  }
  abort() { if (this.aborted) return; this.aborted = true; tick(() => this.emit('abort')); this.destroy(); }
  setTimeout(delay, callback) {
    check.number(delay, 'msecs');
    clearTimeout(this.#timer);
    this.timeout = delay;
    if (callback) this.once('timeout', callback);
    if (delay > 0 && this.res === null) this.#timer = setTimeout(() => { this.emit('timeout'); this.socket.emit('timeout'); }, delay);
    return this;
  }
  setNoDelay() {}
  setSocketKeepAlive() {}
  onSocket() {}
  clearTimeout(callback) { this.setTimeout(0, callback); }
}

const globalAgent = new Agent({ keepAlive: true }), secureAgent = new SecureAgent({ keepAlive: true });

// clientOf gives request and get of a protocol.
function clientOf(protocol) {
  const request = (...args) => { const [options, callback] = normalize(args, protocol); return new ClientRequest(options, callback); };
  const get = (...args) => { const r = request(...args); r.end(); return r; };
  return { request, get };
}

const common = { METHODS, STATUS_CODES, maxHeaderSize: 16384, validateHeaderName, validateHeaderValue, setMaxIdleHTTPParsers() {} };

module.exports = {
  http: unsupported.module('http', { ...clientOf('http:'), Agent, globalAgent, ClientRequest, IncomingMessage, OutgoingMessage, ...common }),
  https: unsupported.module('https', { ...clientOf('https:'), Agent: SecureAgent, globalAgent: secureAgent }),
};
