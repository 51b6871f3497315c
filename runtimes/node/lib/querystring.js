'use strict';
const unescaped = /[^A-Za-z0-9\-_.!~*'()]/;
function escape(text) {
  if (typeof text !== 'string') text = typeof text === 'object' ? String(text) : `${text}`;
  if (!unescaped.test(text)) return text;
  try { return encodeURIComponent(text); } catch { throw require('internal/errors').nodeError('URIError', 'ERR_INVALID_URI', 'URI malformed'); }
}
function unescapeBuffer(text) {
  const out = [];
  for (let i = 0; i < text.length; i++) {
    const hex = text[i] === '%' ? text.slice(i + 1, i + 3) : '';
    if (/^[0-9a-fA-F]{2}$/.test(hex)) { out.push(parseInt(hex, 16)); i += 2; } else out.push(text.charCodeAt(i) & 255);
  }
  return Buffer.from(out);
}
function unescape(text) {
  try { return decodeURIComponent(text); } catch { return unescapeBuffer(text).toString(); }
}
const primitive = (value) => typeof value === 'string' ? value : typeof value === 'number' && Number.isFinite(value) || typeof value === 'bigint' || typeof value === 'boolean' ? `${value}` : '';

function stringify(object, sep = '&', eq = '=', options) {
  sep = sep || '&'; eq = eq || '=';
  const encode = options?.encodeURIComponent ?? qs.escape;
  if (object === null || typeof object !== 'object') return '';
  const out = [];
  for (const key of Object.keys(object)) {
    const value = object[key], name = encode(primitive(key));
    if (Array.isArray(value)) for (const item of value) out.push(`${name}${eq}${encode(primitive(item))}`);
    else out.push(`${name}${eq}${encode(primitive(value))}`);
  }
  return out.join(sep);
}

function parse(text, sep = '&', eq = '=', options) {
  const out = { __proto__: null };
  if (typeof text !== 'string' || text.length === 0) return out;
  sep = sep ? `${sep}` : '&'; eq = eq ? `${eq}` : '=';
  const decode = options?.decodeURIComponent ?? qs.unescape;
  const safe = (part) => { part = part.replaceAll('+', ' '); try { return decode(part); } catch { return unescape(part); } };
  let parts = text.split(sep);
  const max = options?.maxKeys ?? 1000;
  parts = parts.filter((part) => part !== '');
  if (max > 0) parts = parts.slice(0, max);
  for (const part of parts) {
    const at = part.indexOf(eq);
    const key = safe(at < 0 ? part : part.slice(0, at)), value = at < 0 ? '' : safe(part.slice(at + eq.length));
    if (!Object.hasOwn(out, key)) out[key] = value;
    else if (Array.isArray(out[key])) out[key].push(value);
    else out[key] = [out[key], value];
  }
  return out;
}
const qs = { escape, unescape, unescapeBuffer, stringify, encode: stringify, parse, decode: parse };
module.exports = qs;
