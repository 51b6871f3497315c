package mounted

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
)

// A client's _meta reaches the server, to the digit, but for what is between the client and this host.
func TestMeta(t *testing.T) {
	var got atomic.Pointer[json.RawMessage] // the params of the last call
	others := answering(func(method string) string {
		switch method {
		case "initialize":
			return `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`
		case "tools/list":
			return `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
		}
		return `{"content":[{"type":"text","text":"done"}]}`
	}, false)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct {
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(body, &m) == nil && m.Method == "tools/call" {
			got.Store(&m.Params)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		others.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h := host.New(&host.Options{Folder: t.TempDir(), Limits: host.Limits{Arguments: 1000}, Log: logger})
	s, err := New(h, map[string]Config{"srv": {URL: web.URL}, "program": serving("meta")}, &Options{Folder: t.TempDir(), Version: "1", Log: logger})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	s.Await(t.Context())
	var id string
	defer h.Observe(observer(func(e host.Event) {
		if e.Kind == host.CallStarted {
			id = e.Call.ID
		}
	}))()
	for meta, want := range map[string]string{
		"": "", "null": "", "{}": "",
		`{"progressToken":"theirs","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{}}`:   "",
		`{"x.example/a":` + exactly + `,"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","secret":"the word"}`: `"x.example/a":` + exactly + `,"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","secret":"the word",`,
		`{"io.modelcontextprotocolx":null,"a":1,"a":2}`: `"io.modelcontextprotocolx":null,"a":2,`,
	} {
		r, err := h.Call(t.Context(), &host.Call{Tool: "srv__t", Meta: json.RawMessage(meta)})
		if err != nil || r.IsError {
			t.Fatalf("%s: %+v, %v", meta, r, err)
		}
		var params struct {
			Meta json.RawMessage `json:"_meta"`
		}
		if err := json.Unmarshal(*got.Load(), &params); err != nil {
			t.Fatal(err)
		}
		want = `{` + want + `"progressToken":"` + id + `"}`
		if has, _ := jsondoc.Value(params.Meta); !reflect.DeepEqual(has, value(t, want)) {
			t.Errorf("%s: the server gets %s, want %s", meta, params.Meta, want)
		}
	}
	for meta, says := range map[string]string{
		`{"x":"` + strings.Repeat("x", 1000) + `"}`: "the limit is 1000 bytes",
		`[1]`: "no JSON object",
		`{"x`: "no JSON object",
	} {
		got.Store(nil)
		r, err := h.Call(t.Context(), &host.Call{Tool: "srv__t", Meta: json.RawMessage(meta)})
		if err != nil || !r.IsError || !strings.Contains(r.Content[0].Text(), says) || got.Load() != nil {
			t.Errorf("%.50s: %+v, %v", meta, r, err)
		}
	}
	r, err := h.Call(t.Context(), &host.Call{Tool: "program__meta", Meta: json.RawMessage(`{"x.example/a":{"b":[1,"<é>"]},"io.modelcontextprotocol/clientInfo":{"name":"the word"}}`)})
	if err != nil || r.IsError {
		t.Fatalf("a program: %+v, %v", r, err)
	}
	for _, part := range []string{`"x.example/a":{"b":[1,"<é>"]}`, `"progressToken":"` + id + `"`, `"name":"toolhost"`} {
		if text := r.Content[0].Text(); !strings.Contains(text, part) || strings.Contains(text, "the word") {
			t.Errorf("a program gets %s, want %s", text, part)
		}
	}
	_ = h.Close(t.Context())
	s.Close()
	if strings.Contains(log.String(), "the word") {
		t.Errorf("the log has what a client said:\n%s", &log)
	}
}

// value reads JSON with all digits.
func value(t *testing.T, text string) any {
	t.Helper()
	v, ok := jsondoc.Value([]byte(text))
	if !ok {
		t.Fatalf("%s is too deep", text)
	}
	return v
}
