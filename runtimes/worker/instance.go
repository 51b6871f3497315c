package worker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes"
	pb "github.com/toolhost/toolhost/runtimes/worker/workerpb"
)

// killAfter is how long a call may go on once its time is over: what the engine does by
// itself then is done (an interrupt comes 250 ms after the abort), and what goes on is in
// code that nothing but the end of its process stops.
const killAfter = abortGrace + 500*time.Millisecond

// instance is an open plugin, whose workers come and go.
type instance struct {
	runtime *Runtime
	spec    runtimes.Spec
	inputs  map[string][sha256.Size]byte
	sources *sources // nil where they were too large, or had changed already

	base context.Context // ends when Close no longer waits
	end  context.CancelCauseFunc

	mu      sync.Mutex
	closed  bool             // it takes no calls
	ended   bool             // it starts nothing
	slots   map[string]*slot // by the agent's folder
	running sync.WaitGroup   // calls
	workers sync.WaitGroup   // goroutines of workers
}

var _ runtimes.Instance = (*instance)(nil)

// errClosed is why calls end that still run when an instance is closed for good.
var errClosed = errors.New("the plugin was closed before the call had ended")

// Handler gives the handler of a tool, or one that says that there is no such tool.
func (in *instance) Handler(id string) host.Handler {
	for _, t := range in.spec.Tools {
		if t.ID == id {
			return &handler{in, id}
		}
	}
	return host.HandlerFunc(func(context.Context, *host.Call) (*host.Result, error) {
		return nil, fmt.Errorf("plugin %q has no tool %q", in.spec.Plugin, id)
	})
}

// Inputs gives the files that went into the instance.
func (in *instance) Inputs() map[string][sha256.Size]byte { return maps.Clone(in.inputs) }

// errChanged says that a worker that was started later would run other code.
var errChanged = errors.New("the plugin's worker had to be started anew, and the plugin's files have changed since they were loaded; the tool can be called again once the plugin has been reloaded")

// Close takes no new calls, waits for the running ones, and stops the workers.
func (in *instance) Close(ctx context.Context) error {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	drained := make(chan struct{})
	go func() {
		in.running.Wait()
		close(drained)
	}()
	var err error
	select {
	case <-drained:
	case <-ctx.Done():
		err = ctx.Err()
	}
	in.mu.Lock()
	in.ended = true
	in.mu.Unlock()
	in.end(errClosed)
	in.workers.Wait() // they are killed, which takes a moment
	return err
}

// work runs a function on a goroutine that Close waits for; it is false where that is over.
func (in *instance) work(f func()) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ended {
		return false
	}
	in.workers.Go(f)
	return true
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
}

// Handle runs one call in the worker of its folder.
func (h *handler) Handle(ctx context.Context, call *host.Call) (*host.Result, error) {
	in := h.instance
	if !in.begin() {
		return nil, host.ErrHandlerClosed
	}
	waiting := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(in.base, func() { cancel(context.Cause(in.base)) })()
	p, err := in.acquire(ctx, call.Grant.Folder())
	if err != nil {
		in.running.Done()
		return nil, err
	}
	log := call.Log
	if log == nil {
		log = in.spec.Log
	}
	c := &hosted{services: in.spec.Services, grant: call.Grant, call: call, log: log}
	defer func() {
		p.done(in.runtime.options.IdleStop)
		go func() { // what the host does for the call may outlast it
			c.working.Wait()
			in.running.Done()
		}()
	}()
	return p.call(waiting, c, h.tool)
}

// call runs one call.
func (p *process) call(ctx context.Context, h *hosted, tool string) (*host.Result, error) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stream, err := p.worker.Call(own)
	if err != nil {
		return nil, p.failure(ctx, err)
	}
	h.stream = stream
	over := make(chan struct{})
	defer close(over)
	defer context.AfterFunc(ctx, func() { p.cancel(ctx, h, over) })()
	last, err := h.run(own, &pb.FromHost{Message: &pb.FromHost_Call{Call: encodeCall(ctx, h, tool)}})
	if err != nil {
		return nil, p.failure(ctx, err)
	}
	outcome := last.GetOutcome()
	h.call.Grant.Merge(decodeTouched(outcome.GetTouched()))
	switch {
	case outcome == nil:
		return nil, p.misbehaves("it ends a call with another message than its outcome")
	case outcome.GetCancelled() && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case outcome.GetCancelled():
		return nil, p.misbehaves("it cancels a call itself")
	case outcome.GetError() != nil:
		return nil, decodeError(outcome.GetError())
	}
	result, err := decodeResult(outcome.GetResult())
	if err != nil {
		return nil, p.misbehaves("its result cannot be read: " + err.Error())
	}
	return result, nil
}

// cancel tells the worker that a call's time is over, and ends the worker where the call
// then does not end.
func (p *process) cancel(ctx context.Context, h *hosted, over <-chan struct{}) {
	cause := context.Cause(ctx)
	go func() { // a worker that does not read may block this until its end
		_ = h.send(&pb.FromHost{Message: &pb.FromHost_Cancel{Cancel: &pb.Cancel{
			Text: []byte(cause.Error()), Timeout: errors.Is(cause, context.DeadlineExceeded),
		}}})
	}()
	t := time.NewTimer(killAfter)
	defer t.Stop()
	select {
	case <-over:
	case <-t.C:
		h.log.Warn("a handler cannot be stopped: its worker is killed")
		p.stopCrashed(errStuck)
	}
}

// errStuck is why the calls of a worker end that was killed for one of them.
var errStuck = errors.New("the plugin's worker was restarted, since a call that ran in it at the same time could not be stopped; call the tool again")

func encodeCall(ctx context.Context, h *hosted, tool string) *pb.Call {
	c := h.call
	m := &pb.Call{
		Id: c.ID, Tool: c.Tool, Handler: tool, Args: c.Args, AgentId: []byte(c.Agent.ID), AgentName: []byte(c.Agent.Name),
		Folder: []byte(c.Folder), GrantFolder: []byte(c.Grant.Folder()), LogLevel: int64(leastLevel(ctx, h.log)),
		Record: c.Grant.Touched() != nil,
	}
	for _, n := range c.Grant.Named() {
		m.Named = append(m.Named, []byte(n))
	}
	if !c.Deadline.IsZero() {
		m.Deadline = c.Deadline.UnixNano()
	}
	return m
}
