package process

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// maxLogsPerSecond is how many lines a process may log.
const maxLogsPerSecond = 200

const leftOut = "lines were left out of the log, there were too many"

// limiter logs so many lines a second, and says how many it has left out.
type limiter struct {
	mu      sync.Mutex
	second  time.Time // when the current second began
	logged  int       // in it
	dropped int       // since the last that was logged
}

func (l *limiter) log(log *slog.Logger, level slog.Level, message string, args ...any) {
	l.mu.Lock()
	if now := time.Now(); now.Sub(l.second) >= time.Second {
		l.second, l.logged = now, 0
	}
	if l.logged >= maxLogsPerSecond {
		l.dropped++
		l.mu.Unlock()
		return
	}
	l.logged++
	dropped := l.dropped
	l.dropped = 0
	l.mu.Unlock()
	if dropped > 0 {
		log.Warn(leftOut, "lines", dropped)
	}
	log.Log(context.Background(), level, message, args...)
}

// flush says how many lines were left out since the last that was logged.
func (l *limiter) flush(log *slog.Logger) {
	l.mu.Lock()
	dropped := l.dropped
	l.dropped = 0
	l.mu.Unlock()
	if dropped > 0 {
		log.Warn(leftOut, "lines", dropped)
	}
}
