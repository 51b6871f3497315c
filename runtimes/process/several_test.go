package process_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/process"
)

// oddly runs what a program does that it should not, and a call after it.
func oddly(t *testing.T, p *plugin, how string, failed bool, want ...string) {
	t.Helper()
	text, isError := p.odd(how)
	for _, w := range want {
		if isError != failed || !strings.Contains(text, w) || len(text) > 5000 {
			t.Errorf("%s: failed %v, got %.400q, want %q", how, isError, text, w)
		}
	}
	p.expect("odd", object{"how": "fine"}, "ok")
}

func TestOddRPC(t *testing.T) {
	p := open(t, nil, runtimes.Spec{Protocol: "go-plugin"})
	oddly(t, p, "exit 3", true, `plugin "tested"`, "ended without an answer", "exit status 3", "first line\nout of cheese")
	p.reopen(runtimes.Spec{Protocol: "go-plugin"})
	oddly(t, p, "kill", true, "ended without an answer")
	p.reopen(runtimes.Spec{Protocol: "go-plugin"})
	oddly(t, p, "panic", true, `the handler of tool "odd" panicked: on purpose`)
	oddly(t, p, "stdout", false, "ok")
	oddly(t, p, "flood", false, "ok")
	oddly(t, p, "log", false, "ok")
	oddly(t, p, "many logs", false, "ok")
	oddly(t, p, "fork", false, "ok")
	oddly(t, p, "no JSON", true, "no JSON")
	text, failed := p.call("large", object{"bytes": 5 << 20})
	if !failed || !strings.Contains(text, "more than 4194304 bytes") || !strings.Contains(text, "1048576") {
		t.Errorf("a result of 5 MiB: failed %v, %.200q", failed, text)
	}
	for _, want := range []string{`msg="the handler panicked"`, "programs_test.go:", "said on stdout", "said on stderr", `msg=logged`, "from.a=1", "from.g.b=two"} {
		if !strings.Contains(p.log.String(), want) {
			t.Errorf("the log does not say %q", want)
		}
	}
	if err := p.instance.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.log.String(), "lines were left out") {
		t.Error("the log does not say that lines were left out")
	}
}

func TestOddMCP(t *testing.T) {
	spec := runtimes.Spec{Protocol: "mcp", Command: []string{self(t), "mcp", "noisy"}}
	p := open(t, nil, spec)
	for _, how := range []string{"junk", "glued", "twice", "other id", "much junk", "log"} {
		oddly(t, p, how, false, "ok")
	}
	oddly(t, p, "rpc error", true, "bad arguments")
	oddly(t, p, "no result", true, "what is no result")
	oddly(t, p, "input", true, "input_required")
	oddly(t, p, "structured", false, `{"b":1}`)
	oddly(t, p, "ask", false, `{"id":"s1","jsonrpc":"2.0","result":{}}`)
	oddly(t, p, "roots", false, "-32601")
	oddly(t, p, "sample", false, "permission") // the manifest does not ask for a model
	for _, want := range []string{"Starting server", "a log line in JSON", "hello", "half a line", "an answer to nothing", "logged", "tools have changed"} {
		if !strings.Contains(p.log.String(), want) {
			t.Errorf("the log does not say %q", want)
		}
	}
	for _, c := range []struct {
		how  string
		want []string
	}{
		{"exit 3", []string{"ended without an answer", "exit status 3", "first line\nout of cheese"}},
		{"kill", []string{"ended without an answer"}},
		{"too much junk", []string{"more than 1000 lines", "no messages"}},
		{"long line", []string{"more than 4194304 bytes", "1048576"}},
		{"flood", []string{"more than 1000 lines"}},
		{"blank lines", []string{"more than 1000 lines"}},
		{"asks without end", []string{"more than 1000 lines"}},
		{"close stdout", []string{"closed its stdout without an answer"}},
	} {
		oddly(t, p, c.how, true, c.want...)
		p.reopen(spec) // crashes in a row are waited for
	}
	r, err := p.host.Call(t.Context(), &host.Call{Tool: "odd", Args: json.RawMessage(`{"how":"verbatim"}`)})
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(r.Content)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"type":"text","text":"a","annotations":{"audience":["user"]},"extra":1},{"type":"resource_link","uri":"file:///x","name":"x"},{"type":"text","text":"{\"type\":\"new\",\"x\":1}"}]`
	if string(content) != want || string(r.Structured) != `{"b":1.50}` || string(r.Meta) != `{"k":"v"}` {
		t.Errorf("got %s %s %s", content, r.Structured, r.Meta)
	}
}

// Servers that do not come so far as to serve.
func TestServersThatDoNotStart(t *testing.T) {
	sh := func(script string) []string { return []string{"/bin/sh", "-c", script} }
	for _, c := range []struct {
		name, protocol string
		command        []string
		want           []string
	}{
		{"ends", "go-plugin", sh("echo sorry >&2; exit 7"), []string{"ended before it served (exit status 7)", "sorry"}},
		{"junk, then ends", "go-plugin", sh("echo hello; exit 0"), []string{"ended before it served (exit status 0)"}},
		{"too much junk", "go-plugin", sh("while true; do echo hello; done"), []string{"more than 100 lines"}},
		{"another version", "go-plugin", sh("echo '1|9|unix|/tmp/x|grpc'; sleep 9"), []string{"does not serve as it should", "version"}},
		{"another core", "go-plugin", sh("echo '2|1|unix|/tmp/x|grpc'; sleep 9"), []string{"does not serve as it should"}},
		{"net/rpc", "go-plugin", sh(`echo "1|1|unix|$PLUGIN_UNIX_SOCKET_DIR/x|netrpc"; sleep 9`), []string{"does not serve as it should"}},
		{"a strange socket", "go-plugin", sh("echo '1|1|unix|/run/docker.sock|grpc'; sleep 9"), []string{"PLUGIN_UNIX_SOCKET_DIR"}},
		{"a port", "go-plugin", sh("echo '1|1|tcp|10.0.0.1:22|grpc'; sleep 9"), []string{"PLUGIN_UNIX_SOCKET_DIR"}},
		{"no socket", "go-plugin", sh(`echo "1|1|unix|$PLUGIN_UNIX_SOCKET_DIR/x|grpc"; sleep 9`), []string{`plugin "tested"`}},
		{"a file", "go-plugin", sh(`echo > $PLUGIN_UNIX_SOCKET_DIR/x; echo "1|1|unix|$PLUGIN_UNIX_SOCKET_DIR/x|grpc"; sleep 9`), []string{`plugin "tested"`}},
		{"a link", "go-plugin", sh(`ln -s /run/x $PLUGIN_UNIX_SOCKET_DIR/x; echo "1|1|unix|$PLUGIN_UNIX_SOCKET_DIR/x|grpc"; sleep 9`), []string{`plugin "tested"`}},
		{"ends", "mcp", []string{self(t), "mcp", "exit"}, []string{"ended without an answer (exit status 2)", "no configuration"}},
		{"an old revision", "mcp", []string{self(t), "mcp", "old"}, []string{`the revision "1999-01-01" of MCP`, "2025-11-25"}},
		{"no revision", "mcp", sh(`echo confused >&2; read x; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; sleep 9`), []string{`answers "initialize" without a protocolVersion, so it is no MCP server`, "confused"}},
		{"no server", "mcp", []string{"/bin/cat"}, []string{`plugin "tested"`}},
	} {
		t.Run(c.protocol+", "+c.name, func(t *testing.T) {
			p := open(t, nil, runtimes.Spec{Protocol: c.protocol, Command: c.command})
			p.timeout = 5 * time.Second
			p.offer(runtimes.Spec{Plugin: "tested", Tools: []runtimes.Tool{{ID: "text"}}})
			text, failed := p.call("text", object{"text": "x"})
			for _, want := range c.want {
				if !failed || !strings.Contains(text, want) {
					t.Errorf("failed %v, got %.400q, want %q", failed, text, want)
				}
			}
		})
	}
}

// What never answers is ended at the deadline of the call that has started it, or soon after.
func TestServersThatAreSilent(t *testing.T) {
	for protocol, command := range map[string][]string{"go-plugin": {"/bin/sleep", "86400"}, "mcp": {self(t), "mcp", "silent"}} {
		p := open(t, nil, runtimes.Spec{Protocol: protocol, Command: command})
		p.timeout = 300 * time.Millisecond
		p.offer(runtimes.Spec{Plugin: "tested", Tools: []runtimes.Tool{{ID: "text"}}})
		began := time.Now()
		text, failed := p.call("text", object{"text": "x"})
		if !failed || !strings.Contains(text, "timed out") || time.Since(began) > 3*time.Second {
			t.Errorf("%s: after %s: %q", protocol, time.Since(began), text)
		}
	}
}

// Programs that hang are found out, and the next call has another one.
func TestServersThatHang(t *testing.T) {
	for _, protocol := range []string{"go-plugin", "mcp"} {
		// In a namespace of its own a process cannot stop itself.
		p := open(t, &process.Options{Supervise: true}, runtimes.Spec{Protocol: protocol})
		p.expect("count", object{}, "1")
		for _, how := range []string{"silence", "ignore TERM", "stop"} {
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			_, err := p.host.Call(ctx, &host.Call{Tool: "odd", Args: json.RawMessage(`{"how":"` + how + `"}`)})
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s, %s: got %v", protocol, how, err)
			}
			// A call that comes in the same moment may still reach the process.
			if text, failed := p.odd("fine"); failed && !strings.Contains(text, "its process") {
				t.Errorf("%s, %s: %q", protocol, how, text)
			}
			p.expect("odd", object{"how": "fine"}, "ok")
		}
		p.expect("count", object{}, "1") // of a new process: the old one was stopped
	}
}

// A process takes several calls at once, and one that fails takes no other with it.
func TestCallsAtOnce(t *testing.T) {
	for _, protocol := range []string{"go-plugin", "mcp"} {
		p := open(t, nil, runtimes.Spec{Protocol: protocol})
		waiting := make(chan string, 1)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := p.host.Call(ctx, &host.Call{Tool: "wait", Progress: func(m string) { waiting <- m }})
			ended <- err
		}()
		if m := <-waiting; m != "waiting" {
			t.Errorf("%s: progress %q", protocol, m)
		}
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() { p.expect("text", object{"text": fmt.Sprint(i)}, fmt.Sprint(i)) })
		}
		wg.Wait()
		p.expect("count", object{}, "1")
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", protocol, err)
		}
		p.expect("count", object{}, "2")
	}
}

// All calls of a process that dies fail, and the next one is served.
func TestDyingAmidCalls(t *testing.T) {
	for _, protocol := range []string{"go-plugin", "mcp"} {
		p := open(t, nil, runtimes.Spec{Protocol: protocol})
		started := make(chan bool, 100)
		ended := make(chan string, 100)
		const calls = 10
		for range calls {
			go func() {
				r, err := p.host.Call(t.Context(), &host.Call{Tool: "wait", Progress: func(string) { started <- true }})
				if err != nil {
					ended <- err.Error()
					return
				}
				ended <- r.Content[0].Text()
			}()
		}
		for range calls {
			<-started
		}
		p.odd("exit 3")
		for range calls {
			if text := <-ended; !strings.Contains(text, "exit status 3") {
				t.Errorf("%s: %q", protocol, text)
			}
		}
		p.expect("odd", object{"how": "fine"}, "ok")
	}
}

// Of a hundred calls those fail that were in the process which dies, with how it ended; the
// others are served, and so are those of another plugin.
func TestDyingAmidManyCalls(t *testing.T) {
	for _, spec := range []runtimes.Spec{{KeepAlive: true}, {Protocol: "go-plugin"}, {Protocol: "mcp"}} {
		p, neighbour := open(t, nil, spec), open(t, nil, spec)
		const calls = 100
		var served, failed atomic.Int64
		var wg sync.WaitGroup
		for i := range calls {
			if i == calls/2 {
				wg.Go(func() {
					if text, isError := p.odd("exit 3"); !isError || !strings.Contains(text, "exit status 3") {
						t.Errorf("%s: the call that ends its process: %q", spec.Protocol, text)
					}
				})
			}
			wg.Go(func() {
				switch text, isError := p.call("text", object{"text": fmt.Sprint(i)}); {
				case !isError && text == fmt.Sprint(i):
					served.Add(1)
				case isError && strings.Contains(text, `plugin "tested": its process`) && strings.Contains(text, "exit status 3") && strings.Contains(text, "out of cheese"):
					failed.Add(1)
				default:
					t.Errorf("%s: failed %v, %q", spec.Protocol, isError, text)
				}
			})
			wg.Go(func() { neighbour.expect("text", object{"text": fmt.Sprint(i)}, fmt.Sprint(i)) })
		}
		wg.Wait()
		if served.Load() < calls-16 {
			t.Errorf("%s: %d calls were served, %d failed", spec.Protocol, served.Load(), failed.Load())
		}
	}
}

func TestIdleServer(t *testing.T) {
	for _, protocol := range []string{"go-plugin", "mcp"} {
		p := open(t, &process.Options{Idle: 20 * time.Millisecond}, runtimes.Spec{Protocol: protocol})
		deadline := time.Now().Add(20 * time.Second)
		for p.expect("count", object{}, "1"); ; {
			await := make(chan bool)
			time.AfterFunc(100*time.Millisecond, func() { close(await) })
			<-await
			if text, _ := p.call("count", object{}); text == "1" {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: the process goes on", protocol)
			}
		}
	}
}

func TestStateless(t *testing.T) {
	p := open(t, nil, runtimes.Spec{Protocol: "mcp", Command: []string{self(t), "mcp", "stateless"}})
	p.expect("text", object{"text": "served"}, "served")
	p.expect("odd", object{"how": "fine"}, "ok")
}

// A call that names files in its arguments has a process of its own, which may read them
// and no others.
func TestServerWithParameters(t *testing.T) {
	for _, protocol := range []string{"go-plugin", "mcp"} {
		for _, keep := range []bool{false, true} {
			policy := &permissions.Policy{FS: permissions.FSPolicy{Read: permissions.Access{Parameter: true}}}
			p := open(t, nil, runtimes.Spec{Protocol: protocol, KeepAlive: keep, Policy: policy})
			for _, name := range []string{"a.txt", "b.txt"} {
				if err := os.WriteFile(filepath.Join(p.folder, name), []byte("content of "+name), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p.expect("read", object{"marked": "a.txt"}, "content of a.txt")
			p.expect("read", object{"marked": "b.txt"}, "content of b.txt")
			text, failed := p.call("read", object{"path": "/etc/shadow"})
			if !failed {
				t.Errorf("%s: read %q", protocol, text)
			}
			want := map[bool]string{false: "1", true: "2"}[keep]
			p.expect("count", object{}, "1")
			p.expect("count", object{}, want)
		}
	}
}
