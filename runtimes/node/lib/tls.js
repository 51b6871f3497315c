'use strict';
// node:tls for clients.
const { Socket, isIP, _normalizeArgs } = require('net');
const { nodeError, invalidArgType } = require('internal/errors');
const unsupported = require('internal/unsupported');

// pem gives what is PEM text, in a list or not, as one text.
function pem(value, name) {
  if (value == null) return '';
  return [value].flat().map((item) => {
    if (typeof item === 'string') return item;
    if (ArrayBuffer.isView(item)) return Buffer.from(item.buffer, item.byteOffset, item.byteLength).toString();
    if (item !== null && typeof item === 'object' && 'pem' in item) return pem(item.pem, name);
    throw invalidArgType(`options.${name}`, ['string', 'Buffer', 'TypedArray', 'DataView'], item);
  }).join('\n');
}

const versions = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'];

function createSecureContext(options = {}) {
  for (const name of ['minVersion', 'maxVersion']) if (options[name] !== undefined && options[name] !== null && !versions.includes(options[name])) throw nodeError('TypeError', 'ERR_TLS_INVALID_PROTOCOL_VERSION', `'${options[name]}' is not a valid ${name === 'minVersion' ? 'minimum' : 'maximum'} TLS protocol version`);
  if (options.pfx !== undefined) throw unsupported.unsupported('tls', 'connect with pfx', 'give the certificate and its key in PEM form as cert and key');
  return { context: { ca: pem(options.ca, 'ca'), cert: pem(options.cert, 'cert'), key: pem(options.key, 'key'), tls13: options.minVersion === 'TLSv1.3' } };
}

class TLSSocket extends Socket {
  encrypted = true; authorized = false; authorizationError = null; alpnProtocol = null; secureConnecting = true;
  #state = null; #options;
  constructor(socket, options = {}) {
    super({ allowHalfOpen: options.allowHalfOpen, highWaterMark: options.highWaterMark, signal: options.signal });
    this.#options = options;
    if (options.isServer) throw unsupported.unsupported('tls', 'TLSSocket for a server');
    if (socket) this._begin(socket);
  }
  // _begin takes over a socket that is, or will be, connected.
  _begin(socket) {
    if (!(socket instanceof Socket)) throw invalidArgType('options.socket', 'net.Socket', socket);
    const context = this.#options.secureContext?.context ?? createSecureContext(this.#options).context;
    const alpn = this.#options.ALPNProtocols;
    this.connecting = true;
    if (this.#options.socket === undefined) socket.on('lookup', (...args) => this.emit('lookup', ...args));
    const start = async () => {
      for (const name of ['localAddress', 'localPort', 'localFamily', 'remoteAddress', 'remotePort', 'remoteFamily']) this[name] = socket[name];
      this.emit('connect'); // of the connection below
      const id = await socket._handOver(this);
      const name = this.#options.servername || (isIP(this.#options.host ?? '') ? '' : this.#options.host) || socket._host || this.#options.host || '';
      this.servername = isIP(name) ? false : name;
      try {
        const secured = await host.secure(id, { ...context, servername: name, insecure: this.#options.rejectUnauthorized === false, alpn: alpn == null ? null : protocols(alpn) });
        if (this.destroyed) return;
        this.#state = secured;
        this.authorized = secured.problem === null;
        this.authorizationError = secured.problem === null ? null : secured.problem.code ?? secured.problem.message;
        this.alpnProtocol = secured.alpn === '' ? false : secured.alpn;
        const checkIdentity = this.#options.checkServerIdentity;
        const mismatch = typeof checkIdentity === 'function' && this.#options.rejectUnauthorized !== false ? checkIdentity(name, this.getPeerCertificate()) : undefined;
        if (mismatch) throw mismatch;
        this.secureConnecting = false;
        this.#begun();
      } catch (error) { this.destroy(error); }
    };
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => { if (!this.destroyed && socket._successor !== this) this.destroy(); });
    this.once('close', () => socket.destroy());
    if (socket.connecting) socket.once('connect', start); else if (socket.destroyed || socket.pending) process.nextTick(() => this.destroy(nodeError('Error', 'ERR_SOCKET_CLOSED', 'Socket is closed'))); else process.nextTick(start);
  }
  #begun() {
    this.connecting = this.pending = false;
    this._touch();
    this.emit('secureConnect');
    this.emit('secure');
    this.emit('ready');
    this.emit('_connected');
    this.read(0);
    this._read();
  }
  getPeerCertificate() { return this.#state?.certificate ?? {}; }
  getPeerX509Certificate() { return undefined; }
  getCertificate() { return {}; }
  getProtocol() { return this.#state?.protocol ?? null; }
  getCipher() { const name = this.#state?.cipher; return name === undefined ? undefined : { name, standardName: name, version: this.getProtocol() }; }
  getSession() { return undefined; }
  isSessionReused() { return false; }
  getEphemeralKeyInfo() { return {}; }
  getFinished() { return undefined; }
  getPeerFinished() { return undefined; }
  setServername(name) { this.#options = { ...this.#options, servername: `${name}` }; }
  setMaxSendFragment() { return true; }
  disableRenegotiation() {}
  enableTrace() {}
  renegotiate(options, callback) { if (callback) process.nextTick(callback, unsupported.unsupported('tls', 'renegotiate', 'open another connection')); return false; }
}

function protocols(list) {
  if (Array.isArray(list)) return list.map((item) => typeof item === 'string' ? item : Buffer.from(item).toString('latin1'));
  const bytes = Buffer.from(list.buffer ?? list, list.byteOffset, list.byteLength), out = [];
  for (let at = 0; at < bytes.length; at += 1 + bytes[at]) out.push(bytes.toString('latin1', at + 1, at + 1 + bytes[at]));
  return out;
}

function connect(...args) {
  let [options, callback] = _normalizeArgs(args);
  const more = args.find((arg, i) => i > 0 && arg !== null && typeof arg === 'object');
  options = { ...options, ...more };
  const socket = new TLSSocket(null, options);
  if (callback) socket.once('secureConnect', callback);
  if (options.timeout) socket.setTimeout(options.timeout);
  socket._begin(options.socket ?? new Socket({}).connect({ ...options, timeout: undefined }));
  return socket;
}

// checkServerIdentity compares a name with those of a certificate.
function checkServerIdentity(name, cert) {
  const names = (cert.subjectaltname ?? '').split(', ').filter(Boolean);
  const hosts = names.filter((n) => n.startsWith('DNS:')).map((n) => n.slice(4)), addresses = names.filter((n) => n.startsWith('IP Address:')).map((n) => n.slice(11));
  name = `${name}`.replace(/\.$/, '').toLowerCase();
  const fits = (pattern) => {
    pattern = pattern.replace(/\.$/, '').toLowerCase();
    if (!pattern.startsWith('*.')) return pattern === name;
    const dot = name.indexOf('.');
    return dot > 0 && name.slice(dot) === pattern.slice(1) && pattern.split('.').length > 2;
  };
  let reason;
  if (isIP(name)) { if (!addresses.includes(name)) reason = `IP: ${name} is not in the cert's list: ${addresses.join(', ')}`; }
  else if (hosts.length > 0) { if (!hosts.some(fits)) reason = `Host: ${name}. is not in the cert's altnames: ${cert.subjectaltname}`; }
  else if (!cert.subject?.CN) reason = 'Cert does not contain a DNS name';
  else if (![cert.subject.CN].flat().some(fits)) reason = `Host: ${name}. is not cert's CN: ${cert.subject.CN}`;
  if (reason === undefined) return undefined;
  const error = nodeError('Error', 'ERR_TLS_CERT_ALTNAME_INVALID', `Hostname/IP does not match certificate's altnames: ${reason}`);
  return Object.assign(error, { reason, host: name, cert });
}

module.exports = unsupported.module('tls', {
  TLSSocket, connect, createSecureContext, checkServerIdentity, SecureContext: class SecureContext {},
  DEFAULT_MIN_VERSION: 'TLSv1.2', DEFAULT_MAX_VERSION: 'TLSv1.3', DEFAULT_ECDH_CURVE: 'auto', CLIENT_RENEG_LIMIT: 3, CLIENT_RENEG_WINDOW: 600,
  DEFAULT_CIPHERS: 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256', rootCertificates: [],
  getCiphers: () => ['tls_aes_128_gcm_sha256', 'tls_aes_256_gcm_sha384', 'tls_chacha20_poly1305_sha256'],
});
