package process_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// late makes a call that its process does not answer, and gives what its result says beside
// that. enough says that the process had the time to write something: where it had none the
// call gets twice the time. before is done before each.
func (p *plugin) late(agent, tool, how string, before func(), enough func(said string) bool) string {
	p.t.Helper()
	offer := func(timeout time.Duration) {
		p.timeout = timeout
		p.offer(runtimes.Spec{Plugin: "tested", Tools: []runtimes.Tool{{ID: "odd"}, {ID: "text"}, {ID: "wait"}}})
	}
	for limit := 500 * time.Millisecond; ; limit *= 2 {
		offer(time.Minute)
		before()
		offer(limit)
		text := p.of(agent, tool, how)
		without := fmt.Sprintf("tool %q timed out after %s", tool, limit)
		said, timedOut := strings.CutPrefix(text, without)
		if !timedOut {
			p.t.Fatalf("got %q, want %q", text, without)
		}
		if enough(said) || limit > time.Minute {
			return strings.TrimPrefix(said, "; ")
		}
	}
}

// of makes a call of an agent, and gives the text of its result.
func (p *plugin) of(agent, tool, how string) string {
	p.t.Helper()
	args := json.RawMessage(fmt.Sprintf(`{"how":%q,"text":%q}`, how, how))
	r, err := p.host.Call(p.t.Context(), &host.Call{Tool: tool, Args: args, Agent: host.Agent{ID: agent}})
	if err != nil {
		p.t.Fatal(err)
	}
	return r.Content[0].Text()
}

var sharing = []runtimes.Spec{{KeepAlive: true}, {Protocol: "mcp"}, {Protocol: "go-plugin"}}

const lastWords = `the last that the process of plugin "tested" wrote to stderr:` + "\n"

// A call that was given up says what its process wrote last, which mostly tells why it hangs.
func TestLastWordsOfAProgramThatHangs(t *testing.T) {
	for _, spec := range append([]runtimes.Spec{{}}, sharing...) {
		spec.Policy = &permissions.Policy{}
		p := open(t, nil, spec)
		before := func() {
			if text := p.of("one", "text", "before"); text != "before" {
				t.Errorf("got %q", text)
			}
		}
		said := p.late("one", "odd", "silence", before, func(said string) bool { return said != "" })
		if said != lastWords+"thinking" {
			t.Errorf("%q, kept %v: got %q", spec.Protocol, spec.KeepAlive, said)
		}
	}
}

// What a process wrote may be of any agent whose call it was given: none of the others reads it.
// Two calls without a session may be of two agents.
func TestLastWordsAreOfOneAgent(t *testing.T) {
	for _, spec := range sharing {
		for first, second := range map[string]string{"one": "two", "": ""} {
			spec.Policy = &permissions.Policy{}
			p := open(t, nil, spec)
			said := p.late(second, "odd", "silence", func() { p.of(first, "text", "first") }, p.logged("thinking"))
			if said != "" {
				t.Errorf("%q, kept %v: the agent %q read %q", spec.Protocol, spec.KeepAlive, second, said)
			}
		}
	}
}

// So it is where the process ends: who ends it is not told what it wrote for another agent.
func TestLastWordsOfAProcessThatEnds(t *testing.T) {
	for _, spec := range append([]runtimes.Spec{{}}, sharing...) {
		for _, c := range []struct {
			first, second string
			told          bool
		}{{"one", "one", true}, {"one", "two", spec.Protocol == "" && !spec.KeepAlive}, {"", "", spec.Protocol == "" && !spec.KeepAlive}} {
			spec.Policy = &permissions.Policy{}
			p := open(t, nil, spec)
			p.of(c.first, "text", "first")
			text := p.of(c.second, "odd", "exit 3")
			if !strings.Contains(text, "exit status 3") || strings.Contains(text, "out of cheese") != c.told {
				t.Errorf("%q, kept %v: after a call of %q the agent %q is told %q", spec.Protocol, spec.KeepAlive, c.first, c.second, text)
			}
			// The next process was given no call of another agent.
			if text := p.of(c.second, "odd", "exit 3"); !strings.Contains(text, "out of cheese") {
				t.Errorf("%q, kept %v: of a new process %q is told %q", spec.Protocol, spec.KeepAlive, c.second, text)
			}
		}
	}
}

// While a process has a call of another agent, it is not told what was written before either.
func TestLastWordsAmidCallsOfAnother(t *testing.T) {
	for _, spec := range sharing[1:] {
		spec.Policy = &permissions.Policy{}
		p := open(t, nil, spec)
		ctx, cancel := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		before := func() {
			p.of("one", "text", "first")
			waiting := make(chan bool, 1)
			calls.Go(func() {
				_, _ = p.host.Call(ctx, &host.Call{Tool: "wait", Agent: host.Agent{ID: "two"}, Progress: func(string) { waiting <- true }})
			})
			<-waiting
		}
		if said := p.late("one", "odd", "silence", before, p.logged("thinking")); said != "" {
			t.Errorf("%q: got %q", spec.Protocol, said)
		}
		cancel()
		calls.Wait()
	}
}

// logged gives whether this was written to stderr once more since it was asked last.
func (p *plugin) logged(line string) func(string) bool {
	before := 0
	return func(string) bool {
		now := strings.Count(p.log.String(), "line="+line)
		more := now > before
		before = now
		return more
	}
}

// A call that waits for a process which does not come so far as to serve says what that wrote.
func TestLastWordsOfAStart(t *testing.T) {
	for _, protocol := range []string{"mcp", "go-plugin"} {
		p := open(t, nil, runtimes.Spec{Protocol: protocol, Command: []string{"/bin/sh", "-c", "echo loading >&2; exec sleep 86400"}})
		said := p.late("one", "text", "", func() {}, func(said string) bool { return said != "" })
		if said != lastWords+"loading" {
			t.Errorf("%s: got %q", protocol, said)
		}
	}
}
