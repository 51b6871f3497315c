package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/permissions"
)

// EventKind says what happened.
type EventKind int

const (
	ToolsChanged EventKind = iota // the list that agents see differs from the one before
	CallStarted
	CallProgress
	CallEnded
)

// Event is something that happened in a host. A call has one CallStarted, when its handler is
// about to run, and one CallEnded; a call that is refused before that has CallEnded alone. No
// CallProgress comes after the CallEnded of its call.
type Event struct {
	Kind EventKind
	Time time.Time
	// Call is the call as its handler sees it; nil for ToolsChanged. Of a call that was
	// refused before its arguments were checked, Args are those that came.
	Call *Call
	// Tool is what is called, as it stands in the table. It is nil for ToolsChanged, and for
	// a name that nothing has: such a name is the caller's own text.
	Tool *Tool
	// Received are the arguments as they came, unchecked.
	Received json.RawMessage
	Message  string // of CallProgress, uncut

	// Of CallEnded:
	Duration time.Duration
	Result   *Result // nil where the caller cancelled, or there is no such tool
	Err      error   // why the call failed, where it was not the handler's own failed result
	Failure  FailureKind
	// Touched is what the call did through its grant, as far as the host sees it; nil where the
	// call was refused before it had one.
	Touched *permissions.Touched
}

// FailureKind says in a word why a call failed.
type FailureKind string

// The kinds of failures.
const (
	NoFailure        FailureKind = ""
	FailureUnknown   FailureKind = "unknown"   // there is no such tool or command, or it is disabled
	FailureArguments FailureKind = "arguments" // the arguments do not fit the schema, or are too large
	FailureDenied    FailureKind = "denied"    // something is touched that is not granted
	FailureTimeout   FailureKind = "timeout"   // the deadline passed
	FailureCancelled FailureKind = "cancelled" // the caller, or the end of the host, ended the call
	FailureCrash     FailureKind = "crash"     // the handler panicked, or its process ended
	FailureOutput    FailureKind = "output"    // the result does not fit the outputSchema
	FailureTooLarge  FailureKind = "too-large" // the result is over the limit
	FailureError     FailureKind = "error"     // the handler's own failed result, and whatever else
)

// FailureKinds gives the kinds of failures in the order in which they are listed.
func FailureKinds() []FailureKind {
	return []FailureKind{
		FailureUnknown, FailureArguments, FailureDenied, FailureTimeout, FailureCancelled, FailureCrash, FailureOutput, FailureTooLarge, FailureError,
	}
}

// kindedError is an error of a handler that knows what kind of failure it is.
type kindedError interface {
	error
	FailureKind() FailureKind
}

// failureOf gives the kind of a handler's error.
func failureOf(err error) FailureKind {
	var kinded kindedError
	var argument *permissions.ArgumentError
	switch {
	case errors.As(err, &kinded):
		return kinded.FailureKind()
	case errors.Is(err, permissions.ErrDenied), errors.As(err, &argument):
		return FailureDenied
	}
	return FailureError
}

// failureIn gives the kind of a handler's own failed result: a denial where it names what the
// call was denied.
func failureIn(r *Result, touched *permissions.Touched) FailureKind {
	if touched != nil {
		for _, d := range touched.Denied {
			for _, c := range r.Content {
				if d.Target != "" && strings.Contains(c.Text(), d.Target) {
					return FailureDenied
				}
			}
		}
	}
	return FailureError
}

// Observer is told what happens. Observe is called on the goroutine to which it
// happened, by several at once; it must not block, and must not call the Host's
// Replace, Remove or SetEnabled. A panic of it is logged.
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

// observed reports whether anybody is told what happens.
func (h *Host) observed() bool {
	all := h.observers.Load()
	return all != nil && len(*all) > 0
}

func (h *Host) notify(e Event) {
	all := h.observers.Load()
	if all == nil || len(*all) == 0 {
		return
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	for _, o := range *all {
		h.tell(o, e)
	}
}

// tell tells an observer. One that panics is no reason for the others not to hear, nor for the
// call to fail.
func (h *Host) tell(o *observer, e Event) {
	defer func() {
		if v := recover(); v != nil {
			h.log.Error("an observer panicked", "err", fmt.Sprint(v), "stack", string(debug.Stack()))
		}
	}()
	o.Observe(e)
}
