package mcpserver

import (
	"context"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/host"
)

// A handler of the host sees what a client says in _meta, whoever serves the call.
func TestMeta(t *testing.T) {
	meta := toolNamed("meta", func(_ context.Context, c *host.Call) (*host.Result, error) {
		return host.TextResult("meta " + string(c.Meta)), nil
	})
	w := serveHTTP(t, newHost(t, meta), nil, nil)
	session := w.session(t)
	for said, want := range map[string]string{
		`,"_meta":{"x.example/a":{"n":9007199254740993,"t":"<é>"},"progressToken":"p"}`: `meta {"x.example/a":{"n":9007199254740993,"t":"<é>"},"progressToken":"p"}`,
		`,"_meta":{"traceparent":"t"},"_meta":{"y":[1]}`:                                `meta {"y":[1]}`,
		`,"_meta":{"y":[1,"<é>"],` + sdkMeta + `}`:                                      `meta {` + sdkMeta + `,"y":[1,"<é>"]}`,
		`,"_meta":{}`:   `meta {}`,
		`,"_meta":null`: `meta null`,
		``:              `meta `,
	} {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"meta"` + said + `}}`
		_, answer, _ := w.ask(t, w.request(t.Context(), "POST", body, headerSession, session))
		found := answers(t, answer)
		if len(found) != 1 {
			t.Fatalf("%s: %s", said, answer)
		}
		content, _ := found[0]["result"].(map[string]any)["content"].([]any)
		if text := content[0].(map[string]any)["text"]; text != want {
			t.Errorf("%s: %s, want %s", said, text, want)
		}
	}
	// In the stateless revision it holds what is of the protocol, too.
	_, answer, _ := w.ask(t, w.call(t.Context(), true, "", "1", "meta", "{}"))
	if !strings.Contains(answer, `meta {\"io.modelcontextprotocol/`) {
		t.Error(answer)
	}
}
