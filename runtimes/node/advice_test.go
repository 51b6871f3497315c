package node_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/toolhost/toolhost/runtimes/node"
)

// TestAdvice: the lines that the comment "slow" marks are found, and no others.
func TestAdvice(t *testing.T) {
	spec, _ := write(t, map[string]string{
		"tool.js": `import { pad } from './lib/pad.js'; import other from 'other';
export default ({ list }) => {
  let out = '', n = 0, lines = [];
  const named = { text: '' };
  for (const item of list) out += item; // slow
  for (let i = 0; i < list.length; i++) {
    n += i;
    let line = '';
    line += list[i]; line += ';';
    lines.push(line);
    while (line.length < 5) line = line + '-'; // slow
    do { line += pad(line); } while (line.length < 9); // slow
  }
  list.forEach((item) => { out += item + '\n'; }); // slow
  list.map((item) => { let own = ''; own += item; return own; });
  let later;
  for (const key in list) { later += 'x' + key; } // slow
  const add = (item) => { out += item; };
  for (const item of list) add(item);
  out += 'end';
  let field = '';
  for (const item of list) { if (item === ',') { lines.push(field); field = ''; } else field += item; }
  return [out, n, later, lines, other(list), named];
};
`,
		"lib/pad.js":                  "export function pad(s) {\n  let t = `${s}`;\n  for (let i = 0; i < 3; i++) t += ' '; // slow\n  return t;\n}\n",
		"node_modules/other/index.js": "module.exports = (l) => { let s = ''; for (const x of l) s += x; return s; };",
	})
	found, err := node.New(nil).Advise(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range found {
		got = append(got, fmt.Sprintf("%s:%d", p.File, p.Line))
	}
	want := []string{"lib/pad.js:3", "tool.js:5", "tool.js:11", "tool.js:12", "tool.js:14", "tool.js:17"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
