package node

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// maxServed is how many bytes of JSON one value may have that a script hands to a service.
const maxServed = 1 << 20

// serve runs work off the loop, with the time of the call, and gives a promise of what
// the function that it gives makes of its outcome on the loop.
func (e *engine) serve(work func(ctx context.Context) (func() (goja.Value, error), error)) goja.Value {
	here := e.here()
	promise, resolve, reject := e.vm.NewPromise()
	e.loop.start(func(ctx context.Context) func() error {
		finish, err := work(ctx)
		return here(func() error {
			var v goja.Value
			if err == nil {
				v, err = finish()
			}
			if err != nil {
				return reject(e.errorValue(err))
			}
			return resolve(v)
		})
	})
	return e.vm.ToValue(promise)
}

// rejecting runs f, and gives a promise that is rejected with what it throws: who calls a
// service has to look for errors in one place.
func (e *engine) rejecting(f func() goja.Value) (v goja.Value) {
	if thrown := e.vm.Try(func() { v = f() }); thrown != nil {
		return e.promise(func() (goja.Value, error) { return nil, thrown })
	}
	return v
}

// service makes an object of functions that reject and do not throw.
func (e *engine) service(functions map[string]native) goja.Value {
	members := map[string]any{}
	for name, f := range functions {
		members[name] = func(c goja.FunctionCall) goja.Value {
			return e.rejecting(func() goja.Value { return f(c) })
		}
	}
	return e.object(members)
}

// atOnce runs work at once, and gives a promise of what it gives.
func (e *engine) atOnce(work func(ctx context.Context) (goja.Value, error)) goja.Value {
	ctx := e.scope.ctx
	if ctx == nil {
		ctx = e.loop.ctx
	}
	return e.promise(func() (goja.Value, error) { return work(ctx) })
}

// served gives JSON of a service as a value of the script.
func (e *engine) served(raw json.RawMessage) (goja.Value, error) {
	if raw == nil {
		return goja.Undefined(), nil
	}
	return e.parseJSON(raw)
}

// given turns a value of the script into JSON for a service; nil where JSON leaves it out.
func (e *engine) given(v goja.Value, what string) json.RawMessage {
	text, ok := e.stringify(v, maxServed).(goja.String)
	if !ok {
		return nil
	}
	if text.Length() > maxServed {
		panic(e.newError("RangeError", "ERR_OUT_OF_RANGE", "%s is larger than %d bytes as JSON", what, maxServed))
	}
	return json.RawMessage(text.String())
}

// key takes the key of a setting or of a stored value.
func (e *engine) key(v goja.Value, what string) string {
	s, ok := v.(goja.String)
	if !ok {
		panic(e.newError("TypeError", "ERR_INVALID_ARG_TYPE", "%s takes a key, which is a string", what))
	}
	return s.String()
}

// settings is ctx.settings.
func (e *engine) settings() goja.Value {
	return e.service(map[string]native{
		"get": func(c goja.FunctionCall) goja.Value {
			key := e.key(c.Argument(0), "settings.get")
			return e.serve(func(ctx context.Context) (func() (goja.Value, error), error) {
				raw, err := e.services.Settings.Get(ctx, key)
				return func() (goja.Value, error) { return e.served(raw) }, err
			})
		},
		"getAll": func(goja.FunctionCall) goja.Value {
			return e.serve(func(ctx context.Context) (func() (goja.Value, error), error) {
				all, err := e.services.Settings.All(ctx)
				return func() (goja.Value, error) {
					o := e.vm.NewObject()
					for _, key := range slices.Sorted(maps.Keys(all)) {
						v, err := e.served(all[key])
						if err != nil {
							return nil, err
						}
						if err := o.DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
							return nil, err
						}
					}
					return o, nil
				}, err
			})
		},
		// What a setting holds can decide which hosts the plugin reaches: it is the user's alone.
		"set": func(c goja.FunctionCall) goja.Value {
			e.key(c.Argument(0), "settings.set")
			return e.promise(func() (goja.Value, error) {
				if !declared(e, func(p *permissions.Policy) bool { return p.Settings }) {
					return nil, &permissions.DeniedError{Op: "settings.set", Rule: `"permissions": {"settings": true}`}
				}
				return nil, &runtimes.UnsupportedError{Name: "ctx.settings.set", Hint: "settings are the user's to set: toolhost settings set KEY"}
			})
		},
	})
}

// store is ctx.store. It does its work at once, in less than a millisecond as a rule: so
// the order is that of the script, and a write that nobody awaits is there when the call ends.
func (e *engine) store() goja.Value {
	return e.service(map[string]native{
		"get": func(c goja.FunctionCall) goja.Value {
			key := e.key(c.Argument(0), "store.get")
			return e.atOnce(func(ctx context.Context) (goja.Value, error) {
				raw, err := e.services.Store.Get(ctx, key)
				if err != nil {
					return nil, err
				}
				return e.served(raw)
			})
		},
		"set": func(c goja.FunctionCall) goja.Value {
			key, value := e.key(c.Argument(0), "store.set"), e.given(c.Argument(1), "the value of store.set")
			return e.atOnce(func(ctx context.Context) (goja.Value, error) {
				var err error
				if value == nil { // undefined is what a missing value reads as
					_, err = e.services.Store.Delete(ctx, key)
				} else {
					err = e.services.Store.Set(ctx, key, value)
				}
				return goja.Undefined(), err
			})
		},
		"delete": func(c goja.FunctionCall) goja.Value {
			key := e.key(c.Argument(0), "store.delete")
			return e.atOnce(func(ctx context.Context) (goja.Value, error) {
				had, err := e.services.Store.Delete(ctx, key)
				return e.vm.ToValue(had), err
			})
		},
		"list": func(c goja.FunctionCall) goja.Value {
			prefix := ""
			if optional(c.Argument(0)) != nil {
				prefix = e.key(c.Argument(0), "store.list")
			}
			return e.atOnce(func(ctx context.Context) (goja.Value, error) {
				keys, err := e.services.Store.List(ctx, prefix)
				list := make([]any, len(keys))
				for i, k := range keys {
					list[i] = k
				}
				return e.vm.NewArray(list...), err
			})
		},
	})
}

// execute is ctx.execute: it runs a command of an installed plugin and gives what that returned.
func (e *engine) execute(c goja.FunctionCall) goja.Value {
	return e.rejecting(func() goja.Value { return e.executeCommand(c) })
}

func (e *engine) executeCommand(c goja.FunctionCall) goja.Value {
	command, args := e.key(c.Argument(0), "execute"), e.given(c.Argument(1), "the argument of execute")
	call := e.call
	return e.serve(func(ctx context.Context) (func() (goja.Value, error), error) {
		result, err := e.services.Execute(ctx, call, command, args)
		if err != nil {
			return nil, err
		}
		returned, err := runtimes.Returned(command, result)
		return func() (goja.Value, error) { return e.served(returned) }, err
	})
}

// complete is ctx.ai.complete; it takes a prompt, or an object that has one, and options.
func (e *engine) complete(c goja.FunctionCall) goja.Value {
	return e.rejecting(func() goja.Value { return e.completePrompt(c) })
}

func (e *engine) completePrompt(c goja.FunctionCall) goja.Value {
	v, options := c.Argument(0), c.Argument(1)
	if o, ok := v.(*goja.Object); ok {
		if prompt := optional(o.Get("prompt")); prompt != nil {
			v, options = prompt, o
		}
	}
	text, ok := v.(goja.String)
	if !ok {
		panic(e.newError("TypeError", "ERR_INVALID_ARG_TYPE", "ai.complete takes a prompt, which is a string"))
	}
	prompt, call := &host.Prompt{Text: text.String(), Images: e.promptImages(options)}, e.call
	return e.serve(func(ctx context.Context) (func() (goja.Value, error), error) {
		answer, err := e.services.Complete(ctx, call, prompt)
		return func() (goja.Value, error) { return e.vm.ToValue(answer), nil }, err
	})
}

// promptImages gives the images that the option imageUrls of ai.complete holds.
func (e *engine) promptImages(options goja.Value) []host.PromptImage {
	o, ok := options.(*goja.Object)
	if !ok {
		return nil
	}
	given := optional(o.Get("imageUrls"))
	if given == nil {
		return nil
	}
	list, ok := given.(*goja.Object)
	if !ok || list.ClassName() != "Array" {
		panic(e.newError("TypeError", "ERR_INVALID_ARG_TYPE", "imageUrls of ai.complete is a list of data: URLs"))
	}
	var urls []string
	for i := range list.Get("length").ToInteger() {
		url, ok := list.Get(strconv.FormatInt(i, 10)).(goja.String)
		if !ok {
			panic(e.newError("TypeError", "ERR_INVALID_ARG_TYPE", "imageUrls[%d] of ai.complete is no string", i))
		}
		urls = append(urls, url.String())
	}
	images, err := runtimes.PromptImages(urls)
	if err != nil {
		panic(e.newError("TypeError", "ERR_INVALID_ARG_VALUE", "%s", err))
	}
	return images
}
