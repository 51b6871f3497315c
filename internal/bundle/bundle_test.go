package bundle_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/toolhost/toolhost/internal/bundle"
)

// folder makes a plugin folder of files; a text that begins with "-> " makes a link.
func folder(t *testing.T, files map[string]string) *os.Root {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "plugin")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(target, file)
		} else {
			err = os.WriteFile(file, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func builder() *bundle.Builder {
	return bundle.New(&bundle.Options{
		Builtin:  func(name string) bool { return name == "path" || name == "fs" || name == "fs/promises" },
		Builtins: []string{"path", "fs", "fs/promises"},
	})
}

func build(t *testing.T, files map[string]string, handlers ...string) (*bundle.Bundle, error) {
	t.Helper()
	return builder().Build(t.Context(), folder(t, files), handlers)
}

// run evaluates a script and gives what the module exports under "default".
func run(t *testing.T, s *bundle.Script) string {
	t.Helper()
	vm := goja.New()
	vm.SetParserOptions(parser.WithDisableSourceMaps)
	v, err := vm.RunScript("script.js", s.Code)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.Code)
	}
	f, ok := goja.AssertFunction(v)
	if !ok {
		t.Fatalf("the script is no function:\n%s", s.Code)
	}
	var exports *goja.Object
	host := vm.NewObject()
	for name, f := range map[string]any{
		"require": func(name string) any { return map[string]any{"name": "builtin " + name} },
		"requireFrom": func(file string) any {
			return func(name string) string { return file + " requires " + name }
		},
		"export": func(o *goja.Object) { exports = o },
		"common": func(v goja.Value) {
			exports = vm.NewObject()
			_ = exports.Set("default", v)
		},
		"namespace": func(o goja.Value) goja.Value { return goja.Undefined() },
		"dirname":   func(name string) string { return filepath.Dir("/plugin/" + name) },
		"filename":  func(name string) string { return "/plugin/" + name },
		"url":       func(name string) string { return "file:///plugin/" + name },
	} {
		if err := host.Set(name, f); err != nil {
			t.Fatal(err)
		}
	}
	require := vm.ToValue(func(name string) string { return "required " + name })
	p, err := f(goja.Undefined(), require, host)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.Code)
	}
	if promise, ok := p.Export().(*goja.Promise); ok && promise.State() != goja.PromiseStateFulfilled {
		t.Fatalf("the module did not load: %v", promise.Result())
	}
	if exports == nil {
		t.Fatalf("the script exported nothing:\n%s", s.Code)
	}
	return exports.Get("default").String()
}

func TestBuild(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		entry string // "h.js" where empty
		want  string
	}{
		"ES module":         {files: map[string]string{"h.js": "export default 'x'"}, want: "x"},
		"CommonJS":          {files: map[string]string{"h.js": "module.exports = 'x'"}, want: "x"},
		"helper":            {files: map[string]string{"h.js": "import {a} from './lib/a.js'; export default a", "lib/a.js": "export const a = 'a'"}, want: "a"},
		"no extension":      {files: map[string]string{"h.js": "export default require('./lib')", "lib/index.js": "module.exports = require('./b')", "lib/b.js": "module.exports='b'"}, want: "b"},
		"json":              {files: map[string]string{"h.js": "import d from './d.json' with {type:'json'}; export default d.n", "d.json": "{\"n\": 5}"}, want: "5"},
		"text":              {files: map[string]string{"h.js": "import d from './d.md'; export default d", "d.md": "# hi"}, want: "# hi"},
		"text by attribute": {files: map[string]string{"h.js": "import d from './d.js' with {type:'text'}; export default d", "d.js": "hi("}, want: "hi("},
		"TypeScript": {files: map[string]string{
			"h.ts":  "import { Kind } from './k.js'; abstract class A<T> { constructor(private x: T) {} get v() { return this.x } }\nclass B extends A<string> {}\nexport default new B('ts').v + Kind.Two satisfies string",
			"k.ts":  "export enum Kind { One, Two }",
			"n.tsx": "",
		}, entry: "h.ts", want: "ts1"},
		"JSX": {files: map[string]string{"h.tsx": "const React = {createElement: (n: string, p: any, ...c: any[]) => n + c.join('')};\nexport default <b>x{1}</b>"}, entry: "h.tsx", want: "bx1"},
		"package": {files: map[string]string{
			"h.js":                        "import a from 'a'; import b from '@s/b/sub'; import {c} from 'c'; export default a + b + c",
			"node_modules/a/package.json": `{"main":"./lib"}`, "node_modules/a/lib/index.js": "module.exports = 'A'",
			"node_modules/@s/b/package.json": `{"exports":{".":"./no.js","./sub":{"require":"./r.cjs","import":"./i.mjs"}}}`,
			"node_modules/@s/b/i.mjs":        "export default 'B'", "node_modules/@s/b/r.cjs": "module.exports='R'",
			"node_modules/c/index.js": "exports.c = require('a')",
		}, want: "ABA"},
		"package patterns and imports": {files: map[string]string{
			"package.json": `{"name":"self","type":"module","exports":{"./x":"./x.js"},"imports":{"#u/*":"./util/*.js","#p":{"default":"path"}}}`,
			"h.js":         "import u from '#u/one'; import p from '#p'; import x from 'self/x'; import y from 'y/f/z'; export default u + p.name + x + y",
			"util/one.js":  "export default 1", "x.js": "export default 'x'",
			"node_modules/y/package.json": `{"exports":{"./f/*":"./lib/*.js","./f/internal/*":null}}`, "node_modules/y/lib/z.js": "exports.default = 1; module.exports='z'",
		}, want: "1builtin pathxz"},
		"links between packages": {files: map[string]string{
			"h.js":           "export default require('a')",
			"node_modules/a": "-> .pnpm/a@1/node_modules/a", "node_modules/.pnpm/a@1/node_modules/a/index.js": "module.exports = require('b')",
			"node_modules/.pnpm/a@1/node_modules/b/index.js": "module.exports = 'pnpm'",
		}, want: "pnpm"},
		"built-in modules": {files: map[string]string{"h.js": "import p from 'node:path'; import * as f from 'fs/promises'; export default p.name + f.name"}, want: "builtin pathbuiltin fs/promises"},
		"top-level await":  {files: map[string]string{"h.js": "import {a} from './a.mjs'; export default a + await 2", "a.mjs": "export const a = await 1"}, want: "3"},
		"places": {files: map[string]string{
			"h.js":      "import c from './lib/c.cjs'; import path from 'path'; const __dirname = import.meta.dirname; export default [__dirname, import.meta.url, import.meta.filename, c].join()",
			"lib/c.cjs": "#!/usr/bin/env node\nmodule.exports = __dirname + ' ' + __filename",
		}, want: "/plugin,file:///plugin/h.js,/plugin/h.js,/plugin/lib /plugin/lib/c.cjs"},
		"universal module": {files: map[string]string{
			"h.js": "import { f } from './u.js'; export default f", "b.js": "exports.f = 'inner'",
			"u.js": "(function (factory) {\n  if (typeof module === \"object\" && typeof module.exports === \"object\") {\n    var v = factory(require, exports);\n    if (v !== undefined) module.exports = v;\n  }\n  else if (typeof define === \"function\" && define.amd) define([\"require\", \"exports\", \"./b\"], factory);\n})(function (require, exports) {\n  exports.f = require(\"./b\").f;\n});",
		}, want: "inner"},
		"computed require":  {files: map[string]string{"h.js": "const n = 'z' + 1; export default require(n)"}, want: "h.js requires z1"},
		"optional package":  {files: map[string]string{"h.js": "let x = 'none'; try { x = require('canvas') } catch {}; export default x"}, want: "required canvas"},
		"cycle":             {files: map[string]string{"h.cjs": "exports.base = 1; const p = require('./p.cjs'); module.exports = p.f()", "p.cjs": "const h = require('./h.cjs'); exports.f = () => 'c' + h.base"}, entry: "h.cjs", want: "c1"},
		"node interop":      {files: map[string]string{"package.json": `{"type":"module"}`, "h.js": "import c from './c.cjs'; export default typeof c.default", "c.cjs": "Object.defineProperty(exports, '__esModule', {value: true}); exports.default = 5"}, want: "number"},
		"modern syntax":     {files: map[string]string{"h.js": "class A { #x = 1; static { A.y = 2 } get x() { return this.#x ?? 3 } }; export default new A().x + A.y + 2n.toString()"}, want: "32"},
		"highest character": {files: map[string]string{"h.js": `export default '\u{10FFFF}'.codePointAt(0) + ` + "`\\u{10FFFF}`.length + Object.keys({'\\u{10FFFF}': 1})[0].length"}, want: "1114115"},
		"byte order mark":   {files: map[string]string{"h.js": "\ufeffexport default 1"}, want: "1"},
		"sloppy CommonJS":   {files: map[string]string{"h.js": "with ({a: 'w'}) { module.exports = a + 010 }"}, want: "w8"},
		"source map text":   {files: map[string]string{"h.js": "export default '//# sourceMappingURL=x' + `//@ sourceMappingURL=y`"}, want: "//# sourceMappingURL=x//@ sourceMappingURL=y"},
	} {
		t.Run(name, func(t *testing.T) {
			entry := tt.entry
			if entry == "" {
				entry = "h.js"
			}
			b, err := build(t, tt.files, entry)
			if err != nil {
				t.Fatal(err)
			}
			if got := run(t, b.Scripts[entry]); got != tt.want {
				t.Errorf("got %q, want %q\n%s", got, tt.want, b.Scripts[entry].Code)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"syntax":              {map[string]string{"h.js": "export default\n  x y"}, `h.js:2:5: expected ";" but found "y"`},
		"two files":           {map[string]string{"h.js": "import './a.js'; import './b.js'", "a.js": "let a = ;", "b.js": "("}, "a.js:1:9: unexpected \";\"\nb.js:1:2: unexpected end of file"},
		"column after places": {map[string]string{"h.js": "export default __dirname +;"}, `h.js:1:27: unexpected ";"`},
		"missing file":        {map[string]string{"h.js": "\nimport './nope.js'"}, `h.js:2:8: no such file: "./nope.js"`},
		"missing package":     {map[string]string{"h.js": "import x from 'nope'"}, `h.js:1:15: could not resolve "nope"`},
		"missing handler":     {map[string]string{}, `the handler file "h.js" does not exist`},
		"unknown built-in":    {map[string]string{"h.js": "import 'node:pth'"}, `h.js:1:8: there is no built-in module "node:pth"; did you mean "node:path"?`},
		"above the folder":    {map[string]string{"h.js": "import '../other/x.js'"}, `h.js:1:8: import of "../other/x.js" is refused: it leaves the plugin's folder`},
		"absolute":            {map[string]string{"h.js": "import '/etc/passwd'"}, `h.js:1:8: import of "/etc/passwd" is refused: it leaves the plugin's folder`},
		"link out":            {map[string]string{"h.js": "import './x.json'", "x.json": "-> ../../secret.json"}, `h.js:1:8: import of "./x.json" is refused: it leaves the plugin's folder`},
		"absolute link":       {map[string]string{"h.js": "import './x.js'", "x.js": "-> /etc/hostname"}, `h.js:1:8: import of "./x.js" is refused: it leaves the plugin's folder`},
		"linked package out":  {map[string]string{"h.js": "import 'a'", "node_modules/a": "-> ../../a"}, `h.js:1:8: import of "a" is refused: it leaves the plugin's folder`},
		"main out":            {map[string]string{"h.js": "import 'a'", "node_modules/a/package.json": `{"main":"../../../../x.js"}`}, `h.js:1:8: import of "a" is refused: it leaves the plugin's folder`},
		"network":             {map[string]string{"h.js": "import 'https://example.com/x.js'"}, `h.js:1:8: "https://example.com/x.js" cannot be imported: modules come from the plugin's folder only`},
		"file URL":            {map[string]string{"h.js": "import 'file:///etc/passwd'"}, `h.js:1:8: "file:///etc/passwd" cannot be imported: modules come from the plugin's folder only`},
		"native addon":        {map[string]string{"h.js": "require('./x.node')", "x.node": ""}, "x.node:0:0: native addons cannot be loaded by this runtime; use a pure JavaScript package"},
		"unknown kind":        {map[string]string{"h.js": "import './x.bin'", "x.bin": ""}, `x.bin:0:0: files ending in ".bin" cannot be imported; read the file with node:fs, or import it with { type: "text" }`},
		"brackets":            {map[string]string{"h.js": "export default 1;\n" + strings.Repeat("[", 3000)}, "h.js:2:2002: the code is nested more than 2000 brackets deep"},
		"groups":              {map[string]string{"h.js": "export default\n  /" + strings.Repeat("(", 501) + strings.Repeat(")", 501) + "/"}, "h.js:2:1007: a regular expression is refused: its groups are nested more than 500 deep"},
		"json brackets":       {map[string]string{"h.js": "import './d.json'", "d.json": strings.Repeat("[", 300_000)}, "d.json:1:2002: the code is nested more than 2000 brackets deep"},
		"templates":           {map[string]string{"h.js": strings.Repeat("`${", 300_000)}, "h.js:1:6004: the code is nested more than 2000 brackets deep"},
		"prefixes":            {map[string]string{"h.js": strings.Repeat("!", 2_000_000) + "1"}, "h.js:1:10002: one expression has more than 10000 operators"},
		"arrows":              {map[string]string{"h.js": strings.Repeat("a=>", 500_000) + "1"}, "h.js:1:15003: one expression has more than 10000 operators"},
		"else":                {map[string]string{"h.js": "if(0){}" + strings.Repeat("else if(0){}", 300_000)}, "h.js:1:1200012: the file has more than 100000 else branches"},
		"sum":                 {map[string]string{"h.js": "x=1" + strings.Repeat("+1", 1_000_000)}, "h.js:1:20003: one expression has more than 10000 operators"},
		"too large":           {map[string]string{"h.js": "/*" + strings.Repeat("x", 9<<20) + "*/"}, "h.js:0:0: reading the file: the file is larger than the limit of 8388608 bytes"},
		"folder as handler":   {map[string]string{"h.js/x": ""}, `the handler file "h.js" does not exist`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := build(t, tt.files, "h.js")
			var list *bundle.Error
			if !errors.As(err, &list) {
				t.Fatalf("got %v, want a list of problems", err)
			}
			if got := err.Error(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// What was probably meant is said apart from what is wrong.
func TestHints(t *testing.T) {
	for name, tt := range map[string]struct {
		files         map[string]string
		message, hint string
	}{
		"ending left out":   {map[string]string{"h.js": "import './lib/helpr'", "lib/helper.ts": ""}, `no such file: "./lib/helpr"`, `did you mean "./lib/helper"?`},
		"with ending":       {map[string]string{"h.js": "require('./helpr.js')", "helper.js": ""}, `no such file: "./helpr.js"`, `did you mean "./helper.js"?`},
		"from a helper":     {map[string]string{"h.js": "import './lib/a.js'", "lib/a.js": "import '../utils/dats.js'", "utils/data.js": ""}, `no such file: "../utils/dats.js"`, `did you mean "../utils/data.js"?`},
		"no folder":         {map[string]string{"h.js": "import './libs/helper'", "lib/helper.ts": ""}, `no such file: "./libs/helper"`, `there is no folder "libs" in the plugin`},
		"folder":            {map[string]string{"h.js": "import './lib'", "lib/helper.ts": ""}, `no such file: "./lib"`, "it is a folder without an index file"},
		"nothing near":      {map[string]string{"h.js": "import './zzzzzz'"}, `no such file: "./zzzzzz"`, "relative imports start at the folder of the file that has them"},
		"package":           {map[string]string{"h.js": "import 'lodash'"}, `could not resolve "lodash"`, "install the package into the plugin's own node_modules, or correct the name"},
		"built-in":          {map[string]string{"h.js": "import 'pth'"}, `could not resolve "pth"`, `did you mean "node:path"? otherwise install the package into the plugin's own node_modules`},
		"not exported":      {map[string]string{"h.js": "import 'a/x'", "node_modules/a/package.json": `{"exports": {".": "./a.js"}}`, "node_modules/a/a.js": ""}, `the package "a" exports no "./x"`, `see "exports" in its package.json`},
		"no main":           {map[string]string{"h.js": "import 'a'", "node_modules/a/lib/a.js": ""}, `the package "a" has no main file`, "its package.json names none that exists; import a file of it by its path"},
		"private import":    {map[string]string{"h.js": "import '#x'", "package.json": "{}"}, `no such import: "#x"`, `names with "#" are those under "imports" in the plugin's package.json`},
		"handler":           {map[string]string{"handler.js": ""}, `the handler file "h.js" does not exist`, ""},
		"handler misspelt":  {map[string]string{"H.js": ""}, `the handler file "h.js" does not exist`, `did you mean "H.js"?`},
		"typed":             {map[string]string{"h.js": "interface P { x: number }\nexport default (p: P) => p.x"}, `expected ";" but found "P"`, `this is TypeScript: name the file "h.ts"`},
		"typed helper":      {map[string]string{"h.js": "import './lib/a.mjs'", "lib/a.mjs": "const x: number = 1"}, `expected ";" but found ":"`, `this is TypeScript: name the file "a.mts"`},
		"out of the folder": {map[string]string{"h.js": "require('/etc/passwd')"}, `import of "/etc/passwd" is refused: it leaves the plugin's folder`, ""},
		"mistake":           {map[string]string{"h.js": "let = ;;; ("}, `unexpected ";"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := build(t, tt.files, "h.js")
			var list *bundle.Error
			if !errors.As(err, &list) {
				t.Fatalf("got %v, want a list of problems", err)
			}
			if p := list.Problems[0]; p.Message != tt.message || p.Hint != tt.hint {
				t.Errorf("got  %q, %q\nwant %q, %q", p.Message, p.Hint, tt.message, tt.hint)
			}
		})
	}
}

// A handler path itself may not lead out, and a fifo must not block the build.
func TestHostileFiles(t *testing.T) {
	root := folder(t, map[string]string{"h.js": "export default 1", "out.js": "-> ../x.js", "p/h.js": "import './l.js'", "p/l.js": "-> l.js"})
	for _, name := range []string{"fifo.js", "package.json"} {
		if err := syscall.Mkfifo(filepath.Join(root.Name(), name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for handler, want := range map[string]string{
		"../h.js": "leaves the plugin's folder", "out.js": "leaves the plugin's folder", "/etc/passwd.js": "does not exist",
		"fifo.js": "not a regular file", "p/h.js": "too many levels of symbolic links",
	} {
		if _, err := builder().Build(t.Context(), root, []string{handler}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", handler, err, want)
		}
	}
	if _, err := builder().Build(t.Context(), root, []string{"h.js"}); err != nil {
		t.Errorf("a fifo named package.json: %v", err)
	}
}

// A comment that names a source map must not make the bundler read it: a fifo without a
// writer would block it for ever.
func TestSourceMapCommentsAreNotFollowed(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, comment := range []string{"//# sourceMappingURL=file://", "//@ sourceMappingURL=file://localhost", "/*# sourceMappingURL=file://"} {
		_, err := build(t, map[string]string{"h.js": "export default 1\n" + comment + fifo + " */"}, "h.js")
		if err != nil {
			t.Errorf("%s: %v", comment, err)
		}
	}
}

// What lies beside the plugin's folder has no say: neither packages nor settings.
func TestNothingOutsideCounts(t *testing.T) {
	root := folder(t, map[string]string{"h.tsx": "import 'a'; export default <b/>"})
	above := filepath.Dir(root.Name())
	for name, text := range map[string]string{
		"tsconfig.json": `{"compilerOptions":{"jsxFactory":"evil"}}`, "package.json": `{"type":"module"}`, "node_modules/a/index.js": "",
	} {
		file := filepath.Join(above, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := builder().Build(t.Context(), root, []string{"h.tsx"})
	if err == nil || !strings.Contains(err.Error(), `could not resolve "a"`) {
		t.Errorf("got %v", err)
	}
}

// Handlers that await at their top level do not change what their neighbours are.
func TestMixedHandlers(t *testing.T) {
	files := map[string]string{"a.mjs": "export default await 1", "b.cjs": "module.exports = 2", "c.ts": "export = 3", "d.js": "exports.default = 4"}
	b, err := build(t, files, "a.mjs", "b.cjs", "c.ts", "d.js")
	if err != nil {
		t.Fatal(err)
	}
	for handler, want := range map[string]string{"a.mjs": "1", "b.cjs": "2", "c.ts": "3"} {
		if got := run(t, b.Scripts[handler]); got != want {
			t.Errorf("%s: got %q, want %q", handler, got, want)
		}
	}
}

func TestInputs(t *testing.T) {
	b, err := build(t, map[string]string{
		"a.js": "import './lib/c.js'; import 'p'", "b.js": "import './lib/c.js'", "lib/c.js": "", "unused.js": "(",
		"node_modules/p/package.json": `{"main":"m.js"}`, "node_modules/p/m.js": "",
	}, "b.js", "a.js", "a.js")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, in := range b.Inputs {
		names = append(names, in.Path)
	}
	want := "a.js b.js lib/c.js node_modules/p/m.js node_modules/p/package.json"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(b.Scripts) != 2 {
		t.Errorf("got %d scripts, want 2", len(b.Scripts))
	}
}

func TestPositions(t *testing.T) {
	b, err := build(t, map[string]string{
		"h.js":     "import { boom } from './lib/b.ts';\n\nexport default () => boom(__dirname);",
		"lib/b.ts": "interface X { a: number }\nexport function boom(x: string): never { throw new Error(x) }",
		"one.js":   "export default function f() { throw new Error(__filename) }",
	}, "h.js", "one.js")
	if err != nil {
		t.Fatal(err)
	}
	for handler, tt := range map[string]struct{ mark, want string }{
		"h.js":   {"throw new", "lib/b.ts:2:42"},
		"one.js": {"throw new", "one.js:1:31"},
	} {
		s := b.Scripts[handler]
		p, err := s.Map.Open()
		if err != nil {
			t.Fatal(err)
		}
		before, _, _ := strings.Cut(s.Code, tt.mark)
		line, column := strings.Count(before, "\n")+1, len(before)-strings.LastIndexByte(before, '\n')
		file, l, c, ok := p.Find(line, column)
		if got := fmt.Sprintf("%s:%d:%d", file, l, c); got != tt.want || !ok {
			t.Errorf("%s: %d:%d is %s, want %s\n%s", handler, line, column, got, tt.want, s.Code)
		}
	}
}

func TestBuildWaitsForASlot(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	b := bundle.New(&bundle.Options{Parallel: 1})
	root := folder(t, map[string]string{"h.js": ""})
	for range 50 { // select takes either way where both are open
		if _, err := b.Build(ctx, root, []string{"h.js"}); err != nil && !errors.Is(err, why) {
			t.Fatal(err)
		}
	}
}

func FuzzBuild(f *testing.F) {
	for _, s := range []string{"export default 1", "import './h.js'", "`${`${1}`}`", "/[/]\"/.test(x)", "await 1", "a/b/c", "<a/>", "'\\u{10FFFF}'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code string) {
		root := folder(t, map[string]string{"h.js": code})
		b, err := builder().Build(t.Context(), root, []string{"h.js"})
		var list *bundle.Error
		switch {
		case errors.As(err, &list):
			if len(list.Problems) == 0 {
				t.Error("an error without problems")
			}
		case err != nil:
			t.Error(err)
		case b.Scripts["h.js"].Code == "":
			t.Error("no code")
		}
	})
}

// TestModules keeps the bundler's helpers out of what is looked through for words.
func TestModules(t *testing.T) {
	b, err := build(t, map[string]string{"h.js": `module.exports = () => "mine";`}, "h.js")
	if err != nil {
		t.Fatal(err)
	}
	code, modules := b.Scripts["h.js"].Code, b.Scripts["h.js"].Modules()
	if !strings.Contains(code, "__commonJS = ") || strings.Contains(modules, "__commonJS = ") {
		t.Errorf("the modules begin with\n%.200s", modules)
	}
	if !strings.Contains(modules, `"mine"`) {
		t.Errorf("the module itself is missing in\n%s", modules)
	}
}

// Handler modules that are built together share what they import.
func TestBuildTogether(t *testing.T) {
	files := map[string]string{
		"lib/count.js": "export let n = 0; export const next = () => ++n",
		"a.js":         "import { next } from './lib/count.js'; next(); export default () => next()",
		"b.mjs":        "const { next } = await import('./lib/count.js'); export default () => next()",
	}
	b, err := builder().BuildTogether(t.Context(), folder(t, files), []string{"b.mjs", "a.js", "a.js"})
	if err != nil {
		t.Fatal(err)
	}
	s := b.Scripts[bundle.Together]
	if len(b.Scripts) != 1 || s == nil || !s.Async || len(b.Inputs) != 3 {
		t.Fatalf("got %d scripts, %v, %d inputs", len(b.Scripts), s, len(b.Inputs))
	}
	vm := goja.New()
	vm.SetParserOptions(parser.WithDisableSourceMaps)
	v, err := vm.RunScript("script.js", s.Code)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := goja.AssertFunction(v)
	var got []string
	host := vm.NewObject()
	add := func(v goja.Value, name string) {
		handler, _ := goja.AssertFunction(v)
		n, err := handler(goja.Undefined())
		got = append(got, name+" "+n.String()+fmt.Sprint(err))
	}
	for member, f := range map[string]any{"export": func(o *goja.Object, name string) { add(o.Get("default"), name) }, "common": add} {
		if err := host.Set(member, f); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f(goja.Undefined(), goja.Undefined(), host); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a.js 2<nil>", "b.mjs 3<nil>"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err = builder().BuildTogether(t.Context(), folder(t, files), []string{"a.js", "c.js"})
	var bad *bundle.Error
	if !errors.As(err, &bad) || len(bad.Problems) != 1 || !strings.Contains(bad.Problems[0].Message, `"c.js" does not exist`) {
		t.Errorf("got %v", err)
	}
}
