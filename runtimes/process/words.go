package process

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/child"
)

// words are what a process writes besides messages, as far as a call may be told. They may hold
// what any of its calls has brought, also those before: nobody can tell of whose call a line is.
// So they are told while the calls of one agent alone were given to it.
type words struct {
	process atomic.Pointer[child.Process] // nil: it was not started

	mu    sync.Mutex
	agent host.Agent
	call  string // that was given last
	given bool   // a call, and all of them are of that agent
	mixed bool   // they are not
}

// give notes that the process is about to be given a call.
func (w *words) give(call *host.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mixed = w.mixed || !w.of(call)
	w.agent, w.call, w.given = call.Agent, call.ID, true
}

// of reports whether a call is of the agent whose calls were given, or none was. Of two calls
// without a session nobody knows whether one agent makes them. The mutex is held.
func (w *words) of(call *host.Call) bool {
	return !w.given || w.agent == call.Agent && (call.Agent.ID != "" || w.call == call.ID)
}

// mayTell reports whether a call may be told what was written until now.
func (w *words) mayTell(call *host.Call) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.mixed && w.of(call)
}

// tail gives the last lines, as a call may be told them; "" where there are none.
func (w *words) tail(call *host.Call) string {
	p := w.process.Load()
	if p == nil {
		return ""
	}
	tail := p.Tail() // before it is asked whose it is: a call that is given later has no part in it
	if !w.mayTell(call) {
		return ""
	}
	return tail
}

// only leaves in the failure of a call what that may be told.
func (w *words) only(call *host.Call, err error) error {
	var f *Failure
	if !errors.As(err, &f) || f.Tail == "" && f.Line == "" || w.mayTell(call) {
		return err
	}
	own := *f
	own.Line, own.Tail = "", ""
	return &own
}

// ofStart gives the failure of a start with them: no call had been given to the process.
func (w *words) ofStart(err error) error {
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
		tail := child.LastLines(own(w.tail(call)), tailLines, tailBytes)
		if tail == "" {
			return ""
		}
		return fmt.Sprintf("the last that the process of plugin %q wrote to stderr:\n%s", plugin, tail)
	})
}

// whole leaves in all of a text.
func whole(text string) string { return text }
