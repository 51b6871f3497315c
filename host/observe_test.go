package host

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/permissions"
)

// ended keeps the events of calls.
type ended struct {
	mu     sync.Mutex
	events []Event
}

func (e *ended) Observe(event Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, event)
}

func (e *ended) last() Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.events[len(e.events)-1]
}

// TestFailureKinds has a call fail in every way, and looks at the one event of its end.
func TestFailureKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		h, seen := New(&Options{Folder: dir, Limits: Limits{Result: 1000, Timeout: time.Second}}), &ended{}
		h.Observe(seen)
		ctx, cancel := context.WithCancel(t.Context())
		handlers := map[string]HandlerFunc{
			"fine":    func(context.Context, *Call) (*Result, error) { return TextResult("1"), nil },
			"error":   func(context.Context, *Call) (*Result, error) { return nil, errors.New("no") },
			"own":     func(context.Context, *Call) (*Result, error) { return ErrorResult("no"), nil },
			"panic":   func(context.Context, *Call) (*Result, error) { panic("no") },
			"large":   func(context.Context, *Call) (*Result, error) { return TextResult(strings.Repeat("x", 1001)), nil },
			"timeout": func(ctx context.Context, _ *Call) (*Result, error) { <-ctx.Done(); return nil, ctx.Err() },
			"cancel":  func(ctx context.Context, _ *Call) (*Result, error) { cancel(); <-ctx.Done(); return nil, ctx.Err() },
			"denied": func(_ context.Context, c *Call) (*Result, error) {
				_, err := c.Grant.FS().ReadFile("secret.txt", 0)
				return nil, err
			},
			"told": func(_ context.Context, c *Call) (*Result, error) {
				_, err := c.Grant.FS().ReadFile("secret.txt", 0)
				return ErrorResult("EACCES: " + err.Error()), nil
			},
			"coped": func(_ context.Context, c *Call) (*Result, error) {
				_, _ = c.Grant.FS().ReadFile("secret.txt", 0)
				return ErrorResult("something else"), nil
			},
			"output": func(context.Context, *Call) (*Result, error) { return TextResult("no object"), nil },
		}
		var tools []*Tool
		for name, handler := range handlers {
			one := tool(name, handler)
			if name == "output" {
				one.OutputSchema = json.RawMessage(`{"type":"object"}`)
			}
			tools = append(tools, one)
		}
		marked := tool("marked", handlers["fine"])
		marked.InputSchema = json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","format":"file-path"}}}`)
		marked.Policy = &permissions.Policy{FS: permissions.FSPolicy{Read: permissions.Access{Parameter: true}}}
		replace(t, h, "p", Plugin, append(tools, marked)...)

		for _, c := range []struct {
			tool, args string
			kind       FailureKind
			denied     int
		}{
			{"fine", `{}`, NoFailure, 0},
			{"error", `{}`, FailureError, 0},
			{"own", `{}`, FailureError, 0},
			{"panic", `{}`, FailureCrash, 0},
			{"large", `{}`, FailureTooLarge, 0},
			{"timeout", `{}`, FailureTimeout, 0},
			{"denied", `{}`, FailureDenied, 1},
			{"told", `{}`, FailureDenied, 1},
			{"coped", `{}`, FailureError, 1},
			{"output", `{}`, FailureOutput, 0},
			{"fine", `[]`, FailureArguments, 0},
			{"fine", `{`, FailureArguments, 0},
			{"missing", `{}`, FailureUnknown, 0},
			{"marked", `{"path":"/etc/passwd"}`, FailureDenied, 0},
			{"cancel", `{}`, FailureCancelled, 0},
		} {
			before := len(seen.events)
			result, err := h.Call(ctx, &Call{Tool: c.tool, Args: json.RawMessage(c.args)})
			e := seen.last()
			if e.Kind != CallEnded || e.Failure != c.kind || e.Result != result || string(e.Received) != c.args || e.Call.Tool != c.tool || e.Call.ID == "" {
				t.Errorf("%s %s: %+v (%v), want the failure %q", c.tool, c.args, e, err, c.kind)
			}
			if result != nil && result.Failure != c.kind {
				t.Errorf("%s %s: the failure of the result is %q, want %q", c.tool, c.args, result.Failure, c.kind)
			}
			if (e.Tool == nil) != (c.tool == "missing") {
				t.Errorf("%s: the tool of the event is %v", c.tool, e.Tool)
			}
			if e.Touched != nil && len(e.Touched.Denied) != c.denied || e.Touched == nil && c.denied > 0 {
				t.Errorf("%s: touched %+v, want %d denials", c.tool, e.Touched, c.denied)
			}
			ends := 0
			for _, e := range seen.events[before:] {
				if e.Kind == CallEnded {
					ends++
				}
			}
			if ends != 1 {
				t.Errorf("%s: %d ends", c.tool, ends)
			}
		}
	})
}

// TestEventsOfAReload looks that a call that reaches a closed handler first is told once.
func TestEventsOfAReload(t *testing.T) {
	h, seen := New(nil), &ended{}
	replace(t, h, "p", Plugin, tool("t", func(context.Context, *Call) (*Result, error) {
		replace(t, h, "p", Plugin, answer("t", "new"))
		return nil, ErrHandlerClosed
	}))
	h.Observe(seen)
	text(t, h, &Call{Tool: "t"})
	var kinds []EventKind
	ids := map[string]bool{}
	for _, e := range seen.events {
		if e.Kind != ToolsChanged {
			kinds = append(kinds, e.Kind)
			ids[e.Call.ID] = true
		}
	}
	if !reflect.DeepEqual(kinds, []EventKind{CallStarted, CallEnded}) || len(ids) != 1 {
		t.Errorf("events %v of the calls %v, want one start and one end of one call", kinds, ids)
	}
}

// TestTouched looks that an observer learns what a call read and wrote, and that nothing is
// noted where there is none.
func TestTouched(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var grant *permissions.Grant
	one := tool("t", func(_ context.Context, c *Call) (*Result, error) {
		grant = c.Grant
		if _, err := c.Grant.FS().ReadFile("a.txt", 0); err != nil {
			return nil, err
		}
		return TextResult("1"), c.Grant.FS().WriteFile("b.txt", nil, 0)
	})
	all := permissions.Access{Folder: true}
	one.Policy = &permissions.Policy{FS: permissions.FSPolicy{Read: all, Write: all}}
	h, seen := New(&Options{Folder: dir}), &ended{}
	replace(t, h, "p", Plugin, one)
	text(t, h, &Call{Tool: "t"})
	if grant.Touched() != nil {
		t.Error("a grant notes what nobody wants to know")
	}
	h.Observe(seen)
	text(t, h, &Call{Tool: "t"})
	if got := seen.last().Touched; !reflect.DeepEqual(got.Read, []string{"a.txt"}) || !reflect.DeepEqual(got.Written, []string{"b.txt"}) {
		t.Errorf("touched %+v", got)
	}
}
