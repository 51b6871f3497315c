package node

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
)

// overrun is for how long the script of a call that is over may go on without a pause
// before its engine is ended.
const overrun = 100 * time.Millisecond

// resident is the engine of a plugin whose module state lives on. Its modules are evaluated
// once; calls then begin on its loop and interleave where they await. A goroutine of its own
// runs it until it is ended: by code that must be interrupted, by process.exit, when memory
// is short, or when the plugin is closed. The next call then makes another one.
type resident struct {
	in    *instance
	e     *engine
	base  *scope        // of the modules, and of what they begin at their top level
	ended chan struct{} // closed when the goroutine has ended

	// Only the goroutine uses these.
	handlers []exported
	running  []*sharedCall // calls whose handlers have been called
	cut      bool          // a call was taken off before it had ended

	mu        sync.Mutex
	baseTurn  int64     // the turn in which code of the modules was found running, and since
	baseSince time.Time // when; only the watchdog uses these two

	ready   bool          // the modules are evaluated
	gone    bool          // it takes no new calls
	flights []*sharedCall // calls that have no outcome yet; those that came before ready have not begun
}

// sharedCall is a call in a resident.
type sharedCall struct {
	scope   *scope
	handler *handler
	begun   atomic.Bool   // its handler was called
	over    chan struct{} // closed when the loop has let it go
	cancel  context.CancelCauseFunc

	told    sync.Once
	outcome chan outcome // takes one

	promise *goja.Promise // what the handler gave; nil where that is settled
	value   goja.Value
}

type outcome struct {
	result *host.Result
	err    error
}

func (c *sharedCall) tell(result *host.Result, err error) {
	c.told.Do(func() { c.outcome <- outcome{result, err} })
}

// restartedError is why a call fails whose engine went for a reason that is not its own.
type restartedError struct{ why string }

func (e *restartedError) Error() string {
	return "plugin restarted: " + e.why + "; call the tool again"
}

// errNotBegun says that an engine went before a call had begun in it: it can begin in another one.
var errNotBegun = errors.New("the engine ended before the call began")

// handleShared runs a call in the plugin's own engine.
func (in *instance) handleShared(ctx context.Context, call *host.Call, h *handler) (*host.Result, error) {
	for {
		r, err := in.residentEngine()
		if err != nil {
			return nil, err
		}
		c := r.begin(ctx, call, h)
		if c == nil {
			continue // it has gone meanwhile
		}
		result, err := r.await(ctx, c)
		if errors.Is(err, errNotBegun) && ctx.Err() == nil {
			continue
		}
		return result, err
	}
}

// residentEngine gives the plugin's engine; where there is none it makes one.
func (in *instance) residentEngine() (*resident, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.resident != nil {
		return in.resident, nil
	}
	policy := permissions.Policy{}
	if in.spec.Policy != nil {
		policy.Root, policy.Env = in.spec.Policy.Root, in.spec.Policy.Env
	}
	grant, err := policy.Resolve("", nil)
	if err != nil {
		return nil, fmt.Errorf("granting plugin %q its own files: %w", in.spec.Plugin, err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &resident{in: in, ended: make(chan struct{})}
	r.e = newEngine(ctx, in.spec.Dir, grant, in.spec.Log)
	r.base = r.e.scope
	r.e.share(r.turn)
	r.e.policy, r.e.services, r.e.card.about = in.spec.Policy, in.spec.Services, in.spec.Card
	r.e.check = r.checkBase
	r.e.interrupt = func(cause error) { r.end(cause, cancel) }
	in.resident = r
	in.serving.Add(1)
	go r.serve(cancel)
	return r, nil
}

// serve is the goroutine of the engine.
func (r *resident) serve(cancel context.CancelCauseFunc) {
	e, in := r.e, r.in
	in.runtime.watchdog.add(e)
	stopBase := context.AfterFunc(in.base, func() { e.interrupt(context.Cause(in.base)) })
	limit := time.AfterFunc(in.runtime.options.LoadLimit, func() {
		r.mu.Lock()
		late := !r.ready
		r.mu.Unlock()
		if late {
			e.interrupt(fmt.Errorf("%w: the modules were not evaluated within %s", errLoadLimit, in.runtime.options.LoadLimit))
		}
	})
	defer func() {
		if v := recover(); v != nil {
			err := panicError(v)
			e.log.Error("the engine panicked", "err", err, "stack", string(debug.Stack()))
			r.fail(e.scope, errInternal)
		}
		limit.Stop()
		stopBase()
		in.runtime.watchdog.remove(e)
		r.fail(nil, &restartedError{"its engine ended"}) // calls that came at the last moment
		e.loop.close()
		cancel(errCallEnded)
		r.base.grant.Revoke()
		close(r.ended)
		e.loop.operators.Wait()
		in.serving.Done()
	}()
	if err := r.evaluate(); err != nil {
		if !e.ended.Load() { // else whoever ended it has told the calls
			result, _ := e.report(err)
			r.fail(nil, errors.New(result.Content[0].Text()))
		}
		return
	}
	if err := r.run(); err != nil {
		r.fail(nil, &restartedError{err.Error()})
	}
}

// errInternal is what a call is told in which the engine panicked.
var errInternal = errors.New("internal error of the JavaScript engine; the host's log has more")

// evaluate evaluates the modules, and begins the calls that waited for that.
func (r *resident) evaluate() error {
	program, err := r.in.together.get()
	if err != nil {
		return err
	}
	handlers, err := r.e.load(program)
	if err != nil {
		return err
	}
	r.e.logRejections()
	r.handlers = handlers
	r.mu.Lock()
	r.ready = true
	waiting := slices.Clone(r.flights)
	r.mu.Unlock()
	for _, c := range waiting {
		r.post(c)
	}
	return nil
}

// begin adds a call; it gives nil where the engine takes no more.
func (r *resident) begin(ctx context.Context, call *host.Call, h *handler) *sharedCall {
	log := call.Log
	if log == nil {
		log = r.in.spec.Log
	}
	c := &sharedCall{handler: h, over: make(chan struct{}), outcome: make(chan outcome, 1)}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	c.cancel = cancel
	c.scope = &scope{call: call, grant: call.Grant, log: log, ctx: own}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		cancel(nil)
		return nil
	}
	r.flights = append(r.flights, c)
	if r.ready {
		r.post(c)
	}
	return c
}

// post has the loop call the handler.
func (r *resident) post(c *sharedCall) {
	r.e.loop.postIn(c.scope, func() error {
		if c.scope.over {
			return nil
		}
		c.begun.Store(true)
		r.running = append(r.running, c)
		return r.call(c)
	})
}

// call calls the handler, on the loop and in the scope of the call.
func (r *resident) call(c *sharedCall) error {
	e := r.e
	params, err := e.parseJSON(c.scope.call.Args)
	if err != nil {
		r.finish(c, nil, fmt.Errorf("reading the arguments: %w", err))
		return nil
	}
	if e.card.about != nil {
		v, err := e.cardRunner()(goja.Undefined(), e.vm.ToValue(c.handler.tool), params, e.newContext())
		if err != nil {
			return err
		}
		c.promise, c.value, err = e.awaitable(v)
		return err
	}
	i := slices.IndexFunc(r.handlers, func(x exported) bool { return x.file == c.handler.file })
	if i < 0 {
		r.finish(c, nil, fmt.Errorf("the modules of plugin %q export nothing for %q", r.in.spec.Plugin, c.handler.file)) // load has checked that they do
		return nil
	}
	v, err := r.handlers[i].handler(goja.Undefined(), params, e.newContext())
	if err != nil {
		return err
	}
	c.promise, c.value, err = e.awaitable(v)
	return err
}

// run runs the loop until the engine is to end; the error is why it must.
func (r *resident) run() error {
	e := r.e
	for {
		did, err := e.loop.turn()
		if err == nil {
			err = r.settle()
		}
		if err != nil {
			return err
		}
		if e.loop.ctx.Err() != nil {
			return context.Cause(e.loop.ctx)
		}
		if did {
			continue
		}
		r.mu.Lock()
		calls, gone := len(r.flights), r.gone
		r.mu.Unlock()
		switch {
		case calls > 0:
			err = e.loop.sleep(e.loop.ctx)
		case gone:
			return nil
		default:
			// Nobody looks after an engine that rests: it costs no time.
			r.in.runtime.watchdog.park(e)
			err = e.loop.sleep(e.loop.ctx)
			r.in.runtime.watchdog.add(e)
		}
		if err != nil {
			return err
		}
	}
}

// turn runs what the loop runs for a scope. What a script throws there fails its call, and
// the engine goes on; the error is one after which it must not.
func (r *resident) turn(s *scope, f func() error) error {
	e, before := r.e, r.e.scope
	e.enter(s)
	err := f()
	culprit := e.scope // a promise job may have been that of another call
	e.enter(before)
	if err == nil {
		return nil
	}
	return r.threw(culprit, err)
}

// threw settles an error that came out of the script of a scope.
func (r *resident) threw(s *scope, err error) error {
	var interrupted *goja.InterruptedError
	var overflow *goja.StackOverflowError
	var internal *internalError
	e, c := r.e, r.callOf(s)
	failed := e.failureOf(err)
	var exit *exitError
	switch {
	case errors.As(failed, &exit):
		why := &restartedError{"process.exit was called"}
		if c != nil {
			r.finish(c, nil, failed)
		}
		r.fail(nil, why)
		return why
	case errors.As(err, &interrupted):
		logStopped(s.log, failed)
		return failed // whoever interrupted has told the calls
	case errors.As(failed, &internal):
		s.log.Error("the engine panicked", "err", err)
		r.fail(s, errInternal)
		return err
	case errors.As(err, &overflow):
		r.retire() // code was left at any point: what the modules hold may be half done
	}
	if c != nil {
		r.finish(c, nil, failed)
		return nil
	}
	var f *failure
	if errors.As(failed, &f) {
		e.log.Error("an error that nothing catches", f.attributes()...)
	} else {
		e.log.Error("an error that nothing catches", "err", failed)
	}
	return nil
}

// callOf gives the call of a scope; nil where it has ended, or the scope is that of the modules.
func (r *resident) callOf(s *scope) *sharedCall {
	if i := slices.IndexFunc(r.running, func(c *sharedCall) bool { return c.scope == s }); i >= 0 {
		return r.running[i]
	}
	return nil
}

// settle ends the calls whose promises are settled.
func (r *resident) settle() error {
	e := r.e
	for _, c := range slices.Clone(r.running) {
		if c.promise != nil && c.promise.State() == goja.PromiseStatePending {
			continue
		}
		if err := r.turn(c.scope, func() error { // describing an error and shaping a value run script, too
			if c.promise != nil {
				delete(e.rejected, c.promise)
				if c.promise.State() == goja.PromiseStateRejected {
					r.finish(c, nil, e.thrown(c.promise.Result()))
					return nil
				}
				c.value = c.promise.Result()
			}
			result, err := e.shape(c.value, r.in.runtime.options.MaxResult)
			if err != nil {
				return err
			}
			e.logRejections()
			r.finish(c, result, nil)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// expire takes a call off the loop whose time is over, with all that it has begun. What it
// began may have been meant for others, too: a module that keeps a promise of it would have
// every call wait in vain. So where a later call ends while nothing is left that could
// happen, new calls get a fresh engine.
func (r *resident) expire(c *sharedCall) {
	if r.cut && r.e.loop.idle() {
		r.retire()
	}
	r.cut = true
	r.letGo(c)
}

// finish ends a call on the loop: nothing of it runs from now on.
func (r *resident) finish(c *sharedCall, result *host.Result, err error) {
	e := r.e
	if err != nil {
		before := e.scope
		e.enter(c.scope)
		result, err = e.report(err)
		e.enter(before)
	}
	r.letGo(c)
	c.tell(result, err)
}

// letGo takes a call off the loop.
func (r *resident) letGo(c *sharedCall) {
	if c.scope.over {
		return
	}
	c.scope.over = true
	r.running = slices.DeleteFunc(r.running, func(o *sharedCall) bool { return o == c })
	r.mu.Lock()
	r.flights = slices.DeleteFunc(r.flights, func(o *sharedCall) bool { return o == c })
	r.mu.Unlock()
	r.e.leave(c.scope)
	c.cancel(errCallEnded)
	close(c.over)
}

// retire has the next call make another engine; the calls that run here end here.
func (r *resident) retire() {
	r.mu.Lock()
	r.gone = true
	r.mu.Unlock()
	r.in.mu.Lock()
	if r.in.resident == r {
		r.in.resident = nil
	}
	r.in.mu.Unlock()
}

// fail tells every call how it failed: the one of the culprit with err, others that the
// plugin was restarted; with no culprit all with err. It may be called from any goroutine.
func (r *resident) fail(culprit *scope, err error) {
	r.retire()
	r.mu.Lock()
	calls := r.flights
	r.flights = nil
	ready := r.ready
	r.mu.Unlock()
	var restarted *restartedError
	others := err
	if culprit != nil && !errors.As(err, &restarted) {
		others = &restartedError{"another call had to be ended"}
	}
	if !ready {
		others = err
	}
	for _, c := range calls {
		switch {
		case c.scope == culprit:
			c.tell(nil, err)
		case ready && !c.begun.Load():
			c.tell(nil, errNotBegun)
		default:
			c.tell(nil, others)
		}
		c.cancel(errCallEnded)
	}
}

// end ends the engine, whatever it is doing. It may be called from any goroutine.
func (r *resident) end(cause error, cancel context.CancelCauseFunc) {
	if r.e.ended.Swap(true) {
		return
	}
	culprit := r.e.loop.runs.Load()
	if errors.Is(cause, errStopped) || r.e.loop.busySince.Load() == 0 {
		culprit = nil
	}
	cancel(cause)
	r.e.vm.Interrupt(cause)
	r.fail(culprit, cause)
	go r.in.watchStuck(r.ended, r.in.spec.Log)
}

// checkBase ends the engine where code that the modules began at their top level runs
// without a pause: no call's deadline ends that.
func (r *resident) checkBase(now time.Time) {
	l := r.e.loop
	turn := l.turns.Load()
	if l.runs.Load() != r.base || l.busySince.Load() == 0 || turn != r.baseTurn || r.baseSince.IsZero() {
		r.baseTurn, r.baseSince = turn, now
		return
	}
	if limit := r.in.runtime.options.LoadLimit; now.Sub(r.baseSince) > limit {
		r.e.interrupt(fmt.Errorf("code at the top level of the modules ran for %s without a pause", limit))
	}
}

// await waits for the outcome of a call. At the end of its time its signal aborts; 250 ms
// later it is taken off the loop, and where its script does not let go, the engine is ended.
func (r *resident) await(ctx context.Context, c *sharedCall) (*host.Result, error) {
	l := r.e.loop
	select {
	case o := <-c.outcome:
		return o.result, o.err
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	l.postIn(c.scope, func() error { return r.e.abort(cause) })
	select {
	case <-c.outcome:
		return nil, cause
	case <-time.After(abortGrace):
	}
	l.post(func() error {
		r.expire(c)
		c.tell(nil, cause)
		return nil
	})
	busy := int64(-1) // the turn in which the call's script was found running
	for {
		select {
		case <-c.outcome:
			return nil, cause
		case <-time.After(overrun):
		}
		turn := l.turns.Load()
		if l.runs.Load() != c.scope || l.busySince.Load() == 0 {
			busy = -1
			continue
		}
		if busy == turn {
			r.e.interrupt(cause)
		}
		busy = turn
	}
}
