'use strict';
// util.inspect and util.format: the same text as Node's for the shapes that a log or a message shows.

const { kindOf, promiseState, proxyParts, authorStack, isWellFormed } = host;
const { getOwnPropertyDescriptor, getPrototypeOf, keys: objectKeys, getOwnPropertySymbols, getOwnPropertyNames } = Object;
const propertyIsEnumerable = Object.prototype.propertyIsEnumerable;
const hasOwn = Object.hasOwn;
const { isArray } = Array;
const custom = Symbol.for('nodejs.util.inspect.custom');

const defaults = {
  showHidden: false, depth: 2, colors: false, customInspect: true, showProxy: false, maxArrayLength: 100,
  maxStringLength: 10000, breakLength: 128, compact: 3, sorted: false, getters: false, numericSeparator: false,
};

const colors = {
  __proto__: null, reset: [0, 0], bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], blink: [5, 25], inverse: [7, 27], hidden: [8, 28],
  strikethrough: [9, 29], doubleunderline: [21, 24], black: [30, 39], red: [31, 39], green: [32, 39], yellow: [33, 39], blue: [34, 39], magenta: [35, 39],
  cyan: [36, 39], white: [37, 39], bgBlack: [40, 49], bgRed: [41, 49], bgGreen: [42, 49], bgYellow: [43, 49], bgBlue: [44, 49], bgMagenta: [45, 49],
  bgCyan: [46, 49], bgWhite: [47, 49], framed: [51, 54], overlined: [53, 55], gray: [90, 39], redBright: [91, 39],
  greenBright: [92, 39], yellowBright: [93, 39], blueBright: [94, 39], magentaBright: [95, 39], cyanBright: [96, 39], whiteBright: [97, 39], bgGray: [100, 49], bgRedBright: [101, 49],
  bgGreenBright: [102, 49], bgYellowBright: [103, 49], bgBlueBright: [104, 49], bgMagentaBright: [105, 49], bgCyanBright: [106, 49], bgWhiteBright: [107, 49],
};
// Other names of the same, which a list of the names does not show.
for (const [name, other] of [['grey', 'gray'], ['blackBright', 'gray'], ['bgGrey', 'bgGray'], ['bgBlackBright', 'bgGray'], ['faint', 'dim'], ['crossedout', 'strikethrough'], ['strikeThrough', 'strikethrough'],
  ['crossedOut', 'strikethrough'], ['conceal', 'hidden'], ['swapColors', 'inverse'], ['swapcolors', 'inverse'], ['doubleUnderline', 'doubleunderline']]) {
  Object.defineProperty(colors, name, { value: colors[other], writable: true, configurable: true, enumerable: false });
}
const styles = {
  __proto__: null, special: 'cyan', number: 'yellow', bigint: 'yellow', boolean: 'yellow', undefined: 'grey', null: 'bold', string: 'green', symbol: 'green',
  date: 'magenta', regexp: 'red', module: 'underline',
};

// What stands in the list of properties of a value decides how it is laid out.
const OBJECT = 0, ELEMENT = 1, ARRAY = 2;

const plain = (text) => text;
function coloured(text, style) {
  const color = colors[styles[style]];
  return color === undefined ? text : `\u001b[${color[0]}m${text}\u001b[${color[1]}m`;
}

const ansi = /[\u001b\u009b][[()#;?]*(?:(?:(?:;[-a-zA-Z\d/#&.:=?%@~_]+)*|[a-zA-Z\d]+(?:;[-a-zA-Z\d/#&.:=?%@~_]*)*)?\u0007|(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-ntqry=><~])/g;
const stripColors = (text) => text.replace(ansi, '');

// width of a text in columns: marks count none, East Asian wide characters and emoji two.
function width(text) {
  if (!/[^ -~]/.test(text)) return text.length;
  let columns = 0;
  for (const char of stripColors(text).normalize('NFC')) {
    const code = char.codePointAt(0);
    if (code < 32 || code >= 0x7f && code < 0xa0 || code >= 0x300 && code <= 0x36f || code >= 0x200b && code <= 0x200f
      || code >= 0x20d0 && code <= 0x20ff || code >= 0xfe00 && code <= 0xfe0f || code >= 0xfe20 && code <= 0xfe2f || code >= 0xe0100 && code <= 0xe01ef) continue;
    columns += code >= 0x1100 && (code <= 0x115f || code === 0x2329 || code === 0x232a || code >= 0x2e80 && code <= 0x3247 && code !== 0x303f
      || code >= 0x3250 && code <= 0x4dbf || code >= 0x4e00 && code <= 0xa4c6 || code >= 0xa960 && code <= 0xa97c || code >= 0xac00 && code <= 0xd7a3
      || code >= 0xf900 && code <= 0xfaff || code >= 0xfe10 && code <= 0xfe19 || code >= 0xfe30 && code <= 0xfe6b || code >= 0xff01 && code <= 0xff60
      || code >= 0xffe0 && code <= 0xffe6 || code >= 0x1b000 && code <= 0x1b001 || code >= 0x1f200 && code <= 0x1f251
      || code >= 0x1f300 && code <= 0x1f64f || code >= 0x1f900 && code <= 0x1f9ff || code >= 0x20000 && code <= 0x3fffd) ? 2 : 1;
  }
  return columns;
}

const controls = /[\0-\x1f\x27\x5c\x7f-\x9f]/;
const controlsAll = new RegExp(controls.source, 'g');
const named = { '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r', '\\': '\\\\' };

function quote(text) {
  let mark = "'";
  if (text.includes("'")) {
    if (!text.includes('"')) mark = '"';
    else if (!text.includes('`') && !text.includes('${')) mark = '`';
  }
  if (controls.test(text)) {
    text = text.replace(controlsAll, (char) => {
      if (char === "'") return mark === "'" ? "\\'" : char;
      if (named[char]) return named[char];
      return `\\x${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
    });
  }
  if (!isWellFormed(text)) {
    let out = '';
    for (const char of text) out += char >= '\ud800' && char <= '\udfff' && char.length === 1 ? `\\u${char.charCodeAt(0).toString(16)}` : char;
    text = out;
  }
  return mark + text + mark;
}

function separated(text) {
  let out = '', i = text.length;
  const start = text.startsWith('-') ? 1 : 0;
  for (; i >= start + 4; i -= 3) out = `_${text.slice(i - 3, i)}${out}`;
  return i === text.length ? text : `${text.slice(0, i)}${out}`;
}

function formatNumber(stylize, number, separators) {
  if (Object.is(number, -0)) return stylize('-0', 'number');
  if (!separators) return stylize(`${number}`, 'number');
  const integer = Math.trunc(number);
  const text = String(integer);
  if (integer === number) return stylize(!Number.isFinite(number) || text.includes('e') ? text : separated(text), 'number');
  if (Number.isNaN(number)) return stylize(text, 'number');
  const [whole, part] = String(number).split('.');
  let groups = part.slice(0, 3);
  for (let i = 3; i < part.length; i += 3) groups += `_${part.slice(i, i + 3)}`;
  return stylize(`${separated(whole)}.${groups}`, 'number');
}

const formatBigInt = (stylize, number, separators) => stylize(`${separators ? separated(String(number)) : String(number)}n`, 'bigint');

function formatPrimitive(ctx, value) {
  switch (typeof value) {
    case 'string': {
      let rest = '';
      if (value.length > ctx.maxStringLength) {
        const more = value.length - ctx.maxStringLength;
        value = value.slice(0, ctx.maxStringLength);
        rest = `... ${more} more character${more > 1 ? 's' : ''}`;
      }
      if (ctx.compact !== true && value.length > 16 && value.length > ctx.breakLength - ctx.indent - 4) {
        const lines = value.split(/(?<=\n)/);
        return lines.map((line) => ctx.stylize(quote(line), 'string')).join(` +\n${' '.repeat(ctx.indent + 2)}`) + rest;
      }
      return ctx.stylize(quote(value), 'string') + rest;
    }
    case 'number': return formatNumber(ctx.stylize, value, ctx.numericSeparator);
    case 'bigint': return formatBigInt(ctx.stylize, value, ctx.numericSeparator);
    case 'boolean': return ctx.stylize(`${value}`, 'boolean');
    case 'undefined': return ctx.stylize('undefined', 'undefined');
  }
  return ctx.stylize(Symbol.prototype.toString.call(value), 'symbol');
}

function formatValue(ctx, value, depth, typedArray) {
  if (typeof value !== 'object' && typeof value !== 'function') return formatPrimitive(ctx, value);
  if (value === null) return ctx.stylize('null', 'null');
  const shown = value;
  if (kindOf(value) === 'Proxy') {
    const parts = proxyParts(value);
    if (ctx.showProxy) return formatProxy(ctx, parts, depth);
    if (parts[0] === null) return ctx.stylize('<Revoked Proxy>', 'special');
    value = parts[0];
    while (kindOf(value) === 'Proxy') { value = proxyParts(value)[0]; if (value === null) return ctx.stylize('<Revoked Proxy>', 'special'); }
  }
  if (ctx.customInspect) {
    const own = value[custom];
    if (typeof own === 'function' && own !== inspect && !(value.constructor && value.constructor.prototype === value)) {
      const left = ctx.depth === null ? null : ctx.depth - depth;
      const made = own.call(shown, left, { ...ctx.options, stylize: ctx.stylize, depth: left }, inspect);
      if (made !== shown) {
        return (typeof made !== 'object' ? `${made}` : formatValue(ctx, made, depth)).replaceAll('\n', `\n${' '.repeat(ctx.indent)}`);
      }
    }
  }
  if (ctx.seen.includes(value)) {
    ctx.circular ??= new Map();
    let index = ctx.circular.get(value);
    if (index === undefined) ctx.circular.set(value, index = ctx.circular.size + 1);
    return ctx.stylize(`[Circular *${index}]`, 'special');
  }
  return formatRaw(ctx, value, depth, typedArray);
}

function formatProxy(ctx, parts, depth) {
  if (depth > ctx.depth && ctx.depth !== null) return ctx.stylize('Proxy [Array]', 'special');
  depth++;
  ctx.indent += 2;
  const out = [formatValue(ctx, parts[0], depth), formatValue(ctx, parts[1], depth)];
  ctx.indent -= 2;
  return layOut(ctx, out, '', ['Proxy [', ']'], ARRAY, depth);
}

function instanceOf(value, constructor) {
  try { return value instanceof constructor; } catch { return false; }
}

function constructorName(value, ctx, depth) {
  let object = value, first;
  while (object) {
    const found = getOwnPropertyDescriptor(object, 'constructor');
    if (found !== undefined && typeof found.value === 'function' && found.value.name !== '' && instanceOf(value, found.value)) return String(found.value.name);
    object = getPrototypeOf(object);
    if (first === undefined) first = object;
  }
  if (first === null) return null;
  const name = kindName(value);
  if (depth > ctx.depth && ctx.depth !== null) return `${name} <Complex prototype>`;
  const above = constructorName(first, ctx, depth + 1);
  if (above === null) return `${name} <${inspect(first, { ...ctx.options, customInspect: false, depth: -1 })}>`;
  return `${name} <${above}>`;
}

function kindName(value) {
  const kind = kindOf(value);
  return kind === 'TypedArray' ? Object.getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get.call(value) : kind;
}

function prefixOf(constructor, tag, fallback, size = '') {
  if (constructor === null) return tag !== '' && fallback !== tag ? `[${fallback}${size}: null prototype] [${tag}] ` : `[${fallback}${size}: null prototype] `;
  return tag !== '' && constructor !== tag ? `${constructor}${size} [${tag}] ` : `${constructor}${size} `;
}

function propertyKeys(value, hidden) {
  const symbols = getOwnPropertySymbols(value);
  if (hidden) return symbols.length === 0 ? getOwnPropertyNames(value) : [...getOwnPropertyNames(value), ...symbols];
  const names = objectKeys(value);
  for (const symbol of symbols) if (propertyIsEnumerable.call(value, symbol)) names.push(symbol);
  return names;
}

const isIndex = (key) => typeof key === 'string' && /^(0|[1-9]\d*)$/.test(key) && +key < 2 ** 32 - 1;

// extraKeys gives the keys of an array or typed array that are no indexes. Of a long one
// only symbols are looked at: the list of all its keys would cost more than the array.
function extraKeys(value, hidden) {
  if (value.length > 10000) return getOwnPropertySymbols(value).filter((key) => hidden || propertyIsEnumerable.call(value, key));
  return propertyKeys(value, hidden).filter((key) => !isIndex(key));
}

const boxed = { Number: Number.prototype.valueOf, String: String.prototype.valueOf, Boolean: Boolean.prototype.valueOf, BigInt: BigInt.prototype.valueOf, Symbol: Symbol.prototype.valueOf };

function formatRaw(ctx, value, depth, typedArray) {
  const kind = kindOf(value);
  const constructor = constructorName(value, ctx, depth);
  let tag = value[Symbol.toStringTag];
  // An own tag is shown among the properties.
  if (typeof tag !== 'string' || tag !== '' && hasOwn(value, Symbol.toStringTag) && (ctx.showHidden || propertyIsEnumerable.call(value, Symbol.toStringTag))) tag = '';
  let keys, base = '', format = () => [], braces = ['{', '}'], layout = OBJECT;
  const done = (text, style) => ctx.stylize(text, style);
  if (kind === 'Array') {
    keys = extraKeys(value, ctx.showHidden);
    const prefix = constructor !== 'Array' || tag !== '' ? prefixOf(constructor, tag, 'Array', `(${value.length})`) : '';
    braces = [`${prefix}[`, ']'];
    if (value.length === 0 && keys.length === 0) return `${braces[0]}]`;
    layout = ARRAY;
    format = formatArray;
  } else if (kind === 'TypedArray') {
    keys = extraKeys(value, ctx.showHidden);
    const name = kindName(value);
    braces = [`${prefixOf(constructor, tag, name, `(${value.length})`)}[`, ']'];
    if (value.length === 0 && keys.length === 0 && !ctx.showHidden) return `${braces[0]}]`;
    layout = ARRAY;
    format = formatTypedArray;
  } else {
    keys = propertyKeys(value, ctx.showHidden);
    switch (kind) {
      case 'Set': case 'Map': {
        const size = Object.getOwnPropertyDescriptor(kind === 'Set' ? Set.prototype : Map.prototype, 'size').get.call(value);
        const prefix = prefixOf(constructor, tag, kind, `(${size})`);
        if (size === 0 && keys.length === 0) return `${prefix}{}`;
        braces[0] = `${prefix}{`;
        format = kind === 'Set' ? formatSet : formatMap;
        break;
      }
      case 'Arguments':
        braces[0] = '[Arguments] {';
        if (keys.length === 0) return '[Arguments] {}';
        break;
      case 'Function':
        base = functionBase(value, constructor, tag);
        if (keys.length === 0) return done(base, 'special');
        break;
      case 'RegExp': {
        base = RegExp.prototype.toString.call(value);
        const prefix = prefixOf(constructor, tag, 'RegExp');
        if (prefix !== 'RegExp ') base = `${prefix}${base}`;
        if (keys.length === 0 || depth > ctx.depth && ctx.depth !== null) return done(base, 'regexp');
        break;
      }
      case 'Date': {
        base = Number.isNaN(Date.prototype.getTime.call(value)) ? 'Invalid Date' : Date.prototype.toISOString.call(value);
        const prefix = prefixOf(constructor, tag, 'Date');
        if (prefix !== 'Date ') base = `${prefix}${base}`;
        if (keys.length === 0) return done(base, 'date');
        break;
      }
      case 'Error':
        base = formatError(value, constructor, tag, ctx, keys);
        if (keys.length === 0) return base;
        break;
      case 'ArrayBuffer': {
        const prefix = prefixOf(constructor, tag, 'ArrayBuffer');
        if (typedArray === undefined) format = formatArrayBuffer;
        else if (keys.length === 0) return `${prefix}{ byteLength: ${formatNumber(ctx.stylize, value.byteLength, false)} }`;
        braces[0] = `${prefix}{`;
        keys.unshift('byteLength');
        break;
      }
      case 'DataView':
        braces[0] = `${prefixOf(constructor, tag, 'DataView')}{`;
        keys.unshift('byteLength', 'byteOffset', 'buffer');
        break;
      case 'Promise': braces[0] = `${prefixOf(constructor, tag, 'Promise')}{`; format = formatPromise; break;
      case 'WeakSet': case 'WeakMap':
        braces[0] = `${prefixOf(constructor, tag, kind)}{`;
        format = () => [ctx.stylize('<items unknown>', 'special')];
        break;
      case 'Number': case 'String': case 'Boolean': case 'BigInt': case 'Symbol': {
        if (kind === 'String') keys = keys.filter((key) => !isIndex(key));
        const inner = boxed[kind].call(value);
        base = `[${kind}${kind !== constructor ? constructor === null ? ' (null prototype)' : ` (${constructor})` : ''}: ${formatPrimitive({ ...ctx, stylize: plain }, inner)}]`;
        if (tag !== '' && tag !== constructor) base += ` [${tag}]`;
        if (keys.length === 0) return done(base, kind.toLowerCase());
        break;
      }
      default: {
        const prefix = constructor === 'Object' && tag === '' ? '' : prefixOf(constructor, tag, 'Object');
        if (keys.length === 0) return `${prefix}{}`;
        braces[0] = `${prefix}{`;
      }
    }
  }
  if (depth > ctx.depth && ctx.depth !== null) {
    const name = prefixOf(constructor, tag, kind === 'Array' ? 'Array' : 'Object').slice(0, -1);
    return ctx.stylize(`[${name}]`, 'special');
  }
  depth++;
  ctx.seen.push(value);
  ctx.current = depth;
  const out = format(ctx, value, depth);
  for (const key of keys) out.push(formatProperty(ctx, value, depth, key, layout));
  ctx.seen.pop();
  const index = ctx.circular?.get(value);
  if (index !== undefined) {
    const reference = ctx.stylize(`<ref *${index}>`, 'special');
    if (ctx.compact !== true) base = base === '' ? reference : `${reference} ${base}`;
    else braces[0] = `${reference} ${braces[0]}`;
  }
  if (ctx.sorted) {
    const order = ctx.sorted === true ? undefined : ctx.sorted;
    if (layout === OBJECT) out.sort(order);
    else if (keys.length > 1) { const tail = out.splice(out.length - keys.length).sort(order); out.push(...tail); }
  }
  return layOut(ctx, out, base, braces, layout, depth, value);
}

function functionBase(value, constructor, tag) {
  const source = Function.prototype.toString.call(value);
  if (source.startsWith('class') && source.endsWith('}')) {
    let base = `class ${hasOwn(value, 'name') && value.name || '(anonymous)'}`;
    if (constructor !== 'Function' && constructor !== null) base += ` [${constructor}]`;
    if (tag !== '' && constructor !== tag) base += ` [${tag}]`;
    if (constructor === null) base += ' extends [null prototype]';
    else { const parent = getPrototypeOf(value).name; if (parent) base += ` extends ${parent}`; }
    return `[${base}]`;
  }
  let type = 'Function';
  if (/^(async\s+)?(function\s*\*|\*)/.test(source)) type = 'GeneratorFunction';
  if (/^async\b/.test(source) && getPrototypeOf(value) !== Function.prototype) type = `Async${type}`;
  let base = `[${type}`;
  if (constructor === null) base += ' (null prototype)';
  base += value.name === '' ? ' (anonymous)' : `: ${typeof value.name === 'string' ? value.name : formatValueOf(value.name)}`;
  base += ']';
  if (constructor !== type && constructor !== null && constructor !== 'Function') base += ` ${constructor}`;
  if (tag !== '' && constructor !== tag && tag !== type) base += ` [${tag}]`;
  return base;
}

const formatValueOf = (value) => inspect(value, { depth: -1 });

// nodeStack gives an error's stack in Node's layout.
function nodeStack(error) {
  const stack = error.stack;
  if (!stack) return Error.prototype.toString.call(error);
  const text = String(stack).includes('\n\tat ') ? authorStack(String(stack)) : String(stack);
  // The head is what the error was called when it was made; its name may have been set since.
  const frames = text.indexOf('\n    at ');
  const head = frames === -1 ? text : text.slice(0, frames);
  const message = typeof error.message === 'string' ? error.message : '';
  if (!head.endsWith(message) || head.includes(' [')) return text;
  return (hasOwn(error, 'toString') && typeof error.code === 'string' ? String(error) : Error.prototype.toString.call(error)) + text.slice(head.length);
}

function formatError(error, constructor, tag, ctx, keys) {
  const name = error.name != null ? `${error.name}` : 'Error';
  let stack = nodeStack(error);
  for (const key of ['name', 'message', 'stack']) {
    const i = keys.indexOf(key);
    if (i !== -1 && (typeof error[key] !== 'string' || stack.includes(error[key]))) keys.splice(i, 1);
  }
  if ('cause' in error && hasOwn(error, 'cause') && !keys.includes('cause')) keys.push('cause');
  if (isArray(error.errors) && hasOwn(error, 'errors') && !keys.includes('errors')) keys.push('errors');
  stack = renamed(stack, constructor, name, tag);
  let at = error.message && typeof error.message === 'string' ? stack.indexOf(error.message) : -1;
  if (at !== -1) at += error.message.length;
  const frames = stack.indexOf('\n    at', at);
  if (frames === -1) stack = `[${stack}]`;
  else if (ctx.colors) stack = stack.slice(0, frames) + stack.slice(frames).split('\n').map((line) => line && ctx.stylize(line, 'undefined')).join('\n');
  if (ctx.indent !== 0) stack = stack.replaceAll('\n', `\n${' '.repeat(ctx.indent)}`);
  return stack;
}

// renamed puts the class of an error at the head of its stack where that shows a plainer name.
function renamed(stack, constructor, name, tag) {
  if (constructor === null) {
    const fallback = stack.startsWith(name) ? name : 'Error';
    return `${prefixOf(null, tag, fallback).slice(0, -1)}${stack.startsWith(fallback) ? stack.slice(fallback.length) : `: ${stack}`}`;
  }
  if (constructor === name || !name.endsWith('Error') || !stack.startsWith(name)) return stack;
  return `${constructor.includes(name) ? constructor : `${constructor} [${name}]`}${stack.slice(name.length)}`;
}

function formatArray(ctx, value, depth) {
  const out = [];
  const shown = Math.min(Math.max(0, ctx.maxArrayLength), value.length);
  let i = 0;
  while (i < value.length && out.length < shown) {
    if (hasOwn(value, i)) { out.push(formatProperty(ctx, value, depth, i, ELEMENT)); i++; continue; }
    const start = i;
    if (value.length - i > 10000) {
      const next = objectKeys(value).find((key) => isIndex(key) && +key > start);
      i = next === undefined ? value.length : +next;
    } else while (i < value.length && !hasOwn(value, i)) i++;
    out.push(ctx.stylize(`<${i - start} empty item${i - start > 1 ? 's' : ''}>`, 'undefined'));
  }
  if (i < value.length) out.push(moreItems(value.length - i));
  return out;
}

const moreItems = (n) => `... ${n} more item${n > 1 ? 's' : ''}`;

function formatTypedArray(ctx, value, depth) {
  const shown = Math.min(Math.max(0, ctx.maxArrayLength), value.length);
  const out = [];
  const format = typeof value[0] === 'bigint' ? formatBigInt : formatNumber;
  for (let i = 0; i < shown; i++) out.push(format(ctx.stylize, value[i], ctx.numericSeparator));
  if (value.length > shown) out.push(moreItems(value.length - shown));
  if (ctx.showHidden) {
    ctx.indent += 2;
    for (const key of ['BYTES_PER_ELEMENT', 'length', 'byteLength', 'byteOffset', 'buffer']) out.push(`[${key}]: ${formatValue(ctx, value[key], depth, true)}`);
    ctx.indent -= 2;
  }
  return out;
}

function formatArrayBuffer(ctx, value) {
  const shown = Math.min(Math.max(0, ctx.maxArrayLength), value.byteLength);
  const bytes = new Uint8Array(value, 0, shown);
  let text = '';
  for (let i = 0; i < shown; i++) text += (i ? ' ' : '') + bytes[i].toString(16).padStart(2, '0');
  const more = value.byteLength - shown;
  if (more > 0) text += ` ... ${more} more byte${more > 1 ? 's' : ''}`;
  return [`${ctx.stylize('[Uint8Contents]', 'special')}: <${text}>`];
}

function formatSet(ctx, value, depth) {
  const size = Object.getOwnPropertyDescriptor(Set.prototype, 'size').get.call(value);
  const shown = Math.min(Math.max(0, ctx.maxArrayLength), size);
  const out = [];
  ctx.indent += 2;
  for (const item of Set.prototype.values.call(value)) { if (out.length >= shown) break; out.push(formatValue(ctx, item, depth)); }
  if (size > shown) out.push(moreItems(size - shown));
  ctx.indent -= 2;
  return out;
}

function formatMap(ctx, value, depth) {
  const size = Object.getOwnPropertyDescriptor(Map.prototype, 'size').get.call(value);
  const shown = Math.min(Math.max(0, ctx.maxArrayLength), size);
  const out = [];
  ctx.indent += 2;
  for (const [key, item] of Map.prototype.entries.call(value)) { if (out.length >= shown) break; out.push(`${formatValue(ctx, key, depth)} => ${formatValue(ctx, item, depth)}`); }
  if (size > shown) out.push(moreItems(size - shown));
  ctx.indent -= 2;
  return out;
}

function formatPromise(ctx, value, depth) {
  const [state, result] = promiseState(value);
  if (state === 'pending') return [ctx.stylize('<pending>', 'special')];
  ctx.indent += 2;
  const text = formatValue(ctx, result, depth);
  ctx.indent -= 2;
  return [state === 'rejected' ? `${ctx.stylize('<rejected>', 'special')} ${text}` : text];
}

function formatProperty(ctx, value, depth, key, layout) {
  const found = getOwnPropertyDescriptor(value, key) ?? { value: value[key], configurable: true, enumerable: true };
  let text;
  if (found.value !== undefined) {
    ctx.indent += 2;
    text = formatValue(ctx, found.value, depth);
    ctx.indent -= 2;
  } else if (found.get !== undefined) {
    const label = found.set !== undefined ? 'Getter/Setter' : 'Getter';
    if (ctx.getters && (ctx.getters === true || ctx.getters === 'get' && found.set === undefined || ctx.getters === 'set' && found.set !== undefined)) {
      try {
        const got = found.get.call(value);
        ctx.indent += 2;
        text = got === null || typeof got !== 'object' ? `${ctx.stylize(`[${label}:`, 'special')} ${formatPrimitiveOrNull(ctx, got)}${ctx.stylize(']', 'special')}` : `${ctx.stylize(`[${label}]`, 'special')} ${formatValue(ctx, got, depth)}`;
        ctx.indent -= 2;
      } catch (error) { text = `${ctx.stylize(`[${label}: <Inspection threw (${error.message})>]`, 'special')}`; }
    } else text = ctx.stylize(`[${label}]`, 'special');
  } else if (found.set !== undefined) text = ctx.stylize('[Setter]', 'special');
  else text = ctx.stylize('undefined', 'undefined');
  if (layout === ELEMENT) return text;
  let name;
  if (typeof key === 'symbol') name = `[${ctx.stylize(Symbol.prototype.toString.call(key), 'symbol')}]`;
  else if (key === '__proto__') name = "['__proto__']";
  else if (found.enumerable === false) name = `[${key.replace(controlsAll, (c) => named[c] ?? c)}]`;
  else if (/^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key)) name = ctx.stylize(key, 'name');
  else name = ctx.stylize(quote(key), 'string');
  return `${name}: ${text}`;
}

const formatPrimitiveOrNull = (ctx, value) => value === null ? ctx.stylize('null', 'null') : formatPrimitive(ctx, value);

// layOut joins the parts of a value: on one line where they are short and not nested
// deeper than ctx.compact, else one a line; long arrays of short items in columns.
function layOut(ctx, out, base, braces, layout, depth, value) {
  const head = base ? `${base} ` : '';
  if (ctx.compact !== true) {
    if (typeof ctx.compact === 'number' && ctx.compact >= 1) {
      const entries = out.length;
      if (layout === ARRAY && entries > 6) out = columns(ctx, out, value);
      if (ctx.current - depth < ctx.compact && entries === out.length) {
        const start = out.length + ctx.indent + braces[0].length + base.length + 10;
        if (fits(ctx, out, start, base)) {
          const joined = out.join(', ');
          if (!joined.includes('\n')) return `${head}${braces[0]} ${joined} ${braces[1]}`;
        }
      }
    }
    const indentation = `\n${' '.repeat(ctx.indent)}`;
    return `${head}${braces[0]}${indentation}  ${out.join(`,${indentation}  `)}${indentation}${braces[1]}`;
  }
  if (fits(ctx, out, 0, base)) return `${braces[0]}${base ? ` ${base}` : ''} ${out.join(', ')} ${braces[1]}`;
  const indentation = `\n${' '.repeat(ctx.indent)}`;
  const lead = base === '' && braces[0].length === 1 ? ' ' : `${base ? ` ${base}` : ''}\n${' '.repeat(ctx.indent)}  `;
  return `${braces[0]}${lead}${out.join(`,${indentation}  `)} ${braces[1]}`;
}

function fits(ctx, out, start, base) {
  let total = out.length + start;
  if (total + out.length > ctx.breakLength) return false;
  for (const part of out) {
    total += ctx.colors ? stripColors(part).length : part.length;
    if (total > ctx.breakLength) return false;
  }
  return base === '' || !base.includes('\n');
}

function columns(ctx, out, value) {
  let total = 0, longest = 0;
  const count = ctx.maxArrayLength < out.length ? out.length - 1 : out.length;
  const widths = [];
  for (let i = 0; i < count; i++) {
    const w = ctx.colors ? width(stripColors(out[i])) : width(out[i]);
    widths.push(w);
    total += w + 2;
    if (longest < w) longest = w;
  }
  const most = longest + 2;
  if (most * 3 + ctx.indent >= ctx.breakLength || !(total / most > 5 || longest <= 6)) return out;
  // About 2.5 times as many columns as rows look square; long single items count less.
  const biased = Math.max(most - 3 - Math.sqrt(most - total / out.length), 1);
  const n = Math.min(Math.round(Math.sqrt(2.5 * biased * count) / biased), Math.floor((ctx.breakLength - ctx.indent) / most), ctx.compact * 4, 15);
  if (n <= 1) return out;
  const widest = [];
  for (let i = 0; i < n; i++) {
    let w = 0;
    for (let j = i; j < count; j += n) if (widths[j] > w) w = widths[j];
    widest.push(w + 2);
  }
  let right = true;
  if (value !== undefined) for (let i = 0; i < out.length && right; i++) right = typeof value[i] === 'number' || typeof value[i] === 'bigint';
  const rows = [];
  for (let i = 0; i < count; i += n) {
    const end = Math.min(i + n, count);
    let row = '';
    for (let j = i; j < end; j++) {
      const last = j === end - 1;
      const cell = last ? out[j] : `${out[j]}, `;
      const room = widest[j - i] + out[j].length - widths[j] - (last ? 2 : 0);
      row += right ? cell.padStart(room) : last ? cell : cell.padEnd(room);
    }
    rows.push(row);
  }
  if (ctx.maxArrayLength < out.length) rows.push(out[count]);
  return rows;
}

function inspect(value, options) {
  const ctx = { ...defaults, breakLength: 80, seen: [], indent: 0, current: 0, circular: undefined, stylize: plain, options: undefined };
  if (arguments.length > 1) {
    if (typeof options === 'boolean') {
      ctx.showHidden = options;
      if (arguments.length >= 3 && arguments[2] !== undefined) ctx.depth = arguments[2];
      if (arguments.length >= 4 && arguments[3] !== undefined) ctx.colors = arguments[3];
    } else if (options) {
      for (const key of objectKeys(options)) if (hasOwn(defaults, key) || key === 'stylize') { if (options[key] !== undefined || key === 'depth') ctx[key] = options[key]; }
    }
  }
  if (ctx.colors && ctx.stylize === plain) ctx.stylize = coloured;
  if (ctx.maxArrayLength === null) ctx.maxArrayLength = Infinity;
  if (ctx.maxStringLength === null) ctx.maxStringLength = Infinity;
  const kept = {};
  for (const key of objectKeys(defaults)) kept[key] = ctx[key];
  ctx.options = kept;
  return formatValue(ctx, value, 0);
}

inspect.custom = custom;
inspect.defaultOptions = { ...defaults };
inspect.colors = colors;
inspect.styles = styles;

const builtinToString = new Set();
for (const c of [Object, Error, Date, RegExp, Array, Function, Map, Set, Promise]) builtinToString.add(c);

function hasOwnText(value) {
  if (kindOf(value) === 'Proxy') { value = proxyParts(value)[0]; if (value === null) return true; }
  if (typeof value[Symbol.toPrimitive] === 'function' && kindOf(value) !== 'Date') return true;
  if (typeof value.toString !== 'function') return false;
  if (hasOwn(value, 'toString')) return true;
  let object = value;
  do { object = getPrototypeOf(object); } while (object !== null && !hasOwn(object, 'toString'));
  if (object === null) return false;
  const found = getOwnPropertyDescriptor(object, 'constructor');
  return !(found !== undefined && typeof found.value === 'function' && builtinToString.has(found.value));
}

function formatWithOptions(options, ...args) {
  if (args.length === 0) return '';
  const first = args[0];
  let i = 0, text = '', join = '';
  if (typeof first === 'string') {
    if (args.length === 1) return first;
    let from = 0;
    for (let at = first.indexOf('%'); at !== -1 && at < first.length - 1; at = first.indexOf('%', at + 1)) {
      const kind = first[at + 1];
      if (kind === '%') { text += first.slice(from, at + 1); from = at + 2; at++; continue; }
      if (i + 1 >= args.length) continue;
      let part;
      const value = args[i + 1];
      switch (kind) {
        case 's':
          if (typeof value === 'number') part = formatNumber(plain, value, false);
          else if (typeof value === 'bigint') part = formatBigInt(plain, value, false);
          else if (typeof value !== 'object' || value === null || hasOwnText(value)) part = String(value);
          else part = inspect(value, { ...options, depth: 0, colors: false, compact: 3 });
          break;
        case 'j': part = asJSON(value); break;
        case 'd':
          part = typeof value === 'bigint' ? formatBigInt(plain, value, false) : typeof value === 'symbol' ? 'NaN' : formatNumber(plain, Number(value), false);
          break;
        case 'O': part = inspect(value, options); break;
        case 'o': part = inspect(value, { ...options, showHidden: true, showProxy: true, depth: 4 }); break;
        case 'i':
          part = typeof value === 'bigint' ? formatBigInt(plain, value, false) : typeof value === 'symbol' ? 'NaN' : formatNumber(plain, parseInt(value), false);
          break;
        case 'f': part = typeof value === 'symbol' ? 'NaN' : formatNumber(plain, parseFloat(value), false); break;
        case 'c': part = ''; break;
        default: continue;
      }
      text += first.slice(from, at) + part;
      from = at + 2;
      i++;
      at++;
    }
    if (from !== 0) { text += first.slice(from); join = ' '; i++; } else { text = ''; }
  }
  for (; i < args.length; i++) {
    text += join + (typeof args[i] === 'string' ? args[i] : inspect(args[i], options));
    join = ' ';
  }
  return text;
}

function asJSON(value) {
  try { return String(JSON.stringify(value)); } catch (error) {
    if (/circular/i.test(error.message)) return '[Circular]';
    throw error;
  }
}

module.exports = { inspect, format: (...args) => formatWithOptions(undefined, ...args), formatWithOptions, stripVTControlCharacters: stripColors, width, quote, nodeStack };
