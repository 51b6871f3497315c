package node

import (
	"embed"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

//go:embed lib
var libFiles embed.FS

// builtinModules are the modules that require("x") and require("node:x") give, by name.
// A module is loaded once an engine.
var builtinModules map[string]func(e *engine) goja.Value

// builtinGlobals are the globals besides JavaScript's own, made when they are first touched.
var builtinGlobals map[string]func(e *engine) goja.Value

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
// library may call of Go.
func (l *library) load(e *engine, host goja.Value) goja.Value {
	v, err := e.vm.RunProgram(l.compile())
	if err != nil {
		panic(err)
	}
	f, _ := goja.AssertFunction(v)
	module := e.vm.NewObject()
	exports := e.vm.NewObject()
	_ = module.Set("exports", exports) // a plain object
	require := func(name string) goja.Value {
		m, ok := e.require(name)
		if !ok {
			panic(e.vm.NewTypeError("no internal module %q", name))
		}
		return m
	}
	if _, err := f(goja.Undefined(), exports, e.vm.ToValue(require), module, host); err != nil {
		panic(err)
	}
	return module.Get("exports")
}
