package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
	"github.com/toolhost/toolhost/runtimes/worker"
)

// parity are handlers whose results and logs must be the same in both modes.
var parity = map[string]string{
	"text":        "return 'zażółć \\ud83d\\ude00 \\ud800 lone'",
	"value":       "return {a: [1, 2.5, null, true], nested: {__proto__: null, x: 'y'}, date: new Date(0)}",
	"nothing":     "return undefined",
	"null":        "return null",
	"number":      "return 0.1 + 0.2",
	"function":    "return () => 1",
	"bigint":      "return 10n",
	"cycle":       "const o = {}; o.o = o; return o",
	"envelope":    "return {content: [{type: 'text', text: 'a'}, {type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png'}], structuredContent: {a: 1}, _meta: {b: 2}}",
	"half":        "return {content: [{type: 'image', data: '', mimeType: 'image/png'}]}",
	"throws":      "throw new TypeError('wrong\\nwith lines')",
	"throws text": "throw 'just a text'",
	"cause":       "throw new Error('outer', {cause: new RangeError('inner')})",
	"aggregate":   "throw new AggregateError([new Error('one'), new Error('two')], 'both')",
	"rejects":     "return Promise.reject(Object.assign(new Error('rejected'), {code: 'E1'}))",
	"unhandled":   "Promise.reject(new Error('nobody looks')); return 'ok'",
	"exit":        "process.exit(3)",
	"never":       "await new Promise(() => {})",
	"log":         "console.log('line', {a: 1}); console.error('bad'); ctx.log.warn('careful', 1); ctx.log.debug('fine'); return 'ok'",
	"large":       "return 'x'.repeat(1100000)",
	"huge":        "return 'x'.repeat(30000000)",
	"large value": "return {x: 'x'.repeat(1100000)}",
	"context":     "return [ctx.tool, ctx.agent, ctx.folder.length > 0, typeof ctx.deadline, ctx.signal.aborted, process.cwd() === ctx.folder]",
	"time zone":   "return [new Date(2026, 6, 1).getTimezoneOffset(), new Date(2026, 0, 1).toString()]",
	"environment": "return [process.env, Object.keys(process.env).includes('PATH')]",
	"packages":    "const {createHash} = require('crypto'); return createHash('sha256').update('x').digest('hex')",
	"read":        "return require('fs').readFileSync('granted.txt', 'utf8')",
	"read abs":    "return require('fs').readFileSync(ctx.folder + '/granted.txt', 'utf8')",
	"read link":   "return require('fs').readFileSync('link.txt', 'utf8')",
	"link out":    "return require('fs').readFileSync('out.txt', 'utf8')",
	"denied":      "return require('fs').readFileSync('other.txt', 'utf8')",
	"missing":     "return require('fs').readFileSync('granted/none.txt', 'utf8')",
	"outside":     "return require('fs').readFileSync('/etc/hostname', 'utf8')",
	"above":       "return require('fs').readFileSync('../x', 'utf8')",
	"own":         "return require('fs').readFileSync(__dirname + '/data/own.txt', 'utf8')",
	"list":        "return [ctx.fs.list('granted'), require('fs').existsSync('other.txt'), require('fs').existsSync('granted.txt')]",
	"stat":        "return require('fs').statSync('granted.txt').size",
	"write":       "await ctx.fs.write('out/new.txt', 'new'); return ctx.fs.read('out/new.txt').then((b) => String(b), (e) => e.message)",
	"write over":  "require('fs').appendFileSync('out/log.txt', 'more'); require('fs').renameSync('out/log.txt', 'out/log2.txt'); return require('fs').existsSync('out/log2.txt')",
	"no write":    "require('fs').writeFileSync('granted.txt', 'x')",
	"write own":   "require('fs').writeFileSync(__dirname + '/data/own.txt', 'x')",
	"fetch":       "return fetch('https://example.org').then((r) => r.text())",
	"settings":    "return ctx.settings.get('x')",
	"store":       "return ctx.store.set('a', {b: 1}).then(() => ctx.store.get('a'))",
	"execute":     "return ctx.execute('other.command', {a: 1})",
	"ai":          "return ctx.ai.complete('hello')",
	"pdf":         "return ctx.renderHtmlToPdf('<p>')",
	"toast":       "ctx.toast({type: 'info', message: 'x'}); return 'ok'",
	"child":       "require('child_process').execSync('ls')",
	"regexp":      "return ['aB'.replace(/(?<=a)b/i, 'x'), /^\\p{L}+$/u.test('ż')]",
	"intl":        "return [new Intl.NumberFormat('en-US').format(1234.5), (1234.5).toLocaleString(), new Date(0).toLocaleDateString('en-US', {timeZone: 'UTC'})]",
}

// A handler gives the same, byte by byte, in this process and in a worker.
func TestParity(t *testing.T) {
	policies := map[string]permissions.Policy{
		"granted": {
			FS: permissions.FSPolicy{
				Read:  permissions.Access{Paths: []string{"granted/**", "granted.txt", "link.txt", "out.txt"}},
				Write: permissions.Access{Paths: []string{"out/**"}},
			},
			Env: []string{"HOSTILE_GRANTED"}, Store: true, HostTrigger: true, Toast: true,
		},
		"parameter": {FS: permissions.FSPolicy{Read: permissions.Access{Parameter: true}}},
		"folder":    {FS: permissions.FSPolicy{Read: permissions.Access{Folder: true, Deny: []string{"other.txt"}}, Write: permissions.Access{Folder: true}}},
		"nothing":   {},
	}
	t.Setenv("HOSTILE_GRANTED", "granted value")
	for name, policy := range policies {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			one := outcomes(t, policy, dir, func(folder string) runtimes.Runtime { return node.New(nil) })
			two := outcomes(t, policy, dir, func(folder string) runtimes.Runtime { return worker.New(&worker.Options{Folder: folder}) })
			for tool := range parity {
				// Without any rule for files the kernel hides the folder from the worker. All is
				// denied in both; only the reasons that can be told differ.
				if name == "nothing" && (tool == "read abs" || tool == "link out") {
					continue
				}
				if one[tool] != two[tool] {
					t.Errorf("%s:\n--- in process\n%.2000s\n--- in a worker\n%.2000s", tool, one[tool], two[tool])
				}
			}
		})
	}
}

// outcomes gives for each handler its result and what it logged.
func outcomes(t *testing.T, policy permissions.Policy, dir string, runtime func(folder string) runtimes.Runtime) map[string]string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "folder")
	policy.Root = dir
	write := func(base, name, text string) {
		full := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"granted.txt": "granted", "other.txt": "other", "granted/a.txt": "a", "granted/b.txt": "b", "out/log.txt": "log"} {
		write(folder, name, text)
	}
	for link, to := range map[string]string{"link.txt": "granted/a.txt", "out.txt": "/etc/hostname"} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	write(dir, "data/own.txt", "own")
	var log lockedBuffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "call" || a.Key == "ms" {
			return slog.Attr{}
		}
		return a
	}}))
	spec := runtimes.Spec{Plugin: "parity", Dir: dir, Policy: &policy, Log: logger}
	spec.Services = runtimes.Services{
		Store: &mapStore{}, Execute: func(context.Context, *host.Call, string, json.RawMessage) (*host.Result, error) {
			return host.ValueResult([]byte(`{"ran": true}`)), nil
		},
	}.Guard(&policy)
	tools := map[string]string{}
	for name, body := range parity {
		id := strings.ReplaceAll(name, " ", "_")
		write(dir, id+".js", "module.exports = async (params, ctx) => {\n"+body+"\n}")
		spec.Tools = append(spec.Tools, runtimes.Tool{ID: id, Handler: id + ".js"})
		tools[name] = id
	}
	instance, err := runtime(folder).Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	h := host.New(&host.Options{Folder: folder, Log: logger})
	var list []*host.Tool
	for _, id := range tools {
		list = append(list, &host.Tool{Name: id, Description: "test", InputSchema: json.RawMessage(`{"type":"object"}`), Policy: &policy, Handler: instance.Handler(id)})
	}
	if _, err := h.Replace("parity", host.Plugin, list); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		id := tools[name]
		log.take()
		r, err := h.Call(t.Context(), &host.Call{Tool: id, Agent: host.Agent{ID: "agent", Name: "Agent"}, Args: json.RawMessage(`{"path":"granted.txt"}`)})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r.Content)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = strings.ReplaceAll(string(text)+string(r.Structured)+string(r.Meta)+"\n"+log.take(), folder, "{folder}")
		if r.IsError {
			out[name] = "failed " + out[name]
		}
	}
	if err := instance.Close(t.Context()); err != nil {
		t.Error(err)
	}
	return out
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.b.String()
	l.b.Reset()
	return s
}

// mapStore is a store in memory.
type mapStore struct{ m sync.Map }

func (s *mapStore) Get(_ context.Context, key string) (json.RawMessage, error) {
	if v, ok := s.m.Load(key); ok {
		return v.(json.RawMessage), nil
	}
	return nil, nil
}
func (s *mapStore) Set(_ context.Context, key string, value json.RawMessage) error {
	s.m.Store(key, value)
	return nil
}
func (s *mapStore) Delete(_ context.Context, key string) (bool, error) {
	_, had := s.m.LoadAndDelete(key)
	return had, nil
}
func (s *mapStore) List(_ context.Context, prefix string) (keys []string, err error) {
	s.m.Range(func(k, _ any) bool {
		if strings.HasPrefix(k.(string), prefix) {
			keys = append(keys, k.(string))
		}
		return true
	})
	return keys, nil
}
