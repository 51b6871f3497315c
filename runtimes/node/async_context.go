package node

import "github.com/dop251/goja"

// asyncContext is what AsyncLocalStorage keeps along a chain of callbacks and
// promises: an immutable Map of script, nil where nothing was stored.
type asyncContext struct{ current goja.Value }

// contextTracker carries the context over promise jobs.
type contextTracker struct{ e *engine }

var _ goja.AsyncContextTracker = contextTracker{}

func (t contextTracker) Grab() any { return t.e.keep() }

func (t contextTracker) Resumed(kept any) { t.e.resume(kept) }

// Exited leaves the scope as it is: the jobs that the engine runs without telling, such as
// those that call the then of an object, were mostly begun by the last one that was told.
func (t contextTracker) Exited() { t.e.api.async.current = nil }

// keptContext is the context of a callback in an engine that calls share.
type keptContext struct {
	scope   *scope
	current goja.Value
}

// keep gives what a callback has to be run in, for resume.
func (e *engine) keep() any {
	switch {
	case !e.shared:
		return e.api.async.current
	case e.api.async.current == nil:
		return e.scope
	}
	return &keptContext{e.scope, e.api.async.current}
}

func (e *engine) resume(kept any) {
	e.api.async.current = nil
	switch k := kept.(type) {
	case goja.Value:
		e.api.async.current = k
	case *scope:
		e.enter(k)
	case *keptContext:
		e.enter(k.scope)
		e.api.async.current = k.current
	}
}

// kept and setKept are keep and resume for script.
func (e *engine) kept(c goja.FunctionCall) goja.Value {
	if !e.shared {
		return e.context(c)
	}
	return e.vm.ToValue(&keptContext{e.scope, e.api.async.current})
}

func (e *engine) setKept(c goja.FunctionCall) goja.Value {
	if k, ok := c.Argument(0).Export().(*keptContext); ok && e.shared {
		e.resume(k)
		return goja.Undefined()
	}
	return e.setContext(c)
}

func (e *engine) context(goja.FunctionCall) goja.Value {
	if v := e.api.async.current; v != nil {
		return v
	}
	return goja.Undefined()
}

func (e *engine) setContext(c goja.FunctionCall) goja.Value {
	e.api.async.current = optional(c.Argument(0))
	return goja.Undefined()
}

// captureContext gives a function that runs another one in the context of now.
func (e *engine) captureContext(f goja.Value) goja.Value {
	if e.api.async.current == nil && !e.shared {
		return f
	}
	e.internal("turns")
	return e.apply(e.api.capture, f)
}

func loadAsyncHooks(e *engine) goja.Value {
	e.vm.SetAsyncContextTracker(contextTracker{e})
	return asyncHooksLibrary.load(e, e.object(map[string]any{"get": e.context, "set": e.setContext, "capture": e.captureFunction()}))
}
