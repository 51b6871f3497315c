'use strict';
// Texts of a card in the languages that it has, with {{name}} filled in and one form for
// each count: "items_one", "items_other".

const locales = { en: 'en-US', ru: 'ru-RU', zh: 'zh-CN' };

// form gives the plural form of a count; the languages are those of cards.
function form(language, count) {
  if (language === 'zh') return 'other';
  const whole = Number.isInteger(count);
  if (language !== 'ru') return count === 1 ? 'one' : 'other';
  if (!whole) return 'other';
  const ten = Math.abs(count) % 10, hundred = Math.abs(count) % 100;
  if (ten === 1 && hundred !== 11) return 'one';
  return ten >= 2 && ten <= 4 && (hundred < 12 || hundred > 14) ? 'few' : 'many';
}

// number writes a number as people of a language read it.
function number(language, value) {
  if (!Number.isFinite(value) || Math.abs(value) >= 1e21) return String(value);
  const [whole, part] = String(Math.round(value * 1000) / 1000).split('.');
  const [group, point] = language === 'ru' ? ['\u00a0', ','] : [',', '.'];
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, group);
  return part === undefined ? grouped : grouped + point + part;
}

// flat gives the texts of a catalog by their full keys.
function flat(texts, prefix = '', into = new Map()) {
  for (const [key, value] of Object.entries(texts ?? {})) {
    if (typeof value === 'string') into.set(prefix + key, value);
    else if (value !== null && typeof value === 'object') flat(value, `${prefix}${key}.`, into);
  }
  return into;
}

function createTranslator(catalog, card) {
  const texts = new Map(Object.entries(catalog ?? {}).map(([language, part]) => [language, flat(part)]));
  const listeners = new Set();
  let language = card?.language ?? 'en';
  let locale = card?.i18n?.locale ?? locales[language];
  const find = (key) => texts.get(language)?.get(key) ?? texts.get('en')?.get(key);
  const t = (key, values) => {
    let text;
    if (typeof values?.count === 'number') text = find(`${key}_${form(language, values.count)}`) ?? find(`${key}_other`);
    text ??= find(key) ?? key;
    if (!values) return text;
    return text.replace(/\{\{\s*([\w.-]+)\s*\}\}/g, (whole, name) => {
      const value = values[name];
      if (value === undefined || value === null) return whole;
      return typeof value === 'number' ? number(language, value) : String(value);
    });
  };
  Object.defineProperties(t, { language: { get: () => language }, locale: { get: () => locale } });
  return Object.assign(t, {
    setLanguage(next, nextLocale = locales[next]) {
      if (next === language && nextLocale === locale) return;
      language = next;
      locale = nextLocale;
      for (const listener of [...listeners]) listener(next);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => { listeners.delete(listener); };
    },
    dispose() { listeners.clear(); },
  });
}

module.exports = { createTranslator };
