package node

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/toolhost/toolhost/internal/bundle"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// maxCallStack is how deep script calls may nest. goja has no limit of its own, and
// unwinding through native frames costs more than linear time: 1000 takes 0.1 to 0.5 s,
// 4000 takes 1 to 4 s.
const maxCallStack = 1000

// engine is one goja VM with its event loop. Everything in it belongs to the goroutine
// that runs the loop, except what says otherwise.
type engine struct {
	vm     *goja.Runtime
	loop   *loop
	dir    string // the plugin's folder
	*scope        // of the script that runs; between turns, that of the modules or of the only call

	policy   *permissions.Policy // of the plugin; nil counts as one that declares nothing
	services runtimes.Services   // of the plugin; guarded

	card  cardEngine
	later laterEngine

	interrupt func(cause error) // ends the engine; may be called from any goroutine
	ended     atomic.Bool       // interrupt was called; what no interrupt reaches may still run
	pristine  pristine
	program   *program                 // what the engine runs; nil before it is loaded
	origin    []goja.StackFrame        // where the operation began whose end is being told
	positions *bundle.Positions        // of program; nil until an error was thrown
	rejected  map[*goja.Promise]*scope // rejected promises that nothing handles
	shared    bool                     // calls share the engine, each with its own scope
	check     func(now time.Time)      // what the watchdog calls while the engine works; may be nil
	watched   atomic.Bool              // somebody waits to see whether it stops

	api     api                   // what the JavaScript API keeps
	modules map[string]goja.Value // built-in modules that were required, by name without "node:"
	globals map[string]goja.Value // lazy globals that were touched
}

func newEngine(ctx context.Context, dir string, grant *permissions.Grant, log *slog.Logger) *engine {
	e := &engine{vm: goja.New(), dir: dir, scope: &scope{grant: grant, log: log}, modules: map[string]goja.Value{}, globals: map[string]goja.Value{}, rejected: map[*goja.Promise]*scope{}}
	e.loop = newLoop(ctx, e.vm)
	e.loop.current, e.loop.in = func() *scope { return e.scope }, e.in
	e.loop.awaited = func() bool { return e.abortSignal != nil } // a handler may wait for its signal
	e.interrupt = func(cause error) { e.vm.Interrupt(cause) }
	e.vm.SetMaxCallStackSize(maxCallStack)
	// Script text must never name a source map for goja to read: it would be read from disk.
	e.vm.SetParserOptions(parser.WithDisableSourceMaps)
	if err := e.vm.GlobalObject().SetPrototype(e.vm.NewDynamicObject(&lazyGlobals{e})); err != nil {
		panic(fmt.Sprintf("setting the prototype of the global object: %v", err)) // only a frozen object refuses
	}
	e.vm.SetPromiseRejectionTracker(e.trackRejection)
	e.api.started = time.Now()
	return e
}

// maxRejected is how many unhandled rejections of a call are kept for the log.
const maxRejected = 10

func (e *engine) trackRejection(p *goja.Promise, operation goja.PromiseRejectionOperation) {
	switch {
	case operation == goja.PromiseRejectionHandle:
		delete(e.rejected, p)
	case e.rejections < maxRejected:
		e.rejections++
		e.rejected[p] = e.scope
	}
}

// logRejections logs the rejections of the scope that nothing has handled. They do not
// fail the call.
func (e *engine) logRejections() {
	for p, s := range e.rejected {
		if s != e.scope {
			continue
		}
		delete(e.rejected, p)
		e.log.Warn("a promise was rejected and nothing handles it", e.thrown(p.Result()).attributes()...)
	}
}

// require gives a built-in module ("fs", "path", "fs/promises"); ok is false where there is none.
func (e *engine) require(name string) (module goja.Value, ok bool) {
	if m, ok := e.modules[name]; ok {
		return m, true
	}
	load, ok := builtinModules[name]
	if !ok {
		return nil, false
	}
	m := load(e)
	e.modules[name] = m
	return m, true
}

// lazyGlobals is the prototype of the global object: it makes a global when it is first
// touched, so that a fresh engine costs almost nothing.
type lazyGlobals struct{ e *engine }

func (l *lazyGlobals) Get(name string) goja.Value {
	if v, ok := l.e.globals[name]; ok {
		return v
	}
	load, ok := builtinGlobals[name]
	if !ok {
		return nil
	}
	v := load(l.e)
	l.e.globals[name] = v
	return v
}

func (l *lazyGlobals) Set(name string, v goja.Value) bool { l.e.globals[name] = v; return true }
func (l *lazyGlobals) Has(name string) bool {
	_, touched := l.e.globals[name]
	_, known := builtinGlobals[name]
	return touched || known
}
func (l *lazyGlobals) Delete(name string) bool { delete(l.e.globals, name); return true }
func (l *lazyGlobals) Keys() []string          { return nil }
