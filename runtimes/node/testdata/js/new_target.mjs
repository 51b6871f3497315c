// new.target is what new was called with, also in functions that a constructor calls.
function plain() { return new.target === undefined ? 'plain' : 'new'; }
function Maker(name) { if (!new.target) return new Maker(name); this.name = name; this.arrow = (() => new.target === Maker)(); }
class Base {
  constructor() {
    this.kind = new.target.name;
    this.called = [plain(), plain.call(null), Maker('m').name, String(RegExp('a+', 'g')), Buffer('x').toString(), this.method(), ...[1].map(plain), ...[1].map(function () { return typeof new.target; })];
    this.made = new Maker('n').arrow;
  }
  method() { return typeof new.target; }
  static make() { return new this(); }
}
class Derived extends Base { constructor() { const early = plain(); super(); this.early = early; this.late = plain(); } }
class Own extends RegExp { get first() { return this.source[0]; } }
export default function () {
  console.log(JSON.stringify(new Base()));
  console.log(JSON.stringify(Derived.make()));
  console.log(new Own('b').first, new Own('b') instanceof Own, new (class { constructor() { this.r = new Own('q'); } })().r.first);
  console.log(Reflect.construct(Maker, ['r'], Base) instanceof Base, Reflect.construct(function () { return { t: new.target === Base }; }, [], Base).t);
  const object = { get a() { return typeof new.target; }, b() { return typeof new.target; }, c: function () { return typeof new.target; } };
  class Uses { constructor() { this.all = [object.a, object.b(), object.c(), new object.c() instanceof object.c]; } }
  console.log(JSON.stringify(new Uses().all));
  async function later() { await null; return typeof new.target; }
  function* generate() { yield typeof new.target; }
  class Async { constructor() { this.p = later(); this.g = [...generate()]; } }
  const a = new Async();
  console.log(JSON.stringify(a.g));
  return a.p.then((t) => console.log(t));
}
