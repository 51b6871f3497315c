package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostileText drives a terminal, forges lines and turns the order of letters around.
const hostileText = "x\x1b]0;t\x07\x1b[31m\u009b31m\nfailed: plugin forged\r\u202e\u2066y"

// hostilePlugins makes a folder of plugins whose texts and names are hostile wherever
// nothing refuses them.
func hostilePlugins(t *testing.T) string {
	dir := t.TempDir()
	write := func(folder, id, title, handler string) {
		manifest, err := json.Marshal(map[string]any{
			"name": id, "displayName": hostileText, "description": hostileText, "unknown" + hostileText: 1,
			"tools": []any{map[string]any{
				"id": id + "_tool", "title": title, "description": hostileText, "schema": "s.json", "handler": "h.js",
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"filer-plugin.json": string(manifest), "s.json": `{"type": "object", "properties": {"path": {"type": "string"}}}`, "h.js": handler} {
			if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, folder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	text, err := json.Marshal(hostileText)
	if err != nil {
		t.Fatal(err)
	}
	good := "module.exports = (p, ctx) => { ctx.progress(" + string(text) + "); console.log(" + string(text) + "); return 'done' }"
	write("good", "good", hostileText, good)
	write("throws", "throws", "t", "throw new Error("+string(text)+")")
	write("syntax", "syntax", "t", "let "+hostileText)
	write(strings.ReplaceAll(hostileText, "/", ""), "Bad Name", "t", good)
	return dir
}

// TestHostileTexts looks at everything that commands print about plugins.
func TestHostileTexts(t *testing.T) {
	plugins, state := hostilePlugins(t), t.TempDir()
	for _, args := range [][]string{
		{"list"}, {"list", "--json"},
		{"menu", "a.md"}, {"menu", "a.md", "--json"},
		{"check", plugins, "--all"}, {"check", plugins, "--json"},
		{"call", "nothing"}, {"call", "good_tool"},
		{"menu", "run", "good_tool", "a.md"}, {"menu", "run", hostileText, "a.md"},
		{"list", "--tools", "[" + hostileText}, {"list", "--" + hostileText}, {"call", "good_tool", hostileText},
	} {
		var out, stderr bytes.Buffer
		flags := []string{"--plugins", plugins, "--no-bundled", "--state", state, "--folder", state}
		run(t.Context(), append(args, flags...), strings.NewReader(""), &out, &stderr)
		if out.Len()+stderr.Len() == 0 {
			t.Errorf("%q printed nothing", args)
		}
		for _, text := range []string{out.String(), stderr.String()} {
			for line := range strings.Lines(text) {
				line = strings.TrimSuffix(line, "\n")
				if shown := strings.ReplaceAll(line, "\t", " "); oneLine(shown) != shown {
					t.Errorf("%q printed %q", args, line)
				}
				if strings.HasPrefix(line, "failed: plugin forged") {
					t.Errorf("%q printed a forged line: %q", args, line)
				}
			}
		}
	}
}
