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
	done, err := h.running.begin()
	if err != nil {
		return nil, err
	}
	defer done()
	return h.lookUp(ctx, call, (*table).tool)
}

// MaxDepth is how deep commands may run commands.
const MaxDepth = 8

// Execute is Call for a command. What the command returned is also the result's Value, as
// JSON; nil, with no content, where it returned nothing. A call that a handler makes has the
// Depth of the handler's own call plus one, its Plugin and its Grant: such a call also reaches the
// tools of that plugin, as PLUGIN.TOOL, and its arguments name files only as
// [permissions.Policy.ResolveFor] says.
func (h *Host) Execute(ctx context.Context, call *Call) (*Result, error) {
	done, err := h.running.begin()
	if err != nil {
		return nil, err
	}
	defer done()
	return h.lookUp(ctx, call, func(t *table, name string) (Registered, error) { return t.command(name, call.Plugin) })
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

// run is what the tries of one call share.
type run struct {
	call    *Call // as the caller made it
	id      string
	began   time.Time
	started bool // observers were told
}

// lookUp calls what find finds, once more where a reload exchanged it meanwhile.
func (h *Host) lookUp(ctx context.Context, call *Call, find func(*table, string) (Registered, error)) (*Result, error) {
	r := &run{call: call, id: rand.Text(), began: time.Now()}
	seen := h.table.Load()
	result, err := h.call(ctx, r, find)
	// A reload swapped the handler between look-up and call: look up once more, and again
	// while reloads follow each other that fast.
	for tries := 0; errors.Is(err, ErrHandlerClosed) && tries < maxLookUps; tries++ {
		now := h.table.Load()
		if tries > 0 && now == seen {
			break
		}
		seen = now
		result, err = h.call(ctx, r, find)
	}
	if errors.Is(err, ErrHandlerClosed) {
		t, _ := find(h.table.Load(), call.Tool) // a tool that has gone is nil in the event
		c := h.begin(r, t)
		return h.refuse(r, t, c, FailureError, ErrorResult(fmt.Sprintf("tool %q: %s; call it again", call.Tool, err)), nil), nil
	}
	return result, err
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

func (h *Host) call(ctx context.Context, r *run, find func(*table, string) (Registered, error)) (*Result, error) {
	t, err := find(h.table.Load(), r.call.Tool)
	c := h.begin(r, t)
	if err != nil {
		if unknown, ok := err.(*UnknownToolError); ok && !unknown.Disabled && h.options.Waiting != nil {
			unknown.Plugin, unknown.Allow = h.options.Waiting(r.call.Tool) // before observers get it
		}
		h.refuse(r, t, c, FailureUnknown, nil, err)
		return nil, err
	}
	c.Log = h.log.With("plugin", t.Owner, "tool", t.Name, "call", c.ID)
	if c.Depth > MaxDepth {
		return h.refuse(r, t, c, FailureError, ErrorResult(fmt.Sprintf("command %q: commands run commands more than %d deep", t.Name, MaxDepth)), nil), nil
	}

	checked, refused := h.checkArguments(t, c)
	if refused != nil {
		return h.refuse(r, t, c, FailureArguments, refused, nil), nil
	}
	c.Args = checked.Value
	c.Paths = pathArguments(checked)
	grant, err := t.Policy.ResolveFor(r.call.Grant, c.Folder, c.Paths)
	if err != nil {
		return h.refuse(r, t, c, FailureDenied, ErrorResult(err.Error()), err), nil
	}
	c.Grant = grant
	observed := h.observed()
	if observed {
		grant.Record()
		ctx = permissions.NewContext(ctx, grant)
	}

	said := &progress{deliver: r.call.Progress}
	if said.deliver == nil {
		said.deliver = func(string) {}
	}
	said.observe = func(message string) {
		h.notify(Event{Kind: CallProgress, Call: c, Tool: t.Tool, Received: r.call.Args, Message: message})
	}
	c.Progress, c.said = said.say, said

	timeout := &TimeoutError{Tool: t.Name, Timeout: t.Timeout}
	now := time.Now()
	c.Deadline = now.Add(t.Timeout)
	ctx, cancel := context.WithDeadlineCause(ctx, c.Deadline, timeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(h.base, func() { stop(context.Cause(h.base)) })()

	if !r.started {
		r.started = true
		h.notify(Event{Kind: CallStarted, Time: now, Call: c, Tool: t.Tool, Received: r.call.Args})
	}
	result, err := h.handle(ctx, t.Handler, c)
	said.end()
	if errors.Is(err, ErrHandlerClosed) {
		return nil, err
	}
	end := Event{Kind: CallEnded, Time: time.Now(), Call: c, Tool: t.Tool, Received: r.call.Args, Err: err}
	end.Duration = end.Time.Sub(r.began)
	if observed {
		end.Touched = grant.Touched()
	}
	switch {
	case err != nil && errors.Is(context.Cause(ctx), timeout): // whatever the handler says of it
		text := timeout.Error()
		if heard := said.lastHeard(); heard != "" {
			text += "; " + heard
		}
		result, end.Err, end.Failure = ErrorResult(text), timeout, FailureTimeout
	case err != nil && ctx.Err() != nil:
		end.Err, end.Failure = context.Cause(ctx), FailureCancelled
		h.notify(end)
		return nil, end.Err
	case err != nil:
		result, end.Failure = ErrorResult(err.Error()), failureOf(err)
	default:
		result, end.Failure = h.shape(t, result, c.Log)
		if end.Failure == FailureError && observed {
			end.Failure = failureIn(result, end.Touched)
		}
	}
	result.Failure = end.Failure
	end.Result = result
	h.notify(end)
	c.Log.Debug("call ended", "ms", end.Duration.Milliseconds(), "failed", result.IsError)
	return result, nil
}

// handle runs the handler on a goroutine of its own and waits for it or for the end of
// ctx, whichever is first; the error then is ctx's cause. The grant ends with the call.
func (h *Host) handle(ctx context.Context, handler Handler, c *Call) (*Result, error) {
	type outcome struct {
		result *Result
		err    error
	}
	ended := make(chan outcome, 1)
	h.running.add()
	go func() {
		defer h.running.done()
		var o outcome
		defer func() {
			if v := recover(); v != nil {
				c.Log.Error("the handler panicked", "err", fmt.Sprint(v), "stack", string(debug.Stack()))
				o = outcome{err: panicError{c.Tool}}
			}
			ended <- o
		}()
		o.result, o.err = handler.Handle(ctx, c)
	}()
	select {
	case o := <-ended:
		c.Grant.Revoke()
		if o.err != nil && ctx.Err() != nil && errors.Is(o.err, ctx.Err()) {
			o.err = context.Cause(ctx)
		}
		return o.result, o.err
	case <-ctx.Done():
		time.AfterFunc(revokeGrace, c.Grant.Revoke)
		return nil, context.Cause(ctx)
	}
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
