package process

import (
	"context"
	"log/slog"

	"github.com/toolhost/toolhost/internal/child"
)

// limiter logs so many lines a second, and says how many it has left out.
type limiter struct{ lines child.Limiter }

func (l *limiter) log(log *slog.Logger, level slog.Level, message string, args ...any) {
	ok, dropped := l.lines.Take()
	if !ok {
		return
	}
	leftOut(log, dropped)
	log.Log(context.Background(), level, message, args...)
}

// flush says how many lines were left out since the last that was logged.
func (l *limiter) flush(log *slog.Logger) { leftOut(log, l.lines.Rest()) }

func leftOut(log *slog.Logger, lines int) {
	if lines > 0 {
		log.Warn("lines were left out of the log, there were too many", "lines", lines)
	}
}
