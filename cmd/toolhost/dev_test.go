package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// developed is a "toolhost dev" of this process that writes plain lines.
type developed struct {
	t     *testing.T
	lines *bufio.Scanner
	seen  []string
	end   func() int
}

func develop(t *testing.T, args ...string) *developed {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	outR, outW := io.Pipe()
	code := make(chan int, 1)
	args = append([]string{"dev"}, append(args, "--no-bundled", "--state", t.TempDir(), "--folder", t.TempDir())...)
	go func() {
		c := run(ctx, args, strings.NewReader(""), outW, io.Discard)
		outW.Close()
		code <- c
	}()
	d := &developed{t: t, lines: bufio.NewScanner(outR)}
	d.end = func() int {
		cancel()
		for d.lines.Scan() {
			d.seen = append(d.seen, d.lines.Text())
		}
		return <-code
	}
	t.Cleanup(cancel)
	return d
}

// await reads until there were lines that match the patterns, one after the other.
func (d *developed) await(patterns ...string) {
	d.t.Helper()
	for _, p := range patterns {
		pattern := regexp.MustCompile("^(?:" + p + ")$")
		found := false
		for !found && d.lines.Scan() {
			d.seen = append(d.seen, d.lines.Text())
			found = pattern.MatchString(d.lines.Text())
		}
		if !found {
			d.t.Fatalf("no line matches %s:\n%s", p, strings.Join(d.seen, "\n"))
		}
	}
}

func TestDevInPlainLines(t *testing.T) {
	plugins := t.TempDir()
	dir := filepath.Join(plugins, "echo")
	writeEcho(t, dir)
	writeFile(t, filepath.Join(dir, "tests", "one.json"), `{"tool":"echo","arguments":{},"expect":{"text":"one"}}`)
	d := develop(t, plugins, "--call", "echo", "--test", `{}`)
	d.await(`echo loaded, revision 1: echo`, `call echo \{\}`, `echo answered in \S+`, `  one`, `ok   one \(echo, \d+ ms\)`, `1 of 1 cases passed`)
	writeFile(t, filepath.Join(dir, "h.js"), "// first\nexport default () =>\n  'one' 'two'\n")
	d.await(`echo did not load; revision 1, which is older, serves on`,
		`h\.js:3:9: .*`, `  1 \| // first`, `  2 \| export default \(\) =>`, `  3 \|   'one' 'two'`, `    \|         \^`)
	writeFile(t, filepath.Join(dir, "h.js"), "export default (p, ctx) => { ctx.log.info('thinking'); throw new Error('two') }\n")
	d.await(`echo reloaded, revision 2: echo`, `call echo \{\}`, `echo failed in \S+ \(error\)`, `  .*two.*`, `FAIL one \(echo, \d+ ms\)`, `0 of 1 cases passed`)
	writeEcho(t, filepath.Join(plugins, "second")) // of the same name: it stays out
	d.await(`echo did not load`, `filer-plugin\.json:1:9: .*`)
	if err := os.Rename(dir, filepath.Join(t.TempDir(), "gone")); err != nil {
		t.Fatal(err)
	}
	d.await(`echo removed`, `echo loaded, revision 1: echo`, `call echo \{\}`)
	if code := d.end(); code != exitDone {
		t.Errorf("dev ended with code %d", code)
	}
}

// TestDevSaysWhyThereIsNoCall: the arguments do not fit, or there is no such tool.
func TestDevSaysWhyThereIsNoCall(t *testing.T) {
	dir := t.TempDir()
	writeEcho(t, dir)
	d := develop(t, dir, "--call", "ecco")
	d.await(`echo loaded, revision 1: echo`, `call ecco \{\}`, `ecco failed in \S+ \(unknown\)`, `  .*did you mean "echo"\?`)
	d.end()
	d = develop(t, dir, "--call", "echo", "nothing")
	d.await(`echo was not called: the argument "nothing" is no key=value; .*`)
	d.end()
	d = develop(t, dir, "--call", "echo", "x=1")
	d.await(`call echo \{"x":"1"\}`, `echo failed in \S+ \(arguments\)`)
	if code := d.end(); code != exitDone {
		t.Errorf("dev ended with code %d", code)
	}
}

func TestDevServesHTTP(t *testing.T) {
	dir := t.TempDir()
	writeEcho(t, dir)
	d := develop(t, dir, "--http", "127.0.0.1:0", "--no-token")
	d.await(`MCP at http://127\.0\.0\.1:\d+/mcp`, `echo loaded, revision 1: echo`)
	url := ""
	for _, line := range d.seen {
		if at, ok := strings.CutPrefix(line, "MCP at "); ok {
			url = at
		}
	}
	client := &http.Client{}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(body), `"serverInfo"`) {
		t.Errorf("%s: %s, %v", response.Status, body, err)
	}
	if code := d.end(); code != exitDone {
		t.Errorf("dev ended with code %d", code)
	}
}

func TestSplitWords(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"", nil},
		{"  ", nil},
		{"a=1  b=2\t", []string{"a=1", "b=2"}},
		{`a="x y" b='"q"' ""`, []string{"a=x y", `b="q"`, ""}},
		{`a="it's"`, []string{"a=it's"}},
	} {
		if got, err := splitWords(c.line); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("splitWords(%q) = %q, %v", c.line, got, err)
		}
	}
	if _, err := splitWords(`a="b`); err == nil {
		t.Error("an open quote is no error")
	}
}

func TestSampleArguments(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object"}`: "",
		`not json`:          "",
		`{"required":["a","b","c","d","e","f","g"],"properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{"type":["array","null"]},"d":{"enum":["x","y"]},"e":{"default":{"n": 1}},"f":{"type":"boolean"},"h":{}}}`: `{"a": "", "b": 0, "c": "", "d": "x", "e": {"n":1}, "f": false, "g": ""}`,
		`{"required":["a"],"properties":{"a":{"examples":["a b"]}}}`: `{"a": "a b"}`,
		`{"required":["a"],"properties":{"a":true}}`:                 `{"a": ""}`,
	} {
		got := sampleArguments(json.RawMessage(schema))
		if got != want || want != "" && !json.Valid([]byte(got)) {
			t.Errorf("sampleArguments(%s) = %s, want %s", schema, got, want)
		}
	}
}

func TestArgumentLines(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	a := &argumentLines{dir: dir}
	if got := a.get("t"); got != "" {
		t.Errorf("get = %q", got)
	}
	for _, line := range []string{"x=1", `{"x": "ä"}`} {
		if err := a.set("t", line); err != nil {
			t.Fatal(err)
		}
	}
	again := &argumentLines{dir: dir}
	if got := again.get("t"); got != `{"x": "ä"}` {
		t.Errorf("get = %q", got)
	}
	if info, err := os.Stat(filepath.Join(dir, argumentFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := again.set("u", strings.Repeat("x", maxArgumentFile)); err == nil {
		t.Error("more than the file may hold is no error")
	}
	for _, text := range []string{"", "null", "[]", `{"t":1}`, "\x00"} {
		writeFile(t, filepath.Join(dir, argumentFile), text)
		broken := &argumentLines{dir: dir}
		if got := broken.get("t"); got != "" {
			t.Errorf("get from %q = %q", text, got)
		}
		if err := broken.set("t", "y=2"); err != nil {
			t.Error(err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	nowhere := &argumentLines{}
	if err := nowhere.set("t", "z"); err != nil || nowhere.get("t") != "z" {
		t.Errorf("%v, %q", err, nowhere.get("t"))
	}
}
