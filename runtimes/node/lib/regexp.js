'use strict';
// RegExp with what the engine answers wrongly: \p{…} under the flag u would match nothing.
const Native = /x/.constructor;
const kept = new Map(); // compiled expressions, since compiling costs far more than copying
const own = (re, name, value) => Object.defineProperty(re, name, { value, configurable: true, enumerable: false, writable: false });

// sourceOf gives a pattern as it can stand between slashes.
function sourceOf(pattern) {
  if (pattern === '') return '(?:)';
  if (!/[/\n\r\u2028\u2029]/.test(pattern)) return pattern;
  let inClass = false;
  return pattern.replace(/\\[^]|[^]/g, (c) => {
    if (c === '[') inClass = true;
    else if (c === ']') inClass = false;
    switch (c) {
      case '/': return inClass ? c : '\\/';
      case '\n': case '\\\n': return '\\n';
      case '\r': case '\\\r': return '\\r';
      case '\u2028': case '\\\u2028': return '\\u2028';
      case '\u2029': case '\\\u2029': return '\\u2029';
    }
    return c;
  });
}

function construct(args, target) {
  let [pattern, flags] = args;
  const isRegExp = host.isRegExp(pattern);
  flags = flags === undefined ? isRegExp ? pattern.flags : '' : `${flags}`;
  pattern = isRegExp ? pattern.source : pattern === undefined ? '' : `${pattern}`;
  const key = `${flags}/${pattern}`;
  const found = kept.get(key);
  if (found !== undefined) return finish(new Native(found.re), found, target);
  const { source, used } = host.translate(pattern, flags);
  const re = new Native(source, used), written = sourceOf(pattern);
  const made = { re, source: re.source === written ? undefined : written, flags: used === flags ? undefined : flags };
  if (kept.size < 500) kept.set(key, made);
  return finish(new Native(made.re), made, target);
}

function finish(re, made, target) {
  if (target !== Native) Object.setPrototypeOf(re, target.prototype); // the engine does not look at new.target here
  if (made.source !== undefined) own(re, 'source', made.source);
  if (made.flags !== undefined) { own(re, 'flags', [...made.flags].sort().join('')); own(re, 'unicodeSets', true); }
  return re;
}

function Wrapped(pattern, flags) {
  // In a function that a constructor calls, the engine has new.target still.
  const target = this instanceof Wrapped ? new.target : undefined;
  if (target === undefined) {
    if (flags === undefined && host.isRegExp(pattern) && pattern.constructor === Wrapped) return pattern;
    return construct([pattern, flags], Native);
  }
  return construct([pattern, flags], target === Wrapped ? Native : target);
}
Object.defineProperty(Wrapped, 'name', { value: 'RegExp' });
Object.defineProperty(Wrapped, 'prototype', { value: Native.prototype, writable: false, enumerable: false });
for (const key of Reflect.ownKeys(Native)) if (!Object.hasOwn(Wrapped, key)) Object.defineProperty(Wrapped, key, Object.getOwnPropertyDescriptor(Native, key));
Object.defineProperty(Native.prototype, 'constructor', { value: Wrapped, writable: true, configurable: true });
Object.defineProperty(Wrapped, 'escape', { value: { escape: (text) => require('internal/language_more').escape(text) }.escape, writable: true, configurable: true });
for (const name of ['hasIndices', 'unicodeSets']) if (!(name in Native.prototype)) Object.defineProperty(Native.prototype, name, { get() { return false; }, configurable: true });

// RegExp.$1, RegExp.lastMatch and so on, of the last match. Only for code that names them:
// each match takes a detour then.
if (host.statics) {
  let last = Object.assign([''], { index: 0, input: '' });
  const { exec } = Native.prototype;
  const remember = { exec(text) { const found = exec.call(this, text); if (found !== null) last = found; return found; } }.exec;
  Object.defineProperty(Native.prototype, 'exec', { value: remember, writable: true, configurable: true });
  const replaced = { test(text) { return this.exec(`${text}`) !== null; } }.test;
  Object.defineProperty(Native.prototype, 'test', { value: replaced, writable: true, configurable: true });
  const define = (names, get) => { for (const name of names) Object.defineProperty(Wrapped, name, { get, set() {}, configurable: true }); };
  for (let i = 1; i <= 9; i++) define([`$${i}`], () => last[i] ?? '');
  define(['input', '$_'], () => last.input);
  define(['lastMatch', '$&'], () => last[0]);
  define(['lastParen', '$+'], () => last.length > 1 ? last[last.length - 1] ?? '' : '');
  define(['leftContext', '$`'], () => last.input.slice(0, last.index));
  define(['rightContext', "$'"], () => last.input.slice(last.index + last[0].length));
}
module.exports = Wrapped;
