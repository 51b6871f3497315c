package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkServe starts the whole program, built as it is for users, and asks for the tools:
// without plugins, and with a hundred whose bundles were kept by a start before. It gives the
// wall clock to the first byte of the answer, and the processor time of the process to its end,
// whose best tells nearly the same on a busy machine.
func BenchmarkServe(b *testing.B) {
	dir := b.TempDir()
	binary := filepath.Join(dir, "toolhost")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, n := range []int{0, 100} {
		b.Run(fmt.Sprintf("plugins=%d", n), func(b *testing.B) {
			s := newStarts(b, binary, n)
			s.start(b) // what it keeps is there from now on
			var first, cpu []float64
			for b.Loop() {
				f, c := s.start(b)
				first, cpu = append(first, ms(f)), append(cpu, ms(c))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(slices.Min(first), "best-first-byte-ms")
			b.ReportMetric(median(first), "first-byte-ms")
			b.ReportMetric(slices.Min(cpu), "best-cpu-ms")
			b.ReportMetric(median(cpu), "cpu-ms")
		})
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median[T cmp.Ordered](list []T) T {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// starts are the folders of a program that is started again and again.
type starts struct {
	binary, dir string
	plugins     int
}

// newStarts makes a state folder, an agent's folder, and plugins of one tool, whose handler
// imports a module of its own.
func newStarts(b *testing.B, binary string, plugins int) *starts {
	b.Helper()
	s := &starts{binary: binary, dir: b.TempDir(), plugins: plugins}
	for _, d := range []string{"plugins", "folder", "state"} {
		if err := os.Mkdir(filepath.Join(s.dir, d), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	for i := range plugins {
		dir := filepath.Join(s.dir, "plugins", fmt.Sprintf("tool-%03d", i))
		for name, text := range map[string]string{
			"filer-plugin.json": fmt.Sprintf(`{"name":"tool-%03d","permissions":{"fs":{"read":{"parameter":true}}},`+
				`"tools":[{"id":"tool_%03d","title":"Tool","description":"A tool of a benchmark.","schema":"s.json","handler":"h.js"}]}`, i, i),
			"s.json":       `{"type":"object","properties":{"path":{"type":"string","format":"file-path"}},"additionalProperties":false}`,
			"h.js":         `import { hello } from "./lib/hello.js"; export default (p, ctx) => hello(ctx)`,
			"lib/hello.js": `export const hello = (ctx) => "hello " + ctx.agent.id`,
		} {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	return s
}

// listRequest is what a client of the stateless revision asks for the tools.
const listRequest = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n"

func (s *starts) command() *exec.Cmd {
	args := []string{"serve", "--no-bundled", "--folder", filepath.Join(s.dir, "folder"), "--state", filepath.Join(s.dir, "state")}
	if s.plugins > 0 {
		args = append(args, "--plugins", filepath.Join(s.dir, "plugins"))
	}
	cmd := exec.Command(s.binary, args...)
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir, keyringVariable+"=off")
	return cmd
}

// start starts the program, asks for the tools, and ends its input once they have come.
func (s *starts) start(b *testing.B) (first, cpu time.Duration) {
	b.Helper()
	cmd := s.command()
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := in.Write([]byte(listRequest)); err != nil {
		b.Fatal(err)
	}
	r := bufio.NewReaderSize(out, 1<<20)
	if _, err := r.Peek(1); err != nil {
		b.Fatal(err)
	}
	first = time.Since(begun)
	answer, err := r.ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	if n := strings.Count(answer, `"toolhost/plugin":`); n != s.plugins {
		b.Fatalf("%d tools of plugins, want %d: %.300s", n, s.plugins, answer)
	}
	if err := in.Close(); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return first, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
