package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

// TestWarm calls the scripts of testdata/js again and again, and opens them again in the
// same runtime: what was compiled or made ready before changes no answer.
func TestWarm(t *testing.T) {
	rt := node.New(nil)
	for _, name := range []string{"buffer", "events", "language", "path", "old", "regexp", "url"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(filepath.Join("testdata/js", name+".mjs"))
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join("testdata/js", name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "handler.mjs"), source, 0o644); err != nil {
				t.Fatal(err)
			}
			policy := &permissions.Policy{Root: dir}
			for range 2 {
				in, err := rt.Open(t.Context(), runtimes.Spec{Plugin: "warm", Dir: dir, Policy: policy, Tools: []runtimes.Tool{{ID: "run", Handler: "handler.mjs"}}})
				if err != nil {
					t.Fatal(err)
				}
				for i := range 3 {
					out := &lines{}
					grant, err := policy.Resolve(t.TempDir(), nil)
					if err != nil {
						t.Fatal(err)
					}
					r, err := in.Handler("run").Handle(t.Context(), &host.Call{Tool: "run", Args: json.RawMessage("{}"), Grant: grant, Log: slog.New(out)})
					grant.Revoke()
					if err != nil || r.IsError {
						t.Fatal(r, err, out.text())
					}
					if got := out.text(); got != string(want) {
						t.Errorf("call %d: %s", i, firstDifference(got, string(want)))
					}
				}
				if err := in.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestHeapStaysFlat makes many calls, among them ones that fail, leave timers and write to
// the log: what they took is let go of.
func TestHeapStaysFlat(t *testing.T) {
	spec, _ := write(t, map[string]string{"tool.js": handler(`
		globalThis.kept = new Array(100).fill(params);
		setTimeout(() => {}, 60_000);
		if (params.n % 100 === 0) throw new Error('on purpose');
		if (params.n % 100 === 1) Promise.reject(new Error('nobody handles it'));
		const { readFile } = await import('node:fs/promises');
		return String(params.n) + typeof readFile`)})
	spec.Log = slog.New(slog.DiscardHandler)
	in, err := node.New(nil).Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := in.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	h := in.Handler("tool")
	once := func(n int) {
		grant, err := spec.Policy.Resolve(spec.Dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer grant.Revoke()
		r, err := h.Handle(t.Context(), &host.Call{Tool: "tool", Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), Grant: grant, Log: spec.Log})
		if err != nil || r.IsError != (n%100 == 0) || !r.IsError && r.Content[0].Text() != fmt.Sprint(n)+"function" {
			t.Fatal(r, err)
		}
	}
	live := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for n := range heapCalls / 10 {
		once(n)
	}
	before := live()
	for n := range heapCalls {
		once(n)
	}
	const slack = 2 << 20
	if after := live(); after > before+slack {
		t.Errorf("the heap has grown from %d to %d bytes in %d calls", before, after, heapCalls)
	}
}
