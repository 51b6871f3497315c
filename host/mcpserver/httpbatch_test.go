package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/toolhost/toolhost/host"
)

// batch asks a batch, and gives the status and the answers, each as its id with "result" or the
// code of its error and what that says, in the order of their texts.
func (w *wired) batch(t testing.TB, body string, header ...string) (int, []string, string) {
	t.Helper()
	status, text, h := w.ask(t, w.request(t.Context(), "POST", body, header...))
	if h.Get("Content-Type") != "text/event-stream" {
		return status, nil, text
	}
	var answers []string
	for line := range strings.Lines(text) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var a struct {
			ID     json.RawMessage
			Result json.RawMessage
			Error  *jsonrpc.Error
		}
		if err := json.Unmarshal([]byte(data), &a); err != nil {
			t.Errorf("%q: %v", data, err)
		}
		said := fmt.Sprintf("%s result", a.ID)
		if a.Error != nil {
			said = fmt.Sprintf("%s %d %s", a.ID, a.Error.Code, a.Error.Message)
		}
		answers = append(answers, said)
	}
	slices.Sort(answers)
	return status, answers, text
}

// Each message of a batch gets its own answer: what is wrong with one is no reason to refuse the others.
func TestHTTPBatchAnswersEach(t *testing.T) {
	w := serveHTTP(t, newHost(t, kit()...), nil, nil)
	session := w.session(t)
	const ping, call = `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"echo"}}`
	const noSession = `there is no session: send "initialize" first, and the Mcp-Session-Id of its answer with what follows`
	in := []string{headerSession, session}
	for name, c := range map[string]struct {
		batch  string
		header []string
		want   []string
	}{
		"all well":                              {ping + "," + call, in, []string{`"c" result`, "1 result"}},
		"by its revision":                       {ping + "," + call, []string{headerSession, session, headerRevision, "2025-03-26"}, []string{`"c" result`, "1 result"}},
		"an unknown method":                     {ping + `,{"jsonrpc":"2.0","id":2,"method":"no/such"},` + call, in, []string{`"c" result`, "1 result", `2 -32601 method not found: "no/such"`}},
		"of a later revision":                   {ping + `,{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{}}`, in, []string{"1 result", `2 -32601 method not found: "subscriptions/listen"`}},
		"no objects":                            {` 1 , "x" ,[], [` + ping + `],null,` + ping, in, []string{"1 result", "null -32600 a message must be a JSON object", "null -32600 a message must be a JSON object", "null -32600 a message must be a JSON object", "null -32600 a message must be a JSON object", "null -32600 a message must be a JSON object"}},
		"only such":                             {"1,2,3", in, []string{"null -32600 a message must be a JSON object", "null -32600 a message must be a JSON object", "null -32600 a message must be a JSON object"}},
		"malformed":                             {`{"jsonrpc":"1.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3},{"jsonrpc":"2.0","id":4,"method":5},{"jsonrpc":"2.0","id":1.5,"method":"ping"},{},` + ping, in, []string{"1 result", `2 -32600 "jsonrpc" must be "2.0"`, `3 -32600 "method" is missing`, `4 -32600 "method" must be a text`, `null -32600 "jsonrpc" must be "2.0"`, `null -32600 the id must be a text or a whole number of at most 2^53`}},
		"not UTF-8":                             {"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"\xff\"}," + ping, in, []string{"1 result", "2 -32700 the message is not UTF-8"}},
		"wrong parameters":                      {`{"jsonrpc":"2.0","id":2,"method":"tools/call"},{"jsonrpc":"2.0","id":3,"method":"tools/call","params":[]},{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":5}},` + ping, in, []string{"1 result", `2 -32600 "params" is missing`, `3 -32602 "params" must be an object`, `4 -32602 "params.name" must be a text`}},
		"an id twice":                           {ping + `,{"jsonrpc":"2.0","id":1.0,"method":"tools/list"},` + call, in, []string{`"c" result`, "1 result", "null -32600 the id 1.0 is that of another message of the batch"}},
		"notifications":                         {`{"jsonrpc":"2.0","method":"no/such"},{"jsonrpc":"2.0","method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","method":"notifications/progress"},` + ping, in, []string{"1 result"}},
		"one with an id":                        {`{"jsonrpc":"2.0","id":2,"method":"notifications/initialized"},` + ping, in, []string{"1 result", `2 -32600 "notifications/initialized" is a notification: it has no id`}},
		"an answer":                             {`{"jsonrpc":"2.0","id":7,"result":{}},` + ping, in, []string{"1 result"}},
		"wrong beside one that wants no answer": {`{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":2,"method":"no/such"}`, in, []string{`2 -32601 method not found: "no/such"`}},
		"a revision without batches": {`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol\/protocolVersion":"2026-07-28"}}},{"jsonrpc":"2.0","method":"notifications/initialized","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}},` + ping, in,
			[]string{"1 result", `2 -32600 revisions whose requests name them in "_meta" have no batches`}},
		"begun before": {`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"x","version":"1"}}},` + ping, in, []string{"1 result", "2 -32600 the session has begun; leave Mcp-Session-Id out to begin another"}},
		"no session":   {ping + "," + call, nil, []string{`"c" -32600 ` + noSession, "1 result"}},
	} {
		t.Run(name, func(t *testing.T) {
			status, answers, text := w.batch(t, "["+c.batch+"]", c.header...)
			if status != http.StatusOK || !slices.Equal(answers, c.want) {
				t.Errorf("%d %s\n%q, want\n%q", status, text, answers, c.want)
			}
		})
	}
	many := strings.Repeat(ping+",", maxBatch-1)
	if status, answers, text := w.batch(t, "["+many+ping+"]", in...); status != http.StatusOK || len(answers) != maxBatch {
		t.Errorf("as many as may be: %d, %d answers, %.200s", status, len(answers), text)
	}
	for name, c := range map[string]struct {
		body   string
		header []string
		status int
		says   string
	}{
		"empty":                 {" [ ]", nil, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a batch must hold at least one message"}}`},
		"not JSON":              {"[" + ping + `,{"jsonrpc"]`, nil, 400, `"id":null,"error":{"code":-32700,`},
		"two":                   {"[" + ping + "][]", nil, 400, `"id":null,"error":{"code":-32700,`},
		"too many":              {"[" + many + ping + "," + ping + "]", nil, 400, "a batch may hold 1000 messages"},
		"too many that are bad": {"[" + strings.Repeat("1,", 100_000) + "1]", nil, 400, "a batch may hold 1000 messages"},
		"accepts no stream":     {"[1," + ping + "]", []string{"Accept", "application/json"}, 400, "Accept"},
		"an unknown session":    {"[1," + ping + "]", []string{headerSession, "none"}, 404, "session not found"},
		"a later revision":      {"[1," + ping + "]", []string{headerRevision, "2025-06-18"}, 400, "atching is not supported"},
		"no request":            {`[{"jsonrpc":"2.0","method":"no/such"},{"jsonrpc":"2.0","method":"notifications/initialized"}]`, nil, 202, ""},
		"nothing that is known": {`[{"jsonrpc":"2.0","method":"no/such"}]`, nil, 202, ""},
	} {
		status, answers, text := w.batch(t, c.body, append(in, c.header...)...)
		if status != c.status || answers != nil || !strings.Contains(text, c.says) || c.says == "" && text != "" {
			t.Errorf("%s: %d %.500s", name, status, text)
		}
	}
}

// TestHTTPBatchMethods: the SDK takes every message that it is shown.
func TestHTTPBatchMethods(t *testing.T) {
	w := serveHTTP(t, newHost(t, kit()...), nil, nil)
	session := w.session(t)
	for method, m := range batchMethods {
		for _, params := range []string{"", `,"params":{}`, `,"params":null`, `,"params":{"_meta":{}}`} {
			id := `"id":2,`
			if m.notification {
				id = ""
			}
			status, answers, text := w.batch(t, fmt.Sprintf(`[{"jsonrpc":"2.0",%s"method":%q%s},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, id, method, params), headerSession, session)
			if status != http.StatusOK || !slices.Contains(answers, "1 result") || !m.notification && len(answers) != 2 || strings.Contains(text, `"code":0`) {
				t.Errorf("%s%s: %d %s", method, params, status, text)
			}
		}
	}
}

// FuzzHTTPBatch: whatever stands in a batch beside a request, that one is answered.
func FuzzHTTPBatch(f *testing.F) {
	for _, more := range []string{
		`1`, `{"jsonrpc":"2.0","id":"2","method":"no/such"}`, `{"jsonrpc":"2.0","method":"notifications/progress","params":[1]}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":null},{"jsonrpc":"2.0","id":4,"error":5}`,
		`{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"_META":{"x":1}}}`,
		`{"jsonrpc":"2.0","ID":6,"Method":"ping"}`,
	} {
		f.Add(more)
	}
	w := serveHTTP(f, newHost(f), nil, nil)
	session := w.session(f)
	f.Fuzz(func(t *testing.T, more string) {
		body := `[{"jsonrpc":"2.0","id":"this one","method":"ping"},` + more + `]`
		if !json.Valid([]byte(body)) || strings.Contains(more, "cancelled") {
			return
		}
		r := httptest.NewRecorder()
		w.handler.ServeHTTP(r, w.request(context.Background(), "POST", body, headerSession, session))
		if r.Code != http.StatusOK || !strings.Contains(r.Body.String(), `{"jsonrpc":"2.0","id":"this one","result":{}}`) {
			t.Errorf("%s\n%d %s", body, r.Code, r.Body)
		}
	})
}

// Where a call of a batch is cancelled, the others are answered.
func TestHTTPBatchWithACancelledCall(t *testing.T) {
	began, ended, finish := make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	last := toolNamed("last", func(ctx context.Context, _ *host.Call) (*host.Result, error) {
		select {
		case <-finish:
			return host.TextResult("done"), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	})
	w := serveHTTP(t, newHost(t, until(began, ended), last), nil, nil)
	session := w.session(t)
	answered := make(chan []string)
	go func() {
		_, answers, _ := w.batch(t, `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"until"}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"last"}},{"jsonrpc":"2.0","id":3,"method":"no/such"}]`, headerSession, session)
		answered <- answers
	}()
	<-began
	w.ask(t, w.request(t.Context(), "POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, headerSession, session))
	<-ended
	close(finish)
	got := <-answered
	if !slices.Contains(got, "2 result") || !slices.Contains(got, `3 -32601 method not found: "no/such"`) || slices.Contains(got, "1 result") {
		t.Errorf("%q", got)
	}
}
