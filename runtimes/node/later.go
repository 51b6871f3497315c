package node

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/internal/bundle"
	"github.com/toolhost/toolhost/runtimes"
)

// Limits of modules whose names are made at run time.
const (
	maxLaterModules = 500 // of an engine
	maxLaterDepth   = 50  // that load each other
	maxLaterKept    = 500 // compiled ones of a plugin
)

// laterModules finds and compiles the modules of a plugin that its code asks for by names
// which are made at run time. The engines of the plugin share one.
type laterModules struct {
	builder *bundle.Builder
	dir     string // from which modules are read
	risky   bool   // code that cannot be held in this process is refused

	mu   sync.Mutex
	kept map[string]*keptModule // by file
}

// keptModule is a compiled module.
type keptModule struct {
	program  *program
	built    *bundle.Bundle
	commonJS bool
}

func newLaterModules(r *Runtime, spec *runtimes.Spec) *laterModules {
	l := &laterModules{builder: r.builder, dir: spec.Dir, risky: r.options.RefuseRisky, kept: map[string]*keptModule{}}
	if r.options.Sources != "" {
		l.dir = r.options.Sources
	}
	return l
}

// errRisky is why code is not run in this process that is loaded by a computed name.
var errRisky = errors.New("its code evaluates texts as code, which a file that is loaded by a computed name may not do here: write the name out in require or import")

// get gives a compiled module; the one that is kept, while its files are the same.
func (l *laterModules) get(ctx context.Context, root *os.Root, file string) (*keptModule, error) {
	l.mu.Lock()
	k := l.kept[file]
	l.mu.Unlock()
	if k != nil && k.built.Holds(root) {
		return k, nil
	}
	built, err := l.builder.BuildOne(ctx, root, file)
	if err != nil {
		return nil, err
	}
	script := built.Scripts[file]
	if l.risky && len(risks(script.Modules())) > 0 {
		return nil, errRisky
	}
	k = &keptModule{built: built, commonJS: script.CommonJS(file)}
	if k.program, err = compile(file+laterMark, script); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) >= maxLaterKept {
		clear(l.kept)
	}
	l.kept[file] = k
	return k, nil
}

// laterMark tells the script of a module that is loaded at run time from that of a handler.
const laterMark = "?later"

// loadedModule is a module that an engine has loaded at run time.
type loadedModule struct {
	program   *program
	positions *bundle.Positions // nil until an error was thrown
	exports   goja.Value        // what require gives; nil while the module is evaluated
	namespace goja.Value        // what import gives
	waits     goja.Value        // the promise of a module that awaits at its top level; nil for others
}

// laterEngine is what an engine keeps of such modules.
type laterEngine struct {
	shared *laterModules
	loaded map[string]*loadedModule // by file
	depth  int
}

// requireFrom gives what stands for require in a file of the plugin, a slash path; the
// empty one knows built-in modules only.
func (e *engine) requireFrom(file string) *goja.Object {
	folder := path.Dir(file)
	require := e.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		found, builtin := e.findModule(e.moduleName(call.Argument(0)), folder, false)
		if builtin != "" {
			return e.mustRequire(builtin)
		}
		m := e.loadLater(found)
		if m.waits != nil {
			panic(e.newError("Error", "ERR_REQUIRE_ASYNC_MODULE", "require() cannot be used on an ESM graph with top-level await. Use import() instead: %s", found))
		}
		return m.exports
	}).(*goja.Object)
	resolve := e.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		return e.vm.ToValue(e.resolveModule(call.Argument(0), folder, false))
	}).(*goja.Object)
	_ = resolve.Set("paths", func(goja.FunctionCall) goja.Value { return goja.Null() })
	_ = require.Set("resolve", resolve)
	_ = require.Set("cache", e.vm.NewObject())
	_ = require.Set("extensions", e.vm.NewObject())
	_ = require.Set("main", goja.Undefined())
	return require
}

// importFrom gives what stands for import() in a file of the plugin.
func (e *engine) importFrom(file string) goja.Value {
	folder := path.Dir(file)
	return e.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		promise, resolve, reject := e.vm.NewPromise()
		if err := e.protect(func() {
			found, builtin := e.findModule(e.specifier(call.Argument(0)), folder, true)
			if builtin != "" {
				_ = resolve(e.namespaceOf(e.mustRequire(builtin)))
				return
			}
			m := e.loadLater(found)
			if m.waits == nil {
				_ = resolve(m.namespace)
				return
			}
			then, _ := goja.AssertFunction(m.waits.ToObject(e.vm).Get("then"))
			done, err := then(m.waits, e.vm.ToValue(func(goja.FunctionCall) goja.Value { return m.namespace }))
			if err != nil {
				panic(err)
			}
			_ = resolve(done)
		}); err != nil {
			var thrown *goja.Exception
			if !errors.As(err, &thrown) {
				panic(err)
			}
			_ = reject(thrown.Value())
		}
		return e.vm.ToValue(promise)
	})
}

// moduleName checks what require is called with.
func (e *engine) moduleName(v goja.Value) string {
	s, ok := v.(goja.String)
	if !ok {
		panic(e.newError("TypeError", "ERR_INVALID_ARG_TYPE", "The \"id\" argument must be of type string"))
	}
	if s.Length() == 0 {
		panic(e.newError("TypeError", "ERR_INVALID_ARG_VALUE", "The argument 'id' must be a non-empty string. Received ''"))
	}
	return s.String()
}

// specifier gives the name that import is called with; a URL of a file becomes its path.
func (e *engine) specifier(v goja.Value) string {
	name := v.ToString().String()
	if u, err := url.Parse(name); err == nil && u.Scheme == "file" {
		return filepath.FromSlash(u.Path)
	}
	return name
}

// findModule finds a module of the plugin, as a slash path, or a built-in one.
func (e *engine) findModule(name, folder string, isImport bool) (file, builtin string) {
	if short := strings.TrimPrefix(name, "node:"); builtinModules[short] != nil {
		return "", short
	}
	l := e.later.shared
	if l == nil {
		panic(e.notFound("MODULE_NOT_FOUND", fmt.Sprintf("Cannot find module '%s'", name)))
	}
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(e.dir, filepath.Clean(name))
		if err != nil || !filepath.IsLocal(rel) {
			panic(e.notFound("MODULE_NOT_FOUND", fmt.Sprintf("Cannot find module '%s': modules come from the plugin's folder only", name)))
		}
		name, folder = "./"+filepath.ToSlash(rel), "."
	}
	var err error
	e.inSources(func(root *os.Root) { file, builtin, err = l.builder.Find(root, name, folder, isImport) })
	if err == nil {
		return file, builtin
	}
	code := "MODULE_NOT_FOUND"
	if isImport {
		code = "ERR_MODULE_NOT_FOUND"
	}
	var missing *bundle.NotFoundError
	if errors.As(err, &missing) && missing.Hidden {
		code = "ERR_PACKAGE_PATH_NOT_EXPORTED"
	}
	panic(e.notFound(code, fmt.Sprintf("%s\nRequire stack:\n- %s", err, filepath.Join(e.dir, filepath.FromSlash(folder)))))
}

func (e *engine) notFound(code, message string) *goja.Object {
	o := e.makeError("", message)
	_ = o.Set("code", code)
	return o
}

// resolveModule gives the path of a module in the plugin's folder.
func (e *engine) resolveModule(name goja.Value, folder string, isImport bool) string {
	spec := e.moduleName(name)
	file, builtin := e.findModule(spec, folder, isImport)
	if builtin != "" {
		return spec
	}
	return filepath.Join(e.dir, filepath.FromSlash(file))
}

// inSources runs f with the folder from which modules are read.
func (e *engine) inSources(f func(root *os.Root)) {
	root, err := os.OpenRoot(e.later.shared.dir)
	if err != nil {
		panic(e.notFound("MODULE_NOT_FOUND", "the plugin's folder cannot be read"))
	}
	defer root.Close()
	f(root)
}

// loadLater loads a module, once for an engine.
func (e *engine) loadLater(file string) *loadedModule {
	if m := e.later.loaded[file]; m != nil {
		if m.exports == nil && m.waits == nil {
			panic(e.newError("Error", "ERR_REQUIRE_CYCLE_MODULE", "Cannot load %s while it is loading: modules that are loaded by computed names cannot load each other in a circle", file))
		}
		return m
	}
	if len(e.later.loaded) >= maxLaterModules || e.later.depth >= maxLaterDepth {
		panic(e.makeError("RangeError", fmt.Sprintf("more than %d modules, or %d in each other, are loaded by computed names: write the names out", maxLaterModules, maxLaterDepth)))
	}
	m := &loadedModule{}
	if e.later.loaded == nil {
		e.later.loaded = map[string]*loadedModule{}
	}
	e.later.loaded[file] = m
	e.later.depth++
	defer func() {
		e.later.depth--
		if m.exports == nil && m.waits == nil {
			delete(e.later.loaded, file) // it can be tried again
		}
	}()
	if strings.EqualFold(path.Ext(file), ".json") {
		var data []byte
		var err error
		e.inSources(func(root *os.Root) { data, err = e.later.shared.builder.Read(root, file) })
		if err != nil {
			panic(e.makeError("", fmt.Sprintf("%s: %s", file, err)))
		}
		m.exports = e.guardedParse(goja.FunctionCall{Arguments: []goja.Value{e.vm.ToValue(strings.TrimPrefix(string(data), "\ufeff"))}})
		m.namespace = e.object(map[string]any{"default": m.exports})
		return m
	}
	var kept *keptModule
	var err error
	e.inSources(func(root *os.Root) { kept, err = e.later.shared.get(e.loop.ctx, root, file) })
	if err != nil {
		panic(e.makeError("", fmt.Sprintf("Cannot load %s: %s", file, bundleProblems(err))))
	}
	e.evaluateLater(m, kept)
	return m
}

// evaluateLater runs the script of a module.
func (e *engine) evaluateLater(m *loadedModule, kept *keptModule) {
	m.program = kept.program
	e.installLanguage(slices.DeleteFunc(slices.Clone(kept.program.language), func(part string) bool {
		return e.program != nil && slices.Contains(e.program.language, part)
	}))
	f, err := e.vm.RunProgram(kept.program.code)
	if err != nil {
		panic(err)
	}
	start, _ := goja.AssertFunction(f) // a bundle is a function
	host := &laterHost{bundleHost: bundleHost{e: e}}
	waits, err := start(goja.Undefined(), e.vm.ToValue(e.requireComputed), e.vm.NewDynamicObject(host))
	if err != nil {
		panic(err)
	}
	take := func() {
		m.exports, m.namespace = host.module, host.module
		switch {
		case host.common:
			m.namespace = e.namespaceOf(host.module)
		case kept.commonJS:
			m.exports = host.module.ToObject(e.vm).Get("default")
		}
	}
	if !kept.program.async {
		take()
		return
	}
	then, _ := goja.AssertFunction(waits.ToObject(e.vm).Get("then"))
	if m.waits, err = then(waits, e.vm.ToValue(func(goja.FunctionCall) goja.Value { take(); return goja.Undefined() })); err != nil {
		panic(err)
	}
}

// laterHost is the host object of a module that is loaded at run time.
type laterHost struct {
	bundleHost
	module goja.Value // what the module has handed over: its namespace, or what a CommonJS module exports
	common bool       // it is the latter
}

// Get gives a member.
func (h *laterHost) Get(name string) goja.Value {
	if name != "export" && name != "common" {
		return h.bundleHost.Get(name)
	}
	return h.e.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		h.module, h.common = call.Argument(0), name == "common"
		return goja.Undefined()
	})
}

// Has reports whether there is a member.
func (h *laterHost) Has(name string) bool { return h.Get(name) != nil }

// namespaceOf gives what import() gives for a built-in module, or a CommonJS one.
func (e *engine) namespaceOf(module goja.Value) goja.Value {
	var prototype *goja.Object
	if o, ok := module.(*goja.Object); ok {
		prototype = o
	}
	made := e.vm.CreateObject(prototype)
	_ = made.DefineDataProperty("default", module, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	return made
}

// createRequire is createRequire of node:module, for an absolute path or URL that was checked.
func (e *engine) createRequire(call goja.FunctionCall) goja.Value {
	name := e.specifier(call.Argument(0))
	rel, err := filepath.Rel(e.dir, filepath.Clean(name))
	switch {
	case err != nil || !filepath.IsLocal(rel) && rel != ".":
		rel = "outside" // of the plugin: what it names is found from the plugin's folder
	case strings.HasSuffix(name, "/"):
		rel = filepath.Join(rel, "file")
	}
	return e.requireFrom(filepath.ToSlash(rel))
}

// laterPlace is place for a module that was loaded at run time.
func (e *engine) laterPlace(script string, line, column int) (file string, l, c int, ok bool) {
	m := e.later.loaded[strings.TrimSuffix(strings.TrimPrefix(script, scriptPrefix), laterMark)]
	if m == nil || m.program == nil {
		return "", 0, 0, false
	}
	if m.positions == nil {
		open, err := m.program.where.Open()
		if err != nil {
			return "", 0, 0, false
		}
		m.positions = open
	}
	return m.positions.Find(line, column)
}
