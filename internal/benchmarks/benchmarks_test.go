// Package benchmarks measures what crosses packages: a call through a host by the kind
// of its handler, and loading plugins. docs/performance.md says how to read it.
package benchmarks

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/loader"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

const pathSchema = `{"type":"object","properties":{"path":{"type":"string","format":"file-path"}},"additionalProperties":false}`

// write makes a file below dir, with its folders.
func write(tb testing.TB, dir, name, text string) {
	tb.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// writePlugin makes a plugin with one tool of the same name.
func writePlugin(tb testing.TB, dir, name, handler string) {
	tb.Helper()
	manifest, err := json.Marshal(map[string]any{
		"name":        strings.ReplaceAll(name, "_", "-"),
		"permissions": map[string]any{"fs": map[string]any{"read": map[string]any{"parameter": true}}},
		"tools":       []any{map[string]any{"id": name, "title": name, "description": "A tool of a benchmark.", "schema": "s.json", "handler": "h.js"}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	write(tb, dir, name+"/filer-plugin.json", string(manifest))
	write(tb, dir, name+"/s.json", pathSchema)
	write(tb, dir, name+"/h.js", handler)
}

// newHost makes a host with the plugins of dir, whose agent's folder holds a text of 10 KB.
func newHost(tb testing.TB, dir string) *host.Host {
	h, _ := newHostIn(tb, dir)
	return h
}

// newHostIn is newHost that gives the folder too.
func newHostIn(tb testing.TB, dir string) (h *host.Host, folder string) {
	tb.Helper()
	folder = tb.TempDir()
	write(tb, folder, "10k.txt", strings.Repeat("ten bytes\n", 1024))
	h = host.New(&host.Options{Folder: folder})
	l := loader.New(h, map[string]runtimes.Runtime{"node": node.New(nil)}, &loader.Options{Dirs: []string{dir}})
	if err := l.LoadAll(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	for _, s := range l.Status() {
		if len(s.Errors) > 0 {
			tb.Fatal(s.Errors[0])
		}
	}
	tb.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			tb.Error(err)
		}
		if err := l.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return h, folder
}

// native are the same tools as those of the plugins, in Go.
func native(tb testing.TB, h *host.Host) {
	tb.Helper()
	tool := func(name string, f host.HandlerFunc) *host.Tool {
		return &host.Tool{Name: name, Description: "A tool of a benchmark.", InputSchema: json.RawMessage(pathSchema), Handler: f,
			Policy: &permissions.Policy{FS: permissions.FSPolicy{Read: permissions.Access{Parameter: true}}}}
	}
	_, err := h.Replace("native", host.HostTool, []*host.Tool{
		tool("native_trivial", func(context.Context, *host.Call) (*host.Result, error) { return host.TextResult("done"), nil }),
		tool("native_read", func(_ context.Context, c *host.Call) (*host.Result, error) {
			b, err := c.Grant.FS().ReadFile("10k.txt", 1<<20)
			if err != nil {
				return nil, err
			}
			return host.TextResult(fmt.Sprint(len(b))), nil
		}),
	})
	if err != nil {
		tb.Fatal(err)
	}
}

const (
	trivialHandler = `module.exports = () => "done";`
	readHandler    = `const { readFile } = require("node:fs/promises"); module.exports = async ({ path }) => String((await readFile(path, "utf8")).length);`
)

// kinds are the calls that are measured: by handler, with what each may allocate. The
// bounds are some 20 % above what was measured; they are of one call through the host,
// arguments checked and grant made included.
var kinds = []struct {
	name, args, want string
	maxAllocs        float64
}{
	{"native_trivial", `{}`, "done", 75},
	{"js_trivial", `{}`, "done", 350},
	{"native_read", `{"path":"10k.txt"}`, "10240", 165},
	{"js_read", `{"path":"10k.txt"}`, "10240", 3500},
}

func prepared(tb testing.TB) *host.Host {
	dir := tb.TempDir()
	writePlugin(tb, dir, "js_trivial", trivialHandler)
	writePlugin(tb, dir, "js_read", readHandler)
	h := newHost(tb, dir)
	native(tb, h)
	return h
}

func call(tb testing.TB, h *host.Host, tool, args, want string) {
	r, err := h.Call(context.Background(), &host.Call{Tool: tool, Args: json.RawMessage(args)})
	if err != nil || r.IsError || r.Content[0].Text() != want {
		tb.Fatalf("%s: %+v, %v", tool, r, err)
	}
}

// BenchmarkCall compares handlers in one run: read the ratios, not the times.
func BenchmarkCall(b *testing.B) {
	h := prepared(b)
	for _, k := range kinds {
		b.Run(k.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call(b, h, k.name, k.args, k.want)
			}
		})
	}
}

// TestAllocations gates what a call allocates. Under the race detector, which allocates beside
// it, the bounds are half as wide again: 434 were measured for js_trivial.
func TestAllocations(t *testing.T) {
	h := prepared(t)
	for _, k := range kinds {
		call(t, h, k.name, k.args, k.want) // what is made once is not counted
		if got := testing.AllocsPerRun(50, func() { call(t, h, k.name, k.args, k.want) }); got > k.maxAllocs*detector {
			t.Errorf("%s allocates %.0f times a call, more than %.0f", k.name, got, k.maxAllocs*detector)
		}
	}
}

// BenchmarkLoad loads 1, 100 and 1000 small plugins; bytes/plugin is what stays on the
// heap for each once all are loaded.
func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			for i := range n {
				writePlugin(b, dir, fmt.Sprintf("tool_%04d", i), trivialHandler)
			}
			var stays uint64
			b.ReportAllocs()
			for b.Loop() {
				before := heap()
				h := host.New(nil)
				l := loader.New(h, map[string]runtimes.Runtime{"node": node.New(nil)}, &loader.Options{Dirs: []string{dir}})
				if err := l.LoadAll(context.Background()); err != nil {
					b.Fatal(err)
				}
				if got := len(h.Tools()); got != n {
					b.Fatalf("%d tools, want %d", got, n)
				}
				if after := heap(); after > before {
					stays = after - before
				}
				if err := l.Close(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(stays)/float64(n), "bytes/plugin")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/plugin")
		})
	}
}

// TestIdleMemory gates what a plugin holds that nobody calls: 1000 of them must fit where
// programs are small. What loading leaves behind, such as engines that wait for a next use, goes
// within seconds.
func TestIdleMemory(t *testing.T) {
	const n, limit = 100, 50_000
	first := t.TempDir()
	writePlugin(t, first, "first", trivialHandler)
	newHost(t, first) // what is made once for all plugins is not counted
	dir := t.TempDir()
	for i := range n {
		writePlugin(t, dir, fmt.Sprintf("tool_%03d", i), trivialHandler)
	}
	before := heap()
	h := newHost(t, dir)
	held := func() int64 { return int64(heap()-before) / n }
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for range 100 {
		if held() <= limit {
			break
		}
		<-look.C
	}
	if got := held(); got > limit {
		t.Errorf("an idle plugin holds %d bytes, more than %d", got, limit)
	}
	runtime.KeepAlive(h)
}

// heap gives the bytes that live on the heap. What a pool holds goes with the second collection
// after its last use.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
