package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolhost/toolhost/host"
)

// audit prints how calls end.
type audit struct{}

// Observe must not block: what takes time belongs on another goroutine.
func (audit) Observe(e host.Event) {
	if e.Kind != host.CallEnded {
		return
	}
	outcome := "ok"
	if e.Failure != host.NoFailure {
		outcome = string(e.Failure)
	}
	fmt.Println(e.Call.Agent.Name, "called", e.Call.Tool, "with", string(e.Received)+":", outcome)
}

func ExampleHost_Observe() {
	h := host.New(nil)
	_, err := h.Replace("clock", host.HostTool, []*host.Tool{{
		Name: "clock_now", Description: "Gives the time.", InputSchema: json.RawMessage(`{"type":"object","additionalProperties":false}`),
		Handler: host.HandlerFunc(func(context.Context, *host.Call) (*host.Result, error) {
			return nil, errors.New("the clock has stopped")
		}),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Observe(audit{})()
	for _, args := range []string{`{}`, `{"zone":"UTC"}`} {
		_, _ = h.Call(context.Background(), &host.Call{Tool: "clock_now", Args: json.RawMessage(args), Agent: host.Agent{Name: "me"}})
	}
	_, _ = h.Call(context.Background(), &host.Call{Tool: "clock", Agent: host.Agent{Name: "me"}})
	// Output:
	// me called clock_now with {}: error
	// me called clock_now with {"zone":"UTC"}: arguments
	// me called clock with : unknown
}
