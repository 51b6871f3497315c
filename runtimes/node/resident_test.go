package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

// openShared opens a plugin whose module state lives on.
func openShared(tb testing.TB, files map[string]string, timeout time.Duration) *plugin {
	tb.Helper()
	timeouts := map[string]time.Duration{}
	for name := range files {
		timeouts[strings.TrimSuffix(name, ".js")] = timeout
	}
	return openSharedTimeouts(tb, files, timeouts)
}

// background calls a tool on a goroutine; wait gives its text.
func (p *plugin) background(tb testing.TB, tool, args string) (said chan string, wait func() string) {
	tb.Helper()
	said = make(chan string, 10)
	text := make(chan string, 1)
	go func() {
		r, err := p.host.Call(context.Background(), &host.Call{Tool: tool, Args: json.RawMessage(args), Progress: func(m string) { said <- m }})
		switch {
		case err != nil:
			text <- "error " + err.Error()
		case r.IsError:
			text <- "! " + r.Content[0].Text()
		default:
			text <- r.Content[0].Text()
		}
	}()
	return said, func() string { return <-text }
}

// gate is a module whose waiters go on when open is called.
const gate = `let waiting = []; export const closed = () => new Promise((go) => waiting.push(go)); export const open = () => { waiting.forEach((go) => go()); waiting = []; };`

func TestSharedStateLivesOn(t *testing.T) {
	p := openShared(t, map[string]string{
		"lib/state.js": "export const state = { n: 0, evaluated: Date.now() };",
		"one.js":       "import { state } from './lib/state.js';\n" + handler("return ++state.n"),
		"two.js":       "import { state } from './lib/state.js';\n" + handler("globalThis.seen = (globalThis.seen ?? 0) + 1; return [++state.n, globalThis.seen].join()"),
	}, 10*time.Second)
	for i, want := range []string{"1", "2,1", "3", "4,2"} {
		if got := p.call(t, []string{"one", "two"}[i%2], "{}"); got != want {
			t.Errorf("call %d: got %q, want %q", i, got, want)
		}
	}
}

// Calls interleave where they await, and each acts for itself: its arguments, its ctx, its
// grant, its log and its place, also in callbacks, timers, promise jobs and microtasks, and
// where another call wakes it.
func TestSharedCallsInterleave(t *testing.T) {
	p := openShared(t, map[string]string{
		"lib/gate.js": gate,
		"work.js": `import { closed } from './lib/gate.js'; import { readFile, readFileSync } from 'node:fs'; import { AsyncLocalStorage } from 'node:async_hooks';
const storage = new AsyncLocalStorage();
export default (params, ctx) => storage.run(params.name, async () => {
  ctx.progress('waiting');
  await closed();
  const seen = [ctx.callId, storage.getStore()];
  const look = async (how) => {
    for (const name of ['a.txt', 'b.txt']) {
      try { readFileSync(name); seen.push(how + name); } catch (e) { if (e.code !== 'EACCES') throw e; }
    }
  };
  await look('');
  await new Promise((done) => setTimeout(done, 1)); await look('timeout ');
  await new Promise((done) => setImmediate(done)); await look('immediate ');
  await new Promise((done) => queueMicrotask(done)); await look('microtask ');
  await new Promise((done) => process.nextTick(done)); await look('tick ');
  await new Promise((done, fail) => readFile(params.path, (e) => e ? fail(e) : done())); await look('callback ');
  await { then(done) { look('thenable ').then(done); } };
  console.log('from', params.name); ctx.log.info('logged', params.name);
  return seen;
});`,
		"open.js": "import { open } from './lib/gate.js';\n" + handler("open()"),
	}, 20*time.Second)
	var results []func() string
	for _, name := range []string{"a", "b"} {
		said, wait := p.background(t, "work", fmt.Sprintf(`{"name":%q,"path":"%s.txt"}`, name, name))
		<-said
		results = append(results, wait)
	}
	p.call(t, "open", "{}")
	ids := map[string]bool{}
	for i, name := range []string{"a", "b"} {
		var seen []string
		if text := results[i](); json.Unmarshal([]byte(text), &seen) != nil {
			t.Fatalf("call %s: %s", name, text)
		}
		ids[seen[0]] = true
		file := name + ".txt"
		want := []string{name, file, "timeout " + file, "immediate " + file, "microtask " + file, "tick " + file, "callback " + file, "thenable " + file}
		if got := strings.Join(seen[1:], "; "); got != strings.Join(want, "; ") {
			t.Errorf("call %s saw %s", name, got)
		}
	}
	if len(ids) != 2 {
		t.Errorf("the calls have the ids %v", ids)
	}
	for _, line := range strings.Split(p.log.String(), "\n") {
		for _, name := range []string{"a", "b"} {
			other := map[string]string{"a": "b", "b": "a"}[name]
			if (strings.Contains(line, "from "+name) || strings.Contains(line, "logged "+name)) && strings.Contains(line, "from "+other) {
				t.Errorf("a line of both calls: %s", line)
			}
		}
	}
}

// The ctx of one call acts for that call whoever uses it, and for nobody once it has ended.
func TestSharedContextBelongsToItsCall(t *testing.T) {
	p := openShared(t, map[string]string{
		"lib/kept.js": "export const kept = {};",
		"keep.js":     "import { kept } from './lib/kept.js';\n" + handler("kept.ctx = ctx; kept.params = params; ctx.fs; return (await ctx.fs.read(params.path)).toString()"),
		"use.js": "import { kept } from './lib/kept.js';\n" + handler(`const found = [kept.ctx.callId === ctx.callId, kept.ctx.tool];
try { await kept.ctx.fs.read(kept.params.path); found.push('read'); } catch (e) { found.push(e.code); }
try { await ctx.fs.read('a.txt'); found.push('read'); } catch (e) { found.push(e.code); }
try { kept.ctx.progress('late'); } catch (e) { found.push(e.code); }
return found.join()`),
	}, 10*time.Second)
	if got := p.call(t, "keep", `{"path":"a.txt"}`); got != "text a" {
		t.Fatal(got)
	}
	if got := p.call(t, "use", "{}"); got != "false,keep,ERR_CALL_ENDED,EACCES,ERR_CALL_ENDED" {
		t.Errorf("got %q", got)
	}
}

// What a call has begun ends with it: timers, immediates, operations, files.
func TestSharedCallEndsWithEverything(t *testing.T) {
	p := openShared(t, map[string]string{
		"lib/ticks.js": "export const ticks = { n: 0 };",
		"start.js": "import { ticks } from './lib/ticks.js'; import fs from 'node:fs';\n" + handler(`setInterval(() => ticks.n++, 1); setImmediate(function again() { ticks.n++; setImmediate(again) });
(async () => { for (;;) { await new Promise((done) => fs.stat('a.txt', done)); ticks.n++ } })(); ticks.fd = fs.openSync(params.path); return 'started'`),
		"count.js": "import { ticks } from './lib/ticks.js'; import fs from 'node:fs';\n" + handler(`const before = ticks.n; await new Promise((done) => setTimeout(done, 30));
let code; try { fs.fstatSync(ticks.fd) } catch (e) { code = e.code } return [ticks.n - before, code].join()`),
	}, 10*time.Second)
	if got := p.call(t, "start", `{"path":"a.txt"}`); got != "started" {
		t.Fatal(got)
	}
	if got := p.call(t, "count", "{}"); got != "0,EBADF" {
		t.Errorf("after the call: %s", got)
	}
}

func TestSharedFailures(t *testing.T) {
	p := openShared(t, map[string]string{
		"count.js":  "let n = 0;\n" + handler("return ++n"),
		"throw.js":  handler("throw new Error('on purpose')"),
		"timer.js":  handler("setTimeout(() => { throw new Error('in a timer') }, 1); await new Promise(() => {})"),
		"reject.js": handler("return Promise.reject(new TypeError('rejected'))"),
		"exit.js":   handler("process.exit(3)"),
		"deep.js":   handler("(function f() { f() })()"),
		"shape.js":  handler("return { toJSON() { throw new Error('while it is shaped') } }"),
		"wait.js":   handler("ctx.progress('waiting'); await new Promise((done) => setTimeout(done, 60000))"),
	}, 20*time.Second)
	count := func(want string) {
		t.Helper()
		if got := p.call(t, "count", "{}"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	count("1")
	for tool, want := range map[string]string{"throw": "on purpose", "timer": "in a timer", "reject": "rejected", "shape": "while it is shaped"} {
		if got := p.call(t, tool, "{}"); got != "! "+want {
			t.Errorf("%s: %q", tool, got)
		}
	}
	count("2") // a throw does not end the engine
	if got := p.call(t, "deep", "{}"); !strings.Contains(got, "call stack") {
		t.Errorf("deep: %q", got)
	}
	count("1")
	said, wait := p.background(t, "wait", "{}")
	<-said
	if got := p.call(t, "exit", "{}"); !strings.Contains(got, "process.exit(3)") {
		t.Errorf("exit: %q", got)
	}
	if got := wait(); !strings.HasPrefix(got, "! plugin restarted: process.exit was called") {
		t.Errorf("beside exit: %q", got)
	}
	count("1")
}

// A call that computes past its deadline is interrupted; the engine goes, and with it the
// calls in flight. The next one gets a fresh engine.
func TestSharedInterrupt(t *testing.T) {
	for name, body := range map[string]string{
		"loop": "for (;;) {}", "microtasks": "for (;;) await null", "after a timer": "await new Promise((done) => setTimeout(done, 1)); for (;;) {}",
		"shaping": "return { toJSON() { for (;;) {} } }", "late": "await new Promise((done) => ctx.signal.addEventListener('abort', done)); for (;;) {}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openSharedTimeouts(t, map[string]string{
				"count.js": "let n = 0;\n" + handler("return ++n"),
				"wait.js":  handler("ctx.progress('waiting'); await new Promise((done) => setTimeout(done, 60000))"),
				"spin.js":  handler(body),
			}, map[string]time.Duration{"spin": time.Second})
			if got := p.call(t, "count", "{}") + p.call(t, "count", "{}"); got != "12" {
				t.Fatal(got)
			}
			said, wait := p.background(t, "wait", "{}")
			<-said
			if got := p.call(t, "spin", "{}"); !strings.Contains(got, "timed out") {
				t.Errorf("spin: %q", got)
			}
			if got := wait(); !strings.HasPrefix(got, "! plugin restarted") {
				t.Errorf("wait: %q", got)
			}
			if got := p.call(t, "count", "{}"); got != "1" {
				t.Errorf("count: %q", got)
			}
			if name != "loop" {
				return
			}
			if err := p.instance.Close(t.Context()); err != nil { // what a handler logs at its end is logged then
				t.Fatal(err)
			}
			if log := p.log.String(); !strings.Contains(log, "the handler was stopped") || !strings.Contains(log, "(spin.js:") {
				t.Errorf("the log does not say where the handler was: %s", log)
			}
		})
	}
}

// A call that only waits at its deadline ends alone.
func TestSharedDeadlineOfAWaitingCall(t *testing.T) {
	p := openSharedTimeouts(t, map[string]string{
		"count.js":    "let n = 0;\n" + handler("return ++n"),
		"lib/seen.js": "export const seen = {}; seen.aborted = new Promise((done) => seen.abort = done);",
		"wait.js":     "import { seen } from './lib/seen.js';\n" + handler("ctx.signal.addEventListener('abort', () => seen.abort(ctx.signal.reason.name)); await new Promise((done) => setTimeout(done, 60000))"),
		"seen.js":     "import { seen } from './lib/seen.js';\n" + handler("ctx.signal; return seen.aborted"),
	}, map[string]time.Duration{"wait": 2 * time.Second})
	p.call(t, "count", "{}")
	if got := p.call(t, "wait", "{}"); !strings.Contains(got, "timed out") {
		t.Errorf("wait: %q", got)
	}
	if got := p.call(t, "count", "{}"); got != "2" {
		t.Errorf("count: %q", got)
	}
	if got := p.call(t, "seen", "{}"); got != "TimeoutError" {
		t.Errorf("the signal aborted with %q", got)
	}
}

// What a call began that was ended may be what others wait for: they do not wait for ever.
func TestSharedPromiseOfAnEndedCall(t *testing.T) {
	p := openSharedTimeouts(t, map[string]string{
		"tool.js": "let ready;\n" + handler("ready ??= new Promise((done) => setTimeout(done, params.ms, 'ready')); return ready"),
	}, map[string]time.Duration{"tool": 100 * time.Millisecond})
	if got := p.call(t, "tool", `{"ms":60000}`); !strings.Contains(got, "timed out") {
		t.Errorf("got %q", got)
	}
	for got := ""; got != "ready"; {
		got = p.call(t, "tool", `{"ms":1}`)
	}
}

// Code that the modules begin at their top level is bounded, too.
func TestSharedTopLevelCodeIsBounded(t *testing.T) {
	spec, log := write(t, map[string]string{"tool.js": "let spins = false; setInterval(() => { while (spins); }, 1);\nlet n = 0;\n" + handler("if (params.spin) spins = true; return ++n")})
	spec.State = "plugin"
	p := serve(t, node.New(&node.Options{LoadLimit: 2 * time.Second}), spec, log, nil)
	if got := p.call(t, "tool", "{}") + p.call(t, "tool", `{"spin":true}`); got != "12" {
		t.Fatal(got)
	}
	for got := "3"; got != "1"; { // until the loop is ended that the second call has let begin
		got = p.call(t, "tool", "{}")
	}
}

// A module that fails when it is evaluated for a call fails the call, and is tried again.
func TestSharedEvaluationFails(t *testing.T) {
	p := openShared(t, map[string]string{"tool.js": "import fs from 'node:fs'; if (fs.existsSync(new URL('./broken', import.meta.url))) throw new Error('broken');\n" + handler("if (params.exit) process.exit(); return 'ran'")}, 10*time.Second)
	if got := p.call(t, "tool", "{}"); got != "ran" {
		t.Fatal(got)
	}
	broken := filepath.Join(p.dir, "broken")
	if err := os.WriteFile(broken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.call(t, "tool", `{"exit":true}`)
	for range 2 {
		if got := p.call(t, "tool", "{}"); got != "! broken" {
			t.Errorf("got %q", got)
		}
	}
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	if got := p.call(t, "tool", "{}"); got != "ran" {
		t.Errorf("got %q", got)
	}
}

// Two plugins never share an engine, whatever their state.
func TestSharedPluginsAreApart(t *testing.T) {
	files := map[string]string{"tool.js": handler("Array.prototype.secret = params.text; const seen = globalThis.seen; globalThis.seen = params.text; return [].secret + String(seen)")}
	one, two := openShared(t, files, 10*time.Second), openShared(t, files, 10*time.Second)
	one.call(t, "tool", `{"text":"one"}`)
	if got := two.call(t, "tool", `{"text":"two"}`); got != "twoundefined" {
		t.Errorf("got %q", got)
	}
	if got := one.call(t, "tool", `{"text":"three"}`); got != "threeone" {
		t.Errorf("got %q", got)
	}
}

// Many calls at once, each with arguments and results of its own.
func TestSharedHammer(t *testing.T) {
	p := openShared(t, map[string]string{
		"tool.js": handler("await new Promise((done) => setTimeout(done, params.n % 5)); if (params.n % 7 === 0) throw new Error('n' + params.n); return params.n"),
	}, 30*time.Second)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 40 {
				n := g*1000 + i
				want := fmt.Sprint(n)
				if n%7 == 0 {
					want = "! n" + want
				}
				if got := p.call(t, "tool", fmt.Sprintf(`{"n":%d}`, n)); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	wg.Wait()
}

// Calls leave nothing behind in the engine that they share, not even with timers and files.
func TestSharedHeapStaysFlat(t *testing.T) {
	p := openShared(t, map[string]string{
		"tool.js": "import fs from 'node:fs'; const loaded = Promise.resolve();\n" + handler(`setTimeout(() => {}, 1e6); fs.openSync(params.path); const kept = new Array(1000).fill(0); await loaded;
ctx.signal; Promise.reject(new Error('nobody')); process.stdout.write('part'); return kept.length + ctx.folder.length`),
	}, 30*time.Second)
	heap := func(calls int) uint64 {
		for range calls {
			if got := p.call(t, "tool", `{"path":"a.txt"}`); strings.HasPrefix(got, "!") {
				t.Fatal(got)
			}
		}
		p.log.Reset()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap(heapCalls / 10)
	after := heap(heapCalls)
	if after > before+before/5+(1<<20) {
		t.Errorf("%d calls grew the heap from %d to %d bytes", heapCalls, before, after)
	}
}

func TestSharedClose(t *testing.T) {
	spec, log := write(t, map[string]string{"wait.js": handler("ctx.progress('waiting'); await new Promise((done) => setTimeout(done, 60000))")})
	spec.State = "plugin"
	p := serve(t, node.New(nil), spec, log, nil)
	said, wait := p.background(t, "wait", "{}")
	<-said
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := p.instance.Close(ctx); err == nil {
		t.Error("Close did not say that a call was running")
	}
	if got := wait(); !strings.Contains(got, "the plugin was closed") {
		t.Errorf("got %q", got)
	}
	if got := p.call(t, "wait", "{}"); !strings.HasPrefix(got, "!") {
		t.Errorf("after Close: %q", got)
	}
}

func openSharedTimeouts(tb testing.TB, files map[string]string, timeouts map[string]time.Duration) *plugin {
	tb.Helper()
	spec, log := write(tb, files)
	spec.State = "plugin"
	spec.Policy.FS.Read.Parameter = true
	p := serve(tb, node.New(nil), spec, log, timeouts)
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(p.folder, name+".txt"), []byte("text "+name), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return p
}

// What a call asks of the host is asked for that call.
func TestSharedServicesKnowTheCall(t *testing.T) {
	spec, log := write(t, map[string]string{
		"one.js": handler("return (await ctx.execute('kit.run', params)) + ' ' + (await ctx.ai.complete('hello'))"),
		"two.js": handler("return await ctx.execute('kit.run', params)"),
	})
	spec.State = "plugin"
	spec.Policy.HostTrigger, spec.Policy.AIComplete = true, true
	spec.Services = runtimes.Services{
		Execute: func(_ context.Context, call *host.Call, command string, args json.RawMessage) (*host.Result, error) {
			return host.ValueResult(json.RawMessage(fmt.Sprintf("%q", call.Tool+command+string(args)))), nil
		},
		Complete: func(_ context.Context, call *host.Call, prompt *host.Prompt) (string, error) {
			return call.Tool + prompt.Text, nil
		},
	}
	p := serve(t, node.New(nil), spec, log, nil)
	if got := p.call(t, "one", `{"a":1}`); got != `onekit.run{"a":1} onehello` {
		t.Errorf("got %q", got)
	}
	if got := p.call(t, "two", `{}`); got != `twokit.run{}` {
		t.Errorf("got %q", got)
	}
}
