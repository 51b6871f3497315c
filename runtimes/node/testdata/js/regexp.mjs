// Regular expressions without the flag u match code units, halves of pairs too.
const text = 'a\u00f1😀b👩‍👩‍👧c\ud83dd\ude00e🇩🇪👍🏽';
export default function () {
  const show = (value) => console.log(JSON.stringify(value));
  show(text.match(/[\ud800-\udbff][\udc00-\udfff]/g));
  show(text.match(/[\ud83c-\ud83d][\ude00-\udeff]|[\ud83c][\udde6-\uddff]/g));
  show(text.match(/(?:\ud83c[\udde6-\uddff]){2}|[\ud800-\udbff][\udc00-\udfff]/g));
  show(text.match(/[\ud800-\udbff](?![\udc00-\udfff])|(?:[^\ud800-\udbff]|^)[\udc00-\udfff]/g));
  show(text.split(/([^\ud800-\udfff])/));
  show(text.replace(/[\ud800-\udbff][\udc00-\udfff]+/g, '_'));
  show(text.match(/[😀👩]/g));
  show(new RegExp('[\ud800-\udbff][\udc00-\udfff]').exec(text).index);
  show(new RegExp('[^\\ud800-\\udbff][\\udc00-\\udfff]').exec(text)?.index ?? null);
  show(new RegExp('[\ud83d]').source === '[\ud83d]');
  show(['/', 'a/b[/]', '\\/', '', '\n', '[\n/]\\n', '\\u002f', '[\ud83d/]/'].map((p) => [RegExp(p).source, String(new RegExp(p, 'g')), RegExp(RegExp(p), 'y').source]));
  const re = /[\ud800-\udbff][\udc00-\udfff]([\s\S])/y;
  re.lastIndex = 2;
  show([re.exec(text), re.lastIndex, re.source, String(re), re.flags]);
  show(/^[\w\ud83d][\d\ude00][.\-\]\ude01]?$/.test('😀'));
  show([...text.matchAll(/[\u200d\ud83c-\ud83e]([\udc00-\udfff]|(?=\ud83d))/g)].map((m) => [m[0], m.index]));
  show('a-b😀-'.match(/[\ud800-\udbff][-\udc00-\udfff]|[-_\ude00]|[^-a\udc00-\udfff]/g));
  show(/[\ue100-\ue200\ud800-\udbff][\udc00-\udfff]/.test('😀') && /[^\0-\ud7ff\ue000-\uffff][\udc00-\udfff]/.test('😀'));
}
