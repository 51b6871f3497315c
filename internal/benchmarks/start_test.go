package benchmarks

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/loader"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

// BenchmarkStart loads 100 plugins, whose bundles are kept from a start before or are not.
func BenchmarkStart(b *testing.B) {
	const plugins = 100
	for _, warm := range []bool{false, true} {
		b.Run(fmt.Sprintf("kept=%t", warm), func(b *testing.B) {
			dir, cache := b.TempDir(), filepath.Join(b.TempDir(), "cache")
			for i := range plugins {
				writePlugin(b, dir, fmt.Sprintf("tool_%d", i), `import { hello } from "./lib/hello.js"; export default (p, ctx) => hello(ctx)`)
				lib := filepath.Join(dir, fmt.Sprintf("tool_%d", i), "lib")
				if err := os.Mkdir(lib, 0o755); err != nil {
					b.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(lib, "hello.js"), []byte(`export const hello = (ctx) => "hello " + ctx.agent.id`), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			start := func() {
				h := host.New(&host.Options{Folder: b.TempDir()})
				l := loader.New(h, map[string]runtimes.Runtime{"node": node.New(&node.Options{Cache: cache})}, &loader.Options{Dirs: []string{dir}})
				if err := l.LoadAll(b.Context()); err != nil {
					b.Fatal(err)
				}
				if n := len(h.Tools()); n != plugins {
					b.Fatalf("%d tools", n)
				}
				b.StopTimer()
				if err := l.Close(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			start()
			for b.Loop() {
				if !warm {
					b.StopTimer()
					if err := os.RemoveAll(cache); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
				start()
			}
		})
	}
}
