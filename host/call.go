package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/internal/schema"
	"github.com/toolhost/toolhost/internal/suggest"
	"github.com/toolhost/toolhost/permissions"
)

// revokeGrace is how long after its deadline or cancel a call that still runs keeps
// its grant, so that abort listeners can put things in order.
const revokeGrace = 250 * time.Millisecond

// maxLookUps is how often a call is looked up again because reloads were faster.
const maxLookUps = 100

// Call carries one call to its handler. Whatever goes wrong with the call is a failed
// result whose text a model can act on; an error is an *UnknownToolError, or says
// that the caller's own context ended (then nobody waits for an answer). It returns at
// the deadline even where the handler does not.
func (h *Host) Call(ctx context.Context, call *Call) (*Result, error) {
	return h.await(ctx, call, (*table).tool)
}

// Start is Call on the calling goroutine: ended gets, once, what Call returns. Where the call
// ends before its handler does, at the deadline or with ctx, ended runs on another goroutine;
// Start returns when the handler has. A caller that has a goroutine to spare for that saves
// the switch to another one and back, which takes longer than the rest of a quick call.
func (h *Host) Start(ctx context.Context, call *Call, ended func(*Result, error)) {
	h.start(ctx, &run{call: call, find: (*table).tool, ended: ended})
}

// MaxDepth is how deep commands may run commands.
const MaxDepth = 8

// Execute is Call for a command. What the command returned is also the result's Value, as
// JSON; nil, with no content, where it returned nothing. A call that a handler makes has the
// Depth of the handler's own call plus one, its Plugin and its Grant: such a call also reaches the
// tools of that plugin, as PLUGIN.TOOL, and its arguments name files only as
// [permissions.Policy.ResolveFor] says.
func (h *Host) Execute(ctx context.Context, call *Call) (*Result, error) {
	return h.await(ctx, call, func(t *table, name string) (Registered, error) { return t.command(name, call.Plugin) })
}

// await waits for the end of a call of what find finds.
func (h *Host) await(ctx context.Context, call *Call, find finder) (result *Result, err error) {
	h.start(ctx, &run{call: call, find: find, apart: true, ended: func(r *Result, e error) { result, err = r, e }})
	return result, err
}

// tool and command find what is called.
func (t *table) tool(name string) (Registered, error) {
	r, ok := t.find(name)
	switch {
	case ok && r.Enabled:
		return r, nil
	case ok:
		return Registered{}, &UnknownToolError{Tool: name, Disabled: true}
	}
	return Registered{}, &UnknownToolError{Tool: name, Nearest: nearest(name, t.order)}
}

func (t *table) command(name, by string) (Registered, error) {
	if i := slices.IndexFunc(t.commands, func(r Registered) bool { return r.Name == name && r.Enabled }); i >= 0 {
		return t.commands[i], nil
	}
	if own, ok := strings.CutPrefix(name, by+"."); ok {
		if r, ok := t.find(own); ok && r.Enabled && r.Owner == by && r.Source == Plugin {
			tool := *r.Tool
			tool.Command = true // who runs it gets what it returned
			r.Tool = &tool
			return r, nil
		}
	}
	return Registered{}, &UnknownCommandError{Command: name, Nearest: nearest(name, t.commands)}
}

// finder finds what is called.
type finder func(t *table, name string) (Registered, error)

// run is what the tries of one call share.
type run struct {
	call *Call // as the caller made it
	find finder
	// ended takes what comes of the call; only the first counts.
	ended func(*Result, error)
	// apart has the handler run on a goroutine of its own. The calling one waits for no longer
	// than the call lasts, and ended runs on it.
	apart bool

	id      string
	began   time.Time
	started bool          // observers were told
	timeout *TimeoutError // the cause of the context once the deadline passes
}

// start runs a call.
func (h *Host) start(ctx context.Context, r *run) {
	done, err := h.running.begin()
	if err != nil {
		r.ended(nil, err)
		return
	}
	r.id, r.began = rand.Text(), time.Now()
	var once sync.Once
	ended := r.ended
	r.ended = func(result *Result, err error) {
		once.Do(func() {
			done() // first: ended may write to a client that does not read
			ended(result, err)
		})
	}
	h.contain(r, func() { h.lookUp(ctx, r) })
}

// lookUp tries the call, once more where a reload exchanged the handler meanwhile.
func (h *Host) lookUp(ctx context.Context, r *run) {
	seen := h.table.Load()
	closed := h.try(ctx, r)
	// A reload swapped the handler between look-up and call: look up once more, and again
	// while reloads follow each other that fast.
	for tries := 0; closed && tries < maxLookUps; tries++ {
		now := h.table.Load()
		if tries > 0 && now == seen {
			break
		}
		seen = now
		closed = h.try(ctx, r)
	}
	if closed {
		t, _ := r.find(h.table.Load(), r.call.Tool) // a tool that has gone is nil in the event
		c := h.begin(r, t)
		r.ended(h.refuse(r, t, c, FailureError, ErrorResult(fmt.Sprintf("tool %q: %s; call it again", r.call.Tool, ErrHandlerClosed)), nil), nil)
	}
}

// contain runs a part of a call. Where something other than the handler panics in it, or ends
// the goroutine, the call ends.
func (h *Host) contain(r *run, part func()) {
	whole := false
	defer func() {
		if whole {
			return
		}
		h.log.Error("carrying a call broke off", "tool", r.call.Tool, "call", r.id, "err", fmt.Sprint(recover()), "stack", string(debug.Stack()))
		result := ErrorResult(panicError{r.call.Tool}.Error())
		result.Failure = FailureCrash
		r.ended(result, nil)
	}()
	part()
	whole = true
}

// begin gives the call as its handler will see it.
func (h *Host) begin(r *run, t Registered) *Call {
	c := *r.call
	c.ID, c.Plugin, c.Grant = r.id, t.Owner, nil
	if t.Tool != nil {
		c.Tool = t.Name // without the plugin before it
	}
	if c.Folder == "" {
		c.Folder = h.options.Folder
	}
	return &c
}

// refuse ends a call whose handler does not run.
func (h *Host) refuse(r *run, t Registered, c *Call, kind FailureKind, result *Result, err error) *Result {
	if result != nil {
		result.Failure = kind
	}
	if h.observed() {
		h.notify(Event{
			Kind: CallEnded, Call: c, Tool: t.Tool, Received: r.call.Args, Duration: time.Since(r.began),
			Result: result, Err: err, Failure: kind, Touched: c.Grant.Touched(),
		})
	}
	return result
}

// try looks the call up and runs its handler. It reports whether that was closed; nothing has
// come of the call then.
func (h *Host) try(ctx context.Context, r *run) (closed bool) {
	t, err := r.find(h.table.Load(), r.call.Tool)
	c := h.begin(r, t)
	if err != nil {
		if unknown, ok := err.(*UnknownToolError); ok && !unknown.Disabled && h.options.Waiting != nil {
			unknown.Plugin, unknown.Allow = h.options.Waiting(r.call.Tool) // before observers get it
		}
		h.refuse(r, t, c, FailureUnknown, nil, err)
		r.ended(nil, err)
		return false
	}
	c.Log = h.log.With("plugin", t.Owner, "tool", t.Name, "call", c.ID)
	if c.Depth > MaxDepth {
		r.ended(h.refuse(r, t, c, FailureError, ErrorResult(fmt.Sprintf("command %q: commands run commands more than %d deep", t.Name, MaxDepth)), nil), nil)
		return false
	}

	checked, refused := h.checkArguments(t, c)
	if refused != nil {
		r.ended(h.refuse(r, t, c, FailureArguments, refused, nil), nil)
		return false
	}
	c.Args = checked.Value
	c.Paths = pathArguments(checked)
	grant, err := t.Policy.ResolveFor(r.call.Grant, c.Folder, c.Paths)
	if err != nil {
		r.ended(h.refuse(r, t, c, FailureDenied, ErrorResult(err.Error()), err), nil)
		return false
	}
	c.Grant = grant
	if h.observed() {
		grant.Record()
		ctx = permissions.NewContext(ctx, grant)
	}

	c.said = &progress{deliver: r.call.Progress, log: c.Log}
	if c.said.deliver == nil {
		c.said.deliver = func(string) {}
	}
	c.said.observe = func(message string) {
		h.notify(Event{Kind: CallProgress, Call: c, Tool: t.Tool, Received: r.call.Args, Message: message})
	}
	c.Progress = c.said.say

	now := time.Now()
	c.Deadline = now.Add(t.Timeout)
	r.timeout = &TimeoutError{Tool: t.Name, Timeout: t.Timeout}
	ctx, cancel := context.WithDeadlineCause(ctx, c.Deadline, r.timeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(h.base, func() { stop(context.Cause(h.base)) })()

	if !r.started {
		r.started = true
		h.notify(Event{Kind: CallStarted, Time: now, Call: c, Tool: t.Tool, Received: r.call.Args})
	}
	end := func(result *Result, err error) {
		h.contain(r, func() {
			c.said.end()
			if errors.Is(err, ErrHandlerClosed) && ctx.Err() == nil {
				closed = true
				return
			}
			r.ended(h.end(ctx, r, t, c, result, err))
		})
	}
	h.running.add()
	if r.apart {
		end(h.handleApart(ctx, t.Handler, c))
	} else {
		h.handle(ctx, t.Handler, c, end)
	}
	return closed
}

// handleApart is handle on a goroutine of its own; it waits for the end of the call.
func (h *Host) handleApart(ctx context.Context, handler Handler, c *Call) (*Result, error) {
	type outcome struct {
		result *Result
		err    error
	}
	ended := make(chan outcome, 1)
	go h.handle(ctx, handler, c, func(result *Result, err error) { ended <- outcome{result, err} })
	o := <-ended
	return o.result, o.err
}

// handle runs the handler and calls ended once: with its outcome, or, where ctx ends before that,
// with ctx's cause on another goroutine. The grant ends with the call. It returns when the
// handler has.
func (h *Host) handle(ctx context.Context, handler Handler, c *Call, ended func(*Result, error)) {
	var over atomic.Bool
	stop := context.AfterFunc(ctx, func() {
		if over.CompareAndSwap(false, true) {
			time.AfterFunc(revokeGrace, c.Grant.Revoke)
			ended(nil, context.Cause(ctx))
		}
	})
	var result *Result
	var err error
	defer func() { // also where the handler ends its goroutine
		if v := recover(); v != nil {
			c.Log.Error("the handler panicked", "err", fmt.Sprint(v), "stack", string(debug.Stack()))
			result, err = nil, panicError{c.Tool}
		}
		h.running.done()
		stop()
		if !over.CompareAndSwap(false, true) {
			return
		}
		c.Grant.Revoke()
		if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			err = context.Cause(ctx)
		}
		ended(result, err)
	}()
	result, err = handler.Handle(ctx, c)
}

// end gives what comes of a call whose handler gave a result or an error, or whose context ended.
func (h *Host) end(ctx context.Context, r *run, t Registered, c *Call, result *Result, err error) (*Result, error) {
	e := Event{Kind: CallEnded, Time: time.Now(), Call: c, Tool: t.Tool, Received: r.call.Args, Err: err, Touched: c.Grant.Touched()}
	e.Duration = e.Time.Sub(r.began)
	switch {
	case err != nil && errors.Is(context.Cause(ctx), r.timeout): // whatever the handler says of it
		text := r.timeout.Error()
		if heard := c.said.lastHeard(); heard != "" {
			text += "; " + heard
		}
		result, e.Err, e.Failure = ErrorResult(text), r.timeout, FailureTimeout
	case err != nil && ctx.Err() != nil:
		e.Err, e.Failure = context.Cause(ctx), FailureCancelled
		h.notify(e)
		return nil, e.Err
	case err != nil:
		result, e.Failure = ErrorResult(err.Error()), failureOf(err)
	default:
		result, e.Failure = h.shape(t, result, c.Log)
		if e.Failure == FailureError {
			e.Failure = failureIn(result, e.Touched)
		}
	}
	result.Failure = e.Failure
	e.Result = result
	h.notify(e)
	c.Log.Debug("call ended", "ms", e.Duration.Milliseconds(), "failed", result.IsError)
	return result, nil
}

// checkArguments gives the arguments as the handler gets them, or the failed result
// that says what is wrong with them.
func (h *Host) checkArguments(t Registered, c *Call) (schema.Checked, *Result) {
	args := bytes.TrimSpace(c.Args)
	if len(args) == 0 {
		args = []byte("{}")
	}
	if len(args) > h.limits.Arguments {
		return schema.Checked{}, ErrorResult(fmt.Sprintf("the arguments are %d bytes; the limit is %d bytes", len(args), h.limits.Arguments))
	}
	checked, err := t.Input.Check(args, h.options.StrictArguments)
	if err != nil {
		return schema.Checked{}, ErrorResult(fmt.Sprintf("invalid arguments for tool %q: %s", t.Name, err))
	}
	if n := len(checked.Issues); n > 0 {
		problems := "1 problem"
		if n > 1 {
			problems = fmt.Sprintf("%d problems", n)
		}
		c.Log.Info("arguments refused", "issues", checked.Issues)
		lead := fmt.Sprintf("Invalid arguments for tool %q: %s. The tool did not run; correct the arguments and call it again.", t.Name, problems)
		return schema.Checked{}, ErrorResult(schema.Explain(lead, checked.Issues))
	}
	if len(checked.Repaired) > 0 {
		c.Log.Info("arguments repaired", "paths", checked.Repaired)
	}
	return checked, nil
}

func pathArguments(checked schema.Checked) []permissions.Argument {
	found := checked.PathArguments()
	list := make([]permissions.Argument, len(found))
	for i, a := range found {
		list[i] = permissions.Argument{Pointer: a.Pointer, Value: a.Value, Marked: a.Marked}
	}
	return list
}

func nearest(name string, list []Registered) string {
	var names []string
	for _, t := range list {
		if t.Enabled {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return suggest.Nearest(name, names)
}

// runningCalls counts calls and the handlers that outlive them.
type runningCalls struct {
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

func (r *runningCalls) begin() (done func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	r.wg.Add(1)
	return r.wg.Done, nil
}

// add counts a handler; its call is counted already, so the count is not zero.
func (r *runningCalls) add()  { r.wg.Add(1) }
func (r *runningCalls) done() { r.wg.Done() }

func (r *runningCalls) wait(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	ended := make(chan struct{})
	go func() { r.wg.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the running calls: %w", ctx.Err())
	}
}
