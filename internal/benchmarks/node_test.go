//go:build outside

package benchmarks

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

// driver serves calls of a handler in Node: one JSON message a line, as Filer's protocol has it.
const driver = `
const handler = require(process.argv[2]);
require('node:readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, params } = JSON.parse(line);
  process.stdout.write(JSON.stringify({ id, result: await handler(params, {}) }) + '\n');
});`

// child is a Node process that serves one handler and stays.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

// startNode starts Node in a folder with the handler of a file.
func startNode(tb testing.TB, folder, handler string) *child {
	tb.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		tb.Fatalf("the comparison needs Node: %v", err)
	}
	file := filepath.Join(filepath.Dir(handler), "driver.cjs")
	if err := os.WriteFile(file, []byte(driver), 0o644); err != nil {
		tb.Fatal(err)
	}
	c := &child{cmd: exec.Command(program, file, handler)}
	c.cmd.Dir = folder
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	c.out = bufio.NewReaderSize(out, 1<<16)
	if err := c.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	return c
}

func (c *child) stop() {
	_ = c.in.Close()
	_ = c.cmd.Wait()
}

// call sends one call and waits for its answer.
func (c *child) call(tb testing.TB, args, want string) {
	c.id++
	if _, err := fmt.Fprintf(c.in, `{"id":"%d","params":%s}`+"\n", c.id, args); err != nil {
		tb.Fatal(err)
	}
	line, err := c.out.ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	var m struct{ Result string }
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.Result != want {
		tb.Fatalf("%q, %v", line, err)
	}
}

// resident gives how many bytes of a process are in memory.
func (c *child) resident(tb testing.TB) uint64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", c.cmd.Process.Pid))
	if err != nil {
		tb.Fatal(err)
	}
	pages, err := strconv.ParseUint(strings.Fields(string(b))[1], 10, 64)
	if err != nil {
		tb.Fatal(err)
	}
	return pages * uint64(os.Getpagesize())
}

// rounds takes turns with two ways of doing the same and gives the best time of each, so
// that what else the machine does hits neither alone.
func rounds(n int, a, b func()) (bestA, bestB time.Duration) {
	bestA, bestB = time.Hour, time.Hour
	for range n {
		start := time.Now()
		a()
		bestA = min(bestA, time.Since(start))
		start = time.Now()
		b()
		bestB = min(bestB, time.Since(start))
	}
	return bestA, bestB
}

// opened opens the handler and gives what calls it once, with a grant of its own.
func opened(tb testing.TB, folder, handler string) (in runtimes.Instance, once func()) {
	tb.Helper()
	policy := &permissions.Policy{Root: filepath.Dir(handler), FS: permissions.FSPolicy{Read: permissions.Access{Folder: true}}}
	in, err := node.New(nil).Open(context.Background(), runtimes.Spec{Plugin: "p", Dir: policy.Root, Policy: policy, Tools: []runtimes.Tool{{ID: "read", Handler: "h.js"}}})
	if err != nil {
		tb.Fatal(err)
	}
	read, log := in.Handler("read"), slog.New(slog.DiscardHandler)
	return in, func() {
		grant, err := policy.Resolve(folder, nil)
		if err != nil {
			tb.Fatal(err)
		}
		defer grant.Revoke()
		r, err := read.Handle(context.Background(), &host.Call{Tool: "read", Args: json.RawMessage(`{"path":"10k.txt"}`), Folder: folder, Grant: grant, Log: log})
		if err != nil || r.Content[0].Text() != "10240" {
			tb.Fatal(r, err)
		}
	}
}

// BenchmarkNode compares this host with a Node process that serves the same handler and
// stays: a call that reads 10 KB, the time from nothing to the first answer, and what an
// idle plugin holds. Ratios above 1 say how many times the host is better.
func BenchmarkNode(b *testing.B) {
	dir := b.TempDir()
	writePlugin(b, dir, "js_read", readHandler)
	handler := filepath.Join(dir, "js_read", "h.js")
	b.Run("read 10 KB", func(b *testing.B) {
		folder := b.TempDir()
		write(b, folder, "10k.txt", strings.Repeat("ten bytes\n", 1024))
		in, once := opened(b, folder, handler)
		defer in.Close(context.Background())
		c := startNode(b, folder, handler)
		defer c.stop()
		const args = `{"path":"10k.txt"}`
		var here, there time.Duration
		for b.Loop() {
			x, y := rounds(300, once, func() { c.call(b, args, "10240") })
			here, there = here+x, there+y
		}
		b.ReportMetric(float64(here.Microseconds())/float64(b.N), "µs-here")
		b.ReportMetric(float64(there.Microseconds())/float64(b.N), "µs-node")
		b.ReportMetric(float64(there)/float64(here), "node/here")
	})
	b.Run("cold start", func(b *testing.B) {
		folder := b.TempDir()
		write(b, folder, "10k.txt", strings.Repeat("ten bytes\n", 1024))
		args := `{"path":"10k.txt"}`
		var here, there time.Duration
		for b.Loop() {
			x, y := rounds(5, func() {
				in, once := opened(b, folder, handler)
				once()
				_ = in.Close(context.Background())
			}, func() {
				c := startNode(b, folder, handler)
				c.call(b, args, "10240")
				c.stop()
			})
			here, there = here+x, there+y
		}
		b.ReportMetric(float64(here.Microseconds())/1000/float64(b.N), "ms-here")
		b.ReportMetric(float64(there.Microseconds())/1000/float64(b.N), "ms-node")
		b.ReportMetric(float64(there)/float64(here), "node/here")
	})
	b.Run("memory", func(b *testing.B) {
		const n = 100
		many := b.TempDir()
		for i := range n {
			writePlugin(b, many, fmt.Sprintf("js_read_%03d", i), readHandler)
		}
		var here, there uint64
		for b.Loop() {
			before := heap()
			h, folder := newHostIn(b, many)
			for i := range n {
				call(b, h, fmt.Sprintf("js_read_%03d", i), `{"path":"10k.txt"}`, "10240")
			}
			here = (heap() - before) / n
			c := startNode(b, folder, handler)
			c.call(b, `{"path":"10k.txt"}`, "10240")
			there = c.resident(b)
			c.stop()
			runtime.KeepAlive(h)
		}
		b.ReportMetric(float64(here)/1000, "kB-here")
		b.ReportMetric(float64(there)/1000, "kB-node")
		b.ReportMetric(float64(there)/float64(here), "node/here")
	})
}
