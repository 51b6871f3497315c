package worker_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
	"github.com/toolhost/toolhost/runtimes/worker"
)

// BenchmarkOpen measures how long a plugin takes to be opened: in a worker that is the
// start of a process, its sandbox, and the connection to it.
func BenchmarkOpen(b *testing.B) {
	for name, rt := range map[string]runtimes.Runtime{"in-process": node.New(nil), "worker": worker.New(nil)} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "tool.js"), []byte(handlerOf("return 'ok'")), 0o600); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				in, err := rt.Open(b.Context(), runtimes.Spec{Plugin: "bench", Dir: dir, Tools: []runtimes.Tool{{ID: "tool", Handler: "tool.js"}}})
				if err != nil {
					b.Fatal(err)
				}
				if err := in.Close(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCall measures a call, and what its being in a worker adds.
func BenchmarkCall(b *testing.B) {
	large, err := json.Marshal(map[string]string{"text": string(make([]byte, 500_000))})
	if err != nil {
		b.Fatal(err)
	}
	files := map[string]string{"small.js": handlerOf("return 'ok'"), "large.js": handlerOf("return params.text.length")}
	for name, rt := range map[string]runtimes.Runtime{"in-process": node.New(nil), "worker": worker.New(nil)} {
		for tool, args := range map[string]json.RawMessage{"small": json.RawMessage(`{}`), "large": large} {
			b.Run(name+"/"+tool, func(b *testing.B) {
				f := open(b, setup{runtime: rt, files: files})
				f.call(b, "small", "{}")
				for b.Loop() {
					if r, err := f.Call(b.Context(), &host.Call{Tool: tool, Args: args}); err != nil || r.IsError {
						b.Fatal(r, err)
					}
				}
			})
		}
	}
}
