package node

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

//go:embed lib
var libFiles embed.FS

// library is a JavaScript file of lib/, compiled once for all engines. It is wrapped as
// (function (exports, require, module, host) { … }).
type library struct {
	name    string
	compile func() *goja.Program
}

func newLibrary(name string) *library {
	return &library{name: name, compile: sync.OnceValue(func() *goja.Program {
		src, err := libFiles.ReadFile("lib/" + name + ".js")
		if err != nil {
			panic(err) // embedded
		}
		ast, err := goja.Parse("node:internal/"+name, "(function(exports,require,module,host){"+string(src)+"\n})", parser.WithDisableSourceMaps)
		if err != nil {
			panic(err) // our own source; a test compiles every library
		}
		p, err := goja.CompileAST(ast, true)
		if err != nil {
			panic(err)
		}
		return p
	})}
}

// load runs the library in an engine and gives its module.exports. host is what the
// library may call of Go. It panics with what the library throws, which goja throws on.
func (l *library) load(e *engine, host goja.Value) goja.Value {
	v, err := e.vm.RunProgram(l.compile())
	if err != nil {
		panic(err)
	}
	f, _ := goja.AssertFunction(v)
	module := e.vm.NewObject()
	exports := e.vm.NewObject()
	_ = module.Set("exports", exports) // a plain object
	require := func(c goja.FunctionCall) goja.Value { return e.internal(c.Argument(0).String()) }
	if _, err := f(goja.Undefined(), exports, e.vm.ToValue(require), module, host); err != nil {
		panic(err)
	}
	return module.Get("exports")
}

// internal gives a module to a library: one of the internal ones ("internal/errors"; Go
// may leave out the prefix), or a built-in one.
func (e *engine) internal(name string) goja.Value {
	name = strings.TrimPrefix(name, "internal/")
	if m, ok := e.api.internal[name]; ok {
		return m
	}
	load, ok := internalModules[name]
	if !ok {
		m, ok := e.require(name)
		if !ok {
			panic(e.makeError("", fmt.Sprintf("no internal module %q", name))) // our own mistake; a test loads every library
		}
		return m
	}
	m := load(e)
	if e.api.internal == nil {
		e.api.internal = map[string]goja.Value{}
	}
	e.api.internal[name] = m
	return m
}

// plain loads a library that needs nothing of Go.
func plain(l *library) func(e *engine) goja.Value {
	return func(e *engine) goja.Value { return l.load(e, goja.Undefined()) }
}

// withHost loads a library that calls what an internal module of Go's gives.
func withHost(l *library, host string) func(e *engine) goja.Value {
	return func(e *engine) goja.Value { return l.load(e, e.internal(host)) }
}

// member gives one member of what another loader gives.
func member(load func(e *engine) goja.Value, name string) func(e *engine) goja.Value {
	return func(e *engine) goja.Value { return load(e).ToObject(e.vm).Get(name) }
}

// internalModule gives an internal module as a whole.
func internalModule(name string) func(e *engine) goja.Value {
	return func(e *engine) goja.Value { return e.internal(name) }
}

// fromInternal is a member of an internal module, fromBuiltin one of a built-in module.
func fromInternal(module, name string) func(e *engine) goja.Value {
	return member(func(e *engine) goja.Value { return e.internal(module) }, name)
}

func fromBuiltin(module, name string) func(e *engine) goja.Value {
	return member(func(e *engine) goja.Value { m, _ := e.require(module); return m }, name)
}

// loadLazy makes the library of objects whose members are made when they are touched.
func loadLazy(e *engine) goja.Value {
	return lazyLibrary.load(e, e.object(map[string]any{
		// (proxy) → proxy, which the host says is none
		"own": func(c goja.FunctionCall) goja.Value {
			o := c.Argument(0).ToObject(e.vm)
			if e.api.lazy == nil {
				e.api.lazy = map[*goja.Object]bool{}
			}
			e.api.lazy[o] = true
			return o
		},
	}))
}

// lazyNamespace gives what import makes of a module whose members are made when they are touched;
// undefined for any other.
func (e *engine) lazyNamespace(c goja.FunctionCall) goja.Value {
	module, ok := c.Argument(0).(*goja.Object)
	if !ok || !e.api.lazy[module] {
		return goja.Undefined()
	}
	namespace, _ := goja.AssertFunction(e.internal("lazy").ToObject(e.vm).Get("namespace"))
	return e.apply(namespace, module)
}

// lazyMembers is an object whose members are made when they are first touched.
type lazyMembers struct {
	names  []string
	make   func(name string) goja.Value
	values map[string]goja.Value // nil for what was deleted
}

var _ goja.DynamicObject = (*lazyMembers)(nil)

func (l *lazyMembers) Get(name string) goja.Value {
	if v, ok := l.values[name]; ok || !slices.Contains(l.names, name) {
		return v
	}
	v := l.make(name)
	l.values[name] = v
	return v
}

func (l *lazyMembers) Has(name string) bool {
	v, ok := l.values[name]
	return ok && v != nil || !ok && slices.Contains(l.names, name)
}

func (l *lazyMembers) Set(name string, v goja.Value) bool {
	if !slices.Contains(l.names, name) {
		l.names = append(slices.Clone(l.names), name)
	}
	l.values[name] = v
	return true
}

func (l *lazyMembers) Delete(name string) bool { l.values[name] = nil; return true }

func (l *lazyMembers) Keys() []string {
	return slices.DeleteFunc(slices.Clone(l.names), func(name string) bool { return !l.Has(name) })
}
