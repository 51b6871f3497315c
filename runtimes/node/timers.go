package node

import (
	"time"

	"github.com/dop251/goja"
)

func loadTimers(e *engine) goja.Value {
	return timersLibrary.load(e, e.object(map[string]any{
		"set": func(c goja.FunctionCall) goja.Value { // (milliseconds, repeat, callback) → id
			f := c.Argument(2)
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
			f := c.Argument(0)
			e.loop.later(func() error { return e.macrotask(f) })
			return goja.Undefined()
		},
		"forget": func(c goja.FunctionCall) goja.Value { // takes what is told the ids of timers that ended with their call
			f, _ := goja.AssertFunction(c.Argument(0))
			e.api.forgetTimer = func(id int) { _, _ = f(goja.Undefined(), e.vm.ToValue(id)) } // it deletes from a map of its own
			return goja.Undefined()
		},
		"capture": e.captureFunction(),
	}))
}

// macrotask runs a callback that the loop calls: then, as in Node, what was given to
// process.nextTick, then promise jobs, and then what those gave to process.nextTick.
func (e *engine) macrotask(f goja.Value, args ...goja.Value) error {
	if e.api.turn == nil {
		e.internal("turns")
	}
	e.api.inCallback = true
	_, err := e.api.turn(goja.Undefined(), append([]goja.Value{f, e.vm.ToValue(e.runTicks)}, args...)...)
	e.api.inCallback = false
	for err == nil && e.api.ticksWait {
		e.api.ticksWait = false
		_, err = e.api.ticks(goja.Undefined())
	}
	return err
}

// runTicks runs what was given to process.nextTick so far.
func (e *engine) runTicks(goja.FunctionCall) goja.Value {
	if e.api.ticksWait {
		e.api.ticksWait = false
		e.apply(e.api.ticks)
	}
	return goja.Undefined()
}
