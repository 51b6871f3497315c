import Handlebars from 'handlebars';

export default async function () {
  const run = (source, data, options) => console.log(Handlebars.compile(source, options?.compile)(data, options?.runtime));
  run('Hello {{name}}, {{{raw}}} {{raw}} {{a.b.c}} {{a/b/c}} {{[odd key]}} {{missing}}|', { name: 'Ädä', raw: '<b>&"\'`=</b>', a: { b: { c: 0 } }, 'odd key': false });
  run('{{#each items}}{{@index}}/{{@first}}/{{@last}} {{this.name}}{{#unless @last}}, {{/unless}}{{else}}empty{{/each}}', { items: [{ name: 'x' }, { name: 'y' }] });
  run('{{#each map}}{{@key}}={{this}};{{/each}}{{#each none}}x{{else}}none{{/each}}{{#each list as |v i|}}{{i}}{{v}}{{/each}}', { map: { a: 1, b: 2 }, none: [], list: new Set(['p', 'q']) });
  run('{{#if a}}A{{else if b}}B{{else}}C{{/if}}{{#with p}}{{x}}{{../a}}{{@root.b}}{{/with}}{{^b}}not{{/b}}', { a: 0, b: 1, p: { x: 'X' } });
  run('  {{~#if yes~}}   trimmed   {{~/if~}}  |\n{{! comment }}{{!-- long }} --}}end \\{{escaped}}', { yes: true });
  Handlebars.registerHelper('upper', (s) => String(s).toUpperCase());
  Handlebars.registerHelper('link', (text, options) => new Handlebars.SafeString(`<a href="${Handlebars.escapeExpression(options.hash.href)}">${Handlebars.escapeExpression(text)}</a>`));
  Handlebars.registerHelper('list', function (items, options) { return items.map((i) => `[${options.fn(i, { data: { mark: '!' } })}]`).join('') + options.inverse(this); });
  Handlebars.registerHelper('add', (...n) => n.slice(0, -1).reduce((a, b) => a + b));
  Handlebars.registerHelper('helperMissing', (...args) => `(no ${args[args.length - 1].name})`);
  run('{{upper name}} {{link name href="a?b&c"}} {{#list items}}{{this}}{{@mark}}{{else}}-{{/list}} {{add 1 (add 2 3) 4}} {{unknown 1}} {{lookup items 1}}', { name: 'n<', items: ['a', 'b'] });
  Handlebars.registerPartial('row', '<{{v}}{{sep}}>');
  Handlebars.registerPartial('layout', '[{{> @partial-block}}]({{title}})');
  run('{{#each rows}}{{> row sep=";"}}{{/each}}{{#> layout title="T"}}body {{x}}{{/layout}}{{> (lookup . "which") v=1}}{{#> none}}fallback{{/none}}\n  {{> row v="i"}}\n', { rows: [{ v: 1 }, { v: 2 }], x: 'X', which: 'row' });
  run('{{#*inline "own"}}<{{this}}>{{/inline}}{{#each l}}{{> own}}{{/each}}', { l: [1, 2] });
  Handlebars.registerDecorator('mark', (program, props, container, context) => (...args) => `${context.args[0]}:${program(...args)}`);
  run('{{#with a}}{{* mark "D"}}{{b}}{{/with}}', { a: { b: 'dec' } });
  run('{{constructor}}{{__proto__}}{{a.constructor.name}}{{m}}', { a: {}, m() { return 'method ' + this.k; }, k: 'K' });
  class Own { get inherited() { return 'i'; } }
  run('{{inherited}}|', new Own(), { runtime: { allowedProtoProperties: { inherited: true } } });
  for (const [source, data, options] of [['{{#if a}}x', {}], ['{{a b', {}], ['{{> nowhere}}', {}], ['{{x}}', {}, { compile: { strict: true } }], ['line\n{{#a}}\n{{/b}}', {}]]) {
    try {
      console.log(Handlebars.compile(source, options?.compile)(data));
    } catch (err) {
      console.log(err.name, err.message);
    }
  }
  const spec = Handlebars.precompile('{{#each l}}{{this}}{{/each}}');
  console.log(spec.length > 100, Handlebars.template(new Function(`return ${spec}`)())({ l: [1, 2, 3] }));
  console.log(JSON.stringify(Handlebars.parse('a {{b c=1}}').body.map((n) => n.type)));
  const isolated = Handlebars.create();
  console.log(Object.keys(isolated.helpers).sort().join(), Object.keys(isolated.partials).length);
  const values = await Promise.all(['a', 'b'].map(async (x) => { await null; return x; }));
  run('{{#each this}}{{this}}{{/each}}', values);
}
