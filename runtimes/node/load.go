package node

import (
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/runtimes"
)

var promiseType = reflect.TypeFor[*goja.Promise]()

// exported is a handler and the file whose module exports it.
type exported struct {
	file    string
	handler goja.Callable
}

// prepare puts into the engine what a program needs before its code runs, once.
func (e *engine) prepare(p *program) {
	if e.program == p {
		return
	}
	e.program = p
	e.takeOwn(p.own)
	e.installLanguage(p.language)
	e.guard(p.guard)
}

// load evaluates the handler modules of a program, mostly one, and gives their handlers.
func (e *engine) load(p *program) ([]exported, error) {
	e.prepare(p)
	f, err := e.vm.RunProgram(p.code)
	if err != nil {
		return nil, e.failureOf(err)
	}
	start, _ := goja.AssertFunction(f) // a bundle is a function
	host := &bundleHost{e: e}
	v, err := start(goja.Undefined(), e.vm.ToValue(e.requireComputed), e.vm.NewDynamicObject(host))
	if err != nil {
		return nil, e.failureOf(err)
	}
	if p.async {
		if _, err := e.settle(v); err != nil {
			return nil, err
		}
	}
	if e.card.about != nil { // its handlers are registered
		return nil, nil
	}
	for i := range host.handed {
		one := &host.handed[i]
		if err := e.protect(func() { one.handler = one.find(one.module) }); err != nil {
			return nil, e.failureOf(err)
		}
		if one.handler == nil {
			return nil, &noHandlerError{one.file}
		}
		host.handlers = append(host.handlers, one.exported)
	}
	return host.handlers, nil
}

// bundleHost is the object through which a bundle reaches the host. Few bundles touch more
// than one of its members, so each is made when it is touched.
type bundleHost struct {
	e        *engine
	handed   []handedOver // what the bundle has handed over
	handlers []exported
}

// handedOver is a handler module: the namespace of an ES module, or what a CommonJS module exports.
type handedOver struct {
	exported
	module *goja.Object // nil where it is no object
	find   func(module *goja.Object) goja.Callable
}

var _ goja.DynamicObject = (*bundleHost)(nil)

func (h *bundleHost) Get(name string) goja.Value {
	e := h.e
	place := func(give func(path string) string) goja.Value {
		return e.vm.ToValue(func(call goja.FunctionCall) goja.Value {
			return e.vm.ToValue(give(filepath.Join(e.dir, filepath.FromSlash(call.Argument(0).String()))))
		})
	}
	switch name {
	case "require":
		return e.vm.ToValue(e.requireComputed)
	case "requireFrom":
		return e.vm.ToValue(func(call goja.FunctionCall) goja.Value { return e.requireFrom(call.Argument(0).String()) })
	case "importFrom":
		return e.vm.ToValue(func(call goja.FunctionCall) goja.Value { return e.importFrom(call.Argument(0).String()) })
	case "export", "common":
		find := findHandler
		if name == "common" {
			find = findCommon
		}
		return e.vm.ToValue(func(call goja.FunctionCall) goja.Value {
			module, _ := call.Argument(0).(*goja.Object)
			h.handed = append(h.handed, handedOver{exported{file: call.Argument(1).String()}, module, find})
			return goja.Undefined()
		})
	case "namespace":
		return e.vm.ToValue(e.lazyNamespace)
	case "dirname":
		return place(filepath.Dir)
	case "filename":
		return place(func(path string) string { return path })
	case "url":
		return place(func(path string) string {
			u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
			return u.String()
		})
	case "resolve":
		return e.vm.ToValue(func(call goja.FunctionCall) goja.Value { return e.metaResolve(call.Argument(0).String()) })
	case "source":
		return e.vm.ToValue(func(call goja.FunctionCall) goja.Value {
			e.checkSource(call.Argument(0))
			return call.Argument(0)
		})
	case "half":
		return e.vm.ToValue(func(call goja.FunctionCall) goja.Value {
			if s, ok := call.Argument(0).(goja.String); ok && s.Length() > maxStringLength/2 {
				panic(e.makeError("RangeError", fmt.Sprintf("Invalid string length: twice %d is more than this host's limit of %d", s.Length(), maxStringLength)))
			}
			return call.Argument(0)
		})
	case "exponent":
		return e.vm.ToValue(func(call goja.FunctionCall) goja.Value {
			if n, ok := call.Argument(0).Export().(*big.Int); ok && n.CmpAbs(big.NewInt(maxExponent)) > 0 {
				panic(e.makeError("RangeError", "Maximum BigInt size exceeded"))
			}
			return call.Argument(0)
		})
	case "webAssembly":
		if own := e.vm.GlobalObject().Get("WebAssembly"); own != nil {
			return own // somebody has set it
		}
		panic(e.newError("Error", "ERR_UNSUPPORTED_IN_HOST", "%s", `WebAssembly is not defined: this host's own engine has none; write "engine": "node" in the manifest, which runs the handlers in Node.js, or use a package in plain JavaScript`))
	case "regexp":
		return e.internal("regexp")
	case "target":
		return e.vm.ToValue(e.checkTarget)
	case "asyncGenerator":
		return e.asyncGenerator()
	case "eval":
		return e.indirectEval()
	}
	return nil
}

func (h *bundleHost) Has(name string) bool        { return h.Get(name) != nil }
func (h *bundleHost) Set(string, goja.Value) bool { return false }
func (h *bundleHost) Delete(string) bool          { return false }
func (h *bundleHost) Keys() []string              { return nil }

// requireComputed is require where a script hands it on as a value: nothing tells from which
// file a name comes then, so relative names are not found.
func (e *engine) requireComputed(call goja.FunctionCall) goja.Value {
	name := e.moduleName(call.Argument(0))
	if !filepath.IsAbs(name) {
		return e.mustRequire(name)
	}
	require, _ := goja.AssertFunction(e.requireFrom(""))
	return e.apply(require, call.Argument(0))
}

func (e *engine) mustRequire(name string) goja.Value {
	if m, ok := e.require(strings.TrimPrefix(name, "node:")); ok {
		return m
	}
	o := e.makeError("", fmt.Sprintf("Cannot find module '%s'. Where require is used as a value, a relative name is not found: give the path, as in require.resolve(name)", name))
	_ = o.Set("code", "MODULE_NOT_FOUND")
	panic(o)
}

// findHandler looks for the handler in a module's namespace: the default export, else
// module.exports or its default, else the export named handler. For CommonJS the default
// of the namespace is module.exports.
func findHandler(namespace *goja.Object) goja.Callable { return findBelow(namespace, 2) }

// findCommon is findHandler for what a CommonJS module exports.
func findCommon(exports *goja.Object) goja.Callable {
	if exports == nil {
		return nil
	}
	if made := exports.Get("__esModule"); made != nil && made.ToBoolean() { // from an ES module: it is the namespace
		return findHandler(exports)
	}
	if f, ok := goja.AssertFunction(exports); ok {
		return f
	}
	return findBelow(exports, 1)
}

// findBelow looks at the default of an object, and at the default of that, as often as is said.
func findBelow(o *goja.Object, depth int) goja.Callable {
	if o == nil {
		return nil
	}
	places := []*goja.Object{o}
	for range depth {
		o, ok := places[len(places)-1].Get("default").(*goja.Object)
		if !ok {
			break
		}
		if f, ok := goja.AssertFunction(o); ok {
			return f
		}
		places = append(places, o)
	}
	for _, o := range places {
		if f, ok := goja.AssertFunction(o.Get("handler")); ok {
			return f
		}
	}
	return nil
}

// noHandlerError says that a module exports no handler.
type noHandlerError struct{ file string }

func (e *noHandlerError) Error() string { return "the module exports no handler" }

// loadProblem reports why a module did not load.
func (p *program) loadProblem(err error) *runtimes.LoadError {
	problem := runtimes.Problem{File: p.file, Message: err.Error()}
	var failed *failure
	var exit *exitError
	var none *noHandlerError
	switch {
	case errors.As(err, &none):
		problem.File = none.file
		problem.Hint = "export the handler: export default async function (params, ctx) { … }, or module.exports = async (params, ctx) => { … }"
	case errors.Is(err, errIdle):
		problem.Message = "the module waits at its top level for something that can never happen"
	case errors.As(err, &exit):
		problem.Message = fmt.Sprintf("process.exit(%d) was called while the module was evaluated", exit.code)
	case errors.As(err, &failed):
		problem.Message = "evaluating the module failed: " + failed.message
		if file, line, column, ok := failed.top(); ok {
			problem.File, problem.Line, problem.Column = file, line, column
		}
	}
	return loadError(problem)
}

// awaitable gives the promise of a value that is one, or another thenable; anything else
// comes back as it is.
func (e *engine) awaitable(v goja.Value) (*goja.Promise, goja.Value, error) {
	o, ok := v.(*goja.Object)
	if !ok {
		return nil, v, nil
	}
	if promise, ok := asPromise(o); ok {
		return promise, nil, nil
	}
	var then goja.Value
	if err := e.protect(func() { then = o.Get("then") }); err != nil {
		return nil, nil, err
	}
	if _, ok := goja.AssertFunction(then); !ok {
		return nil, v, nil
	}
	promise, resolve, _ := e.vm.NewPromise()
	return promise, nil, resolve(v)
}

// settle waits until a value is settled: a promise or another thenable is awaited,
// anything else is given at once.
func (e *engine) settle(v goja.Value) (goja.Value, error) {
	promise, v, err := e.awaitable(v)
	if err != nil {
		return nil, e.failureOf(err)
	}
	if promise == nil {
		return v, nil
	}
	err = e.loop.run(e.loop.ctx, func() bool { return promise.State() != goja.PromiseStatePending })
	if err != nil {
		return nil, e.failureOf(err)
	}
	delete(e.rejected, promise)
	if promise.State() == goja.PromiseStateRejected {
		return nil, e.thrown(promise.Result())
	}
	return promise.Result(), nil
}

func asPromise(o *goja.Object) (*goja.Promise, bool) {
	if o.ExportType() != promiseType {
		return nil, false
	}
	p, ok := o.Export().(*goja.Promise)
	return p, ok
}
