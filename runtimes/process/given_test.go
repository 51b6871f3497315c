package process

import (
	"errors"
	"testing"

	"github.com/toolhost/toolhost/host"
)

// Who may be told what a process wrote: the agent whose calls it was given, also for a call that
// still waits to be given to it. A call without a session is of an agent of its own.
func TestWhoMayBeTold(t *testing.T) {
	call := func(agent, id string) *host.Call {
		return &host.Call{ID: id, Agent: host.Agent{ID: agent, Name: "client"}}
	}
	for name, c := range map[string]struct {
		given []*host.Call
		asks  *host.Call
		told  bool
	}{
		"nothing given":                     {nil, call("one", "1"), true},
		"its own call":                      {[]*host.Call{call("one", "1")}, call("one", "1"), true},
		"its agent's calls":                 {[]*host.Call{call("one", "1"), call("one", "2")}, call("one", "3"), true},
		"another's call":                    {[]*host.Call{call("one", "1")}, call("two", "2"), false},
		"another's call before":             {[]*host.Call{call("one", "1"), call("two", "2")}, call("two", "2"), false},
		"another's call since":              {[]*host.Call{call("one", "1"), call("two", "2")}, call("one", "1"), false},
		"another's call between":            {[]*host.Call{call("one", "1"), call("two", "2"), call("one", "3")}, call("one", "3"), false},
		"its own, without session":          {[]*host.Call{call("", "1")}, call("", "1"), true},
		"another, without session":          {[]*host.Call{call("", "1"), call("", "2")}, call("", "2"), false},
		"waiting, without session":          {[]*host.Call{call("", "1")}, call("", "2"), false},
		"of a session, after one without":   {[]*host.Call{call("", "1"), call("one", "2")}, call("one", "2"), false},
		"without session, after one of one": {[]*host.Call{call("one", "1")}, call("", "2"), false},
	} {
		w := &words{}
		for _, given := range c.given {
			w.give(given)
		}
		if told := w.mayTell(c.asks); told != c.told {
			t.Errorf("%s: told %v", name, told)
		}
		err := w.only(c.asks, &Failure{What: "it ended", Line: "a line", Tail: "last words", Err: errUnsent})
		var f *Failure
		if !errors.As(err, &f) || !errors.Is(err, errUnsent) || f.What != "it ended" || (f.Tail != "") != c.told || (f.Line != "") != c.told {
			t.Errorf("%s: the failure is %#v", name, err)
		}
	}
}
