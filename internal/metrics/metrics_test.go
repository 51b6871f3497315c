package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/host"
)

func tool(name string, handle host.HandlerFunc) *host.Tool {
	return &host.Tool{Name: name, Description: "A tool.", InputSchema: json.RawMessage(`{"type":"object","additionalProperties":false}`), Handler: handle}
}

func read(m *Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func TestMetrics(t *testing.T) {
	h := host.New(nil)
	defer h.Close(context.Background())
	m := New(h, &Options{Version: "1.2.3", Sessions: func() int { return 3 }, Stuck: func() int { return 1 }})
	register := func(owner string, tools ...*host.Tool) {
		t.Helper()
		if _, err := h.Replace(owner, host.Plugin, tools); err != nil {
			t.Fatal(err)
		}
	}
	register("kit",
		tool("good", func(context.Context, *host.Call) (*host.Result, error) { return host.TextResult("done"), nil }),
		tool("bad", func(context.Context, *host.Call) (*host.Result, error) { return nil, errors.New("no") }),
		tool("wild", func(context.Context, *host.Call) (*host.Result, error) { panic("no") }))
	call := func(name, args string) {
		_, _ = h.Call(t.Context(), &host.Call{Tool: name, Args: json.RawMessage(args)})
	}
	call("good", "{}")
	call("good", "{}")
	call("good", `{"x":1}`)
	call("bad", "{}")
	call("wild", "{}")
	for i := range 50 {
		call(fmt.Sprint("made up ", i), "{}")
	}
	m.PluginEvent("reloaded")
	got := read(m)
	for _, want := range []string{
		`toolhost_calls_total{plugin="kit",tool="good"} 3`,
		`toolhost_call_failures_total{kind="arguments",plugin="kit",tool="good"} 1`,
		`toolhost_call_failures_total{kind="error",plugin="kit",tool="bad"} 1`,
		`toolhost_call_failures_total{kind="crash",plugin="kit",tool="wild"} 1`,
		`toolhost_calls_total{plugin="other",tool="other"} 50`,
		`toolhost_call_failures_total{kind="unknown",plugin="other",tool="other"} 50`,
		`toolhost_call_duration_seconds_count{plugin="kit",tool="good"} 2`,
		`toolhost_plugin_events_total{event="reloaded"} 1`,
		`toolhost_plugin_events_total{event="failed"} 0`,
		`toolhost_calls_running 0`, `toolhost_tools 3`, `toolhost_sessions 3`, `toolhost_calls_stuck 1`,
		`toolhost_tool_list_changes_total 1`, `toolhost_info{version="1.2.3"} 1`, `go_goroutines`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if strings.Contains(got, "made up") {
		t.Error("what a caller made up is a label")
	}
	if strings.Contains(got, "toolhost_child_processes") {
		t.Error("a number is there that nobody gives")
	}
	if t.Failed() {
		t.Log(got)
	}
	m.Close()
	call("good", "{}")
	if !strings.Contains(read(m), `toolhost_calls_total{plugin="kit",tool="good"} 3`) {
		t.Error("a closed one counts on")
	}
}

// Plugins that come and go under new names do not grow the metrics without end.
func TestMetricsAreBounded(t *testing.T) {
	m := New(host.New(nil), nil)
	defer m.Close()
	for i := range maxTools + 10 {
		name := fmt.Sprint("tool", i)
		m.Observe(host.Event{Kind: host.CallEnded, Tool: &host.Tool{Name: name}, Call: &host.Call{Plugin: "p"}})
	}
	got := read(m)
	if n := strings.Count(got, "toolhost_calls_total{"); n != maxTools+1 {
		t.Errorf("%d series", n)
	}
	if !strings.Contains(got, `toolhost_calls_total{plugin="other",tool="other"} 10`) {
		t.Error("what is beyond the bound is not counted")
	}
}
