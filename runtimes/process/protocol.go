package process

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/runtimes"
)

// link speaks one protocol with one process. One call at a time.
type link interface {
	// call makes one call with these arguments. When ctx ends it tells the process so, and
	// returns once the process has shown that it is ready for another call, or that it is
	// not. What goes wrong with the process is a *Failure.
	call(ctx context.Context, call *host.Call, arguments json.RawMessage) (*host.Result, error)
	// usable reports whether the process can take another call.
	usable() bool
}

// opener makes the link to a process that was just started. grace is how long the process
// may take to show that it is ready for the next call after one was cancelled.
type opener func(p *child.Process, in *instance, grace time.Duration) link

// protocolOf gives the protocol that a manifest asks for.
func protocolOf(spec *runtimes.Spec) (opener, error) {
	switch spec.Protocol {
	case "", "stdio":
		return openStdio, nil
	}
	return nil, &runtimes.LoadError{Problems: []runtimes.Problem{{
		File: manifestFile, Message: fmt.Sprintf("this host does not speak the protocol %q", spec.Protocol),
		Hint: `speak "stdio", one JSON message a line, and write "protocol": "stdio", or leave it out`,
	}}}
}
