package node

import (
	"context"
	"errors"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// newContext makes ctx, the second argument of a handler. Its members are made when
// they are first touched.
func (e *engine) newContext() *goja.Object {
	make := e.contextMember
	if s := e.scope; e.shared {
		make = func(name string) goja.Value { return e.bound(s, e.contextMember, name) }
	}
	return e.vm.NewDynamicObject(&lazyMembers{names: contextMembers, values: map[string]goja.Value{}, make: make})
}

// bound makes a member of a ctx that acts for its own call, whichever call uses it.
func (e *engine) bound(s *scope, get func(name string) goja.Value, name string) goja.Value {
	within := func(f func() goja.Value) goja.Value {
		before := e.scope
		e.enter(s)
		defer e.enter(before)
		return f()
	}
	v := within(func() goja.Value { return get(name) })
	o, ok := v.(*goja.Object)
	if !ok || name == "signal" {
		return v
	}
	if f, ok := goja.AssertFunction(o); ok {
		return e.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			if s.over {
				panic(e.newError("Error", "ERR_CALL_ENDED", "the call to which this ctx belongs has ended"))
			}
			return within(func() goja.Value {
				result, err := f(c.This, c.Arguments...)
				if err != nil {
					panic(err)
				}
				return result
			})
		})
	}
	if o.ClassName() != "Object" {
		return v
	}
	return e.vm.NewDynamicObject(&lazyMembers{names: o.Keys(), values: map[string]goja.Value{},
		make: func(name string) goja.Value {
			return e.bound(s, func(name string) goja.Value { return o.Get(name) }, name)
		}})
}

// contextMembers are the members of ctx in the order in which they are listed.
var contextMembers = []string{"callId", "tool", "agent", "folder", "deadline", "signal", "progress", "fs", "fetch", "settings", "store", "log",
	"toast", "viewData", "session", "channels", "execute", "ai", "renderHtmlToPdf", "triggerInbound", "respondToHitl", "listChannels", "getSessionHistory"}

// contextMember makes a member of ctx.
func (e *engine) contextMember(name string) goja.Value {
	vm, c := e.vm, e.call
	switch name {
	case "callId":
		return vm.ToValue(c.ID)
	case "tool":
		return vm.ToValue(c.Tool)
	case "agent":
		return e.object(map[string]any{"id": c.Agent.ID, "name": c.Agent.Name})
	case "folder":
		return vm.ToValue(c.Folder)
	case "deadline":
		return vm.ToValue(c.Deadline.UnixMilli())
	case "signal":
		return e.signal()
	case "progress":
		return vm.ToValue(e.progress)
	case "fs":
		return e.internal("fs_core").ToObject(vm).Get("context")
	case "fetch":
		return e.fetch()
	case "log":
		return e.contextLog()
	case "settings":
		return e.settings()
	case "store":
		return e.store()
	case "toast":
		return e.quiet(declared(e, func(p *permissions.Policy) bool { return p.Toast }), "toast", `"permissions": {"toast": true}`)
	case "viewData":
		return e.object(map[string]any{"set": e.nothing, "get": e.nothing})
	case "session":
		return e.object(map[string]any{
			"getActive": e.quiet(declared(e, func(p *permissions.Policy) bool { return p.SessionGetActive }),
				"session.getActive", `"permissions": {"session": {"getActive": true}}`),
			"sendMessage": e.capability(true, "session.sendMessage", ""), // whatever the manifest says, there is no session
		})
	case "channels":
		members := map[string]any{}
		for _, name := range []string{"getIntegrationConfig", "setIntegrationConfig"} {
			members[name] = e.quiet(declared(e, func(p *permissions.Policy) bool { return p.ChannelsGetIntegrationConfig }),
				"channels."+name, `"permissions": {"channels": {"getIntegrationConfig": true}}`)
		}
		return e.object(members)
	case "execute":
		return vm.ToValue(e.execute)
	case "listChannels":
		return vm.ToValue(e.noChannels)
	case "triggerInbound", "respondToHitl", "getSessionHistory":
		return vm.ToValue(e.capability(declared(e, func(p *permissions.Policy) bool { return p.HostTrigger }), name, `"permissions": {"hostTrigger": true}`))
	case "ai":
		return e.object(map[string]any{"complete": e.complete})
	case "renderHtmlToPdf":
		return vm.ToValue(e.capability(declared(e, func(p *permissions.Policy) bool { return p.RenderHTMLToPDF }), "renderHtmlToPdf", `"permissions": {"renderHtmlToPdf": true}`))
	}
	return nil
}

func declared(e *engine, in func(p *permissions.Policy) bool) bool {
	return e.policy != nil && in(e.policy)
}

// promise runs f at once and gives a promise of what it gives.
func (e *engine) promise(f func() (goja.Value, error)) goja.Value {
	promise, resolve, reject := e.vm.NewPromise()
	v, err := f()
	if err != nil {
		err = reject(e.errorValue(err))
	} else {
		err = resolve(v)
	}
	if err != nil {
		panic(err)
	}
	return e.vm.ToValue(promise)
}

// capability is a function that rejects: without the permission because the manifest
// does not declare it, with it because the host has nothing behind it.
func (e *engine) capability(declared bool, name, rule string) native {
	return func(goja.FunctionCall) goja.Value {
		return e.promise(func() (goja.Value, error) {
			if !declared {
				return nil, &permissions.DeniedError{Op: name, Rule: rule}
			}
			return nil, &runtimes.UnsupportedError{Name: "ctx." + name}
		})
	}
}

// quiet is a function for which there is nothing to show here: it gives a promise of undefined.
func (e *engine) quiet(declared bool, name, rule string) goja.Value {
	return e.vm.ToValue(func(goja.FunctionCall) goja.Value {
		return e.promise(func() (goja.Value, error) {
			if !declared {
				return nil, &permissions.DeniedError{Op: name, Rule: rule}
			}
			return goja.Undefined(), nil
		})
	})
}

// noChannels is ctx.listChannels: there are none.
func (e *engine) noChannels(goja.FunctionCall) goja.Value {
	return e.promise(func() (goja.Value, error) {
		if !declared(e, func(p *permissions.Policy) bool { return p.HostTrigger }) {
			return nil, &permissions.DeniedError{Op: "listChannels", Rule: `"permissions": {"hostTrigger": true}`}
		}
		return e.vm.NewArray(), nil
	})
}

func (e *engine) nothing(goja.FunctionCall) goja.Value {
	return e.promise(func() (goja.Value, error) { return goja.Undefined(), nil })
}

// progress tells the caller how far the call is.
func (e *engine) progress(c goja.FunctionCall) goja.Value {
	if e.call.Progress == nil {
		return goja.Undefined()
	}
	v := c.Argument(0)
	if o, ok := v.(*goja.Object); ok {
		if message := optional(o.Get("message")); message != nil {
			v = message
		}
	}
	if optional(v) != nil {
		e.call.Progress(v.String())
	}
	return goja.Undefined()
}

// contextLog is ctx.log: like console, without a method of its own for each form.
func (e *engine) contextLog() goja.Value {
	format, _ := goja.AssertFunction(e.internal("inspect").ToObject(e.vm).Get("format"))
	o := e.vm.NewObject()
	for _, name := range []string{"debug", "info", "warn", "error"} {
		level := logLevels[name]
		_ = o.Set(name, func(c goja.FunctionCall) goja.Value { // a plain object
			e.logText(level, e.apply(format, c.Arguments...).String())
			return goja.Undefined()
		})
	}
	return o
}

// signal is ctx.signal: it aborts at the call's deadline or cancel.
func (e *engine) signal() goja.Value {
	targets := e.internal("event_target").ToObject(e.vm)
	make, _ := goja.AssertFunction(targets.Get("makeSignal"))
	made := e.apply(make).ToObject(e.vm)
	e.abortSignal, _ = goja.AssertFunction(made.Get("abort"))
	if e.aborted != nil {
		if err := e.abort(e.aborted); err != nil {
			panic(err)
		}
	}
	return made.Get("signal")
}

// abort aborts ctx.signal. It must be called on the loop; an error is what a listener
// threw, or why the engine was interrupted.
func (e *engine) abort(cause error) error {
	e.aborted = cause
	if e.abortSignal == nil {
		return nil
	}
	name := "AbortError"
	if errors.Is(cause, context.DeadlineExceeded) {
		name = "TimeoutError"
	}
	_, err := e.abortSignal(goja.Undefined(), e.vm.ToValue(cause.Error()), e.vm.ToValue(name))
	return err
}
