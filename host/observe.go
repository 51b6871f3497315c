package host

import (
	"slices"
	"time"
)

// EventKind says what happened.
type EventKind int

const (
	ToolsChanged EventKind = iota // the list that agents see differs from the one before
	CallStarted
	CallProgress
	CallEnded
)

// Event is something that happened in a host.
type Event struct {
	Kind EventKind
	Time time.Time
	// Call is the call as its handler sees it; nil for ToolsChanged.
	Call    *Call
	Message string // of CallProgress, uncut

	// Of CallEnded:
	Duration time.Duration
	Result   *Result // nil where the caller cancelled
	Err      error   // why the call failed, where it was not the handler's own failed result
}

// Observer is told what happens. Observe is called on the goroutine to which it
// happened, by several at once; it must not block, and must not call the Host's
// Replace, Remove or SetEnabled.
type Observer interface {
	Observe(Event)
}

type observer struct{ Observer }

// Observe adds an observer; the function that it gives takes it away again.
func (h *Host) Observe(o Observer) (stop func()) {
	added := &observer{o}
	h.changeObservers(func(all []*observer) []*observer { return append(all, added) })
	return func() {
		h.changeObservers(func(all []*observer) []*observer {
			return slices.DeleteFunc(all, func(o *observer) bool { return o == added })
		})
	}
}

func (h *Host) changeObservers(change func([]*observer) []*observer) {
	for {
		old := h.observers.Load()
		var all []*observer
		if old != nil {
			all = slices.Clone(*old)
		}
		all = change(all)
		if h.observers.CompareAndSwap(old, &all) {
			return
		}
	}
}

func (h *Host) notify(e Event) {
	all := h.observers.Load()
	if all == nil || len(*all) == 0 {
		return
	}
	e.Time = time.Now()
	for _, o := range *all {
		o.Observe(e)
	}
}
