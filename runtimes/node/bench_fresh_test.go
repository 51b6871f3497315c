package node_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes/node"
)

// BenchmarkState compares a call in a fresh engine with one in an engine that lives on.
func BenchmarkState(b *testing.B) {
	for _, state := range []string{"plugin", "call"} {
		b.Run(state, func(b *testing.B) {
			spec, _ := write(b, map[string]string{"tool.js": "module.exports = () => 'done';"})
			spec.Log, spec.State = slog.New(slog.DiscardHandler), state
			in, err := node.New(nil).Open(b.Context(), spec)
			if err != nil {
				b.Fatal(err)
			}
			defer in.Close(context.Background())
			h := in.Handler("tool")
			grant, err := spec.Policy.Resolve(b.TempDir(), nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				r, err := h.Handle(b.Context(), &host.Call{Tool: "tool", Args: json.RawMessage(`{}`), Grant: grant, Log: spec.Log})
				if err != nil || r.IsError {
					b.Fatal(r, err)
				}
			}
		})
	}
}
