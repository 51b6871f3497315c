package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
)

func TestExecute(t *testing.T) {
	h := host.New(nil)
	command := func(name string, f host.HandlerFunc) *host.Tool {
		return &host.Tool{Name: name, Command: true, Handler: f}
	}
	var deepest int
	tools := []*host.Tool{
		{Name: "same", Description: "A tool with the name of a command.", InputSchema: json.RawMessage(`{"type":"object"}`),
			Handler: host.HandlerFunc(func(_ context.Context, c *host.Call) (*host.Result, error) {
				return host.TextResult("tool " + c.Tool), nil
			})},
		command("same", func(context.Context, *host.Call) (*host.Result, error) { return host.TextResult("command"), nil }),
		command("kit.value", func(_ context.Context, c *host.Call) (*host.Result, error) { return host.ValueResult(c.Args), nil }),
		command("kit.nothing", func(context.Context, *host.Call) (*host.Result, error) { return nil, nil }),
		command("kit.deep", func(ctx context.Context, c *host.Call) (*host.Result, error) {
			deepest = c.Depth
			return h.Execute(ctx, &host.Call{Tool: "kit.deep", Depth: c.Depth + 1})
		}),
	}
	if conflicts, err := h.Replace("kit", host.Plugin, tools); err != nil || len(conflicts) > 0 {
		t.Fatal(conflicts, err)
	}
	for _, tt := range []struct{ name, args, value, text string }{
		{"same", "", `"command"`, "command"}, {"kit.value", `{"a":[1]}`, `{"a":[1]}`, `{"a":[1]}`}, {"kit.nothing", "", "", ""},
	} {
		r, err := h.Execute(t.Context(), &host.Call{Tool: tt.name, Args: json.RawMessage(tt.args)})
		if err != nil || r.IsError || strings.TrimSpace(string(r.Value)) != tt.value || tt.text == "" != (len(r.Content) == 0) || tt.text != "" && r.Content[0].Text() != tt.text {
			t.Errorf("%s: %+v, %v", tt.name, r, err)
		}
	}
	r, err := h.Execute(t.Context(), &host.Call{Tool: "kit.deep"})
	if err != nil || !r.IsError || deepest != host.MaxDepth {
		t.Errorf("got %+v, %v, %d deep", r, err, deepest)
	}
	// Agents neither see nor call commands; commands are no tools.
	if len(h.Tools()) != 1 || len(h.Commands()) != 4 {
		t.Errorf("%d tools, %d commands", len(h.Tools()), len(h.Commands()))
	}
	var noTool *host.UnknownToolError
	if _, err := h.Call(t.Context(), &host.Call{Tool: "kit.value"}); !errors.As(err, &noTool) {
		t.Errorf("got %v", err)
	}
	var none *host.UnknownCommandError
	if _, err := h.Execute(t.Context(), &host.Call{Tool: "kit.valu"}); !errors.As(err, &none) || none.Nearest != "kit.value" {
		t.Errorf("got %v", err)
	}
	// A plugin's own tools, for its own calls, and nobody else's.
	r, err = h.Execute(t.Context(), &host.Call{Tool: "kit.same", Plugin: "kit"})
	if err != nil || string(r.Value) != `"tool same"` {
		t.Errorf("own tool: %+v, %v", r, err)
	}
	for _, by := range []string{"", "other"} {
		if _, err := h.Execute(t.Context(), &host.Call{Tool: "kit.same", Plugin: by}); !errors.As(err, &none) {
			t.Errorf("by %q: got %v", by, err)
		}
	}
	h.SetEnabled("kit.value", false)
	if _, err := h.Execute(t.Context(), &host.Call{Tool: "kit.value"}); !errors.As(err, &none) {
		t.Errorf("disabled: got %v", err)
	}
	for _, name := range []string{"", "a b", strings.Repeat("x", 129), "a\x00"} {
		if _, err := h.Replace("other", host.Plugin, []*host.Tool{command(name, nil)}); err == nil {
			t.Errorf("the name %.20q was taken", name)
		}
	}
}

// The first plugin keeps a command that two have; the other stands in line.
func TestCommandsConflict(t *testing.T) {
	h := host.New(nil)
	one := func(text string) []*host.Tool {
		return []*host.Tool{{Name: "kit.run", Command: true, Handler: host.HandlerFunc(func(context.Context, *host.Call) (*host.Result, error) { return host.TextResult(text), nil })}}
	}
	if _, err := h.Replace("a", host.Plugin, one("a")); err != nil {
		t.Fatal(err)
	}
	conflicts, err := h.Replace("b", host.Plugin, one("b"))
	if err != nil || len(conflicts) != 1 {
		t.Fatal(conflicts, err)
	}
	for _, want := range []string{"a", "b"} {
		r, err := h.Execute(t.Context(), &host.Call{Tool: "kit.run"})
		if err != nil || r.Content[0].Text() != want {
			t.Errorf("got %+v, %v", r, err)
		}
		h.Remove("a")
	}
}

// A handler reaches by a call that it makes no more files than by its own.
func TestExecuteHandsOnNoMoreFiles(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"named.txt", "other.txt"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := host.New(&host.Options{Folder: folder})
	ended := &endings{}
	h.Observe(ended)
	policy := &permissions.Policy{FS: permissions.FSPolicy{Read: permissions.Access{Parameter: true}, Write: permissions.Access{Parameter: true}}}
	marked := json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","format":"file-path"},"other":{"type":"string"},"n":{"type":"number"}}}`)
	writes := host.HandlerFunc(func(_ context.Context, c *host.Call) (*host.Result, error) {
		var p struct{ Path string }
		if err := json.Unmarshal(c.Args, &p); err != nil {
			return nil, err
		}
		return host.TextResult("written"), c.Grant.FS().WriteFile(p.Path, []byte("new"), 0o600)
	})
	asks := host.HandlerFunc(func(ctx context.Context, c *host.Call) (*host.Result, error) {
		var p struct{ Other string }
		if err := json.Unmarshal(c.Args, &p); err != nil {
			return nil, err
		}
		_ = c.Grant.FS().Exists("named.txt")
		return h.Execute(ctx, &host.Call{Tool: p.Other, Args: c.Args, Plugin: c.Plugin, Grant: c.Grant, Depth: c.Depth + 1})
	})
	// The arguments of run name "path" only: "file" would name it, too, without a schema.
	if _, err := h.Replace("kit", host.Plugin, []*host.Tool{
		{Name: "run", Description: "Runs.", InputSchema: json.RawMessage(`{"type":"object","properties":{"allowed":{"type":"string","format":"file-path"},"path":{"type":"string"},"other":{"type":"string"}}}`), Policy: policy, Handler: asks},
		{Name: "write_it", Description: "Writes.", InputSchema: marked, Policy: policy, Handler: writes},
		{Name: "kit.write", Command: true, Policy: policy, Handler: writes},
	}); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"allowed":"named.txt","path":"named.txt","other":"kit.write_it"}`: "written",
		`{"allowed":"named.txt","path":"named.txt","other":"kit.write"}`:    "written",
		`{"allowed":"named.txt","path":"other.txt","other":"kit.write_it"}`: `argument /path: "other.txt" was not named by the agent, and is not for the plugin that makes this call to hand on`,
		`{"allowed":"named.txt","path":"other.txt","other":"kit.write"}`:    `writing "other.txt" is not allowed`,
	} {
		r, err := h.Call(t.Context(), &host.Call{Tool: "run", Args: json.RawMessage(args)})
		if err != nil || !strings.Contains(r.Content[0].Text(), want) {
			t.Errorf("%s: got %+v, %v", args, r, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(folder, "other.txt")); string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}

	// What the caller touched is not told of the call that it made.
	ended.touched = nil
	if _, err := h.Call(t.Context(), &host.Call{Tool: "run", Args: json.RawMessage(`{"allowed":"named.txt","n":"x","other":"kit.write_it"}`)}); err != nil {
		t.Fatal(err)
	}
	if len(ended.touched) != 2 || ended.touched[0] != nil {
		t.Errorf("touched: %+v", ended.touched)
	}
}

// endings notes what calls touched, in the order in which they ended.
type endings struct{ touched []*permissions.Touched }

func (e *endings) Observe(event host.Event) {
	if event.Kind == host.CallEnded {
		e.touched = append(e.touched, event.Touched)
	}
}
