'use strict';
// How util.inspect writes texts and numbers, and lays out the parts of a value.
const { isWellFormed } = host;

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

// escaped writes the control characters and backslashes of a key as they are named.
const escaped = (key) => key.replace(controlsAll, (char) => named[char] ?? char);

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

module.exports = { OBJECT, ELEMENT, ARRAY, colors, styles, plain, coloured, stripColors, width, quote, escaped, formatNumber, formatBigInt, formatPrimitive, layOut };
