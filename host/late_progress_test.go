package host_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/host"
)

// eventKinds notes the kinds of events in their order.
type eventKinds struct {
	mu   sync.Mutex
	list []host.EventKind
}

func (k *eventKinds) Observe(e host.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = append(k.list, e.Kind)
}

// TestLateProgress has a handler talk on after its call: observers may forget a call at its end.
func TestLateProgress(t *testing.T) {
	var say func(string)
	h := host.New(nil)
	_, err := h.Replace("p", host.Plugin, []*host.Tool{{Name: "t", Description: "A tool.", InputSchema: json.RawMessage(`{"type":"object"}`),
		Handler: host.HandlerFunc(func(_ context.Context, c *host.Call) (*host.Result, error) {
			say = c.Progress
			say("in time")
			return host.TextResult("x"), nil
		})}})
	if err != nil {
		t.Fatal(err)
	}
	var seen eventKinds
	defer h.Observe(&seen)()
	if _, err := h.Call(t.Context(), &host.Call{Tool: "t"}); err != nil {
		t.Fatal(err)
	}
	say("late")
	want := []host.EventKind{host.CallStarted, host.CallProgress, host.CallEnded}
	if len(seen.list) != len(want) || seen.list[1] != want[1] || seen.list[2] != want[2] {
		t.Errorf("events %v, want %v", seen.list, want)
	}
}
