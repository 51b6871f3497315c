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

// link speaks one protocol with one process. It makes one call at a time, unless its
// protocol is one of several.
type link interface {
	// call makes one call with these arguments. When ctx ends it tells the process so, and
	// returns once the process has shown that it is ready for another call, or that it is
	// not. What goes wrong with the process is a *Failure.
	call(ctx context.Context, call *host.Call, arguments json.RawMessage) (*host.Result, error)
	// usable reports whether the process can take another call.
	usable() bool
	// ending reports whether a process that is not usable is still to show how it ends.
	ending() bool
}

// connection is a process that was just started, and the link to it.
type connection struct {
	p    *child.Process
	link link
	last func()                    // tells the process that no more comes
	stop func(grace time.Duration) // ends the process with all that was made for it
}

// use says what a process is started for.
type use struct {
	// grace is how long the process may take to show that it is ready for the next call
	// after one was cancelled.
	grace time.Duration
	// stuck is how many calls may not have shown that until the process is given up.
	stuck int
}

// protocol is one that this host speaks.
type protocol struct {
	// start starts a process and makes the link to it. ctx bounds the start. What goes wrong
	// with the process is a *Failure, and leaves nothing of it.
	start func(ctx context.Context, in *instance, o *child.Options, use use) (*connection, error)
	// several says that a process takes several calls at once.
	several bool
	// hosted says that a process has no network but the host's, which it asks for requests.
	hosted bool
}

// protocols are those that manifests may ask for; "" stands for stdio.
var protocols = map[string]protocol{
	"":          {start: startStdio},
	"stdio":     {start: startStdio},
	"go-plugin": {start: startRPC, several: true, hosted: true},
	"mcp":       {start: startMCP, several: true},
}

// protocolOf gives the protocol that a manifest asks for.
func protocolOf(spec *runtimes.Spec) (protocol, error) {
	if p, ok := protocols[spec.Protocol]; ok {
		return p, nil
	}
	return protocol{}, &runtimes.LoadError{Problems: []runtimes.Problem{{
		File: runtimes.ManifestFile, Field: "/protocol", Message: fmt.Sprintf("this host does not speak the protocol %q", spec.Protocol),
		Hint: `write "stdio", one JSON message a line, which is the default, or "go-plugin" or "mcp"`,
	}}}
}

// startStdio starts a process that speaks Filer's protocol.
func startStdio(ctx context.Context, in *instance, o *child.Options, use use) (*connection, error) {
	p, err := startChild(ctx, o)
	if err != nil {
		return nil, err
	}
	s := openStdio(p, in, use.grace)
	return &connection{p, s, closeStdin(p), func(grace time.Duration) {
		p.Stop(grace)
		<-s.ended
		s.logged.flush(s.log)
	}}, nil
}

// closeStdin tells a process that reads its stdin that no more comes.
func closeStdin(p *child.Process) func() { return func() { _ = p.Stdin().Close() } }

// startChild starts a process.
func startChild(ctx context.Context, o *child.Options) (*child.Process, error) {
	p, err := child.Start(ctx, o)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, &Failure{What: "its process could not be started", Err: err}
	}
	return p, nil
}
