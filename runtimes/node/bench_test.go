package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

// quiet opens a plugin without a log and gives what a benchmark calls.
func quiet(b *testing.B, files map[string]string) (runtimes.Instance, runtimes.Spec) {
	b.Helper()
	spec, _ := write(b, files)
	spec.Log = slog.New(slog.DiscardHandler)
	in, err := node.New(nil).Open(b.Context(), spec)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := in.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return in, spec
}

func BenchmarkCall(b *testing.B) {
	folder := b.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte(strings.Repeat("some words ", 1000)), 0o600); err != nil {
		b.Fatal(err)
	}
	for name, body := range map[string]string{
		"trivial": "return 'ok'",
		"await":   "await null; return 'ok'",
		"read":    "return (await ctx.fs.read('a.txt')).length",
		"object":  "return {list: [1, 2, 3], text: params.text}",
	} {
		b.Run(name, func(b *testing.B) {
			in, spec := quiet(b, map[string]string{"tool.js": handler(body)})
			spec.Policy.FS.Read.Folder = true
			h := in.Handler("tool")
			b.ReportAllocs()
			for b.Loop() {
				grant, err := spec.Policy.Resolve(folder, nil)
				if err != nil {
					b.Fatal(err)
				}
				r, err := h.Handle(b.Context(), &host.Call{Tool: "tool", Args: json.RawMessage(`{"text":"x"}`), Folder: folder, Grant: grant, Log: spec.Log})
				grant.Revoke()
				if err != nil || r.IsError {
					b.Fatal(r, err)
				}
			}
		})
	}
}

// BenchmarkLoad tells what opening plugins costs, and what one keeps while it is idle.
func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			code := "import { help } from './help.js';\n" + handler("const words = String(params.text).split(/\\s+/); return help(words.length)")
			for name, text := range map[string]string{"tool.js": code, "help.js": "export const help = (n) => `${n} words`;"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			rt := node.New(nil)
			b.ReportAllocs()
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				var open []runtimes.Instance
				for range n {
					in, err := rt.Open(b.Context(), runtimes.Spec{
						Plugin: "p", Dir: dir, Policy: &permissions.Policy{Root: dir},
						Tools: []runtimes.Tool{{ID: "tool", Handler: "tool.js"}},
					})
					if err != nil {
						b.Fatal(err)
					}
					open = append(open, in)
				}
				runtime.GC()
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "idle-B/plugin")
				for _, in := range open {
					if err := in.Close(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/plugin")
		})
	}
}
