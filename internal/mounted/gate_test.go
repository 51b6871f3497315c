package mounted

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/toolhost/toolhost/host"
)

const said = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`

// A program that floods with progress is heard, but not kept.
func TestFloodOfProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := strings.Repeat(said+"\n", 100_000) + `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
		p := &program{log: slog.New(slog.DiscardHandler), in: bufio.NewReader(strings.NewReader(lines))}
		for n := 0; ; n++ {
			msg, err := p.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, answer := msg.(*jsonrpc.Response); answer {
				if n != maxSaid {
					t.Errorf("%d messages of progress are taken in a moment, not %d", n, maxSaid)
				}
				break
			}
		}
		time.Sleep(time.Second)
		p.in = bufio.NewReader(strings.NewReader(said + "\n"))
		if _, err := p.Read(t.Context()); err != nil {
			t.Errorf("a second later: %v", err)
		}
	})
}

// So is one that is reached by HTTP, over all its streams together.
func TestFloodOfEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{}
		read := func(n int) string {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, "event: message\nid: %d\ndata: %s\n\n", i, said)
			}
			b.WriteString("data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{}}\n\n")
			out, err := io.ReadAll(newEvents(g, io.NopCloser(strings.NewReader(b.String()))))
			if err != nil {
				t.Error(err)
			}
			return string(out)
		}
		first, second := read(2_000), read(2_000)
		if n := strings.Count(first+second, "progressToken"); n != maxSaid {
			t.Errorf("%d messages of progress are taken in a moment, not %d", n, maxSaid)
		}
		for _, out := range []string{first, second} {
			if !strings.HasSuffix(out, "\"result\":{}}\n\n") || !strings.Contains(out, "id: 1999\n") {
				t.Errorf("the answer or the place in the stream is lost: %q", out[max(0, len(out)-200):])
			}
		}
		time.Sleep(time.Second)
		if n := strings.Count(read(1), "progressToken"); n != 1 {
			t.Error("a second later nothing is heard")
		}
	})
}

// So are all other messages that nobody has asked for; requests as long as they are not answered.
func TestFloodOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{}
		passed := func(text string) (n int) {
			for range 1000 {
				if msg, err := jsonrpc.DecodeMessage([]byte(text)); err != nil {
					t.Fatal(err)
				} else if g.pass(msg) != nil {
					n++
				}
			}
			return n
		}
		changed := `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
		ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		for range 2 {
			if a, b, c := passed(said), passed(changed), passed(`{"jsonrpc":"2.0","method":"other"}`); a != maxSaid || b != maxSaid || c != 0 {
				t.Errorf("%d, %d and %d messages are taken in a moment, not %d, %[4]d and none", a, b, c, maxSaid)
			}
			time.Sleep(time.Second)
		}
		if a, b := passed(ping), passed(ping); a != maxAsked || b != 0 {
			t.Errorf("%d requests are taken at once, and %d more, not %d", a, b, maxAsked)
		}
		time.Sleep(time.Hour)
		if n := passed(ping); n != 0 {
			t.Errorf("%d requests more are taken though none was answered", n)
		}
		g.answered()
		if n := passed(ping); n != 1 {
			t.Errorf("%d requests are taken after one was answered", n)
		}
	})
}

// A server that is reached by HTTP may ask as often as it likes, one request after the other.
func TestRequestsByHTTP(t *testing.T) {
	answers := make(chan bool, 2*maxAsked)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(body, &m)
		switch {
		case m.Method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range 2 * maxAsked {
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"p%d\",\"method\":\"ping\"}\n\n", i)
				_ = http.NewResponseController(w).Flush()
				select {
				case <-answers:
				case <-r.Context().Done():
					return
				}
			}
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}}\n\n", m.ID)
		case r.Method == http.MethodPost && m.Method == "" && r.URL.Path == "/": // answered elsewhere
			http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
		case r.Method == http.MethodPost && m.Method == "":
			w.WriteHeader(http.StatusAccepted)
			_ = http.NewResponseController(w).Flush()
			answers <- true // the client is told first: it need not stay for the rest
		default:
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			answering(func(method string) string {
				if method == "initialize" {
					return `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`
				}
				return `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
			}, false).ServeHTTP(w, r)
		}
	}))
	t.Cleanup(web.Close)
	h, _ := mount(t, map[string]Config{"srv": {URL: web.URL + "/"}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if r, err := h.Call(ctx, &host.Call{Tool: "srv__t"}); err != nil || r.IsError || r.Content[0].Text() != "done" {
		t.Errorf("the call gives %+v, %v", r, err)
	}
}

// So may one that is a program.
func TestRequestsOfAProgram(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h, _ := mount(t, map[string]Config{"srv": {Command: self, Args: []string{"serve", "asks"}}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if r, err := h.Call(ctx, &host.Call{Tool: "srv__asks"}); err != nil || r.IsError || r.Content[0].Text() != "done" {
		t.Errorf("the call gives %+v, %v", r, err)
	}
}

// What looks like progress and wants an answer gets one: it would count as asked for ever.
func TestProgressThatAsks(t *testing.T) {
	said := 0
	g := &gate{progress: func(json.RawMessage) { said++ }}
	for _, id := range []string{"", `"id":1,`} {
		msg, err := jsonrpc.DecodeMessage([]byte(`{"jsonrpc":"2.0",` + id + `"method":"notifications/progress","params":{"progressToken":"x","progress":1}}`))
		if err != nil {
			t.Fatal(err)
		}
		if passed := g.pass(msg) != nil; passed != (id != "") || said != 1 {
			t.Errorf("%q: passed %v, said %d", id, passed, said)
		}
	}
}

// TestEvents: what needs no change comes as it was, whatever it is.
func TestEvents(t *testing.T) {
	for name, stream := range map[string]string{
		"empty":               "",
		"comments":            ": hello\n\n: again\n\n",
		"no end":              "data: " + said,
		"other lines":         "retry: 5000\r\nid: 1\r\ndata:" + said + "\r\n\r\n",
		"another name":        "event: other\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\n",
		"no message":          "data: {\"jsonrpc\"\n\ndata: 5\n\n",
		"a result of no call": "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}\n\n",
		"an error":            "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"m\"}}\n\n",
		"malformed":           "what is this\n\n",
	} {
		out, err := io.ReadAll(newEvents(&gate{}, io.NopCloser(strings.NewReader(stream))))
		if err != nil || string(out) != stream {
			t.Errorf("%s: %q became %q, %v", name, stream, out, err)
		}
	}
	for name, stream := range map[string]string{
		"a long line":   "data: " + strings.Repeat("x", maxBody),
		"no blank line": strings.Repeat(strings.Repeat("x", 1<<16)+"\n", maxBody>>16),
	} {
		if _, err := io.ReadAll(newEvents(&gate{}, io.NopCloser(strings.NewReader(stream)))); err == nil || !strings.Contains(err.Error(), "an event of more than") {
			t.Errorf("%s: %v", name, err)
		}
	}
	large := &document{gate: &gate{}, body: io.NopCloser(strings.NewReader(strings.Repeat(" ", maxBody+1)))}
	if _, err := io.ReadAll(large); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a large document: %v", err)
	}
}

// FuzzEvents: however a stream is cut into reads, its messages come in order and are the same,
// but for the results of calls, which are kept whole, and for how soon to come back.
func FuzzEvents(f *testing.F) {
	f.Add("id: 1\ndata: "+said+"\n\n", 3)
	f.Add("data: {\"jsonrpc\":\"2.0\",\"id\":1,\n", 1)
	f.Add("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[],\n"+"data: \"structuredContent\":{\"n\":9007199254740993}}}\n\n", 7)
	f.Fuzz(func(t *testing.T, stream string, size int) {
		read := func(size int) []byte {
			e := newEvents(&gate{}, io.NopCloser(strings.NewReader(stream)))
			var out []byte
			for buf := make([]byte, size); ; {
				n, err := e.Read(buf)
				out = append(out, buf[:n]...)
				if err != nil {
					return out
				}
			}
		}
		whole := read(1 << 16)
		if cut := read(1 + size&0xff); string(cut) != string(whole) {
			t.Errorf("read in pieces it is %q, at once %q", cut, whole)
		}
		if !strings.Contains(stream, "ontent") && !strings.Contains(stream, `\u`) && !strings.Contains(stream, "retry") && strings.Count(stream, "notifications/") <= maxSaid && string(whole) != stream {
			t.Errorf("%q became %q", stream, whole)
		}
	})
}

// TestResultsByHTTP: the digits of a result are all there in both forms of an answer, and a
// server that asks for more is not taken for one that has answered.
func TestResultsByHTTP(t *testing.T) {
	for name, c := range map[string]struct {
		stream bool
		result string
		want   string
	}{
		"document":   {false, `{"content":[{"type":"text","text":"t"}],"structuredContent":` + exactly + `}`, exactly},
		"stream":     {true, `{"content":[{"type":"text","text":"t"}],"structuredContent":` + exactly + `}`, exactly},
		"lines":      {true, "{\ndata: \"content\":[],\ndata: \"structuredContent\":{\"n\":9007199254740993}}", `{"n":9007199254740993}`},
		"only texts": {false, `{"content":[{"type":"text","text":"t"}]}`, ""},
		"no object":  {true, `{"content":[],"structuredContent":[9007199254740993]}`, "text [9007199254740993]"},
		"nothing":    {false, `{}`, "text OK"},
		"odd block":  {true, `{"content":[{"type":"new","n":9007199254740993,"huge":1e400}]}`, `text {"type":"new","n":9007199254740993,"huge":1e400}`},
		"input":      {false, `{"resultType":"input_required","inputRequests":{}}`, "failed"},
		"no blocks":  {false, `{"content":5,"structuredContent":{}}`, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewServer(answering(func(method string) string {
				switch method {
				case "initialize":
					return `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`
				case "tools/list":
					return `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
				}
				return c.result
			}, c.stream))
			t.Cleanup(web.Close)
			h, _ := mount(t, map[string]Config{"srv": {URL: web.URL}})
			r, err := h.Call(t.Context(), &host.Call{Tool: "srv__t"})
			if err != nil {
				t.Fatal(err)
			}
			got := string(r.Structured)
			switch {
			case r.IsError:
				got = "failed"
			case got == "" && c.want != "":
				got = "text " + r.Content[0].Text()
			}
			if got != c.want {
				t.Errorf("the result is %s, %q, want %s", got, r.Content[0].Text(), c.want)
			}
		})
	}
}

// answering is an MCP server without the SDK.
func answering(answer func(method string) string, stream bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		if m.Method == "server/discover" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
			return
		}
		form, text := "application/json", `{"jsonrpc":"2.0","id":%s,"result":%s}`
		if stream {
			form, text = "text/event-stream", "data: "+text+"\n\n"
		}
		w.Header().Set("Content-Type", form)
		fmt.Fprintf(w, text, m.ID, answer(m.Method))
	})
}

// A flood over HTTP reaches neither the call's observers nor the memory of this program.
func TestFloodByHTTP(t *testing.T) {
	const flood = 3_000
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := answering(func(method string) string {
			switch method {
			case "initialize":
				return `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`
			case "tools/list":
				return `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
			}
			return `{"content":[]}`
		}, false)
		body, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
			}
		}
		if json.Unmarshal(body, &m) != nil || m.Method != "tools/call" {
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			answer.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range flood {
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":%d}}\n\n", m.Params.Meta.ProgressToken, i+1)
		}
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}}\n\n", m.ID)
	}))
	t.Cleanup(web.Close)
	h, _ := mount(t, map[string]Config{"srv": {URL: web.URL}})
	var heard atomic.Int64
	stop := h.Observe(observer(func(e host.Event) {
		if e.Kind == host.CallProgress {
			heard.Add(1)
		}
	}))
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := h.Call(ctx, &host.Call{Tool: "srv__t"})
	seconds := int64(time.Since(began)/time.Second) + 1
	stop()
	if err != nil || r.IsError || r.Content[0].Text() != "done" {
		t.Fatalf("the call gives %+v, %v", r, err)
	}
	if n := heard.Load(); n > maxSaid*seconds {
		t.Errorf("%d messages of progress were heard in %d seconds", n, seconds)
	}
}
