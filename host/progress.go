package host

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

const (
	// maxProgress is how many characters of a progress message reach the caller (NeuroSquad's limit).
	maxProgress = 200
	// progressGap is the time between two messages: a little more than a quarter of a
	// second, so that four a second still hold where the way to the client is uneven.
	progressGap = 275 * time.Millisecond
)

// progress hands a handler's messages to the caller: cut, throttled, and none after
// the end. A message that comes too early waits; a later one takes its place.
type progress struct {
	mu      sync.Mutex
	deliver func(string)
	observe func(string) // is told each message whole; nothing after the end
	last    time.Time
	waiting *string
	timer   *time.Timer
	ended   bool
	heard   func() string // see [Call.Explain]; nil says nothing
	log     *slog.Logger
}

// explain has heard say what was last heard of the call.
func (p *progress) explain(heard func() string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = heard
}

// lastHeard gives what was last heard of the call; "" where nothing was.
func (p *progress) lastHeard() string {
	p.mu.Lock()
	heard := p.heard
	p.mu.Unlock()
	if heard == nil {
		return ""
	}
	return heard()
}

// say takes a message; it may be called from any goroutine.
func (p *progress) say(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.observe(message)
	message = cutRunes(strings.ToValidUTF8(message, "\ufffd"), maxProgress)
	wait := progressGap - time.Since(p.last)
	if p.last.IsZero() || wait <= 0 && p.waiting == nil {
		p.last = time.Now()
		p.deliver(message)
		return
	}
	p.waiting = &message
	if p.timer == nil {
		p.timer = time.AfterFunc(wait, p.flushWaiting)
	}
}

func (p *progress) flushWaiting() {
	defer func() { // nobody else is on this goroutine
		if v := recover(); v != nil {
			p.log.Error("passing progress on panicked", "err", fmt.Sprint(v), "stack", string(debug.Stack()))
		}
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = nil
	p.flush()
}

func (p *progress) flush() {
	if p.ended || p.waiting == nil {
		return
	}
	p.last = time.Now()
	message := *p.waiting
	p.waiting = nil
	p.deliver(message)
}

// end delivers what waits and lets nothing through afterwards.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { // whatever becomes of the last message
		p.ended = true
		if p.timer != nil {
			p.timer.Stop()
		}
	}()
	p.flush()
}

func cutRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
