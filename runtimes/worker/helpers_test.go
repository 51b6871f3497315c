package worker_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/worker"
)

// fixture is a host with one plugin, whose tools are the files that it is made of.
type fixture struct {
	*host.Host
	instance runtimes.Instance
	dir      string // the plugin's
	folder   string // the agent's
}

// setup says what differs from a plain plugin.
type setup struct {
	runtime  runtimes.Runtime
	files    map[string]string // "tool.js": the tool "tool"; with a slash in the name, no tool
	policy   permissions.Policy
	services runtimes.Services
	memory   int64
	timeout  time.Duration
	timeouts map[string]time.Duration // of tools that have another
	log      *slog.Logger
}

func open(tb testing.TB, s setup) *fixture {
	tb.Helper()
	f := &fixture{dir: tb.TempDir(), folder: tb.TempDir()}
	if s.timeout == 0 {
		s.timeout = 30 * time.Second
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.runtime == nil {
		s.runtime = worker.New(&worker.Options{Folder: f.folder})
	}
	policy := s.policy
	policy.Root = f.dir
	spec := runtimes.Spec{Plugin: "test", Dir: f.dir, Policy: &policy, Memory: s.memory, Log: s.log}
	spec.Services = s.services.Guard(&policy)
	for name, text := range s.files {
		full := filepath.Join(f.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
		if filepath.Base(name) == name {
			spec.Tools = append(spec.Tools, runtimes.Tool{ID: name[:len(name)-len(filepath.Ext(name))], Handler: name})
		}
	}
	var err error
	if f.instance, err = s.runtime.Open(tb.Context(), spec); err != nil {
		tb.Fatal(err)
	}
	f.Host = host.New(&host.Options{Folder: f.folder, Log: s.log})
	var tools []*host.Tool
	for _, t := range spec.Tools {
		timeout := s.timeout
		if own, ok := s.timeouts[t.ID]; ok {
			timeout = own
		}
		tools = append(tools, &host.Tool{
			Name: t.ID, Description: "test", InputSchema: json.RawMessage(`{"type":"object"}`),
			Timeout: timeout, Policy: &policy, Handler: f.instance.Handler(t.ID),
		})
	}
	if _, err := f.Replace("test", host.Plugin, tools); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := f.instance.Close(ctx); err != nil {
			tb.Errorf("closing the plugin: %v", err)
		}
		if err := f.Close(ctx); err != nil {
			tb.Errorf("closing the host: %v", err)
		}
	})
	return f
}

// call calls a tool and gives its text and whether it failed.
func (f *fixture) call(tb testing.TB, tool, args string) (text string, isError bool) {
	tb.Helper()
	r, err := f.Call(tb.Context(), &host.Call{Tool: tool, Args: json.RawMessage(args)})
	if err != nil {
		tb.Fatalf("calling %q: %v", tool, err)
	}
	return r.Content[0].Text(), r.IsError
}

// answers checks that a tool gives a text.
func (f *fixture) answers(tb testing.TB, tool, args, want string) {
	tb.Helper()
	if text, isError := f.call(tb, tool, args); isError || text != want {
		tb.Errorf("%s %s: got isError %v, %.300q; want %q", tool, args, isError, text, want)
	}
}

// workers gives the process ids of the workers that this process has started.
func workers(tb testing.TB) (list []int) {
	tb.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline")) // it may have ended
		stat, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if strings.Contains(string(line), "toolhost-node-worker") && len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) && fields[0] != "Z" {
			list = append(list, pid)
		}
	}
	return list
}
