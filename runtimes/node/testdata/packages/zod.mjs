import { z } from 'zod';

export default async function () {
  const show = (name, value) => console.log(name, JSON.stringify(value));
  const user = z.object({
    name: z.string().min(2).max(20),
    email: z.email(),
    age: z.coerce.number().int().positive().optional(),
    role: z.enum(['admin', 'user']).default('user'),
    tags: z.array(z.string().trim().toLowerCase()).max(3),
    born: z.coerce.date(),
    site: z.url().nullable(),
    id: z.uuid(),
  });
  const good = { name: 'Ada', email: 'ada@example.com', age: '36', tags: [' Maths ', 'CODE'], born: '1815-12-10', site: null, id: '123e4567-e89b-42d3-a456-426614174000' };
  show('parse', user.parse(good));
  const bad = user.safeParse({ name: 'A', email: 'nobody', age: -1.5, role: 'root', tags: ['a', 'b', 'c', 'd'], born: 'never', site: 'x', id: '1' });
  show('issues', bad.error.issues);
  console.log(z.prettifyError(bad.error));
  show('flatten', z.flattenError(bad.error));
  show('tree', z.treeifyError(bad.error));
  try {
    user.parse(undefined);
  } catch (err) {
    console.log(err.name, err instanceof z.ZodError, err.message);
  }
  const shape = z.discriminatedUnion('kind', [z.object({ kind: z.literal('circle'), r: z.number() }), z.object({ kind: z.literal('square'), side: z.number() })]);
  show('union', [shape.safeParse({ kind: 'circle', r: 2 }).success, shape.safeParse({ kind: 'line' }).error.issues]);
  const strict = z.strictObject({ a: z.string() });
  show('strict', strict.safeParse({ a: 'x', b: 1, c: 2 }).error.issues);
  show('record', [z.record(z.string(), z.number()).parse({ a: 1 }), z.map(z.string(), z.number()).safeParse(new Map([['a', 'b']])).error.issues[0].message]);
  show('tuple', z.tuple([z.string(), z.number()]).rest(z.boolean()).parse(['a', 1, true, false]));
  const tree = z.object({ value: z.number(), get children() { return z.array(tree); } });
  show('recursive', tree.parse({ value: 1, children: [{ value: 2, children: [] }] }));
  show('transform', z.string().transform((s) => s.length).pipe(z.number().max(3)).safeParse('four').error.issues[0].message);
  show('refine', z.object({ a: z.string(), b: z.string() }).refine((o) => o.a === o.b, { error: 'they differ', path: ['b'] }).safeParse({ a: '1', b: '2' }).error.issues);
  show('async', (await z.string().refine(async (s) => { await null; return s !== 'taken'; }, 'it is taken').safeParseAsync('taken')).error.issues);
  show('asyncTransform', await z.string().transform(async (s) => s.toUpperCase()).parseAsync('abc'));
  show('preprocess', z.preprocess((v) => JSON.parse(v), z.object({ n: z.bigint().or(z.number()) })).parse('{"n": 5}'));
  show('formats', ['ipv4', 'ipv6', 'base64', 'iso.date', 'iso.datetime', 'jwt', 'cidrv4', 'emoji'].map((f) => f.split('.').reduce((o, k) => o[k], z)()).map((s) => ['127.0.0.1', '::1', 'YWJj', '2024-02-30', '2024-02-29', '2024-02-29T10:00:00Z', '10.0.0.0/8', '😀'].map((v) => s.safeParse(v).success)));
  show('partial', user.pick({ name: true, role: true }).partial().extend({ extra: z.boolean() }).parse({ extra: true }));
  show('jsonSchema', z.toJSONSchema(user.omit({ born: true })));
  show('catch', z.number().catch(42).parse('x'));
  show('brand', z.string().brand().parse('b'));
  show('codec', z.stringbool().parse('yes'));
  show('template', z.templateLiteral(['v', z.number(), '.', z.number()]).safeParse('v1.2').success);
}
