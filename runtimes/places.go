package runtimes

import (
	"context"
	"slices"
	"sync"
)

// Places bounds how many processes run at once, of all plugins together. Who wants to start
// one takes a place first, and waits for it in turn; where none is free, the process that has
// had nothing to do for longest is asked to end. A nil *Places bounds nothing. It is safe
// for concurrent use.
type Places struct {
	mu      sync.Mutex
	free    int
	waiting []chan struct{} // closed where a place was given
	resting []*rest         // the longest first
}

type rest struct{ end func() }

// NewPlaces makes n places.
func NewPlaces(n int) *Places { return &Places{free: n} }

// Take gives a place, or the cause of ctx where that ends first. release gives the place
// back; it is called once, when the process has ended.
func (p *Places) Take(ctx context.Context) (release func(), err error) {
	if p == nil {
		return func() {}, nil
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	p.mu.Lock()
	if p.free > 0 {
		p.free--
		p.mu.Unlock()
		return p.give, nil
	}
	mine := make(chan struct{})
	p.waiting = append(p.waiting, mine)
	if len(p.resting) > 0 {
		go p.resting[0].end()
		p.resting = p.resting[1:]
	}
	p.mu.Unlock()
	select {
	case <-mine:
		return p.give, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	at := slices.Index(p.waiting, mine)
	if at >= 0 {
		p.waiting = slices.Delete(p.waiting, at, at+1)
	}
	p.mu.Unlock()
	if at < 0 { // it was given meanwhile
		p.give()
	}
	return nil, context.Cause(ctx)
}

func (p *Places) give() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		p.free++
		return
	}
	close(p.waiting[0])
	p.waiting = p.waiting[1:]
}

// Rest says that a process has nothing to do. Where its place is wanted end is called, once
// and on a goroutine of its own; it does nothing where the process is busy again. The caller
// calls busy when the process gets something to do, or ends.
func (p *Places) Rest(end func()) (busy func()) {
	if p == nil {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) > 0 {
		go end()
		return func() {}
	}
	r := &rest{end}
	p.resting = append(p.resting, r)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.resting = slices.DeleteFunc(p.resting, func(other *rest) bool { return other == r })
	}
}
