import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';

export default async function () {
  const show = (name, value) => console.log(name, JSON.stringify(value));
  const ajv = new Ajv({ allErrors: true, coerceTypes: true, useDefaults: true, removeAdditional: true, logger: { log: console.log, warn: console.log, error: console.log } });
  const schema = {
    type: 'object',
    required: ['name', 'port'],
    additionalProperties: false,
    properties: {
      name: { type: 'string', minLength: 2, pattern: '^[a-z]+$' },
      port: { type: 'integer', minimum: 1, maximum: 65535 },
      tags: { type: 'array', items: { type: 'string' }, uniqueItems: true, default: ['none'] },
      mode: { enum: ['a', 'b'], default: 'a' },
    },
  };
  const validate = ajv.compile(schema);
  const data = { name: 'web', port: '80', extra: 1 };
  show('valid', [validate(data), data]);
  show('invalid', [validate({ name: 'X', port: 0, tags: ['a', 'a'], mode: 'c' }), validate.errors]);
  console.log(ajv.errorsText(validate.errors, { separator: '\n', dataVar: 'config' }));
  ajv.addSchema({ $id: 'https://example.com/defs', definitions: { even: { type: 'integer', multipleOf: 2 } } });
  const ref = ajv.compile({ $id: 'https://example.com/main', type: 'object', properties: { n: { $ref: 'defs#/definitions/even' }, next: { $ref: '#' } } });
  show('ref', [ref({ n: 4, next: { n: 6 } }), ref({ n: 4, next: { n: 5 } }), ref.errors]);
  ajv.addKeyword({ keyword: 'range', type: 'number', schemaType: 'array', compile: ([lo, hi]) => (n) => n >= lo && n <= hi, errors: false, metaSchema: { type: 'array', minItems: 2 } });
  const ranged = ajv.compile({ range: [1, 5] });
  show('keyword', [ranged(3), ranged(9), ranged.errors]);
  ajv.addFormat('sku', /^[A-Z]{3}-\d{4}$/);
  ajv.addFormat('slow', { async: true, validate: async (s) => { await null; return s === 'ok'; } });
  show('format', [ajv.validate({ type: 'string', format: 'sku' }, 'ABC-1234'), ajv.validate({ type: 'string', format: 'sku' }, 'abc')]);
  const asyncValidate = ajv.compile({ $async: true, type: 'object', properties: { a: { type: 'string', format: 'slow' } } });
  show('async', await asyncValidate({ a: 'ok' }));
  try {
    await asyncValidate({ a: 'no' });
  } catch (err) {
    show('asyncError', [err instanceof Ajv.ValidationError, err.message, err.errors]);
  }
  const loading = new Ajv({ loadSchema: async (uri) => ({ $id: uri, type: 'string', maxLength: 3 }) });
  const loaded = await loading.compileAsync({ type: 'object', properties: { a: { $ref: 'https://example.com/short' } } });
  show('compileAsync', [loaded({ a: 'abc' }), loaded({ a: 'abcd' }), loaded.errors]);
  const newer = new Ajv2020({ strict: true });
  const tuple = newer.compile({ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false, minItems: 2 });
  show('2020', [tuple(['a', 1]), tuple(['a', 1, 2]), tuple.errors]);
  const logic = newer.compile({ type: 'object', unevaluatedProperties: false, anyOf: [{ properties: { a: true }, required: ['a'] }, { properties: { b: true } }], if: { required: ['a'] }, then: { properties: { c: { type: 'number' } } } });
  show('unevaluated', [logic({ a: 1, c: 2 }), logic({ a: 1, d: 2 }), logic.errors]);
  const unicode = newer.compile({ type: 'string', pattern: '^\\p{Lu}\\p{L}*$', maxLength: 4 });
  show('unicode', ['Élan', 'élan', 'Ж', '😀'].map((s) => unicode(s)));
  try {
    newer.compile({ type: 'object', propertis: {} });
  } catch (err) {
    console.log(err.message);
  }
  try {
    newer.compile({ type: 'wrong' });
  } catch (err) {
    console.log(err.message);
  }
}
