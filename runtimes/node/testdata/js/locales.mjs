// What is no tag of a language is refused.
const name = (f) => { try { return f(); } catch (e) { return e.name; } };
export default async function () {
  for (const tag of ['xx-invalid-locale-x', 'en-US-x', '!!', 'e', 'en_US', 'abcd', 'en-u', 'en-u-ca-gregory', 'i-klingon', '', 'de-DE-1901-x-private', 'zh-Hant-TW', 'en-a-bb-b-cc', 'x-private', '123']) {
    console.log(tag, name(() => 'ab'.toLocaleUpperCase(tag)));
  }
  console.log(name(() => 'ab'.toLocaleLowerCase(['de', 'nope!'])), name(() => 'ab'.toLocaleUpperCase([])), name(() => 'ab'.toLocaleUpperCase([1])), name(() => (5).toLocaleString('!!')), name(() => new Intl.NumberFormat(['en-US', 'y']).format(1)));
  console.log(name(() => new Date(0).toLocaleDateString('en-us-')), name(() => 'a'.localeCompare('b', 'q')));
}
