package process

import (
	"fmt"
	"sync"
	"time"
)

const (
	// freeCrashes is how many crashes in a row are followed by a new start at once.
	freeCrashes = 2
	// openCrashes is after how many crashes in a row nothing is started for a while.
	openCrashes = 5
	// openFor is that while; then one start is tried.
	openFor = time.Minute
	// longLife is how long a process must have lived for its end not to count with those before.
	longLife = 5 * time.Minute
)

// breaker decides when a process that keeps crashing is started again: at once after the
// first two crashes, then after one second, two, and from the fifth on once a minute.
type breaker struct {
	mu      sync.Mutex
	crashes int // in a row
	until   time.Time
	started time.Time
}

// start gives how long to wait before the next start. refused says that it is so long
// that calls should not wait for it.
func (b *breaker) start(now time.Time) (wait time.Duration, refused bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	wait = max(0, b.until.Sub(now))
	if wait == 0 {
		b.started = now
	}
	return wait, wait > 0 && b.crashes >= openCrashes
}

// crashed notes that a process ended that should not have.
func (b *breaker) crashed(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.started) > longLife {
		b.crashes = 0
	}
	b.crashes++
	switch n := b.crashes; {
	case n >= openCrashes:
		b.until = now.Add(openFor)
	case n > freeCrashes:
		b.until = now.Add(time.Second << (n - freeCrashes - 1))
	}
}

// served notes that a call was answered.
func (b *breaker) served() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.crashes, b.until = 0, time.Time{}
}

// refusal says why nothing is started.
func (b *breaker) refusal(wait time.Duration) *Failure {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &Failure{What: fmt.Sprintf("its process crashed %d times in a row and is started again in %s at the earliest", b.crashes, wait.Round(100*time.Millisecond))}
}
