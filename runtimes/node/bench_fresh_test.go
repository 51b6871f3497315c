package node

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// BenchmarkState compares, call by call in turns, a call in an engine that lives on with
// one in a fresh engine: one that was made ready while nothing was called, and one that
// the call itself has to make.
func BenchmarkState(b *testing.B) {
	folder := b.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "10k.txt"), []byte(strings.Repeat("ten bytes\n", 1024)), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, handler := range []struct{ name, code string }{
		{"empty", "module.exports = () => 'done';"},
		{"ctx.fs", "module.exports = async (params, ctx) => String((await ctx.fs.read('10k.txt')).length);"},
		{"fs promises", "const fs = require('node:fs/promises'); module.exports = async () => String((await fs.readFile('10k.txt', 'utf8')).length);"},
		{"fs sync", "const fs = require('fs'); module.exports = async () => String(fs.readFileSync('10k.txt', 'utf8').length);"},
		{"fs bytes", "const fs = require('fs'); module.exports = async () => String(fs.readFileSync('10k.txt').length);"},
		{"fs import", "import { readFileSync } from 'node:fs'; export default async () => String(readFileSync('10k.txt', 'utf8').length);"},
		{"fs namespace", "import * as fs from 'node:fs'; export default async () => String(fs.readFileSync('10k.txt', 'utf8').length);"},
	} {
		b.Run(handler.name, func(b *testing.B) {
			open := func(state string) (*instance, func() time.Duration) {
				dir := b.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "tool.js"), []byte(handler.code), 0o600); err != nil {
					b.Fatal(err)
				}
				policy := &permissions.Policy{Root: dir, FS: permissions.FSPolicy{Read: permissions.Access{Folder: true}}}
				log := slog.New(slog.DiscardHandler)
				in, err := New(nil).Open(b.Context(), runtimes.Spec{Plugin: "p", Dir: dir, State: state, Policy: policy, Log: log,
					Tools: []runtimes.Tool{{ID: "tool", Handler: "tool.js"}}})
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { _ = in.Close(context.Background()) })
				h := in.Handler("tool")
				return in.(*instance), func() time.Duration {
					grant, err := policy.Resolve(folder, nil)
					if err != nil {
						b.Fatal(err)
					}
					defer grant.Revoke()
					start := time.Now()
					r, err := h.Handle(b.Context(), &host.Call{Tool: "tool", Args: json.RawMessage(`{}`), Folder: folder, Grant: grant, Log: log})
					if err != nil || r.IsError {
						b.Fatal(r, err)
					}
					return time.Since(start)
				}
			}
			_, pooled := open("plugin")
			in, fresh := open("call")
			p, err := in.handlers["tool"].program.get()
			if err != nil {
				b.Fatal(err)
			}
			var times [3][]time.Duration
			for b.Loop() {
				times[0] = append(times[0], pooled())
				for in.primed.wanted(p) && len(times[1]) > 0 {
					runtime.Gosched()
				}
				times[1] = append(times[1], fresh())
				for in.primed.wanted(p) {
					runtime.Gosched()
				}
				in.primed.take(p)
				times[2] = append(times[2], fresh())
			}
			var median [3]float64
			for i, name := range []string{"µs-pooled", "µs-ready", "µs-made"} {
				slices.Sort(times[i])
				median[i] = float64(times[i][len(times[i])/2].Nanoseconds()) / 1000
				b.ReportMetric(median[i], name)
			}
			b.ReportMetric(median[1]/median[0], "ready/pooled")
			b.ReportMetric(median[2]/median[0], "made/pooled")
		})
	}
}
