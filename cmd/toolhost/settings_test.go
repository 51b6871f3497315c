package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// lockedBuffer is a buffer that several goroutines may write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestSettingsWhileServing: what is set while serve runs is seen by the next call, and what
// is secret stands in no log.
func TestSettingsWhileServing(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"filer-plugin.json": `{"name": "weather", "permissions": {"settings": true}, "contributes": {"settings": {
			"weather.unit": {"type": "string", "default": "metric"}, "weather.token": {"type": "string", "secret": true}}},
			"tools": [{"id": "get", "title": "Get", "description": "Gives what is set.", "schema": "s.json", "handler": "h.js"}]}`,
		"s.json": `{"type": "object"}`,
		"h.js":   `module.exports = async (_, { settings }) => (await settings.get("unit")) + ((await settings.get("token")) ?? "none").length;`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	flags := []string{"--plugins", dir, "--no-bundled", "--state", state}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	log := &lockedBuffer{}
	done := make(chan int, 1)
	go func() {
		code := run(t.Context(), append([]string{"serve", "--folder", t.TempDir(), "--log-level", "debug"}, flags...), in, out, log)
		_ = out.Close() // a pipe in memory
		done <- code
	}()
	lines := bufio.NewScanner(fromServer)
	id := 0
	ask := func(method, params string) string {
		t.Helper()
		id++
		if _, err := fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			var answer struct {
				ID     int
				Result struct{ Content []struct{ Text string } }
			}
			if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
				t.Fatal(err)
			}
			if answer.ID == id {
				if len(answer.Result.Content) == 0 {
					return ""
				}
				return answer.Result.Content[0].Text
			}
		}
		t.Fatalf("the server has ended: %s", log)
		return ""
	}
	ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	if _, err := io.WriteString(toServer, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		command []string
		stdin   string
		want    string
	}{
		{nil, "", "metric4"},
		{[]string{"set", "weather.unit", "kelvin"}, "", "kelvin4"},
		{[]string{"set", "weather.token"}, "s3cr3t-value\n", "kelvin12"},
		{[]string{"set", "weather.token", "-"}, "s3cr3t\r\n", "kelvin6"},
		{[]string{"unset", "weather.unit"}, "", "metric6"},
		{[]string{"unset", "weather.token"}, "", "metric4"},
	} {
		if step.command != nil {
			var said, failed bytes.Buffer
			code := run(t.Context(), append(append([]string{"settings"}, step.command...), flags...), strings.NewReader(step.stdin), &said, &failed)
			if code != 0 || said.Len() > 0 || failed.Len() > 0 {
				t.Fatalf("%q: code %d, %s%s", step.command, code, &said, &failed)
			}
		}
		if got := ask("tools/call", `{"name":"get","arguments":{}}`); got != step.want {
			t.Errorf("after %q: got %q, want %q", step.command, got, step.want)
		}
	}
	_ = toServer.Close()
	for lines.Scan() {
	}
	if code := <-done; code != 0 || strings.Contains(log.String(), "s3cr3t") {
		t.Errorf("code %d\n%s", code, log)
	}
}

// TestSettingsExample runs the cases of the example, of which some set settings.
func TestSettingsExample(t *testing.T) {
	dir := filepath.Join("..", "..", "examples", "settings")
	for _, args := range [][]string{{"check", dir}, {"test", dir}} {
		var said, failed bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &said, &failed); code != 0 || strings.Contains(said.String(), "warning") {
			t.Errorf("%q: code %d\n%s%s", args, code, &said, &failed)
		}
	}
}
