package worker

import (
	"errors"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/child"
)

// crashError says that a worker ended by itself, or did what it must not.
type crashError struct {
	reason string
	start  bool // before the plugin was open in it
}

func (e *crashError) Error() string {
	if e.start {
		return "the plugin's worker could not be started (" + e.reason + ")"
	}
	return "the plugin's worker crashed (" + e.reason + ")"
}

// FailureKind gives host.FailureCrash.
func (*crashError) FailureKind() host.FailureKind { return host.FailureCrash }

// firstLines keeps the first lines that a worker says on stderr: there Go says why it ends.
type firstLines struct {
	mu    sync.Mutex
	lines []string
}

const (
	maxFirstLines = 20
	maxFirstLine  = 300
)

func (f *firstLines) add(line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.lines) < maxFirstLines {
		if len(line) > maxFirstLine {
			line = strings.ToValidUTF8(line[:maxFirstLine], "") + "…"
		}
		f.lines = append(f.lines, line)
	}
}

// reason says in a few words why the worker has ended.
func (f *firstLines) reason(err error) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, line := range f.lines {
		switch {
		case strings.Contains(line, "out of memory") || strings.Contains(line, "cannot allocate memory"):
			return "out of memory"
		case strings.HasPrefix(line, "runtime.(*spanQueue).tryDrain("):
			// Go 1.26's collector does not look whether it got the memory for its queue of
			// work, and faults at address 0.
			return "out of memory"
		case strings.HasPrefix(line, "runtime/cgo: pthread_create failed"):
			// There was no room for the stack of one more thread: scripts start none, so that their
			// number does not come near its own limit.
			return "out of memory"
		case strings.Contains(line, "stack overflow") || strings.Contains(line, "stack exceeds"):
			return "stack overflow"
		}
	}
	reason := "it ended"
	var exit *child.ExitError
	if errors.As(err, &exit) {
		reason = exit.Error()
	}
	for _, line := range f.lines {
		if line = strings.TrimSpace(line); line != "" {
			return reason + ": " + line
		}
	}
	return reason
}
