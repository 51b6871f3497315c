package process

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/child"
)

// words are what a process writes to stderr, as far as a call may be told that it does not
// answer. They may hold what any of its calls has brought, also those before: nobody can tell
// of whose call a line is. So they are told while the calls of one agent alone were given to it.
type words struct {
	process atomic.Pointer[child.Process] // nil: it was not started

	mu    sync.Mutex
	agent host.Agent
	given bool // a call, and all of them are of that agent
	mixed bool // they are not
}

// give notes that the process is about to be given a call of an agent. Of two calls without a
// session nobody knows whether one agent makes them.
func (w *words) give(agent host.Agent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mixed = w.mixed || w.given && (w.agent != agent || agent.ID == "")
	w.agent, w.given = agent, true
}

// tail gives the last lines, as a call of an agent may read them; "" where there are none.
func (w *words) tail(agent host.Agent) string {
	p := w.process.Load()
	if p == nil {
		return ""
	}
	tail := p.Tail() // before it is asked whose it is: a call that is given later has no part in it
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mixed || w.given && w.agent != agent {
		return ""
	}
	return tail
}

// of gives the failure of a start with them: no call had been given to the process.
func (w *words) of(err error) error {
	var f *Failure
	p := w.process.Load()
	if p == nil || !errors.As(err, &f) || f.Tail != "" {
		return err
	}
	explained := *f
	explained.Tail = p.Tail()
	return &explained
}

// explain has a call that is late say what its process wrote last. own leaves in a text what
// is for this call.
func (w *words) explain(plugin string, call *host.Call, own func(string) string) {
	call.Explain(func() string {
		tail := child.LastLines(own(w.tail(call.Agent)), tailLines, tailBytes)
		if tail == "" {
			return ""
		}
		return fmt.Sprintf("the last that the process of plugin %q wrote to stderr:\n%s", plugin, tail)
	})
}

// whole leaves in all of a text.
func whole(text string) string { return text }
