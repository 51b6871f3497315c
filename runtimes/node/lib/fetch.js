'use strict';
// fetch, Request and Response. The host sends the requests; what comes is read from it.
const { Headers, freeze, rawOf, token } = require('internal/headers');
const { isArrayBuffer } = require('internal/buffer');
const custom = Symbol.for('nodejs.util.inspect.custom');
const forms = () => require('internal/form_data');
const blobs = () => require('internal/blob');
const streams = () => require('internal/web_readable');
const isKind = (value, tag) => value !== null && typeof value === 'object' && value[Symbol.toStringTag] === tag;
const making = Symbol('making');

// Content is a body: bytes, what the host still gets (remote), or a stream.
class Content {
  bytes = null; remote = null; stream = null; taken = false; failure = undefined; controller = null; type = null;
  static of(bytes, type = null) { const c = new Content(); c.bytes = bytes; c.type = type; return c; }
  get disturbed() { return this.taken || this.stream !== null && streams().stateOf(this.stream).disturbed; }
  get unusable() { return this.disturbed || this.stream !== null && this.stream.locked; }
}

const encode = (text) => new Uint8Array(require('internal/buffer').encode(text, 'utf8'));

// extract makes the content of what may be a body.
function extract(body) {
  if (isKind(body, 'ReadableStream') && streams().stateOf(body)) {
    if (body.locked || streams().stateOf(body).disturbed) throw new TypeError('Response body object should not be disturbed or locked');
    const content = new Content();
    content.stream = body;
    return content;
  }
  if (isKind(body, 'URLSearchParams')) return Content.of(encode(body.toString()), 'application/x-www-form-urlencoded;charset=UTF-8');
  if (isKind(body, 'Blob') || isKind(body, 'File')) return Content.of(blobs().bytesOf(body), body.type || null);
  if (isKind(body, 'FormData')) return Content.of(...forms().encode(body));
  if (isArrayBuffer(body)) return Content.of(new Uint8Array(body).slice());
  if (ArrayBuffer.isView(body)) return Content.of(new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice());
  if (body !== null && typeof body === 'object' && typeof body[Symbol.asyncIterator] === 'function') {
    const content = new Content();
    content.stream = streams().ReadableStream.from(body);
    return content;
  }
  return Content.of(encode(`${body}`.toWellFormed?.() ?? `${body}`), 'text/plain;charset=UTF-8');
}

// streamOf gives the stream of a content, and makes it when it is first asked for.
function streamOf(content) {
  if (content.stream !== null) return content.stream;
  const { ReadableStream } = require('stream/web');
  const { bytes, remote, taken } = content;
  const end = (controller) => { controller.close(); controller.byobRequest?.respond(0); };
  content.stream = new ReadableStream({
    type: 'bytes',
    start(controller) { content.controller = controller; if (taken) controller.close(); },
    async pull(controller) {
      if (bytes !== null) { if (bytes.length > 0) controller.enqueue(bytes.slice()); end(controller); return; }
      let chunk;
      try { chunk = await host.read(remote); } catch (error) { throw content.failure === undefined ? terminated(error) : content.failure; }
      if (chunk === null) end(controller); else controller.enqueue(chunk);
    },
    cancel() { if (remote !== null) host.abort(remote); },
  });
  content.bytes = content.remote = null;
  return content.stream;
}

// terminated is how the end of a connection is told whose response had begun.
function terminated(error) {
  if (error.name === 'PluginPermissionError' || error.name === 'AbortError') return error;
  if (error.code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return Object.assign(new TypeError(error.message), { code: error.code });
  return new TypeError('terminated', { cause: error });
}

const maxBody = 64 * 1024 * 1024;

async function drain(stream, limit = Infinity) {
  const reader = stream.getReader(), parts = [];
  let size = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return blobs().join(parts);
    const chunk = typeof value === 'string' && limit !== Infinity ? encode(value) : value;
    if (!(chunk instanceof Uint8Array)) throw new TypeError('Received non-Uint8Array chunk');
    if ((size += chunk.length) > limit) { reader.cancel().catch(() => {}); throw new RangeError(`the request's body has more than ${limit} bytes, which is the most that this host sends`); }
    parts.push(chunk);
  }
}

// take reads a content to its end, as bytes or (asText) as a text.
async function take(content, asText) {
  if (content === null) return asText ? '' : new Uint8Array(0);
  if (content.unusable) throw new TypeError('Body is unusable: Body has already been read');
  content.taken = true;
  if (content.remote !== null) {
    try { return await host.readAll(content.remote, asText); } catch (error) { throw content.failure === undefined ? terminated(error) : content.failure; }
  }
  const bytes = content.stream === null ? content.bytes : await drain(content.stream);
  return asText ? host.text(bytes) : content.stream === null ? bytes.slice() : bytes;
}

class Body {
  #content; #headers;
  constructor(content, headers) { this.#content = content; this.#headers = headers; }
  static { contentOf = (body) => body.#content; headersOf = (body) => body.#headers; setContent = (body, content) => { body.#content = content; }; }
  get headers() { return this.#headers; }
  get body() { return this.#content === null ? null : streamOf(this.#content); }
  get bodyUsed() { return this.#content !== null && this.#content.disturbed; }
  async arrayBuffer() { return (await take(this.#content, false)).buffer; }
  async bytes() { return await take(this.#content, false); }
  async text() { return await take(this.#content, true); }
  async json() { return JSON.parse(await take(this.#content, true)); }
  async blob() { return blobs().blobOf(await take(this.#content, false), this.#headers.get('content-type') ?? ''); }
  async formData() { const type = this.#headers.get('content-type'); return forms().decode(await take(this.#content, false), type); }
}
var contentOf, headersOf, setContent;

// copyOf gives a second content with the same bytes.
function copyOf(content) {
  if (content === null) return null;
  const copy = new Content();
  copy.type = content.type;
  if (content.bytes !== null) { copy.bytes = content.bytes; return copy; }
  [content.stream, copy.stream] = streamOf(content).tee();
  return copy;
}

const enums = {
  redirect: ['follow', 'manual', 'error'], mode: ['same-origin', 'cors', 'no-cors', 'navigate', 'websocket'], credentials: ['omit', 'same-origin', 'include'],
  cache: ['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'],
  referrerPolicy: ['', 'no-referrer', 'no-referrer-when-downgrade', 'same-origin', 'origin', 'strict-origin', 'origin-when-cross-origin', 'strict-origin-when-cross-origin', 'unsafe-url'],
};
const upper = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT']);

function checkMethod(method) {
  method = `${method}`;
  if (!token.test(method)) throw new TypeError(`'${method}' is not a valid HTTP method.`);
  const big = method.toUpperCase();
  if (big === 'CONNECT' || big === 'TRACE' || big === 'TRACK') throw new TypeError(`'${method}' HTTP method is unsupported.`);
  return upper.has(big) ? big : method;
}

class Request extends Body {
  #url; #method = 'GET'; #source = null; #signal = null;
  #options = { redirect: 'follow', mode: 'cors', credentials: 'same-origin', cache: 'default', referrer: 'about:client', referrerPolicy: '', integrity: '', keepalive: false };
  constructor(input, init = {}) {
    if (arguments.length === 0) throw new TypeError('Request constructor: 1 argument required, but 0 found.');
    init ??= {};
    if (typeof init !== 'object' && typeof init !== 'function') throw new TypeError('Request constructor: Expected init ("undefined") to be one of: Null, Undefined, Object.');
    const from = input instanceof Request ? input : null;
    const headers = new Headers(init.headers !== undefined ? init.headers : from ? from.headers : undefined);
    super(null, headers);
    if (from) { this.#url = from.#url; this.#method = from.#method; this.#source = from.#source ?? from.#signal; Object.assign(this.#options, from.#options); } else {
      let url;
      try { url = new URL(`${input}`); } catch (error) { throw new TypeError(`Failed to parse URL from ${input}`, { cause: error }); }
      if (url.username !== '' || url.password !== '') throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${input}`);
      this.#url = url.href;
    }
    for (const [name, allowed] of Object.entries(enums)) {
      if (init[name] === undefined) continue;
      const value = `${init[name]}`;
      if (!allowed.includes(value)) throw new TypeError(`Request constructor: ${value} is not an accepted type. Expected one of ${allowed.join(', ')}.`);
      this.#options[name] = value;
    }
    if (init.integrity !== undefined) this.#options.integrity = `${init.integrity}`;
    if (init.keepalive !== undefined) this.#options.keepalive = !!init.keepalive;
    if (init.method !== undefined) this.#method = checkMethod(init.method);
    if (init.signal !== undefined) {
      if (init.signal !== null && !isKind(init.signal, 'AbortSignal')) throw new TypeError("Failed to construct 'Request': member signal is not of type AbortSignal.");
      this.#source = init.signal;
      this.#signal = null;
    }
    const given = init.body ?? null;
    const inherited = from ? contentOf(from) : null;
    if ((given !== null || inherited !== null) && (this.#method === 'GET' || this.#method === 'HEAD')) throw new TypeError('Request with GET/HEAD method cannot have body.');
    if (given !== null) {
      const content = extract(given);
      if (content.stream !== null && init.duplex !== 'half') throw new TypeError('RequestInit: duplex option is required when sending a body.');
      if (content.type !== null && !headers.has('content-type')) headers.append('content-type', content.type);
      setContent(this, content);
    } else if (inherited !== null) {
      if (inherited.unusable) throw new TypeError('Cannot construct a Request with a Request object that has already been used.');
      const moved = Object.assign(new Content(), inherited, { taken: false });
      setContent(this, moved);
      inherited.taken = true;
    }
  }
  static { sourceOf = (request) => request.#source; }
  get method() { return this.#method; }
  get url() { return this.#url; }
  get signal() { return this.#signal ??= this.#source === null ? new AbortController().signal : AbortSignal.any([this.#source]); }
  get redirect() { return this.#options.redirect; }
  get mode() { return this.#options.mode; }
  get credentials() { return this.#options.credentials; }
  get cache() { return this.#options.cache; }
  get referrer() { return this.#options.referrer; }
  get referrerPolicy() { return this.#options.referrerPolicy; }
  get integrity() { return this.#options.integrity; }
  get keepalive() { return this.#options.keepalive; }
  get destination() { return ''; }
  get isReloadNavigation() { return false; }
  get isHistoryNavigation() { return false; }
  get duplex() { return 'half'; }
  clone() {
    const content = contentOf(this);
    if (content?.unusable) throw new TypeError('unusable');
    const copy = new Request(this.#url, { ...this.#options, method: this.#method, headers: this.headers });
    copy.#source = this.#source;
    setContent(copy, copyOf(content));
    return copy;
  }
  [custom](depth, options, inspect) {
    if (depth < 0) return this;
    const shown = {};
    for (const name of ['method', 'url', 'headers', 'destination', 'referrer', 'referrerPolicy', 'mode', 'credentials', 'cache', 'redirect', 'integrity', 'keepalive', 'isReloadNavigation', 'isHistoryNavigation', 'signal']) shown[name] = this[name];
    return `Request ${inspect(shown, { ...options, depth: options.depth ?? 2 })}`;
  }
}
var sourceOf;

const empty = new Set([101, 204, 205, 304]);

class Response extends Body {
  #type = 'default'; #url = ''; #redirected = false; #status = 200; #statusText = '';
  constructor(body = null, init = {}) {
    if (body === making) {
      super(init.content, init.headers);
      this.#type = init.type; this.#url = init.url; this.#redirected = init.redirected; this.#status = init.status; this.#statusText = init.statusText;
      return;
    }
    init ??= {};
    if (typeof init !== 'object' && typeof init !== 'function') throw new TypeError('Response constructor: Expected init ("undefined") to be one of: Null, Undefined, Object.');
    const headers = new Headers(init.headers);
    super(null, headers);
    if (init.status !== undefined) {
      const status = Math.trunc(Number(init.status)) & 0xffff;
      if (status < 200 || status > 599) throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
      this.#status = status;
    }
    if (init.statusText !== undefined) {
      const text = `${init.statusText}`;
      if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) throw new TypeError('Invalid statusText');
      this.#statusText = text;
    }
    if (body === null) return;
    if (empty.has(this.#status)) throw new TypeError(`Response constructor: Invalid response status code ${this.#status}`);
    const content = extract(body);
    setContent(this, content);
    if (content.type !== null && !headers.has('content-type')) headers.append('content-type', content.type);
  }
  static error() { return new Response(making, { content: null, headers: freeze(new Headers()), type: 'error', url: '', redirected: false, status: 0, statusText: '' }); }
  static json(data, init = {}) {
    if (arguments.length === 0) throw new TypeError('Response.json: 1 argument required, but 0 found.');
    const text = JSON.stringify(data);
    if (text === undefined) throw new TypeError('Value is not JSON serializable');
    const headers = new Headers(init?.headers);
    if (!headers.has('content-type')) headers.set('content-type', 'application/json');
    return new Response(text, { ...init, headers });
  }
  static redirect(url, status = 302) {
    let href;
    try { href = new URL(`${url}`).href; } catch (error) { throw new TypeError(`Failed to parse URL from ${url}`, { cause: error }); }
    if (![301, 302, 303, 307, 308].includes(status)) throw new RangeError(`Invalid status code ${status}`);
    return new Response(making, { content: null, headers: freeze(new Headers({ location: href })), type: 'default', url: '', redirected: false, status, statusText: '' });
  }
  get type() { return this.#type; }
  get url() { return this.#url; }
  get redirected() { return this.#redirected; }
  get status() { return this.#status; }
  get ok() { return this.#status >= 200 && this.#status <= 299; }
  get statusText() { return this.#statusText; }
  clone() {
    const content = contentOf(this);
    if (content?.unusable) throw new TypeError('Response.clone: Body has already been consumed.');
    return new Response(making, { content: copyOf(content), headers: new Headers(this.headers), type: this.#type, url: this.#url, redirected: this.#redirected, status: this.#status, statusText: this.#statusText });
  }
  [custom](depth, options, inspect) {
    if (depth < 0) return this;
    const shown = {};
    for (const name of ['status', 'statusText', 'headers', 'body', 'bodyUsed', 'ok', 'redirected', 'type', 'url']) shown[name] = this[name];
    return `Response ${inspect(shown, { ...options, depth: options.depth ?? 2 })}`;
  }
}
for (const C of [Request, Response]) {
  for (const name of ['headers', 'body', 'bodyUsed', 'arrayBuffer', 'bytes', 'text', 'json', 'blob', 'formData']) Object.defineProperty(C.prototype, name, { ...Object.getOwnPropertyDescriptor(Body.prototype, name), enumerable: true });
  for (const name of Object.getOwnPropertyNames(C.prototype)) if (name !== 'constructor') Object.defineProperty(C.prototype, name, { enumerable: true });
  Object.defineProperty(C.prototype, Symbol.toStringTag, { configurable: true, value: C.name });
}

const fail = (message) => new TypeError('fetch failed', { cause: new Error(message) });

// failed is how a request that got no response is told. What the author can mend keeps its own words.
function failed(error) {
  if (error.name === 'PluginPermissionError' || error.code === 'ERR_UNSUPPORTED_IN_HOST') return error;
  if (error.code === 'ERR_INVALID_ARG_VALUE' || error.code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return Object.assign(new TypeError(error.message), { code: error.code });
  return new TypeError('fetch failed', { cause: error });
}

// What no request of fetch goes to, by the standard: ports of other protocols.
const badPorts = new Set('1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080'.split(' '));

function local(content, headers, url, statusText = 'OK') {
  return new Response(making, { content, headers: freeze(new Headers(headers)), type: 'default', url, redirected: false, status: 200, statusText });
}

function fetchData(url) {
  const found = /^data:([^,]*?)(;\s*base64)?\s*,(.*)$/is.exec(url.split('#')[0]);
  if (!found) throw fail('failed to fetch the data URL');
  const bytes = host.percentDecoded(found[3]);
  let type = found[1].trim();
  if (type.startsWith(';')) type = `text/plain${type}`;
  if (!/^[^\s/;]+\/[^\s/;]+/.test(type)) type = 'text/plain;charset=US-ASCII';
  let data = bytes;
  if (found[2] !== undefined) { try { data = encodeLatin1(atob(decodeLatin1(bytes))); } catch { throw fail('failed to fetch the data URL'); } }
  return local(Content.of(data), { 'content-type': type }, url);
}
const decodeLatin1 = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
const encodeLatin1 = (text) => new Uint8Array(Buffer.from(text, 'latin1'));

function fetchBlob(request) {
  const blob = blobs().resolveObjectURL(request.url.split('#')[0]);
  if (blob === undefined || request.method !== 'GET') throw fail('invalid method');
  return local(Content.of(blobs().bytesOf(blob)), { 'content-type': blob.type, 'content-length': `${blob.size}` }, request.url);
}

async function fetch(input, init = undefined) {
  const request = new Request(input, init);
  const signal = sourceOf(request);
  if (signal?.aborted) throw signal.reason;
  const url = new URL(request.url);
  switch (url.protocol) {
    case 'http:': case 'https:': break;
    case 'data:': return fetchData(url.href);
    case 'blob:': return fetchBlob(request);
    case 'about:': throw fail('about scheme is not supported');
    case 'file:': throw fail('fetch takes no file: URLs; read files with node:fs');
    default: throw fail('unknown scheme');
  }
  if (badPorts.has(url.port)) throw fail('bad port');
  const content = contentOf(request);
  let body = null;
  if (content !== null) {
    if (content.stream === null) { content.taken = true; body = content.bytes; } else body = await drain(streamOf(content), maxBody);
    if (signal?.aborted) throw signal.reason;
  }
  url.hash = '';
  const [id, answer] = host.send(request.method, url.href, rawOf(request.headers), body, request.redirect);
  let got = null;
  const abort = () => {
    host.abort(id);
    if (got === null) return;
    got.failure = signal.reason;
    got.controller?.error(signal.reason);
  };
  signal?.addEventListener('abort', abort, { once: true });
  let response;
  try { response = await answer; } catch (error) {
    signal?.removeEventListener('abort', abort);
    throw signal?.aborted ? signal.reason : failed(error);
  }
  const [status, statusText, finalURL, redirected, raw] = response;
  const headers = new Headers();
  for (let i = 0; i < raw.length; i += 2) headers.append(raw[i], raw[i + 1]);
  freeze(headers);
  let answered = null;
  if (empty.has(status) || request.method === 'HEAD') host.abort(id);
  else {
    answered = got = new Content();
    got.remote = id;
    if (request.integrity !== '') answered = await verified(got, request.integrity);
  }
  return new Response(making, { content: answered, headers, type: 'basic', url: redirected ? new URL(finalURL).href : url.href, redirected, status, statusText });
}

// verified reads a body whose digest the caller knows.
async function verified(content, integrity) {
  const bytes = await take(content, false);
  const wanted = [...integrity.matchAll(/\b(sha256|sha384|sha512)-([A-Za-z0-9+/_-]+={0,2})/g)];
  const plain = (text) => text.replace(/-/g, '+').replace(/_/g, '/').replace(/=+$/, '');
  const strongest = ['sha512', 'sha384', 'sha256'].find((name) => wanted.some(([, n]) => n === name));
  if (strongest !== undefined) {
    const digest = plain(require('crypto').createHash(strongest).update(bytes).digest('base64'));
    if (!wanted.some(([, name, value]) => name === strongest && plain(value) === digest)) throw fail('integrity mismatch');
  }
  return Content.of(bytes);
}

module.exports = { fetch, Request, Response, wire: { send: host.send, read: host.read, abort: host.abort } };
