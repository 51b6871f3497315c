package host

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrHandlerClosed is what the handler of a closed plugin instance returns; the call
// is then looked up again, and reaches the new one.
var ErrHandlerClosed = errors.New("the plugin was reloaded")

// ErrClosed is why calls end when the host closes.
var ErrClosed = errors.New("the host is closing")

// UnknownCommandError says that there is no command of that name.
type UnknownCommandError struct {
	Command string
	Nearest string // the name of a command that is like it; may be empty
}

func (e *UnknownCommandError) Error() string {
	if e.Nearest == "" {
		return fmt.Sprintf("there is no command %q", e.Command)
	}
	return fmt.Sprintf("there is no command %q; did you mean %q?", e.Command, e.Nearest)
}

// UnknownToolError says that no tool has that name.
type UnknownToolError struct {
	Tool    string
	Nearest string // the name that was probably meant; may be empty
	// Disabled says that there is one, but that it is disabled.
	Disabled bool
	// Plugin is the plugin whose tool it is where it waits for the user's consent; else "".
	Plugin string
	// Allow is how the user can give it, such as a command.
	Allow string
}

func (e *UnknownToolError) Error() string {
	if e.Disabled {
		return fmt.Sprintf("unknown tool %q: it is disabled", e.Tool)
	}
	if e.Plugin != "" {
		return fmt.Sprintf("the tool %q waits for the user's consent, which only the user can give: %s", e.Tool, e.Allow)
	}
	if e.Nearest != "" {
		return fmt.Sprintf("unknown tool %q; did you mean %q?", e.Tool, e.Nearest)
	}
	return fmt.Sprintf("unknown tool %q", e.Tool)
}

// ConflictError says that a tool stays out because its name is in use.
type ConflictError struct {
	Tool    string
	Owner   string // who wanted the name
	TakenBy string // who has it: "built-in", "host OWNER" or "plugin OWNER"
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("tool %q of %q is skipped: the name is taken by %s", e.Tool, e.Owner, e.TakenBy)
}

// TimeoutError says that a call did not end by its deadline. It matches
// context.DeadlineExceeded. It is the cause of the context of such a call.
type TimeoutError struct {
	Tool    string
	Timeout time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("tool %q timed out after %s", e.Tool, e.Timeout)
}

// Is reports whether target is context.DeadlineExceeded.
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// panicError is the error of a call whose handler panicked.
type panicError struct{ tool string }

func (e panicError) Error() string { return fmt.Sprintf("internal error in tool %q", e.tool) }

// FailureKind gives FailureCrash.
func (panicError) FailureKind() FailureKind { return FailureCrash }
