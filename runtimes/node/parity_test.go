package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

// lines keeps the messages of log records.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Enabled(context.Context, slog.Level) bool { return true }
func (l *lines) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *lines) WithGroup(string) slog.Handler            { return l }
func (l *lines) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, r.Message)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "stack" || a.Key == "err" {
			l.all = append(l.all, a.String())
		}
		return true
	})
	return nil
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "\n") + "\n"
}

// TestParity runs each file of testdata/js: what it writes to the console must be what
// Node has written, which NAME.txt beside it records.
func TestParity(t *testing.T) {
	for _, file := range parityFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".mjs"), func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(recording(file))
			if err != nil {
				t.Fatal(err)
			}
			if got := here(t, t.TempDir(), source); got != string(want) {
				t.Errorf("%s", firstDifference(got, string(want)))
			}
		})
	}
}

func parityFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/js/*.mjs")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files to run: %v", err)
	}
	return files
}

// recording names the file that holds what Node wrote.
func recording(file string) string { return strings.TrimSuffix(file, ".mjs") + ".txt" }

// here runs it as the handler of a plugin in dir that may do everything in the agent's folder.
func here(t *testing.T, dir string, source []byte) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "handler.mjs"), source, 0o644); err != nil {
		t.Fatal(err)
	}
	everything := permissions.Access{Folder: true}
	policy := &permissions.Policy{Root: dir, FS: permissions.FSPolicy{Read: everything, Write: everything}}
	out := &lines{}
	log := slog.New(out)
	instance, err := node.New(nil).Open(t.Context(), runtimes.Spec{Plugin: "parity", Dir: dir, Policy: policy, Log: log, Tools: []runtimes.Tool{{ID: "run", Handler: "handler.mjs"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer instance.Close(context.Background())
	folder := t.TempDir()
	grant, err := policy.Resolve(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer grant.Revoke()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	deadline, _ := ctx.Deadline()
	result, err := instance.Handler("run").Handle(ctx, &host.Call{Tool: "run", Args: json.RawMessage("{}"), Folder: folder, Grant: grant, Log: log, ID: "1", Deadline: deadline})
	if err != nil {
		t.Fatalf("%v\n%s", err, out.text())
	}
	if result.IsError {
		t.Fatalf("%s\n%s", result.Content[0].Text(), out.text())
	}
	return out.text()
}

// firstDifference shows where two texts part, with a few lines around.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(g) && i < len(w) && g[i] == w[i] {
		i++
	}
	from := max(0, i-3)
	cut := func(lines []string) string {
		return strings.Join(lines[min(from, len(lines)):min(i+6, len(lines))], "\n")
	}
	return fmt.Sprintf("line %d\n--- here\n%s\n--- node\n%s", i+1, cut(g), cut(w))
}
