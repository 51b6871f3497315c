package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/toolhost/toolhost/host"
)

func TestLineReader(t *testing.T) {
	longest := strings.Repeat("x", maxLine)
	tests := []struct {
		name, in string
		want     []string // "!" stands for a line that is too long
	}{
		{"nothing", "", nil},
		{"lines", "a\nb\n", []string{"a", "b"}},
		{"empty lines", "\n\na\n", []string{"", "", "a"}},
		{"no end", "a\nb", []string{"a", "b"}},
		{"longest", longest + "\na\n", []string{longest, "a"}},
		{"longest, no end", longest, []string{longest}},
		{"too long", longest + "y\na\n", []string{"!", "a"}},
		{"much too long", longest + longest + "\na", []string{"!", "a"}},
		{"too long, no end", "a\n" + longest + "y", []string{"a", "!"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newLineReader(iotest.DataErrReader(strings.NewReader(test.in)))
			for _, want := range test.want {
				line, err := r.next()
				if want == "!" {
					if err != errTooLong {
						t.Fatalf("got %d bytes and error %v, not errTooLong", len(line), err)
					}
					continue
				}
				if err != nil || string(line) != want {
					t.Fatalf("got %d bytes and error %v, not %d bytes", len(line), err, len(want))
				}
			}
			if line, err := r.next(); !errors.Is(err, io.EOF) {
				t.Errorf("at the end got %.20q, %v", line, err)
			}
		})
	}
}

func TestLineReaderGivesOtherErrors(t *testing.T) {
	broken := errors.New("broken")
	r := newLineReader(io.MultiReader(strings.NewReader("a\nhalf"), iotest.ErrReader(broken)))
	if line, err := r.next(); string(line) != "a" || err != nil {
		t.Fatalf("got %q, %v", line, err)
	}
	if line, err := r.next(); !errors.Is(err, broken) {
		t.Errorf("got %q, %v: half a line must not be served", line, err)
	}
}

func TestEncodeResponse(t *testing.T) {
	long := strings.Repeat("é", 5000)
	tests := []struct {
		name string
		id   string
		err  error
		want string
	}{
		{"own", `1`, &jsonrpc.Error{Code: -32602, Message: "no", Data: json.RawMessage(`{"a":1}`)}, `{"code":-32602,"message":"no","data":{"a":1}}`},
		{"wrapped", `"x"`, fmt.Errorf("doing: %w", &jsonrpc.Error{Code: -32601, Message: "no"}), `{"code":-32601,"message":"doing: no"}`},
		{"without a code", `1`, errors.New("no"), `{"code":-32600,"message":"no"}`},
		{"long", `1`, errors.New(long), `{"code":-32600,"message":"` + long[:2*maxErrorMessage] + `"}`},
		{"not text", `1`, errors.New("a\xff\n"), `{"code":-32600,"message":"a\ufffd\n"}`},
		{"data that is no JSON", `1`, &jsonrpc.Error{Code: 1, Message: "no", Data: json.RawMessage(`{`)}, `{"code":1,"message":"no"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			line := encodeResponse(json.RawMessage(test.id), nil, test.err)
			want := `{"jsonrpc":"2.0","id":` + test.id + `,"error":` + test.want + "}\n"
			if string(line) != want {
				t.Errorf("got %s, not %s", line, want)
			}
		})
	}
	if line := encodeResponse(nil, json.RawMessage(`{}`), nil); string(line) != `{"jsonrpc":"2.0","id":null,"result":{}}`+"\n" {
		t.Errorf("got %s", line)
	}
}

func TestWellFormed(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{"a":"b"}`, `{"a":"b"}`},
		{`"\ud83d\ude00"`, `"\ud83d\ude00"`},
		{`"\uD83D\uDE00"`, `"\uD83D\uDE00"`},
		{`"\ud83d"`, `"\ufffd"`},
		{`"\ude00\ud83d"`, `"\ufffd\ufffd"`},
		{`"\ud83d\ud83d\ude00"`, `"\ufffd\ud83d\ude00"`},
		{`"\ud83dx\ude00"`, `"\ufffdx\ufffd"`},
		{`"\ud83d\n"`, `"\ufffd\n"`},
		{`"\\ud83d"`, `"\\ud83d"`},
		{`"\\\ud83d"`, `"\\\ufffd"`},
		{`"\ud7ff\ue000"`, `"\ud7ff\ue000"`},
		{"\"\xff\"", "\"\ufffd\""},
		{"\"\xed\xa0\x80\"", "\"\ufffd\""},
	}
	for _, test := range tests {
		if got := string(wellFormed([]byte(test.in))); got != test.want {
			t.Errorf("%s gave %s, not %s", test.in, got, test.want)
		}
	}
}

// FuzzServe sends any lines to a server. It must not panic; what it writes is sound;
// and a client that closes its end gets at most one answer for each id.
func FuzzServe(f *testing.F) {
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no scripts: %v", err)
	}
	sent := regexp.MustCompile(`(?m)^> (.*)$`)
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		var lines []string
		for _, m := range sent.FindAllSubmatch(txtar.Parse(data).Files[0].Data, -1) {
			lines = append(lines, string(m[1]))
		}
		f.Add([]byte(strings.Join(lines, "\n")))
	}
	h := newHost(f, kit()[:10]...) // those that take no time
	s := New(h, nil)
	f.Cleanup(s.Close)
	f.Fuzz(func(t *testing.T, in []byte) {
		if bytes.Contains(in, []byte(`"slow"`)) || bytes.Contains(in, []byte("subscriptions/listen")) {
			return
		}
		var out bytes.Buffer
		start := time.Now()
		defer func() {
			if took := time.Since(start); took > grace {
				t.Errorf("it took %s: something is never answered", took)
			}
		}()
		if err := s.ServeStdio(t.Context(), bytes.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			m := sound(t, line)
			_, isAnswer := m["result"]
			_, isError := m["error"]
			_, isNotification := m["method"]
			if n := btoi(isAnswer) + btoi(isError) + btoi(isNotification); n != 1 {
				t.Errorf("neither an answer nor a notification: %s", line)
			}
			if string(wellFormed([]byte(line))) != line {
				t.Errorf("not well formed: %q", line)
			}
		}
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestEncodeResult compares with encoding/json.
func TestEncodeResult(t *testing.T) {
	var link host.Content
	if err := json.Unmarshal([]byte("{ \"type\": \"resource_link\",\n \"uri\": \"file:///a\", \"name\": \"<a>\",\n \"size\": 1e400 }"), &link); err != nil {
		t.Fatal(err)
	}
	results := []*callResult{
		{Content: []host.Content{}},
		{Content: []host.Content{host.Text("")}, IsError: true},
		{Content: []host.Content{host.Text("a\n\"b\" <c> ü 😀 \u2028 \x00"), host.Image([]byte{1, 2, 3}, "image/png"), link}},
		{
			ResultBase: mcp.ResultBase{Meta: mcp.Meta{"b": json.RawMessage("[1,\n2]"), "a": "<text>", mcp.MetaKeyServerInfo: &mcp.Implementation{Name: "host", Version: "1"}}},
			ResultType: "complete", Content: []host.Content{host.Text("x")}, Structured: json.RawMessage("{\n\t\"n\": 12345678901234567890, \"s\": \"\\ud83d\\ude00\"\n}"),
		},
	}
	for _, result := range results {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(result); err != nil {
			t.Fatal(err)
		}
		line, err := encodeResult(json.RawMessage(`"id"`), result)
		if err != nil {
			t.Fatal(err)
		}
		if got := `{"jsonrpc":"2.0","id":"id","result":` + strings.TrimSuffix(want.String(), "\n") + "}\n"; string(line) != got {
			t.Errorf("the line is\n%s, not\n%s", line, got)
		}
	}
	if _, err := encodeResult(json.RawMessage("1"), &callResult{Structured: json.RawMessage("{")}); err == nil {
		t.Error("structured content that is no JSON was sent")
	}
}

// What ends lines for some readers stands in no line as it is, wherever it comes from.
func TestLineEndsInTexts(t *testing.T) {
	const text = "\"a\u2028b\u2029c\u2027\""
	var block host.Content
	if err := block.UnmarshalJSON([]byte(`{"type":"resource","resource":{"uri":"a:b","text":` + text + `}}`)); err != nil {
		t.Fatal(err)
	}
	line, err := encodeResult(json.RawMessage("1"), &callResult{
		ResultBase: mcp.ResultBase{Meta: mcp.Meta{"m": json.RawMessage(text)}},
		Content:    []host.Content{block, host.Text("a\u2028b\u2029c\u2027")}, Structured: json.RawMessage(`{"s":` + text + `}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{string(line), string(encodeResponse(json.RawMessage(text), json.RawMessage(`{"tools":[{"title":`+text+`}]}`), nil))} {
		sound(t, line)
		if strings.ContainsAny(line, "\u2028\u2029") || strings.Count(line, `a\u2028b\u2029c`+"\u2027") < 2 {
			t.Errorf("%q", line)
		}
	}
}
