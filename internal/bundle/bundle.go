// Package bundle turns the handler modules of a plugin into scripts that need no module
// loader: CommonJS, ES modules, TypeScript, JSX, JSON and the packages of the plugin's
// own node_modules, one script for each handler.
//
//	b := bundle.New(&bundle.Options{Builtin: isBuiltin})
//	built, err := b.Build(ctx, root, []string{"handler.ts"})
//
// Every file is read through an [os.Root]: an import that leaves the plugin's folder is
// refused, and no package.json or tsconfig.json outside it is looked at. What the author
// got wrong comes back at once, as an [*Error].
//
// A script is an expression whose value is a function of two arguments, the name require
// and a host object: (function (require, __host) { … }). The host object has the methods
// require(name) for built-in modules, requireFrom(file) and importFrom(file), which give what
// stands for require and import in a file where names are made at run time, export(namespace, path), which the script calls with
// the namespace of each handler module and its path, common(exports, path), which it calls with what a
// CommonJS module exports, namespace(module), which gives what import makes of a built-in module or
// undefined where the bundler's own helper shall make it, and dirname(file), filename(file), url(file) for the places of
// a file named below the root. Where the module awaits at its top level the function is async.
package bundle

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/toolhost/toolhost/internal/lazyregexp"
)

// Options of a Builder. Zero fields are the defaults.
type Options struct {
	// Builtin says which names are modules of the runtime ("fs", "fs/promises"), without "node:".
	Builtin func(name string) bool
	// Builtins are such names, for corrections.
	Builtins []string
	MaxFile  int64 // bytes of one file; 8 MiB
	MaxTotal int64 // bytes of all files of a plugin; 64 MiB
	Parallel int   // builds at the same time; 2
}

// Builder builds bundles. It is safe for concurrent use.
type Builder struct {
	options Options
	slots   chan struct{}
}

// New makes a Builder; options may be nil.
func New(options *Options) *Builder {
	b := &Builder{}
	if options != nil {
		b.options = *options
	}
	if b.options.Builtin == nil {
		b.options.Builtin = func(string) bool { return false }
	}
	if b.options.MaxFile <= 0 {
		b.options.MaxFile = 8 << 20
	}
	if b.options.MaxTotal <= 0 {
		b.options.MaxTotal = 64 << 20
	}
	if b.options.Parallel <= 0 {
		b.options.Parallel = 2
	}
	b.slots = make(chan struct{}, b.options.Parallel)
	return b
}

// Bundle is what a build gives.
type Bundle struct {
	Scripts map[string]*Script // by handler path, as Build was given it
	Inputs  []Input            // every file that was read, sorted by path

	answers map[question]string // by which its modules were found; nil where it must not be kept
}

// Script is one handler module with all it imports.
type Script struct {
	Code  string
	Async bool // the function is async
	Map   *SourceMap
}

// Modules gives the part of Code that holds the modules: the bundler's own helpers, which
// come first, are left out.
func (s *Script) Modules() string {
	first := len(s.Code)
	for _, space := range []string{fileSpace, builtinSpace, entrySpace} {
		// The bundler begins each module with a comment that names it.
		if i := strings.Index(s.Code[:first], "// "+space+":"); i >= 0 {
			first = i
		}
	}
	if first == len(s.Code) {
		return s.Code
	}
	return s.Code[first:]
}

// Input is a file that went into a bundle.
type Input struct {
	Path string // slash path below the root
	Sum  [sha256.Size]byte
}

// Problem is one mistake in a plugin's code.
type Problem struct {
	File         string // slash path below the root; may be empty
	Line, Column int    // from 1; 0 where not known
	Message      string
	Hint         string // may be empty
}

// Error holds every mistake for which a bundle was not built.
type Error struct{ Problems []Problem }

func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Message
		if p.File != "" {
			lines[i] = fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
		}
	}
	return strings.Join(lines, "\n")
}

const (
	fileSpace    = "plugin"  // files below the root
	entrySpace   = "entry"   // what hands a handler module over
	builtinSpace = "builtin" // modules of the runtime
)

// entryMark hides the ending of a handler's name from esbuild: what hands a module over
// is an ES module, whatever the module itself is.
const entryMark = "?entry"

// entry is what becomes one script: modules that are handed over, by the name under which
// the script is known.
type entry struct {
	name    string
	modules []string
}

// Build bundles handler modules, given as slash paths below root, each into a script of its
// own. Its error is an *Error, or ctx's where no slot became free in time.
func (b *Builder) Build(ctx context.Context, root *os.Root, handlers []string) (*Bundle, error) {
	var entries []entry
	for _, h := range slices.Compact(slices.Sorted(slices.Values(handlers))) {
		entries = append(entries, entry{h, []string{h}})
	}
	return b.build(ctx, root, entries)
}

// Together names the script that [Builder.BuildTogether] makes.
const Together = "*"

// BuildTogether is Build for handler modules that share what they import: they go into one
// script, named [Together], which evaluates them in the order of their paths.
func (b *Builder) BuildTogether(ctx context.Context, root *os.Root, handlers []string) (*Bundle, error) {
	handlers = slices.Compact(slices.Sorted(slices.Values(handlers)))
	return b.build(ctx, root, []entry{{Together, handlers}})
}

func (b *Builder) build(ctx context.Context, root *os.Root, entries []entry) (*Bundle, error) {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	format := api.FormatIIFE
	for {
		f := newFiles(root, b.options.MaxFile, b.options.MaxTotal)
		result := api.Build(b.buildOptions(f, entries, format))
		if format == api.FormatIIFE && slices.ContainsFunc(result.Errors, awaitsAtTop) {
			// Only ES modules may await at their top level: build one, and wrap it in an async function.
			format = api.FormatESModule
			continue
		}
		if len(result.Errors) > 0 {
			return nil, &Error{Problems: b.problems(f, result.Errors)}
		}
		return collect(f, result, entries, format)
	}
}

func awaitsAtTop(m api.Message) bool {
	return strings.HasPrefix(m.Text, "Top-level await is currently not supported with the")
}

func collect(f *files, result api.BuildResult, entries []entry, format api.Format) (*Bundle, error) {
	built := &Bundle{Scripts: map[string]*Script{}, Inputs: f.inputs(), answers: f.told()}
	outputs := map[string][]byte{}
	for _, o := range result.OutputFiles {
		outputs[filepath.Base(o.Path)] = o.Contents
	}
	for i, e := range entries {
		h := e.name
		code, sourceMap := outputs[strconv.Itoa(i)+".js"], outputs[strconv.Itoa(i)+".js.map"]
		if code == nil || sourceMap == nil {
			return nil, fmt.Errorf("bundling %q: the bundler gave no output", h)
		}
		m, err := newSourceMap(sourceMap, f.prefixes())
		if err != nil {
			return nil, fmt.Errorf("bundling %q: %w", h, err)
		}
		built.Scripts[h] = &Script{Code: lean(strict(string(code))), Async: format == api.FormatESModule, Map: m}
	}
	return built, nil
}

// strict makes a script strict where it holds ES modules only, as those always are. With
// a CommonJS module, which mostly is not strict, in the same script, none of it is.
func strict(code string) string {
	for _, m := range commonJS.FindAllStringSubmatch(code, -1) {
		if !strings.HasSuffix(m[1], ".json") {
			return code
		}
	}
	// On the first line, which holds nothing of the author's.
	return strings.Replace(code, lead[1:], lead[1:]+`"use strict";`, 1)
}

// commonJS is where the bundler puts a file that is no ES module.
var commonJS = lazyregexp.New(`__commonJS\(\{\s*"` + fileSpace + `:([^"]*)"`)

// lead begins a script.
const lead = "(function(require,__host){"

// unsupported are the parts of JavaScript that goja lacks and esbuild can lower. The rest
// stays as it is: lowered private fields and async functions are two to three times slower.
func unsupported() map[string]bool {
	return map[string]bool{
		// esbuild looks for \p{…} outside of character classes only, so every literal with
		// the flag u becomes a call of RegExp.
		"regexp-sticky-and-unicode-flags": false,
		"async-generator":                 false, "for-await": false, "using": false, "decorators": false, "dynamic-import": false,
		"import-meta": false, "regexp-match-indices": false, "regexp-set-notation": false,
		"regexp-unicode-property-escapes": false, "hashbang": false,
	}
}

func (b *Builder) buildOptions(f *files, entries []entry, format api.Format) api.BuildOptions {
	banner := lead
	if format == api.FormatESModule {
		banner = "(async " + lead[1:]
	}
	// An absolute folder that esbuild never looks into: all paths are in name spaces of ours.
	nowhere := filepath.Join(f.root.Name(), "bundle")
	if !filepath.IsAbs(nowhere) {
		nowhere = filepath.Join(string(filepath.Separator), "bundle")
	}
	o := api.BuildOptions{
		Bundle: true, Write: false, Outdir: nowhere, AbsWorkingDir: nowhere,
		Target: api.ESNext, Supported: unsupported(), Platform: api.PlatformNode, Format: format,
		TreeShaking: api.TreeShakingTrue, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone,
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude,
		// Inline settings: otherwise esbuild looks for tsconfig.json files.
		TsconfigRaw: `{"compilerOptions":{}}`,
		Banner:      map[string]string{"js": banner}, Footer: map[string]string{"js": "})"},
		Define: map[string]string{
			"global": "globalThis", "process.env.NODE_ENV": `"production"`,
			"__dirname": placeDirname, "__filename": placeFilename,
			"import.meta.dirname": placeDirname, "import.meta.filename": placeFilename, "import.meta.url": placeURL,
			"import.meta.resolve": placeResolve,
		},
		LogLevel: api.LogLevelSilent, LogLimit: 100,
		Plugins: []api.Plugin{{Name: "toolhost", Setup: func(p api.PluginBuild) { b.setup(p, f, entries) }}},
	}
	for i := range entries {
		o.EntryPointsAdvanced = append(o.EntryPointsAdvanced, api.EntryPoint{InputPath: strconv.Itoa(i), OutputPath: strconv.Itoa(i)})
	}
	return o
}

// setup tells esbuild where modules are and what they hold.
func (b *Builder) setup(p api.PluginBuild, f *files, entries []entry) {
	r := &resolver{files: f, options: &b.options}
	p.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
		if args.Kind == api.ResolveEntryPoint {
			i, err := strconv.Atoi(args.Path)
			if err != nil || i >= len(entries) {
				return api.OnResolveResult{}, fmt.Errorf("no entry %q", args.Path) // entries are named by buildOptions
			}
			return api.OnResolveResult{Path: entries[i].name + entryMark, Namespace: entrySpace, PluginData: entries[i]}, nil
		}
		return r.resolve(args)
	})
	p.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: entrySpace}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
		e, _ := args.PluginData.(entry)
		var imports, exports strings.Builder
		for i, m := range e.modules {
			fmt.Fprintf(&imports, "import * as m%d from %s;", i, strconv.Quote("./"+m))
			fmt.Fprintf(&exports, "__host.export(m%d,%s);", i, strconv.Quote(m))
		}
		code := imports.String() + exports.String()
		return api.OnLoadResult{Contents: &code, Loader: api.LoaderJS}, nil
	})
	p.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: builtinSpace}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
		code := fmt.Sprintf("module.exports=__host.require(%s)", strconv.Quote(args.Path))
		return api.OnLoadResult{Contents: &code, Loader: api.LoaderJS}, nil
	})
	// What the bundler found by itself, where nothing was found below the root.
	p.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "file"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
		return api.OnLoadResult{}, errLeaves
	})
	p.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: fileSpace}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
		return f.load(strings.TrimSuffix(args.Path, moduleMark), args.With["type"])
	})
}

// problems turns esbuild's messages into ours.
func (b *Builder) problems(f *files, messages []api.Message) []Problem {
	r := &resolver{files: f, options: &b.options}
	hints := map[string]string{} // by file: what its first syntax error comes from
	var list []Problem
	for _, m := range messages {
		p := Problem{Message: lowerFirst(strings.TrimSuffix(m.Text, "."))}
		if d, ok := m.Detail.(error); ok {
			var own *Problem
			if errors.As(d, &own) {
				p = *own
			}
		}
		if l := m.Location; l != nil && p.File == "" {
			p.File = sourceName(l.File)
			p.Line, p.Column = l.Line, l.Column+1-f.shift(p.File, l.Line)
			if l.Namespace == entrySpace || strings.HasPrefix(l.File, entrySpace+":") {
				p.File, p.Line, p.Column = "", 0, 0 // it is the manifest that names the file
			}
		}
		switch {
		case m.Detail != nil:
		case strings.HasPrefix(m.Text, unresolved):
			message, hint := r.missing(m.Text, p.File)
			if message != "" {
				p.Message = message
			}
			p.Hint = hint
		case p.File != "" && m.Location != nil:
			if _, known := hints[p.File]; !known {
				hints[p.File] = f.typeScriptHint(p.File)
				p.Hint = hints[p.File]
			}
		}
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

func (p *Problem) Error() string { return p.Message }

func lowerFirst(s string) string {
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'a' && s[1] <= 'z' {
		return string(s[0]+'a'-'A') + s[1:]
	}
	return s
}

// sourceName gives the slash path below the root of a name that esbuild shows.
func sourceName(name string) string {
	name = strings.TrimPrefix(name, fileSpace+":")
	return strings.TrimSuffix(name, moduleMark)
}
