// Package node runs the handlers of plugins written in JavaScript or TypeScript for
// Node, in this process, with the engine goja.
//
//	rt := node.New(nil)
//	instance, err := rt.Open(ctx, spec)
//	result, err := instance.Handler("hello").Handle(ctx, call)
//
// A plugin's handler modules are bundled and compiled once, when it is opened, and
// evaluated once in an engine that is thrown away, so that mistakes show at once. Each
// call then gets a fresh engine: nothing that a call leaves behind is seen by the next.
// Where the plugin says `"state": "plugin"`, its calls share one engine, in which all its
// modules were evaluated once; the calls interleave where they await.
//
// [New] makes a [Runtime], which is a [runtimes.Runtime].
//
// A script reaches the outside only through the call's [permissions.Grant]. Its code can
// be interrupted at any point; what the engine does inside one of its own functions
// cannot. Memory is watched, not bounded: a script is ended when the heap is above
// [Options].MaxHeap, but what it takes between two looks is taken. Plugins that are not
// trusted that far belong in a process of their own.
package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"

	"github.com/toolhost/toolhost/internal/bundle"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// loadLimit is how long the handler modules of a plugin may take to evaluate together.
const loadLimit = 10 * time.Second

// matchLimit is how long one match of a regular expression with look-around or back
// references may take: no interrupt reaches it. goja takes the end of it for "no match".
const matchLimit = 3 * time.Second

// The limit must stand before the first expression is compiled, and goja has no other way to it.
func init() { regexp2.DefaultMatchTimeout = matchLimit }

// Options of a Runtime. Zero fields are the defaults.
type Options struct {
	// MaxResult is how many bytes a result may have; 1 MiB. A larger one is refused
	// before it is copied out of the engine.
	MaxResult int
	// LoadLimit is how long the modules of a plugin may take to evaluate; 10 s.
	LoadLimit time.Duration
	// MaxHeap is how many bytes the heap of this process may hold before the script that
	// has been running longest is ended; [HeapLimit].
	MaxHeap uint64
	// RefuseRisky has Open refuse a plugin whose code shows that it may do what nothing
	// could stop in this process. The error is a *[RiskError]; no code of the plugin has
	// run then. It is for a program that can open the plugin in another process instead.
	RefuseRisky bool
	// Sources is the folder from which modules are read that go into a plugin, where that
	// is not the plugin's own: a copy of them. What a handler reads is in the plugin's own.
	Sources string
	// Cache is a folder that keeps what was built of plugins whose modules were evaluated
	// well. A plugin whose files are still those, all of them, is neither built nor evaluated
	// when it is opened, and compiled for its first call. It must lie in a folder of the
	// user's own; "" keeps nothing.
	Cache string
}

// Runtime opens plugins. It is safe for concurrent use.
type Runtime struct {
	options  Options
	builder  *bundle.Builder
	cache    *bundle.Cache // nil where nothing is kept
	watchdog watchdog
}

var _ runtimes.Runtime = (*Runtime)(nil)

// New makes a Runtime; options may be nil.
func New(options *Options) *Runtime {
	r := &Runtime{}
	if options != nil {
		r.options = *options
	}
	if r.options.MaxResult <= 0 {
		r.options.MaxResult = 1 << 20
	}
	if r.options.LoadLimit <= 0 {
		r.options.LoadLimit = loadLimit
	}
	addresses := addressSpace()
	r.watchdog.limit = heapLimit(r.options.MaxHeap, addresses)
	r.watchdog.hard = hardLimit(r.watchdog.limit, addresses)
	r.builder = bundle.New(&bundle.Options{
		Builtin:  func(name string) bool { return builtinModules[name] != nil },
		Builtins: slices.Sorted(maps.Keys(builtinModules)),
	})
	if r.options.Cache != "" {
		r.cache = bundle.NewCache(r.options.Cache)
	}
	return r
}

// Open bundles, compiles and evaluates the plugin's handler modules, unless the same was
// done well before.
func (r *Runtime) Open(ctx context.Context, spec runtimes.Spec) (runtimes.Instance, error) {
	spec = spec.WithDefaults()
	if spec.Engine == "node" {
		return nil, loadError(runtimes.Problem{
			File: runtimes.ManifestFile, Message: `this host has no "engine": "node"`, Hint: `write "engine": "goja", or leave it out`,
		})
	}
	sources := spec.Dir
	if r.options.Sources != "" {
		sources = r.options.Sources
	}
	var files []string
	for _, t := range spec.Tools {
		files = append(files, cleanHandler(t.Handler))
	}
	made := madeFor(&spec, files)
	built := r.cache.Get(sources, spec.Dir, made)
	known := built != nil
	if !known {
		root, err := os.OpenRoot(sources)
		if err != nil {
			return nil, fmt.Errorf("opening the folder of plugin %q: %w", spec.Plugin, err)
		}
		defer root.Close()
		build := r.builder.Build
		if spec.State == "plugin" {
			build = r.builder.BuildTogether
		}
		if built, err = build(ctx, root, files); err != nil {
			return nil, bundleProblems(err)
		}
	}
	if r.options.RefuseRisky {
		var found []string
		for _, script := range built.Scripts {
			found = append(found, risks(script.Modules())...)
		}
		slices.Sort(found)
		if found = slices.Compact(found); len(found) > 0 {
			return nil, &RiskError{Plugin: spec.Plugin, Hazards: found}
		}
	}
	programs := map[string]*lazyProgram{}
	for file, script := range built.Scripts {
		programs[file] = newLazyProgram(file, script)
	}
	in := &instance{runtime: r, spec: spec, handlers: map[string]*handler{}, inputs: map[string][sha256.Size]byte{}}
	in.base, in.stop = context.WithCancelCause(context.Background())
	in.together, in.later = programs[bundle.Together], newLaterModules(r, &spec)
	for _, t := range spec.Tools {
		file := cleanHandler(t.Handler)
		in.handlers[t.ID] = &handler{instance: in, tool: t.ID, file: file, program: programs[file]}
	}
	for _, i := range built.Inputs {
		in.inputs[i.Path] = i.Sum
	}
	if known && !showsTools(&spec, built) {
		return in, nil
	}
	if err := in.try(ctx, programs); err != nil {
		in.stop(errStopped)
		return nil, err
	}
	if err := r.cache.Put(spec.Dir, made, built); err != nil {
		spec.Log.Debug("what was built of the plugin is not kept", "err", err)
	}
	return in, nil
}

// madeFor is what a bundle of a plugin is kept for, besides the files that went into it.
func madeFor(spec *runtimes.Spec, files []string) [sha256.Size]byte {
	var env []string
	if spec.Policy != nil {
		env = spec.Policy.Env
	}
	made := fmt.Appendf(nil, "%q %q %q %q %q %q %t\n", spec.Plugin, spec.Version, spec.State, spec.Engine, files, env, spec.Card != nil)
	return sha256.Sum256(runtimes.AppendSums(made, spec.Sums))
}

// showsTools reports whether a card may hide tools while it is evaluated, so that it has to
// be, for the list of tools.
func showsTools(spec *runtimes.Spec, built *bundle.Bundle) bool {
	if spec.Card == nil {
		return false
	}
	for _, s := range built.Scripts {
		if strings.Contains(s.Modules(), "setEnabled") {
			return true
		}
	}
	return false
}

// collectProblems adds the problems of a *LoadError to a list; another error comes back.
func collectProblems(list *[]runtimes.Problem, err error) error {
	var load *runtimes.LoadError
	if errors.As(err, &load) {
		*list = append(*list, load.Problems...)
		return nil
	}
	return err
}

// try compiles every handler module and evaluates it once, in engines that are thrown away. Only the
// plugin's own files may be read meanwhile.
func (in *instance) try(ctx context.Context, lazy map[string]*lazyProgram) error {
	programs := map[string]*program{}
	var problems []runtimes.Problem
	for file, l := range lazy {
		var err error
		programs[file], err = l.get()
		if err := collectProblems(&problems, err); err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		return loadError(problems...)
	}
	policy := permissions.Policy{}
	if in.spec.Policy != nil {
		policy.Root, policy.Env = in.spec.Policy.Root, in.spec.Policy.Env
	}
	ctx, cancel := context.WithTimeoutCause(ctx, in.runtime.options.LoadLimit, errLoadLimit)
	defer cancel()
	for _, file := range slices.Sorted(maps.Keys(programs)) {
		grant, err := policy.Resolve("", nil)
		if err != nil {
			return fmt.Errorf("granting plugin %q its own files: %w", in.spec.Plugin, err)
		}
		err = in.tryOne(ctx, programs[file], grant)
		grant.Revoke()
		if err := collectProblems(&problems, err); err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		return loadError(problems...)
	}
	return nil
}

// errLoadLimit is why a module's evaluation ends that takes too long.
var errLoadLimit = errors.New("loading took too long")

func (in *instance) tryOne(ctx context.Context, p *program, grant *permissions.Grant) error {
	e, release := in.engine(ctx, nil, grant, in.spec.Log)
	ended := make(chan error, 1)
	go func() {
		var err error
		defer func() {
			if v := recover(); v != nil {
				err = panicError(v)
			}
			release()
			ended <- err
		}()
		if _, err = e.load(p); err == nil && e.card.about != nil {
			if without := e.unhandled(); len(without) > 0 {
				in.spec.Log.Info("the card has registered no handlers yet for some of its tools", "tools", without)
			}
		}
	}()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		// Not waiting longer: code that no interrupt reaches would hold up every plugin.
		err = context.Cause(ctx)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLoadLimit):
		return loadError(runtimes.Problem{
			File: p.file, Message: fmt.Sprintf("the module was not evaluated within %s", in.runtime.options.LoadLimit),
			Hint: "do the work in the handler, not while the module loads",
		})
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return p.loadProblem(err)
}

// cleanHandler gives a handler path in the form by which programs are known.
func cleanHandler(name string) string { return path.Clean(name) }

// bundleProblems turns the bundler's report into ours.
func bundleProblems(err error) error {
	var list *bundle.Error
	if !errors.As(err, &list) {
		return err
	}
	e := &runtimes.LoadError{}
	for _, p := range list.Problems {
		e.Problems = append(e.Problems, runtimes.Problem{File: p.File, Line: p.Line, Column: p.Column, Message: p.Message, Hint: p.Hint})
	}
	return e
}
