package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// freeCrashes is how many crashes within crashWindow cost nothing but a new start.
	freeCrashes = 2
	crashWindow = time.Minute
	// maxBackoff is the longest time for which no worker is started.
	maxBackoff = time.Minute
)

// slot is the place of the worker of one agent folder.
type slot struct {
	mu      sync.Mutex
	current *attempt    // nil before the first
	crashes []time.Time // within crashWindow of the last one
	reason  error       // of the last one
}

// attempt is a worker that is being started, or was.
type attempt struct {
	ready   chan struct{} // closed when process or err is set
	waiting int           // calls that wait for it; guarded by the slot's mutex
	process *process
	err     error
}

// take gives the worker with a call counted, where there is one that takes calls; else the
// attempt to wait for, in which the call is counted. start is called where there must be a new one.
func (s *slot) take(now time.Time, start func(*attempt)) (*process, *attempt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.current; a != nil {
		select {
		case <-a.ready:
			if a.err == nil && a.process.begin() {
				return a.process, nil, nil
			}
			s.settle(a.process, now)
		default:
			a.waiting++
			return nil, a, nil
		}
	}
	if wait := s.backoff(now); wait > 0 {
		return nil, nil, fmt.Errorf("%w; it crashed %d times within a minute, and is started again in %s",
			s.reason, len(s.crashes), max(wait.Round(time.Second), time.Second))
	}
	s.current = &attempt{ready: make(chan struct{}), waiting: 1}
	start(s.current)
	return nil, s.current, nil
}

// hand gives the calls that wait for an attempt their worker, or says why there is none. They are
// the worker's calls from here on: one that has come to nothing yet has not been idle.
func (s *slot) hand(a *attempt, p *process, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.process, a.err = p, err
	if p != nil {
		p.expect(a.waiting)
	}
	close(a.ready)
}

// leave ends the waiting of a call whose time is over.
func (s *slot) leave(a *attempt, idle time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.waiting--
	if a.process != nil { // it was handed over meanwhile
		a.process.done(idle)
	}
}

// backoff gives how long no worker may be started.
func (s *slot) backoff(now time.Time) time.Duration {
	s.forget(now)
	more := len(s.crashes) - freeCrashes
	if more <= 0 {
		return 0
	}
	pause := min(time.Second<<min(more-1, 10), maxBackoff)
	return s.crashes[len(s.crashes)-1].Add(pause).Sub(now)
}

func (s *slot) forget(now time.Time) {
	s.crashes = slices.DeleteFunc(s.crashes, func(t time.Time) bool { return now.Sub(t) > crashWindow })
}

// settle counts the crash of a worker that has ended by one, once: a call that comes right after
// it may be here before who watches the worker is. s.mu is held.
func (s *slot) settle(p *process, now time.Time) {
	if p == nil || p.counted {
		return
	}
	select {
	case <-p.ended:
	default:
		return
	}
	p.counted = true
	if !p.crashed {
		return
	}
	s.count(now, p.crash())
}

// crashed counts a crash.
func (s *slot) crashed(now time.Time, reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(now, reason)
}

// count is crashed where s.mu is held.
func (s *slot) count(now time.Time, reason error) {
	s.forget(now)
	s.crashes, s.reason = append(s.crashes, now), reason
}

// acquire gives a worker for a call in a folder, and counts the call. Where none runs one is
// started; the call waits for it no longer than ctx.
func (in *instance) acquire(ctx context.Context, folder string) (*process, error) {
	s, idle := in.slot(folder), in.runtime.options.IdleStop
	for {
		p, a, err := s.take(time.Now(), func(a *attempt) {
			if !in.work(func() { in.start(s, a, folder) }) {
				a.err = errClosed
				close(a.ready)
			}
		})
		switch {
		case err != nil:
			return nil, err
		case p != nil:
			return p, nil
		}
		select {
		case <-a.ready:
			switch {
			case a.err != nil:
				return nil, a.err
			case a.process.takes():
				return a.process, nil
			}
			a.process.done(idle) // it has ended already
		case <-ctx.Done():
			s.leave(a, idle)
			return nil, context.Cause(ctx)
		}
	}
}

func (in *instance) slot(folder string) *slot {
	in.mu.Lock()
	defer in.mu.Unlock()
	s, ok := in.slots[folder]
	if !ok {
		s = &slot{}
		in.slots[folder] = s
	}
	return s
}

// start starts the worker of a slot. It is bounded by the life of the instance, not by the
// call that needs it first: others may wait for it too.
func (in *instance) start(s *slot, a *attempt, folder string) {
	o, err := in.restart(folder)
	if err != nil {
		var crash *crashError
		if errors.As(err, &crash) {
			s.crashed(time.Now(), err)
		}
		s.hand(a, nil, err)
		return
	}
	s.hand(a, o.process, nil)
	in.watch(s, o.process)
}

// restart starts a worker with the code that was loaded: a version of the plugin that does
// not load must leave the one before it serving.
func (in *instance) restart(folder string) (*opened, error) {
	if in.sources == nil || in.sources.same(in.spec.Dir) {
		o, err := in.runtime.start(in.base, &in.spec, folder, nil)
		if err == nil && !maps.Equal(o.inputs, in.inputs) {
			o.process.stop(errChanged)
			<-o.process.ended
			err = errChanged
		}
		return o, err
	}
	return in.runtime.start(in.base, &in.spec, folder, in.sources)
}

// watch counts the crash of a worker, should it come to that. Close waits for its end.
func (in *instance) watch(s *slot, p *process) {
	p.stopIdle(in.runtime.options.IdleStop)
	stop := context.AfterFunc(in.base, func() { p.stop(context.Cause(in.base)) })
	wait := func() {
		<-p.ended
		stop()
		s.mu.Lock()
		s.settle(p, time.Now())
		s.mu.Unlock()
		if p.crashed {
			in.spec.Log.Error("a worker has ended before its time", "err", p.crash())
		}
	}
	if !in.work(wait) {
		p.stop(errClosed)
		wait()
	}
}

// crash gives why a worker has crashed, as it is told later.
func (p *process) crash() error {
	if why := p.why(); !errors.Is(why, errStuck) {
		return why
	}
	return errKilled
}

// errKilled is errStuck as it is told later.
var errKilled = errors.New("the plugin's worker was killed, since a call in it could not be stopped")
