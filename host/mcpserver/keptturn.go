package mcpserver

import (
	"sync"
	"time"
)

// keptTurn is the turn to read while the goroutine that has it makes a call: it reads on itself
// once that has ended, since to pass the turn on is to wake another processor, which takes longer
// than a quick call. From a call that lasts longer than quickCall the turn goes to another
// goroutine, within twice that time.
//
// Why does one timer look again and again? Setting it for each call would wake a processor, too.
type keptTurn struct {
	pass func(*lineReader)

	mu     sync.Mutex
	reader *lineReader // nil where no call keeps it
	calls  int         // that have kept it
	seen   int         // calls, when the timer was last set
	timer  *time.Timer // nil before the first call
	set    bool        // the timer is
}

// keep has a call keep the turn until take.
func (k *keptTurn) keep(r *lineReader) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reader = r
	k.calls++
	if !k.set {
		k.setTimer()
	}
}

// take gives the turn back; nil where another goroutine has it.
func (k *keptTurn) take() *lineReader {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.reader
	k.reader = nil
	return r
}

func (k *keptTurn) setTimer() {
	k.set, k.seen = true, k.calls
	if k.timer == nil {
		k.timer = time.AfterFunc(quickCall, k.look)
	} else {
		k.timer.Reset(quickCall)
	}
}

// look passes the turn on where the same call has it as when the timer was set.
func (k *keptTurn) look() {
	k.mu.Lock()
	var r *lineReader
	switch k.set = false; {
	case k.calls != k.seen:
		k.setTimer()
	case k.reader != nil:
		r, k.reader = k.reader, nil
	}
	k.mu.Unlock()
	if r != nil {
		k.pass(r)
	}
}
