'use strict';
const { domainToUnicode } = host;
const { URL, URLSearchParams, domainToASCII } = require('internal/whatwg_url');
const { nodeError, invalidArgType, check } = require('internal/errors');

const invalidFileURL = (code, message) => nodeError('TypeError', code, message);

function fileURLToPath(url) {
  if (typeof url === 'string') url = new URL(url);
  else if (url === null || typeof url !== 'object' || !url.href || !url.protocol) throw invalidArgType('path', ['string', 'URL'], url);
  if (url.protocol !== 'file:') throw invalidFileURL('ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file');
  if (url.hostname !== '' && !host.windows) throw invalidFileURL('ERR_INVALID_FILE_URL_HOST', `File URL host must be "localhost" or empty on ${process.platform}`);
  const { pathname } = url; // once: it may be anybody's getter
  if (/%2f/i.test(pathname) || host.windows && /%5c/i.test(pathname)) throw invalidFileURL('ERR_INVALID_FILE_URL_PATH', 'File URL path must not include encoded / characters');
  const path = decodeURIComponent(pathname);
  if (!host.windows) return path;
  if (url.hostname !== '') return `\\\\${url.hostname}${path.replaceAll('/', '\\')}`;
  if (!/^\/[a-zA-Z]:/.test(path)) throw invalidFileURL('ERR_INVALID_FILE_URL_PATH', 'File URL path must be absolute');
  return path.slice(1).replaceAll('/', '\\');
}

function pathToFileURL(path) {
  check.string(path, 'path');
  const { resolve, sep } = require('path');
  let full = resolve(path);
  if (/[\\/]$/.test(path) && !full.endsWith(sep)) full += sep;
  if (host.windows) full = `/${full.replaceAll('\\', '/')}`;
  const escaped = full.replace(/[%\n\r\t?#]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`).replaceAll('\\', host.windows ? '/' : '%5C');
  return new URL(`file://${escaped}`);
}

function urlToHttpOptions(url) {
  const { hostname, pathname, port, username, password, search } = url;
  const options = { __proto__: null, ...url, protocol: url.protocol, hostname: hostname && hostname[0] === '[' ? hostname.slice(1, -1) : hostname, hash: url.hash, search, pathname, path: `${pathname || ''}${search || ''}`, href: url.href };
  if (port !== '') options.port = Number(port);
  if (username || password) options.auth = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return options;
}

// The API from before the WHATWG's.
class Url {
  constructor() { for (const name of ['protocol', 'slashes', 'auth', 'host', 'port', 'hostname', 'hash', 'search', 'query', 'pathname', 'path', 'href']) this[name] = null; }
  format() { return format(this); }
  parse(text, query, slashes) { Object.assign(this, parse(text, query, slashes)); return this; }
  resolve(to) { return resolve(this.href, to); }
}

const slashed = new Set(['http:', 'https:', 'ftp:', 'gopher:', 'file:', 'ws:', 'wss:']);

function parse(text, parseQuery = false, slashesDenoteHost = false) {
  if (text instanceof Url) return text;
  check.string(text, 'url');
  const url = new Url();
  let rest = text.trim();
  const hashAt = rest.indexOf('#');
  if (hashAt >= 0) { url.hash = rest.slice(hashAt); rest = rest.slice(0, hashAt); }
  const searchAt = rest.indexOf('?');
  if (searchAt >= 0) { url.search = rest.slice(searchAt); url.query = url.search.slice(1); rest = rest.slice(0, searchAt); }
  const scheme = /^[a-z0-9.+-]+:/i.exec(rest);
  if (scheme) { url.protocol = scheme[0].toLowerCase(); rest = rest.slice(scheme[0].length); }
  if (url.protocol !== 'javascript:' && (rest.startsWith('//') && (scheme || slashesDenoteHost)) ) {
    url.slashes = true;
    rest = rest.slice(2);
    const end = rest.search(/[/\\]/);
    let authority = end < 0 ? rest : rest.slice(0, end);
    rest = end < 0 ? '' : rest.slice(end);
    const at = authority.lastIndexOf('@');
    if (at >= 0) { url.auth = decodeURIComponent(authority.slice(0, at)); authority = authority.slice(at + 1); }
    const port = /:(\d*)$/.exec(authority);
    if (port) { if (port[1] !== '') url.port = port[1]; authority = authority.slice(0, -port[0].length); }
    url.hostname = authority.toLowerCase();
    if (!/^\[.*\]$/.test(url.hostname)) url.hostname = domainToASCII(url.hostname) || url.hostname;
    url.host = url.hostname + (url.port ? `:${url.port}` : '');
    url.hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
  }
  if (slashed.has(url.protocol)) { rest = rest.replaceAll('\\', '/'); if (url.hostname && rest === '') rest = '/'; }
  if (rest !== '') url.pathname = rest.replace(/[ "<>`{}|\\^\n\r\t']/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
  if (url.pathname !== null || url.search !== null) url.path = `${url.pathname ?? ''}${url.search ?? ''}`;
  if (parseQuery) { url.query = require('querystring').parse(url.query ?? ''); url.search ??= ''; }
  url.href = format(url);
  return url;
}

function format(url, options) {
  if (typeof url === 'string') return parse(url).href;
  if (url === null || typeof url !== 'object') throw invalidArgType('urlObject', ['Object', 'string'], url);
  if (url instanceof URL) {
    const { fragment = true, unicode = false, search = true, auth = true } = options ?? {};
    const copy = new URL(url.href);
    if (!fragment) copy.hash = '';
    if (!search) copy.search = '';
    if (!auth) { copy.username = ''; copy.password = ''; }
    return unicode ? copy.href.replace(copy.host, domainToUnicode(copy.hostname) + (copy.port ? `:${copy.port}` : '')) : copy.href;
  }
  let protocol = url.protocol || '', pathname = url.pathname || '', hash = url.hash || '', authority = '';
  if (protocol && !protocol.endsWith(':')) protocol += ':';
  const auth = url.auth ? `${encodeURIComponent(url.auth).replace(/%3A/i, ':')}@` : '';
  if (url.host) authority = auth + url.host;
  else if (url.hostname) authority = auth + (url.hostname.includes(':') && !/^\[/.test(url.hostname) ? `[${url.hostname}]` : url.hostname) + (url.port ? `:${url.port}` : '');
  let search = url.search || (url.query !== null && typeof url.query === 'object' ? require('querystring').stringify(url.query) : '');
  if (search && search[0] !== '?') search = `?${search}`;
  if (hash && hash[0] !== '#') hash = `#${hash}`;
  pathname = pathname.replace(/[?#]/g, (char) => char === '?' ? '%3F' : '%23');
  if (url.slashes || (!protocol || slashed.has(protocol)) && authority) { if (pathname && pathname[0] !== '/') pathname = `/${pathname}`; authority = `//${authority}`; }
  return protocol + authority + pathname + search.replace('#', '%23') + hash;
}

function resolve(from, to) {
  const dummy = 'http://toolhost.invalid';
  const base = new URL(from, dummy), made = new URL(to, base);
  if (made.origin !== dummy) return made.href;
  const text = made.pathname + made.search + made.hash;
  return /^[./]/.test(from) || from.startsWith('/') || to.startsWith('/') ? text : text.slice(1);
}

module.exports = { Url, parse, resolve, resolveObject: (from, to) => parse(resolve(from, to)), format, URL, URLSearchParams, domainToASCII, domainToUnicode, pathToFileURL, fileURLToPath, urlToHttpOptions };
