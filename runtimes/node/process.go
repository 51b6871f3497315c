package node

import (
	"log/slog"
	"runtime"
	"strings"
	"time"

	"github.com/dop251/goja"
)

func loadProcess(e *engine) goja.Value {
	env := e.vm.NewObject()
	for _, name := range e.grant.EnvNames() {
		if value, ok := e.grant.Env(name); ok {
			_ = env.Set(name, value) // a plain object
		}
	}
	idle := e.vm.ToValue(func(goja.FunctionCall) goja.Value { return goja.Undefined() })
	v := processLibrary.load(e, e.object(map[string]any{
		"env": env, "platform": platform(), "arch": arch(), "version": "v" + nodeVersion, "node": nodeVersion, "dir": e.dir,
		"cwd": func(goja.FunctionCall) goja.Value { return e.vm.ToValue(e.cwd()) },
		"now": func(goja.FunctionCall) goja.Value { return e.vm.ToValue(e.now()) },
		"nanoseconds": func(goja.FunctionCall) goja.Value {
			return e.vm.ToValue(int64(time.Since(e.api.started)))
		},
		"exit": func(c goja.FunctionCall) goja.Value {
			e.exit(int(c.Argument(0).ToInteger()))
			return goja.Undefined()
		},
		"write": func(c goja.FunctionCall) goja.Value { // (stream, text): whole lines go to the log
			stream := c.Argument(0).String()
			level := slog.LevelInfo
			if stream == "stderr" {
				level = slog.LevelError
			}
			text := e.partial[stream] + c.Argument(1).String()
			for {
				line, rest, ok := strings.Cut(text, "\n")
				if !ok {
					break
				}
				e.logText(level, strings.TrimSuffix(line, "\r"))
				text = rest
			}
			if len(text) > maxLog {
				e.logText(level, text)
				text = ""
			}
			if e.partial == nil {
				e.partial = map[string]string{}
			}
			e.partial[stream] = text
			return goja.Undefined()
		},
		"memory": func(goja.FunctionCall) goja.Value {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return e.vm.NewArray(int64(m.Sys), int64(m.HeapSys), int64(m.HeapAlloc))
		},
		// tells that something waits for the next tick
		"ticksWait": func(goja.FunctionCall) goja.Value {
			if e.api.ticksWait {
				return goja.Undefined()
			}
			e.api.ticksWait = true
			if !e.api.inCallback {
				e.loop.later(func() error { return e.macrotask(idle) })
			}
			return goja.Undefined()
		},
		"capture": e.captureFunction(),
	}))
	process := v.ToObject(e.vm)
	e.api.ticks, _ = goja.AssertFunction(process.Get("runTicks"))
	return process.Get("process")
}
