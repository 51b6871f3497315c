// Package calllog records the calls of a [host.Host] in the state database, and gives them
// back.
//
//	log := calllog.New(db, nil)
//	defer log.Close(ctx)
//	h.Observe(log)
//
// A [Log] is an observer: it takes what happens into a bounded queue and writes it down on a
// goroutine of its own, so that no call ever waits for the disk. Secrets are taken out before
// anything is written, by the rules of a [Redactor].
//
// What it does not do: it never fails a call. Where the database cannot be written, or is too
// slow, calls go on unrecorded, and the log says so.
package calllog

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/state"
	"github.com/toolhost/toolhost/permissions"
)

const (
	// DefaultKeep and DefaultBytes are how long and how much is kept unless said otherwise.
	DefaultKeep  = 30 * 24 * time.Hour
	DefaultBytes = 100 << 20

	// maxQueue and maxQueueBytes bound what waits to be written.
	maxQueue      = 4096
	maxQueueBytes = 64 << 20
	// maxBatch is how many calls one transaction writes, and batchWait how long the first of
	// them waits for others: what a crash can cost.
	maxBatch  = 256
	batchWait = 100 * time.Millisecond
	// pruneEvery is after how many recorded calls it is looked what has become too old.
	pruneEvery = 100

	// complainEvery is how often it is told that calls are left out.
	complainEvery = time.Minute
)

// Options of a [Log]; the zero value is usable.
type Options struct {
	Keep  time.Duration // how long calls are kept; 0 is 30 days
	Bytes int64         // how much is kept, the oldest go first; 0 is 100 MiB
	// Secrets are taken out beside those of the database.
	Secrets []string
	// Log is told, once each time it begins, that calls cannot be recorded; nil drops it.
	Log *slog.Logger
}

// Log records calls. It is safe for concurrent use.
type Log struct {
	db      *state.DB
	options Options
	log     *slog.Logger

	start sync.Once
	ctx   context.Context // of what is done with the database
	stop  context.CancelFunc
	wake  chan struct{} // holds a token when there is something to do: a first call, or half a queue
	ended chan struct{} // closed when the goroutine has ended

	dropped atomic.Int64 // calls that were left out since the last complaint

	mu       sync.Mutex
	closed   bool
	queue    []record             // what the goroutine has not taken yet
	waiting  int                  // calls that are not written yet, those that it has taken included
	bytes    int64                // that they hold
	progress map[string]*progress // of running calls that said something, by their IDs
}

// record is a call that ended, as it waits.
type record struct {
	event    host.Event
	progress *progress
	bytes    int64
	bare     bool // there was no room for its arguments, its result, and what it said and touched
}

// progress is what a call said on its way.
type progress struct {
	lines []string
	more  int
}

// New gives a log that writes to db. Nothing is opened, and no goroutine runs, before the first
// call. options may be nil.
func New(db *state.DB, options *Options) *Log {
	l := &Log{db: db, wake: make(chan struct{}, 1), ended: make(chan struct{}), progress: map[string]*progress{}}
	if options != nil {
		l.options = *options
	}
	if l.options.Keep <= 0 {
		l.options.Keep = DefaultKeep
	}
	if l.options.Bytes <= 0 {
		l.options.Bytes = DefaultBytes
	}
	if l.log = l.options.Log; l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	l.ctx, l.stop = context.WithCancel(context.Background())
	return l
}

var _ host.Observer = (*Log)(nil)

// Observe takes what happens to a call. It never waits.
func (l *Log) Observe(e host.Event) {
	switch e.Kind {
	case host.CallStarted:
		// The database is opened while the call runs.
		l.start.Do(func() { go l.run() })
	case host.CallProgress:
		l.mu.Lock()
		defer l.mu.Unlock()
		p := l.progress[e.Call.ID]
		switch {
		case p == nil:
			l.progress[e.Call.ID] = &progress{lines: []string{cut(e.Message, maxProgressBytes)}}
		case len(p.lines) < maxProgress:
			p.lines = append(p.lines, cut(e.Message, maxProgressBytes))
		default:
			p.more++
		}
	case host.CallEnded:
		l.start.Do(func() { go l.run() })
		l.put(&e)
	}
}

func (l *Log) put(e *host.Event) {
	bytes := int64(len(e.Received)+len(e.Call.Args)+len(e.Call.Meta)) + heldBy(e.Result) + heldByTouched(e.Touched)
	l.mu.Lock()
	said := l.progress[e.Call.ID]
	if said != nil {
		delete(l.progress, e.Call.ID)
		for _, line := range said.lines {
			bytes += int64(len(line))
		}
	}
	if l.closed || l.waiting >= maxQueue {
		l.mu.Unlock()
		l.dropped.Add(1)
		return
	}
	r := record{event: *e, progress: said, bytes: bytes}
	if l.bytes+bytes > maxQueueBytes {
		call := *e.Call
		call.Args, call.Meta = nil, nil
		r.event.Call, r.event.Received, r.event.Result, r.bytes, r.bare = &call, nil, nil, 0, true
		if said != nil {
			r.progress = &progress{more: len(said.lines) + said.more}
		}
		if t := e.Touched; t != nil {
			r.event.Touched = &permissions.Touched{More: t.More + len(t.Read) + len(t.Written) + len(t.Fetched) + len(t.Connected) + len(t.Env) + len(t.Denied)}
		}
	}
	l.queue = append(l.queue, r)
	l.waiting++
	l.bytes += r.bytes
	waiting := len(l.queue)
	l.mu.Unlock()
	// The goroutine is not woken for each call: that costs the call more than all else.
	if waiting == 1 || waiting == maxQueue/2 {
		l.signal()
	}
}

// signal wakes the goroutine.
func (l *Log) signal() {
	select {
	case l.wake <- struct{}{}:
	default: // it is about to wake
	}
}

// heldBy gives about how many bytes a result holds.
func heldBy(r *host.Result) int64 {
	if r == nil {
		return 0
	}
	n := len(r.Structured) + len(r.Meta) + len(r.Value)
	for _, c := range r.Content {
		if c.Type() == "text" {
			n += len(c.Text())
			continue
		}
		raw, _ := c.MarshalJSON() // the block's own text, never an error
		n += len(raw)
	}
	return int64(n)
}

// heldByTouched gives about how many bytes the names hold that a call touched.
func heldByTouched(t *permissions.Touched) (n int64) {
	if t == nil {
		return 0
	}
	for _, list := range [...][]string{t.Read, t.Written, t.Fetched, t.Connected, t.Env, t.Used} {
		for _, s := range list {
			n += int64(len(s))
		}
	}
	for _, d := range t.Denied {
		n += int64(len(d.Op) + len(d.Target) + len(d.Rule) + len(d.Reason))
	}
	return n
}

// Close writes down what waits, and ends the log; what is not written when ctx ends is lost.
func (l *Log) Close(ctx context.Context) error {
	defer l.stop()
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.signal()
	l.start.Do(func() { close(l.ended) }) // there was nothing to record
	var err error
	select {
	case <-l.ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
		l.stop()
		<-l.ended
	}
	if n := l.dropped.Swap(0); n > 0 {
		l.log.Warn("calls were not recorded in the call log", "calls", n)
	}
	return err
}

// run writes what comes until the log is closed.
func (l *Log) run() {
	defer close(l.ended)
	w := &writer{Log: l, secrets: newSecrets(), marks: map[*host.Tool]*marks{}}
	w.secrets.add(l.options.Secrets)
	w.learnSecrets() // this opens the database too, where there is one
	timer := time.NewTimer(0)
	defer timer.Stop()
	var spare []record
	for {
		<-l.wake
		if !l.hurry() {
			timer.Reset(batchWait) // more may come
			select {
			case <-timer.C:
			case <-l.wake:
			}
		}
		batch, last := l.take(spare)
		for part := range slices.Chunk(batch, maxBatch) {
			w.write(part)
			l.written(part)
		}
		if last {
			return
		}
		spare = batch[:0]
	}
}

// hurry reports whether there is no time to wait for more calls.
func (l *Log) hurry() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed || len(l.queue) >= maxQueue/2
}

// take gives what waits, and has what comes wait in spare. It reports whether nothing comes any more.
func (l *Log) take(spare []record) (batch []record, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch, l.queue = l.queue, spare
	return batch, l.closed
}

// written makes room for others, and lets go of what the calls held.
func (l *Log) written(part []record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range part {
		l.waiting--
		l.bytes -= part[i].bytes
	}
	clear(part)
}

// writer is what the goroutine of a log works with.
type writer struct {
	*Log
	secrets    *secrets
	marks      map[*host.Tool]*marks // of tools that were called
	failing    bool
	complained time.Time
}

// maxKnownTools bounds what is remembered of tools, which are others after each reload.
const maxKnownTools = 1000

func (w *writer) write(batch []record) {
	w.learnSecrets()
	redactor := w.secrets.redactor()
	calls := make([]*state.Call, len(batch))
	for i := range batch {
		r := &batch[i]
		calls[i] = newEntry(r, redactor, w.marksOf(r.event.Tool)).row(r.event.Touched)
	}
	n, err := w.db.AddCalls(w.ctx, calls)
	switch {
	case err != nil:
		w.dropped.Add(int64(len(batch)))
		if !w.failing {
			w.failing = true
			w.log.Warn("calls are not recorded in the call log; they go on", "err", err)
			var bad *state.Error
			if errors.As(err, &bad) && bad.Hint != "" {
				w.log.Warn("to have calls recorded: " + bad.Hint)
			}
		}
	case w.failing:
		w.failing = false
		w.log.Info("calls are recorded again", "missing", w.dropped.Swap(0))
	case n/pruneEvery != (n-int64(len(batch)))/pruneEvery:
		if _, err := w.db.PruneCalls(w.ctx, time.Now().Add(-w.options.Keep), w.options.Bytes); err != nil && w.ctx.Err() == nil {
			w.log.Warn("old calls could not be taken out of the call log", "err", err)
		}
	}
	if !w.failing && w.dropped.Load() > 0 && time.Since(w.complained) > complainEvery {
		w.complained = time.Now()
		w.log.Warn("the call log cannot keep up: calls were not recorded", "calls", w.dropped.Swap(0))
	}
}

// learnSecrets looks which secrets there are now. Those of before are kept: a call that was
// made with one may still wait.
func (w *writer) learnSecrets() {
	list, err := w.db.Secrets(w.ctx)
	if err != nil {
		return // then nothing can be written either, and that is told
	}
	w.secrets.add(list)
}

func (w *writer) marksOf(t *host.Tool) *marks {
	if t == nil {
		return nil
	}
	m, known := w.marks[t]
	if !known {
		if len(w.marks) >= maxKnownTools {
			clear(w.marks)
		}
		m = findMarks(t.InputSchema)
		w.marks[t] = m
	}
	return m
}
