package child

import (
	"sync"
	"time"
)

// linesPerSecond is how many lines of one source are logged.
const linesPerSecond = 200

// Limiter lets a burst through, then so many a second, and counts what it holds back: what
// a process says must not fill the log. It is safe for concurrent use. Of the zero value
// both are 200.
type Limiter struct {
	Burst, PerSecond int

	mu      sync.Mutex
	last    time.Time
	left    float64 // how many may pass at once, at the time last
	dropped int
}

// Take reports whether one more may pass, and how many were held back before it.
func (l *Limiter) Take() (ok bool, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	burst, rate := float64(l.Burst), float64(l.PerSecond)
	if burst == 0 {
		burst = linesPerSecond
	}
	if rate == 0 {
		rate = linesPerSecond
	}
	now := time.Now()
	if l.last.IsZero() {
		l.left = burst
	} else {
		l.left = min(burst, l.left+now.Sub(l.last).Seconds()*rate)
	}
	l.last = now
	if l.left < 1 {
		l.dropped++
		return false, 0
	}
	l.left--
	dropped, l.dropped = l.dropped, 0
	return true, dropped
}

// Rest gives how many were held back since the last that passed.
func (l *Limiter) Rest() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	dropped := l.dropped
	l.dropped = 0
	return dropped
}
