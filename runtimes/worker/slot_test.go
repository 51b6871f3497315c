package worker

import (
	"testing"
	"time"
)

// A call that waits for a worker is one of the worker's calls once it is there: a worker that is
// stopped as soon as it rests, or whose place others want, is not stopped before the call comes.
func TestTheCallThatAWorkerIsStartedFor(t *testing.T) {
	const idle = time.Hour
	s := &slot{}
	var started []*attempt
	take := func() *attempt {
		t.Helper()
		p, a, err := s.take(time.Now(), func(a *attempt) { started = append(started, a) })
		if p != nil || err != nil {
			t.Fatalf("take gives %v, %v; want an attempt", p, err)
		}
		return a
	}
	first, second, third := take(), take(), take()
	if len(started) != 1 || first != second || second != third {
		t.Fatalf("%d workers are started for one folder", len(started))
	}
	s.leave(third, idle) // its time is over
	p := &process{ended: make(chan struct{})}
	s.hand(first, p, nil)
	<-first.ready
	if p.calls != 2 {
		t.Errorf("%d calls are counted, want those that still wait", p.calls)
	}
	p.stopIdle(0)
	p.rest() // what the end of its idle time and the want of its place do
	if !p.takes() {
		t.Fatal("the worker was stopped before the calls came that it was started for")
	}
	s.leave(second, idle) // its time is over just now
	p.done(idle)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls != 0 || p.idle == nil {
		t.Errorf("%d calls are counted at the end, and the worker rests: %t", p.calls, p.idle != nil)
	}
	p.wake()
}
