import _ from 'lodash';
import debounce from 'lodash/debounce.js';

const people = [
  { name: 'Ada', age: 36, tags: ['maths', 'code'] },
  { name: 'Linus', age: 54, tags: ['code'] },
  { name: 'Grace', age: 85, tags: ['code', 'navy'] },
  { name: 'Zoë', age: 36, tags: [] },
];

export default async function () {
  const show = (name, value) => console.log(name, JSON.stringify(value));
  show('groupBy', _.groupBy(people, 'age'));
  show('keyBy', _.mapValues(_.keyBy(people, 'name'), 'age'));
  show('orderBy', _.orderBy(people, ['age', 'name'], ['desc', 'asc']).map((p) => p.name));
  show('chain', _(people).flatMap('tags').countBy().toPairs().sortBy(0).value());
  show('chunk', _.chunk(_.range(7), 3));
  show('partition', _.partition(people, (p) => p.age > 40).map((l) => _.map(l, 'name')));
  show('difference', [_.difference([1, 2, 3], [2]), _.intersection([1, 2], [2, 3]), _.xor([1, 2], [2, 3]), _.uniqBy([1.2, 1.8, 2.1], Math.floor)]);
  show('merge', _.merge({ a: [{ b: 2 }, { d: 4 }], k: { x: 1 } }, { a: [{ c: 3 }, { e: 5 }], k: { y: 2 } }));
  show('get', [_.get({ a: [{ b: { c: 3 } }] }, 'a[0].b.c'), _.get({}, 'a.b', 'none'), _.has({ a: { b: 1 } }, 'a.b')]);
  show('set', _.set({}, ['x', '0', 'y.z'], 5));
  show('pick', [_.pick(people[0], ['name', 'age']), _.omit(people[0], 'tags'), _.invert({ a: 1, b: 2 })]);
  show('case', ['foo bar', 'FooBar', '--foo-bar--', 'foo2bar', 'éclair au café'].map((s) => [_.camelCase(s), _.kebabCase(s), _.snakeCase(s), _.startCase(s), _.deburr(s)]));
  show('pad', [_.pad('abc', 8, '_-'), _.truncate('hi-diddly-ho there, neighborino', { length: 24, separator: /,? +/ }), _.escape('a < b & "c"'), _.unescape('a &lt; b')]);
  show('words', [_.words('fred, barney, & pebbles'), _.words('fred, barney, & pebbles', /[^, ]+/g), _.upperFirst('über'), _.repeat('ab', 3)]);
  show('template', _.template('<% _.forEach(users, function (u) { %><li><%- u %></li><% }); %>${ users.length }')({ users: ['fred', '<b>'] }));
  const source = { date: new Date(0), map: new Map([['k', { v: 1 }]]), set: new Set([1, 2]), re: /a+/gi, buffer: Buffer.from('abc'), typed: new Float64Array([1.5, 2]), nested: [[{ x: 1 }]] };
  const copy = _.cloneDeep(source);
  copy.nested[0][0].x = 2;
  show('cloneDeep', [source.nested[0][0].x, copy.date.toISOString(), copy.map.get('k'), [...copy.set], String(copy.re), copy.buffer.toString(), [...copy.typed]]);
  show('isEqual', [_.isEqual(source, _.cloneDeep(source)), _.isEqual(source, copy), _.isEqual(new Set([1, { a: 1 }]), new Set([1, { a: 1 }])), _.isEqual(NaN, NaN)]);
  show('is', [_.isPlainObject(Object.create(null)), _.isArguments((function () { return arguments; })()), _.isBuffer(Buffer.alloc(1)), _.isElement({}), _.isTypedArray(source.typed), _.isError(new RangeError('x')), _.isNative(Array.prototype.push)]);
  show('math', [_.sumBy(people, 'age'), _.meanBy(people, 'age'), _.round(4.006, 2), _.clamp(10, 0, 5), _.inRange(3, 2, 4), _.maxBy(people, 'age').name]);
  show('lang', [_.toNumber('0b11'), _.toFinite(Infinity), _.toPath('a[0].b'), _.toArray('añ😀'), _.toString([1, [2, -0]])]);
  show('collections', [_.sortedIndex([10, 20, 30], 25), _.zipObject(['a', 'b'], [1, 2]), _.fromPairs([['x', 1]]), _.reduceRight([[1], [2]], (a, b) => a.concat(b), [])]);
  const curried = _.curry((a, b, c) => [a, b, c]);
  show('functions', [curried(1)(2)(3), curried(1, _, 3)(2), _.flow([Math.abs, Math.sqrt])(-16), _.memoize((n) => n * 2)(4), _.partial((a, b) => a + b, _, 'x')('y')]);
  let calls = 0;
  const later = debounce(() => ++calls, 5);
  later(); later(); later();
  const throttled = _.throttle(() => ++calls, 5, { trailing: false });
  throttled(); throttled();
  await new Promise((done) => _.delay(done, 40));
  show('debounce', calls);
  show('defer', await new Promise((done) => _.defer(done, 'deferred')));
  show('attempt', _.attempt(() => { throw new Error('no'); }).message);
}
