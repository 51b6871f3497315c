package worker

import (
	"sync"
	"time"
)

// limiter lets a burst through, then so many a second.
type limiter struct {
	burst, perSecond int

	mu      sync.Mutex
	started bool
	left    float64
	last    time.Time
	dropped int
}

// take reports whether one more may pass, and how many were held back before it.
func (l *limiter) take() (ok bool, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if !l.started {
		l.started, l.left, l.last = true, float64(l.burst), now
	}
	l.left = min(float64(l.burst), l.left+now.Sub(l.last).Seconds()*float64(l.perSecond))
	l.last = now
	if l.left < 1 {
		l.dropped++
		return false, 0
	}
	l.left--
	dropped, l.dropped = l.dropped, 0
	return true, dropped
}

// rest gives how many were held back since the last that passed.
func (l *limiter) rest() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	dropped := l.dropped
	l.dropped = 0
	return dropped
}
