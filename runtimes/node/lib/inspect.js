'use strict';
// util.inspect: the same text as Node's for the shapes that a log or a message shows. Texts and
// the layout are in inspect_text.js, util.format in inspect_format.js.

const { kindOf, promiseState, proxyParts, authorStack } = host;
const { getOwnPropertyDescriptor, getPrototypeOf, keys: objectKeys, getOwnPropertySymbols, getOwnPropertyNames } = Object;
const propertyIsEnumerable = Object.prototype.propertyIsEnumerable;
const hasOwn = Object.hasOwn;
const { isArray } = Array;
const { OBJECT, ELEMENT, ARRAY, colors, styles, plain, coloured, stripColors, width, quote, escaped, formatNumber, formatBigInt, formatPrimitive, layOut } = require('internal/inspect_text');
const custom = Symbol.for('nodejs.util.inspect.custom');

const defaults = {
  showHidden: false, depth: 2, colors: false, customInspect: true, showProxy: false, maxArrayLength: 100,
  maxStringLength: 10000, breakLength: 128, compact: 3, sorted: false, getters: false, numericSeparator: false,
};

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
  else if (found.enumerable === false) name = `[${escaped(key)}]`;
  else if (/^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key)) name = ctx.stylize(key, 'name');
  else name = ctx.stylize(quote(key), 'string');
  return `${name}: ${text}`;
}

const formatPrimitiveOrNull = (ctx, value) => value === null ? ctx.stylize('null', 'null') : formatPrimitive(ctx, value);

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

const formatting = () => require('internal/inspect_format');
module.exports = {
  inspect, format: (...args) => formatting().format(...args), formatWithOptions: (...args) => formatting().formatWithOptions(...args),
  stripVTControlCharacters: stripColors, width, quote, nodeStack,
};
