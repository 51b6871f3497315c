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
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/state"
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

	start   sync.Once
	queue   chan *record
	full    chan struct{} // holds a token when the queue is half full
	waiting atomic.Int64  // bytes in the queue
	dropped atomic.Int64  // calls that were left out since the last complaint

	ctx     context.Context // of what is done with the database
	stop    context.CancelFunc
	closing chan struct{}
	close   sync.Once
	ended   chan struct{} // closed when the goroutine has ended

	records sync.Pool    // of *record: written ones
	talking atomic.Int64 // calls in progress, so that the end of one that was silent need not look

	mu       sync.Mutex
	progress map[string]*progress // of running calls that said something, by their IDs
}

// record is a call that ended, as it waits.
type record struct {
	event    host.Event
	progress *progress
	bytes    int64
	bare     bool // there was no room for its arguments and result
}

// progress is what a call said on its way.
type progress struct {
	lines []string
	more  int
}

// New gives a log that writes to db. Nothing is opened, and no goroutine runs, before the first
// call. options may be nil.
func New(db *state.DB, options *Options) *Log {
	l := &Log{db: db, queue: make(chan *record, maxQueue), full: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{}), progress: map[string]*progress{}}
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
			l.talking.Add(1)
		case len(p.lines) < maxProgress:
			p.lines = append(p.lines, cut(e.Message, maxProgressBytes))
		default:
			p.more++
		}
	case host.CallEnded:
		l.start.Do(func() { go l.run() })
		r, _ := l.records.Get().(*record)
		if r == nil {
			r = &record{}
		}
		r.event = e
		if l.talking.Load() > 0 {
			r.progress = l.said(e.Call.ID)
		}
		l.put(r)
	}
}

// said gives what a call said that has ended, and forgets it.
func (l *Log) said(id string) *progress {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.progress[id]
	if p != nil {
		delete(l.progress, id)
		l.talking.Add(-1)
	}
	return p
}

func (l *Log) put(r *record) {
	r.bytes = int64(len(r.event.Received)+len(r.event.Call.Args)) + heldBy(r.event.Result)
	if l.waiting.Add(r.bytes) > maxQueueBytes {
		l.waiting.Add(-r.bytes)
		call := *r.event.Call
		call.Args = nil
		r.event.Call, r.event.Received, r.event.Result, r.bytes, r.bare = &call, nil, nil, 0, true
	}
	select {
	case <-l.closing:
	default:
		select {
		case l.queue <- r:
			if len(l.queue) == maxQueue/2 {
				select {
				case l.full <- struct{}{}:
				default:
				}
			}
			return
		default:
		}
	}
	l.waiting.Add(-r.bytes)
	l.dropped.Add(1)
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

// Close writes down what waits, and ends the log; what is not written when ctx ends is lost.
func (l *Log) Close(ctx context.Context) error {
	defer l.stop()
	l.close.Do(func() { close(l.closing) })
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
	for {
		var batch []*record
		select {
		case r := <-l.queue:
			batch = l.take(batch, r)
			// More may come. They are not received one by one: each would wake this goroutine,
			// which costs the call that sends it more than all else.
			timer.Reset(batchWait)
			select {
			case <-timer.C:
			case <-l.full:
			case <-l.closing:
			}
		case <-l.closing:
		}
		for {
			batch = l.takeAll(batch)
			if len(batch) == 0 {
				break
			}
			w.write(batch)
			for _, r := range batch {
				*r = record{} // lets go of the call
				l.records.Put(r)
			}
			batch = nil
		}
		select {
		case <-l.closing:
			if len(l.queue) == 0 {
				return
			}
		default:
		}
	}
}

func (l *Log) take(batch []*record, r *record) []*record {
	l.waiting.Add(-r.bytes)
	return append(batch, r)
}

// takeAll adds to a batch what is there, without waiting.
func (l *Log) takeAll(batch []*record) []*record {
	for len(batch) < maxBatch {
		select {
		case r := <-l.queue:
			batch = l.take(batch, r)
		default:
			return batch
		}
	}
	return batch
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

func (w *writer) write(batch []*record) {
	w.learnSecrets()
	redactor := w.secrets.redactor()
	calls := make([]*state.Call, len(batch))
	for i, r := range batch {
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
