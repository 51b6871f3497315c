package node

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dop251/goja"
)

// script collects what a test's callbacks do, in order.
type script struct{ did []string }

func (s *script) do(name string) func() error {
	return func() error { s.did = append(s.did, name); return nil }
}

func (s *script) has(name string) func() bool {
	return func() bool { return slices.Contains(s.did, name) }
}

func TestLoopOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLoop(t.Context(), goja.New()), &script{}
		for _, timer := range []struct {
			name string
			ms   time.Duration
		}{{"b", 20}, {"a1", 10}, {"a2", 10}, {"zero", 0}, {"one", 1}, {"gone", 5}, {"last", 30}} {
			id, err := l.setTimer(timer.ms*time.Millisecond, false, s.do(timer.name))
			if err != nil {
				t.Fatal(err)
			}
			if timer.name == "gone" {
				l.clearTimer(id)
				l.clearTimer(id) // twice is no harm
			}
		}
		l.post(s.do("posted"))
		l.start(func(context.Context) func() error { time.Sleep(15 * time.Millisecond); return s.do("operation") })
		if err := l.run(t.Context(), s.has("last")); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.did, " "); got != "posted zero one a1 a2 operation b last" {
			t.Errorf("got %s", got)
		}
	})
}

func TestLoopEnds(t *testing.T) {
	never := func() bool { return false }
	synctest.Test(t, func(t *testing.T) {
		l := newLoop(t.Context(), goja.New())
		if err := l.run(t.Context(), never); !errors.Is(err, errIdle) {
			t.Errorf("nothing to do: %v", err)
		}
		id, err := l.setTimer(time.Hour, true, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		l.live[id].unref = true
		if err := l.run(t.Context(), never); !errors.Is(err, errIdle) {
			t.Errorf("a timer that keeps nothing alive: %v", err)
		}
		l.live[id].unref = false
		why := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 90*time.Minute, why)
		defer cancel()
		if err := l.run(ctx, never); !errors.Is(err, why) {
			t.Errorf("the context ended: %v", err)
		}
		thrown := errors.New("thrown")
		l.post(func() error { return thrown })
		if err := l.run(t.Context(), never); !errors.Is(err, thrown) {
			t.Errorf("a callback threw: %v", err)
		}
	})
}

func TestLoopRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, began := newLoop(t.Context(), goja.New()), time.Now()
		n := 0
		if _, err := l.setTimer(10*time.Millisecond, true, func() error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		if err := l.run(t.Context(), func() bool { return n == 5 }); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 50*time.Millisecond {
			t.Errorf("5 turns of 10 ms took %s", took)
		}
	})
}

// What posts itself again and again must not keep timers from firing.
func TestLoopIsFair(t *testing.T) {
	l, fired := newLoop(t.Context(), goja.New()), false
	var again func() error
	again = func() error { l.post(again); return nil }
	l.post(again)
	if _, err := l.setTimer(time.Millisecond, false, func() error { fired = true; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := l.run(t.Context(), func() bool { return fired }); err != nil {
		t.Fatal(err)
	}
}

func TestLoopBoundsTimersAndOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoop(t.Context(), goja.New())
		for range maxTimers {
			if _, err := l.setTimer(time.Hour, false, nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := l.setTimer(time.Hour, false, nil); !errors.Is(err, errTooManyTimers) {
			t.Errorf("got %v", err)
		}
		var running, most atomic.Int32
		done := 0
		for range 10 * maxOperations {
			l.start(func(context.Context) func() error {
				most.Store(max(most.Load(), running.Add(1)))
				time.Sleep(time.Second)
				running.Add(-1)
				return func() error { done++; return nil }
			})
		}
		if err := l.run(t.Context(), func() bool { return done == 10*maxOperations }); err != nil {
			t.Fatal(err)
		}
		if most.Load() != maxOperations {
			t.Errorf("%d operations ran at the same time, want %d", most.Load(), maxOperations)
		}
	})
}

func TestLoopContainsPanics(t *testing.T) {
	l := newLoop(t.Context(), goja.New())
	l.start(func(context.Context) func() error { panic("boom") })
	var internal *internalError
	if err := l.run(t.Context(), func() bool { return false }); !errors.As(err, &internal) {
		t.Errorf("got %v", err)
	}
}
