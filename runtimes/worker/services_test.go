package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/worker"
)

// testNetwork answers requests by itself, and connects to a listener whatever the name.
type testNetwork struct {
	address string
	grants  chan *permissions.Grant
	ended   chan string // what became of bodies
}

func (n *testNetwork) Fetch(ctx context.Context, grant *permissions.Grant, r *runtimes.Request) (*runtimes.Response, error) {
	if n.grants != nil {
		n.grants <- grant
	}
	answer := &runtimes.Response{Status: 200, StatusText: "OK", URL: r.URL, Header: http.Header{"X-Method": {r.Method}, "Set-Cookie": {"a=1", "b=2"}}}
	switch {
	case strings.HasSuffix(r.URL, "/denied"):
		return nil, &permissions.DeniedError{Op: "fetch", Target: r.URL, Rule: `"permissions": {"fetch": {"static": ["x.test"]}}`}
	case strings.HasSuffix(r.URL, "/refused"):
		return nil, &runtimes.NetworkError{Code: "ECONNREFUSED", Syscall: "connect", Message: "connect ECONNREFUSED 192.0.2.1:443", Errno: -111, Address: "192.0.2.1", Port: 443}
	case strings.HasSuffix(r.URL, "/echo"):
		answer.Body = io.NopCloser(bytes.NewReader(r.Body))
	case strings.HasSuffix(r.URL, "/large"):
		answer.Body = io.NopCloser(io.LimitReader(zeros{}, 3<<20))
	case strings.HasSuffix(r.URL, "/broken"):
		answer.Body = io.NopCloser(io.MultiReader(strings.NewReader("begin"), failing{syscall.ECONNRESET}))
	case strings.HasSuffix(r.URL, "/slow"):
		answer.Body = &slowBody{ctx, n.ended}
	case strings.HasSuffix(r.URL, "/never"):
		<-ctx.Done()
		n.ended <- "request"
		return nil, ctx.Err()
	}
	return answer, nil
}

func (n *testNetwork) Dial(ctx context.Context, grant *permissions.Grant, name string, port int) (net.Conn, error) {
	if name == "nowhere.test" {
		return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED), Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: port}}
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", n.address)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type slowBody struct {
	ctx   context.Context
	ended chan string
}

func (b *slowBody) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func (b *slowBody) Close() error { b.ended <- "body"; return nil }

// listen serves each connection with a function until the test ends.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); serve(c) }()
		}
	}()
	return l.Addr().String()
}

func TestServices(t *testing.T) {
	n := &testNetwork{grants: make(chan *permissions.Grant, 100), ended: make(chan string, 10)}
	n.address = listen(t, func(c net.Conn) { _, _ = io.Copy(c, c) })
	var executed atomic.Value
	const connect = "const c = require('net').connect(7, params.host ?? 'echo.test'); "
	f := open(t, setup{
		policy: permissions.Policy{
			Store: true, HostTrigger: true, AIComplete: true, Fetch: permissions.HostPolicy{Static: []string{"x.test"}}, Net: permissions.HostPolicy{Static: []string{"echo.test:7"}},
		},
		services: runtimes.Services{
			Network: n, Store: &mapStore{},
			Execute: func(_ context.Context, c *host.Call, command string, args json.RawMessage) (*host.Result, error) {
				executed.Store(c.ID + " " + command + " " + string(args))
				if command == "fails" {
					return nil, errors.New("no such command")
				}
				return &host.Result{Content: []host.Content{host.Text("first"), host.Image([]byte{1}, "image/png")}}, nil
			},
			Complete: func(_ context.Context, _ *host.Call, prompt *host.Prompt) (string, error) {
				for _, image := range prompt.Images {
					prompt.Text += " " + image.MIMEType + "=" + string(image.Data)
				}
				return "re: " + prompt.Text, nil
			},
		},
		files: map[string]string{
			"store.js":    handlerOf("await ctx.store.set('k', {v: [1, 'ż']}); return [await ctx.store.get('k'), await ctx.store.get('none') === undefined, await ctx.store.list('k'), await ctx.store.delete('k'), await ctx.store.delete('k')]"),
			"settings.js": handlerOf("return ctx.settings.getAll()"),
			"execute.js":  handlerOf("return [ctx.callId, await ctx.execute('do.it', {a: 1}), await ctx.execute('fails').catch((e) => e.message)]"),
			"complete.js": handlerOf("return ctx.ai.complete('hello', {imageUrls: ['data:image/png;base64,eA==']})"),
			"fetch.js":    handlerOf("const r = await fetch('https://x.test/echo', {method: 'POST', body: params.body}); return [r.status, r.headers.get('x-method'), r.headers.getSetCookie(), await r.text()]"),
			"large.js":    handlerOf("const r = await fetch('https://x.test/large'); return (await r.arrayBuffer()).byteLength"),
			"denied.js":   handlerOf("return fetch('https://x.test/denied').catch((e) => [e.name, e.code, e.message.includes('x.test')])"),
			"refused.js":  handlerOf("return fetch('https://x.test/refused').catch((e) => [e.name, e.cause.code, e.cause.message, e.cause.port])"),
			"broken.js":   handlerOf("const r = await fetch('https://x.test/broken'); return r.text().catch((e) => e.cause?.code ?? e.code ?? String(e))"),
			"abort.js":    handlerOf("const a = new AbortController(); setTimeout(() => a.abort(), 50); return fetch('https://x.test/never', {signal: a.signal}).catch((e) => e.name)"),
			"leave.js":    handlerOf("await fetch('https://x.test/slow'); return 'left'"),
			"echo.js": handlerOf(connect + `
				return new Promise((done, fail) => {
					let got = '';
					c.on('error', fail).on('data', (d) => { got += d; }).on('close', () => done(got));
					c.write('one '); c.end('two');
				})`),
			"bulk.js": handlerOf(connect + `
				return new Promise((done, fail) => {
					let n = 0;
					c.on('error', fail).on('data', (d) => { n += d.length; if (n === 2000000) { c.destroy(); done(n); } });
					c.write('x'.repeat(2000000));
				})`),
			"nowhere.js": handlerOf(connect + "return new Promise((done) => c.on('error', (e) => done([e.code, e.message, e.port])))"),
		},
	})
	f.answers(t, "store", "{}", `[{"v":[1,"ż"]},true,["k"],true,false]`)
	if text, isError := f.call(t, "settings", "{}"); !isError || !strings.Contains(text, `"settings": true`) {
		t.Errorf("undeclared settings: %q", text)
	}
	text, _ := f.call(t, "execute", "{}")
	var got []any
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got) != 3 || got[1] != "first" || got[2] != "no such command" || executed.Load() != fmt.Sprint(got[0], " fails ") {
		t.Errorf("execute: %q, %v, %v", text, err, executed.Load())
	}
	f.answers(t, "complete", "{}", "re: hello image/png=x")
	f.answers(t, "fetch", `{"body":"zażółć"}`, `[200,"POST",["a=1","b=2"],"zażółć"]`)
	f.answers(t, "large", "{}", "3145728")
	f.answers(t, "denied", "{}", `["PluginPermissionError","EACCES",true]`)
	f.answers(t, "refused", "{}", `["TypeError","ECONNREFUSED","connect ECONNREFUSED 192.0.2.1:443",443]`)
	f.answers(t, "broken", "{}", `ECONNRESET`)
	f.answers(t, "abort", "{}", "AbortError")
	if what := <-n.ended; what != "request" {
		t.Errorf("the host went on with the request: %q", what)
	}
	f.answers(t, "leave", "{}", "left")
	if what := <-n.ended; what != "body" {
		t.Errorf("the host has not closed the body: %q", what)
	}
	f.answers(t, "echo", "{}", "one two")
	f.answers(t, "bulk", "{}", "2000000")
	f.answers(t, "nowhere", `{"host":"nowhere.test"}`, `["ECONNREFUSED","connect ECONNREFUSED 192.0.2.1:7",7]`)
	close(n.grants)
	for g := range n.grants {
		if g == nil || g.Folder() != f.folder {
			t.Errorf("the host did not use the call's own grant: %+v", g)
		}
	}
}

// A worker that is started later runs what was loaded, whatever stands on the disk by then.
func TestChangedFiles(t *testing.T) {
	f := open(t, setup{runtime: worker.New(&worker.Options{IdleStop: time.Nanosecond}), files: map[string]string{
		"tool.js":                       "const p = require('pkg');\nconst part = require('./lib/part');\n" + "module.exports = () => 'first ' + p + part",
		"node_modules/pkg/package.json": `{"name": "pkg", "main": "main.js"}`, "node_modules/pkg/main.js": "module.exports = 'pkg '", "lib/part.ts": "export = 'part' as string",
	}})
	f.answers(t, "tool", "{}", "first pkg part")
	for name, text := range map[string]string{"tool.js": "module.exports = () => 'second'", "lib/part.ts": "let x = ;"} {
		if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(f.dir, "node_modules/pkg/main.js")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for deadline := time.Now().Add(10 * time.Second); len(workers(t)) > 0; {
			if time.Now().After(deadline) {
				t.Fatal("the worker goes on")
			}
		}
		f.answers(t, "tool", "{}", "first pkg part")
	}
}

// However much a handler says, the last of it arrives, and its log is cut.
func TestTalking(t *testing.T) {
	var log lockedBuffer
	f := open(t, setup{log: slog.New(slog.NewTextHandler(&log, nil)), files: map[string]string{
		"talk.js": handlerOf("for (let i = 0; i < 20000; i++) { ctx.progress('step ' + i); console.log('line ' + i) } return 'said'"),
	}})
	var last atomic.Value
	r, err := f.Call(t.Context(), &host.Call{Tool: "talk", Progress: func(m string) { last.Store(m) }})
	if err != nil || r.IsError || last.Load() != "step 19999" {
		t.Errorf("got %+v, %v, %v", r, err, last.Load())
	}
	lines := strings.Count(log.take(), "msg=\"line ")
	if lines < 100 || lines > 19_000 { // the engine has a limit of its own, too
		t.Errorf("%d lines are in the log", lines)
	}
}
