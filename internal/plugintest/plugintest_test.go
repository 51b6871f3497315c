package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

func writeCase(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, Folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLoadReportsWhatIsWrong(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"syntax":       {"{\n\"tool\": }", "case.json:2:9: "},
		"unknown":      {`{"tool": "t", "expects": {}}`, `unknown field "expects"; did you mean "expect"?`},
		"far":          {`{"tool": "t", "zzzzzzzz": {}}`, `case.json: unknown field "zzzzzzzz"`},
		"kind":         {`{"tool": "t", "expect": {"contains": "x"}}`, `the field "expect.contains" cannot be this: string`},
		"no tool":      {`{"expect": {}}`, `a case names its "tool"`},
		"outside":      {`{"tool": "t", "files": {"../x": ""}}`, `the file "../x" lies outside the folder`},
		"absolute":     {`{"tool": "t", "files": {"/x": ""}}`, "lies outside the folder"},
		"both forms":   {`{"tool": "t", "files": {"x": {"text": "a", "base64": "YQ=="}}}`, "either text or base64"},
		"bad base64":   {`{"tool": "t", "files": {"x": {"base64": "?"}}}`, "illegal base64"},
		"too often":    {`{"tool": "t", "files": {"x": {"text": "ab", "times": 1000000000000}}}`, "is more than"},
		"less than no": {`{"tool": "t", "files": {"x": {"text": "ab", "times": -1}}}`, "less than none"},
		"too large":    {`{"tool": "` + strings.Repeat("x", maxCase) + `"}`, "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a[b]*")
			writeCase(t, dir, "case.json", test.text)
			writeCase(t, dir, "good.json", `{"tool": "t"}`)
			cases, err := Load(dir)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "case.json") {
				t.Errorf("error = %v, want %q", err, test.want)
			}
			if len(cases) != 1 || cases[0].Name != "good" {
				t.Errorf("the good case is not among %v", cases)
			}
		})
	}
}

func TestCompare(t *testing.T) {
	h := host.New(nil)
	defer h.Close(context.Background())
	if _, err := h.Replace("test", host.HostTool, []*host.Tool{{
		Name: "say", Description: "Says what it is told.", InputSchema: json.RawMessage(`{"type":"object"}`),
		Handler: host.HandlerFunc(func(_ context.Context, c *host.Call) (*host.Result, error) {
			var args struct {
				Text  string
				Image bool
				Fail  bool
			}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return nil, err
			}
			if args.Fail {
				return nil, errors.New(args.Text)
			}
			if args.Image {
				return &host.Result{Content: []host.Content{host.Image([]byte("\x89PNG\r\n\x1a\n"), "image/png")}}, nil
			}
			return host.TextResult(args.Text), nil
		}),
	}}); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ text, want string }{
		"equal":     {`{"tool": "say", "arguments": {"text": "a"}, "expect": {"text": "a", "contains": ["a"], "excludes": ["b"]}}`, ""},
		"failed":    {`{"tool": "say", "arguments": {"text": "a", "fail": true}, "expect": {"isError": true, "text": "a"}}`, ""},
		"image":     {`{"tool": "say", "arguments": {"image": true}, "expect": {"image": "image/png"}}`, ""},
		"no image":  {`{"tool": "say", "arguments": {"text": "a"}, "expect": {"image": "image/png"}}`, `the images are ""`},
		"differs":   {`{"tool": "say", "arguments": {"text": "a"}, "expect": {"text": "b"}}`, "-b\n+a"},
		"lacks":     {`{"tool": "say", "arguments": {"text": "a"}, "expect": {"contains": ["b"]}}`, `lacks "b"`},
		"has":       {`{"tool": "say", "arguments": {"text": "a"}, "expect": {"excludes": ["a"]}}`, `has "a"`},
		"not fail":  {`{"tool": "say", "arguments": {"text": "a"}, "expect": {"isError": true}}`, "a failed result was expected"},
		"unwritten": {`{"tool": "say", "arguments": {"text": "a"}}`, "does not say what it expects"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeCase(t, dir, "case.json", test.text)
			cases, err := Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			o, err := cases[0].Run(t.Context(), h, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(o.Problems, "\n"); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("problems = %q, want %q", got, test.want)
			}
			if err := cases[0].Update(o.Got); err != nil {
				t.Fatal(err)
			}
			again, err := Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			if o, err := again[0].Run(t.Context(), h, t.TempDir()); err != nil || len(o.Problems) > 0 {
				t.Errorf("the updated case does not hold: %v %v", o, err)
			}
		})
	}
}

func TestNetworkAnswersWhatTheCaseSays(t *testing.T) {
	c := &Case{Responses: map[string]Response{"https://api.test/v1": {Headers: map[string]string{"x-a": "b"}, Body: "hello"}}}
	policy := &permissions.Policy{Fetch: permissions.HostPolicy{Static: []string{"api.test"}}}
	grant, err := policy.Resolve("", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer grant.Revoke()
	r, err := c.Network().Fetch(t.Context(), grant, &runtimes.Request{URL: "https://api.test/v1"})
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || string(body) != "hello" || r.Status != 200 || r.Header.Get("X-A") != "b" {
		t.Errorf("response = %+v %q %v", r, body, err)
	}
	if _, err := c.Network().Fetch(t.Context(), grant, &runtimes.Request{URL: "https://api.test/v2"}); err == nil || !strings.Contains(err.Error(), `it has one for "https://api.test/v1"`) {
		t.Errorf("error = %v", err)
	}
	for _, url := range []string{"https://evil.test/", "http://api.test:8080/v1"} {
		if _, err := c.Network().Fetch(t.Context(), grant, &runtimes.Request{URL: url}); !errors.Is(err, permissions.ErrDenied) {
			t.Errorf("%s: error = %v, want a denial", url, err)
		}
	}
	if _, err := c.Network().Dial(t.Context(), grant, "api.test", 25); !errors.Is(err, permissions.ErrDenied) {
		t.Errorf("dial: error = %v, want a denial", err)
	}
}
