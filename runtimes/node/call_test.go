package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes/node"
)

func TestThrows(t *testing.T) {
	for name, tt := range map[string]struct{ body, want, log string }{
		"error":             {"throw new TypeError('column \"age\" is missing')", `! column "age" is missing`, "tool.js:2:7"},
		"subclass":          {"class Q extends Error {}; throw new Q('quota')", "! quota", "tool.js:2"},
		"string":            {"throw 'on fire'", "! on fire", ""},
		"object":            {"throw {code: 'E', message: 'locked'}", "! locked", ""},
		"no message":        {"throw new RangeError('')", "! the handler threw RangeError without a message", "tool.js:2:7"},
		"code only":         {"throw Object.assign(new Error(''), {code: 'E_X'})", "! the handler threw Error without a message (code E_X)", ""},
		"object without":    {"throw {error: {status: 404, why: 'gone'}}", `! the handler threw {"error":{"status":404,"why":"gone"}}`, ""},
		"list":              {"throw ['a', 2]", `! the handler threw ["a",2]`, ""},
		"empty object":      {"throw {}", "! the handler threw object without a message", ""},
		"cyclic object":     {"const a = {b: 1}; a.a = a; throw a", "! the handler threw object without a message", ""},
		"large object":      {"throw {a: 'x'.repeat(5e6)}", "! the handler threw object without a message", ""},
		"empty text":        {"throw '  '", "! the handler threw an empty text", ""},
		"number":            {"throw 42", "! 42", ""},
		"null":              {"throw null", "! the handler threw null", ""},
		"undefined":         {"throw undefined", "! the handler threw undefined", ""},
		"symbol":            {"throw Symbol('s')", "! the handler threw Symbol(s)", ""},
		"throwing getter":   {"throw {get message() { throw 1 }}", "! the handler threw a value that cannot be described", ""},
		"throwing text":     {"throw {message: {toString() { throw 1 }}}", "! the handler threw a value that cannot be described", ""},
		"revoked proxy":     {"const {proxy, revoke} = Proxy.revocable({}, {}); revoke(); throw proxy", "! the handler threw a value that cannot be described", ""},
		"aggregate, named":  {"throw new AggregateError([new Error('a')], 'two of them failed')", "! two of them failed", ""},
		"aggregate":         {"await Promise.any([Promise.reject(new Error('a')), Promise.reject(new Error('b'))])", "! a; b", ""},
		"lone surrogate":    {"throw new Error('bad \\ud83d')", "! bad \ufffd", ""},
		"rejected later":    {"return new Promise((_, no) => setTimeout(() => no(new Error('late')), 5))", "! late", "tool.js:2"},
		"thrown in timer":   {"setTimeout(() => { throw new Error('in a timer') }, 1); return new Promise((r) => setTimeout(r, 50000))", "! in a timer", "tool.js:2"},
		"nobody handles":    {"Promise.reject(new Error('nobody awaits me')); return 'finished'", "finished", "nobody awaits me"},
		"after await":       {"await null; const f = () => { throw new Error('deep') };\n\n f()", "! deep", "tool.js:4"},
		"never settles":     {"return new Promise(() => {})", "! the handler waits for something that can never happen: its promise is not settled, and no timer or operation is left", ""},
		"recursion":         {"const f = (n) => f(n + 1) + 1; return f(0)", "! RangeError: Maximum call stack size exceeded", "tool.js:2"},
		"recursive text":    {"const o = { toString() { return '' + o } }; return '' + o", "! RangeError: Maximum call stack size exceeded", ""},
		"recursive toJSON":  {"const o = { toJSON() { return JSON.stringify(o) } }; return JSON.stringify(o)", "! RangeError: Maximum call stack size exceeded", ""},
		"recursive proxy":   {"const p = new Proxy({}, { get: (t, k, r) => r[k] }); return p.x", "! RangeError: Maximum call stack size exceeded", ""},
		"recursive sort":    {"const f = () => [2, 1].sort(f); return f()", "! RangeError: Maximum call stack size exceeded", ""},
		"recursive replace": {"const f = () => 'a'.replace(/a/, f); return f()", "! RangeError: Maximum call stack size exceeded", ""},
		"engine panics":     {`return eval("'\\u{10FFFF}'.length")`, "! internal error of the JavaScript engine; the host's log has more", "the engine panicked"},
		"cyclic array":      {"const a = [1]; a.push(a); return String(a)", "1,", ""},
		"cyclic flat":       {"const a = []; a[0] = a; return a.flat(Infinity)", "! Invalid array nesting: it is deeper than this host's limit of 1000", ""},
		"deep JSON text":    {"return JSON.parse('['.repeat(200000) + ']'.repeat(200000)).length", "! the text is nested more than 1000 levels deep, which is as deep as JSON may be here", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, map[string]string{"tool.js": handler(tt.body)}, 10*time.Second)
			if got := p.call(t, "tool", "{}"); got != tt.want {
				t.Errorf("got %.300q, want %q", got, tt.want)
			}
			if log := p.log.String(); !strings.Contains(log, tt.log) {
				t.Errorf("the log lacks %q:\n%s", tt.log, log)
			}
			if log := p.log.String(); strings.Contains(log, "bundle:") || strings.Contains(log, "native)") {
				t.Errorf("the log shows frames of the host:\n%s", log)
			}
		})
	}
}

// A deadline ends whatever a script does, the answer comes at once, and the engine goes too.
func TestDeadline(t *testing.T) {
	for name, body := range map[string]string{
		"loop":     "for (;;) {}",
		"catch":    "for (;;) { try { for (;;) {} } catch {} finally {} }",
		"jobs":     "const again = () => Promise.resolve().then(again); await again()",
		"sort":     "[3, 2, 1].sort(() => { for (;;) {} })",
		"getter":   "return {get x() { for (;;) {} }}",
		"toJSON":   "return {toJSON() { for (;;) {} }}",
		"message":  "throw {get message() { for (;;) {} }}",
		"interval": "setInterval(() => {}, 1); await new Promise(() => {})",
		"timers":   "(function f() { setTimeout(f, 0); setTimeout(f, 0) })(); await new Promise(() => {})",
		"thenable": "return {then() { for (;;) {} }}",
		"await":    "for (;;) await null",
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, map[string]string{"tool.js": handler(body)}, 100*time.Millisecond)
			if got := p.call(t, "tool", "{}"); got != `! tool "tool" timed out after 100ms` {
				t.Errorf("got %q", got)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			if err := p.instance.Close(ctx); err != nil {
				t.Errorf("the engine goes on: %v", err)
			}
			// Where it was is in the log, since the answer cannot say it.
			switch log := p.log.String(); name {
			case "loop", "catch", "sort":
				if !strings.Contains(log, "the handler was stopped") || !strings.Contains(log, "(tool.js:") {
					t.Errorf("the log does not say where the handler was: %s", log)
				}
			}
		})
	}
}

// A caller that cancels is told so, and the script ends.
func TestCancel(t *testing.T) {
	p := open(t, map[string]string{"tool.js": handler("ctx.progress('started'); for (;;) await new Promise((r) => setTimeout(r, 1))")}, time.Minute)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	_, err := p.host.Call(ctx, &host.Call{Tool: "tool", Progress: func(string) { cancel(why) }})
	if !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if err := p.instance.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// Nothing of one call is seen by the next, whatever it did.
func TestIsolation(t *testing.T) {
	p := open(t, map[string]string{
		"vandal.js": "let n = 0;" + handler("globalThis.leaked = 1; Array.prototype.map = () => 'hacked'; Object.freeze(Object.prototype); JSON.stringify = () => 'hacked'; return ++n"),
		"victim.js": handler("return [typeof leaked, [1].map((x) => x + 1), JSON.stringify({a: 1})]"),
	}, 10*time.Second)
	for range 2 {
		if got := p.call(t, "vandal", "{}"); got != "1" {
			t.Errorf("got %q", got)
		}
		if got := p.call(t, "victim", "{}"); got != `["undefined",[2],"{\"a\":1}"]` {
			t.Errorf("got %q", got)
		}
	}
}

func TestExports(t *testing.T) {
	p := open(t, map[string]string{
		"a.js": "export default ({n}) => 'default ' + n", "b.cjs": "module.exports = ({n}) => 'exports ' + n",
		"c.cjs": "exports.default = ({n}) => 'exports.default ' + n", "d.cjs": "Object.defineProperty(exports, '__esModule', {value: true}); exports.default = ({n}) => 'marked ' + n",
		"e.cjs": "exports.helper = () => 'no'; exports.handler = ({n}) => 'named ' + n", "f.mjs": "export const helper = 1; export async function handler({n}) { return 'esm ' + n }",
		"g.ts": "export default async (p: {n: number}): Promise<string> => `ts ${p.n}`", "h.mjs": "const x = await Promise.resolve(2); export default ({n}) => 'tla ' + n * x",
		"i.cjs": "module.exports = {default: {handler: ({n}) => 'nested ' + n}}",
	}, 10*time.Second)
	for tool, want := range map[string]string{
		"a": "default 4", "b": "exports 4", "c": "exports.default 4", "d": "marked 4", "e": "named 4", "f": "esm 4", "g": "ts 4", "h": "tla 8", "i": "nested 4",
	} {
		if got := p.call(t, tool, `{"n":4}`); got != want {
			t.Errorf("%s: got %q, want %q", tool, got, want)
		}
	}
}

func TestLoadProblems(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"syntax":      {map[string]string{"tool.js": "export default\n  x y"}, `tool.js:2:5: expected ";" but found "y"`},
		"throws":      {map[string]string{"tool.js": "\nimport './lib/a.ts'; export default () => 1", "lib/a.ts": "type T = string\n\nconst f = () => { throw new Error('no key') }\nf()"}, "lib/a.ts:3:25: evaluating the module failed: no key"},
		"no handler":  {map[string]string{"tool.cjs": "module.exports = {run() {}}"}, "tool.cjs: the module exports no handler"},
		"no function": {map[string]string{"tool.js": "export default 5"}, "tool.js: the module exports no handler"},
		"waits":       {map[string]string{"tool.js": "await new Promise(() => {}); export default () => 1"}, "tool.js: the module waits at its top level for something that can never happen"},
		"rejects":     {map[string]string{"tool.js": "await Promise.reject(new Error('late')); export default () => 1"}, "tool.js:1:22: evaluating the module failed: late"},
		"two":         {map[string]string{"a.js": "export default 1", "b.js": "throw 'x'"}, "a.js: the module exports no handler\nb.js: evaluating the module failed: x"},
		"recursion":   {map[string]string{"tool.js": "const f = () => f(); f(); export default f"}, "tool.js:1:17: evaluating the module failed: RangeError: Maximum call stack size exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := problems(t, nil, tt.files).Error(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestLoadLimit(t *testing.T) {
	got := problems(t, &node.Options{LoadLimit: 500 * time.Millisecond}, map[string]string{"tool.js": "for (;;) {}; export default () => 1"}).Error()
	if want := "tool.js: the module was not evaluated within 500ms"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Script text must not make the engine read files by naming a source map: reading a fifo
// without a writer would never end.
func TestSourceMapsAreNotRead(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	comment := "\\n//# sourceMappingURL=file://" + fifo
	p := open(t, map[string]string{"tool.js": handler(`
		eval('1`+comment+`'); (0, eval)('1`+comment+`'); new Function('return 1`+comment+`')();
		try { eval('(`+comment+`') } catch {}
		return 'fine'`) + "\n//# sourceMappingURL=file://" + fifo}, 10*time.Second)
	if got := p.call(t, "tool", "{}"); got != "fine" {
		t.Errorf("got %q", got)
	}
}

func TestClose(t *testing.T) {
	p := open(t, map[string]string{"tool.js": handler("ctx.progress('started'); await new Promise((r) => setTimeout(r, 50)); return 'done'")}, time.Minute)
	started := make(chan bool, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		r, err := p.host.Call(t.Context(), &host.Call{Tool: "tool", Progress: func(string) { started <- true }})
		if err != nil || r.Content[0].Text() != "done" {
			t.Errorf("a call that ran when the instance was closed: %v, %v", r, err)
		}
	})
	<-started
	if err := p.instance.Close(t.Context()); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if _, err := p.instance.Handler("tool").Handle(t.Context(), &host.Call{Tool: "tool", Args: json.RawMessage("{}")}); !errors.Is(err, host.ErrHandlerClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := p.instance.Handler("nope").Handle(t.Context(), &host.Call{}); err == nil {
		t.Error("a tool that the plugin does not have was run")
	}
}

// Closing does not wait for ever: when its time is over, the calls end.
func TestCloseGivesUp(t *testing.T) {
	p := open(t, map[string]string{"tool.js": handler("ctx.progress('started'); await new Promise((r) => setTimeout(r, 60000))")}, time.Minute)
	started := make(chan bool, 1)
	ended := make(chan string, 1)
	go func() {
		r, err := p.host.Call(context.Background(), &host.Call{Tool: "tool", Progress: func(string) { started <- true }})
		if err != nil {
			ended <- err.Error()
		} else {
			ended <- r.Content[0].Text()
		}
	}()
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.instance.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := <-ended; got != "the plugin was closed before the call had ended" {
		t.Errorf("got %q", got)
	}
}

func TestOpenIsBoundByItsContext(t *testing.T) {
	spec, _ := write(t, map[string]string{"tool.js": "for (;;) {}"})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := node.New(nil).Open(ctx, spec); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// An operation that fails later shows where the script began it.
func TestStackOfOperations(t *testing.T) {
	p := open(t, map[string]string{
		"promise.js": "import { readFile } from 'node:fs/promises';\n" + handler("await null;\nconst inner = () => readFile('/nope/x');\nreturn await inner()"),
		"context.js": handler("\nreturn ctx.fs.read('/nope/x')"),
	}, 10*time.Second)
	for tool, want := range map[string]string{"promise": "promise.js:4:21", "context": "context.js:3:15"} {
		if got := p.call(t, tool, "{}"); !strings.HasPrefix(got, "! ") {
			t.Errorf("%s: got %q", tool, got)
		}
		if log := p.log.String(); !strings.Contains(log, want) {
			t.Errorf("%s: the log lacks %q:\n%s", tool, want, log)
		}
	}
}

// ES modules are strict; a CommonJS module is as its author wrote it.
func TestStrictness(t *testing.T) {
	const look = "let undeclared = 'refused'; try { nowhere_declared = 1; undeclared = 'made a global' } catch {} return [typeof function () { return this }(), undeclared].join()"
	p := open(t, map[string]string{
		"module.mjs": handler(look), "typed.ts": handler(look), "waits.mjs": "await null;" + handler(look), "builtin.mjs": "import 'node:fs'; import x from './x.json';" + handler(look+" + x.a"), "x.json": `{"a": ""}`,
		"common.cjs": "module.exports = () => {" + look + "}", "own.cjs": "'use strict'; module.exports = () => {" + look + "}",
	}, 10*time.Second)
	for tool, want := range map[string]string{
		"module": "undefined,refused", "typed": "undefined,refused", "waits": "undefined,refused", "builtin": "undefined,refused",
		"common": "object,made a global", "own": "undefined,refused",
	} {
		if got := p.call(t, tool, "{}"); got != want {
			t.Errorf("%s: got %q, want %q", tool, got, want)
		}
	}
}

// What a script reads of a stack, and writes to the log, names the author's places.
func TestStacksThatScriptsRead(t *testing.T) {
	p := open(t, map[string]string{
		"read.ts":  "interface Long { a: string; b: string }\n\n" + handler("try { inner() } catch (e: any) { return e.stack }\nfunction inner() {\n  throw new RangeError('no')\n}"),
		"lib/a.ts": "type T = string\nexport const fail = () => { throw new Error(__dirname.slice(0, 0) + 'lib') }; type U = string",
		"deep.ts":  "import { fail } from './lib/a'\n" + handler("try { fail() } catch (e: any) { console.error(e.stack); process.stderr.write(e.stack + '\\n'); return e.stack.split('\\n')[1] }"),
		"none.ts":  handler("throw 'text'"),
		"cause.ts": handler("try { null!.x } catch (e) { throw new Error('outer', { cause: new TypeError('middle', { cause: 'low' }) }) }"),
	}, 10*time.Second)
	for tool, want := range map[string][]string{
		"read":  {"RangeError: no", "\tat inner (read.ts:6:9(", "read.ts:4:7("},
		"deep":  {"\tat fail (lib/a.ts:2:35("},
		"none":  {"! text"},
		"cause": {"! outer"},
	} {
		got := p.call(t, tool, "{}")
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q lacks %q", tool, got, part)
			}
		}
	}
	log := p.log.String()
	for _, want := range []string{`msg="Error: lib\n    at fail (lib/a.ts:2:35)\n    at deep_default (deep.ts:3:`, `msg="    at fail (lib/a.ts:2:35)"`, `(cause.ts:2:35)\n  [cause]: TypeError: middle\n      at `, `\n    [cause]: low"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
	for _, not := range []string{`stack=""`, "bundle:"} {
		if strings.Contains(log, not) {
			t.Errorf("the log has %s:\n%s", not, log)
		}
	}
}

// The host works with JavaScript's own even where a script has replaced it, by name or not.
func TestReplacedBuiltins(t *testing.T) {
	p := open(t, map[string]string{
		"named.js":    handler("globalThis.Error = globalThis.TypeError = globalThis.RangeError = globalThis.JSON = null; try { 'x'.repeat(1e10) } catch (e) { return { name: e.name } }"),
		"members.js":  handler("JSON.stringify = JSON.parse = () => 'mine'; return { a: 1 }"),
		"sloppy.cjs":  "module.exports = () => { const g = (function () { return this })(); g[['Err', 'or'].join('')] = null; g[['JS', 'ON'].join('')] = null; return { a: 1 } }",
		"parse.js":    handler("return Date.parse('1970-01-01') + [1].map((x) => x).length"),
		"patterns.js": handler("return [/\\p{L}+/u.exec('1äb')[0], /b/ instanceof Object].join()"),
		"literal.js":  handler("return /b+/.exec('abb')[0]"),
	}, 10*time.Second)
	for tool, want := range map[string]string{"named": `{"name":"RangeError"}`, "members": `{"a":1}`, "sloppy": `{"a":1}`, "parse": "1", "patterns": "äb,true", "literal": "bb"} {
		if got := p.call(t, tool, "{}"); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", tool, got, want)
		}
	}
}
