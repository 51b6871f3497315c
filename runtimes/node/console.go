package node

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/dop251/goja"
)

const (
	// maxLog is how many bytes of a call's own lines reach the log.
	maxLog = 64 << 10
	// logLine is what a line costs besides its text, so that empty ones are counted too.
	logLine = 64
)

// logOutput takes the lines that script writes: console, process.stdout, ctx.log.
type logOutput struct {
	used int
	full bool
}

// logText writes a text to the plugin's log. What goes beyond maxLog is dropped, with one notice.
func (e *engine) logText(level slog.Level, text string, attrs ...any) {
	out := &e.console
	if out.full {
		return
	}
	log := e.log
	if e.call != nil && e.call.Log != nil {
		log = e.call.Log
	}
	if log == nil {
		return
	}
	text = e.authorText(text)
	left := maxLog - out.used - logLine
	cut := left <= 0
	if !cut && len(text) > left {
		text, cut = text[:left], true
	}
	text = strings.ToValidUTF8(text, "\ufffd")
	if left > 0 {
		out.used += len(text) + logLine
		log.Log(context.Background(), level, text, attrs...)
	}
	if cut {
		out.full = true
		log.Warn("the plugin wrote more than the log takes of one call; the rest is dropped", "limit", maxLog)
	}
}

var logLevels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

func loadConsole(e *engine) goja.Value {
	start := time.Now()
	return consoleLibrary.load(e, e.object(map[string]any{
		"line": func(c goja.FunctionCall) goja.Value {
			e.logText(logLevels[c.Argument(0).String()], c.Argument(1).String())
			return goja.Undefined()
		},
		"captureStackTrace": e.captureStackTrace,
		"now":               func(goja.FunctionCall) goja.Value { return e.vm.ToValue(milliseconds(time.Since(start))) },
	}))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
