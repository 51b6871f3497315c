package benchmarks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/loader"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

// BenchmarkReload measures from a save to the first answer of what was saved, with one
// plugin and with a thousand. The plugin is at rest for 100 ms before it is looked at.
func BenchmarkReload(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprintf("plugins=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			for i := range n {
				writePlugin(b, dir, fmt.Sprintf("tool_%d", i), "export default () => 'v0'")
			}
			h := host.New(&host.Options{Folder: b.TempDir()})
			l := loader.New(h, map[string]runtimes.Runtime{"node": node.New(nil)}, &loader.Options{Dirs: []string{dir}})
			if err := l.LoadAll(b.Context()); err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(b.Context())
			ended := make(chan error, 1)
			go func() { ended <- l.Watch(ctx) }()
			again := time.NewTicker(time.Millisecond) // a caller that asks a thousand times a second
			defer again.Stop()
			handler := filepath.Join(dir, "tool_0", "h.js")
			version := 0
			save := func() time.Duration {
				version++
				want := fmt.Sprintf("v%d", version)
				if err := os.WriteFile(handler, fmt.Appendf(nil, "export default () => %q", want), 0o644); err != nil {
					b.Fatal(err)
				}
				saved := time.Now()
				for {
					r, err := h.Call(b.Context(), &host.Call{Tool: "tool_0"})
					if err != nil || r.IsError {
						b.Fatal(err, r)
					}
					if r.Content[0].Text() == want {
						return time.Since(saved)
					}
					<-again.C
				}
			}
			save() // by now everything is watched
			var took []time.Duration
			for b.Loop() {
				took = append(took, save())
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Milliseconds()), "p99-ms")
			cancel()
			<-ended
			if err := h.Close(context.Background()); err != nil {
				b.Error(err)
			}
			if err := l.Close(context.Background()); err != nil {
				b.Error(err)
			}
		})
	}
}
