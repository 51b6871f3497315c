package process

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/internal/child"
)

// health knows whether a process can take another call.
type health struct {
	p      *child.Process
	broken atomic.Pointer[error] // why no further call is possible
}

// breakOff notes that the process cannot take another call; the first reason stands, and
// nil is none.
func (h *health) breakOff(err error) {
	if err != nil {
		h.broken.CompareAndSwap(nil, &err)
	}
}

// why gives why the process can take no further call; nil where nothing was noted.
func (h *health) why() error {
	if err := h.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// usable reports whether the process can take another call.
func (h *health) usable() bool {
	select {
	case <-h.p.Done():
		return false
	default:
		return h.why() == nil
	}
}

// ending reports whether a process that takes no more calls is still to show how it ends:
// it is not killed before, where calls wait for that.
func (h *health) ending() bool {
	select {
	case <-h.p.Done():
		return false
	default:
	}
	var f *Failure
	why := h.why()
	return why != nil && !errors.As(why, &f)
}

// endsWithin waits for the process to end, and reports whether it has ended.
func (h *health) endsWithin(limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-h.p.Done():
		return true
	case <-t.C:
	}
	select {
	case <-h.p.Done(): // in the same moment
		return true
	default:
		return false
	}
}

// lines is what the protocols of one message a line share: the reading of a process's
// stdout. read is called once, by a goroutine of the protocol's own.
type lines struct {
	health
	maxResult int           // told where a line is too long
	junk      atomic.Int64  // lines that are no message; the protocol says since when
	ended     chan struct{} // closed when nothing more is read

	unread  atomic.Pointer[unread]
	judging sync.Once
	verdict error // see failure
}

// unread is that a process did not take what was written to it, for it no longer reads.
type unread struct {
	at  time.Time
	err error
}

func newLines(p *child.Process, in *instance) lines {
	return lines{health: health{p: p}, maxResult: in.runtime.options.MaxResult, ended: make(chan struct{})}
}

func (l *lines) usable() bool {
	select {
	case <-l.ended:
		return false
	default:
		return l.health.usable()
	}
}

// hungUp notes that the process no longer reads. A process that is ending has closed its
// stdin before it is known how it ended, so its stdout is read to its end; of one that lives
// on, no longer than exitWait: what it was not told of it cannot answer.
func (l *lines) hungUp(err error) {
	l.breakOff(err)
	if l.unread.CompareAndSwap(nil, &unread{time.Now(), err}) {
		time.AfterFunc(exitWait, func() {
			if l.p.Err() == nil {
				_ = l.p.Stdout().SetReadDeadline(time.Now())
			}
		})
	}
}

// failure says why there is no answer, once nothing more is read. It is the same for all
// calls: the process is killed after the first, which is not how it ended.
func (l *lines) failure() error {
	l.judging.Do(func() { l.verdict = l.judge() })
	return l.verdict
}

func (l *lines) judge() error {
	var f *Failure
	if errors.As(l.why(), &f) {
		return f
	}
	wait, what := exitWait, &Failure{What: "its process closed its stdout without an answer"}
	if u := l.unread.Load(); u != nil {
		wait, what = time.Until(u.at.Add(exitWait)), &Failure{What: "its process closed its input", Err: u.err}
	}
	if l.endsWithin(wait) {
		return ended(l.p)
	}
	what.Tail = l.p.Tail()
	return what
}

// read gives the lines of the process to take until its stdout ends, or until it has sent
// what no program sends. take counts what is no message as junk; a line is its own only
// until it returns.
func (l *lines) read(take func(line []byte)) {
	defer close(l.ended)
	r := bufio.NewReaderSize(l.p.Stdout(), 64<<10)
	for {
		line, err := readLine(r)
		if errors.Is(err, errLongLine) {
			l.breakOff(&Failure{
				What: fmt.Sprintf("its process wrote a line of more than %d bytes to stdout; the limit of a result is %d bytes", maxLine, l.maxResult),
				Line: cut(string(line[:200]), 100), Tail: l.p.Tail(),
			})
			return
		}
		if len(bytes.TrimSpace(line)) > 0 || err == nil {
			take(line)
		}
		if err != nil {
			l.breakOff(err)
			return
		}
		if l.junk.Load() > maxJunk {
			l.breakOff(&Failure{
				What: fmt.Sprintf("its process wrote more than %d lines to stdout that are no messages", maxJunk),
				Line: cut(string(line), 100), Tail: l.p.Tail(),
			})
			return
		}
	}
}

var errLongLine = errors.New("the line is too long")

// readLine reads a line of at most maxLine bytes.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return append(line, part...), errLongLine
		}
		if line == nil && err == nil {
			return part, nil
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, io.EOF // a closed pipe, a process that is gone: it is all the same
		}
	}
}
