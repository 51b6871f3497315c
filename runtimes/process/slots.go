package process

import (
	"context"
	"fmt"
	"sync/atomic"
)

// slotOf is under what the context of a call, and of all that are made for it, has the holder
// of its slot.
type slotOf struct{ *instance }

// holder is a call that holds a slot.
type holder struct{ made atomic.Int32 } // calls that it has made and waits for

// slot waits until one more process may run for a call, and gives the context of that call. Where
// every slot is held by a call that waits for one that it has made, a call that one of them
// has made is refused: it would wait for them, as they do for it.
func (in *instance) slot(ctx context.Context) (context.Context, error) {
	select {
	case in.slots <- struct{}{}:
		return context.WithValue(ctx, slotOf{in}, &holder{}), nil
	default:
	}
	// Whoever comes here has been counted before, so that the last of them sees all.
	if n := cap(in.slots); ctx.Value(slotOf{in}) != nil && int(in.waiting.Load()) >= n {
		return nil, fmt.Errorf("all of the plugin's %d processes wait for calls that they have made themselves, and no more may run", n)
	}
	select {
	case in.slots <- struct{}{}:
		return context.WithValue(ctx, slotOf{in}, &holder{}), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// waits notes that a call waits for one that it makes, until it is told that it does no more.
func (in *instance) waits(ctx context.Context) (noMore func()) {
	h, ok := ctx.Value(slotOf{in}).(*holder)
	if !ok {
		return func() {}
	}
	if h.made.Add(1) == 1 {
		in.waiting.Add(1)
	}
	return func() {
		if h.made.Add(-1) == 0 {
			in.waiting.Add(-1)
		}
	}
}
