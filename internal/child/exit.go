package child

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
)

// ExitError says how a child ended that did not end with status 0.
type ExitError struct {
	Status int            // the exit status; -1 where a signal ended it
	Signal syscall.Signal // 0 where it ended by itself
	Tail   string         // the last lines that it said on stderr
	Err    error          // why it could not be waited for; nil otherwise
}

// Error gives `exit status 3` or `signal: killed`, without the lines of stderr.
func (e *ExitError) Error() string {
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case e.Signal != 0:
		return "signal: " + e.Signal.String()
	}
	return fmt.Sprintf("exit status %d", e.Status)
}

func (e *ExitError) Unwrap() error { return e.Err }

// exitError turns what exec says of the end into ours.
func (p *Process) exitError(err error) error {
	if err == nil {
		return nil
	}
	e := &ExitError{Tail: p.stderr.tail()}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		e.Err = err
		return e
	}
	e.Status = exit.ExitCode()
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal()
	}
	e.Status, e.Signal = p.tree.decode(e.Status, e.Signal)
	return e
}

// LastLines gives the last lines of a text, at most n, as one text for an error message:
// without control characters, and cut at the front to limit bytes.
func LastLines(text string, n, limit int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	text = strings.Join(lines[max(0, len(lines)-n):], "\n")
	if len(text) > limit {
		text = "…" + strings.ToValidUTF8(text[len(text)-limit:], "")
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, text)
}
