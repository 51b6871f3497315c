//go:build outside

package benchmarks

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/host/mcpserver"
	_ "github.com/toolhost/toolhost/internal/garbage" // as the program does
)

// sdk is the TypeScript SDK that this host is compared with.
const sdk = "@modelcontextprotocol/sdk@1.32.2"

// sdkFolder gives a folder that the SDK is installed in; it is installed once, where the
// other outside programs are.
func sdkFolder(tb testing.TB) string {
	tb.Helper()
	tools := os.Getenv("MCP_TOOLS_DIR")
	if tools == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			tb.Fatal(err)
		}
		tools = filepath.Join(cache, "mcp-outside-tests")
	}
	dir := filepath.Join(tools, strings.NewReplacer("/", "_", "@", "_").Replace(sdk))
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@modelcontextprotocol", "sdk", "package.json")); err == nil {
		return dir
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	install := exec.Command("npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", "--omit=optional", sdk)
	if out, err := install.CombinedOutput(); err != nil {
		tb.Fatalf("the comparison needs %s: %v\n%s", sdk, err, out)
	}
	return dir
}

// server is a process that serves the tool, and ends with its input.
type server struct {
	in  io.WriteCloser
	out *bufio.Reader
	pid int
}

func start(tb testing.TB, cmd *exec.Cmd) *server {
	tb.Helper()
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			tb.Error(err)
		}
	})
	return &server{in, bufio.NewReaderSize(out, 64<<10), cmd.Process.Pid}
}

// sdkServer starts the server of the TypeScript SDK.
func sdkServer(tb testing.TB, transport string) *server {
	tb.Helper()
	script, err := filepath.Abs("testdata/echo-server.mjs")
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command("node", script, transport)
	cmd.Dir = sdkFolder(tb)
	return start(tb, cmd)
}

// serveVariable asks the tests' own program to be the server that is compared, over that transport.
const serveVariable = "TOOLHOST_BENCHMARK_SERVES"

func TestMain(m *testing.M) {
	transport := os.Getenv(serveVariable)
	if transport == "" {
		os.Exit(m.Run())
	}
	if err := serveEcho(transport); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func hostServer(tb testing.TB, transport string) *server {
	tb.Helper()
	program, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), serveVariable+"="+transport)
	return start(tb, cmd)
}

// serveEcho serves the same tool, written in Go, until the input ends.
func serveEcho(transport string) error {
	h := host.New(nil)
	tool := &host.Tool{
		Name: "echo", Description: "Echoes.",
		InputSchema: []byte(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
		Handler: host.HandlerFunc(func(_ context.Context, c *host.Call) (*host.Result, error) {
			var args struct{ Text string }
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return nil, err
			}
			return host.TextResult(args.Text), nil
		}),
	}
	if _, err := h.Replace("benchmark", host.Plugin, []*host.Tool{tool}); err != nil {
		return err
	}
	s := mcpserver.New(h, nil)
	defer s.Close()
	if transport == "stdio" {
		return s.ServeStdio(context.Background(), os.Stdin, os.Stdout)
	}
	web := httptest.NewServer(s.Handler(nil))
	fmt.Println(web.Listener.Addr().(*net.TCPAddr).Port)
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// processorTime gives what a process has used up so far.
func (s *server) processorTime(tb testing.TB) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.pid))
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the program's name may have blanks
	fields := strings.Fields(rest)
	var ticks int
	for _, f := range fields[11:13] { // of the user, and of the system
		n, err := strconv.Atoi(f)
		if err != nil {
			tb.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}

// calls gives a function that makes n calls, so many of them at once.
func (s *server) calls(tb testing.TB, transport string, atOnce int) func(n int) {
	tb.Helper()
	if transport == "stdio" {
		return lineCalls(tb, s.in, s.out, atOnce)
	}
	port, err := s.out.ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	return httpCalls(tb, "127.0.0.1:"+strings.TrimSpace(port), atOnce)
}

// echoText is what is echoed.
var echoText = strings.Repeat("twenty bytes of text", 5)

const (
	initializeMessage  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`
	initializedMessage = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func callMessage(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":%q}}}`, id, echoText)
}

// lineCalls gives a function that makes n calls over a pair of pipes, so many of them at once.
func lineCalls(tb testing.TB, in io.Writer, out *bufio.Reader, atOnce int) func(n int) {
	ask := func(lines string, answers int) {
		if _, err := io.WriteString(in, lines); err != nil {
			tb.Fatal(err)
		}
		for range answers {
			line, err := out.ReadString('\n')
			if err != nil || !strings.Contains(line, `"result"`) || strings.Contains(line, "isError\":true") {
				tb.Fatalf("%q, %v", line, err)
			}
		}
	}
	ask(initializeMessage+"\n"+initializedMessage+"\n", 1)
	return func(n int) {
		for done := 0; done < n; done += atOnce {
			var lines strings.Builder
			for i := range atOnce {
				lines.WriteString(callMessage(i+1) + "\n")
			}
			ask(lines.String(), atOnce)
		}
	}
}

// httpCalls gives a function that makes n calls over HTTP, so many of them at once, each caller over
// a connection of its own. It writes requests itself: the client of net/http would take as long as
// the host.
func httpCalls(tb testing.TB, address string, atOnce int) func(n int) {
	session := ""
	ask := func(conn net.Conn, in *bufio.Reader, message, want string) error {
		head := "POST / HTTP/1.1\r\nHost: " + address + "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
		if session != "" {
			head += "Mcp-Session-Id: " + session + "\r\nMcp-Protocol-Version: 2025-11-25\r\n"
		}
		if _, err := fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", head, len(message), message); err != nil {
			return err
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode >= 300 || !strings.Contains(string(body), want) {
			return fmt.Errorf("%s, %q, %w", res.Status, body, err)
		}
		if session == "" {
			session = res.Header.Get("Mcp-Session-Id")
		}
		return nil
	}
	conns := make([]net.Conn, atOnce)
	in := make([]*bufio.Reader, atOnce)
	for i := range conns {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = conn.Close() })
		conns[i], in[i] = conn, bufio.NewReader(conn)
	}
	for _, m := range []string{initializeMessage, initializedMessage} {
		if err := ask(conns[0], in[0], m, ""); err != nil {
			tb.Fatal(err)
		}
	}
	return func(n int) {
		var callers sync.WaitGroup
		for c := range atOnce {
			callers.Go(func() {
				for i := range n / atOnce {
					if err := ask(conns[c], in[c], callMessage(1+c+i*atOnce), echoText); err != nil {
						tb.Error(err)
						return
					}
				}
			})
		}
		callers.Wait()
	}
}

// BenchmarkSDK compares this host's server with that of the TypeScript SDK in Node.js, each in a
// process of its own: the same client calls the same tool, in turns. "calls/s" are by the
// medians, and "µs" is the processor time of the server for one call.
func BenchmarkSDK(b *testing.B) {
	const turn = 400 // calls in a row
	for _, transport := range []string{"stdio", "http"} {
		for _, atOnce := range []int{1, 8} {
			b.Run(fmt.Sprintf("%s/%d", transport, atOnce), func(b *testing.B) {
				servers := [2]*server{hostServer(b, transport), sdkServer(b, transport)}
				var calls [2]func(int)
				var used [2]time.Duration
				var took [2][]time.Duration
				for i, s := range servers {
					calls[i] = s.calls(b, transport, atOnce)
					calls[i](5 * turn) // until code is compiled, and heaps have their size
					used[i] = s.processorTime(b)
				}
				for b.Loop() {
					for i := range servers {
						start := time.Now()
						calls[i](turn)
						took[i] = append(took[i], time.Since(start))
					}
				}
				var rate, each [2]float64
				for i, s := range servers {
					each[i] = float64((s.processorTime(b) - used[i]).Microseconds()) / float64(b.N*turn)
					slices.Sort(took[i])
					rate[i] = turn / took[i][len(took[i])/2].Seconds()
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(rate[0], "calls/s-here")
				b.ReportMetric(rate[1], "calls/s-sdk")
				b.ReportMetric(rate[0]/rate[1], "calls/s-here/sdk")
				b.ReportMetric(each[0], "µs-here")
				b.ReportMetric(each[1], "µs-sdk")
				b.ReportMetric(each[1]/each[0], "µs-sdk/here")
			})
		}
	}
}
