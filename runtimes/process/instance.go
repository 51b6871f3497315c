package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions/sandbox"
	"github.com/toolhost/toolhost/runtimes"
)

const (
	// exitGrace is how long a process may take to end by itself once it has answered, and
	// once more when it was asked to. Its grant ends with that.
	exitGrace = 125 * time.Millisecond
	// cancelGrace is how long a process whose call was cancelled may take to answer, before
	// it is ended: a quarter of a second in all, as long as a grant outlasts its call.
	cancelGrace = 100 * time.Millisecond
	// endGrace is the grace after that.
	endGrace = 75 * time.Millisecond
	// writeGrace is how long a process that has answered may go on writing files.
	writeGrace = 2 * time.Second
	// keptCancelGrace is cancelGrace for a process that is kept: it has nothing to end.
	keptCancelGrace = 200 * time.Millisecond
	// keptGrace is exitGrace for a process that is kept.
	keptGrace = time.Second
	// killWait is how long Close waits for processes that it has killed.
	killWait = time.Second
	// reloadWait is how long a call waits for a plugin to be loaded anew whose program was
	// changed.
	reloadWait = 3 * time.Second
)

// instance is an open plugin.
type instance struct {
	runtime  *Runtime
	spec     runtimes.Spec
	command  *command
	protocol protocol
	inputs   map[string]sum
	seen     *sightings
	slots    chan struct{} // one for each process that may run
	waiting  atomic.Int32  // calls that hold one, and wait for calls that they have made
	// At most one of these is there. Without one every call has a process of its own.
	kept   *keeper
	shared *sharer

	base context.Context // ends when Close no longer waits
	stop context.CancelCauseFunc

	mu      sync.Mutex
	closed  bool
	closing chan struct{} // closed with closed
	running sync.WaitGroup
}

var _ runtimes.Instance = (*instance)(nil)

// errStopped is why calls end that still run when an instance is closed for good.
var errStopped = errors.New("the plugin was closed before the call had ended")

// Handler gives the handler of a tool, or one that says that there is no such tool.
func (in *instance) Handler(id string) host.Handler {
	for _, t := range in.spec.Tools {
		if t.ID == id {
			return host.HandlerFunc(in.handle)
		}
	}
	return host.HandlerFunc(func(context.Context, *host.Call) (*host.Result, error) {
		return nil, fmt.Errorf("plugin %q has no tool %q", in.spec.Plugin, id)
	})
}

// Inputs gives all files of the plugin, except those below names that begin with a dot and
// below node_modules.
func (in *instance) Inputs() map[string]sum { return maps.Clone(in.inputs) }

// Close takes no new calls, waits for the running ones, and ends the processes.
func (in *instance) Close(ctx context.Context) error {
	in.mu.Lock()
	if !in.closed {
		in.closed = true
		close(in.closing)
	}
	in.mu.Unlock()
	if in.shared != nil {
		in.shared.closing()
	}
	drained := make(chan struct{})
	go func() {
		in.running.Wait()
		switch {
		case in.kept != nil:
			in.kept.close()
		case in.shared != nil:
			in.shared.close()
		}
		in.stop(errStopped)
		close(drained)
	}()
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
	}
	in.stop(errStopped) // kills every process
	t := time.NewTimer(killWait)
	defer t.Stop()
	select {
	case <-drained:
	case <-t.C:
	}
	return ctx.Err()
}

// begin counts a call; it is false once the instance is closed.
func (in *instance) begin() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return false
	}
	in.running.Add(1)
	return true
}

// handle runs one call. It returns when the process has ended or is ready for the next.
func (in *instance) handle(ctx context.Context, call *host.Call) (*host.Result, error) {
	if !in.begin() {
		return nil, host.ErrHandlerClosed
	}
	defer in.running.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(in.base, func() { cancel(errStopped) })()
	var result *host.Result
	var err error
	switch {
	case in.kept != nil:
		result, err = in.kept.call(ctx, call)
	case in.shared != nil:
		result, err = in.shared.call(ctx, call)
	default:
		result, err = in.once(ctx, call)
	}
	return result, in.named(err)
}

// once runs a call in a process of its own. The answer waits for the process to end only
// where there are files to take from it.
func (in *instance) once(ctx context.Context, call *host.Call) (*host.Result, error) {
	ctx, err := in.slot(ctx)
	if err != nil {
		return nil, err
	}
	release := func() { <-in.slots }
	stage, args, err := in.staged(call, "")
	if err != nil {
		release()
		return nil, err
	}
	discard := func() {
		_ = stage.Close() // it only removes
		release()
	}
	names := in.renamer(stage, call.Grant.Folder())
	said := &words{}
	said.explain(in.spec.Plugin, call, names.text)
	s, err := in.start(ctx, call.Grant, stage, said, names.logger(in.logOf(call)))
	if err != nil {
		discard()
		return nil, names.failure(err)
	}
	result, err := in.ask(ctx, s, call, args, names)
	switch {
	case err != nil || result.IsError || !staged(stage):
		grace := exitGrace
		if ctx.Err() != nil {
			grace = endGrace
		}
		in.end(s, grace, discard)
		return result, err
	}
	// A program may write until it ends: it has time for that, as long as the call has.
	in.awaitEnd(ctx, s)
	s.end(exitGrace)
	err = stage.Commit()
	discard()
	if err != nil {
		return nil, notTaken(err)
	}
	return result, nil
}

// ask makes a call of a process, and has what comes back speak of the agent's own files.
func (in *instance) ask(ctx context.Context, s *started, call *host.Call, args json.RawMessage, names *renamer) (*host.Result, error) {
	ctx, told := names.told(ctx, call, in.logOf(call))
	s.said.give(call)
	result, err := s.link.call(ctx, told, args)
	return names.result(result), names.failure(s.said.only(call, err))
}

func notTaken(err error) *Failure {
	return &Failure{What: "what its process wrote was not taken", Err: err}
}

// staged reports whether a stage may hold what a process has written.
func staged(s *sandbox.Stage) bool { return len(s.Arguments()) > 0 || len(s.Env()) > 0 }

// awaitEnd tells a process that no more comes, and waits for it to end by itself.
func (in *instance) awaitEnd(ctx context.Context, s *started) {
	s.last()
	t := time.NewTimer(writeGrace)
	defer t.Stop()
	select {
	case <-s.p.Done():
	case <-ctx.Done():
	case <-t.C:
	}
}

func (in *instance) logOf(call *host.Call) *slog.Logger {
	if call.Log != nil {
		return call.Log
	}
	return in.spec.Log
}

// end ends a process, while others go on.
func (in *instance) end(s *started, grace time.Duration, then func()) {
	in.running.Add(1)
	go func() {
		defer in.running.Done()
		s.end(grace)
		if then != nil {
			then()
		}
	}()
}

// unchanged waits for the plugin to be loaded anew where its program was changed: what
// the user has agreed to is what is run.
func (in *instance) unchanged(ctx context.Context) error {
	name, err := in.seen.changed()
	if err != nil {
		return &Failure{What: "its program cannot be read", Err: err}
	}
	if name == "" {
		return nil
	}
	t := time.NewTimer(reloadWait)
	defer t.Stop()
	select {
	case <-in.closing:
		return host.ErrHandlerClosed // the call goes to the new instance
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
	}
	return &Failure{What: fmt.Sprintf("its program %q was changed since the plugin was loaded; load the plugin anew", name)}
}
