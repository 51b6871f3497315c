package mounted

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// local answers requests without a network, in the time of the test.
type local struct{ http.Handler }

func (l local) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	answer := httptest.NewRecorder()
	l.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// A server that ends each stream, and asks to be reconnected to at once, is reconnected to as
// often as is needed and no oftener.
func TestReconnecting(t *testing.T) {
	for retry, most := range map[string]int64{
		"0": 10, "-5": 10, // what the SDK does of its own
		"1": 100, "99": 100, "+1": 100, "18446744073710": 100, // more than an int64 of nanoseconds: 0.4 ms
		"100": 100, "1000": 10, "5000": 2,
	} {
		t.Run(retry, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var connections atomic.Int64
				begin := func(w io.Writer) { // a stream that can be taken up, and ends
					fmt.Fprintf(w, "id: %d\nretry: %s\ndata:\n\n", connections.Add(1), retry)
				}
				others := answering(func(string) string {
					return `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`
				}, false)
				web := local{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") == "" { // no stream for news
						w.WriteHeader(http.StatusMethodNotAllowed)
						return
					}
					var body []byte
					if r.Body != nil {
						body, _ = io.ReadAll(r.Body)
					}
					if r.Method == http.MethodGet || bytes.Contains(body, []byte("tools/call")) {
						w.Header().Set("Content-Type", "text/event-stream")
						begin(w)
						return
					}
					r.Body = io.NopCloser(bytes.NewReader(body))
					others.ServeHTTP(w, r)
				})}
				to := &url.URL{Scheme: "http", Host: "server"}
				client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
				session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
					Endpoint: to.String(), HTTPClient: &http.Client{Transport: &front{base: web, to: to}},
				}, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "t"}); err == nil || !strings.Contains(err.Error(), "deadline") {
					t.Errorf("the call ends with %v", err)
				}
				if n := connections.Load(); n < 2 || n > most+1 {
					t.Errorf("%d connections in ten seconds, want at most %d", n, most+1)
				}
			})
		})
	}
}

// Of an event that asks for it too soon the rest comes as it was.
func TestRetry(t *testing.T) {
	for in, want := range map[string]string{
		"id: 1\nretry: 5\ndata: x\n\n":     "id: 1\nretry: 100\ndata: x\n\n",
		"retry:5\r\nretry:99\r\nid: 1\r\n": "retry: 100\nretry: 100\nid: 1\r\n",
		"retry: 100\n\n":                   "retry: 100\n\n",
		"retry: 0\n\n":                     "retry: 0\n\n",
		"retry\n\n":                        "retry\n\n",
		"retries: 5\n\ndata: retry: 5\n\n": "retries: 5\n\ndata: retry: 5\n\n",
		"retry: 7\ndata: " + said + "\n\n": "retry: 100\n\n",
	} {
		g := &gate{progress: func(json.RawMessage) {}}
		if out, err := io.ReadAll(newEvents(g, io.NopCloser(strings.NewReader(in)))); err != nil || string(out) != want {
			t.Errorf("%q became %q, %v", in, out, err)
		}
	}
}
