package node

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/toolhost/toolhost/permissions"
)

// primedFor is how long an engine waits for the next call before it is let go of: a plugin
// that nobody calls holds its program only.
const primedFor = 2 * time.Second

// primed keeps the next engine of each program, ready but for the plugin's own code: what
// the host puts into every engine is there, and the host's libraries that the last call used.
// No code of the plugin has run in it, so that nothing can tell it from one just made.
type primed struct {
	mu      sync.Mutex
	engines map[*program]*engine
	timers  map[*program]*time.Timer
	closed  bool
}

// primable are the libraries that take nothing of a call when they are loaded.
var primable = []string{
	"buffer", "encoding_host", "errors", "event_target", "fs", "fs_constants", "fs_core", "fs_members", "fs_promises", "fs_stats", "intl", "iterator", "language_more", "regexp",
	"symbols", "text_codecs", "turns", "weak", "whatwg_url",
	"assert", "events", "path", "querystring", "string_decoder", "url", "util", "@toolhost/text",
}

// take gives the engine that is ready for a program; nil where there is none.
func (p *primed) take(of *program) *engine {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.engines[of]
	if e != nil {
		p.forget(of)
	}
	return e
}

// forget lets go of an engine. The lock is held.
func (p *primed) forget(of *program) {
	delete(p.engines, of)
	if t := p.timers[of]; t != nil {
		t.Stop()
		delete(p.timers, of)
	}
}

// close lets go of all engines, and takes no more.
func (p *primed) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for of := range p.engines {
		p.forget(of)
	}
}

// keep keeps an engine for a program for a while.
func (p *primed) keep(of *program, e *engine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.engines[of] != nil {
		return
	}
	if p.engines == nil {
		p.engines, p.timers = map[*program]*engine{}, map[*program]*time.Timer{}
	}
	p.engines[of] = e
	p.timers[of] = time.AfterFunc(primedFor, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.engines[of] == e {
			p.forget(of)
		}
	})
}

// wanted reports whether a program has no engine ready.
func (p *primed) wanted(of *program) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.closed && p.engines[of] == nil
}

// usedBy gives the libraries that a call has loaded and the next engine may have already.
func usedBy(e *engine) []string {
	names := []string{} // never nil
	for _, name := range primable {
		loaded := e.modules[name]
		if internalModules[name] != nil {
			loaded = e.api.internal[name] // the module of that name may be made of another library
		}
		if loaded != nil {
			names = append(names, name)
		}
	}
	return names
}

// prime readies the next engine of a program.
func (in *instance) prime(p *program, used []string) {
	if !in.primed.wanted(p) {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			in.spec.Log.Warn("an engine could not be made ready", "err", panicError(v))
		}
	}()
	e := newEngine(context.Background(), in.spec.Dir, &permissions.Grant{}, in.spec.Log)
	e.policy, e.services = in.spec.Policy, in.spec.Services
	e.prepare(p)
	for _, name := range used {
		if internalModules[name] != nil {
			e.internal(name)
		} else {
			e.require(name)
		}
	}
	f, err := e.vm.RunProgram(touch())
	if err != nil {
		panic(err) // our own script
	}
	run, _ := goja.AssertFunction(f)
	e.apply(run)
	in.primed.keep(p, e)
}

// touch is a script that touches what every bundle does, since the engine makes its own
// objects when they are touched.
var touch = sync.OnceValue(func() *goja.Program {
	const script = `(function () {
  const { create, defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf } = Object, { hasOwnProperty } = Object.prototype;
  for (const x of []) x;
})`
	ast, err := goja.Parse("node:internal/touch", script, parser.WithDisableSourceMaps)
	if err != nil {
		panic(err) // our own source
	}
	p, err := goja.CompileAST(ast, true)
	if err != nil {
		panic(err)
	}
	return p
})

// adopt makes a primed engine that of a call.
func (e *engine) adopt(ctx context.Context, grant *permissions.Grant, log *slog.Logger) {
	e.loop.ctx = ctx
	e.grant, e.log = grant, log
	e.api.started = time.Now()
	e.loop.busySince.Store(e.api.started.UnixNano())
}
