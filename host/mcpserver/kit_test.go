package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/host"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func toolNamed(name string, handle host.HandlerFunc) *host.Tool {
	return &host.Tool{
		Name:        name,
		Description: "The tool " + name + " of a test.",
		InputSchema: json.RawMessage(`{"type":"object"}`),
		Handler:     handle,
	}
}

func yes() *bool { b := true; return &b }

// kit are the tools of the tests.
func kit() []*host.Tool {
	tools := []*host.Tool{
		toolNamed("echo", func(_ context.Context, c *host.Call) (*host.Result, error) {
			return host.TextResult(string(c.Args)), nil
		}),
		toolNamed("value", func(_ context.Context, c *host.Call) (*host.Result, error) {
			var args struct{ V json.RawMessage }
			err := json.Unmarshal(c.Args, &args)
			return host.ValueResult(args.V), err
		}),
		toolNamed("fail", func(context.Context, *host.Call) (*host.Result, error) { return nil, errors.New("it is broken") }),
		toolNamed("panic", func(context.Context, *host.Call) (*host.Result, error) { panic("on purpose") }),
		toolNamed("nothing", func(context.Context, *host.Call) (*host.Result, error) { return nil, nil }),
		toolNamed("agent", func(_ context.Context, c *host.Call) (*host.Result, error) {
			return host.TextResult(c.Agent.Name), nil
		}),
		toolNamed("session", func(_ context.Context, c *host.Call) (*host.Result, error) {
			return host.TextResult(c.Agent.ID), nil
		}),
		toolNamed("structured", func(context.Context, *host.Call) (*host.Result, error) {
			r := host.TextResult("text")
			r.Structured = json.RawMessage(`{"n":12345678901234567890}`)
			r.Meta = json.RawMessage(`{"x/n":12345678901234567890,"io.modelcontextprotocol/serverInfo":"me"}`)
			return r, nil
		}),
		toolNamed("malformed", func(context.Context, *host.Call) (*host.Result, error) {
			r := host.TextResult("text")
			r.Structured = json.RawMessage(`{"n":`)
			return r, nil
		}),
		toolNamed("unsound", func(context.Context, *host.Call) (*host.Result, error) {
			r := host.TextResult("text")
			r.Structured = json.RawMessage("{\"lone\":\"\\ud800\",\"pair\":\"\\ud83d\\ude00\",\"escaped\":\"\\\\ud800\",\"bytes\":\"\xff\"}")
			return r, nil
		}),
		toolNamed("slow", func(ctx context.Context, c *host.Call) (*host.Result, error) {
			var args struct{ Ms int }
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return nil, err
			}
			select {
			case <-time.After(time.Duration(args.Ms) * time.Millisecond):
				return host.TextResult("done"), nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}),
		toolNamed("tell", func(ctx context.Context, c *host.Call) (*host.Result, error) {
			LogToClient(ctx, "info", "tell", map[string]int{"n": 1})
			return host.TextResult("told"), nil
		}),
		// says steps messages, every ms milliseconds one.
		toolNamed("talk", func(ctx context.Context, c *host.Call) (*host.Result, error) {
			var args struct{ Steps, Ms int }
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return nil, err
			}
			for i := range args.Steps {
				c.Progress(fmt.Sprint("step ", i+1))
				select {
				case <-time.After(time.Duration(args.Ms) * time.Millisecond):
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				}
			}
			late := c.Progress
			time.AfterFunc(50*time.Millisecond, func() { late("too late") })
			return host.TextResult("done"), nil
		}),
	}
	echo := tools[0]
	echo.Title = "Echo"
	echo.Annotations = &host.Annotations{ReadOnlyHint: yes(), OpenWorldHint: new(bool)}
	structured := tools[7]
	structured.Annotations = &host.Annotations{}
	return tools
}

func newHost(t testing.TB, tools ...*host.Tool) *host.Host {
	t.Helper()
	h := host.New(nil)
	register(t, h, "kit", tools...)
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

func register(t testing.TB, h *host.Host, owner string, tools ...*host.Tool) {
	t.Helper()
	if _, err := h.Replace(owner, host.Plugin, tools); err != nil {
		t.Fatal(err)
	}
}

// client is the other end of a session, byte by byte. It must be made inside the
// bubble of a synctest.
type client struct {
	t      testing.TB
	server *Server
	in     *io.PipeWriter
	cancel context.CancelFunc
	served chan error

	mu    sync.Mutex
	lines []string
}

func newClient(t testing.TB, h *host.Host, o *Options) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	c := &client{t: t, server: New(h, o), in: inW, cancel: cancel, served: make(chan error, 1)}
	go func() {
		c.served <- c.server.ServeStdio(ctx, inR, outW)
		outW.Close()
	}()
	go func() {
		r := bufio.NewReader(outR)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				if line != "" {
					t.Errorf("half a line at the end: %.200q", line)
				}
				return
			}
			c.mu.Lock()
			c.lines = append(c.lines, line)
			c.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		cancel()
		inW.Close()
		c.server.Close()
	})
	return c
}

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatalf("sending %.100q: %v", line, err)
	}
}

// take gives what has come, once nothing is going on any more.
func (c *client) take() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := c.lines
	c.lines = nil
	return lines
}

// sound checks what must hold of every line on the wire.
func sound(t testing.TB, line string) map[string]any {
	t.Helper()
	var m map[string]any
	switch err := json.Unmarshal([]byte(line), &m); {
	case err != nil:
		t.Errorf("a line that is no JSON object: %v: %.200q", err, line)
	case !utf8.ValidString(line):
		t.Errorf("a line that is not UTF-8: %.200q", line)
	case m["jsonrpc"] != "2.0":
		t.Errorf("a line that is no JSON-RPC message: %.200q", line)
	case strings.Contains(line[:len(line)-1], "\n"):
		t.Errorf("two lines in one: %.200q", line)
	}
	return m
}

// ended waits for the end of the session, in fake time.
func (c *client) ended() error {
	c.t.Helper()
	select {
	case err := <-c.served:
		return err
	case <-time.After(time.Minute):
		c.t.Fatal("the session does not end")
		return nil
	}
}
