package node

import (
	"time"

	"github.com/dop251/goja"
)

func loadTimers(e *engine) goja.Value {
	return timersLibrary.load(e, e.object(map[string]any{
		"set": func(c goja.FunctionCall) goja.Value { // (milliseconds, repeat, callback) → id
			f, _ := goja.AssertFunction(c.Argument(2))
			delay := time.Duration(c.Argument(0).ToInteger()) * time.Millisecond
			id, err := e.loop.setTimer(delay, c.Argument(1).ToBoolean(), func() error { return e.macrotask(f) })
			if err != nil {
				panic(e.newError("RangeError", "ERR_OUT_OF_RANGE", "%s", err))
			}
			return e.vm.ToValue(id)
		},
		"clear": func(c goja.FunctionCall) goja.Value {
			e.loop.clearTimer(int(c.Argument(0).ToInteger()))
			return goja.Undefined()
		},
		"ref": func(c goja.FunctionCall) goja.Value { // (id, whether it keeps the loop waiting)
			if t, ok := e.loop.live[int(c.Argument(0).ToInteger())]; ok {
				t.unref = !c.Argument(1).ToBoolean()
			}
			return goja.Undefined()
		},
		"immediate": func(c goja.FunctionCall) goja.Value {
			f, _ := goja.AssertFunction(c.Argument(0))
			e.loop.post(func() error { return e.macrotask(f) })
			return goja.Undefined()
		},
		"capture": e.captureContext,
	}))
}

// macrotask runs a callback that the loop calls: then, as in Node, what was given to
// process.nextTick, then promise jobs, and then what those gave to process.nextTick.
func (e *engine) macrotask(f goja.Callable, args ...goja.Value) error {
	run, _ := goja.AssertFunction(e.vm.ToValue(func(goja.FunctionCall) goja.Value {
		e.api.inCallback = true
		defer func() { e.api.inCallback = false }()
		e.apply(f, args...)
		if e.api.ticksWait {
			e.api.ticksWait = false
			e.apply(e.api.runTicks)
		}
		return goja.Undefined()
	}))
	_, err := run(goja.Undefined())
	for err == nil && e.api.ticksWait {
		e.api.ticksWait = false
		_, err = e.api.runTicks(goja.Undefined())
	}
	return err
}
