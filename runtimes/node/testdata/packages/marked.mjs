import { marked, Marked, Lexer } from 'marked';

const text = `# A *title* with \`code\`

Some **bold** text, ~~gone~~, a [link](https://example.com "t") and <https://auto.example>.
A line  
break & an ampersand &copy; <em>html</em>. Footnote-like [ref][1]. www.example.org

1. one
2. two
   - nested
   - [x] done
   - [ ] open

> A quote
> > nested

| a | b |
|:--|--:|
| 1 | \`2\` |
| ü | \\| |

\`\`\`js
const a = 1 < 2;
\`\`\`

    indented

---

![image](a.png)

[1]: https://example.com/1 'One'
`;

export default async function () {
  console.log(marked.parse(text));
  console.log(marked.parseInline('*a* **b** `c` <d>'));
  const show = (name, value) => console.log(name, JSON.stringify(value));
  show('tokens', marked.lexer(text).map((t) => [t.type, t.raw.length, t.depth]));
  show('inline', Lexer.lexInline('a _b_ [c](d)'));
  const own = new Marked({ breaks: true, gfm: true });
  const headings = [];
  own.use({
    async: true,
    walkTokens: async (token) => {
      await null;
      if (token.type === 'heading') headings.push([token.depth, token.text]);
      if (token.type === 'link') token.href = token.href.replace('https:', 'http:');
    },
    renderer: {
      heading({ tokens, depth }) {
        return `<h${depth} id="${this.parser.parseInline(tokens, this.parser.textRenderer).toLowerCase().replace(/[^\p{L}\d]+/gu, '-')}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
    },
    extensions: [{
      name: 'mention', level: 'inline',
      start(src) { return src.indexOf('@'); },
      tokenizer(src) {
        const m = /^@(\w+)/.exec(src);
        if (m) return { type: 'mention', raw: m[0], user: m[1] };
      },
      renderer(token) { return `<a class="user">${token.user}</a>`; },
    }],
    hooks: { preprocess: (md) => md.replaceAll('SECRET', '***'), postprocess: (html) => html + '<!-- end -->\n' },
  });
  console.log(await own.parse('# Grüße an @ada\n\nline one\nline two SECRET [x](https://e.com)\n'));
  show('headings', headings);
  show('nested', marked.parse('- a\n\n  b\n- c\n\n      d\n').length);
  try {
    marked.parse(undefined);
  } catch (err) {
    console.log(err.message);
  }
}
