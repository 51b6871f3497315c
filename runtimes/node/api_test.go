package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// apiEngine is an engine with nothing but the API.
func apiEngine(tb testing.TB) *engine {
	tb.Helper()
	e := newEngine(context.Background(), "/plugin", nil, slog.New(slog.DiscardHandler))
	e.takeOwn(ownNamesIn("eval", computed{}))
	return e
}

// TestLibraries loads every library and every module, each in a fresh engine.
func TestLibraries(t *testing.T) {
	err := fs.WalkDir(libFiles, "lib", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		newLibrary(strings.TrimSuffix(d.Name(), ".js")).compile()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range builtinModules {
		if m, ok := apiEngine(t).require(name); !ok || m == nil {
			t.Errorf("module %q: nothing", name)
		}
	}
	for name := range internalModules {
		apiEngine(t).internal(name)
	}
	for name := range builtinGlobals {
		if v := apiEngine(t).vm.Get(name); v == nil || goja.IsUndefined(v) {
			t.Errorf("global %q: nothing", name)
		}
	}
}

// TestUnsupportedModules checks that importing succeeds and using says what to do instead.
func TestUnsupportedModules(t *testing.T) {
	for _, name := range unsupportedModules {
		e := apiEngine(t)
		if _, err := e.vm.RunString("0"); err != nil {
			t.Fatal(err)
		}
		m, _ := e.require(name)
		if err := e.vm.Set("m", m); err != nil {
			t.Fatal(err)
		}
		v, err := e.vm.RunString(`
			class A extends m.Anything {}
			const copy = Object.create(Object.getPrototypeOf(m));
			const all = [];
			for (const f of [() => m.frobnicate(), () => new A(), () => copy.frobnicate()]) {
				try { f(); all.push('no error'); } catch (e) { all.push(e.code + ' ' + e.message); }
			}
			[m.then, m.__esModule, ...all].join('\n')`)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		lines := strings.Split(v.String(), "\n")
		if len(lines) != 5 || lines[0] != "" || lines[1] != "" {
			t.Errorf("%s: %q", name, lines)
			continue
		}
		for _, line := range lines[2:] {
			if !strings.HasPrefix(line, "ERR_UNSUPPORTED_IN_HOST "+name+".") || !strings.Contains(line, "; ") || strings.HasSuffix(line, "; undefined") {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
	// What Node.js itself can give, or a program, is said where code would use it.
	for use, way := range map[string]string{
		"vm.runInNewContext": `"engine": "node"`, "worker_threads.Worker": `"engine": "node"`, "v8.serialize": `"engine": "node"`, "wasi.WASI": `"engine": "node"`,
		"domain.create": `"engine": "node"`, "child_process.spawn": `"runtime": "process"`, "cluster.fork": `"runtime": "process"`,
	} {
		e := apiEngine(t)
		name, member, _ := strings.Cut(use, ".")
		m, _ := e.require(name)
		if err := e.vm.Set("m", m); err != nil {
			t.Fatal(err)
		}
		if got := e.eval(t, `try { new m.`+member+`(); 'no error' } catch (e) { e.message }`); !strings.HasPrefix(got, use+" is not available") || !strings.Contains(got, way) {
			t.Errorf("%s: %q", use, got)
		}
	}
	e := apiEngine(t)
	if _, ok := e.require("no-such-module"); ok {
		t.Error("a module that Node does not have was found")
	}
	if _, ok := e.require("internal/errors"); ok {
		t.Error("a plugin can require an internal module")
	}
}

// eval runs a script in an engine and gives its value as text.
func (e *engine) eval(tb testing.TB, script string) string {
	tb.Helper()
	v, err := e.vm.RunString(script)
	if err != nil {
		tb.Fatalf("%s: %v", script, err)
	}
	return v.String()
}

func TestLocaleNeverWrong(t *testing.T) {
	e := apiEngine(t)
	e.installLanguage(languageFor("eval"))
	for _, script := range []string{
		`(5).toLocaleString('de-DE')`, `new Date(0).toLocaleDateString('pl')`, `'a'.localeCompare('b', 'sv')`, `'I'.toLocaleLowerCase('tr')`,
		`new Intl.NumberFormat('en-US', {notation: 'scientific'})`, `new Intl.DateTimeFormat('fr')`, `new Intl.Segmenter()`, `new Intl.RelativeTimeFormat('de')`, `new Intl.DisplayNames('en', {type: 'region'})`,
		`(5).toLocaleString('en-US', {style: 'unit', unit: 'liter'})`, `new Date(0).toLocaleString('en-US', {timeZoneName: 'long'})`, `(1).toLocaleString('en-US', {minimumSignificantDigits: 3})`,
	} {
		_, err := e.vm.RunString(script)
		var thrown *goja.Exception
		if !errors.As(err, &thrown) || thrown.Value().ToObject(e.vm).Get("code").String() != "ERR_UNSUPPORTED_IN_HOST" || !strings.Contains(err.Error(), "en-US only") {
			t.Errorf("%s: %v", script, err)
		}
	}
}

func TestRegExpSyntaxErrors(t *testing.T) {
	for script, want := range map[string]string{
		`new RegExp('a', 'd')`:                      "flag d",
		`new RegExp('[a--b]', 'v')`:                 "set operation --",
		`new RegExp('[[a]b]', 'v')`:                 "a class in a class",
		`new RegExp('[\\q{abc}]', 'v')`:             "a string in a class",
		`new RegExp('\\p{Script=Klingon}', 'u')`:    "invalid property name",
		`new RegExp('\\p{Changes_When_NFKC}', 'u')`: "unknown, or not available",
	} {
		e := apiEngine(t)
		got := e.eval(t, `try { `+script+`; 'no error' } catch (e) { e.name + ': ' + e.message }`)
		if !strings.HasPrefix(got, "SyntaxError: ") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", script, got)
		}
	}
	e := apiEngine(t)
	if got := e.eval(t, `const r = new RegExp('\\p{L}+', 'v'); r.exec('-ż-')[0] + r.flags + r.unicodeSets`); got != "żvtrue" {
		t.Errorf("flag v: %s", got)
	}
}

// TestHostSurvivesPatches patches what the libraries are made of before they are loaded.
func TestHostSurvivesPatches(t *testing.T) {
	e := apiEngine(t)
	_, err := e.vm.RunString(`
		for (const C of [Array, String, Object, Function, Map, Set, Promise, Error, TypeError, RegExp, Uint8Array, Reflect, JSON, Math, Symbol]) {
			const o = C.prototype ?? C;
			for (const k of Object.getOwnPropertyNames(o)) { if (k !== 'constructor') { try { o[k] = () => { throw 'patched'; }; } catch {} } }
		}`)
	if err != nil {
		t.Fatal(err)
	}
	for name := range builtinGlobals {
		// It may throw, but what it throws is script's, never a panic of Go.
		if _, err := e.vm.RunString("try { void " + name + " } catch {}"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConsoleLimit(t *testing.T) {
	var got []string
	var size int
	e := newEngine(context.Background(), "/plugin", nil, slog.New(recorder(func(r slog.Record) {
		got = append(got, r.Message)
		size += len(r.Message)
	})))
	e.eval(t, `for (let i = 0; i < 100000; i++) console.log('line ' + i); console.error('x'.repeat(1000)); 0`)
	if size > maxLog+200 || len(got) > maxLog/logLine+2 {
		t.Errorf("%d lines, %d bytes reached the log", len(got), size)
	}
	if last := got[len(got)-1]; !strings.Contains(last, "the rest is dropped") {
		t.Errorf("the last line is %q", last)
	}
}

// recorder is a slog.Handler that hands records on.
type recorder func(slog.Record)

func (recorder) Enabled(context.Context, slog.Level) bool        { return true }
func (h recorder) Handle(_ context.Context, r slog.Record) error { h(r); return nil }
func (h recorder) WithAttrs([]slog.Attr) slog.Handler            { return h }
func (h recorder) WithGroup(string) slog.Handler                 { return h }

func TestConsoleLevels(t *testing.T) {
	var got []string
	e := newEngine(context.Background(), "/plugin", nil, slog.New(recorder(func(r slog.Record) { got = append(got, r.Level.String()+" "+r.Message) })))
	e.eval(t, `console.log('%s is %d', 'a', 1, {b: 2}); console.warn('w'); console.error('e'); console.debug('d'); console.group('g'); console.info('in\nside'); console.groupEnd();
		console.count(); console.count('x'); console.count(); console.assert(true, 'no'); console.assert(false, 'yes %s', 1); console.table([{a: 1, b: 'x'}, {a: 2}]); console.dir({a: {b: {c: {}}}});
		process.stdout.write('half '); process.stdout.write('line\nrest'); process.stderr.write('bad\n'); 0`)
	want := `INFO a is 1 { b: 2 }
WARN w
ERROR e
DEBUG d
INFO g
INFO   in
  side
INFO default: 1
INFO x: 1
INFO default: 2
WARN Assertion failed: yes 1
INFO ┌─────────┬───┬─────┐
│ (index) │ a │  b  │
├─────────┼───┼─────┤
│    0    │ 1 │ 'x' │
│    1    │ 2 │     │
└─────────┴───┴─────┘
INFO { a: { b: { c: {} } } }
INFO half line
ERROR bad`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// BenchmarkTouch tells what a fresh engine costs in which one thing is used.
func BenchmarkTouch(b *testing.B) {
	for _, script := range []string{"0", "console.log('x')", "console.log({a: 1})", "Buffer.from('a')", "new TextEncoder()", "setTimeout", "process.cwd()", "new URL('http://x')", "/\\p{L}/", "new RegExp('a')", "queueMicrotask(() => {})"} {
		program := goja.MustCompile("bench.js", script, false)
		b.Run(script, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := apiEngine(b).vm.RunProgram(program); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, name := range []string{"path", "fs", "events", "util", "stream"} {
		b.Run(fmt.Sprintf("require %s", name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				apiEngine(b).require(name)
			}
		})
	}
	b.Run("fs/promises.readFile", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m, _ := apiEngine(b).require("fs/promises")
			m.ToObject(nil).Get("readFile")
		}
	})
}

// TestBigRequests asks for more memory than a call gets. The code names none of the
// functions that the engine limits, so the API must.
func TestBigRequests(t *testing.T) {
	for _, script := range []string{
		"Buffer.alloc(4e9)", "Buffer.allocUnsafe(2 ** 31)", "new Buffer(3e9)", "Buffer.from({length: 4e9})", "Buffer.concat([Buffer.alloc(1)], 4e9)",
		"crypto.getRandomValues(Buffer.alloc(1e9))", "Buffer.alloc(200e6).toString('hex')", "Buffer.alloc(200e6).toString()", "Buffer.alloc(1).buffer.transfer(8e9)",
	} {
		e := apiEngine(t)
		e.installLanguage(languageFor(script))
		if got := e.eval(t, "try { "+script+"; 'no error' } catch (e) { 'error ' + e.message }"); !strings.HasPrefix(got, "error ") {
			t.Errorf("%s: %s", script, got)
		}
	}
	e := apiEngine(t)
	if got := e.eval(t, "atob('QUJD'.repeat(1e6)).length + btoa('x'.repeat(3e6)).length"); got != "7000000" {
		t.Error(got)
	}
}
