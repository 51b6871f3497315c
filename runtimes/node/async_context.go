package node

import "github.com/dop251/goja"

// asyncContext is what AsyncLocalStorage keeps along a chain of callbacks and
// promises: an immutable Map of script, nil where nothing was stored.
type asyncContext struct{ current goja.Value }

// contextTracker carries the context over promise jobs.
type contextTracker struct{ e *engine }

var _ goja.AsyncContextTracker = contextTracker{}

func (t contextTracker) Grab() any { return t.e.api.async.current }

func (t contextTracker) Resumed(kept any) {
	t.e.api.async.current, _ = kept.(goja.Value)
}

func (t contextTracker) Exited() { t.e.api.async.current = nil }

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
	if e.api.async.current == nil {
		return f
	}
	e.internal("turns")
	return e.apply(e.api.capture, f)
}

func loadAsyncHooks(e *engine) goja.Value {
	e.vm.SetAsyncContextTracker(contextTracker{e})
	return asyncHooksLibrary.load(e, e.object(map[string]any{"get": e.context, "set": e.setContext, "capture": e.captureFunction()}))
}
