package node

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dop251/goja"
)

// maxTimers is how many timers may be live at once.
const maxTimers = 10_000

var errTooManyTimers = errors.New("too many timers are live at once")

// errIdle says that nothing is left that could settle the promise waited for.
var errIdle = errors.New("the handler waits for something that can never happen: its promise is not settled, and no timer or operation is left")

// loop is an event loop. run is called by one goroutine, to which everything in the
// VM belongs; post and start may be called from any.
type loop struct {
	vm  *goja.Runtime
	ctx context.Context // of the call; operations started by start get it

	mu      sync.Mutex
	posted  []func() error
	pending int           // operations that will post
	wake    chan struct{} // holds one token when something was posted

	timers timerHeap
	live   map[int]*timer
	nextID int
}

func newLoop(ctx context.Context, vm *goja.Runtime) *loop {
	return &loop{vm: vm, ctx: ctx, wake: make(chan struct{}, 1), live: map[int]*timer{}}
}

// post runs f on the loop. An error from f ends the loop.
func (l *loop) post(f func() error) {
	l.mu.Lock()
	l.posted = append(l.posted, f)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// start runs work on a goroutine of its own, and what it gives on the loop.
func (l *loop) start(work func(ctx context.Context) func() error) {
	l.mu.Lock()
	l.pending++
	l.mu.Unlock()
	go func() {
		done := work(l.ctx)
		l.mu.Lock()
		l.pending--
		l.posted = append(l.posted, done)
		l.mu.Unlock()
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}()
}

type timer struct {
	id    int
	at    time.Time
	seq   int
	every time.Duration // 0 for a timeout
	fire  func() error
	index int
	unref bool
}

// setTimer makes a timer and gives its id. Delays below 1 ms count as 1 ms, as in Node.
func (l *loop) setTimer(delay time.Duration, repeat bool, fire func() error) (int, error) {
	if len(l.live) >= maxTimers {
		return 0, errTooManyTimers
	}
	delay = max(delay, time.Millisecond)
	l.nextID++
	t := &timer{id: l.nextID, seq: l.nextID, at: time.Now().Add(delay), fire: fire}
	if repeat {
		t.every = delay
	}
	l.live[t.id] = t
	heap.Push(&l.timers, t)
	return t.id, nil
}

func (l *loop) clearTimer(id int) {
	if t, ok := l.live[id]; ok {
		delete(l.live, id)
		heap.Remove(&l.timers, t.index)
	}
}

// run runs what is posted and due until settled reports true (nil), ctx ends (its
// cause), or nothing is left to do (errIdle).
func (l *loop) run(ctx context.Context, settled func() bool) error {
	for {
		if settled() {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		did, err := l.turn()
		if err != nil {
			return err
		}
		if did {
			continue
		}
		if err := l.wait(ctx); err != nil {
			return err
		}
	}
}

// turn runs one posted function or one due timer.
func (l *loop) turn() (did bool, err error) {
	l.mu.Lock()
	var f func() error
	if len(l.posted) > 0 {
		f, l.posted = l.posted[0], l.posted[1:]
	}
	l.mu.Unlock()
	if f != nil {
		return true, f()
	}
	if len(l.timers) > 0 && !time.Now().Before(l.timers[0].at) {
		t := l.timers[0]
		if t.every > 0 {
			l.nextID++
			t.at, t.seq = time.Now().Add(t.every), l.nextID
			heap.Fix(&l.timers, 0)
		} else {
			l.clearTimer(t.id)
		}
		return true, t.fire()
	}
	return false, nil
}

func (l *loop) wait(ctx context.Context) error {
	l.mu.Lock()
	idle := len(l.posted) == 0 && l.pending == 0
	l.mu.Unlock()
	if idle && len(l.timers) == 0 {
		return errIdle
	}
	var due <-chan time.Time
	if len(l.timers) > 0 {
		t := time.NewTimer(time.Until(l.timers[0].at))
		defer t.Stop()
		due = t.C
	}
	select {
	case <-l.wake:
	case <-due:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	return h[i].at.Before(h[j].at) || h[i].at.Equal(h[j].at) && h[i].seq < h[j].seq
}
func (h timerHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i]; h[i].index, h[j].index = i, j }
func (h *timerHeap) Push(x any)   { t := x.(*timer); t.index = len(*h); *h = append(*h, t) }
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	*h = old[:len(old)-1]
	return t
}
