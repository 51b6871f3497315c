// The errors of JSON.parse and JSON.stringify, word for word.
const texts = ['', '  ', '{', '[1,]', '[1,', '[', '{"a":1,}', '{"a":1,', 'nul', 'nulx', '01', '"a', '1 2', '-', '-x', '"\\x"', '"\\', '{a:1}', "{'a':1}", '[1 2]', '[1 "a"]', '{"a" 1}', '{"a"', 'undefined', '"\n"', '"\t', '{"a":', 'tru', 'truX', '"\\u12"', '"\\u12G4"', '{"a":1 "b":2}', '{"a":1', '\ufeff{}', '[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,x]', '1.', '1.x', '1e', '1e+', '1ex', '-01', '.5', '+1', '[object Object]', 'x', '{"a":x}', '[}', '{]', '{"a":"b}', '[1,2', '{1:2}', '"a" "b"', '{} {}', 'NaN', 'Infinity', "'a'", '{"a":1,"b"}', '{"a":1 2}','[true false]','{"a":tru}', 'é', '[é]', '{"é', '"é\n"', '1 é', 'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz'+'x', '[' + '"long text here",'.repeat(5) + 'oops' + ',"long text here"'.repeat(5)+']','{"text":"😀", bad}', '[1e5 ,', '{"a":[1,2,{"b":}]}', '\u00a01', '/* c */ 1', '// c\n1','{"a":1}}','[1]]', '"\\ud800','nan','t','f','n','fals','falsy','nulL'];

class Kind { }
function circles() {
  const a = { x: {} }; a.x.y = a;
  const b = [1, { b: [] }]; b[1].b.push(b);
  const c = { a: { b: { c: { d: { e: {} } } } } }; c.a.b.c.d.e.f = c;
  const d = { n: { s: 1 } }; d.n.m = d.n;
  const e = new Kind(); e.k = [e];
  const f = Object.create(null); f.f = f;
  return [a, b, c, d, e, f, [a], { z: d }];
}

export default function () {
  for (const text of texts) {
    try { JSON.parse(text); console.log(JSON.stringify(text), 'ok'); } catch (error) { console.log(JSON.stringify(text), error.name, error.message); }
  }
  for (const value of circles()) {
    try { JSON.stringify(value); console.log('ok'); } catch (error) { console.log(error.name, error.message); }
  }
  const shared = { v: 1 };
  console.log(JSON.stringify([shared, shared, { shared, again: shared }]));
}
