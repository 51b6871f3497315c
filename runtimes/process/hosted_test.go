package process_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// shelf is a store in memory.
type shelf struct {
	mu     sync.Mutex
	values map[string]json.RawMessage
}

func (s *shelf) Get(_ context.Context, key string) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[key], nil
}

func (s *shelf) Set(_ context.Context, key string, value json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = value
	return nil
}

func (s *shelf) Delete(_ context.Context, key string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, had := s.values[key]
	delete(s.values, key)
	return had, nil
}

func (s *shelf) List(context.Context, string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for k := range s.values {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys, nil
}

// web answers every request.
type web struct{}

func (web) Fetch(ctx context.Context, grant *permissions.Grant, r *runtimes.Request) (*runtimes.Response, error) {
	if _, err := grant.Fetch().Check(ctx, "api.example.com", 443); err != nil {
		return nil, err
	}
	return &runtimes.Response{
		Status: 201, StatusText: "Created", URL: r.URL, Header: http.Header{"X-Test": {"yes"}},
		Body: io.NopCloser(strings.NewReader(r.Method + " " + r.URL)),
	}, nil
}

func (web) Dial(context.Context, *permissions.Grant, string, int) (net.Conn, error) {
	return nil, net.ErrClosed
}

func services() runtimes.Services {
	return runtimes.Services{
		Settings: settings{}, Store: &shelf{values: map[string]json.RawMessage{}}, Network: web{},
		Complete: func(_ context.Context, call *host.Call, prompt *host.Prompt) (string, error) {
			return fmt.Sprintf("%s for %s", prompt.Text, call.Tool), nil
		},
	}
}

type settings struct{}

func (settings) Get(_ context.Context, key string) (json.RawMessage, error) {
	if key == "unit" {
		return json.RawMessage(`"metric"`), nil
	}
	return nil, nil
}

func (settings) All(context.Context) (map[string]json.RawMessage, error) { return nil, nil }

// What a manifest asks for a program of ours gets from the host.
func TestHostedServices(t *testing.T) {
	policy := &permissions.Policy{AIComplete: true, Settings: true, Store: true}
	policy.Fetch.Static = []string{"api.example.com"}
	p := open(t, nil, runtimes.Spec{Protocol: "go-plugin", Policy: policy, Services: services()})
	for how, want := range map[string]string{
		"complete": "say it for odd", "store": "true 7 [k] true", "setting": "truemetric",
		"fetch": "201yesGET https://api.example.com/x", "denied": "false",
	} {
		p.expect("odd", object{"how": how}, want)
	}
	none := open(t, nil, runtimes.Spec{Protocol: "go-plugin", Services: services()})
	none.expect("odd", object{"how": "denied"}, "true")
	for _, how := range []string{"complete", "store", "setting", "fetch"} {
		if text, failed := none.odd(how); !failed || !strings.Contains(text, "ermission") && !strings.Contains(text, "fetch") {
			t.Errorf("%s without the permission: failed %v, %q", how, failed, text)
		}
	}
	r, err := p.host.Call(t.Context(), &host.Call{Tool: "odd", Args: json.RawMessage(`{"how":"deadline"}`), Agent: host.Agent{Name: "tester"}})
	if err != nil || r.Content[0].Text() != "true" {
		t.Errorf("got %v, %v", r, err)
	}
}

// A server may ask for a model where its manifest does.
func TestSampling(t *testing.T) {
	p := open(t, nil, runtimes.Spec{Protocol: "mcp", Policy: &permissions.Policy{AIComplete: true}, Services: services()})
	if text, _ := p.odd("sample"); !strings.Contains(text, `"text":"say it for odd"`) || !strings.Contains(text, `"role":"assistant"`) {
		t.Errorf("got %q", text)
	}
}

func TestSchemas(t *testing.T) {
	p := open(t, nil, runtimes.Spec{Protocol: "mcp"})
	all, err := p.instance.(runtimes.SchemaSource).Schemas(t.Context())
	if err != nil || len(all) != len(toolIDs) || !strings.Contains(string(all["echo"].Input), `"text"`) || string(all["echo"].Output) != `{"type":"object"}` || all["text"].Output != nil {
		t.Errorf("got %s, %v", all, err)
	}
	p = open(t, nil, runtimes.Spec{Protocol: "mcp", Tools: []runtimes.Tool{{ID: "missing"}}})
	if _, err = p.instance.(runtimes.SchemaSource).Schemas(t.Context()); err == nil || !strings.Contains(err.Error(), `no tool "missing"`) {
		t.Errorf("got %v", err)
	}
	for _, protocol := range []string{"go-plugin", "mcp"} {
		p := open(t, nil, runtimes.Spec{Protocol: protocol, Tools: []runtimes.Tool{{ID: "missing"}}})
		if text, failed := p.call("missing", object{}); !failed || !strings.Contains(text, `no tool "missing", which its manifest names`) {
			t.Errorf("%s: failed %v, %q", protocol, failed, text)
		}
	}
	p = open(t, nil, runtimes.Spec{Protocol: "mcp", Command: []string{self(t), "mcp", "exit"}})
	if _, err = p.instance.(runtimes.SchemaSource).Schemas(t.Context()); err == nil || !strings.Contains(err.Error(), `plugin "tested": its process ended`) {
		t.Errorf("got %v", err)
	}
	p = open(t, nil, runtimes.Spec{Protocol: "go-plugin"})
	if all, err := p.instance.(runtimes.SchemaSource).Schemas(t.Context()); all != nil || err != nil {
		t.Errorf("got %v, %v", all, err)
	}
}
