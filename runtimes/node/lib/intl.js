'use strict';
// What people of en-US read. For anything else, and for options that are not here, it
// throws and names what is missing: a wrong text would not be noticed.

function missing(what) {
  return require('internal/errors').nodeError('RangeError', 'ERR_UNSUPPORTED_IN_HOST', `${what} is not available in this host, which knows the locale en-US only`);
}

function checkLocales(locales) {
  if (locales === undefined) return 'en-US';
  const list = typeof locales === 'string' ? [locales] : Array.from(locales, (l) => typeof l === 'object' && l !== null ? String(l) : l);
  for (const locale of list) if (typeof locale !== 'string' || !/^[a-zA-Z]{2,8}([-_][a-zA-Z0-9]{1,8})*$/.test(locale)) throw new RangeError(`Incorrect locale information provided`);
  if (list.length === 0) return 'en-US';
  if (/^en(-US)?$/i.test(list[0])) return list[0].toLowerCase() === 'en' ? 'en' : 'en-US';
  throw missing(`the locale ${JSON.stringify(list[0])}`);
}

function checkOptions(options, known, name) {
  if (options === undefined) return {};
  if (options === null) throw new TypeError('Cannot convert undefined or null to object');
  for (const key of Object.keys(Object(options))) if (options[key] !== undefined && !(key in known)) throw missing(`the option ${JSON.stringify(key)} of ${name}`);
  return options;
}

function oneOf(value, list, key, name) {
  if (value === undefined) return undefined;
  if (!list.includes(value)) throw missing(`${key} ${JSON.stringify(value)} of ${name}`);
  return value;
}

// Numbers.
const numberOptions = { style: 1, currency: 1, currencyDisplay: 1, minimumFractionDigits: 1, maximumFractionDigits: 1, minimumIntegerDigits: 1, useGrouping: 1, localeMatcher: 1, notation: 1, signDisplay: 1, numberingSystem: 1, currencySign: 1 };
const currencies = { USD: ['$', 2], EUR: ['€', 2], GBP: ['£', 2], JPY: ['¥', 0], INR: ['₹', 2], CNY: ['CN¥', 2], KRW: ['₩', 0], CAD: ['CA$', 2], AUD: ['A$', 2], MXN: ['MX$', 2], BRL: ['R$', 2], CHF: ['CHF\u00a0', 2], PLN: ['PLN\u00a0', 2], SEK: ['SEK\u00a0', 2], NOK: ['NOK\u00a0', 2], DKK: ['DKK\u00a0', 2], CZK: ['CZK\u00a0', 2], RUB: ['RUB\u00a0', 2], TRY: ['TRY\u00a0', 2] };

function digits(value, low, high, name) {
  if (value === undefined) return undefined;
  value = Number(value);
  if (!(value >= low && value <= high)) throw new RangeError(`${name} value is out of range.`);
  return Math.floor(value);
}

class NumberFormat {
  constructor(locales, options) {
    const locale = checkLocales(locales);
    const o = checkOptions(options, numberOptions, 'Intl.NumberFormat');
    oneOf(o.notation, ['standard'], 'notation', 'Intl.NumberFormat');
    oneOf(o.signDisplay, ['auto', 'always', 'never', 'exceptZero', 'negative'], 'signDisplay', 'Intl.NumberFormat');
    oneOf(o.numberingSystem, ['latn'], 'numberingSystem', 'Intl.NumberFormat');
    oneOf(o.currencySign, ['standard'], 'currencySign', 'Intl.NumberFormat');
    const style = oneOf(o.style, ['decimal', 'percent', 'currency'], 'style', 'Intl.NumberFormat') ?? 'decimal';
    let symbol = '', fraction = [0, style === 'percent' ? 0 : 3], currency;
    if (style === 'currency') {
      if (o.currency === undefined) throw new TypeError('Currency code is required with currency style.');
      currency = `${o.currency}`.toUpperCase();
      if (!/^[A-Z]{3}$/.test(currency)) throw new RangeError(`Invalid currency code : ${o.currency}`);
      const known = currencies[currency];
      if (!known) throw missing(`the currency ${currency}`);
      const display = oneOf(o.currencyDisplay, ['symbol', 'narrowSymbol', 'code'], 'currencyDisplay', 'Intl.NumberFormat') ?? 'symbol';
      symbol = display === 'code' ? `${currency}\u00a0` : display === 'narrowSymbol' && /[$¥]/.test(known[0]) ? known[0].at(-1) : known[0];
      fraction = [known[1], known[1]];
    }
    let min = digits(o.minimumFractionDigits, 0, 20, 'minimumFractionDigits'), max = digits(o.maximumFractionDigits, 0, 20, 'maximumFractionDigits');
    if (min !== undefined && max === undefined) max = Math.max(fraction[1], min);
    else if (max !== undefined && min === undefined) min = Math.min(fraction[0], max);
    else if (min === undefined) [min, max] = fraction;
    if (min > max) throw new RangeError('maximumFractionDigits value is out of range.');
    const grouping = o.useGrouping === undefined || o.useGrouping === 'auto' || o.useGrouping === 'always' || o.useGrouping === true || o.useGrouping === 'true';
    if (o.useGrouping === 'min2') throw missing('useGrouping "min2" of Intl.NumberFormat');
    const whole = digits(o.minimumIntegerDigits, 1, 21, 'minimumIntegerDigits') ?? 1;
    const sign = o.signDisplay ?? 'auto';
    Object.defineProperty(this, '_', { value: { locale, style, symbol, currency, min, max, grouping, whole, sign } });
    Object.defineProperty(this, 'format', { value: (value) => formatWith(this._, value), configurable: true });
  }
  resolvedOptions() {
    const { locale, style, currency, min, max, whole, grouping, sign } = this._;
    return { locale, numberingSystem: 'latn', style, ...currency && { currency, currencyDisplay: 'symbol', currencySign: 'standard' }, minimumIntegerDigits: whole, minimumFractionDigits: min, maximumFractionDigits: max, useGrouping: grouping ? 'auto' : false, notation: 'standard', signDisplay: sign, roundingIncrement: 1, roundingMode: 'halfExpand', roundingPriority: 'auto', trailingZeroDisplay: 'auto' };
  }
  formatToParts() { throw missing('Intl.NumberFormat.prototype.formatToParts'); }
  static supportedLocalesOf(locales) { return supported(locales); }
  get [Symbol.toStringTag]() { return 'Intl.NumberFormat'; }
}

const supported = (locales) => (locales === undefined ? [] : typeof locales === 'string' ? [locales] : [...locales]).filter((l) => /^en(-US)?$/i.test(l));

// plainDecimal writes a finite number out in full, without an exponent.
function plainDecimal(value) {
  const text = String(value);
  const found = /^(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (!found) return text;
  const all = found[1] + (found[2] ?? ''), exponent = Number(found[3]);
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${all}`;
  return all.length <= exponent + 1 ? all.padEnd(exponent + 1, '0') : `${all.slice(0, exponent + 1)}.${all.slice(exponent + 1)}`;
}

// roundDecimal rounds a decimal text half away from zero.
function roundDecimal(text, max) {
  let [whole, part = ''] = text.split('.');
  if (part.length <= max) return [whole, part];
  const up = part.charCodeAt(max) >= 53;
  let all = BigInt(whole + part.slice(0, max));
  if (up) all += 1n;
  const out = String(all).padStart(max + 1, '0');
  whole = max === 0 ? out : out.slice(0, -max);
  return [whole, max === 0 ? '' : out.slice(-max)];
}

function formatWith({ style, symbol, min, max, grouping, whole, sign }, value) {
  if (typeof value !== 'bigint') value = Number(value);
  let negative = typeof value === 'bigint' ? value < 0n : value < 0 || Object.is(value, -0);
  let text, zero = false;
  if (typeof value === 'number' && Number.isNaN(value)) { text = 'NaN'; negative = false; } else if (value === Infinity || value === -Infinity) text = '∞';
  else {
    let plain = typeof value === 'bigint' ? String(value).replace('-', '') : plainDecimal(Math.abs(value));
    if (style === 'percent') { const [a, b = ''] = plain.split('.'); plain = b.length <= 2 ? a + b.padEnd(2, '0') : `${a}${b.slice(0, 2)}.${b.slice(2)}`; }
    let [integer, part] = roundDecimal(plain, max);
    integer = integer.replace(/^0+(?=\d)/, '').padStart(whole, '0');
    part = part.replace(/0+$/, '').padEnd(min, '0');
    zero = !/[1-9]/.test(integer + part);
    if (grouping) integer = integer.replace(/\B(?=(\d{3})+$)/g, ',');
    text = part === '' ? integer : `${integer}.${part}`;
  }
  let mark = negative ? '-' : '';
  if (sign === 'never') mark = '';
  else if (sign === 'always') mark = negative ? '-' : '+';
  else if (sign === 'exceptZero') mark = zero || text === 'NaN' ? '' : negative ? '-' : '+';
  else if (sign === 'negative') mark = negative && !zero ? '-' : '';
  return `${mark}${symbol}${text}${style === 'percent' ? '%' : ''}`;
}

// Dates.
const dateOptions = { weekday: 1, era: 0, year: 1, month: 1, day: 1, hour: 1, minute: 1, second: 1, fractionalSecondDigits: 1, timeZoneName: 1, timeZone: 1, hour12: 1, hourCycle: 1, dateStyle: 1, timeStyle: 1, localeMatcher: 1, formatMatcher: 1, calendar: 1, numberingSystem: 1 };
const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const dateStyles = {
  full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }, long: { year: 'numeric', month: 'long', day: 'numeric' },
  medium: { year: 'numeric', month: 'short', day: 'numeric' }, short: { year: '2-digit', month: 'numeric', day: 'numeric' },
};
const timeStyles = { medium: { hour: 'numeric', minute: '2-digit', second: '2-digit' }, short: { hour: 'numeric', minute: '2-digit' } };


function resolveDate(locales, options, required, defaults) {
  const locale = checkLocales(locales), name = 'Intl.DateTimeFormat';
  let o = { ...checkOptions(options, dateOptions, name) };
  oneOf(o.calendar, ['gregory'], 'calendar', name); oneOf(o.numberingSystem, ['latn'], 'numberingSystem', name);
  if (o.era !== undefined) throw missing('the option "era" of Intl.DateTimeFormat');
  let zone = o.timeZone === undefined ? host.localZone : `${o.timeZone}`;
  if (o.timeZone !== undefined) {
    if (/^(utc|gmt|etc\/utc|etc\/gmt)$/i.test(zone)) zone = 'UTC';
    if (zone === 'Local' || zone === '' || host.fields(0, zone) === undefined) throw new RangeError(`Invalid time zone specified: ${o.timeZone}`);
  }
  const styled = o.dateStyle !== undefined || o.timeStyle !== undefined;
  if (styled) {
    for (const key of ['weekday', 'year', 'month', 'day', 'hour', 'minute', 'second', 'fractionalSecondDigits', 'timeZoneName']) if (o[key] !== undefined) throw new TypeError(`Can't set option ${key} when ${o.dateStyle !== undefined ? 'dateStyle' : 'timeStyle'} is used`);
    if (required === 'date' && o.timeStyle !== undefined) throw new TypeError('Invalid option : timeStyle');
    if (required === 'time' && o.dateStyle !== undefined) throw new TypeError('Invalid option : dateStyle');
    if (o.dateStyle !== undefined && !(o.dateStyle in dateStyles)) throw new RangeError(`Value ${o.dateStyle} out of range for Intl.DateTimeFormat options property dateStyle`);
    if (o.timeStyle !== undefined && !(o.timeStyle in timeStyles)) { if (o.timeStyle === 'full' || o.timeStyle === 'long') throw missing(`timeStyle ${JSON.stringify(o.timeStyle)} of Intl.DateTimeFormat`); throw new RangeError(`Value ${o.timeStyle} out of range for Intl.DateTimeFormat options property timeStyle`); }
    o = { ...o, ...o.dateStyle && dateStyles[o.dateStyle], ...o.timeStyle && timeStyles[o.timeStyle] };
  } else {
    let wanted = false;
    if (required !== 'time') wanted ||= ['weekday', 'year', 'month', 'day'].some((key) => o[key] !== undefined);
    if (required !== 'date') wanted ||= ['hour', 'minute', 'second', 'fractionalSecondDigits'].some((key) => o[key] !== undefined);
    if (!wanted) {
      if (defaults !== 'time') o.year = o.month = o.day = 'numeric';
      if (defaults !== 'date') o.hour = o.minute = o.second = 'numeric';
    }
  }
  oneOf(o.weekday, ['long', 'short', 'narrow'], 'weekday', name); oneOf(o.month, ['numeric', '2-digit', 'long', 'short', 'narrow'], 'month', name);
  for (const key of ['year', 'day', 'hour', 'minute', 'second']) oneOf(o[key], ['numeric', '2-digit'], key, name);
  if (o.timeZoneName !== undefined) { if (zone !== 'UTC' || o.timeZoneName !== 'short') throw missing(`timeZoneName ${JSON.stringify(o.timeZoneName)} of Intl.DateTimeFormat in ${zone}`); }
  if (o.fractionalSecondDigits !== undefined) digits(o.fractionalSecondDigits, 1, 3, 'fractionalSecondDigits');
  oneOf(o.hourCycle, ['h12', 'h23', 'h24'], 'hourCycle', name);
  const cycle = o.hour12 !== undefined ? o.hour12 ? 'h12' : 'h24' : o.hourCycle ?? 'h12';
  return { locale, zone, cycle, ...o, styled: o.dateStyle };
}

const two = (n) => String(n).padStart(2, '0');

function dateText(o, [year, month, day, , , , , weekday]) {
  const y = o.year === '2-digit' ? two(Math.abs(year) % 100) : year > 0 ? String(year) : undefined;
  if (o.year && y === undefined) throw missing('a year before 1 of Intl.DateTimeFormat');
  const d = o.day === '2-digit' ? two(day) : String(day);
  const w = o.weekday === 'long' ? weekdays[weekday] : o.weekday === 'short' ? weekdays[weekday].slice(0, 3) : weekdays[weekday][0];
  if (o.month === 'long' || o.month === 'short' || o.month === 'narrow') {
    const m = o.month === 'long' ? months[month - 1] : o.month === 'short' ? months[month - 1].slice(0, 3) : months[month - 1][0];
    let text = o.day ? `${m} ${d}` : m;
    if (o.year) text += o.day ? `, ${y}` : ` ${y}`;
    if (o.weekday) { if (!o.day) throw missing('a weekday with a month and no day of Intl.DateTimeFormat'); text = `${w}, ${text}`; }
    return text;
  }
  const parts = [];
  if (o.month) parts.push(o.month === '2-digit' ? two(month) : String(month));
  if (o.day) parts.push(d);
  if (o.year) { if (o.day && !o.month) throw missing('a year and a day with no month of Intl.DateTimeFormat'); parts.push(y); }
  let text = parts.join('/');
  if (o.weekday) {
    if (text === '') return w;
    if (o.day && !o.month && !o.year) return `${text} ${w}`;
    text = `${w}, ${text}`;
  }
  return text;
}

function timeText(o, [, , , hour, minute, second, ms]) {
  const parts = [];
  if (o.hour) {
    const h = o.cycle === 'h12' ? hour % 12 || 12 : o.cycle === 'h24' && hour === 0 ? 24 : hour;
    parts.push(o.hour === '2-digit' || o.cycle !== 'h12' ? two(h) : String(h));
  }
  if (o.minute) parts.push(o.hour || o.second || false ? two(minute) : String(minute));
  if (o.second) parts.push(o.minute ? two(second) : o.hour ? undefined : String(second));
  if (parts.includes(undefined)) throw missing('hours and seconds with no minutes of Intl.DateTimeFormat');
  let text = parts.join(':');
  if (o.fractionalSecondDigits) { if (!o.second) throw missing('fractions with no seconds of Intl.DateTimeFormat'); text += `.${String(ms).padStart(3, '0').slice(0, o.fractionalSecondDigits)}`; }
  if (o.hour && o.cycle === 'h12') text += ` ${hour < 12 ? 'AM' : 'PM'}`;
  if (o.timeZoneName) text += ' UTC';
  return text;
}

function formatWithFields(o, ms) {
  const fields = host.fields(ms, o.zone);
  const date = o.weekday || o.year || o.month || o.day ? dateText(o, fields) : '';
  const time = o.hour || o.minute || o.second ? timeText(o, fields) : '';
  if (date === '' || time === '') return date + time;
  return `${date}${o.styled === 'full' || o.styled === 'long' ? ' at ' : ', '}${time}`;
}

const timeOf = (date) => {
  const ms = date === undefined ? Date.now() : Number(date);
  if (!Number.isFinite(ms) || Math.abs(ms) > 8.64e15) throw new RangeError('Invalid time value');
  return ms;
};

class DateTimeFormat {
  constructor(locales, options) {
    Object.defineProperty(this, '_', { value: resolveDate(locales, options, 'any', 'date') });
    Object.defineProperty(this, 'format', { value: (date) => formatWithFields(this._, timeOf(date)), configurable: true });
  }
  resolvedOptions() {
    const o = this._;
    const out = { locale: o.locale, calendar: 'gregory', numberingSystem: 'latn', timeZone: o.zone === 'Local' ? 'UTC' : o.zone };
    if (o.hour) { out.hourCycle = o.cycle; out.hour12 = o.cycle === 'h12'; }
    for (const key of ['weekday', 'year', 'month', 'day', 'hour', 'minute', 'second']) if (o[key] !== undefined) out[key] = o[key];
    return out;
  }
  formatToParts(date) {
    const o = this._, parts = [];
    const text = formatWithFields(o, timeOf(date));
    // Numeric parts are found in the order in which en-US writes them.
    const order = [];
    if (o.weekday) order.push('weekday');
    for (const key of ['month', 'day', 'year']) if (o[key]) order.push(key);
    for (const key of ['hour', 'minute', 'second', 'fractionalSecondDigits']) if (o[key]) order.push(key);
    const names = { fractionalSecondDigits: 'fractionalSecond' };
    let rest = text;
    for (const key of order) {
      const found = key === 'weekday' || key === 'month' && !/numeric|2-digit/.test(o.month) ? /[A-Za-z]+/.exec(rest) : /\d+/.exec(rest);
      if (found.index > 0) parts.push({ type: 'literal', value: rest.slice(0, found.index) });
      parts.push({ type: names[key] ?? key, value: found[0] });
      rest = rest.slice(found.index + found[0].length);
    }
    const half = /^( )(AM|PM)/.exec(rest);
    if (half) { parts.push({ type: 'literal', value: half[1] }, { type: 'dayPeriod', value: half[2] }); rest = rest.slice(half[0].length); }
    if (o.timeZoneName) { parts.push({ type: 'literal', value: ' ' }, { type: 'timeZoneName', value: 'UTC' }); rest = ''; }
    if (rest !== '') parts.push({ type: 'literal', value: rest });

    return parts;
  }
  formatRange() { throw missing('Intl.DateTimeFormat.prototype.formatRange'); }
  static supportedLocalesOf(locales) { return supported(locales); }
  get [Symbol.toStringTag]() { return 'Intl.DateTimeFormat'; }
}

// Order of texts.
const collatorOptions = { usage: 1, sensitivity: 1, ignorePunctuation: 1, numeric: 1, caseFirst: 1, localeMatcher: 1, collation: 1 };
const nativeCompare = String.prototype.localeCompare;

function comparer(locales, options) {
  checkLocales(locales);
  const o = checkOptions(options, collatorOptions, 'Intl.Collator');
  oneOf(o.usage, ['sort', 'search'], 'usage', 'Intl.Collator');
  const sensitivity = oneOf(o.sensitivity, ['base', 'accent', 'case', 'variant'], 'sensitivity', 'Intl.Collator') ?? 'variant';
  if (sensitivity === 'case') throw missing('sensitivity "case" of Intl.Collator');
  if (o.ignorePunctuation) throw missing('ignorePunctuation of Intl.Collator');
  if (o.caseFirst !== undefined && o.caseFirst !== 'false' && o.caseFirst !== false) throw missing(`caseFirst ${JSON.stringify(o.caseFirst)} of Intl.Collator`);
  oneOf(o.collation, ['default'], 'collation', 'Intl.Collator');
  let fold = (text) => text;
  if (sensitivity === 'base') fold = (text) => text.normalize('NFD').replace(/[\u0300-\u036f]/g, '').toLowerCase();
  else if (sensitivity === 'accent') fold = (text) => text.toLowerCase();
  return (compare) => {
    if (!o.numeric) return (a, b) => compare.call(fold(a), fold(b));
    return (a, b) => {
      a = fold(a); b = fold(b);
      const x = a.match(/\d+|\D+/g) ?? [], y = b.match(/\d+|\D+/g) ?? [];
      for (let i = 0; i < x.length && i < y.length; i++) {
        const numbers = /^\d/.test(x[i]) && /^\d/.test(y[i]);
        let order;
        if (numbers) {
          const m = x[i].replace(/^0+(?=\d)/, ''), n = y[i].replace(/^0+(?=\d)/, '');
          order = m.length - n.length || (m < n ? -1 : m > n ? 1 : 0);
        } else order = compare.call(x[i].toLowerCase(), y[i].toLowerCase()) && compare.call(x[i], y[i]);
        if (order !== 0) return order < 0 ? -1 : 1;
      }
      return x.length - y.length < 0 ? -1 : x.length > y.length ? 1 : compare.call(a, b);
    };
  };
}

class Collator {
  constructor(locales, options) {
    const compare = comparer(locales, options)(nativeCompare);
    Object.defineProperty(this, 'compare', { value: (a, b) => compare(`${a}`, `${b}`), configurable: true });
    Object.defineProperty(this, '_', { value: { locale: 'en-US', usage: 'sort', sensitivity: 'variant', ignorePunctuation: false, numeric: false, caseFirst: 'false', ...options } });
  }
  resolvedOptions() { return { locale: 'en-US', usage: 'sort', sensitivity: 'variant', ignorePunctuation: false, collation: 'default', numeric: !!this._.numeric, caseFirst: 'false' }; }
  static supportedLocalesOf(locales) { return supported(locales); }
  get [Symbol.toStringTag]() { return 'Intl.Collator'; }
}
class PluralRules {
  #ordinal;
  constructor(locales, options) { checkLocales(locales); const o = checkOptions(options, { type: 1, localeMatcher: 1 }, 'Intl.PluralRules'); this.#ordinal = (oneOf(o.type, ['cardinal', 'ordinal'], 'type', 'Intl.PluralRules') ?? 'cardinal') === 'ordinal'; }
  select(n) {
    n = Number(n);
    if (!this.#ordinal) return Math.abs(n) === 1 ? 'one' : 'other';
    if (!Number.isInteger(n)) return 'other';
    const ten = Math.abs(n) % 10, hundred = Math.abs(n) % 100;
    if (ten === 1 && hundred !== 11) return 'one';
    if (ten === 2 && hundred !== 12) return 'two';
    return ten === 3 && hundred !== 13 ? 'few' : 'other';
  }
  resolvedOptions() { return { locale: 'en-US', type: this.#ordinal ? 'ordinal' : 'cardinal', pluralCategories: this.#ordinal ? ['few', 'one', 'two', 'other'] : ['one', 'other'] }; }
  static supportedLocalesOf(locales) { return supported(locales); }
  get [Symbol.toStringTag]() { return 'Intl.PluralRules'; }
}

class ListFormat {
  #word; #unit;
  constructor(locales, options) {
    checkLocales(locales);
    const o = checkOptions(options, { type: 1, style: 1, localeMatcher: 1 }, 'Intl.ListFormat');
    oneOf(o.style, ['long'], 'style', 'Intl.ListFormat');
    const type = oneOf(o.type, ['conjunction', 'disjunction', 'unit'], 'type', 'Intl.ListFormat') ?? 'conjunction';
    this.#unit = type === 'unit';
    this.#word = type === 'disjunction' ? 'or' : 'and';
  }
  format(list) {
    const items = [...list];
    for (const item of items) if (typeof item !== 'string') throw new TypeError('Iterable yielded a non-String value');
    if (items.length < 2) return items.join('');
    if (this.#unit) return items.join(', ');
    if (items.length === 2) return `${items[0]} ${this.#word} ${items[1]}`;
    return `${items.slice(0, -1).join(', ')}, ${this.#word} ${items[items.length - 1]}`;
  }
  static supportedLocalesOf(locales) { return supported(locales); }
  get [Symbol.toStringTag]() { return 'Intl.ListFormat'; }
}

const absent = (name) => { const f = function () { throw missing(`Intl.${name}`); }; Object.defineProperty(f, 'name', { value: name }); return f; };
// callable lets a class be called without new, as these may be.
function callable(C) {
  const made = function (...args) { return new C(...args); };
  Object.defineProperty(made, 'name', { value: C.name });
  made.prototype = C.prototype;
  made.supportedLocalesOf = C.supportedLocalesOf;
  Object.defineProperty(C.prototype, 'constructor', { value: made, writable: true, configurable: true });
  return made;
}

const Intl = {};
const members = { NumberFormat: callable(NumberFormat), DateTimeFormat: callable(DateTimeFormat), Collator: callable(Collator), PluralRules, ListFormat, getCanonicalLocales: (locales) => locales === undefined ? [] : typeof locales === 'string' ? [locales] : [...locales] };
for (const name of ['RelativeTimeFormat', 'Segmenter', 'DisplayNames', 'Locale', 'DurationFormat', 'supportedValuesOf']) members[name] = absent(name);
for (const name of Object.keys(members)) Object.defineProperty(Intl, name, { value: members[name], writable: true, configurable: true });
Object.defineProperty(Intl, Symbol.toStringTag, { value: 'Intl', configurable: true });

module.exports = {
  Intl,
  compare: (native, a, b, locales, options) => comparer(locales, options)(native)(a, b),
  checkCasing(locales) {
    for (const locale of typeof locales === 'string' ? [locales] : [...locales].slice(0, 1)) {
      if (typeof locale !== 'string' || !/^[a-zA-Z]{2,8}([-_][a-zA-Z0-9]{1,8})*$/.test(locale)) throw new RangeError('Incorrect locale information provided');
      if (/^(tr|az|lt|el)\b/i.test(locale)) throw missing(`upper and lower case of the locale ${JSON.stringify(locale)}`);
    }
  },
  formatNumber: (value, locales, options) => new NumberFormat(locales, options).format(value),
  formatDate(date, locales, options, required, defaults) {
    const ms = Date.prototype.getTime.call(date);
    if (Number.isNaN(ms)) return 'Invalid Date';
    return formatWithFields(resolveDate(locales, options, required, defaults), ms);
  },
  formatList(list, locales, options) {
    return Array.from({ length: list.length }, (_, i) => list[i] == null ? '' : String(list[i].toLocaleString(locales, options))).join(',');
  },
};
