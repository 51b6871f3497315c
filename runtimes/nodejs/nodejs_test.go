//go:build outside

package nodejs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/nodejs"
	"github.com/toolhost/toolhost/runtimes/runtimestest"
)

func TestMain(m *testing.M) {
	child.Main()
	goleak.VerifyTestMain(m)
}

func handler(body string) string {
	return "export default async function (params, ctx) {\n" + body + "\n}"
}

func TestRuntime(t *testing.T) {
	files := map[string]string{
		"echo.js":     handler("return params"),
		"text.js":     handler("return params.text"),
		"nothing.js":  handler(""),
		"fail.js":     handler("throw new Error(params.message)"),
		"envelope.js": handler("return {isError: true, content: [{type: 'text', text: 'failed on purpose'}]}"),
		"image.js":    handler("return {content: [{type: 'image', data: params.data, mimeType: 'image/png'}]}"),
		"wait.js":     handler("ctx.progress('waiting'); await new Promise((done) => setTimeout(done, 60000))"),
		"spin.js":     handler("ctx.progress('spinning'); for (;;) {}"),
		"progress.js": handler("ctx.progress('one'); ctx.progress('two'); return 'done'"),
		"read.js":     "import { readFile } from 'node:fs/promises';\n" + handler("return readFile(params.path, 'utf8')"),
		"large.js":    handler("return 'x'.repeat(params.bytes)"),
		"count.js":    "let n = 0;\n" + handler("return String(++n)"),
	}
	handlers := map[string]string{}
	for tool := range runtimestest.Tools() {
		handlers[tool] = tool + ".js"
	}
	for _, state := range []string{"call", "plugin"} {
		t.Run(state, func(t *testing.T) {
			runtimestest.Run(t, func(*testing.T) *runtimestest.Harness {
				return &runtimestest.Harness{
					Runtime: nodejs.New(nil), Files: files, Handlers: handlers, State: state, Timeout: 2 * time.Second,
					Broken: map[string]string{"tool.js": "import './lib.js'", "lib.js": "let x = ;"}, BrokenHandler: "tool.js", BrokenFile: "lib.js",
				}
			})
		})
	}
}

type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// open opens a plugin with one tool for each file whose name ends in .js, .cjs or .mjs.
func open(t *testing.T, files map[string]string, policy *permissions.Policy, services runtimes.Services) (*host.Host, *lines, string, error) {
	t.Helper()
	return openState(t, "call", files, policy, services)
}

// openState does what open does, for a plugin with this state.
func openState(t *testing.T, state string, files map[string]string, policy *permissions.Policy, services runtimes.Services) (*host.Host, *lines, string, error) {
	t.Helper()
	dir, folder := t.TempDir(), t.TempDir()
	policy.Root = dir
	log := &lines{}
	spec := runtimes.Spec{Plugin: "tested", Dir: dir, State: state, Policy: policy, Services: services, Log: slog.New(slog.NewTextHandler(log, nil))}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if ext := filepath.Ext(name); !strings.Contains(name, "/") && ext != ".json" && ext != ".txt" {
			spec.Tools = append(spec.Tools, runtimes.Tool{ID: strings.TrimSuffix(name, ext), Handler: name})
		}
	}
	instance, err := nodejs.New(nil).Open(t.Context(), spec)
	if err != nil {
		return nil, log, folder, err
	}
	h := host.New(&host.Options{Folder: folder, Log: spec.Log})
	var tools []*host.Tool
	for _, tool := range spec.Tools {
		tools = append(tools, &host.Tool{
			Name: tool.ID, Description: "for tests", Timeout: 20 * time.Second, Policy: policy, Handler: instance.Handler(tool.ID),
			InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","format":"file-path"}}}`),
		})
	}
	if _, err := h.Replace("tested", host.Plugin, tools); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := instance.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h, log, folder, nil
}

func TestHandlers(t *testing.T) {
	policy := &permissions.Policy{
		AIComplete: true, Toast: true, FS: permissions.FSPolicy{Read: permissions.Access{Parameter: true}, Write: permissions.Access{Paths: []string{"out/**"}}},
	}
	services := runtimes.Services{Complete: func(_ context.Context, _ *host.Call, prompt *host.Prompt) (string, error) {
		for _, image := range prompt.Images {
			prompt.Text += " " + image.MIMEType + "=" + string(image.Data)
		}
		return prompt.Text + "!", nil
	}}
	ctx := func(expression string) string { return handler("return " + expression) }
	files := map[string]string{
		"common.cjs": "module.exports = (params) => 'common ' + require('./lib/a.cjs').a", "lib/a.cjs": "exports.a = 1",
		"named.mjs":   "export const handler = () => 'named'",
		"default.cjs": "exports.default = () => 'default'",
		"pkg.mjs":     "import { x } from 'pkg';\nexport default () => x", "node_modules/pkg/package.json": `{"type":"module","main":"i.js"}`, "node_modules/pkg/i.js": "export const x = 'from a package'",
		"v8.mjs":      ctx(`/\p{L}+/u.exec('żółć')[0] + new Intl.NumberFormat('de-DE').format(1234.5) + [1, 2, 3].findLast((x) => x < 3)`),
		"context.mjs": ctx(`[typeof ctx.callId, ctx.tool, ctx.agent.id, ctx.folder === process.cwd(), ctx.deadline > Date.now(), ctx.signal.aborted, ctx.nope].join()`),
		"ai.mjs":      ctx(`ctx.ai.complete({ prompt: 'hello', imageUrls: ['data:image/png;base64,eA=='] })`),
		"denied.mjs":  handler(`const out = []; for (const f of [() => ctx.settings.get('k'), () => ctx.session.getActive(), () => fetch('https://a.example')]) { try { await f(); out.push('allowed') } catch (e) { out.push(e.name + ' ' + e.code) } } await ctx.toast({}); return out.join('; ')`),
		"filer.mjs":   handler(`const out = []; for (const f of [() => ctx.listChannels(), () => ctx.getSessionHistory('s'), () => ctx.session.sendMessage('s', 'x'), () => ctx.settings.set('k', 1)]) out.push(await f().catch((e) => e.code)); return out.join()`),
		"spawn.mjs":   "import { spawnSync } from 'node:child_process';\n" + handler(`try { spawnSync('ls'); return 'spawned' } catch (e) { return e.code }`),
		"read.mjs":    ctx(`String(await ctx.fs.read(params.path))`),
		"write.mjs":   handler(`const dir = process.env.TOOLHOST_OUT + '/out'; await ctx.fs.mkdir(dir); await ctx.fs.write(dir + '/a.txt', 'x'); return 'written'`),
		"throws.mjs":  "// a comment\n" + handler(`throw new TypeError('wrong type')`),
		"text.mjs":    handler(`throw 'only text'`),
		"bigint.mjs":  ctx(`({ a: 1n })`),
		"exit.mjs":    handler(`process.exit(3)`),
		"stray.mjs":   handler(`setTimeout(() => { throw new Error('later') }, 1); await new Promise(() => {})`),
		"print.mjs":   handler(`console.log('said', 1); process.stdout.write('wrote\n'); console.error('complained'); return 'quiet'`),
		"null.mjs":    ctx(`null`),
		"func.mjs":    ctx(`() => 1`),
		"lone.mjs":    ctx(`'a\ud800b'`),
	}
	h, log, folder, err := open(t, files, policy, services)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte("text of a"), 0o600); err != nil {
		t.Fatal(err)
	}
	for tool, want := range map[string]string{
		"common": "common 1", "named": "named", "default": "default", "pkg": "from a package", "v8": "żółć1.234,52", "context": "string,context,cli,true,true,false,",
		"ai": "hello image/png=x!", "denied": "PluginPermissionError EACCES; PluginPermissionError EACCES; PluginPermissionError EACCES", "spawn": "ERR_ACCESS_DENIED", "filer": "EACCES,EACCES,ERR_UNSUPPORTED_IN_HOST,EACCES",
		"read": "text of a", "write": "written", "throws": "! wrong type", "text": "! only text", "bigint": "! Do not know how to serialize a BigInt", "exit": "! the handler called process.exit(3)",
		"stray": "! later", "print": "quiet", "null": "null", "func": "OK", "lone": "a\ufffdb",
	} {
		r, err := h.Call(t.Context(), &host.Call{Tool: tool, Args: json.RawMessage(`{"path":"a.txt"}`), Agent: host.Agent{ID: "cli"}})
		if err != nil {
			t.Fatal(err)
		}
		got := r.Content[0].Text()
		if r.IsError {
			got = "! " + got
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", tool, got, want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(folder, "out", "a.txt")); err != nil || string(text) != "x" {
		t.Errorf("write: got %q, %v", text, err)
	}
	for _, want := range []string{"said 1", "wrote", "complained", "throws.mjs:3:7"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q", want)
		}
	}
}

// A handler finds a file that it may write somewhere else, and says so: the agent hears its
// own name for it, as it does from the other engine.
func TestNamesOfTheAgent(t *testing.T) {
	for _, state := range []string{"call", "plugin"} {
		policy := &permissions.Policy{FS: permissions.FSPolicy{Read: permissions.Access{Parameter: true}, Write: permissions.Access{Parameter: true}}}
		h, log, folder, err := openState(t, state, map[string]string{
			"same.mjs":  handler("await ctx.fs.write(params.path, 'x'); return params.path"),
			"value.mjs": "import { dirname } from 'node:path'; import { pathToFileURL } from 'node:url';\n" + handler("return { [params.path]: [dirname(params.path), params.path + '.tmp', pathToFileURL(params.path)] }"),
			"error.mjs": handler("await ctx.fs.read(params.path)"),
			"says.mjs":  handler("ctx.progress('at ' + params.path); console.log('saw', params.path); ctx.log.info({ path: params.path }); return [{ type: 'text', text: params.path }]"),
		}, policy, runtimes.Services{})
		if err != nil {
			t.Fatal(err)
		}
		for tool, want := range map[string]string{
			"same": "sub/new ü.txt", "value": `{"sub/new ü.txt":["sub","sub/new ü.txt.tmp","file://` + folder + `/sub/new%20%C3%BC.txt"]}`,
			"error": "ENOENT: no such file or directory, open 'sub/new ü.txt'", "says": `[{"type":"text","text":"sub/new ü.txt"}]`,
		} {
			if err := os.RemoveAll(filepath.Join(folder, "sub")); err != nil {
				t.Fatal(err)
			}
			var said []string
			r, err := h.Call(t.Context(), &host.Call{Tool: tool, Args: json.RawMessage(`{"path":"sub/new ü.txt"}`), Progress: func(m string) { said = append(said, m) }})
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Content[0].Text(); got != want {
				t.Errorf("%s, %s: got %q, want %q", state, tool, got, want)
			}
			if tool == "says" && (len(said) != 1 || said[0] != "at sub/new ü.txt") {
				t.Errorf("%s: progress is %q", state, said)
			}
		}
		if text := log.String(); !strings.Contains(text, "saw sub/new ü.txt") || strings.Contains(text, "toolhost-scratch-") {
			t.Errorf("%s: the log is\n%s", state, text)
		}
	}
}

// A Node.js that has answered ends without a word: at load, after a call, and where a handler
// ends it by either name.
func TestEndsQuietly(t *testing.T) {
	var log *lines
	t.Cleanup(func() { // after open's own, which waits for what runs
		for line := range strings.Lines(log.String()) {
			if !strings.Contains(line, "tool call") {
				t.Errorf("the log says %s", line)
			}
		}
	})
	files := map[string]string{
		"answer.mjs": handler(`return 'answered'`),
		"exit.mjs":   handler(`process.on('exit', () => {}); process.exit(3)`),
		"really.mjs": handler(`process.reallyExit(4)`),
		"code.mjs":   handler(`process.exitCode = 5; process.exit()`),
	}
	h, l, _, err := open(t, files, &permissions.Policy{}, runtimes.Services{})
	log = l
	if err != nil {
		t.Fatal(err)
	}
	for tool, want := range map[string]string{
		"answer": "answered", "exit": "the handler called process.exit(3)", "really": "the handler called process.exit(4)", "code": "the handler called process.exit(5)",
	} {
		r, err := h.Call(t.Context(), &host.Call{Tool: tool, Args: json.RawMessage(`{}`), Agent: host.Agent{ID: "cli"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Content[0].Text(); got != want {
			t.Errorf("%s: got %q, want %q", tool, got, want)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	for _, c := range []struct {
		name         string
		files        map[string]string
		file         string
		line, column int
		message      string
	}{
		{"syntax", map[string]string{"a.mjs": "import './b.mjs'", "b.mjs": "\n\nlet x = ;\n"}, "b.mjs", 3, 9, "Unexpected token"},
		{"syntax of CommonJS", map[string]string{"a.cjs": "let x = ;\n"}, "a.cjs", 1, 9, "Unexpected token"},
		{"throws", map[string]string{"a.mjs": "\nthrow new Error('at load')"}, "a.mjs", 2, 7, "at load"},
		{"no handler", map[string]string{"a.mjs": "export const x = 1"}, "a.mjs", 1, 1, "exports no function"},
		{"missing package", map[string]string{"a.mjs": "import 'no-such-package'"}, "a.mjs", 1, 1, "no-such-package"},
		{"tsx", map[string]string{"a.tsx": "export default () => <a/>"}, "a.tsx", 0, 0, "does not run this kind of file"},
	} {
		_, _, _, err := open(t, c.files, &permissions.Policy{}, runtimes.Services{})
		var load *runtimes.LoadError
		if !errors.As(err, &load) {
			t.Errorf("%s: got %v", c.name, err)
			continue
		}
		p := load.Problems[0]
		if p.File != c.file || p.Line != c.line || p.Column != c.column || !strings.Contains(p.Message, c.message) {
			t.Errorf("%s: got %+v", c.name, p)
		}
	}
}

func TestWithoutNode(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, _, _, err := open(t, map[string]string{"a.mjs": "export default () => 1"}, &permissions.Policy{}, runtimes.Services{})
	var load *runtimes.LoadError
	if !errors.As(err, &load) || !strings.Contains(load.Problems[0].Message, "not in the PATH") || !strings.Contains(load.Problems[0].Hint, "goja") {
		t.Errorf("got %v", err)
	}
	old := filepath.Join(t.TempDir(), "node")
	if err := os.WriteFile(old, []byte("#!/bin/sh\necho v18.20.1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(old))
	if _, _, _, err = open(t, map[string]string{"a.mjs": "export default () => 1"}, &permissions.Policy{}, runtimes.Services{}); err == nil || !strings.Contains(err.Error(), "is 18.20") {
		t.Errorf("got %v", err)
	}
}
