package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
)

// answering is a ResponseWriter that does something as soon as an answer is sent over it.
type answering struct {
	*httptest.ResponseRecorder
	then func()
}

func (a *answering) Write(p []byte) (int, error) {
	n, err := a.ResponseRecorder.Write(p)
	if then := a.then; then != nil && bytes.Contains(p, []byte(`"result"`)) {
		a.then = nil
		then()
	}
	return n, err
}

// Who has the answer of a call may use its id again, at once.
func TestHTTPIDIsFreeWithTheAnswer(t *testing.T) {
	w := serveHTTP(t, newHost(t, kit()...), nil, nil)
	session := w.session(t)
	first, second := &answering{ResponseRecorder: httptest.NewRecorder()}, httptest.NewRecorder()
	first.then = func() { w.handler.ServeHTTP(second, w.call(t.Context(), false, session, "1", "echo", "{}")) }
	w.handler.ServeHTTP(first, w.call(t.Context(), false, session, "1", "echo", "{}"))
	for _, r := range []*httptest.ResponseRecorder{first.ResponseRecorder, second} {
		if r.Code != http.StatusOK || !strings.Contains(r.Body.String(), `"result"`) {
			t.Errorf("%d %s", r.Code, r.Body)
		}
	}
}

// until gives a tool that runs until its call ends, and says so on both occasions.
func until(began, ended chan<- struct{}) *host.Tool {
	return toolNamed("until", func(ctx context.Context, _ *host.Call) (*host.Result, error) {
		began <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return nil, context.Cause(ctx)
	})
}

// A call does not outlive its session, whoever ends that.
func TestHTTPCallEndsWithItsSession(t *testing.T) {
	began, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	w := serveHTTP(t, newHost(t, until(began, ended)), nil, nil)
	session := w.session(t)
	answered := make(chan string)
	go func() {
		r := httptest.NewRecorder()
		w.handler.ServeHTTP(r, w.call(t.Context(), false, session, "1", "until", "{}"))
		answered <- r.Body.String()
	}()
	<-began
	for s := range w.server.MCP().Sessions() {
		if s.ID() == session {
			_ = s.Close()
		}
	}
	<-ended
	if body := <-answered; body != "" {
		t.Errorf("a call whose session has ended is answered: %s", body)
	}
}

// A session may end when it has been looked for already.
func TestHTTPCallThatBeginsTooLate(t *testing.T) {
	w := serveHTTP(t, newHost(t, kit()...), nil, nil)
	id := w.session(t)
	x, err := w.handler.begin(w.call(t.Context(), false, id, "1", "echo", "{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.handler.end(x)
	x.session.close()
	eventually(t, func() bool { return w.handler.Sessions() == 0 })
	r := httptest.NewRecorder()
	w.handler.serveCall(r, x, jsonrpc.ID{}, json.RawMessage("1"), &toolCall{name: "echo"})
	if r.Code != http.StatusNotFound || !strings.Contains(r.Body.String(), "session not found") {
		t.Errorf("the client gets %d, %s", r.Code, r.Body)
	}
}

// Who has cancelled a call hears no more of it.
func TestHTTPProgressOfACancelledCall(t *testing.T) {
	w := serveHTTP(t, newHost(t, kit()...), nil, nil)
	r := httptest.NewRecorder()
	x, err := w.handler.begin(w.call(t.Context(), false, "", "1", "echo", "{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.handler.end(x)
	s := newStream(r, x)
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.notify(ctx, &mcp.ProgressNotificationParams{ProgressToken: "p", Message: "before"}); err != nil {
		t.Error(err)
	}
	cancel()
	if err := s.notify(ctx, &mcp.ProgressNotificationParams{ProgressToken: "p", Message: "after"}); err == nil {
		t.Error("it is said to have been sent")
	}
	s.finish()
	if body := r.Body.String(); !strings.Contains(body, "before") || strings.Contains(body, "after") {
		t.Errorf("sent: %s", body)
	}
}

// A cancellation is about one call, of the same session and with the very same id.
func TestHTTPCancelOfAnother(t *testing.T) {
	began, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	w := serveHTTP(t, newHost(t, until(began, ended)), nil, nil)
	session, other := w.session(t), w.session(t)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		w.handler.ServeHTTP(httptest.NewRecorder(), w.call(t.Context(), false, session, "1", "until", "{}"))
	}()
	<-began
	cancel := func(session, id string) {
		body := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
		w.ask(t, w.request(t.Context(), "POST", body, headerSession, session))
	}
	cancel(other, "1")
	cancel("", "1")
	cancel(session, `"1"`)
	cancel(session, "2")
	cancel(session, "null")
	if len(ended) > 0 {
		t.Error("the call has ended")
	}
	cancel(session, "1.0")
	<-ended
	<-answered
}

// A cancellation counts in a batch, too.
func TestHTTPCancelInABatch(t *testing.T) {
	began, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	w := serveHTTP(t, newHost(t, until(began, ended)), nil, nil)
	session := w.session(t)
	answered := make(chan string)
	go func() {
		r := httptest.NewRecorder()
		w.handler.ServeHTTP(r, w.call(t.Context(), false, session, `"a"`, "until", "{}"))
		answered <- r.Body.String()
	}()
	<-began
	status, body, _ := w.ask(t, w.request(t.Context(), "POST",
		`[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}]`, headerSession, session))
	if status != http.StatusAccepted {
		t.Errorf("%d %s", status, body)
	}
	<-ended
	if body := <-answered; body != "" {
		t.Errorf("a cancelled call is answered: %s", body)
	}
}

// Calls with headers that are not what they should be are refused as other requests are.
func TestHTTPCallHeaders(t *testing.T) {
	w := serveHTTP(t, newHost(t, kit()...), nil, nil)
	session := w.session(t)
	for _, header := range [][]string{
		{"Accept", "application/json"},
		{"Accept", "text/event-stream"},
		{"Accept", "application/jsonl, text/event-stream"},
		{"Accept", "application/json, x-text/event-streams"},
		{"Accept", "*/*"},
		{"Accept", "application/*;q=0.5, text/*"},
		{"Accept", "Application/JSON;q=1,TEXT/event-stream;q=0.1"},
		{"Content-Type", "application/json; charset=utf-8"},
		{"Content-Type", "application/json;a=b;a=b"},
		{"Content-Type", "application/json; ="},
		{"Content-Type", "Application/Json"},
		{"Content-Type", "text/plain"},
		{"Last-Event-ID", ""},
		{headerRevision, ""},
		{headerRevision, "2025-03-26"},
		{headerRevision, "2025-11-24"},
		{headerRevision, "x"},
		{headerSession, ""},
		{headerSession, session + "x"},
	} {
		ask := func(meta string) string {
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{` + meta + `}}}`
			r := w.request(t.Context(), "POST", body, append([]string{headerSession, session, headerRevision, "2025-11-25"}, header...)...)
			status, answer, h := w.ask(t, r)
			h.Del("Date")
			h.Del("Connection") // of HTTP/1.0; the SDK says that it is what it is anyway
			h.Del("Content-Length")
			h.Del("Transfer-Encoding")
			if h.Get(headerSession) != "" { // a session that this call has opened
				h.Set(headerSession, "some")
			}
			return fmt.Sprint(status, answer, h)
		}
		if ours, theirs := ask(""), ask(sdkMeta); ours != theirs {
			t.Errorf("%q:\n%s\n%s", header, ours, theirs)
		}
	}
}

// Requests of the stateless revision belong to no session, whichever they name.
func TestHTTPStatelessCallHasNoSession(t *testing.T) {
	began, ended := make(chan struct{}, 2), make(chan struct{}, 2)
	w := serveHTTP(t, newHost(t, until(began, ended)), nil, nil)
	session := w.session(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answered := make(chan string)
	for range 2 {
		go func() {
			r := w.call(ctx, true, "", "1", "until", "{}")
			r.Header.Set(headerSession, session)
			a := httptest.NewRecorder()
			w.handler.ServeHTTP(a, r)
			answered <- a.Body.String()
		}()
	}
	for range 2 {
		select {
		case <-began:
		case body := <-answered:
			t.Fatalf("a call is refused: %s", body)
		}
	}
	r := w.request(t.Context(), "DELETE", "", headerSession, session, headerRevision, statelessRevision)
	if status, body, _ := w.ask(t, r); status != http.StatusMethodNotAllowed {
		t.Errorf("%d %s", status, body)
	}
	if len(ended) > 0 {
		t.Error("a request that is refused has ended calls")
	}
	cancel()
	for range 2 {
		<-answered
	}
}

// A panic on the way of a call leaves nothing that speaks of it later.
func TestPanicEndsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := New(newHost(t, kit()...), &Options{
			Around: func(context.Context, *host.Call, func(string) string) (context.Context, func(*host.Result, error)) {
				panic("on purpose")
			},
		})
		defer server.Close()
		spoken := false
		call := &toolCall{name: "echo", meta: mcp.Meta{"progressToken": "p"}, notify: func(context.Context, *mcp.ProgressNotificationParams) error {
			spoken = true
			return nil
		}}
		if line := server.answer(t.Context(), json.RawMessage("1"), call); !bytes.Contains(line, []byte("internal error")) {
			t.Errorf("answered with %s", line)
		}
		time.Sleep(3 * heartbeat)
		if synctest.Wait(); spoken {
			t.Error("the call is said to run still")
		}
	})
}

// A session whose client does not read has ended without an error where the program ends it.
func TestClosedWhileThereIsNoRoom(t *testing.T) {
	for range 20 { // which of two things Read hears of first is a matter of luck
		s := New(newHost(t, kit()...), nil)
		defer s.Close()
		c := newLineConn(t.Context(), s, strings.NewReader(""), io.Discard)
		c.held = maxPending + 1
		c.turn <- newLineReader(c.in)
		go c.work()
		_ = c.Close()
		<-c.readDone
		if _, err := c.Read(t.Context()); err != io.EOF {
			t.Fatal(err)
		}
		if err := c.finish(); err != nil {
			t.Fatalf("the session ended with: %v", err)
		}
	}
}

// levels takes the levels of records that say something.
type levels struct {
	slog.Handler
	of     string
	levels chan slog.Level
}

func (l levels) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, l.of) {
		l.levels <- r.Level
	}
	return nil
}

// That a client does not listen is no news for the log when the tools change.
func TestUnheardNewsIsCalm(t *testing.T) {
	log := levels{slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug}), unheard, make(chan slog.Level, 10)}
	h := newHost(t, kit()...)
	w := serveHTTP(t, h, &Options{Log: slog.New(log)}, nil)
	w.session(t)
	register(t, h, "more", toolNamed("more", func(context.Context, *host.Call) (*host.Result, error) { return nil, nil }))
	if level := <-log.levels; level != slog.LevelDebug {
		t.Errorf("it is logged as %s", level)
	}

	var out bytes.Buffer
	calm := slog.New(calmHandler{slog.NewTextHandler(&out, nil)})
	if calm.Warn("x: " + unheard); out.Len() > 0 {
		t.Errorf("logged: %s", &out)
	}
	if calm.Warn("other"); out.Len() == 0 {
		t.Error("another warning is lost")
	}
}

// A session that is about to end is none any more.
func TestHTTPSessionsWithoutEnded(t *testing.T) {
	w := serveHTTP(t, newHost(t, kit()...), nil, nil)
	ending := w.session(t)
	w.session(t)
	w.handler.mu.Lock()
	w.handler.sessions[ending].ended = true
	w.handler.mu.Unlock()
	if n := w.handler.Sessions(); n != 1 {
		t.Errorf("%d sessions", n)
	}
}
