package process

import (
	"context"
	"errors"
	"sync"
)

// errUnsent is why a call ends that was never sent to its process: it may go to another one.
var errUnsent = errors.New("the process was given up before the call was sent to it")

// doubt is whether a process still answers. It is doubted from the moment at which a call is
// late until it is known: meanwhile no further call is sent. That moment is read from the
// call itself, since who waits for its answer may call again before the process is asked.
type doubt struct {
	mu    sync.Mutex
	calls map[*sent]struct{}
}

// sent is a call that the process was given.
type sent struct {
	ctx  context.Context // ends when the call is late
	over chan struct{}
}

// sending notes a call, which is late when ctx ends. settle says that it has ended, or that
// it is known of a late one whether the process still answers; it must follow, and may be
// called again.
func (d *doubt) sending(ctx context.Context) (settle func()) {
	s := &sent{ctx, make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calls == nil {
		d.calls = map[*sent]struct{}{}
	}
	d.calls[s] = struct{}{}
	return sync.OnceFunc(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.calls, s)
		close(s.over)
	})
}

// wait waits until there is no doubt.
func (d *doubt) wait(ctx context.Context) error {
	for late := d.late(); late != nil; late = d.late() {
		select {
		case <-late.over:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// late gives a call that is late, nil where there is none.
func (d *doubt) late() *sent {
	d.mu.Lock()
	defer d.mu.Unlock()
	for s := range d.calls {
		if s.ctx.Err() != nil {
			return s
		}
	}
	return nil
}
