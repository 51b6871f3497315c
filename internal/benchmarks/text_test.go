//go:build outside

package benchmarks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

// readTexts reads what is worked on: 5 MB of prose, and rows made of it. Every thousandth
// line of changed is another.
const readTexts = "const prose = readFileSync('prose.txt', 'utf8'), table = readFileSync('table.csv', 'utf8');\n" +
	"const rows = table.trim().split('\\n').map((line) => line.split(',')), changed = prose.split('\\n').map((line, i) => i % 1000 === 7 ? line + '!' : line).join('\\n');\n"

// writeTexts writes those files.
func writeTexts(tb testing.TB, folder string) {
	words := strings.Fields("the quick brown fox jumps over a lazy dog while seven wise owls read long letters about winter")
	seed := uint32(1)
	next := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>8) % n
	}
	var prose, table strings.Builder
	for i := 0; prose.Len() < 5e6; i++ {
		var line []string
		for range 12 {
			word := words[next(len(words))]
			if next(9) == 0 {
				word += fmt.Sprint(next(500))
			}
			line = append(line, word)
		}
		text := strings.Join(line, " ")
		prose.WriteString(text + "\n")
		fmt.Fprintf(&table, "%d,\"%s\",%d", i, text, i/4)
		if i%7 == 0 {
			table.WriteString(",\"a \"\"b\"\"\"")
		}
		table.WriteString("\n")
	}
	write(tb, folder, "prose.txt", prose.String())
	write(tb, folder, "table.csv", table.String())
}

// textTasks are done with @toolhost/text here and by plain JavaScript in Node. Both must
// give the same.
var textTasks = []struct{ name, here, node string }{
	{"wordCount", "text.wordCount(prose)", "prose.split(/\\s+/).filter(Boolean).length"},
	{"wordFrequency", "JSON.stringify(text.wordFrequency(prose, { limit: 20 }).map((w) => w.word + w.count))",
		"(() => { const m = new Map(); for (const w of prose.toLowerCase().match(/[\\p{L}\\p{M}\\p{N}]+(?:['’-][\\p{L}\\p{M}\\p{N}]+)*/gu)) m.set(w, (m.get(w) ?? 0) + 1); return JSON.stringify([...m].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 20).map((w) => w[0] + w[1])); })()"},
	{"lines", "text.lines(prose).length", "prose.replace(/(\\r\\n|\\n|\\r)$/, '').split(/\\r\\n|\\n|\\r/).length"},
	{"search text", "JSON.stringify(text.search(prose, 'wise owls read', { limit: 50 }))",
		"(() => { const out = []; prose.split(/\\r\\n|\\n|\\r/).some((text, i) => { for (let at = text.indexOf('wise owls read'); at >= 0; at = text.indexOf('wise owls read', at + 14)) { out.push({ line: i + 1, column: at + 1, match: 'wise owls read', text }); if (out.length === 50) return true; } return false; }); return JSON.stringify(out); })()"},
	{"search expression", "text.search(prose, /\\bowls read \\w*\\d+/, { limit: 100000 }).length",
		"(() => { const out = []; prose.split(/\\r\\n|\\n|\\r/).forEach((text, i) => { for (const m of text.matchAll(/\\bowls read \\w*\\d+/g)) out.push({ line: i + 1, column: m.index + 1, match: m[0], text }); }); return out.length; })()"},
	{"hash", "text.hash(prose)", "require('node:crypto').createHash('sha256').update(prose).digest('hex')"},
	{"csv.parse", "(() => { const r = text.csv.parse(table); return r.length + JSON.stringify(r[7]); })()",
		"(() => { const rows = []; let row = [], field = '', quoted = false; for (let i = 0; i < table.length; i++) { const c = table[i]; if (quoted) { if (c === '\"') { if (table[i + 1] === '\"') { field += '\"'; i++; } else quoted = false; } else field += c; } else if (c === '\"') quoted = true; else if (c === ',') { row.push(field); field = ''; } else if (c === '\\n') { row.push(field); rows.push(row); row = []; field = ''; } else field += c; } return rows.length + JSON.stringify(rows[7]); })()"},
	{"csv.stringify", "(() => { const s = text.csv.stringify(rows); return s.length + s.slice(0, 500); })()",
		`(() => { const s = rows.map((row) => row.map((c) => /[",\r\n]/.test(c) ? '"' + c.replaceAll('"', '""') + '"' : c).join(',') + '\n').join(''); return s.length + s.slice(0, 500); })()`},
	{"diff", "text.diff(prose, changed).split('\\n').filter((line) => line[0] === '-' && !line.startsWith('---')).length", lineDiff},
}

// lineDiff is the greedy algorithm of Myers in plain JavaScript; it gives how many lines go.
const lineDiff = `(() => {
  const ids = new Map(), number = (s) => { let n = ids.get(s); if (n === undefined) ids.set(s, n = ids.size); return n; };
  const a = prose.split('\n').map(number), b = changed.split('\n').map(number);
  const most = a.length + b.length, v = new Int32Array(2 * most + 2), at = (k) => k + most;
  for (let d = 0; d <= most; d++) {
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && v[at(k - 1)] < v[at(k + 1)]) ? v[at(k + 1)] : v[at(k - 1)] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      v[at(k)] = x;
      if (x >= a.length && x - k >= b.length) return (d + a.length - b.length) / 2;
    }
  }
})()`

// times is a script that does each task several times and gives the best time of each, in milliseconds.
func times(expression func(i int) string) string {
	var b strings.Builder
	b.WriteString("const results = [];\n")
	for i := range textTasks {
		fmt.Fprintf(&b, "{ let best = Infinity, value; for (let i = 0; i < 5; i++) { const start = performance.now(); value = %s; best = Math.min(best, performance.now() - start); } results.push([best, String(value)]); }\n", expression(i))
	}
	return b.String()
}

// BenchmarkText compares @toolhost/text with plain JavaScript in Node, on 5 MB of text.
// Ratios above 1 say how many times this host is faster.
func BenchmarkText(b *testing.B) {
	dir := b.TempDir()
	writeTexts(b, dir)
	write(b, dir, "h.mjs", "import * as text from '@toolhost/text';\nimport { readFileSync } from 'node:fs';\nexport default () => {\n"+readTexts+times(func(i int) string { return textTasks[i].here })+"return JSON.stringify(results);\n};")
	write(b, dir, "node.cjs", "const { readFileSync } = require('node:fs');\n"+readTexts+times(func(i int) string { return textTasks[i].node })+"console.log(JSON.stringify(results));")
	program, err := exec.LookPath("node")
	if err != nil {
		b.Fatalf("the comparison needs Node: %v", err)
	}
	policy := &permissions.Policy{Root: dir, FS: permissions.FSPolicy{Read: permissions.Access{Folder: true}}}
	in, err := node.New(nil).Open(b.Context(), runtimes.Spec{Plugin: "p", Dir: dir, Policy: policy, Tools: []runtimes.Tool{{ID: "t", Handler: "h.mjs"}}})
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close(context.Background())
	type result [2]any
	for b.Loop() {
		grant, err := policy.Resolve(dir, nil)
		if err != nil {
			b.Fatal(err)
		}
		r, err := in.Handler("t").Handle(b.Context(), &host.Call{Tool: "t", Args: json.RawMessage("{}"), Folder: dir, Grant: grant, Log: slog.New(slog.DiscardHandler)})
		grant.Revoke()
		if err != nil || r.IsError {
			b.Fatal(r, err)
		}
		cmd := exec.CommandContext(b.Context(), program, filepath.Join(dir, "node.cjs"))
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			b.Fatal(err)
		}
		var here, there []result
		if err := json.Unmarshal([]byte(r.Content[0].Text()), &here); err != nil {
			b.Fatal(err)
		}
		if err := json.Unmarshal(bytes.TrimSpace(out), &there); err != nil {
			b.Fatal(err)
		}
		for i, task := range textTasks {
			if here[i][1] != there[i][1] {
				b.Errorf("%s: %.200v here, %.200v in Node", task.name, here[i][1], there[i][1])
			}
			x, y := here[i][0].(float64), there[i][0].(float64)
			b.Logf("%-18s %8.2f ms here %8.2f ms Node: %.1f times", task.name, x, y, y/x)
			b.ReportMetric(y/x, strings.ReplaceAll(task.name, " ", "-")+"-node/here")
		}
	}
}
