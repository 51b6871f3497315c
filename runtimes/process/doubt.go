package process

import (
	"context"
	"errors"
	"sync"
)

// errUnsent is why a call ends that was never sent to its process: it may go to another one.
var errUnsent = errors.New("the process was given up before the call was sent to it")

// doubt is whether a process still answers. A call that it has not answered in time raises
// it; meanwhile no further call is sent.
type doubt struct {
	mu   sync.Mutex
	n    int           // how many look
	over chan struct{} // closed when nobody does; nil where nobody does
}

// raise begins to doubt. settle must follow.
func (d *doubt) raise() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.n == 0 {
		d.over = make(chan struct{})
	}
	d.n++
}

func (d *doubt) settle() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.n--; d.n == 0 {
		close(d.over)
		d.over = nil
	}
}

// wait waits until there is no doubt.
func (d *doubt) wait(ctx context.Context) error {
	for {
		d.mu.Lock()
		over := d.over
		d.mu.Unlock()
		if over == nil {
			return nil
		}
		select {
		case <-over:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
