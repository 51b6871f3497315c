'use strict';
// MIMEType and MIMEParams of node:util, as the MIME Sniffing Standard parses them.
const { nodeError } = require('internal/errors');

const notToken = /[^!#$%&'*+\-.^_`|~A-Za-z0-9]/, notValue = /[^\t\u0020-\u007e\u0080-\u00ff]/;
const endSpace = /[\r\n\t ]*$/, startSpace = /[^\r\n\t ]|$/;
const lower = (text) => text.replace(/[A-Z]/g, (char) => char.toLowerCase());
const invalid = (part, text, at) => nodeError('TypeError', 'ERR_INVALID_MIME_SYNTAX', `The MIME syntax for a ${part} in ${JSON.stringify(text)} is invalid${at === -1 ? '' : ` at ${at}`}`);
const quoted = (value) => value === '' || notToken.test(value) ? `"${value.replace(/[\\"]/g, '\\$&')}"` : value;

class MIMEParams {
  #data = new Map();
  delete(name) { this.#data.delete(`${name}`); }
  get(name) { return this.#data.get(`${name}`) ?? null; }
  has(name) { return this.#data.has(`${name}`); }
  set(name, value) {
    name = `${name}`;
    value = `${value}`;
    const badName = name.search(notToken), badValue = value.search(notValue);
    if (name.length === 0 || badName !== -1) throw invalid('parameter name', name, badName);
    if (badValue !== -1) throw invalid(`parameter value for ${name}`, value, badValue);
    this.#data.set(name, value);
  }
  entries() { return this.#data.entries(); }
  keys() { return this.#data.keys(); }
  values() { return this.#data.values(); }
  [Symbol.iterator]() { return this.#data.entries(); }
  toString() { return [...this.#data].map(([name, value]) => `${name}=${quoted(value)}`).join(';'); }
  toJSON() { return this.toString(); }
  static parse(text, at) {
    const params = new MIMEParams();
    while (at < text.length) {
      at += text.slice(at).search(startSpace);
      let end = at;
      while (end < text.length && text[end] !== ';' && text[end] !== '=') end++;
      const name = lower(text.slice(at, end));
      at = end;
      if (at >= text.length) break;
      if (text[at++] === ';') continue;
      let value = '';
      if (text[at] === '"') {
        for (at++; at < text.length && text[at] !== '"'; at++) { if (text[at] === '\\' && at + 1 < text.length) at++; value += text[at]; }
        while (at < text.length && text[at] !== ';') at++;
        at++;
      } else {
        end = text.indexOf(';', at);
        if (end < 0) end = text.length;
        value = text.slice(at, end).replace(endSpace, '');
        at = end + 1;
        if (value === '') continue;
      }
      if (name !== '' && !notToken.test(name) && !notValue.test(value) && !params.#data.has(name)) params.#data.set(name, value);
    }
    return params;
  }
}

class MIMEType {
  #type; #subtype; #params;
  constructor(text) {
    text = `${text}`;
    const from = text.search(startSpace), slash = text.indexOf('/', from);
    const type = slash < 0 ? text.slice(from) : text.slice(from, slash), badType = type.search(notToken);
    if (type === '' || badType !== -1 || slash < 0) throw invalid('type', text, badType);
    const semicolon = text.indexOf(';', slash);
    const raw = text.slice(slash + 1, semicolon < 0 ? undefined : semicolon), subtype = raw.replace(endSpace, ''), badSubtype = subtype.search(notToken);
    if (subtype === '' || badSubtype !== -1) throw invalid('subtype', text, badSubtype);
    this.#type = lower(type);
    this.#subtype = lower(subtype);
    this.#params = MIMEParams.parse(text, semicolon < 0 ? text.length : semicolon + 1);
  }
  get type() { return this.#type; }
  set type(value) { value = `${value}`; const bad = value.search(notToken); if (value === '' || bad !== -1) throw invalid('type', value, bad); this.#type = lower(value); }
  get subtype() { return this.#subtype; }
  set subtype(value) { value = `${value}`; const bad = value.search(notToken); if (value === '' || bad !== -1) throw invalid('subtype', value, bad); this.#subtype = lower(value); }
  get essence() { return `${this.#type}/${this.#subtype}`; }
  get params() { return this.#params; }
  toString() { const params = `${this.#params}`; return params === '' ? this.essence : `${this.essence};${params}`; }
  toJSON() { return this.toString(); }
}
module.exports = { MIMEType, MIMEParams };
