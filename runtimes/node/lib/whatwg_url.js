'use strict';
// URL and URLSearchParams as the URL Standard says.
const { domainToASCII, domainToUnicode } = host;
const { nodeError, check } = require('internal/errors');

const ports = { __proto__: null, 'http': 80, 'https': 443, 'ws': 80, 'wss': 443, 'ftp': 21, 'file': null };
const isSpecial = (scheme) => scheme in ports;

// What is percent-encoded where; everything outside of printable ASCII is everywhere.
const none = '';
const fragmentSet = ' "<>`';
const querySet = ' "#<>';
const specialQuerySet = ` "#<>'`;
const pathSet = ' "#<>?`{}';
const userinfoSet = ' "#<>?`{}/:;=@[\\]^|';

function encodeChar(char) {
  const code = char.codePointAt(0);
  if (code < 0x80) return `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
  if (code >= 0xd800 && code <= 0xdfff) return '%EF%BF%BD';
  return encodeURIComponent(char);
}

function encode(text, set) {
  let out = '';
  for (const char of text) out += char < ' ' || char > '~' || set.includes(char) ? encodeChar(char) : char;
  return out;
}

// decode undoes percent-encoding; bytes that are no UTF-8 become U+FFFD.
function decode(text) {
  if (!text.includes('%')) return text;
  try { return decodeURIComponent(text); } catch { /* the slow way */ }
  return require('querystring').unescapeBuffer(encode(text, none)).toString();
}

const isDrive = (text) => /^[a-zA-Z][:|]$/.test(text);
const startsWithDrive = (text) => /^[a-zA-Z][:|]([/\\?#]|$)/.test(text);
const isDot = (text) => text === '.' || text.toLowerCase() === '%2e';
const isDotDot = (text) => /^(\.|%2e)(\.|%2e)$/i.test(text);

const failure = Symbol('failure');

function parseIPv4(text) {
  const parts = text.split('.');
  if (parts[parts.length - 1] === '' && parts.length > 1) parts.pop();
  if (parts.length > 4) return failure;
  const numbers = [];
  for (const part of parts) {
    let n;
    if (part === '') return failure;
    if (/^0[xX][0-9a-fA-F]*$/.test(part)) n = part.length === 2 ? 0 : parseInt(part, 16);
    else if (/^0[0-7]+$/.test(part)) n = parseInt(part, 8);
    else if (/^(0|[1-9]\d*)$/.test(part)) n = Number(part);
    else return failure;
    numbers.push(n);
  }
  const last = numbers.pop();
  if (numbers.some((n) => n > 255) || last >= 256 ** (4 - numbers.length)) return failure;
  let value = last;
  numbers.forEach((n, i) => { value += n * 256 ** (3 - i); });
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

function parseIPv6(text) {
  const halves = text.split('::');
  if (halves.length > 2) return failure;
  const read = (half, isLast) => {
    if (half === '') return [];
    const out = [];
    const groups = half.split(':');
    for (let i = 0; i < groups.length; i++) {
      const group = groups[i];
      if (group.includes('.')) {
        if (!isLast || i !== groups.length - 1 || !/^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/.test(group)) return failure;
        const bytes = group.split('.').map(Number);
        if (bytes.some((n) => n > 255)) return failure;
        out.push(bytes[0] * 256 + bytes[1], bytes[2] * 256 + bytes[3]);
      } else {
        if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return failure;
        out.push(parseInt(group, 16));
      }
    }
    return out;
  };
  const head = read(halves[0], halves.length === 1), tail = halves.length === 2 ? read(halves[1], true) : [];
  if (head === failure || tail === failure) return failure;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return failure;
  const pieces = [...head, ...Array(missing).fill(0), ...tail];
  // The longest run of zeros, if longer than one, is left out.
  let best = -1, length = 1;
  for (let i = 0; i < 8; i++) {
    let j = i;
    while (j < 8 && pieces[j] === 0) j++;
    if (j - i > length) { best = i; length = j - i; }
    if (j > i) i = j;
  }
  if (best < 0) return `[${pieces.map((n) => n.toString(16)).join(':')}]`;
  const hex = (list) => list.map((n) => n.toString(16)).join(':');
  return `[${hex(pieces.slice(0, best))}::${hex(pieces.slice(best + length))}]`;
}

const forbiddenHost = /[\0\t\n\r #/:<>?@[\\\]^|]/;

function parseHost(text, special) {
  if (text[0] === '[') return text[text.length - 1] === ']' ? parseIPv6(text.slice(1, -1)) : failure;
  if (!special) return forbiddenHost.test(text) ? failure : encode(text, none);
  const domain = decode(text);
  const ascii = toASCII(domain);
  if (ascii === '' || forbiddenHost.test(ascii) || /[\0-\x1f%\x7f]/.test(ascii)) return failure;
  const labels = ascii.split('.');
  if (labels[labels.length - 1] === '' && labels.length > 1) labels.pop();
  const last = labels[labels.length - 1];
  return /^\d+$/.test(last) || /^0[xX][0-9a-fA-F]*$/.test(last) ? parseIPv4(ascii) : ascii;
}

// toASCII gives a domain as DNS has it; "" where it has no such form.
function toASCII(domain) {
  if (/^[\x21-\x7e]*$/.test(domain) && !/xn--/i.test(domain)) return domain.toLowerCase();
  const mapped = domain.normalize('NFKC').toLowerCase().normalize('NFKC').replace(/[\u00ad\u034f\u180b-\u180d\u200b\u2060\u2064\ufe00-\ufe0f\ufeff]/g, '').replace(/[\u3002\uff0e\uff61]/g, '.');
  if (mapped === '') return '';
  const ascii = domainToASCII(mapped);
  if (!/(^|\.)xn--/.test(ascii)) return ascii;
  const back = domainToUnicode(ascii);
  return /(^|\.)xn--|[\0-\x20\x7f-\x9f]/.test(back) || back.normalize('NFKC').toLowerCase() !== back || domainToASCII(back) !== ascii ? '' : ascii;
}

function parsePort(text, record) {
  if (text === '') { record.port = null; return true; }
  if (!/^\d+$/.test(text) || Number(text) > 65535) return false;
  const port = Number(text);
  record.port = ports[record.scheme] === port ? null : port;
  return true;
}

// splitHostPort gives a host and the text after its colon; undefined without one.
function splitHostPort(text) {
  const found = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text);
  return found ? [found[1], found[2]] : [text, undefined];
}

function shorten(record) {
  if (record.scheme === 'file' && record.path.length === 1 && /^[a-zA-Z]:$/.test(record.path[0])) return;
  record.path.pop();
}

// cutTail takes the query and the fragment off.
function cutTail(text, record) {
  const hash = text.indexOf('#');
  if (hash >= 0) { record.fragment = encode(text.slice(hash + 1), fragmentSet); text = text.slice(0, hash); }
  const question = text.indexOf('?');
  if (question >= 0) { record.query = encode(text.slice(question + 1), isSpecial(record.scheme) ? specialQuerySet : querySet); text = text.slice(0, question); }
  return text;
}

// addPath resolves the segments of a text into the path; the leading slash is optional.
function addPath(text, record) {
  const special = isSpecial(record.scheme);
  if (text[0] === '/' || special && text[0] === '\\') text = text.slice(1);
  const segments = text.split(special ? /[/\\]/ : '/');
  segments.forEach((segment, i) => {
    const last = i === segments.length - 1;
    if (isDotDot(segment)) { shorten(record); if (last) record.path.push(''); return; }
    if (isDot(segment)) { if (last) record.path.push(''); return; }
    if (record.scheme === 'file' && record.path.length === 0 && isDrive(segment)) segment = `${segment[0]}:`;
    record.path.push(encode(segment, pathSet));
  });
}

function readAuthority(text, record) {
  const special = isSpecial(record.scheme);
  const end = text.search(special ? /[/\\?#]/ : /[/?#]/);
  let authority = end < 0 ? text : text.slice(0, end);
  const rest = end < 0 ? '' : text.slice(end);
  const at = authority.lastIndexOf('@');
  if (at >= 0) {
    const credentials = authority.slice(0, at);
    authority = authority.slice(at + 1);
    if (authority === '') return failure;
    const colon = credentials.indexOf(':');
    record.username = encode(colon < 0 ? credentials : credentials.slice(0, colon), userinfoSet);
    record.password = colon < 0 ? '' : encode(credentials.slice(colon + 1), userinfoSet);
  }
  const [name, port] = splitHostPort(authority);
  if (name === '' && (special || port !== undefined)) return failure;
  record.host = name === '' ? '' : parseHost(name, special);
  if (record.host === failure) return failure;
  if (port !== undefined && !parsePort(port, record)) return failure;
  return readPath(rest, record);
}

function readPath(text, record) {
  text = cutTail(text, record);
  if (text !== '' || isSpecial(record.scheme)) addPath(text, record);
  return record;
}

function readFile(text, record, base) {
  record.host = '';
  const slash = (char) => char === '/' || char === '\\';
  if (slash(text[0])) {
    if (slash(text[1])) {
      const rest = text.slice(2);
      const end = rest.search(/[/\\?#]/);
      const name = end < 0 ? rest : rest.slice(0, end);
      if (isDrive(name)) return readPath(rest, record);
      if (name !== '') {
        record.host = parseHost(name, true);
        if (record.host === failure) return failure;
        if (record.host === 'localhost') record.host = '';
      }
      return readPath(end < 0 ? '' : rest.slice(end), record);
    }
    if (base?.scheme === 'file') {
      record.host = base.host;
      if (!startsWithDrive(text.slice(1)) && /^[a-zA-Z]:$/.test(base.path[0] ?? '')) record.path.push(base.path[0]);
    }
    return readPath(text, record);
  }
  if (base?.scheme === 'file') {
    record.host = base.host;
    record.path = [...base.path];
    record.query = base.query;
    return readRelative(text, record, () => { if (startsWithDrive(text)) record.path = []; else shorten(record); });
  }
  return readPath(text, record);
}

// readRelative resolves a text without a leading slash against the path that is there.
function readRelative(text, record, shortenPath) {
  if (text[0] === '#' || text === '') { cutTail(text, record); return record; }
  if (text[0] === '?') { cutTail(text, record); return record; }
  record.query = null;
  shortenPath();
  const path = cutTail(text, record);
  addPath(path, record);
  return record;
}

function parse(input, base) {
  input = input.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '').replace(/[\t\n\r]/g, '');
  const record = { scheme: '', username: '', password: '', host: null, port: null, path: [], query: null, fragment: null };
  const found = /^[a-zA-Z][a-zA-Z0-9+.-]*:/.exec(input);
  if (found) {
    record.scheme = found[0].slice(0, -1).toLowerCase();
    const rest = input.slice(found[0].length);
    if (record.scheme === 'file') return readFile(rest, record, base);
    if (isSpecial(record.scheme)) {
      if (base?.scheme === record.scheme && !/^[/\\]{2}/.test(rest)) return relative(rest, record, base);
      return readAuthority(rest.replace(/^[/\\]+/, ''), record);
    }
    if (rest.startsWith('//')) return readAuthority(rest.slice(2), record);
    if (rest[0] === '/') return readPath(rest, record);
    record.path = encode(cutTail(rest, record), none);
    return record;
  }
  if (!base) return failure;
  record.scheme = base.scheme;
  if (typeof base.path === 'string') {
    if (input[0] !== '#') return failure;
    Object.assign(record, base);
    cutTail(input, record);
    return record;
  }
  return base.scheme === 'file' ? readFile(input, record, base) : relative(input, record, base);
}

function relative(text, record, base) {
  const special = isSpecial(record.scheme);
  const slash = (char) => char === '/' || special && char === '\\';
  if (slash(text[0]) && slash(text[1])) return readAuthority(special ? text.replace(/^[/\\]+/, '') : text.slice(2), record);
  for (const key of ['username', 'password', 'host', 'port']) record[key] = base[key];
  if (slash(text[0])) return readPath(text, record);
  record.path = [...base.path];
  record.query = base.query;
  return readRelative(text, record, () => shorten(record));
}

const pathText = (record) => typeof record.path === 'string' ? record.path : record.path.map((segment) => `/${segment}`).join('');

function serialize(record, withoutFragment) {
  let out = `${record.scheme}:`;
  if (record.host !== null) {
    out += '//';
    if (record.username !== '' || record.password !== '') out += `${record.username}${record.password === '' ? '' : `:${record.password}`}@`;
    out += record.host + (record.port === null ? '' : `:${record.port}`);
  } else if (typeof record.path !== 'string' && record.path.length > 1 && record.path[0] === '') out += '/.';
  out += pathText(record);
  if (record.query !== null) out += `?${record.query}`;
  if (!withoutFragment && record.fragment !== null) out += `#${record.fragment}`;
  return out;
}

const custom = Symbol.for('nodejs.util.inspect.custom');
const update = Symbol('update'), load = Symbol('load');

class URL {
  #record; #params;
  constructor(input, base = undefined) {
    if (arguments.length === 0) throw nodeError('TypeError', 'ERR_MISSING_ARGS', 'The "url" argument must be specified');
    input = `${input}`;
    let record = failure, baseRecord;
    if (base !== undefined) baseRecord = parse(`${base}`);
    if (baseRecord !== failure) record = parse(input, baseRecord);
    if (record === failure) {
      const error = nodeError('TypeError', 'ERR_INVALID_URL', 'Invalid URL');
      error.input = input;
      if (base !== undefined) error.base = `${base}`;
      throw error;
    }
    this.#record = record;
  }
  static canParse(input, base = undefined) {
    if (arguments.length === 0) throw nodeError('TypeError', 'ERR_MISSING_ARGS', 'The "url" argument must be specified');
    const baseRecord = base === undefined ? undefined : parse(`${base}`);
    return baseRecord !== failure && parse(`${input}`, baseRecord) !== failure;
  }
  get href() { return serialize(this.#record); }
  set href(value) {
    const record = parse(`${value}`);
    if (record === failure) { const error = nodeError('TypeError', 'ERR_INVALID_URL', 'Invalid URL'); error.input = `${value}`; throw error; }
    this.#record = record;
    this.#changed();
  }
  get origin() {
    const { scheme, host: name, port } = this.#record;
    if (scheme === 'blob') { const inner = parse(pathText(this.#record)); return inner !== failure && (inner.scheme === 'http' || inner.scheme === 'https') ? `${inner.scheme}://${inner.host}${inner.port === null ? '' : `:${inner.port}`}` : 'null'; }
    return isSpecial(scheme) && scheme !== 'file' ? `${scheme}://${name}${port === null ? '' : `:${port}`}` : 'null';
  }
  get protocol() { return `${this.#record.scheme}:`; }
  set protocol(value) {
    const found = /^[a-zA-Z][a-zA-Z0-9+.-]*(?=:|$)/.exec(`${value}`);
    const r = this.#record;
    if (!found) return;
    const scheme = found[0].toLowerCase();
    if (isSpecial(scheme) !== isSpecial(r.scheme) || scheme === 'file' && (r.username !== '' || r.password !== '' || r.port !== null) || r.scheme === 'file' && r.host === '') return;
    r.scheme = scheme;
    if (ports[scheme] === r.port) r.port = null;
  }
  get username() { return this.#record.username; }
  set username(value) { if (this.#hasHost()) this.#record.username = encode(`${value}`, userinfoSet); }
  get password() { return this.#record.password; }
  set password(value) { if (this.#hasHost()) this.#record.password = encode(`${value}`, userinfoSet); }
  get host() { const r = this.#record; return r.host === null ? '' : r.host + (r.port === null ? '' : `:${r.port}`); }
  set host(value) { this.#setHost(`${value}`, true); }
  get hostname() { return this.#record.host ?? ''; }
  set hostname(value) { this.#setHost(`${value}`, false); }
  get port() { return this.#record.port === null ? '' : `${this.#record.port}`; }
  set port(value) {
    if (!this.#hasHost()) return;
    value = `${value}`.replace(/[\t\n\r]/g, '');
    if (value === '') { this.#record.port = null; return; }
    const digits = /^\d+/.exec(value);
    if (digits) parsePort(digits[0], this.#record);
  }
  get pathname() { return pathText(this.#record); }
  set pathname(value) {
    const r = this.#record;
    if (typeof r.path === 'string') return;
    r.path = [];
    const text = `${value}`.replace(/[\t\n\r]/g, '').replace(/[?#]/g, (char) => char === '?' ? '%3F' : '%23');
    if (text !== '' || isSpecial(r.scheme)) addPath(text, r);
  }
  get search() { return this.#record.query ? `?${this.#record.query}` : ''; }
  set search(value) {
    value = `${value}`.replace(/[\t\n\r]/g, '');
    if (value === '') this.#record.query = null;
    else this.#record.query = encode(value[0] === '?' ? value.slice(1) : value, isSpecial(this.#record.scheme) ? specialQuerySet : querySet);
    this.#changed();
  }
  get searchParams() { return this.#params ??= new URLSearchParams(new Owner(this.#record.query ?? '', (query) => { this.#record.query = query === '' ? null : query; })); }
  get hash() { return this.#record.fragment ? `#${this.#record.fragment}` : ''; }
  set hash(value) {
    value = `${value}`.replace(/[\t\n\r]/g, '');
    this.#record.fragment = value === '' ? null : encode(value[0] === '#' ? value.slice(1) : value, fragmentSet);
  }
  toString() { return serialize(this.#record); }
  toJSON() { return serialize(this.#record); }

  #changed() { this.#params?.[load](this.#record.query ?? ''); }
  #hasHost() { const { host: name, scheme } = this.#record; return name !== null && name !== '' && scheme !== 'file'; }
  #setHost(value, withPort) {
    const r = this.#record;
    if (typeof r.path === 'string') return;
    value = value.replace(/[\t\n\r]/g, '');
    const special = isSpecial(r.scheme);
    const end = value.search(special ? /[/\\?#]/ : /[/?#]/);
    if (end >= 0) value = value.slice(0, end);
    const [name, port] = splitHostPort(value);
    if (name === '' && (special && r.scheme !== 'file' || r.username !== '' || r.password !== '' || r.port !== null)) return;
    if (port !== undefined && (!withPort || r.scheme === 'file')) return;
    let made = name === '' ? '' : parseHost(name, special);
    if (made === failure) return;
    if (r.scheme === 'file' && made === 'localhost') made = '';
    r.host = made;
    const digits = withPort && r.scheme !== 'file' && port !== undefined && /^\d+/.exec(port);
    if (digits) parsePort(digits[0], r);
  }
  get [Symbol.toStringTag]() { return 'URL'; }
}
Object.defineProperty(URL.prototype, custom, { configurable: true, writable: true, value(depth, options, inspect) {
  if (typeof depth === 'number' && depth < 0) return this;
  const shown = {};
  for (const name of ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'searchParams', 'hash']) shown[name] = this[name];
  return `${this.constructor.name} ${inspect(shown, options)}`;
} });
for (const name of ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'searchParams', 'hash', 'toString', 'toJSON']) Object.defineProperty(URL.prototype, name, { enumerable: true });

for (const name of ['createObjectURL', 'revokeObjectURL']) Object.defineProperty(URL, name, { value: { [name](of) { return require('internal/blob')[name](of); } }[name], writable: true, enumerable: true, configurable: true });

// Owner asks URLSearchParams to work on the query of a URL.
class Owner { constructor(query, set) { this.query = query; this.set = set; } }

function parseForm(text) {
  return text.split('&').filter((part) => part !== '').map((part) => {
    const at = part.indexOf('=');
    const name = at < 0 ? part : part.slice(0, at), value = at < 0 ? '' : part.slice(at + 1);
    return [decode(name.replaceAll('+', ' ')), decode(value.replaceAll('+', ' '))];
  });
}

function formText(text) {
  let out = '';
  for (const char of text) out += char === ' ' ? '+' : /[A-Za-z0-9*\-._]/.test(char) ? char : encodeChar(char);
  return out;
}

const argumentsMissing = (names) => nodeError('TypeError', 'ERR_MISSING_ARGS', `The ${names.map((name) => `"${name}"`).join(' and ')} argument${names.length > 1 ? 's' : ''} must be specified`);
const wellFormed = (text) => host.toWellFormed(`${text}`);

class URLSearchParams {
  #list = []; #owner;
  constructor(init = undefined) {
    if (init instanceof Owner) { this.#list = parseForm(init.query); this.#owner = init; return; }
    if (init === undefined || init === null) return;
    if (typeof init === 'object' || typeof init === 'function') {
      const iterate = init[Symbol.iterator];
      if (iterate === this[Symbol.iterator] && init instanceof URLSearchParams) { this.#list = [...init].map((pair) => [...pair]); return; }
      if (iterate != null) {
        if (typeof iterate !== 'function') throw nodeError('TypeError', 'ERR_ARG_NOT_ITERABLE', 'Query pairs must be iterable');
        for (const pair of init) {
          if (pair == null || typeof pair !== 'object' && typeof pair !== 'function' || typeof pair[Symbol.iterator] !== 'function') throw nodeError('TypeError', 'ERR_INVALID_TUPLE', 'Each query pair must be an iterable [name, value] tuple');
          const items = [...pair];
          if (items.length !== 2) throw nodeError('TypeError', 'ERR_INVALID_TUPLE', 'Each query pair must be an iterable [name, value] tuple');
          this.#list.push([wellFormed(items[0]), wellFormed(items[1])]);
        }
        return;
      }
      for (const key of Reflect.ownKeys(init)) {
        if (!Object.prototype.propertyIsEnumerable.call(init, key)) continue;
        const name = wellFormed(key), found = this.#list.find((pair) => pair[0] === name);
        if (found) found[1] = wellFormed(init[key]); else this.#list.push([name, wellFormed(init[key])]);
      }
      return;
    }
    init = `${init}`;
    this.#list = parseForm(wellFormed(init[0] === '?' ? init.slice(1) : init));
  }
  [load](query) { this.#list = parseForm(query); }
  [update]() { this.#owner?.set(this.toString()); }
  get size() { return this.#list.length; }
  append(name, value) {
    if (arguments.length < 2) throw argumentsMissing(['name', 'value']);
    this.#list.push([wellFormed(name), wellFormed(value)]);
    this[update]();
  }
  delete(name, value = undefined) {
    if (arguments.length < 1) throw argumentsMissing(['name']);
    name = wellFormed(name);
    this.#list = this.#list.filter((pair) => pair[0] !== name || value !== undefined && pair[1] !== wellFormed(value));
    this[update]();
  }
  get(name) { if (arguments.length < 1) throw argumentsMissing(['name']); name = wellFormed(name); return this.#list.find((pair) => pair[0] === name)?.[1] ?? null; }
  getAll(name) { if (arguments.length < 1) throw argumentsMissing(['name']); name = wellFormed(name); return this.#list.filter((pair) => pair[0] === name).map((pair) => pair[1]); }
  has(name, value = undefined) { if (arguments.length < 1) throw argumentsMissing(['name']); name = wellFormed(name); return this.#list.some((pair) => pair[0] === name && (value === undefined || pair[1] === wellFormed(value))); }
  set(name, value) {
    if (arguments.length < 2) throw argumentsMissing(['name', 'value']);
    name = wellFormed(name);
    const at = this.#list.findIndex((pair) => pair[0] === name);
    if (at < 0) this.#list.push([name, wellFormed(value)]);
    else { this.#list[at][1] = wellFormed(value); this.#list = this.#list.filter((pair, i) => i <= at || pair[0] !== name); }
    this[update]();
  }
  sort() { this.#list.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0); this[update](); }
  forEach(f, self = undefined) { check.function(f, 'callback'); for (let i = 0; i < this.#list.length; i++) f.call(self, this.#list[i][1], this.#list[i][0], this); }
  *entries() { for (let i = 0; i < this.#list.length; i++) yield [...this.#list[i]]; }
  *keys() { for (let i = 0; i < this.#list.length; i++) yield this.#list[i][0]; }
  *values() { for (let i = 0; i < this.#list.length; i++) yield this.#list[i][1]; }
  toString() { return this.#list.map(([name, value]) => `${formText(name)}=${formText(value)}`).join('&'); }
  get [Symbol.toStringTag]() { return 'URLSearchParams'; }
}
Object.defineProperty(URLSearchParams.prototype, Symbol.iterator, { configurable: true, writable: true, value: URLSearchParams.prototype.entries });
Object.defineProperty(URLSearchParams.prototype, custom, { configurable: true, writable: true, value(depth, options, inspect) {
  const list = [...this].map(([name, value]) => `${inspect(name, options)} => ${inspect(value, options)}`);
  return list.length === 0 ? 'URLSearchParams {}' : `URLSearchParams { ${list.join(', ')} }`;
} });
for (const name of ['append', 'delete', 'get', 'getAll', 'has', 'set', 'sort', 'entries', 'forEach', 'keys', 'values', 'toString', 'size']) Object.defineProperty(URLSearchParams.prototype, name, { enumerable: true });

module.exports = { URL, URLSearchParams, domainToASCII: (domain) => { const ascii = parseHost(`${domain}`, true); return ascii === failure ? '' : ascii; } };
