// Named groups under the flag u, in texts beyond ASCII.
const show = (value) => console.log(JSON.stringify(value));
export default function () {
  const text = 'naïve 😀 12';
  show(/(?<letter>ï)/u.exec(text).groups);
  show(/(?<none>x)?(?<emoji>😀)/u.exec(text).groups.emoji);
  show(Object.keys(/(?<none>x)?(?<emoji>😀)/u.exec(text).groups));
  show([...text.matchAll(/(?<word>\w+)(?<gap>\s)?/gu)].map((m) => [m.groups.word, m.groups.gap ?? null, m.index]));
  show(text.match(/(?<tens>\d)(?<ones>\d)/u).groups);
  show(text.replace(/(?<letter>ï)/u, '[$<letter>]'));
  show(text.replace(/(?<letter>ï)/gu, (...args) => args.at(-1).letter.toUpperCase()));
  show('ééa'.match(/(?<twice>é)\k<twice>/u)?.groups);
  show(/(?<größe>\d+)/u.exec('größe 12').groups);
  show(/(?<letter>Ï)/iu.exec(text)?.groups);
  const global = /(?<one>.)/gu, sticky = /(?<one>.)/uy;
  for (let m; (m = global.exec('ï😀')) !== null;) show([m.groups.one, global.lastIndex]);
  for (let m; (m = sticky.exec('ï😀')) !== null;) show([m.groups.one, sticky.lastIndex]);
  show(new RegExp('(?<letter>ï)', 'u').exec(text).groups.letter);
  show([/(?<letter>ï)/u.source, String(/(?<letter>ï)/gu), /(?<=a)(ï)/u.exec(text)[1], /(?<!b)ï/u.exec(text).groups ?? null]);
}
