package mounted

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/internal/jsondoc"
)

func TestMain(m *testing.M) {
	child.Main()
	if len(os.Args) > 2 && os.Args[1] == "serve" {
		serve(os.Args[2])
		return
	}
	goleak.VerifyTestMain(m)
}

// exactly is what must not lose a digit on its way.
const exactly = `{"big":9007199254740993,"more":-123456789012345678901234567890,"small":0.1000000000000000055511151231257827,"e":1e400,"one":1.0,"list":[18446744073709551615],"line":"a\u003cb\u2028"}`

// newServer makes the MCP server of the tests.
func newServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	add := func(name, schema string, handle mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, Description: "Tool " + name, InputSchema: json.RawMessage(schema)}, handle)
	}
	text := func(text string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	}
	add("echo", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if token := r.Params.GetProgressToken(); token != nil {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Message: "on it"})
		}
		var asked struct{ Text string }
		if json.Unmarshal(r.Params.Arguments, &asked) == nil && filepath.IsAbs(asked.Text) {
			pipe, err := os.Open(asked.Text) // waits until the message has come: one right before the result may be lost
			if err != nil {
				return nil, err
			}
			_ = pipe.Close()
		}
		return text(string(r.Params.Arguments)), nil
	})
	add("fails", `{"type":"object"}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r := text("it is broken")
		r.IsError = true
		return r, nil
	})
	add("tells", `{"type":"object"}`, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for n := range 3 {
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(n + 1), Total: 3}); err != nil {
				return nil, err
			}
		}
		return text("told"), nil
	})
	add("refuses", `{"type":"object"}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: -32000, Message: "not today"}
	})
	add("hangs", `{"type":"object"}`, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("dies", `{"type":"object"}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "last words")
		os.Exit(3)
		return nil, nil
	})
	add("grows", `{"type":"object"}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddTool(&mcp.Tool{Name: "grown", Description: "New.", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text("I am new"), nil
		})
		return text("done"), nil
	})
	add("env", `{"type":"object"}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(os.Getenv("MOUNTED_TEST")), nil
	})
	add("bad.name with space", `{"type":"object"}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text("called"), nil
	})
	add("exact", `{"type":"object"}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result := text("exactly")
		result.StructuredContent = json.RawMessage(exactly)
		result.Meta = mcp.Meta{"m": json.RawMessage(exactly)}
		return result, nil
	})
	s.AddTool(&mcp.Tool{Name: "typed", Description: "Gives a number.", InputSchema: json.RawMessage(`{"type":"object"}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			result := text("a number")
			result.StructuredContent = json.RawMessage(`{"n":9007199254740991}`)
			if string(r.Params.Arguments) != "{}" {
				result.StructuredContent = json.RawMessage(`{"n":"none"}`)
			}
			return result, nil
		})
	add("bad schema", `{"type":"object","properties":{"a":{"type":"wrong"}}}`, nil)
	return s
}

// serve is the server program, which does well or ill.
func serve(how string) {
	switch how {
	case "well":
		fmt.Println("Starting server…")
		_ = newServer().Run(context.Background(), &mcp.StdioTransport{})
	case "meta":
		s := newServer()
		s.AddTool(&mcp.Tool{Name: "meta", Description: "Gives its _meta.", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(jsondoc.Marshal(r.Params.Meta))}}}, nil
		})
		_ = s.Run(context.Background(), &mcp.StdioTransport{})
	case "asks":
		s := newServer()
		s.AddTool(&mcp.Tool{Name: "asks", Description: "Asks often.", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for range 2 * maxAsked {
				if err := r.Session.Ping(ctx, nil); err != nil {
					return nil, err
				}
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		})
		_ = s.Run(context.Background(), &mcp.StdioTransport{})
	case "ends":
		fmt.Fprintln(os.Stderr, "no licence")
		os.Exit(2)
	case "floods":
		w := bufio.NewWriter(os.Stdout)
		for {
			if _, err := fmt.Fprintln(w, "junk"); err != nil {
				return
			}
		}
	case "long":
		w := bufio.NewWriter(os.Stdout)
		for range maxLine + 1<<20 {
			_ = w.WriteByte('x')
		}
		_ = w.Flush()
		<-make(chan int)
	case "silent":
		buf := make([]byte, 1000)
		for {
			if _, err := os.Stdin.Read(buf); err != nil {
				return
			}
		}
	case "twice":
		answerAll(func(method, cursor string) string {
			const tool = `"tools":[{"name":"same","inputSchema":{"type":"object"}}]`
			switch {
			case method == "initialize":
				return `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`
			case method != "tools/list":
				return `"error":{"code":-32601,"message":"no such method"}`
			case cursor == "":
				return `"result":{` + tool + `,"nextCursor":"2"}`
			}
			return `"result":{` + tool + `}`
		})
	case "nonsense":
		answerAll(func(string, string) string { return `"result":[1,2,null]` })
	}
}

// answerAll answers each request with what answer gives, without the SDK.
func answerAll(answer func(method, cursor string) string) {
	r := bufio.NewReader(os.Stdin)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Cursor string }
		}
		if json.Unmarshal(line, &m) == nil && m.ID != nil {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, answer(m.Method, m.Params.Cursor))
		}
	}
}

func serving(how string) Config {
	return Config{Command: os.Args[0], Args: []string{"serve", how}, Env: map[string]string{"MOUNTED_TEST": "from ${MOUNTED_NAME:-the configuration}"}}
}

// mount mounts servers on a new host.
func mount(t *testing.T, configs map[string]Config) (*host.Host, *Servers) {
	t.Helper()
	h := host.New(&host.Options{Folder: t.TempDir()})
	s, err := New(h, configs, &Options{Folder: t.TempDir(), Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		_ = h.Close(context.Background())
		s.Close()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s.Await(ctx)
	return h, s
}

func call(t *testing.T, h *host.Host, tool, args string) string {
	t.Helper()
	r, err := h.Call(t.Context(), &host.Call{Tool: tool, Args: json.RawMessage(args)})
	if err != nil {
		return "error: " + err.Error()
	}
	text := r.Content[0].Text()
	if r.IsError {
		text = "failed: " + text
	}
	return text
}

func exercise(t *testing.T, h *host.Host, s *Servers) {
	t.Helper()
	if st := s.Status(); len(st) != 1 || st[0].State != "ready" || st[0].Tools != 11 || !strings.Contains(st[0].Err, `"bad schema" is left out`) {
		t.Fatalf("status: %+v", st)
	}
	for _, c := range []struct{ tool, args, want string }{
		{"srv__echo", `{"text":"hi"}`, `{"text":"hi"}`},
		{"srv__echo", `{"text":"hi","n":9007199254740993}`, `{"text":"hi","n":9007199254740993}`},
		{"srv__echo", `{}`, "failed: Invalid arguments"},
		{"srv__fails", `{}`, "failed: it is broken"},
		{"srv__refuses", `{}`, `failed: the MCP server "srv": it answers with an error: not today`},
		{"srv__bad_name_with_space", `{}`, "called"},
		{"srv__typed", `{"n":"none"}`, "failed: The result of tool \"srv__typed\" does not fit its outputSchema"},
	} {
		if got := call(t, h, c.tool, c.args); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s gave %q, want %q", c.tool, got, c.want)
		}
	}
	for range 10 { // the last of it comes before the result
		var said []string
		r, err := h.Call(t.Context(), &host.Call{Tool: "srv__tells", Progress: func(message string) { said = append(said, message) }})
		if err != nil || r.IsError || len(said) == 0 || said[len(said)-1] != "3 of 3" {
			t.Fatalf("progress %q, %v, %v", said, r, err)
		}
	}
	typed, err := h.Call(t.Context(), &host.Call{Tool: "srv__typed"})
	if tool, _ := h.Tool("srv__typed"); err != nil || typed.IsError || string(typed.Structured) != `{"n":9007199254740991}` || tool.OutputSchema == nil {
		t.Errorf("typed gave %s, %v; its schema is %s", typed.Structured, err, tool.OutputSchema)
	}
	exact, err := h.Call(t.Context(), &host.Call{Tool: "srv__exact"})
	if err != nil || string(exact.Structured) != exactly || !strings.Contains(string(exact.Meta), `"m":`+exactly) || exact.Content[0].Text() != "exactly" {
		t.Errorf("numbers come as %s, in _meta %s, %q, %v", exact.Structured, exact.Meta, exact.Content[0].Text(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := h.Call(ctx, &host.Call{Tool: "srv__hangs"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call gave %v", err)
	}
	grown := make(chan struct{}, 10)
	defer h.Observe(observer(func(e host.Event) {
		if e.Kind == host.ToolsChanged {
			grown <- struct{}{}
		}
	}))()
	if got := call(t, h, "srv__grows", `{}`); got != "done" {
		t.Errorf("grows gave %q", got)
	}
	select {
	case <-grown:
	case <-time.After(20 * time.Second):
		t.Fatal("a new tool is not seen")
	}
	if got := call(t, h, "srv__grown", `{}`); got != "I am new" {
		t.Errorf("the new tool gave %q", got)
	}
}

type observer func(host.Event)

func (f observer) Observe(e host.Event) { f(e) }

func TestProgram(t *testing.T) {
	h, s := mount(t, map[string]Config{"srv": serving("well")})
	if got := call(t, h, "srv__env", `{}`); got != "from the configuration" {
		t.Errorf("the environment has %q", got)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	var said []string
	hear := func(message string) {
		said = append(said, message)
		w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		_ = w.Close()
	}
	if r, err := h.Call(t.Context(), &host.Call{Tool: "srv__echo", Args: jsondoc.Marshal(map[string]string{"text": pipe}), Progress: hear}); err != nil || r.IsError || !slices.Equal(said, []string{"on it"}) {
		t.Errorf("progress %q, %v, %v", said, r, err)
	}
	exercise(t, h, s)
	// Its death fails the call, and all that come after it until it is there again.
	if got, want := call(t, h, "srv__dies", `{}`), `failed: the MCP server "srv" is not there: exit status 3; it is started again in a moment`; got != want {
		t.Errorf("a call in which the server dies gave %q, want %q", got, want)
	}
	if st := s.Status()[0]; st.State == "failed" && !strings.Contains(st.Err, "it said last: last words") {
		t.Errorf("status %+v", st) // the user is told more than the agents, of which any may have brought those words
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		got := call(t, h, "srv__echo", `{"text":"again"}`)
		if got == `{"text":"again"}` {
			break
		}
		if !strings.Contains(got, `the MCP server "srv" is not there: exit status 3`) || time.Now().After(deadline) {
			t.Fatalf("while it is away: %q", got)
		}
	}
}

func TestHTTP(t *testing.T) {
	server := newServer()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		web.Close()
		for session := range server.Sessions() {
			_ = session.Close() // one whose client's farewell did not arrive
		}
	})
	t.Setenv("MOUNTED_TOKEN", "secret")
	h, s := mount(t, map[string]Config{"srv": {Type: "http", URL: web.URL, Headers: map[string]string{"Authorization": "Bearer ${MOUNTED_TOKEN}"}}})
	exercise(t, h, s)
	t.Cleanup(web.CloseClientConnections)
}

// A server that breaks off an answer fails that call, at once and no other.
func TestAnswerBrokenOff(t *testing.T) {
	server := newServer()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if bytes.Contains(body, []byte(`"hangs"`)) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte(": \n\n"))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		web.Close()
		for session := range server.Sessions() {
			_ = session.Close() // one whose client's farewell did not arrive
		}
	})
	h, _ := mount(t, map[string]Config{"srv": {URL: web.URL}})
	began := time.Now()
	if got := call(t, h, "srv__hangs", `{}`); !strings.HasPrefix(got, `failed: the MCP server "srv": `) || strings.Contains(got, "calling") {
		t.Errorf("the call gave %q", got)
	}
	if took := time.Since(began); took > endGrace {
		t.Errorf("it took %s", took)
	}
	if got := call(t, h, "srv__echo", `{"text":"hi"}`); got != `{"text":"hi"}` {
		t.Errorf("the next call gave %q", got)
	}
	t.Cleanup(web.CloseClientConnections)
}

// What is said to one server, and its secrets, does not go where it redirects to.
func TestRedirect(t *testing.T) {
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer web.Close()
	_, s := mount(t, map[string]Config{"srv": {URL: web.URL, Headers: map[string]string{"X-Key": "secret"}}})
	if st := s.Status()[0]; st.State != "failed" || !strings.Contains(st.Err, "it redirects to "+other.URL) {
		t.Errorf("status %+v", st)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
	// Within one server they are followed.
	server := newServer()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusTemporaryRedirect)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { // once the client, which mount ends, has left
		moved.Close()
		for session := range server.Sessions() {
			_ = session.Close() // one whose client's farewell did not arrive
		}
	})
	_, s = mount(t, map[string]Config{"srv": {URL: moved.URL + "/old"}})
	if st := s.Status()[0]; st.State != "ready" {
		t.Errorf("status %+v", st)
	}
	t.Cleanup(moved.CloseClientConnections)
}

// A server's tools have its name, where that can be, whatever others are called.
func TestPrefixes(t *testing.T) {
	off := Config{Disabled: true}
	s, err := New(host.New(nil), map[string]Config{"a.b": off, "a_b": off, "a b": off, "a_b_2": off, "c": off}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, one := range s.all {
		got[one.name] = one.prefix
	}
	want := map[string]string{"a b": "a_b_3", "a.b": "a_b_4", "a_b": "a_b", "a_b_2": "a_b_2", "c": "c"}
	if !maps.Equal(got, want) {
		t.Errorf("prefixes %v, want %v", got, want)
	}
}

// Two tools of one name are one, whichever page they are on.
func TestTwice(t *testing.T) {
	h, s := mount(t, map[string]Config{"srv": serving("twice")})
	if st := s.Status()[0]; st.State != "ready" || st.Tools != 1 || !strings.Contains(st.Err, `its tool "same" is there twice`) || len(h.Tools()) != 1 {
		t.Errorf("status %+v, tools %v", st, h.Tools())
	}
}

func TestServersThatDoNotWork(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		want   string
	}{
		{"ends", serving("ends"), "it does not begin: exit status 2; it said last: no licence"},
		{"floods", serving("floods"), "no messages"},
		{"long", serving("long"), "more than"},
		{"nonsense", serving("nonsense"), "does not begin"},
		{"missing", Config{Command: "no-such-program-at-all"}, "looking for its command"},
		{"folder", Config{Command: "true", Cwd: "/no/such/folder"}, "looking for its working directory: stat /no/such/folder"},
		{"variable", Config{Command: "x", Args: []string{"${MOUNTED_UNSET}"}}, "MOUNTED_UNSET of the environment is not set"},
		{"address", Config{URL: "ftp://x"}, "no http or https address"},
		{"refused", Config{URL: "http://127.0.0.1:1/mcp"}, `it does not begin: Post "http://127.0.0.1:1/mcp": dial tcp 127.0.0.1:1: connect: connection refused`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h, s := mount(t, map[string]Config{"srv": c.config})
			if st := s.Status()[0]; st.State != "failed" || !strings.Contains(st.Err, c.want) {
				t.Errorf("status %+v, want %q", st, c.want)
			}
			if len(h.Tools()) != 0 {
				t.Errorf("it has tools: %v", h.Tools())
			}
		})
	}
}

// A server that says nothing holds up neither the host's end nor anything else.
func TestSilentServer(t *testing.T) {
	h := host.New(nil)
	s, err := New(h, map[string]Config{"srv": serving("silent"), "off": {Disabled: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	s.Await(ctx)
	if st := s.Status(); st[0].State != "disabled" || st[1].State != "starting" {
		t.Errorf("status %+v", st)
	}
	began := time.Now()
	s.Close()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("closing took %s", took)
	}
}

// A program's input closes a moment before it is known how it ends.
func TestInputClosedBeforeTheEnd(t *testing.T) {
	// A supervisor has the same pipe until it knows that the program runs.
	const script = `exec <&-; while [ -e "/proc/$PPID/fd/0" ]; do :; done; echo '{"jsonrpc":"2.0","method":"notifications/closed"}'; echo 'out of cheese' >&2; exit 3`
	p, err := startProgram(t.Context(), Config{Command: "/bin/sh", Args: []string{"-c", script}}, t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	msg, err := p.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = p.Write(t.Context(), msg)
	for _, want := range []string{"exit status 3", "out of cheese"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("writing to a program that has closed its input gives %v, want %q in it", err, want)
		}
	}
}

func TestWrongConfigurations(t *testing.T) {
	_, err := New(host.New(nil), map[string]Config{
		"both": {Command: "x", URL: "http://x"}, "neither": {}, "type": {Command: "x", Type: "http"}, "url": {URL: "http://x", Type: "stdio"},
	}, nil)
	if err == nil {
		t.Fatal("they are taken")
	}
	for _, name := range []string{"both", "neither", "type", "url"} {
		if !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
			t.Errorf("nothing is said of %s: %v", name, err)
		}
	}
}

// TestMisspeltKeys: keys of other programs are passed over, and what was probably meant is told.
func TestMisspeltKeys(t *testing.T) {
	for entry, want := range map[string][]string{
		`{"comand":"x"}`:                           {`neither "command" nor "url"`, `"comand" is unknown; did you mean "command"?`},
		`{"URI":"http://x"}`:                       {`neither`, `did you mean "url"?`},
		`{"command":"x","arg":["a"]}`:              {`"arg" is unknown; did you mean "args"?`},
		`{"command":"x","evn":{"A":"b"}}`:          {`did you mean "env"?`},
		`{"url":"http://127.0.0.1:1","header":{}}`: {`did you mean "headers"?`},
		`{"command":"x","disable":true}`:           {`did you mean "disabled"?`},
		`{"command":"x","typ":"stdio"}`:            {`did you mean "type"?`},
		`{"command":"x","title":"My server"}`:      nil,
		`{"command":"x","Args":["a"]}`:             nil,
		`{"command":"x","arg":"a","env":{},"envs":{},"timeout":5,"alwaysAllow":[],"trust":true,"envFile":".env","autoApprove":[],"description":"d"}`: nil,
	} {
		var c Config
		if err := json.Unmarshal([]byte(entry), &c); err != nil {
			t.Fatal(err)
		}
		said := fmt.Sprint(c.check())
		var log strings.Builder
		if s, err := New(host.New(nil), map[string]Config{"srv": c}, &Options{Log: slog.New(slog.NewTextHandler(&log, nil))}); err == nil {
			said = s.Status()[0].Err
			if logged := strings.ReplaceAll(log.String(), `\"`, `"`); (logged != "") != (want != nil) || !strings.Contains(logged, said) {
				t.Errorf("%s: the log says %s, the status %s", entry, logged, said)
			}
		}
		if want == nil && said != "" {
			t.Errorf("%s: %s", entry, said)
		}
		for _, w := range want {
			if !strings.Contains(said, w) {
				t.Errorf("%s: %s, want %s", entry, said, w)
			}
		}
	}
	var c Config
	if json.Unmarshal([]byte(`{"command":5}`), &c) == nil || json.Unmarshal([]byte(`[]`), &c) == nil {
		t.Error("what is no entry is taken")
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("x", 80)
	for server, want := range map[string]string{"git": "git", "my server": "my_server", "a__b": "a_b", "__": "server_", "ü": "server_", long: strings.Repeat("x", 19) + "_"} {
		if got := prefix(server); !strings.HasPrefix(got, want) || len(got) > maxPrefix || strings.Contains(got, "__") {
			t.Errorf("prefix(%q) = %q", server, got)
		}
	}
	tools := []string{"a", "a.b", "a b", "a_b", long + "1", long + "2", long + "1"}
	got := names("srv", tools)
	seen := map[string]bool{}
	for i, n := range got {
		if seen[n] || len(n) > maxName || !strings.HasPrefix(n, "srv__") {
			t.Errorf("%q became %q", tools[i], n)
		}
		seen[n] = true
	}
	if got[0] != "srv__a" || got[1] != "srv__a_b" || got[2] != "srv__a_b_2" {
		t.Errorf("names %q", got)
	}
}
