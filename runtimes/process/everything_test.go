//go:build outside

package process_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/process"
)

// A public MCP server, as npm installs it, is a plugin in the sandbox.
func TestServerEverything(t *testing.T) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Fatalf("npm installs the server: %v", err)
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", "everything", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	install := exec.CommandContext(t.Context(), npm, "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	spec := runtimes.Spec{
		Plugin: "everything", Protocol: "mcp", Dir: dir,
		Command: []string{"node", "./node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"},
	}
	for _, id := range []string{"echo", "get-sum", "get-tiny-image", "get-structured-content", "get-env", "get-annotated-message", "get-resource-links", "trigger-long-running-operation"} {
		spec.Tools = append(spec.Tools, runtimes.Tool{ID: id})
	}
	t.Setenv("SECRET_OF_HOST", "k")
	p := open(t, &process.Options{}, spec)
	p.timeout = 60 * time.Second
	p.offer(spec)

	schemas, err := p.instance.(runtimes.SchemaSource).Schemas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var sum struct{ Properties map[string]any }
	if err := json.Unmarshal(schemas["get-sum"].Input, &sum); err != nil || sum.Properties["a"] == nil {
		t.Errorf("the schema of get-sum is %s", schemas["get-sum"].Input)
	}
	p.expect("echo", object{"message": "zażółć"}, "Echo: zażółć")
	if text, failed := p.call("get-sum", object{"a": 2, "b": 40}); failed || !strings.Contains(text, "42") {
		t.Errorf("get-sum: failed %v, %q", failed, text)
	}
	if text, failed := p.call("get-sum", object{"a": "x"}); !failed || !strings.Contains(text, "nvalid") {
		t.Errorf("wrong arguments: failed %v, %q", failed, text)
	}
	if text, failed := p.call("get-env", object{}); failed || strings.Contains(text, "SECRET_OF_HOST") {
		t.Errorf("its environment: failed %v, %s", failed, text)
	}

	image, err := p.host.Call(t.Context(), &host.Call{Tool: "get-tiny-image"})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, block := range image.Content {
		data, mime, ok := block.Data()
		found = found || ok && mime == "image/png" && strings.HasPrefix(string(data), "\x89PNG")
	}
	if !found {
		t.Errorf("no image in %v", image.Content)
	}
	structured, err := p.host.Call(t.Context(), &host.Call{Tool: "get-structured-content", Args: json.RawMessage(`{"location":"New York"}`)})
	if err != nil || !strings.Contains(string(structured.Structured), "temperature") {
		t.Errorf("structured: %v, %v", structured, err)
	}
	links, err := p.host.Call(t.Context(), &host.Call{Tool: "get-resource-links", Args: json.RawMessage(`{"count":2}`)})
	if err != nil || links.IsError || links.Content[len(links.Content)-1].Type() != "resource_link" {
		t.Errorf("links: %v, %v", links, err)
	}

	var mu sync.Mutex
	var said []string
	r, err := p.host.Call(t.Context(), &host.Call{
		Tool: "trigger-long-running-operation", Args: json.RawMessage(`{"duration":1,"steps":3}`),
		Progress: func(m string) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, m)
		},
	})
	if err != nil || r.IsError {
		t.Fatalf("the long operation: %v, %v", r, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(said) == 0 {
		t.Error("no progress came")
	}
}
