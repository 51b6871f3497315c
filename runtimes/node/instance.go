package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// abortGrace is how long listeners of an abort signal may run once a call's time is over.
const abortGrace = 250 * time.Millisecond

// stuckAfter is when an engine counts as stuck that was interrupted and goes on.
const stuckAfter = 2 * time.Second

// maxStuck is how many calls of a plugin may be running that cannot be stopped.
const maxStuck = 3

// instance is an open plugin: compiled handler modules. Each call evaluates one in an
// engine of its own; where module state lives on, all calls run in one engine.
type instance struct {
	runtime  *Runtime
	spec     runtimes.Spec
	handlers map[string]*handler // by tool
	inputs   map[string][sha256.Size]byte

	later    *laterModules
	together *lazyProgram // all handler modules, where their state lives on; else nil

	base context.Context // ends when Close no longer waits
	stop context.CancelCauseFunc

	mu       sync.Mutex
	closed   bool
	stuck    int  // calls that were ended and cannot be stopped
	refusing bool // there were maxStuck of them
	resident *resident
	running  sync.WaitGroup // calls
	serving  sync.WaitGroup // residents
	primed   primed
}

var (
	_ runtimes.Instance     = (*instance)(nil)
	_ runtimes.StuckCounter = (*instance)(nil)
)

// Stuck gives how many calls were ended and still run, since no interrupt reaches what
// they do.
func (in *instance) Stuck() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.stuck
}

// watchStuck counts a call that was ended, as stuck while it does not stop.
func (in *instance) watchStuck(over <-chan struct{}, log *slog.Logger) {
	if before(over, stuckAfter) {
		return
	}
	in.mu.Lock()
	in.stuck++
	n := in.stuck
	in.refusing = in.refusing || n >= maxStuck
	in.mu.Unlock()
	log.Warn("a handler cannot be stopped: it is in code that no interrupt reaches", "stuck", n)
	if n >= maxStuck {
		log.Error("the plugin takes no more calls until it is reloaded", "err", fmt.Sprintf("%d of its calls cannot be stopped", n))
	}
	<-over
	in.mu.Lock()
	in.stuck--
	in.mu.Unlock()
}

// refused says why the plugin takes no more calls; nil where it does.
func (in *instance) refused() *host.Result {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.refusing {
		return nil
	}
	return host.ErrorResult(fmt.Sprintf("plugin %q takes no more calls until it is reloaded: %d of its calls could not be stopped at their deadlines", in.spec.Plugin, maxStuck))
}

// errStopped is why calls end that still run when an instance is closed for good.
var errStopped = errors.New("the plugin was closed before the call had ended")

// Handler gives the handler of a tool, or one that says that there is no such tool.
func (in *instance) Handler(id string) host.Handler {
	if h, ok := in.handlers[id]; ok {
		return h
	}
	return host.HandlerFunc(func(context.Context, *host.Call) (*host.Result, error) {
		return nil, fmt.Errorf("plugin %q has no tool %q", in.spec.Plugin, id)
	})
}

// Inputs gives the files that went into the instance.
func (in *instance) Inputs() map[string][sha256.Size]byte { return maps.Clone(in.inputs) }

// Close takes no new calls and waits for the running ones.
func (in *instance) Close(ctx context.Context) error {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	in.primed.close()
	drained := make(chan struct{})
	go func() {
		in.running.Wait()
		in.stop(errStopped)
		in.serving.Wait()
		close(drained)
	}()
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
		in.stop(errStopped)
		return ctx.Err()
	}
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

// handler runs the calls of one tool.
type handler struct {
	instance *instance
	tool     string
	file     string
	program  *lazyProgram // nil where module state lives on
}

// Handle runs one call in a fresh engine. It returns when the script has ended, which
// is at most 250 ms after ctx unless it is in code that cannot be interrupted.
func (h *handler) Handle(ctx context.Context, call *host.Call) (*host.Result, error) {
	in := h.instance
	if !in.begin() {
		return nil, host.ErrHandlerClosed
	}
	if refused := in.refused(); refused != nil {
		in.running.Done()
		return refused, nil
	}
	if h.program == nil {
		defer in.running.Done()
		return in.handleShared(ctx, call, h)
	}
	log := call.Log
	if log == nil {
		log = in.spec.Log
	}
	program, err := h.program.get()
	if err != nil {
		in.running.Done()
		return nil, fmt.Errorf("compiling the handler: %w", err)
	}
	e, release := in.engine(ctx, program, call.Grant, log)
	e.call = call
	var used []string // libraries; nil where the next call is not prepared for
	defer func() {
		release()
		go func() { // operations may outlast the script; Close waits for them too
			e.loop.operators.Wait()
			if used != nil {
				in.prime(program, used)
			}
			in.running.Done()
		}()
	}()
	result, err := e.run(program, in.runtime.options.MaxResult)
	if err == nil {
		used = usedBy(e)
		return result, nil
	}
	if cause := context.Cause(ctx); cause != nil && e.loop.ctx.Err() != nil {
		logStopped(log, err)
		return nil, cause
	}
	return e.report(err)
}

// engine makes an engine that ends 250 ms after ctx, or at once when the instance is
// stopped, or takes the one that is ready for a program. release ends it; it must be called.
func (in *instance) engine(ctx context.Context, p *program, grant *permissions.Grant, log *slog.Logger) (e *engine, release func()) {
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	over := make(chan struct{}) // closed when the script has ended
	if e = in.primed.take(p); e != nil {
		e.adopt(own, grant, log)
	} else {
		e = newEngine(own, in.spec.Dir, grant, log)
	}
	e.policy, e.services, e.card.about, e.later.shared = in.spec.Policy, in.spec.Services, in.spec.Card, in.later
	e.interrupt = func(cause error) {
		e.ended.Store(true)
		cancel(cause)
		e.vm.Interrupt(cause)
	}
	in.runtime.watchdog.add(e)
	interrupt := func(cause error, grace time.Duration) {
		if !before(over, grace) {
			e.interrupt(cause)
		}
		if !e.watched.Swap(true) {
			in.watchStuck(over, log)
		}
	}
	stopAbort := context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		e.loop.post(func() error { return e.abort(cause) })
		interrupt(cause, abortGrace)
	})
	stopBase := context.AfterFunc(in.base, func() { interrupt(context.Cause(in.base), 0) })
	return e, func() {
		close(over)
		in.runtime.watchdog.remove(e)
		stopAbort()
		stopBase()
		e.loop.close()
		cancel(errCallEnded)
	}
}

// errCallEnded ends the operations that a call leaves behind.
var errCallEnded = errors.New("the call has ended")

// before reports whether over is closed within a time.
func before(over <-chan struct{}, limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-over:
		return true
	case <-t.C:
		return false
	}
}
