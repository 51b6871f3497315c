package node

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"
)

// nodeVersion is the version of Node whose behaviour the API follows.
const nodeVersion = "20.20.2"

// captureStackTrace gives an object a stack, as Error.captureStackTrace does.
func (e *engine) captureStackTrace(c goja.FunctionCall) goja.Value {
	o, ok := c.Argument(0).(*goja.Object)
	if !ok {
		panic(e.makeError("TypeError", "Invalid argument"))
	}
	head := "Error"
	if name := optional(o.Get("name")); name != nil {
		head = name.String()
	}
	if message := optional(o.Get("message")); message != nil && message.String() != "" {
		head += ": " + message.String()
	}
	_, frames, _ := strings.Cut(e.makeError("", "").Get("stack").String(), "\n")
	e.hidden(o, "stack", head+"\n"+frames)
	return goja.Undefined()
}

// reportUncaught ends the loop with a value that script threw where nobody can catch it.
func (e *engine) reportUncaught(c goja.FunctionCall) goja.Value {
	thrown := c.Argument(0)
	e.loop.later(func() error { return e.throw(thrown) })
	return goja.Undefined()
}

func loadEventTarget(e *engine) goja.Value {
	return abortLibrary.load(e, e.object(map[string]any{
		"now":      func(goja.FunctionCall) goja.Value { return e.vm.ToValue(e.now()) },
		"uncaught": e.reportUncaught,
	}))
}

// throw gives the error that goja gives where a value is thrown.
func (e *engine) throw(v goja.Value) error {
	f, _ := goja.AssertFunction(e.vm.ToValue(func(goja.FunctionCall) goja.Value { panic(v) }))
	_, err := f(goja.Undefined())
	return err
}

// now is the time since the engine was made, in milliseconds.
func (e *engine) now() float64 { return milliseconds(time.Since(e.api.started)) }

func loadPerformance(e *engine) goja.Value {
	return performanceLibrary.load(e, e.object(map[string]any{
		"now":        func(goja.FunctionCall) goja.Value { return e.vm.ToValue(e.now()) },
		"timeOrigin": milliseconds(time.Duration(e.api.started.UnixNano())),
	}))
}

func loadPath(e *engine) goja.Value {
	return pathLibrary.load(e, e.object(map[string]any{"cwd": func(goja.FunctionCall) goja.Value { return e.vm.ToValue(e.cwd()) }}))
}

// cwd is the agent's folder; while modules load, the plugin's own.
func (e *engine) cwd() string {
	if folder := e.grant.Folder(); folder != "" {
		return folder
	}
	if e.call != nil && e.call.Folder != "" {
		return e.call.Folder
	}
	return e.dir
}

// platform and arch are Node's words for the system.
func platform() string {
	if runtime.GOOS == "windows" {
		return "win32"
	}
	return runtime.GOOS
}

func arch() string {
	return map[string]string{"amd64": "x64", "386": "ia32"}[runtime.GOARCH] + map[bool]string{true: "", false: runtime.GOARCH}[runtime.GOARCH == "amd64" || runtime.GOARCH == "386"]
}

func loadOS(e *engine) goja.Value {
	return osLibrary.load(e, e.object(map[string]any{"platform": platform(), "arch": arch(), "cpus": runtime.NumCPU(), "tmpdir": os.TempDir()}))
}

func loadModuleModule(e *engine) goja.Value {
	names := make([]any, 0, len(builtinModules))
	for name := range builtinModules {
		if name != "undici" && !strings.HasPrefix(name, "@") { // those that Node lacks
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b any) int {
		if a.(string) < b.(string) {
			return -1
		}
		return 1
	})
	return moduleLibrary.load(e, e.object(map[string]any{"names": e.vm.NewArray(names...), "require": e.requireComputed, "createRequire": e.createRequire}))
}

func (e *engine) unsupported(module string) goja.Value {
	f, _ := goja.AssertFunction(e.internal("unsupported").ToObject(e.vm).Get("module"))
	return e.apply(f, e.vm.ToValue(module))
}

func loadUtil(e *engine) goja.Value {
	return utilLibrary.load(e, e.internal("types_host"))
}

func loadClone(e *engine) goja.Value {
	return cloneLibrary.load(e, e.internal("types_host"))
}

func loadLanguageMore(e *engine) goja.Value {
	return languageMoreLibrary.load(e, e.object(map[string]any{
		"maxBytes": maxBytes,
		"detach": func(c goja.FunctionCall) goja.Value {
			b, ok := c.Argument(0).Export().(goja.ArrayBuffer)
			if !ok || b.Detached() {
				panic(e.makeError("TypeError", "Cannot transfer a detached ArrayBuffer"))
			}
			b.Detach()
			return goja.Undefined()
		},
	}))
}
