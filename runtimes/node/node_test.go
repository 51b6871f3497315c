package node_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

func TestMain(m *testing.M) {
	if attack := os.Getenv(attackVariable); attack != "" {
		os.Exit(runAttack(attack))
	}
	// regexp2 keeps the time for its match limit on a goroutine that ends by itself.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}

// logBuffer takes log lines from several goroutines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logBuffer) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b = bytes.Buffer{} // its memory, too
}

// plugin is a folder of files, opened; every .js, .ts, .cjs and .mjs file at its top is a tool.
type plugin struct {
	host     *host.Host
	instance runtimes.Instance
	log      *logBuffer
	dir      string
	folder   string // the agent's
}

// write makes a plugin's folder and gives its specification.
func write(tb testing.TB, files map[string]string) (runtimes.Spec, *logBuffer) {
	tb.Helper()
	dir := tb.TempDir()
	log := &logBuffer{}
	spec := runtimes.Spec{
		Plugin: "test", Dir: dir, Policy: &permissions.Policy{Root: dir},
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
		ext := filepath.Ext(name)
		if !strings.Contains(name, "/") && strings.Contains(".js .ts .tsx .cjs .mjs", ext) {
			spec.Tools = append(spec.Tools, runtimes.Tool{ID: strings.TrimSuffix(name, ext), Handler: name})
		}
	}
	return spec, log
}

// open opens a plugin of these files and registers its tools.
func open(tb testing.TB, files map[string]string, timeout time.Duration) *plugin {
	tb.Helper()
	spec, log := write(tb, files)
	timeouts := map[string]time.Duration{}
	for _, t := range spec.Tools {
		timeouts[t.ID] = timeout
	}
	return serve(tb, node.New(nil), spec, log, timeouts)
}

// serve opens a plugin and registers its tools, whose timeouts are 20 s where they are not given.
func serve(tb testing.TB, rt *node.Runtime, spec runtimes.Spec, log *logBuffer, timeouts map[string]time.Duration) *plugin {
	tb.Helper()
	instance, err := rt.Open(tb.Context(), spec)
	if err != nil {
		tb.Fatal(err)
	}
	folder := tb.TempDir()
	h := host.New(&host.Options{Log: spec.Log, Folder: folder})
	var tools []*host.Tool
	for _, t := range spec.Tools {
		timeout := timeouts[t.ID]
		if timeout == 0 {
			timeout = 20 * time.Second
		}
		tools = append(tools, &host.Tool{
			Name: t.ID, Description: "test", InputSchema: json.RawMessage(`{"type":"object"}`),
			Timeout: timeout, Policy: spec.Policy, Handler: instance.Handler(t.ID),
		})
	}
	if _, err := h.Replace("test", host.Plugin, tools); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := instance.Close(context.Background()); err != nil {
			tb.Error(err)
		}
		if err := h.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return &plugin{host: h, instance: instance, log: log, dir: spec.Dir, folder: folder}
}

// call calls a tool and gives its text; failed results begin with "! ".
func (p *plugin) call(tb testing.TB, tool, args string) string {
	tb.Helper()
	r, err := p.host.Call(tb.Context(), &host.Call{Tool: tool, Args: json.RawMessage(args)})
	if err != nil {
		tb.Fatal(err)
	}
	if r.IsError {
		return "! " + r.Content[0].Text()
	}
	return r.Content[0].Text()
}

// problems opens a plugin that does not load and gives the report.
func problems(tb testing.TB, options *node.Options, files map[string]string) *runtimes.LoadError {
	tb.Helper()
	spec, _ := write(tb, files)
	_, err := node.New(options).Open(tb.Context(), spec)
	var load *runtimes.LoadError
	if !errors.As(err, &load) {
		tb.Fatalf("got %v, want a *LoadError", err)
	}
	return load
}

// A host that has no Node.js to offer says so, and does not run the handlers in another engine.
func TestOtherEngine(t *testing.T) {
	_, err := node.New(nil).Open(t.Context(), runtimes.Spec{Plugin: "tested", Dir: t.TempDir(), Engine: "node"})
	if err == nil || !strings.Contains(err.Error(), `"engine": "node"`) {
		t.Errorf("got %v", err)
	}
}
