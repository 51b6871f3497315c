package complete_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/internal/complete"
)

func TestMain(m *testing.M) {
	child.Main()
	goleak.VerifyTestMain(m)
}

func completer(t *testing.T, c *complete.Config) *complete.Completer {
	t.Helper()
	made, err := complete.New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Close)
	return made
}

func sh(script string) *complete.Config {
	return &complete.Config{Command: []string{"sh", "-c", script}}
}

func TestCommand(t *testing.T) {
	t.Setenv("OF_THE_USER", "yes")
	long := strings.Repeat("x", 900_000)
	for _, c := range []struct{ script, prompt, want, fails string }{
		{"cat", "zażółć", "zażółć", ""},
		{"cat", long, long, ""},
		{"echo early", long, "early", ""},
		{`echo "$OF_THE_USER"`, "", "yes", ""},
		{"echo no key >&2; exit 3", "x", "", "the model's program ended with exit status 3: no key"},
		{"head -c 3000000 /dev/zero", "x", "", "more than 1048576 bytes"},
		{"cat", strings.Repeat("x", 1<<20+1), "", "the prompt has 1048577 bytes"},
	} {
		text, err := completer(t, sh(c.script)).Complete(t.Context(), &host.Prompt{Text: c.prompt})
		if c.fails == "" && (err != nil || text != c.want) {
			t.Errorf("%s: %.100q, %v", c.script, text, err)
		}
		if c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: %.100q, %v; want %q", c.script, text, err, c.fails)
		}
	}
}

func TestCommandThatHangs(t *testing.T) {
	config := sh("sleep 86400")
	config.Timeout = "100ms"
	if _, err := completer(t, config).Complete(t.Context(), &host.Prompt{Text: "x"}); err == nil || !strings.Contains(err.Error(), "did not answer within 100ms") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := completer(t, sh("trap '' TERM; sleep 86400")).Complete(ctx, &host.Prompt{Text: strings.Repeat("x", 1<<20)}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestService(t *testing.T) {
	t.Setenv("KEY", "s3cret")
	for _, c := range []struct {
		name        string
		code        int
		body        string
		want, fails string
	}{
		{"fine", 200, `{"choices":[{"message":{"role":"assistant","content":"hello"}}]}`, "hello", ""},
		{"refused", 401, `{"error":{"message":"no such key"}}`, "", "answered 401: no such key"},
		{"down", 502, `<html>`, "", "answered 502 Bad Gateway"},
		{"no JSON", 200, `<html>`, "", "no JSON of a chat completion"},
		{"no choice", 200, `{"choices":[]}`, "", "without a text"},
		{"no text", 200, `{"choices":[{"message":{"content":null}}]}`, "", "without a text"},
		{"too much", 200, `{"choices":[{"message":{"content":"` + strings.Repeat("x", 5<<20) + `"}}]}`, "", "more than 4194304 bytes"},
		{"redirect", 302, ``, "", "answered 302"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var m struct {
					Model    string
					Messages []struct{ Role, Content string }
				}
				if err := json.NewDecoder(r.Body).Decode(&m); err != nil || m.Model != "small" || len(m.Messages) != 1 || m.Messages[0].Content != "say it" {
					t.Errorf("asked %+v, %v", m, err)
				}
				if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer s3cret" || r.Header.Get("X-Team") != "s3cret" {
					t.Errorf("asked %s with %v", r.URL, r.Header)
				}
				if c.code == 302 {
					w.Header().Set("Location", "/elsewhere")
				}
				w.WriteHeader(c.code)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			model := completer(t, &complete.Config{URL: server.URL + "/v1", Model: "small", KeyEnv: "KEY", HeadersEnv: map[string]string{"X-Team": "KEY"}})
			text, err := model.Complete(t.Context(), &host.Prompt{Text: "say it"})
			model.Close()
			if text != c.want || (err == nil) != (c.fails == "") || err != nil && (!strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), "s3cret")) {
				t.Errorf("got %.100q, %v; want %q, %q", text, err, c.want, c.fails)
			}
		})
	}
}

func TestWrongConfigurations(t *testing.T) {
	for _, c := range []struct {
		config complete.Config
		want   string
	}{
		{complete.Config{}, "neither"},
		{complete.Config{Command: []string{"sh"}, URL: "http://x"}, "one of them must go"},
		{complete.Config{Command: []string{"no-such-program-here"}}, `looking for the program "no-such-program-here"`},
		{complete.Config{URL: "ftp://x", Model: "m"}, "none of http or https"},
		{complete.Config{URL: "http://u:p@x", Model: "m"}, "no password"},
		{complete.Config{URL: "http://x"}, `needs a "model"`},
		{complete.Config{Command: []string{"sh"}, Timeout: "soon"}, "no time"},
	} {
		if _, err := complete.New(&c.config, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.config, err, c.want)
		}
	}
	_, err := completer(t, &complete.Config{URL: "http://127.0.0.1:1", Model: "m", KeyEnv: "NOT_SET_HERE"}).Complete(t.Context(), &host.Prompt{Text: "x"})
	if err == nil || !strings.Contains(err.Error(), `"NOT_SET_HERE"`) {
		t.Errorf("got %v", err)
	}
}

func TestImages(t *testing.T) {
	prompt := &host.Prompt{Text: "what is it?", Images: []host.PromptImage{{MIMEType: "image/png", Data: []byte("pixels")}, {MIMEType: "image/gif", Data: []byte{0xff}}}}
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		asked = string(body)
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"a dot"}}]}`)
	}))
	defer server.Close()
	model := completer(t, &complete.Config{URL: server.URL, Model: "small"})
	text, err := model.Complete(t.Context(), prompt)
	model.Close()
	if text != "a dot" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	want := `"content":[{"text":"what is it?","type":"text"},` +
		`{"image_url":{"url":"data:image/png;base64,cGl4ZWxz"},"type":"image_url"},{"image_url":{"url":"data:image/gif;base64,/w=="},"type":"image_url"}]`
	if !strings.Contains(asked, want) {
		t.Errorf("asked %s", asked)
	}
	// A program must not answer about images that it never saw.
	if text, err := completer(t, sh("echo a cat")).Complete(t.Context(), prompt); err == nil || !strings.Contains(err.Error(), "sees no images") {
		t.Errorf("got %q, %v", text, err)
	}
}
