package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
)

const token = "a token of a test"

// wired is a handler on a real connection.
type wired struct {
	server  *Server
	handler *HTTPHandler
	url     string
	client  *http.Client
}

func serveHTTP(t testing.TB, h *host.Host, o *Options, ho *HTTPOptions) *wired {
	t.Helper()
	s := New(h, o)
	handler := s.Handler(ho)
	web := httptest.NewServer(handler)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		handler.Close(ctx)
		web.CloseClientConnections()
		web.Close()
		s.Close()
	})
	return &wired{server: s, handler: handler, url: web.URL, client: web.Client()}
}

// bearer adds the token to requests.
type bearer struct{ http.RoundTripper }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return b.RoundTripper.RoundTrip(r)
}

// connect connects the SDK's own client, in one of the eras.
func (w *wired) connect(t testing.TB, stateless bool, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	var so mcp.ClientSessionOptions
	if !stateless {
		so.ProtocolVersion = "2025-11-25"
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, o)
	session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: w.url, HTTPClient: &http.Client{Transport: bearer{w.client.Transport}}, MaxRetries: -1,
	}, &so)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// request makes a request with what every client sends.
func (w *wired) request(ctx context.Context, method, body string, header ...string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, w.url, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// ask gives the status and the body of an answer.
func (w *wired) ask(t testing.TB, r *http.Request) (int, string, http.Header) {
	t.Helper()
	res, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body), res.Header
}

// session makes a session and gives its id.
func (w *wired) session(t testing.TB) string {
	t.Helper()
	status, body, header := w.ask(t, w.request(t.Context(), "POST", initialize))
	id := header.Get(headerSession)
	if status != http.StatusOK || id == "" {
		t.Fatalf("initialize gave %d, session %q: %s", status, id, body)
	}
	status, body, _ = w.ask(t, w.request(t.Context(), "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headerSession, id))
	if status != http.StatusAccepted {
		t.Fatalf("initialized gave %d: %s", status, body)
	}
	return id
}

// metaOf gives the member _meta of requests of an era, with the comma before it.
func metaOf(stateless bool) string {
	if !stateless {
		return ""
	}
	return `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
}

// call makes a request that calls a tool, in one of the eras.
func (w *wired) call(ctx context.Context, stateless bool, session, id, tool, args string) *http.Request {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, id, tool, args, metaOf(stateless))
	if stateless {
		return w.request(ctx, "POST", body, headerRevision, statelessRevision, "Mcp-Method", "tools/call", "Mcp-Name", tool)
	}
	return w.request(ctx, "POST", body, headerSession, session, headerRevision, "2025-11-25")
}

func TestHTTP(t *testing.T) {
	eras(t, func(t *testing.T, stateless bool) {
		w := serveHTTP(t, newHost(t, kit()...), nil, &HTTPOptions{Token: token})
		var mu sync.Mutex
		var said []string
		session := w.connect(t, stateless, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, r.Params.Message)
		}})
		list, err := session.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != len(kit()) {
			t.Fatalf("the list: %v, %v", list, err)
		}
		for tool, want := range map[string]string{"echo": `{"steps":2}`, "fail": "it is broken", "panic": "internal error", "agent": "sdk", "nothing": "OK"} {
			r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"steps": 2}})
			if err != nil || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, want) {
				t.Errorf("calling %q: %+v, %v", tool, r, err)
			}
		}
		params := &mcp.CallToolParams{Name: "talk", Arguments: map[string]any{"steps": 1, "ms": 1}}
		params.SetProgressToken("p")
		if _, err := session.CallTool(t.Context(), params); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool { // the client hands it on beside the result
			mu.Lock()
			defer mu.Unlock()
			return len(said) == 1 && said[0] == "step 1"
		})
	})
}

// A call ends with the interest in it, and nothing is said about it afterwards.
func TestHTTPCancel(t *testing.T) {
	eras(t, func(t *testing.T, stateless bool) {
		running, ended := make(chan struct{}), make(chan time.Time, 1)
		hang := toolNamed("hang", func(ctx context.Context, c *host.Call) (*host.Result, error) {
			running <- struct{}{}
			<-ctx.Done()
			ended <- time.Now()
			return host.TextResult("too late"), nil
		})
		w := serveHTTP(t, newHost(t, append(kit(), hang)...), nil, &HTTPOptions{Token: token})
		within := func(since time.Time) {
			t.Helper()
			select {
			case at := <-ended:
				t.Logf("cancelled after %s", at.Sub(since))
			case <-time.After(10 * time.Second):
				t.Fatal("the handler runs on")
			}
		}
		session := w.connect(t, stateless, nil)
		ctx, cancel := context.WithCancel(t.Context())
		called := make(chan error, 1)
		go func() {
			_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "hang"})
			called <- err
		}()
		<-running
		since := time.Now()
		cancel()
		within(since)
		if err := <-called; err == nil {
			t.Error("the cancelled call gave a result")
		}
		if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo"}); err != nil {
			t.Errorf("the session is of no use after a cancel: %v", err)
		}

		// The client goes away.
		id := ""
		w = serveHTTP(t, newHost(t, hang), nil, nil)
		if !stateless {
			id = w.session(t)
		}
		ctx, cancel = context.WithCancel(t.Context())
		go func() {
			if res, err := w.client.Do(w.call(ctx, stateless, id, `"gone"`, "hang", "{}")); err == nil {
				res.Body.Close()
			}
		}()
		<-running
		since = time.Now()
		cancel()
		within(since)

		if stateless {
			return
		}
		// A notification cancels it: the stream ends without an answer.
		answer := make(chan string, 1)
		go func() {
			_, body, _ := w.ask(t, w.call(t.Context(), false, id, `"c"`, "hang", "{}"))
			answer <- body
		}()
		<-running
		since = time.Now()
		w.ask(t, w.request(t.Context(), "POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c"}}`, headerSession, id))
		within(since)
		if got := <-answer; got != "" {
			t.Errorf("a cancelled request was answered: %s", got)
		}
		// The end of the session ends what runs in it.
		go func() {
			_, body, _ := w.ask(t, w.call(t.Context(), false, id, `"d"`, "hang", "{}"))
			answer <- body
		}()
		<-running
		since = time.Now()
		if status, body, _ := w.ask(t, w.request(t.Context(), "DELETE", "", headerSession, id)); status != http.StatusNoContent {
			t.Errorf("ending a session: %d %s", status, body)
		}
		within(since)
		if got := <-answer; got != "" {
			t.Errorf("a request of an ended session was answered: %s", got)
		}
		if status, _, _ := w.ask(t, w.call(t.Context(), false, id, "1", "hang", "{}")); status != http.StatusNotFound {
			t.Errorf("an ended session gives %d", status)
		}
	})
}

func TestHTTPListChanged(t *testing.T) {
	eras(t, func(t *testing.T, stateless bool) {
		h := newHost(t, kit()...)
		w := serveHTTP(t, h, nil, &HTTPOptions{Token: token})
		const more = 200
		changed := make(chan struct{}, more) // each may be told of by itself where they come slowly
		o := &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} }}
		session := w.connect(t, stateless, o)
		if _, err := session.ListTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if stateless {
			subscribed(t, w)
		} else {
			streaming(t, w)
		}
		for i := range more {
			register(t, h, fmt.Sprint("more", i), toolNamed(fmt.Sprint("more", i), kit()[0].Handler.(host.HandlerFunc)))
		}
		select {
		case <-changed:
		case <-time.After(10 * time.Second):
			t.Fatal("nobody says that the list has changed")
		}
		list, err := session.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != len(kit())+more {
			t.Fatalf("%d tools, %v", len(list.Tools), err)
		}
	})
}

// streaming and subscribed wait until the client waits for news.
func streaming(t *testing.T, w *wired) {
	eventually(t, func() bool {
		w.handler.mu.Lock()
		defer w.handler.mu.Unlock()
		for x := range w.handler.open {
			if x.waits {
				return true
			}
		}
		return false
	})
}

func subscribed(t *testing.T, w *wired) { streaming(t, w) }

// TestHTTPParallel has many callers over few connections.
func TestHTTPParallel(t *testing.T) {
	calls := 10_000
	if testing.Short() {
		calls = 640
	}
	eras(t, func(t *testing.T, stateless bool) {
		var ran atomic.Int64
		count := toolNamed("count", func(_ context.Context, c *host.Call) (*host.Result, error) {
			ran.Add(1)
			return host.TextResult(string(c.Args)), nil
		})
		w := serveHTTP(t, newHost(t, count), nil, nil)
		id := ""
		if !stateless {
			id = w.session(t)
		}
		var answers atomic.Int64
		var wg sync.WaitGroup
		for caller := range 64 {
			wg.Go(func() {
				for i := range calls / 64 {
					key := fmt.Sprintf(`"%d/%d"`, caller, i)
					status, body, _ := w.ask(t, w.call(t.Context(), stateless, id, key, "count", `{"of":`+key+`}`))
					event, ok := strings.CutPrefix(body, "event: message\ndata: ")
					var got struct {
						ID     string
						Result struct{ Content []struct{ Text string } }
					}
					if err := json.Unmarshal([]byte(event), &got); !ok || err != nil || status != 200 ||
						`"`+got.ID+`"` != key || got.Result.Content[0].Text != `{"of":`+key+`}` {
						t.Errorf("call %s: %d %q", key, status, body)
						return
					}
					answers.Add(1)
				}
			})
		}
		wg.Wait()
		want := int64(calls / 64 * 64)
		if answers.Load() != want || ran.Load() != want {
			t.Errorf("%d answers and %d runs of %d calls", answers.Load(), ran.Load(), want)
		}
	})
}

func TestHTTPRefuses(t *testing.T) {
	w := serveHTTP(t, newHost(t, kit()...), nil, &HTTPOptions{Token: token, Hosts: []string{"Tools.Example.", "127.0.0.1"}, MaxBody: 4096})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(w.url, "http://"))
	auth := []string{"Authorization", "Bearer " + token}
	for name, c := range map[string]struct {
		method, body string
		header       []string
		status       int
		says         string
	}{
		"no token":                      {"POST", initialize, nil, 401, "a token is needed"},
		"wrong token":                   {"POST", initialize, []string{"Authorization", "Bearer " + token + "x"}, 401, "a token is needed"},
		"no scheme":                     {"POST", initialize, []string{"Authorization", token}, 401, ""},
		"other scheme":                  {"POST", initialize, []string{"Authorization", "Basic " + token}, 401, ""},
		"token in the query":            {"GET", "", nil, 401, ""},
		"a name of others":              {"POST", initialize, append([]string{"Host", "evil.example"}, auth...), 403, "does not go by the name"},
		"an address of others":          {"POST", initialize, append([]string{"Host", "192.0.2.1:" + port}, auth...), 403, ""},
		"localhost.evil":                {"POST", initialize, append([]string{"Host", "localhost.evil.example"}, auth...), 403, ""},
		"no name":                       {"POST", initialize, append([]string{"Host", ":80"}, auth...), 403, ""},
		"a site":                        {"POST", initialize, append([]string{"Origin", "https://evil.example"}, auth...), 403, "other web sites"},
		"a site, reading":               {"GET", "", append([]string{"Origin", "https://evil.example"}, auth...), 403, ""},
		"a page of nobody":              {"POST", initialize, append([]string{"Origin", "null"}, auth...), 403, ""},
		"another port":                  {"POST", initialize, append([]string{"Origin", "http://localhost:1"}, auth...), 403, ""},
		"a named address, another port": {"POST", initialize, append([]string{"Origin", "http://127.0.0.1:1"}, auth...), 403, "other web sites"},
		"a file":                        {"POST", initialize, append([]string{"Origin", "file://localhost"}, auth...), 403, ""},
		"fetched across sites":          {"GET", "", append([]string{"Sec-Fetch-Site", "cross-site"}, auth...), 403, ""},
		"localhost":                     {"POST", initialize, append([]string{"Host", "localhost:" + port, "Origin", "http://localhost:" + port}, auth...), 200, "serverInfo"},
		"an IPv6 address":               {"POST", initialize, append([]string{"Host", "[::1]:" + port}, auth...), 200, "serverInfo"},
		"the named host":                {"POST", initialize, append([]string{"Host", "tools.example", "Origin", "https://tools.example"}, auth...), 200, "serverInfo"},
		"lower-case scheme":             {"POST", initialize, []string{"Authorization", "bearer " + token}, 200, "serverInfo"},
		"too large":                     {"POST", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 5000) + `"}}`, auth, 413, "larger than 4096 bytes"},
		"empty":                         {"POST", "", auth, 400, "empty"},
		"not JSON":                      {"POST", "hello", auth, 400, "-32700"},
		"not UTF-8":                     {"POST", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", auth, 400, "UTF-8"},
		"no message":                    {"POST", `{"id":1}`, auth, 400, "-32600"},
		"a text":                        {"POST", `"x"`, auth, 400, "-32600"},
		"a batch":                       {"POST", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, append([]string{headerRevision, "2025-11-25"}, auth...), 400, "atching"},
		"an unknown session":            {"POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, append([]string{headerSession, "none"}, auth...), 404, ""},
		"an unknown revision":           {"POST", initialize, append([]string{headerRevision, "1999-01-01"}, auth...), 400, ""},
		"a later revision":              {"POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, append([]string{headerRevision, "2999-01-01", "Mcp-Method", "tools/list"}, auth...), 400, ""},
		"another method":                {"PUT", initialize, auth, 405, ""},
		"no session to read":            {"GET", "", auth, 400, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.request(t.Context(), c.method, c.body, c.header...)
			if name == "token in the query" {
				r.URL.RawQuery = url.Values{"token": {token}}.Encode()
			}
			status, body, _ := w.ask(t, r)
			if status != c.status || !strings.Contains(body, c.says) {
				t.Errorf("%d %s, want %d with %q", status, body, c.status, c.says)
			}
		})
	}
}

// A client that waits for an answer to its request finds one, whoever refuses it.
func TestHTTPErrorsAreAnswers(t *testing.T) {
	w := serveHTTP(t, newHost(t, kit()...), nil, nil)
	session := w.session(t)
	in := []string{headerSession, session, headerRevision, "2025-11-25"}
	list := `{"jsonrpc":"2.0","id":"a","method":"tools/list"}`
	for name, c := range map[string]struct {
		body   string
		header []string
		status int
		code   int64
		says   string
	}{
		"an unknown method":        {`{"jsonrpc":"2.0","id":"a","method":"no/such"}`, in, 200, jsonrpc.CodeMethodNotFound, `method not found: "no/such"`},
		"no session":               {list, nil, 400, jsonrpc.CodeInvalidRequest, "initialize"},
		"no session, a revision":   {list, []string{headerRevision, "2025-06-18"}, 400, jsonrpc.CodeInvalidRequest, "Mcp-Session-Id"},
		"a call without a session": {`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"value"}}`, nil, 400, jsonrpc.CodeInvalidRequest, "initialize"},
		"an unknown session":       {list, []string{headerSession, "none"}, 404, jsonrpc.CodeInvalidRequest, "session not found"},
		"an unknown revision":      {list, []string{headerSession, session, headerRevision, "1999-01-01"}, 400, jsonrpc.CodeInvalidRequest, "nsupported protocol version"},
		"no parameters":            {`{"jsonrpc":"2.0","id":"a","method":"tools/call"}`, in, 400, jsonrpc.CodeInvalidRequest, "params"},
		"parameters in a list":     {`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":[1]}`, in, 400, jsonrpc.CodeInvalidParams, `"params" must be an object`},
		"a name that is none":      {`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":5}}`, in, 400, jsonrpc.CodeInvalidParams, `"params.name" must be a text`},
		"the session has begun":    {`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, in, 400, jsonrpc.CodeInvalidRequest, "the session has begun"},
		"accepts no stream":        {list, append([]string{"Accept", "application/json"}, in...), 400, jsonrpc.CodeInvalidRequest, "Accept"},
		"is no JSON by its type":   {list, append([]string{"Content-Type", "text/plain"}, in...), 415, jsonrpc.CodeInvalidRequest, "application/json"},
	} {
		t.Run(name, func(t *testing.T) {
			status, body, header := w.ask(t, w.request(t.Context(), "POST", c.body, c.header...))
			var answer struct {
				ID    string
				Error struct {
					Code    int64
					Message string
				}
			}
			err := json.Unmarshal([]byte(body), &answer)
			if err != nil || status != c.status || answer.ID != "a" || answer.Error.Code != c.code || !strings.Contains(answer.Error.Message, c.says) || header.Get("Content-Type") != "application/json" {
				t.Errorf("%d %v %s (%v)", status, header, body, err)
			}
		})
	}
	if status, body, _ := w.ask(t, w.request(t.Context(), "POST", "["+list+"]", in...)); status != http.StatusBadRequest || !strings.HasPrefix(body, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`) {
		t.Errorf("a batch in a later revision: %d %s", status, body)
	}
	if status, body, _ := w.ask(t, w.request(t.Context(), "POST", `{"jsonrpc":"2.0","method":"notifications/no/such"}`, in...)); status != http.StatusAccepted || body != "" {
		t.Errorf("an unknown notification: %d %s", status, body)
	}
	if n := w.handler.Sessions(); n != 1 {
		t.Errorf("%d sessions are open", n)
	}
}

// A chunked body has no length that could be looked at.
func TestHTTPEndlessBody(t *testing.T) {
	w := serveHTTP(t, newHost(t, kit()...), nil, &HTTPOptions{MaxBody: 4096})
	r := w.request(t.Context(), "POST", "")
	r.Body, r.ContentLength = io.NopCloser(endless{}), -1
	res, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("an endless body gives %s", res.Status)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// A batch of the oldest revision is answered as one.
func TestHTTPBatch(t *testing.T) {
	w := serveHTTP(t, newHost(t, kit()...), nil, nil)
	id := w.session(t)
	status, body, _ := w.ask(t, w.request(t.Context(), "POST",
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}]`, headerSession, id))
	if status != 200 || strings.Count(body, "\ndata: ") != 2 {
		t.Errorf("%d %s", status, body)
	}
}

// A client that does not read its streams holds nobody up, and is left after a while.
func TestHTTPClientThatDoesNotRead(t *testing.T) {
	h := newHost(t, kit()...)
	w := serveHTTP(t, h, nil, nil)
	deaf := w.session(t)
	big := strings.Repeat("x", 900_000)
	for i := range 8 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.(*net.TCPConn).SetReadBuffer(4096)
		r := w.call(t.Context(), false, deaf, fmt.Sprint(i), "echo", `{"text":"`+big+`"}`)
		if err := r.Write(conn); err != nil {
			t.Fatal(err)
		}
	}
	get, err := w.client.Do(w.request(t.Context(), "GET", "", headerSession, deaf))
	if err != nil {
		t.Fatal(err)
	}
	defer get.Body.Close()
	for _, session := range []string{deaf, w.session(t)} {
		if status, body, _ := w.ask(t, w.call(t.Context(), false, session, `"n"`, "echo", "{}")); status != 200 || !strings.Contains(body, `"n"`) {
			t.Errorf("%d %s", status, body)
		}
	}
	register(t, h, "more", toolNamed("more", kit()[0].Handler.(host.HandlerFunc)))
	line, err := bufio.NewReader(io.MultiReader(get.Body)).ReadString('}')
	for err == nil && !strings.Contains(line, listChanged) {
		line, err = bufio.NewReader(get.Body).ReadString('}')
	}
	if err != nil {
		t.Error(err)
	}
}

func TestHTTPClose(t *testing.T) {
	eras(t, func(t *testing.T, stateless bool) {
		running := make(chan struct{})
		hang := toolNamed("hang", func(ctx context.Context, c *host.Call) (*host.Result, error) {
			running <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		})
		finish := make(chan struct{})
		last := toolNamed("last", func(ctx context.Context, c *host.Call) (*host.Result, error) {
			running <- struct{}{}
			<-finish
			return host.TextResult("done"), nil
		})
		w := serveHTTP(t, newHost(t, hang, last), nil, nil)
		id := ""
		if !stateless {
			id = w.session(t)
			get, err := w.client.Do(w.request(t.Context(), "GET", "", headerSession, id))
			if err != nil {
				t.Fatal(err)
			}
			defer get.Body.Close()
		}
		answers := make(chan string, 2)
		for i, tool := range []string{"hang", "last"} {
			go func() {
				res, err := w.client.Do(w.call(t.Context(), stateless, id, fmt.Sprint(i), tool, "{}"))
				if err != nil {
					answers <- ""
					return
				}
				defer res.Body.Close()
				body, _ := io.ReadAll(res.Body)
				answers <- string(body)
			}()
			<-running
		}
		ctx, cancel := context.WithCancel(t.Context())
		closed := make(chan struct{})
		go func() {
			w.handler.Close(ctx)
			close(closed)
		}()
		close(finish)
		if got := <-answers; !strings.Contains(got, "done") {
			t.Errorf("a running call was not let to end: %q", got)
		}
		select {
		case <-closed:
			t.Error("it does not wait for a running call")
		default:
		}
		since := time.Now()
		cancel()
		<-closed
		t.Logf("closed after %s", time.Since(since))
		if got := <-answers; strings.Contains(got, "result") {
			t.Errorf("a call without an end was answered: %q", got)
		}
		if status, body, _ := w.ask(t, w.request(t.Context(), "POST", initialize)); status != 503 || !strings.Contains(body, "closing") {
			t.Errorf("after the end: %d %s", status, body)
		}
		if n := w.handler.Sessions(); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
}

func TestHTTPSessions(t *testing.T) {
	w := serveHTTP(t, newHost(t, kit()...), nil, &HTTPOptions{MaxSessions: 2})
	first, second := w.session(t), w.session(t)
	get, err := w.client.Do(w.request(t.Context(), "GET", "", headerSession, first))
	if err != nil {
		t.Fatal(err)
	}
	defer get.Body.Close()
	third := w.session(t) // ends the second, which is idle
	for id, want := range map[string]int{first: 200, second: 404, third: 200} {
		if status, body, _ := w.ask(t, w.call(t.Context(), false, id, "1", "echo", "{}")); status != want {
			t.Errorf("%d %s, want %d", status, body, want)
		}
	}
	get2, err := w.client.Do(w.request(t.Context(), "GET", "", headerSession, third))
	if err != nil {
		t.Fatal(err)
	}
	defer get2.Body.Close()
	if status, body, _ := w.ask(t, w.request(t.Context(), "POST", initialize)); status != 503 || !strings.Contains(body, "2 sessions are open") {
		t.Errorf("%d %s", status, body)
	}
	get.Body.Close()
	eventually(t, func() bool {
		status, _, _ := w.ask(t, w.request(t.Context(), "POST", initialize))
		return status == 200
	})
	if n := w.handler.Sessions(); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

func TestHTTPSessionTimeout(t *testing.T) {
	w := serveHTTP(t, newHost(t, kit()...), nil, &HTTPOptions{SessionTimeout: 400 * time.Millisecond})
	held := w.session(t)
	get, err := w.client.Do(w.request(t.Context(), "GET", "", headerSession, held))
	if err != nil {
		// It may have been idle for too long before the stream was asked for.
		t.Fatal(err)
	}
	if get.StatusCode == http.StatusOK {
		w.session(t)
		eventually(t, func() bool { return w.handler.Sessions() == 1 })
	}
	get.Body.Close()
	eventually(t, func() bool { return w.handler.Sessions() == 0 })
}

// Requests that come while a session is being ended are told so, and never cut off.
func TestHTTPSessionThatIsBeingEnded(t *testing.T) {
	w := serveHTTP(t, newHost(t, kit()...), nil, nil)
	id := w.session(t)
	w.handler.mu.Lock()
	s := w.handler.sessions[id]
	w.handler.mu.Unlock()
	x, err := w.handler.begin(w.request(t.Context(), "GET", "", headerSession, id))
	if err != nil {
		t.Fatal(err)
	}
	if w.handler.retire(s) {
		t.Error("a session ends that is in use")
	}
	w.handler.end(x)
	if !w.handler.retire(s) {
		t.Error("an idle session does not end")
	}
	for _, r := range []struct{ method, body, id string }{
		{"POST", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{}}}`, "7"},
		{"POST", `{"jsonrpc":"2.0","id":"l","method":"tools/list"}`, `"l"`},
		{"POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "null"},
		{"POST", `[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, "null"},
		{"GET", "", "null"},
		{"DELETE", "", "null"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // a stream would not end
		status, body, _ := w.ask(t, w.request(ctx, r.method, r.body, headerSession, id))
		cancel()
		if status != http.StatusNotFound || !strings.Contains(body, `"id":`+r.id) || !strings.Contains(body, "session not found") {
			t.Errorf("%s %s gives %d, %s", r.method, r.body, status, body)
		}
	}
	s.close()
	eventually(t, func() bool { return w.handler.Sessions() == 0 })
}

// Nothing is kept of sessions that saw a list before the first load was done.
func TestHTTPForgets(t *testing.T) {
	ready := make(chan struct{})
	w := serveHTTP(t, newHost(t, kit()...), &Options{Ready: ready}, nil)
	id := w.session(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if res, err := w.client.Do(w.request(ctx, "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, headerSession, id)); err == nil {
			res.Body.Close()
		}
	}()
	eventually(t, func() bool {
		w.server.exchanges.mu.Lock()
		defer w.server.exchanges.mu.Unlock()
		return len(w.server.exchanges.open) > 0
	})
	cancel()
	<-done
	w.ask(t, w.request(t.Context(), "DELETE", "", headerSession, id))
	close(ready)
	eventually(t, func() bool { // a request ends by itself, not with its session
		w.server.mu.Lock()
		defer w.server.mu.Unlock()
		w.server.exchanges.mu.Lock()
		defer w.server.exchanges.mu.Unlock()
		return len(w.server.short) == 0 && len(w.server.exchanges.open) == 0 && w.handler.Sessions() == 0
	})
}

// A header cannot pretend to be another request.
func TestHTTPExchangeHeader(t *testing.T) {
	w := serveHTTP(t, newHost(t, kit()...), nil, nil)
	id := w.session(t)
	r := w.call(t.Context(), false, id, "1", "echo", "{}")
	r.Header.Set(headerExchange, "999")
	if status, body, _ := w.ask(t, r); status != 200 || !strings.Contains(body, "result") {
		t.Errorf("%d %s", status, body)
	}
}

// FuzzHTTP sends anything: the answer is a status, and what claims to be JSON is.
func FuzzHTTP(f *testing.F) {
	f.Add("POST", []byte(initialize), "2025-11-25", "", "")
	f.Add("POST", []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`), "2026-07-28", "tools/call", "echo")
	f.Add("POST", []byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`), "", "", "")
	f.Add("POST", []byte(`{"jsonrpc":"2.0","id":null,"result":{}}`), "", "", "")
	f.Add("DELETE", []byte{}, "", "", "")
	f.Add("GET", []byte{}, "2026-07-28", "", "")
	s := New(newHost(f, kit()[0]), nil)
	h := s.Handler(&HTTPOptions{MaxBody: 64 << 10})
	f.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		h.Close(ctx)
		s.Close()
	})
	f.Fuzz(func(t *testing.T, method string, body []byte, revision, rpc, name string) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond) // a subscription does not end by itself
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, "POST", "http://localhost/", bytes.NewReader(body))
		r.Method = method
		for key, v := range map[string]string{headerRevision: revision, "Mcp-Method": rpc, "Mcp-Name": name, "Content-Type": "application/json", "Accept": "*/*"} {
			r.Header.Set(key, v)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code < 200 || w.Code > 599 || w.Code == 500 {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && !json.Valid(w.Body.Bytes()) {
			t.Errorf("not JSON: %q", w.Body)
		}
		for line := range strings.Lines(w.Body.String()) {
			if event, ok := strings.CutPrefix(line, "data: "); ok && !json.Valid([]byte(event)) {
				t.Errorf("an event that is not JSON: %q", line)
			}
		}
	})
}

// eventually looks until something holds.
func eventually(t testing.TB, holds func() bool) {
	t.Helper()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	timeout := time.After(20 * time.Second)
	for !holds() {
		select {
		case <-look.C:
		case <-timeout:
			t.Fatal("it does not come to hold")
		}
	}
}

// A client that does not read does not hold up the end either.
func TestHTTPCloseWithClientThatDoesNotRead(t *testing.T) {
	w := serveHTTP(t, newHost(t, kit()...), nil, nil)
	id := w.session(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(4096)
	if err := w.call(t.Context(), false, id, "1", "echo", `{"text":"`+strings.Repeat("x", 900_000)+`"}`).Write(conn); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	since := time.Now()
	w.handler.Close(ctx)
	if after := time.Since(since); after > 10*time.Second {
		t.Errorf("it took %s", after)
	}
}

// An answer that is there at once comes whole, with its length; what is said on the way does not
// wait for it.
func TestHTTPWhole(t *testing.T) {
	eras(t, func(t *testing.T, stateless bool) {
		w := serveHTTP(t, newHost(t, kit()...), nil, nil)
		id := ""
		if !stateless {
			id = w.session(t)
		}
		length := func(tool, args string) int64 {
			t.Helper()
			res, err := w.client.Do(w.call(t.Context(), stateless, id, "1", tool, args))
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil || !strings.Contains(string(body), `"result":`) {
				t.Errorf("%s: %s, %v", tool, body, err)
			}
			if res.ContentLength >= 0 && res.ContentLength != int64(len(body)) {
				t.Errorf("%s: %d bytes, not %d", tool, len(body), res.ContentLength)
			}
			return res.ContentLength
		}
		if length("echo", `{"steps":2}`) < 0 {
			t.Error("an answer without a word before it came as a stream")
		}
		asked, with := `"params":{`, `"params":{"_meta":{"progressToken":"p"},`
		if stateless {
			asked, with = `"_meta":{`, `"_meta":{"progressToken":"p",`
		}
		r := w.call(t.Context(), stateless, id, "1", "talk", `{"steps":2,"ms":1}`)
		call, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		message := strings.Replace(string(call), asked, with, 1)
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(message)), int64(len(message))
		res, err := w.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.ContentLength >= 0 || strings.Count(string(body), "notifications/progress") != 2 || !strings.Contains(string(body), `"result":`) {
			t.Errorf("%d, %v: %s", res.ContentLength, err, body)
		}
	})
}
