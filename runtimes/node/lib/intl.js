'use strict';
// What people of en-US read. For anything else, and for options that are not here, it
// throws and names what is missing: a wrong text would not be noticed.

function missing(what) {
  return require('internal/errors').nodeError('RangeError', 'ERR_UNSUPPORTED_IN_HOST', `${what} is not available in this host, which knows the locale en-US only`);
}

// wellFormed is what BCP 47 takes for the tag of a language: language, script, region,
// variants, extensions, and what is for private use.
const wellFormed = /^(?:[a-z]{2,3}|[a-z]{5,8})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?(?:-(?:[a-z\d]{5,8}|\d[a-z\d]{3}))*(?:-[a-wyz\d](?:-[a-z\d]{2,8})+)*(?:-x(?:-[a-z\d]{1,8})+)?$/i;

function checkTag(locale) {
  if (typeof locale !== 'string') throw new TypeError('Language ID should be string or object.');
  if (!wellFormed.test(locale)) throw new RangeError('Incorrect locale information provided');
}

function checkLocales(locales) {
  if (locales === undefined) return 'en-US';
  const list = typeof locales === 'string' ? [locales] : Array.from(locales, (l) => typeof l === 'object' && l !== null ? String(l) : l);
  list.forEach(checkTag);
  if (list.length === 0) return 'en-US';
  if (/^en(-US)?$/i.test(list[0])) return list[0].toLowerCase() === 'en' ? 'en' : 'en-US';
  throw missing(`the locale ${JSON.stringify(list[0])}`);
}

// checkOptions refuses what Intl knows and this host does not. What neither knows is passed over, as Intl does.
function checkOptions(options, known, name) {
  if (options === undefined) return {};
  if (options === null) throw new TypeError('Cannot convert undefined or null to object');
  for (const key of Object.keys(Object(options))) if (options[key] !== undefined && known[key] === 0) throw missing(`the option ${JSON.stringify(key)} of ${name}`);
  return options;
}

function oneOf(value, list, key, name) {
  if (value === undefined) return undefined;
  if (!list.includes(value)) throw missing(`${key} ${JSON.stringify(value)} of ${name}`);
  return value;
}

// Numbers.
const numberOptions = { style: 1, currency: 1, currencyDisplay: 1, minimumFractionDigits: 1, maximumFractionDigits: 1, minimumIntegerDigits: 1, useGrouping: 1, localeMatcher: 1, notation: 1, signDisplay: 1, numberingSystem: 1, currencySign: 1, unit: 1, unitDisplay: 1, compactDisplay: 1, minimumSignificantDigits: 0, maximumSignificantDigits: 0, roundingIncrement: 0, roundingMode: 0, roundingPriority: 0, trailingZeroDisplay: 0 };
// Units: what follows the number, by the way it is shown; the long name takes an s.
const units = {
  year: ['year', ' yr', 'y', 's'], month: ['month', ' mth', 'm', 's'], week: ['week', ' wk', 'w', 's'], day: ['day', ' day', 'd', 's'], hour: ['hour', ' hr', 'h'], minute: ['minute', ' min', 'm'], second: ['second', ' sec', 's'], millisecond: ['millisecond', ' ms', 'ms'],
  byte: ['byte', ' byte', 'B'], kilobyte: ['kilobyte', ' kB', 'kB'], megabyte: ['megabyte', ' MB', 'MB'], gigabyte: ['gigabyte', ' GB', 'GB'], terabyte: ['terabyte', ' TB', 'TB'], meter: ['meter', ' m', 'm'], kilometer: ['kilometer', ' km', 'km'], kilogram: ['kilogram', ' kg', 'kg'], gram: ['gram', ' g', 'g'],
};

function unitText([name, way], text) {
  const [long, short, narrow, plural = ''] = units[name], one = text === '1';
  return way === 'long' ? ` ${long}${one ? '' : 's'}` : way === 'narrow' ? narrow : `${short}${one ? '' : plural}`;
}

const scales = [[1e12, 'T', ' trillion'], [1e9, 'B', ' billion'], [1e6, 'M', ' million'], [1e3, 'K', ' thousand']];

// scaled gives a size, how many digits its fraction may have, and the name of its thousand.
function scaled(size, free, max) {
  const fraction = (n) => !free ? max : n >= 10 || n === 0 ? 0 : Math.min(20, 1 - Math.floor(Math.log10(n))); // two digits that count
  let at = scales.length, n = size;
  while (at > 0 && Number(n.toFixed(fraction(n))) >= 1000) n = size / scales[--at][0];
  return [n, fraction(n), ...at < scales.length ? scales[at].slice(1) : ['', '']];
}

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
    const notation = oneOf(o.notation, ['standard', 'compact'], 'notation', 'Intl.NumberFormat') ?? 'standard';
    const compact = notation === 'compact' && (oneOf(o.compactDisplay, ['short', 'long'], 'compactDisplay', 'Intl.NumberFormat') ?? 'short');
    oneOf(o.signDisplay, ['auto', 'always', 'never', 'exceptZero', 'negative'], 'signDisplay', 'Intl.NumberFormat');
    oneOf(o.numberingSystem, ['latn'], 'numberingSystem', 'Intl.NumberFormat');
    oneOf(o.currencySign, ['standard'], 'currencySign', 'Intl.NumberFormat');
    const style = oneOf(o.style, ['decimal', 'percent', 'currency', 'unit'], 'style', 'Intl.NumberFormat') ?? 'decimal';
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
    let unit;
    if (style === 'unit') {
      if (o.unit === undefined) throw new TypeError('Required unit option is undefined');
      if (!Object.hasOwn(units, o.unit)) throw missing(`the unit ${JSON.stringify(o.unit)} of Intl.NumberFormat`);
      unit = [o.unit, oneOf(o.unitDisplay, ['short', 'long', 'narrow'], 'unitDisplay', 'Intl.NumberFormat') ?? 'short'];
    }
    const free = compact && o.minimumFractionDigits === undefined && o.maximumFractionDigits === undefined;
    if (compact && style !== 'decimal') throw missing(`notation "compact" of Intl.NumberFormat with the style ${style}`);
    let min = digits(o.minimumFractionDigits, 0, 20, 'minimumFractionDigits'), max = digits(o.maximumFractionDigits, 0, 20, 'maximumFractionDigits');
    if (min !== undefined && max === undefined) max = Math.max(fraction[1], min);
    else if (max !== undefined && min === undefined) min = Math.min(fraction[0], max);
    else if (min === undefined) [min, max] = fraction;
    if (min > max) throw new RangeError('maximumFractionDigits value is out of range.');
    const grouping = o.useGrouping === undefined || o.useGrouping === 'auto' || o.useGrouping === 'always' || o.useGrouping === true || o.useGrouping === 'true';
    if (o.useGrouping === 'min2') throw missing('useGrouping "min2" of Intl.NumberFormat');
    const whole = digits(o.minimumIntegerDigits, 1, 21, 'minimumIntegerDigits') ?? 1;
    const sign = o.signDisplay ?? 'auto';
    Object.defineProperty(this, '_', { value: { locale, style, symbol, currency, min, max, grouping, whole, sign, unit, compact, free } });
    Object.defineProperty(this, 'format', { value: (value) => formatWith(this._, value), configurable: true });
  }
  resolvedOptions() {
    const { locale, style, currency, min, max, whole, grouping, sign } = this._;
    return { locale, numberingSystem: 'latn', style, ...currency && { currency, currencyDisplay: 'symbol', currencySign: 'standard' }, minimumIntegerDigits: whole, minimumFractionDigits: min, maximumFractionDigits: max, useGrouping: grouping ? 'auto' : false, notation: this._.compact ? 'compact' : 'standard', signDisplay: sign, roundingIncrement: 1, roundingMode: 'halfExpand', roundingPriority: 'auto', trailingZeroDisplay: 'auto', ...this._.unit && { unit: this._.unit[0], unitDisplay: this._.unit[1] } };
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

function formatWith({ style, symbol, min, max, grouping, whole, sign, unit, compact, free }, value) {
  if (typeof value !== 'bigint') value = Number(value);
  let negative = typeof value === 'bigint' ? value < 0n : value < 0 || Object.is(value, -0);
  let text, zero = false, tail = style === 'percent' ? '%' : '';
  if (typeof value === 'number' && Number.isNaN(value)) { text = 'NaN'; negative = false; } else if (value === Infinity || value === -Infinity) text = '∞';
  else {
    let size = typeof value === 'bigint' ? undefined : Math.abs(value);
    if (compact) {
      const [n, fraction, short, long] = scaled(size ?? Number(value < 0n ? -value : value), free, max);
      value = size = n; max = fraction; tail = compact === 'long' ? long : short;
    }
    let plain = typeof value === 'bigint' ? String(value).replace('-', '') : plainDecimal(size);
    if (style === 'percent') { const [a, b = ''] = plain.split('.'); plain = b.length <= 2 ? a + b.padEnd(2, '0') : `${a}${b.slice(0, 2)}.${b.slice(2)}`; }
    let [integer, part] = roundDecimal(plain, max);
    integer = integer.replace(/^0+(?=\d)/, '').padStart(whole, '0');
    part = part.replace(/0+$/, '').padEnd(min, '0');
    zero = !/[1-9]/.test(integer + part);
    if (grouping && (!compact || integer.length > 4)) integer = integer.replace(/\B(?=(\d{3})+$)/g, ',');
    text = part === '' ? integer : `${integer}.${part}`;
  }
  let mark = negative ? '-' : '';
  if (sign === 'never') mark = '';
  else if (sign === 'always') mark = negative ? '-' : '+';
  else if (sign === 'exceptZero') mark = zero || text === 'NaN' ? '' : negative ? '-' : '+';
  else if (sign === 'negative') mark = negative && !zero ? '-' : '';
  if (unit) tail = unitText(unit, text);
  return `${mark}${symbol}${text}${tail}`;
}

// Dates.
const dateOptions = { weekday: 1, era: 1, year: 1, month: 1, day: 1, hour: 1, minute: 1, second: 1, fractionalSecondDigits: 1, timeZoneName: 1, timeZone: 1, hour12: 1, hourCycle: 1, dateStyle: 1, timeStyle: 1, localeMatcher: 1, formatMatcher: 1, calendar: 1, numberingSystem: 1, dayPeriod: 0 };
const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const eras = { long: ['Before Christ', 'Anno Domini'], short: ['BC', 'AD'], narrow: ['B', 'A'] };
const dateStyles = {
  full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }, long: { year: 'numeric', month: 'long', day: 'numeric' },
  medium: { year: 'numeric', month: 'short', day: 'numeric' }, short: { year: '2-digit', month: 'numeric', day: 'numeric' },
};
const timeStyles = {
  full: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'long' }, long: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
  medium: { hour: 'numeric', minute: '2-digit', second: '2-digit' }, short: { hour: 'numeric', minute: '2-digit' },
};

function resolveDate(locales, options, required, defaults) {
  const locale = checkLocales(locales), name = 'Intl.DateTimeFormat';
  let o = { ...checkOptions(options, dateOptions, name) };
  oneOf(o.calendar, ['gregory'], 'calendar', name); oneOf(o.numberingSystem, ['latn'], 'numberingSystem', name);
  let zone = o.timeZone === undefined ? host.localZone : `${o.timeZone}`;
  if (o.timeZone !== undefined) {
    if (/^(utc|gmt|etc\/utc|etc\/gmt)$/i.test(zone)) zone = 'UTC';
    if (zone === 'Local' || zone === '' || host.fields(0, zone) === undefined) throw new RangeError(`Invalid time zone specified: ${o.timeZone}`);
  }
  const styled = o.dateStyle !== undefined || o.timeStyle !== undefined;
  if (styled) {
    for (const key of ['weekday', 'era', 'year', 'month', 'day', 'hour', 'minute', 'second', 'fractionalSecondDigits', 'timeZoneName']) if (o[key] !== undefined) throw new TypeError(`Can't set option ${key} when ${o.dateStyle !== undefined ? 'dateStyle' : 'timeStyle'} is used`);
    if (required === 'date' && o.timeStyle !== undefined) throw new TypeError('Invalid option : timeStyle');
    if (required === 'time' && o.dateStyle !== undefined) throw new TypeError('Invalid option : dateStyle');
    if (o.dateStyle !== undefined && !Object.hasOwn(dateStyles, o.dateStyle)) throw new RangeError(`Value ${o.dateStyle} out of range for Intl.DateTimeFormat options property dateStyle`);
    if (o.timeStyle !== undefined && !Object.hasOwn(timeStyles, o.timeStyle)) throw new RangeError(`Value ${o.timeStyle} out of range for Intl.DateTimeFormat options property timeStyle`);
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
  oneOf(o.era, ['long', 'short', 'narrow'], 'era', name);
  for (const key of ['year', 'day', 'hour', 'minute', 'second']) oneOf(o[key], ['numeric', '2-digit'], key, name);
  oneOf(o.timeZoneName, ['long', 'short', 'longOffset', 'shortOffset'], 'timeZoneName', name);
  if (o.fractionalSecondDigits !== undefined) digits(o.fractionalSecondDigits, 1, 3, 'fractionalSecondDigits');
  oneOf(o.hourCycle, ['h12', 'h23', 'h24'], 'hourCycle', name);
  const cycle = o.hour12 !== undefined ? o.hour12 ? 'h12' : 'h24' : o.hourCycle ?? 'h12';
  return { locale, zone, cycle, ...o };
}

const two = (n) => String(n).padStart(2, '0');

// Names of time zones by the short name that the zone's own people use.
const zoneNames = {
  UTC: 'Coordinated Universal Time', GMT: 'Greenwich Mean Time', WET: 'Western European Standard Time', WEST: 'Western European Summer Time',
  CET: 'Central European Standard Time', CEST: 'Central European Summer Time', EET: 'Eastern European Standard Time', EEST: 'Eastern European Summer Time',
  MSK: 'Moscow Standard Time', JST: 'Japan Standard Time', KST: 'Korean Standard Time', HKT: 'Hong Kong Standard Time', PKT: 'Pakistan Standard Time',
  NZST: 'New Zealand Standard Time', NZDT: 'New Zealand Daylight Time', AEST: 'Australian Eastern Standard Time', AEDT: 'Australian Eastern Daylight Time',
  ACST: 'Australian Central Standard Time', ACDT: 'Australian Central Daylight Time', AWST: 'Australian Western Standard Time',
  SAST: 'South Africa Standard Time', EAT: 'East Africa Time', WAT: 'West Africa Standard Time', CAT: 'Central Africa Time',
};
const american = {
  EST: 'Eastern Standard Time', EDT: 'Eastern Daylight Time', CST: 'Central Standard Time', CDT: 'Central Daylight Time', MST: 'Mountain Standard Time', MDT: 'Mountain Daylight Time',
  PST: 'Pacific Standard Time', PDT: 'Pacific Daylight Time', AKST: 'Alaska Standard Time', AKDT: 'Alaska Daylight Time', HST: 'Hawaii-Aleutian Standard Time',
};
const zones = {
  'Asia/Kolkata': 'India Standard Time', 'Asia/Calcutta': 'India Standard Time', 'Asia/Shanghai': 'China Standard Time', 'Asia/Kathmandu': 'Nepal Time', 'Asia/Dubai': 'Gulf Standard Time',
  'Asia/Singapore': 'Singapore Standard Time', 'Asia/Jakarta': 'Western Indonesia Time', 'Asia/Bangkok': 'Indochina Time', 'Asia/Manila': 'Philippine Standard Time', 'Asia/Dhaka': 'Bangladesh Standard Time',
  'America/Sao_Paulo': 'Brasilia Standard Time', 'America/Bogota': 'Colombia Standard Time', 'America/Argentina/Buenos_Aires': 'Argentina Standard Time', 'Asia/Taipei': 'Taipei Standard Time',
};

function zoneText(o, [, , , , , , , , offset, abbreviation]) {
  const minutes = Math.abs(offset), sign = offset < 0 ? '-' : '+', hours = Math.floor(minutes / 60), rest = minutes % 60;
  const way = o.timeZoneName;
  if (o.zone === 'UTC' && way === 'short') return 'UTC';
  if (way === 'longOffset') return `GMT${sign}${two(hours)}:${two(rest)}`;
  const here = /^(America|US|Canada)\/|^Pacific\/Honolulu$/.test(o.zone) && !/Havana|Hermosillo|Mazatlan|Miquelon|Bahia_Banderas/.test(o.zone) ? american : {};
  if (way !== 'long') return way === 'short' && Object.hasOwn(here, abbreviation) ? abbreviation : way === 'short' && abbreviation === 'GMT' ? 'GMT' : `GMT${sign}${hours}${rest ? `:${two(rest)}` : ''}`;
  if (o.zone === 'Europe/London') return offset ? 'British Summer Time' : zoneNames.GMT;
  const named = here[abbreviation] ?? zones[o.zone] ?? (/^(Europe|Asia\/(Tokyo|Seoul|Hong_Kong|Karachi|Nicosia)|Pacific\/Auckland|Australia|Africa|UTC)/.test(o.zone) ? zoneNames[abbreviation] : undefined);
  if (named === undefined) throw missing(`the long name of the time zone ${o.zone}`);
  return named;
}

// What is written, in parts: [type, text].
function dateParts(o, [year, month, day, , , , , weekday]) {
  const of = year > 0 ? year : 1 - year;
  const y = ['year', o.year === '2-digit' ? two(of % 100) : String(of)], d = ['day', o.day === '2-digit' ? two(day) : String(day)];
  const shorten = (name, way) => way === 'long' ? name : way === 'short' ? name.slice(0, 3) : name[0];
  const w = o.weekday && ['weekday', shorten(weekdays[weekday], o.weekday)];
  const named = o.month === 'long' || o.month === 'short' || o.month === 'narrow';
  let parts = [];
  if (named) {
    parts.push(['month', shorten(months[month - 1], o.month)]);
    if (o.day) parts.push(['literal', ' '], d);
    if (o.year) parts.push(['literal', o.day ? ', ' : ' '], y);
    if (o.weekday && !o.day) throw missing('a weekday with a month and no day of Intl.DateTimeFormat');
  } else {
    if (o.year && o.day && !o.month) throw missing('a year and a day with no month of Intl.DateTimeFormat');
    if (o.month) parts.push(['month', o.month === '2-digit' ? two(month) : String(month)]);
    if (o.day) parts.push(['literal', '/'], d);
    if (o.year) parts.push(['literal', '/'], y);
    if (parts[0]?.[0] === 'literal') parts.shift();
  }
  if (w) {
    if (parts.length === 0) parts = [w];
    else if (!named && o.day && !o.month && !o.year) parts.push(['literal', ' '], w);
    else parts.unshift(w, ['literal', ', ']);
  }
  if (o.era) {
    if (parts.length > 0 && !o.year) throw missing('an era with no year of Intl.DateTimeFormat');
    if (parts.length > 0) parts.push(['literal', ' ']);
    parts.push(['era', eras[o.era][year > 0 ? 1 : 0]]);
  }
  return parts;
}

function timeParts(o, [, , , hour, minute, second, ms]) {
  const parts = [], add = (type, text) => { if (parts.length > 0) parts.push(['literal', ':']); parts.push([type, text]); };
  if (o.hour) {
    const h = o.cycle === 'h12' ? hour % 12 || 12 : o.cycle === 'h24' && hour === 0 ? 24 : hour;
    add('hour', o.hour === '2-digit' || o.cycle !== 'h12' ? two(h) : String(h));
  }
  if (o.minute) add('minute', o.hour || o.second ? two(minute) : String(minute));
  if (o.second) {
    if (o.hour && !o.minute) throw missing('hours and seconds with no minutes of Intl.DateTimeFormat');
    add('second', o.minute ? two(second) : String(second));
  }
  if (o.fractionalSecondDigits) {
    if (!o.second) throw missing('fractions with no seconds of Intl.DateTimeFormat');
    parts.push(['literal', '.'], ['fractionalSecond', String(ms).padStart(3, '0').slice(0, o.fractionalSecondDigits)]);
  }
  if (o.hour && o.cycle === 'h12') parts.push(['literal', '\u202f'], ['dayPeriod', hour < 12 ? 'AM' : 'PM']);
  return parts;
}

function partsOf(o, ms) {
  const fields = host.fields(ms, o.zone);
  const date = o.weekday || o.year || o.month || o.day || o.era ? dateParts(o, fields) : [];
  const time = o.hour || o.minute || o.second ? timeParts(o, fields) : [];
  const parts = [...date];
  if (date.length > 0 && time.length > 0) parts.push(['literal', o.month === 'long' ? ' at ' : ', ']);
  parts.push(...time);
  if (o.timeZoneName) parts.push(['literal', time.length > 0 ? ' ' : ', '], ['timeZoneName', zoneText(o, fields)]);
  return parts;
}

// As in Node, the parts have a narrow space before AM and the text a plain one.
const formatWithFields = (o, ms) => partsOf(o, ms).map((part) => part[1] === '\u202f' ? ' ' : part[1]).join('');

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
    for (const key of ['weekday', 'era', 'year', 'month', 'day', 'hour', 'minute', 'second']) if (o[key] !== undefined) out[key] = o[key];
    return out;
  }
  formatToParts(date) {
    const parts = [];
    for (const [type, value] of partsOf(this._, timeOf(date))) parts.push({ type, value });
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
  constructor(locales, options) { checkLocales(locales); const o = checkOptions(options, { type: 1, localeMatcher: 1, minimumIntegerDigits: 0, minimumFractionDigits: 0, maximumFractionDigits: 0, minimumSignificantDigits: 0, maximumSignificantDigits: 0 }, 'Intl.PluralRules'); this.#ordinal = (oneOf(o.type, ['cardinal', 'ordinal'], 'type', 'Intl.PluralRules') ?? 'cardinal') === 'ordinal'; }
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
  #type; #style;
  constructor(locales, options) {
    checkLocales(locales);
    const o = checkOptions(options, { type: 1, style: 1, localeMatcher: 1 }, 'Intl.ListFormat');
    this.#style = oneOf(o.style, ['long', 'short', 'narrow'], 'style', 'Intl.ListFormat') ?? 'long';
    this.#type = oneOf(o.type, ['conjunction', 'disjunction', 'unit'], 'type', 'Intl.ListFormat') ?? 'conjunction';
  }
  formatToParts(list) {
    const items = [...list], style = this.#style;
    for (const item of items) if (typeof item !== 'string') throw new TypeError('Iterable yielded a non-String value');
    const comma = this.#type === 'unit' && style === 'narrow' ? ' ' : ', ';
    const word = this.#type === 'disjunction' ? 'or' : this.#type === 'unit' || style === 'narrow' ? '' : style === 'short' ? '&' : 'and';
    const parts = [];
    items.forEach((value, i) => {
      if (i > 0) parts.push({ type: 'literal', value: i < items.length - 1 || word === '' ? comma : items.length === 2 ? ` ${word} ` : `, ${word} ` });
      parts.push({ type: 'element', value });
    });
    return parts;
  }
  format(list) { return this.formatToParts(list).map((part) => part.value).join(''); }
  static supportedLocalesOf(locales) { return supported(locales); }
  get [Symbol.toStringTag]() { return 'Intl.ListFormat'; }
}

// Times from now.
const spans = { year: ['yr.', 'y'], quarter: ['qtr.', 'q'], month: ['mo.', 'mo'], week: ['wk.', 'w'], day: ['day', 'd'], hour: ['hr.', 'h'], minute: ['min.', 'm'], second: ['sec.', 's'] };

class RelativeTimeFormat {
  #style; #auto; #number;
  constructor(locales, options) {
    checkLocales(locales);
    const o = checkOptions(options, { style: 1, numeric: 1, localeMatcher: 1, numberingSystem: 1 }, 'Intl.RelativeTimeFormat');
    this.#style = oneOf(o.style, ['long', 'short', 'narrow'], 'style', 'Intl.RelativeTimeFormat') ?? 'long';
    this.#auto = oneOf(o.numeric, ['always', 'auto'], 'numeric', 'Intl.RelativeTimeFormat') === 'auto';
    this.#number = new NumberFormat('en-US');
  }
  format(value, unit) {
    value = Number(value);
    if (!Number.isFinite(value)) throw new RangeError('Invalid time value');
    const name = `${unit}`.replace(/s$/, '');
    if (!Object.hasOwn(spans, name)) throw new RangeError(`Invalid unit argument for format() '${unit}'`);
    const [short, narrow] = spans[name], style = this.#style, now = Object.is(value, -0) ? 0 : value;
    if (this.#auto && Math.abs(now) < 2 && Number.isInteger(now)) {
      if (name === 'day') return ['yesterday', 'today', 'tomorrow'][now + 1];
      if (name === 'second') { if (now === 0) return 'now'; } else if (name === 'hour' || name === 'minute') { if (now === 0) return `this ${name}`; } else return `${['last', 'this', 'next'][now + 1]} ${style === 'long' ? name : short}`;
    }
    const past = value < 0 || Object.is(value, -0), text = this.#number.format(Math.abs(value)), one = text === '1';
    const word = style === 'long' ? ` ${name}${one ? '' : 's'}` : style === 'short' ? ` ${name === 'day' ? `day${one ? '' : 's'}` : name === 'quarter' && !one ? 'qtrs.' : short}` : narrow;
    return past ? `${text}${word} ago` : `in ${text}${word}`;
  }
  formatToParts() { throw missing('Intl.RelativeTimeFormat.prototype.formatToParts'); }
  resolvedOptions() { return { locale: 'en-US', style: this.#style, numeric: this.#auto ? 'auto' : 'always', numberingSystem: 'latn' }; }
  static supportedLocalesOf(locales) { return supported(locales); }
  get [Symbol.toStringTag]() { return 'Intl.RelativeTimeFormat'; }
}

class Locale {
  #tag;
  constructor(tag) { if (typeof tag !== 'string' && (typeof tag !== 'object' || tag === null)) throw new TypeError('First argument to Intl.Locale constructor can\'t be empty or missing'); this.#tag = checkLocales(`${tag}`); }
  get baseName() { return this.#tag; }
  get language() { return 'en'; }
  get region() { return this.#tag === 'en-US' ? 'US' : undefined; }
  get script() { return undefined; }
  get weekInfo() { return { firstDay: 7, weekend: [6, 7], minimalDays: 1 }; }
  getWeekInfo() { return this.weekInfo; }
  toString() { return this.#tag; }
  get [Symbol.toStringTag]() { return 'Intl.Locale'; }
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
const members = { NumberFormat: callable(NumberFormat), DateTimeFormat: callable(DateTimeFormat), Collator: callable(Collator), PluralRules, ListFormat, RelativeTimeFormat, Locale, getCanonicalLocales: (locales) => locales === undefined ? [] : typeof locales === 'string' ? [locales] : [...locales] };
for (const name of ['Segmenter', 'DisplayNames', 'DurationFormat', 'supportedValuesOf']) members[name] = absent(name);
for (const name of Object.keys(members)) Object.defineProperty(Intl, name, { value: members[name], writable: true, configurable: true });
Object.defineProperty(Intl, Symbol.toStringTag, { value: 'Intl', configurable: true });

module.exports = {
  Intl,
  compare: (native, a, b, locales, options) => comparer(locales, options)(native)(a, b),
  checkCasing(locales) {
    const [locale = 'en'] = typeof locales === 'string' ? [locales] : locales; // the others are not looked at
    checkTag(locale);
    if (/^(tr|az|lt|el)\b/i.test(locale)) throw missing(`upper and lower case of the locale ${JSON.stringify(locale)}`);
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
