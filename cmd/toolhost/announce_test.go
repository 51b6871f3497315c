package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// servedOnStdio is a "toolhost serve" of this process, and the client at its other end.
type servedOnStdio struct {
	t     *testing.T
	in    io.Writer
	lines *bufio.Scanner
}

// serveFolder serves a folder of plugins until the test ends.
func serveFolder(t *testing.T, plugins string, flags ...string) *servedOnStdio {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan int, 1)
	args := append([]string{"serve", "--plugins", plugins, "--no-bundled", "--state", t.TempDir(), "--folder", t.TempDir()}, flags...)
	go func() {
		code := run(t.Context(), args, inR, outW, io.Discard)
		outW.Close()
		ended <- code
	}()
	s := &servedOnStdio{t: t, in: inW, lines: bufio.NewScanner(outR)}
	t.Cleanup(func() {
		inW.Close()
		go func() { _, _ = io.Copy(io.Discard, outR) }()
		if code := <-ended; code != exitDone {
			t.Errorf("serve ended with code %d", code)
		}
	})
	s.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	s.await(`"id":1`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

func (s *servedOnStdio) send(line string) {
	s.t.Helper()
	if _, err := fmt.Fprintln(s.in, line); err != nil {
		s.t.Fatal(err)
	}
}

// await reads until a line holds all of the words, and gives it.
func (s *servedOnStdio) await(words ...string) string {
	s.t.Helper()
next:
	for s.lines.Scan() {
		for _, w := range words {
			if !strings.Contains(s.lines.Text(), w) {
				continue next
			}
		}
		return s.lines.Text()
	}
	s.t.Fatalf("serve ended before it said %q", words)
	return ""
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func writeEcho(t *testing.T, dir string) {
	t.Helper()
	writeFile(t, filepath.Join(dir, "filer-plugin.json"), `{"name":"echo","version":"1.0.0","tools":[{"id":"echo","title":"Echo","description":"Answers with a fixed text, for tests.","schema":"./s.json","handler":"./h.js"}]}`)
	writeFile(t, filepath.Join(dir, "s.json"), `{"type":"object","properties":{},"additionalProperties":false}`)
	writeFile(t, filepath.Join(dir, "h.js"), "export default () => 'one'\n")
}

func TestClientsHearOfBrokenPlugins(t *testing.T) {
	plugins := t.TempDir()
	writeEcho(t, filepath.Join(plugins, "echo"))
	s := serveFolder(t, plugins)
	s.send(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}`)
	s.await(`"id":2`)
	s.send(`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"echo","arguments":{}}}`) // it waits for the plugin
	s.await(`"id":6`, `"one"`)
	s.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	s.await(`"id":3`, `"echo"`)
	writeFile(t, filepath.Join(plugins, "echo", "h.js"), "export default () =>\n  'one' 'two'\n")
	var message struct {
		Params struct {
			Level, Logger string
			Data          struct {
				Plugin, Message string
				Revision        int
				Errors          []struct {
					File         string
					Line, Column int
					Message      string
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(s.await("notifications/message", "did not load")), &message); err != nil {
		t.Fatal(err)
	}
	p := message.Params
	if p.Level != "error" || p.Logger != "plugins" || p.Data.Plugin != "echo" || p.Data.Revision != 1 || !strings.Contains(p.Data.Message, "its last good version serves on: h.js:2:9: ") {
		t.Errorf("message = %+v", p)
	}
	if e := p.Data.Errors; len(e) == 0 || e[0].File != "h.js" || e[0].Line != 2 || e[0].Column != 9 || e[0].Message == "" {
		t.Errorf("errors = %+v", e)
	}
	s.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":{}}}`)
	s.await(`"id":4`, `"one"`)
	writeFile(t, filepath.Join(plugins, "echo", "h.js"), "export default () => 'two'\n")
	s.await("notifications/message", `"level":"info"`, `was reloaded`, `"revision":2`)
	s.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{}}}`)
	s.await(`"id":5`, `"two"`)
}
