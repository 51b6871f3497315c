package process

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolhost/toolhost/host"
)

const (
	// maxCalls is how many calls one process takes at once. Further ones wait.
	maxCalls = 16
	// sharedCancelGrace is how long a cancelled call may go on until it counts as stuck.
	sharedCancelGrace = 2 * time.Second
	// maxStuck is how many calls of one process may be stuck.
	maxStuck = 3
)

// sharer has processes serve several calls at once: one process for each agent folder,
// since what the kernel lets a process do depends on it.
type sharer struct {
	instance *instance

	mu     sync.Mutex
	places map[string]*place
}

// place is where the process for one folder is.
type place struct {
	breaker breaker
	now     *shared // nil: none runs
}

// shared is a process, or one that is being started.
type shared struct {
	folder string
	ready  chan struct{} // closed when the next two are set
	s      *started
	err    error
	turns  chan struct{} // one for each call that it takes at once
	cancel func()        // ends the start
	said   words

	// Guarded by the mutex of the sharer:
	calls int // that have it, or wait for it
	idle  *time.Timer
	busy  func() // ends its rest, see [runtimes.Places]
	gone  bool   // it takes no more calls
}

// runs reports whether the process was started and takes calls.
func (c *shared) runs() bool {
	select {
	case <-c.ready:
		return c.err == nil && !c.gone
	default:
		return false
	}
}

// wake ends the waiting for the end of a rest. The mutex is held.
func (c *shared) wake() {
	if c.idle != nil {
		c.idle.Stop()
		c.busy()
	}
}

// maxTries is how often a call is made that was not sent to its process.
const maxTries = 3

// call makes one call, and starts the process where none runs. After ctx has ended it
// returns once it is known what has become of the call in its process.
func (h *sharer) call(ctx context.Context, call *host.Call) (result *host.Result, err error) {
	for range maxTries {
		if result, err = h.try(ctx, call); !errors.Is(err, errUnsent) {
			return result, err
		}
	}
	return nil, &Failure{What: "its processes were given up one after the other"}
}

// try makes one call in the process that runs.
func (h *sharer) try(ctx context.Context, call *host.Call) (*host.Result, error) {
	c, err := h.turn(ctx, call)
	if err != nil {
		return nil, err
	}
	made := false
	defer func() {
		<-c.turns
		h.release(c, err, made)
	}()
	args, err := arguments(call, h.instance.spec.Policy, nil, !h.instance.runtime.options.Context)
	if err != nil {
		return nil, err
	}
	made = true
	c.said.give(call)
	result, err := c.s.link.call(ctx, call, args)
	return result, c.said.only(call, err)
}

// turn gives the process for a call once it is the call's turn. Where the process was
// given up meanwhile, the call waits for the next one: it was not sent yet.
func (h *sharer) turn(ctx context.Context, call *host.Call) (*shared, error) {
	for {
		c, err := h.acquire(ctx, call)
		if err != nil {
			return nil, err
		}
		select {
		case c.turns <- struct{}{}:
		case <-ctx.Done():
			h.release(c, nil, false)
			return nil, context.Cause(ctx)
		}
		h.mu.Lock()
		gone := c.gone
		h.mu.Unlock()
		if !gone {
			return c, nil
		}
		<-c.turns
		h.release(c, nil, false)
	}
}

// acquire gives the process for a call, with the call counted. Where none runs one is
// started; the call waits for it no longer than ctx.
func (h *sharer) acquire(ctx context.Context, call *host.Call) (*shared, error) {
	for {
		c, wait, err := h.take(ctx, call.Grant.Folder())
		if err != nil {
			return nil, err
		}
		if wait > 0 {
			t := time.NewTimer(wait)
			select {
			case <-t.C:
				continue
			case <-ctx.Done():
				t.Stop()
				return nil, context.Cause(ctx)
			}
		}
		c.said.explain(h.instance.spec.Plugin, call, whole)
		select {
		case <-c.ready:
		case <-ctx.Done():
			h.release(c, nil, false)
			return nil, context.Cause(ctx)
		}
		if c.err == nil {
			return c, nil
		}
		h.release(c, nil, false)
		return nil, c.err
	}
}

// take gives the process for a folder, which may still be starting, or how long to wait
// after its crashes.
func (h *sharer) take(ctx context.Context, folder string) (*shared, time.Duration, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.places == nil {
		h.places = map[string]*place{}
	}
	p := h.places[folder]
	if p == nil {
		p = &place{}
		h.places[folder] = p
	}
	h.sortOut(p)
	if p.now == nil {
		wait, refused := p.breaker.start(time.Now())
		deadline, bounded := ctx.Deadline()
		switch {
		case refused || bounded && wait > time.Until(deadline):
			return nil, 0, p.breaker.refusal(wait)
		case wait > 0:
			return nil, wait, nil
		}
		c := &shared{folder: folder, ready: make(chan struct{}), turns: make(chan struct{}, maxCalls)}
		// Several calls may wait for the start, so no call bounds it. One that takes longer
		// than its call serves the next.
		starting, cancel := context.WithTimeoutCause(h.instance.base, startLimit, &Failure{What: fmt.Sprintf("its process was not ready within %s", startLimit)})
		p.now, c.cancel = c, cancel
		h.instance.running.Add(1)
		go func() {
			defer h.instance.running.Done()
			defer cancel()
			h.start(starting, p, c)
		}()
	}
	p.now.calls++
	p.now.wake()
	return p.now, 0, nil
}

// sortOut drops a process that has ended or broken off, or that may read other files by
// now. The mutex is held.
func (h *sharer) sortOut(p *place) {
	c := p.now
	if c == nil {
		return
	}
	select {
	case <-c.ready:
	default:
		return
	}
	switch {
	case c.err != nil:
		p.now = nil
	case !c.s.link.usable():
		select {
		case <-c.s.p.Done():
			if err := c.s.p.Err(); err != nil && !c.gone {
				h.instance.spec.Log.Warn("a process has ended between two calls", "err", err)
				p.breaker.crashed(time.Now())
			}
		default:
		}
		h.retire(p, c)
	case c.calls == 0 && !h.instance.current(c.s):
		h.drop(p, c, keptGrace)
	}
}

// startLimit is how long a process may take to start that is started for several calls.
const startLimit = 30 * time.Second

// start starts the process.
func (h *sharer) start(ctx context.Context, p *place, c *shared) {
	defer close(c.ready)
	if c.err = h.slot(ctx); c.err != nil {
		return
	}
	if c.s, c.err = h.instance.launch(ctx, c.folder, &c.said); c.err == nil {
		c.s.undo = append(c.s.undo, func() { <-h.instance.slots })
		return
	}
	<-h.instance.slots
	var failure *Failure
	if errors.As(c.err, &failure) {
		p.breaker.crashed(time.Now())
	}
}

// slot waits until one more process may run. One that has nothing to do makes room.
func (h *sharer) slot(ctx context.Context) error {
	select {
	case h.instance.slots <- struct{}{}:
		return nil
	default:
	}
	h.mu.Lock()
	for _, p := range h.places {
		if c := p.now; c != nil && c.calls == 0 && c.runs() {
			h.drop(p, c, endGrace)
			break
		}
	}
	h.mu.Unlock()
	select {
	case h.instance.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// release ends a call. made says that it came as far as the process, err what became of it.
func (h *sharer) release(c *shared, err error, made bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.places[c.folder]
	c.calls--
	var failure *Failure
	switch {
	case !made:
	case errors.As(err, &failure):
		if !c.gone {
			p.breaker.crashed(time.Now())
			h.drop(p, c, 0)
		}
	case err == nil:
		p.breaker.served()
	}
	if c.runs() && !c.s.link.usable() {
		h.retire(p, c)
	}
	select {
	case <-h.instance.closing:
		if c.calls == 0 {
			c.cancel()
		}
		return
	default:
	}
	if c.calls == 0 && !c.gone && p.now == c {
		c.idle = time.AfterFunc(h.instance.runtime.options.Idle, func() { h.rest(p, c) })
		c.busy = h.instance.runtime.options.Places.Rest(func() { h.rest(p, c) })
	}
}

// retire drops a process that takes no more calls. One of which it is not known yet how it
// ends is left to the last of the calls that wait for that. The mutex is held.
func (h *sharer) retire(p *place, c *shared) {
	if c.calls == 0 || !c.s.link.ending() {
		h.drop(p, c, 0)
	} else if p.now == c {
		p.now = nil
	}
}

// drop has a process take no more calls, and ends it. The mutex is held.
func (h *sharer) drop(p *place, c *shared, grace time.Duration) {
	if p.now == c {
		p.now = nil
	}
	if c.gone {
		return
	}
	c.gone = true
	c.wake()
	h.instance.end(c.s, grace, nil)
}

// rest ends a process that has had nothing to do for long.
func (h *sharer) rest(p *place, c *shared) {
	if !h.instance.begin() {
		return // Close ends it
	}
	defer h.instance.running.Done()
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.calls == 0 && p.now == c && c.runs() {
		h.drop(p, c, keptGrace)
	}
}

// closing ends the starts for which no call waits.
func (h *sharer) closing() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.places {
		if c := p.now; c != nil && c.calls == 0 {
			c.cancel()
		}
	}
}

// close ends the processes. No call runs any more.
func (h *sharer) close() {
	var wait sync.WaitGroup
	h.mu.Lock()
	for _, p := range h.places {
		if c := p.now; c != nil && !c.gone && c.err == nil {
			c.gone, p.now = true, nil
			c.wake()
			wait.Go(func() { c.s.end(keptGrace) })
		}
	}
	h.mu.Unlock()
	wait.Wait()
}
