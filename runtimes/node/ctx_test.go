package node_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

// handle runs a handler body once, under a policy, and gives its text and what it logged.
func handle(t *testing.T, policy *permissions.Policy, body string) (text, log, folder string) {
	t.Helper()
	return handleWith(t, runtimes.Services{}, policy, body)
}

// handleWith is handle with services of the host.
func handleWith(t *testing.T, services runtimes.Services, policy *permissions.Policy, body string) (text, log, folder string) {
	t.Helper()
	dir, folder := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "handler.mjs"), []byte("import * as fsp from 'node:fs/promises';\nimport fs from 'node:fs';\nasync function body(ctx) {\n"+body+"\n}\nexport default async (params, ctx) => { const v = await body(ctx); return typeof v === 'string' ? v : JSON.stringify(v); };\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	policy.Root = dir
	out := &lines{}
	instance, err := node.New(nil).Open(t.Context(), runtimes.Spec{Plugin: "p", Dir: dir, Policy: policy, Services: services.Guard(policy), Log: slog.New(out), Tools: []runtimes.Tool{{ID: "run", Handler: "handler.mjs"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer instance.Close(context.Background())
	grant, err := policy.Resolve(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer grant.Revoke()
	result, err := instance.Handler("run").Handle(t.Context(), &host.Call{
		Tool: "run", ID: "call-1", Args: json.RawMessage("{}"), Folder: folder, Grant: grant, Log: slog.New(out), Agent: host.Agent{ID: "agent-1", Name: "tester"},
		Deadline: time.UnixMilli(1700000000123), Progress: func(message string) { out.add("progress: " + message) },
	})
	if err != nil {
		t.Fatal(err)
	}
	text = result.Content[0].Text()
	if result.IsError {
		text = "! " + text
	}
	return text, out.text(), folder
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

func TestContext(t *testing.T) {
	all := permissions.Access{Folder: true}
	full := func() *permissions.Policy {
		return &permissions.Policy{FS: permissions.FSPolicy{Read: all, Write: all}, Settings: true, Store: true, Toast: true, AIComplete: true, SessionGetActive: true}
	}
	t.Setenv("NODE_TEST_GRANTED", "yes")
	t.Setenv("NODE_TEST_HIDDEN", "no")
	for name, test := range map[string]struct {
		policy *permissions.Policy
		body   string
		want   string // FOLDER stands for the agent's folder
	}{
		"facts": {full(), `return [ctx.callId, ctx.tool, ctx.agent, ctx.deadline, ctx.folder === process.cwd(), Object.keys(ctx).length, 'fs' in ctx, ctx.nothing, ctx.signal.aborted]`,
			`["call-1","run",{"id":"agent-1","name":"tester"},1700000000123,true,23,true,null,false]`},
		"own members": {full(), `ctx.mine = 5; const { fs, log, ...rest } = ctx; delete ctx.toast; return [ctx.mine, typeof fs.read, typeof rest.progress, ctx.toast]`, `[5,"function","function",null]`},
		"fs": {full(), `const b = await ctx.fs.read('a.txt'); await ctx.fs.mkdir('d/e'); await ctx.fs.write('d/x.txt', 'new'); const s = await ctx.fs.stat('d/x.txt');
			return [Buffer.isBuffer(b), b.toString(), await ctx.fs.list('.'), await ctx.fs.list('d'), await ctx.fs.exists('a.txt'), await ctx.fs.exists('zz'), s.size, s.isFile()]`,
			`[true,"hello",["a.txt","d"],["e","x.txt"],true,false,3,true]`},
		"fs missing": {full(), `return ctx.fs.read('zz').catch((e) => [e.code, e.message])`, `["ENOENT","ENOENT: no such file or directory, open 'zz'"]`},
		"fs denied": {&permissions.Policy{}, `const out = []; for (const f of [() => ctx.fs.read('a.txt'), () => fsp.readFile('a.txt'), () => fs.readFileSync('a.txt'), () => ctx.fs.write('x', ''), () => ctx.fs.list('.'), () => fsp.open('a.txt'), () => new Promise((y, n) => fs.createReadStream('a.txt').on('error', n).on('end', y).resume())]) { try { await f(); out.push('allowed'); } catch (e) { out.push(e.name + ' ' + e.code + ' ' + e.message.includes('"permissions"')); } } return [new Set(out).size, out[0], fs.existsSync('a.txt'), await ctx.fs.exists('a.txt')]`,
			`[1,"PluginPermissionError EACCES true",false,false]`},
		"undeclared": {&permissions.Policy{}, `const out = {}; for (const [k, f] of Object.entries({ settings: () => ctx.settings.get('k'), all: () => ctx.settings.getAll(), store: () => ctx.store.set('a', 1), toast: () => ctx.toast({ message: 'x' }), session: () => ctx.session.getActive(), channels: () => ctx.channels.getIntegrationConfig(), ai: () => ctx.ai.complete('x'), execute: () => ctx.execute('c'), pdf: () => ctx.renderHtmlToPdf('x'), fetch: () => fetch('https://a.b/c') })) { try { await f(); out[k] = 'allowed'; } catch (e) { out[k] = e.name === 'PluginPermissionError' && e.code === 'EACCES' && e.message.includes('"permissions": {'); } } return Object.values(out).every((v) => v === true) && Object.keys(out).length`, `10`},
		"undeclared channels": {&permissions.Policy{}, `const out = []; for (const f of [() => ctx.channels.setIntegrationConfig('c', 'p', {}), () => ctx.triggerInbound({}), () => ctx.respondToHitl('a', 'r', true), () => ctx.listChannels(), () => ctx.getSessionHistory('s'), () => ctx.settings.set('k', 1)]) await f().then(() => out.push(1), (e) => out.push(e.name)); return out.join()`,
			`PluginPermissionError,PluginPermissionError,PluginPermissionError,PluginPermissionError,PluginPermissionError,PluginPermissionError`},
		"declared channels": {&permissions.Policy{ChannelsGetIntegrationConfig: true, HostTrigger: true, Settings: true}, `const out = [await ctx.channels.getIntegrationConfig('c', 'p'), await ctx.channels.setIntegrationConfig('c', 'p', {})]; for (const f of [() => ctx.triggerInbound({}), () => ctx.respondToHitl('a', 'r', true), () => ctx.listChannels(), () => ctx.getSessionHistory('s'), () => ctx.session.sendMessage('s', 'x'), () => ctx.settings.set('my.key', 1)]) await f().then((v) => out.push(JSON.stringify(v)), (e) => out.push(e.code + ' ' + e.message)); return out.join('|').replaceAll(' is not available: this host has nothing that could do it', ' lacks').replaceAll('ERR_UNSUPPORTED_IN_HOST ', '')`,
			`||ctx.triggerInbound lacks|ctx.respondToHitl lacks|[]|ctx.getSessionHistory lacks|ctx.session.sendMessage lacks|ctx.settings.set lacks; settings are the user's to set: toolhost settings set KEY`},
		"declared": {full(), `const out = []; for (const f of [() => ctx.settings.get('k'), () => ctx.store.get('a'), () => ctx.ai.complete('x')]) { try { await f(); out.push('allowed'); } catch (e) { out.push(e.code); } } return [...out, await ctx.toast({}) ?? null, await ctx.session.getActive() ?? null, await ctx.viewData.get('x') ?? null, await ctx.viewData.set('x', 1) ?? null]`,
			`["ERR_UNSUPPORTED_IN_HOST","ERR_UNSUPPORTED_IN_HOST","ERR_UNSUPPORTED_IN_HOST",null,null,null,null]`},
		"env":                   {&permissions.Policy{Env: []string{"NODE_TEST_GRANTED", "NODE_TEST_UNSET"}}, `return process.env`, `{"NODE_TEST_GRANTED":"yes"}`},
		"exit":                  {full(), `try { process.exit(3); } catch {} finally { return 'went on'; }`, `! the handler called process.exit(3)`},
		"descriptors":           {full(), `const fds = []; let code; try { for (;;) fds.push(fs.openSync('a.txt')); } catch (e) { code = e.code; } return [fds[0], fds.length, code]`, `[3,1024,"EMFILE"]`},
		"data is copied":        {full(), `const b = Buffer.alloc(400000, 'a'); const p = fsp.writeFile('big', b); b.fill('b'); await p; return fs.readFileSync('big', 'latin1') === 'a'.repeat(400000)`, `true`},
		"path once":             {full(), `let n = 0; const p = { href: 'file://x', protocol: 'file:', get pathname() { return ++n === 1 ? '/a' : '/b'; }, hostname: '' }; try { fs.readFileSync(p); } catch (e) { return n; }`, `1`},
		"uncaught in timer":     {full(), `setTimeout(() => { throw new Error('in timer'); }, 1); await new Promise((r) => setTimeout(r, 5000)); return 'went on'`, `! in timer`},
		"uncaught in tick":      {full(), `process.nextTick(() => { throw new Error('in tick'); }); await new Promise((r) => setTimeout(r, 5000)); return 'went on'`, `! in tick`},
		"uncaught in microtask": {full(), `queueMicrotask(() => { throw new Error('in job'); }); await new Promise((r) => setTimeout(r, 5000)); return 'went on'`, `! in job`},
		"uncaught in callback":  {full(), `fs.readFile('a.txt', () => { throw new Error('in callback'); }); await new Promise((r) => setTimeout(r, 5000)); return 'went on'`, `! in callback`},
		"uncaught in listener":  {full(), `const t = new EventTarget(); t.addEventListener('x', () => { throw new Error('in listener'); }); t.dispatchEvent(new Event('x')); await new Promise((r) => setTimeout(r, 5000)); return 'went on'`, `! in listener`},
	} {
		t.Run(name, func(t *testing.T) {
			text, log, folder := handle(t, test.policy, test.body)
			if text = strings.ReplaceAll(text, folder, "FOLDER"); text != test.want {
				t.Errorf("got  %s\nwant %s\n%s", text, test.want, log)
			}
		})
	}
}

func TestContextSpeaks(t *testing.T) {
	text, log, _ := handle(t, &permissions.Policy{}, `ctx.progress('half'); ctx.progress({ message: 'done' }); ctx.progress(); ctx.log.info('n is %d', 5, { a: 1 }); ctx.log.error('bad'); console.log('from', ['console']); return 'ok'`)
	if text != "ok" {
		t.Fatal(text)
	}
	for _, line := range []string{"progress: half", "progress: done", "n is 5 { a: 1 }", "bad", "from [ 'console' ]"} {
		if !strings.Contains(log, line+"\n") {
			t.Errorf("%q is missing in\n%s", line, log)
		}
	}
}
