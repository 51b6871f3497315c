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

// captureContext gives a function that runs another one in the context of now.
func (e *engine) captureContext(c goja.FunctionCall) goja.Value {
	v := c.Argument(0)
	kept := e.api.async.current
	f, ok := goja.AssertFunction(v)
	if kept == nil || !ok {
		return v
	}
	return e.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		before := e.api.async.current
		e.api.async.current = kept
		defer func() { e.api.async.current = before }()
		v, err := f(c.This, c.Arguments...)
		if err != nil {
			panic(err)
		}
		return v
	})
}

func loadAsyncHooks(e *engine) goja.Value {
	e.vm.SetAsyncContextTracker(contextTracker{e})
	return asyncHooksLibrary.load(e, e.object(map[string]any{
		"get": func(goja.FunctionCall) goja.Value {
			if v := e.api.async.current; v != nil {
				return v
			}
			return goja.Undefined()
		},
		"set": func(c goja.FunctionCall) goja.Value {
			e.api.async.current = optional(c.Argument(0))
			return goja.Undefined()
		},
		"capture": e.captureContext,
	}))
}
