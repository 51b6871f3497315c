package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
)

const initialize = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"probe","version":"1"}}}`

// connectSDK connects the SDK's own client, in one of the eras.
func connectSDK(t *testing.T, s *Server, stateless bool) *mcp.ClientSession {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- s.ServeStdio(context.Background(), inR, outW)
		outW.Close()
	}()
	c := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	var o mcp.ClientSessionOptions
	if !stateless {
		o.ProtocolVersion = "2025-11-25"
	}
	session, err := c.Connect(t.Context(), &mcp.IOTransport{Reader: outR, Writer: inW}, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		inW.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return session
}

func eras(t *testing.T, test func(t *testing.T, stateless bool)) {
	t.Run("2025-11-25", func(t *testing.T) { test(t, false) })
	t.Run("2026-07-28", func(t *testing.T) { test(t, true) })
}

// Results are written to by the SDK, so a shared one would be a race here.
func TestParallelCallsOfTheSDKClient(t *testing.T) {
	eras(t, func(t *testing.T, stateless bool) {
		s := New(newHost(t, kit()...), nil)
		defer s.Close()
		session := connectSDK(t, s, stateless)
		var wg sync.WaitGroup
		var agent sync.Map
		for i := range 100 {
			wg.Go(func() {
				for _, tool := range []string{"echo", "structured", "nothing", "fail", "session"} {
					r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"i": i}})
					if err != nil {
						t.Errorf("calling %q: %v", tool, err)
						return
					}
					text := r.Content[0].(*mcp.TextContent).Text
					switch want := fmt.Sprintf(`{"i":%d}`, i); {
					case tool == "echo" && text != want:
						t.Errorf("echo gave %q, not %q", text, want)
					case r.IsError != (tool == "fail"):
						t.Errorf("%s gave isError %v", tool, r.IsError)
					case tool == "session":
						agent.Store(text, true)
					}
				}
			})
		}
		wg.Wait()
		n := 0
		agent.Range(func(id, _ any) bool {
			n++
			if len(id.(string)) < 16 {
				t.Errorf("the agent's id is %q", id)
			}
			return true
		})
		if n != 1 {
			t.Errorf("the calls of one session came from %d agents", n)
		}
	})
}

func TestAllToolsInOnePage(t *testing.T) {
	var tools []*host.Tool
	for i := range 1505 {
		tools = append(tools, toolNamed(fmt.Sprintf("tool_%04d", 1504-i), nil))
		tools[i].Handler = host.HandlerFunc(func(context.Context, *host.Call) (*host.Result, error) { return nil, nil })
	}
	s := New(newHost(t, tools...), nil)
	defer s.Close()
	eras(t, func(t *testing.T, stateless bool) {
		r, err := connectSDK(t, s, stateless).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Tools) != 1505 || r.NextCursor != "" {
			t.Fatalf("%d tools, next page %q", len(r.Tools), r.NextCursor)
		}
		for i, tool := range r.Tools {
			if want := fmt.Sprintf("tool_%04d", i); tool.Name != want {
				t.Fatalf("tool %d is %q, not %q", i, tool.Name, want)
			}
		}
	})
}

func TestOneNotificationForManyChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, kit()...)
		c := newClient(t, h, nil)
		c.send(initialize)
		c.take()
		for i := range 200 {
			register(t, h, fmt.Sprint("owner-", i), toolNamed(fmt.Sprint("added-", i), kit()[0].Handler.(host.HandlerFunc)))
			time.Sleep(500 * time.Microsecond)
		}
		time.Sleep(time.Second)
		if lines := c.take(); len(lines) != 1 || !strings.Contains(lines[0], listChanged) {
			t.Errorf("200 registrations gave %q", lines)
		}
		// A burst that does not end is told of all the same.
		for i := range 200 {
			register(t, h, fmt.Sprint("owner-", i), toolNamed(fmt.Sprint("other-", i), kit()[0].Handler.(host.HandlerFunc)))
			time.Sleep(10 * time.Millisecond)
		}
		if n := len(c.take()); n < 8 || n > 11 {
			t.Errorf("2 s of changes gave %d notifications, not about one each 200 ms", n)
		}
	})
}

// Tools of any kind are there before the client, and a server that was closed follows no more.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, kit()...)
		c := newClient(t, h, nil)
		c.send(initialize)
		synctest.Wait() // the session begins by publishing what is there
		register(t, h, "a", toolNamed("a", kit()[0].Handler.(host.HandlerFunc)))
		c.server.Close()
		register(t, h, "b", toolNamed("b", kit()[0].Handler.(host.HandlerFunc)))
		time.Sleep(time.Second)
		if lines := c.take(); len(lines) != 1 {
			t.Errorf("after Close came %q", lines)
		}
	})
}

// stalled is a client that stops reading: writing to it blocks until it is closed.
type stalled struct {
	bytes.Buffer
	reads  atomic.Int64 // how many bytes the client takes
	closed chan struct{}
}

func (s *stalled) Write(p []byte) (int, error) {
	if s.reads.Add(-int64(len(p))) < 0 {
		<-s.closed
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func (s *stalled) Close() error {
	close(s.closed)
	return nil
}

func TestClientThatStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended, bigs atomic.Int64
		big := strings.Repeat("x", 900<<10)
		tools := append(kit(),
			toolNamed("big", func(context.Context, *host.Call) (*host.Result, error) {
				bigs.Add(1)
				return host.TextResult(big), nil
			}),
			toolNamed("chatty", func(ctx context.Context, c *host.Call) (*host.Result, error) {
				defer ended.Add(1)
				for {
					c.Progress("more")
					select {
					case <-time.After(300 * time.Millisecond):
					case <-ctx.Done():
						return nil, context.Cause(ctx)
					}
				}
			}))
		h := newHost(t, tools...)
		s := New(h, &Options{MaxInFlight: 24})
		defer s.Close()
		in, w := io.Pipe()
		out := &stalled{closed: make(chan struct{})}
		out.reads.Store(64 << 10)
		ctx, cancel := context.WithCancel(context.Background())
		served := make(chan error, 1)
		go func() { served <- s.ServeStdio(ctx, in, out) }()

		// The client asks on and on for big answers: more often than even the short ones that
		// refuse what is too much would fit into the backlog.
		written := make(chan struct{})
		go func() {
			defer close(written)
			fmt.Fprintln(w, initialize)
			for i := range 20 {
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":"c%d","method":"tools/call","params":{"name":"chatty","_meta":{"progressToken":%d}}}`+"\n", i, i)
			}
			for i := range 200_000 {
				if _, err := fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"big"}}`+"\n", i); err != nil {
					return
				}
			}
		}()
		time.Sleep(time.Minute)
		// The host is free: the calls have ended at their deadline of 30 s, and it takes others.
		if n := ended.Load(); n != 20 {
			t.Errorf("%d of 20 calls ended at their deadline", n)
		}
		if _, err := h.Call(t.Context(), &host.Call{Tool: "echo"}); err != nil {
			t.Error(err)
		}
		if n := bigs.Load(); n > 16+24+2 {
			t.Errorf("%d results of 1 MB were made for a client that does not read", n)
		}
		select {
		case <-written:
			t.Error("the server reads on from a client that does not read")
		default:
		}
		start := time.Now()
		cancel()
		if err := <-served; err == nil || !strings.Contains(err.Error(), "writing to the client") {
			t.Errorf("the session ended with %v", err)
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("the session took %s to end", took)
		}
		in.Close()
		<-written
	})
}

// A client that reads late gets everything, in order.
func TestClientThatReadsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := strings.Repeat("é<", 250<<10)
		h := newHost(t, toolNamed("big", func(_ context.Context, c *host.Call) (*host.Result, error) {
			c.Progress("first")
			c.Progress("last")
			return host.TextResult(big), nil
		}))
		s := New(h, nil)
		defer s.Close()
		in, w := io.Pipe()
		outR, outW := io.Pipe()
		served := make(chan error, 1)
		go func() {
			served <- s.ServeStdio(context.Background(), in, outW)
			outW.Close()
		}()
		go func() {
			fmt.Fprintln(w, initialize)
			for i := range 30 {
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"big","_meta":{"progressToken":%d}}}`+"\n", i, i)
			}
			w.Close()
		}()
		time.Sleep(time.Second)
		progress, answered := map[any]float64{}, map[any]bool{}
		dec := json.NewDecoder(outR)
		for {
			var m struct {
				ID     any
				Method string
				Params struct {
					ProgressToken any
					Progress      float64
					Message       string
				}
				Result struct {
					Content []struct{ Text string }
				}
			}
			if err := dec.Decode(&m); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			switch token := m.Params.ProgressToken; {
			case m.Method != "":
				if m.Params.Progress <= progress[token] || answered[token] {
					t.Errorf("call %v: progress %v after %v, answered %v", token, m.Params.Progress, progress[token], answered[token])
				}
				progress[token] = m.Params.Progress
			case m.ID != "init":
				answered[m.ID] = true
				if len(m.Result.Content) != 1 || m.Result.Content[0].Text != big {
					t.Errorf("call %v: not the text", m.ID)
				}
			}
		}
		if len(answered) != 30 || len(progress) != 30 {
			t.Errorf("%d calls answered, %d with progress", len(answered), len(progress))
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestWriteErrorEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancelled := make(chan struct{})
		h := newHost(t, toolNamed("wait", func(ctx context.Context, _ *host.Call) (*host.Result, error) {
			<-ctx.Done()
			close(cancelled)
			return nil, ctx.Err()
		}))
		s := New(h, nil)
		defer s.Close()
		in, w := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- s.ServeStdio(context.Background(), in, brokenWriter{}) }()
		fmt.Fprintln(w, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
		synctest.Wait()
		fmt.Fprintln(w, `nonsense`)
		if err := <-served; err == nil || err.Error() != "writing to the client: no space" {
			t.Errorf("the session ended with %v", err)
		}
		<-cancelled
	})
}

// What was asked before the input broke is answered.
func TestReadErrorEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(newHost(t, kit()...), nil)
		defer s.Close()
		in := io.MultiReader(
			strings.NewReader(initialize+"\n"+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"ms":300}}}`+"\n"),
			iotest.ErrReader(errors.New("bad cable")))
		var out bytes.Buffer
		err := s.ServeStdio(t.Context(), in, &out)
		if err == nil || err.Error() != "reading from the client: bad cable" {
			t.Errorf("the session ended with %v", err)
		}
		if !strings.Contains(out.String(), `"id":1,"result":{"content":[{"type":"text","text":"done"}]}`) {
			t.Errorf("the running call was not answered: %s", out.String())
		}
	})
}

// At the end of the context a pipe of the operating system is let go of, though it is
// neither written to nor closed.
func TestStopWithPipe(t *testing.T) {
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer in.Close()
	s := New(newHost(t), nil)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.ServeStdio(ctx, in, io.Discard); err != nil {
		t.Error(err)
	}
}

func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, newHost(t, kit()...), &Options{MaxInFlight: 2})
		c.send(initialize)
		c.take()
		const calls = 2 + maxWaiting + 3
		for i := range calls {
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"slow","arguments":{"ms":10}}}`, i))
		}
		busy := 0
		for _, line := range c.take() {
			if !strings.Contains(line, `"the tool host is busy: 2 calls run and 1024 wait; call again later"`) || !strings.Contains(line, `"isError":true`) {
				t.Errorf("unexpected %s", line)
			}
			busy++
		}
		if busy != 3 {
			t.Errorf("%d calls were refused, not 3", busy)
		}
		time.Sleep(time.Minute)
		if n := len(c.take()); n != calls-busy {
			t.Errorf("%d calls were answered, not %d", n, calls-busy)
		}
	})
}

// customParams and customResult are of a method that an embedding program adds.
type customParams struct{ mcp.ParamsBase }
type customResult struct{ mcp.ResultBase }

func TestCustomMethodsCannotEndTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		c := newClient(t, newHost(t, kit()...), &Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		methods := map[string]func() *customResult{
			"x/panic":   func() *customResult { panic("on purpose") },
			"x/nothing": func() *customResult { return nil },
		}
		for name, f := range methods {
			err := mcp.AddReceivingCustomMethod(c.server.MCP(), name,
				func(context.Context, *mcp.ServerSession, *customParams) (*customResult, error) { return f(), nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		c.send(initialize)
		c.take()
		for name := range methods {
			for _, params := range []string{`{}`, `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`} {
				c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, name, params))
				lines := c.take()
				if len(lines) != 1 || !strings.Contains(lines[0], `"code":-32603,"message":"internal error in the tool host; its log says more"`) {
					t.Errorf("%s gave %q", name, lines)
				}
			}
		}
		for _, want := range []string{"on purpose", "gave no result"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log does not say %q:\n%s", want, log.String())
			}
		}
		if strings.Contains(log.String(), "level=INFO") {
			t.Errorf("the SDK's chatter is in the log:\n%s", log.String())
		}
	})
}

// TestPublish makes the list before the first load is said to be done.
func TestPublish(t *testing.T) {
	h := newHost(t, kit()...)
	s := New(h, &Options{Ready: make(chan struct{})})
	defer s.Close()
	if len(s.listed) > 0 {
		t.Error("a list was made before anybody asked")
	}
	s.Publish()
	offered := 0
	for _, r := range h.Tools() {
		if r.Enabled {
			offered++
		}
	}
	if offered == 0 || len(s.listed) != offered || s.isReady() {
		t.Errorf("%d tools are listed of %d", len(s.listed), offered)
	}
}

// The SDK panics over schemas that it does not like.
func TestToolThatTheSDKRefuses(t *testing.T) {
	s := New(newHost(t), nil)
	defer s.Close()
	if err := s.add(&definition{tool: &host.Tool{Name: "x"}, input: json.RawMessage(`{"type":"array","title":"x-mcp-header"}`)}); err == nil {
		t.Error("the SDK takes a schema of type array: add cannot be tested with it")
	}
	if err := s.add(&definition{tool: &host.Tool{Name: "x"}, input: json.RawMessage(`{\u`)}); err == nil {
		t.Error("the SDK takes a schema that is no JSON")
	}
	for _, header := range []string{"x-mcp-header", "X-MCP-Header", `x\u002dmcp-header`} { // it has its say on what clients send as headers
		input := fmt.Appendf(nil, `{"type":"object","properties":{"a":{"type":"array","%s":"A"}}}`, header)
		err := s.add(&definition{tool: &host.Tool{Name: "x"}, input: input})
		if tool := (&mcp.Tool{Name: "x", InputSchema: json.RawMessage(input)}); (err == nil) != taken(tool) {
			t.Errorf("%s: the SDK has not seen it: %v", header, err)
		}
	}
}

// taken reports whether the SDK takes a tool.
func taken(tool *mcp.Tool) (ok bool) {
	defer func() { _ = recover() }()
	mcp.NewServer(&mcp.Implementation{Name: "x"}, nil).AddTool(tool, nil)
	return true
}

// What waits for an answer may not fill the memory.
func TestPendingRequestsAreBounded(t *testing.T) {
	c := newLineConn(t.Context(), nil, nil, nil)
	padding := strings.Repeat(" ", 10<<20)
	request := func(id int) []byte { return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"x"}%s`, id, padding) }
	for i := range 7 {
		if c.isFull() {
			t.Fatalf("%d requests of 10 MiB are too many already", i)
		}
		if msg, _ := c.accept(request(i), nil); msg == nil {
			t.Fatal("the request was not accepted")
		}
	}
	if !c.isFull() {
		t.Error("7 requests of 10 MiB are not too many")
	}
	for i := range 7 {
		id, _ := parseID(fmt.Append(nil, i))
		if _, err := c.answer(id, nil); err != nil {
			t.Fatal(err)
		}
	}
	if c.held != 0 || len(c.pending) != 0 {
		t.Errorf("after all answers %d bytes in %d requests are held", c.held, len(c.pending))
	}
}

func TestMetaThatIsNoObject(t *testing.T) {
	s := New(newHost(t), nil)
	defer s.Close()
	r := host.TextResult("x")
	r.Meta = json.RawMessage(`[1]`)
	result, err := s.convert(t.Context(), &toolCall{name: "x"}, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(result)
	if want := `{"content":[{"type":"text","text":"x"}]}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}
