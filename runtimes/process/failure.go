package process

import (
	"errors"
	"fmt"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/child"
)

// Failure says what went wrong with the process of a plugin.
type Failure struct {
	Plugin string
	What   string // "its process ended without an answer (exit status 3)"
	Line   string // the beginning of what it wrote to stdout last; may be empty
	Tail   string // the last lines of its stderr; may be empty
	Err    error  // the cause; may be nil
}

const (
	// tailLines and tailBytes bound what of stderr goes into an error.
	tailLines = 10
	tailBytes = 2000
)

// Error gives what happened, with what the process wrote.
func (f *Failure) Error() string {
	text := fmt.Sprintf("plugin %q: %s", f.Plugin, f.What)
	if f.Err != nil {
		text += ": " + f.Err.Error()
	}
	if f.Line != "" {
		text += fmt.Sprintf("; the last line: %q", f.Line)
	}
	if tail := child.LastLines(f.Tail, tailLines, tailBytes); tail != "" {
		text += "; the last it wrote to stderr:\n" + tail
	}
	return text
}

func (f *Failure) Unwrap() error { return f.Err }

// FailureKind gives host.FailureCrash.
func (*Failure) FailureKind() host.FailureKind { return host.FailureCrash }

// ended says how a process ended that gave no answer.
func ended(p *child.Process) *Failure {
	how := "exit status 0"
	if err := p.Err(); err != nil {
		how = err.Error()
	}
	return &Failure{What: "its process ended without an answer (" + how + ")", Tail: p.Tail()}
}

// named fills in the plugin of a failure.
func (in *instance) named(err error) error {
	var f *Failure
	if errors.As(err, &f) && f.Plugin == "" {
		named := *f
		named.Plugin = in.spec.Plugin
		return &named
	}
	return err
}
