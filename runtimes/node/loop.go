package node

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
)

// maxTimers is how many timers may be live at once.
const maxTimers = 10_000

var errTooManyTimers = errors.New("too many timers are live at once")

// errIdle says that nothing is left that could settle the promise waited for.
var errIdle = errors.New("the handler waits for something that can never happen: its promise is not settled, and no timer or operation is left")

// maxOperations is how many operations of one engine run at the same time; more wait.
const maxOperations = 64

// loop is an event loop. run is called by one goroutine, to which everything in the
// VM belongs; post and start may be called from any.
type loop struct {
	vm  *goja.Runtime
	ctx context.Context // of the engine; operations started by start get it

	mu        sync.Mutex
	posted    []job
	running   int            // operations on goroutines
	waiting   []operation    // operations that have none yet
	wake      chan struct{}  // holds one token when something was posted
	operators sync.WaitGroup // goroutines of operations

	timers  timerHeap
	live    map[int]*timer
	nextID  int
	awaited func() bool // whether something outside may still post; nil for no

	current func() *scope                        // of the script that runs; nil where there are no scopes
	in      func(s *scope, f func() error) error // runs f for a scope; nil where there are none
	runs    atomic.Pointer[scope]                // of the script that runs, for other goroutines
	turns   atomic.Int64                         // how many turns began
	turned  bool                                 // the last turn ran something posted

	busySince atomic.Int64 // when the script began to run, in nanoseconds; 0 while it waits
}

func newLoop(ctx context.Context, vm *goja.Runtime) *loop {
	l := &loop{vm: vm, ctx: ctx, wake: make(chan struct{}, 1), live: map[int]*timer{}}
	l.busySince.Store(time.Now().UnixNano())
	return l
}

// job is something that the loop is to run.
type job struct {
	scope *scope // for which it runs; nil: that of the loop
	run   func() error
}

// operation is work on another goroutine.
type operation struct {
	scope *scope
	work  func() func() error
}

// post runs f on the loop, for no particular call. An error from f ends the loop.
func (l *loop) post(f func() error) { l.postIn(nil, f) }

// postIn runs f on the loop for a scope.
func (l *loop) postIn(s *scope, f func() error) {
	l.mu.Lock()
	l.posted = append(l.posted, job{s, f})
	l.mu.Unlock()
	l.wakeUp()
}

// later runs f on the loop for the scope that begins it now. It must be called on the loop.
func (l *loop) later(f func() error) {
	if s := l.scope(); s == nil || !s.over {
		l.postIn(s, f)
	}
}

// scope gives that of the script that runs; nil where there is none.
func (l *loop) scope() *scope {
	if l.current == nil {
		return nil
	}
	return l.current()
}

func (l *loop) wakeUp() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// start runs work on a goroutine of its own, and what it gives on the loop, for the scope
// that begins it. It must be called on the loop.
func (l *loop) start(work func(ctx context.Context) func() error) {
	s, ctx := l.scope(), l.ctx
	if s != nil && s.over {
		return
	}
	if s != nil && s.ctx != nil {
		ctx = s.ctx
	}
	o := operation{s, func() func() error { return work(ctx) }}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running >= maxOperations {
		l.waiting = append(l.waiting, o)
		return
	}
	l.running++
	l.operators.Go(func() { l.operate(o) })
}

// operate runs an operation and then those that wait, until none does or the engine has ended.
func (l *loop) operate(o operation) {
	for more := true; more; {
		done := contain(o.work)
		l.mu.Lock()
		l.posted = append(l.posted, job{o.scope, done})
		if more = len(l.waiting) > 0 && l.ctx.Err() == nil; more {
			o, l.waiting = l.waiting[0], l.waiting[1:]
		} else {
			l.running--
		}
		l.mu.Unlock()
		l.wakeUp()
	}
}

// drop forgets what a scope that is over has begun: its timers, whose ids it gives, and
// what waits to run for it.
func (l *loop) drop(s *scope) (timers []int) {
	l.mu.Lock()
	l.posted = slices.DeleteFunc(l.posted, func(j job) bool { return j.scope == s })
	l.waiting = slices.DeleteFunc(l.waiting, func(o operation) bool { return o.scope == s })
	l.mu.Unlock()
	for id, t := range l.live {
		if t.scope == s {
			l.clearTimer(id)
			timers = append(timers, id)
		}
	}
	return timers
}

// contain runs an operation; where it panics the loop ends with an error instead of the process.
func contain(operation func() func() error) (done func() error) {
	defer func() {
		if v := recover(); v != nil {
			done = func() error { return &internalError{fmt.Sprintf("%v\n%s", v, debug.Stack())} }
		}
	}()
	return operation()
}

// close drops what still waits, so that nothing keeps what it refers to.
func (l *loop) close() {
	l.mu.Lock()
	l.posted, l.waiting = nil, nil
	l.mu.Unlock()
	l.timers, l.live = nil, map[int]*timer{}
}

type timer struct {
	id    int
	at    time.Time
	seq   int
	every time.Duration // 0 for a timeout
	fire  func() error
	index int
	unref bool
	scope *scope
}

// setTimer makes a timer and gives its id, 0 for a call that is over. Delays below 1 ms count as 1 ms, as in Node.
func (l *loop) setTimer(delay time.Duration, repeat bool, fire func() error) (int, error) {
	if len(l.live) >= maxTimers {
		return 0, errTooManyTimers
	}
	delay = max(delay, time.Millisecond)
	l.nextID++
	t := &timer{id: l.nextID, seq: l.nextID, at: time.Now().Add(delay), fire: fire, scope: l.scope()}
	if repeat {
		t.every = delay
	}
	if t.scope != nil && t.scope.over {
		return 0, nil
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
	var next job
	due := len(l.timers) > 0 && !time.Now().Before(l.timers[0].at)
	if len(l.posted) > 0 && !(due && l.turned) {
		next, l.posted = l.posted[0], l.posted[1:]
	}
	l.mu.Unlock()
	l.turned = next.run != nil // a stream of what is posted must not starve the timers
	if next.run != nil {
		return true, l.runIn(next.scope, next.run)
	}
	if due {
		t := l.timers[0]
		if t.every > 0 {
			l.nextID++
			t.at, t.seq = time.Now().Add(t.every), l.nextID
			heap.Fix(&l.timers, 0)
		} else {
			l.clearTimer(t.id)
		}
		return true, l.runIn(t.scope, t.fire)
	}
	return false, nil
}

// runIn runs f as a turn for a scope. What a scope began that is over does not run.
func (l *loop) runIn(s *scope, f func() error) error {
	switch {
	case s == nil || l.in == nil:
		return f()
	case s.over:
		return nil
	}
	l.turns.Add(1)
	return l.in(s, f)
}

// timed reports whether a timer is left that keeps the loop alive.
func (l *loop) timed() bool {
	for _, t := range l.timers {
		if !t.unref {
			return true
		}
	}
	return false
}

func (l *loop) wait(ctx context.Context) error {
	if l.idle() && (l.awaited == nil || !l.awaited()) {
		return errIdle
	}
	return l.sleep(ctx)
}

// idle reports whether nothing is left that could happen.
func (l *loop) idle() bool {
	l.mu.Lock()
	idle := len(l.posted) == 0 && l.running == 0
	l.mu.Unlock()
	return idle && !l.timed()
}

// sleep waits until something is posted or due.
func (l *loop) sleep(ctx context.Context) error {
	var due <-chan time.Time
	if len(l.timers) > 0 {
		t := time.NewTimer(time.Until(l.timers[0].at))
		defer t.Stop()
		due = t.C
	}
	l.busySince.Store(0)
	defer func() { l.busySince.Store(time.Now().UnixNano()) }()
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
