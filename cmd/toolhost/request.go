package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/host/foldertools"
	"github.com/toolhost/toolhost/internal/clean"
	"github.com/toolhost/toolhost/internal/schema"
	"github.com/toolhost/toolhost/internal/state"
)

// requestTool is the name of the tool by which agents ask for permissions.
const requestTool = "toolhost_request_permission"

// hostTools gives the names of the host's own tools, which no plugin's tool can have.
func hostTools() []string {
	names := []string{requestTool}
	for _, t := range foldertools.Tools() {
		names = append(names, t.Name)
	}
	return names
}

const (
	requestsPerAgent = 5                // that an agent may file within requestWindow
	requestWindow    = 10 * time.Minute //
	requestAgents    = 1000             // agents that are told apart
)

// requests files what agents ask for. It grants nothing: the queue is read by people.
type requests struct {
	db  *state.DB
	now func() time.Time

	mu    sync.Mutex
	filed map[string][]time.Time // by agent
}

var requestSchema = json.RawMessage(`{
  "type": "object",
  "properties": {
    "plugin": { "type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,63}$", "description": "The plugin that was denied something." },
    "permission": { "type": "string", "minLength": 1, "maxLength": 300, "description": "What it needs, as the denial says it, such as \"permissions\": {\"fetch\": {\"static\": [\"api.example.com\"]}}." },
    "reason": { "type": "string", "minLength": 1, "maxLength": 500, "description": "What for, in a sentence that the user can judge." }
  },
  "required": ["plugin", "permission", "reason"],
  "additionalProperties": false
}`)

// tool gives the tool.
func (r *requests) tool() *host.Tool {
	no := false
	known, _ := schema.Known(requestSchema) // the host compiles one that is nil, and says what is wrong
	return &host.Tool{
		Name: requestTool, Title: "Ask the user for a permission",
		Description: "Files a request for the user to allow a plugin something that it was denied, or to agree to a plugin that waits for consent. " +
			"Nothing is granted by it: the user decides later, outside of this conversation, with toolhost consent. Do not wait for the answer.",
		InputSchema: requestSchema, Input: known,
		Annotations: &host.Annotations{DestructiveHint: &no, OpenWorldHint: &no},
		Handler:     host.HandlerFunc(r.handle),
	}
}

func (r *requests) handle(ctx context.Context, call *host.Call) (*host.Result, error) {
	var asked struct{ Plugin, Permission, Reason string }
	if err := json.Unmarshal(call.Args, &asked); err != nil {
		return nil, err
	}
	agent := call.Agent.Name
	if agent == "" {
		agent = "an agent without a name"
	}
	if !r.allow(call.Agent.ID + "\x00" + call.Agent.Name) {
		return host.ErrorResult(fmt.Sprintf("an agent may file %d requests in %s; ask the user yourself", requestsPerAgent, requestWindow)), nil
	}
	_, added, err := r.db.AddConsentRequest(ctx, &state.ConsentRequest{
		Plugin: asked.Plugin, Permission: clean.Line(asked.Permission), Reason: clean.Line(asked.Reason), Agent: clean.Line(cutText(agent, 100)), At: r.now(),
	})
	switch {
	case errors.Is(err, state.ErrTooManyRequests):
		return host.ErrorResult("too many requests wait for the user already; ask the user yourself"), nil
	case err != nil:
		return host.ErrorResult("the request cannot be kept; ask the user yourself: " + err.Error()), nil
	}
	text := "The request waits for the user. Nothing is granted until the user decides; tell the user to run: toolhost consent"
	if !added {
		text = "The same request waits for the user already. Nothing is granted until the user decides; tell the user to run: toolhost consent"
	}
	return host.TextResult(text), nil
}

// allow reports whether an agent may file one more request now.
func (r *requests) allow(agent string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	since := r.now().Add(-requestWindow)
	for a, times := range r.filed {
		for len(times) > 0 && times[0].Before(since) {
			times = times[1:]
		}
		if r.filed[a] = times; len(times) == 0 {
			delete(r.filed, a)
		}
	}
	if len(r.filed[agent]) >= requestsPerAgent || len(r.filed) >= requestAgents && r.filed[agent] == nil {
		return false
	}
	r.filed[agent] = append(r.filed[agent], r.now())
	return true
}

// cutText keeps the first characters of a text.
func cutText(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return s
}

// offerRequests offers the tool where there is a place for the requests.
func (p *program) offerRequests(s *session) error {
	if p.flags.state == "" {
		return nil
	}
	r := &requests{db: s.state, now: time.Now, filed: map[string][]time.Time{}}
	if _, err := s.host.Replace("toolhost", host.HostTool, []*host.Tool{r.tool()}); err != nil {
		return failed(fmt.Errorf("registering the tool %s: %w", requestTool, err))
	}
	return nil
}
