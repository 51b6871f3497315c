package testhost_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/loader"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

// cards is a host with a folder of cards.
type cards struct {
	t      *testing.T
	dir    string // of the cards
	folder string // the agent's
	host   *host.Host
	loader *loader.Loader
	log    *logged
	store  map[string]memory // by keeper
}

type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// memory is a store and the settings of a plugin.
type memory struct {
	mu     *sync.Mutex
	values map[string]json.RawMessage
}

func (m memory) Get(_ context.Context, key string) (json.RawMessage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[key], nil
}

func (m memory) Set(_ context.Context, key string, value json.RawMessage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[key] = value
	return nil
}

func (m memory) Delete(_ context.Context, key string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, had := m.values[key]
	delete(m.values, key)
	return had, nil
}

func (m memory) List(_ context.Context, prefix string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(m.values)) {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

func (m memory) All(context.Context) (map[string]json.RawMessage, error) { return m.values, nil }

func newCards(t *testing.T, options loader.Options) *cards {
	t.Helper()
	return newCardsIn(t, node.New(nil), options)
}

func newCardsIn(t *testing.T, runtime runtimes.Runtime, options loader.Options) *cards {
	t.Helper()
	c := &cards{t: t, dir: t.TempDir(), folder: t.TempDir(), log: &logged{}, store: map[string]memory{}}
	log := slog.New(slog.NewTextHandler(c.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c.host = host.New(&host.Options{Folder: c.folder, Log: log})
	var mu sync.Mutex
	shared := &memory{mu: &sync.Mutex{}, values: map[string]json.RawMessage{}}
	options.Dirs, options.Log = []string{c.dir}, log
	options.Services = func(m *loader.Manifest) runtimes.Services {
		mu.Lock()
		defer mu.Unlock()
		values := map[string]json.RawMessage{}
		for key, s := range m.Contributes.Settings {
			_, short, _ := strings.Cut(key, ".")
			values[short] = s.Default
			if s.Secret {
				values[short] = json.RawMessage(`"sesame"`)
			}
		}
		values["copy"] = json.RawMessage(fmt.Sprintf("%q", m.Keeper()))
		return runtimes.Services{Settings: memory{&sync.Mutex{}, values}, Store: shared}
	}
	c.loader = loader.New(c.host, map[string]runtimes.Runtime{"node": runtime}, &options)
	t.Cleanup(func() {
		if err := c.loader.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := c.host.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// card writes a card. tools are names, each with the time that its calls have, if any.
func (c *cards) card(name, code string, fields map[string]any, tools ...string) {
	c.t.Helper()
	m := map[string]any{"manifestVersion": 1, "name": name, "displayName": name, "version": "1.0.0", "protocol": 1, "entry": "card.js"}
	var list []any
	for _, tool := range tools {
		id, ms, timed := strings.Cut(tool, ":")
		one := map[string]any{"name": id, "description": "A tool of a test card.", "inputSchema": json.RawMessage(`{"type":"object"}`)}
		if timed {
			one["timeoutMs"] = json.Number(ms)
		}
		list = append(list, one)
	}
	m["tools"] = list
	maps.Copy(m, fields)
	text, err := json.Marshal(m)
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(name+"/neurosquad-card.json", string(text))
	if code != "" {
		c.write(name+"/card.js", code)
	}
}

func (c *cards) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cards) load() {
	c.t.Helper()
	if err := c.loader.LoadAll(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}

// errors gives why a card did not load.
func (c *cards) errors(name string) string {
	for _, s := range c.loader.Status() {
		if s.Name == name {
			var all []string
			for _, e := range s.Errors {
				all = append(all, e.Error())
			}
			return strings.Join(all, "\n")
		}
	}
	return "there is no " + name
}

func (c *cards) call(tool, args string) string {
	c.t.Helper()
	r, err := c.host.Call(c.t.Context(), &host.Call{Tool: tool, Args: json.RawMessage(args), Agent: host.Agent{ID: "a1", Name: "Agent"}})
	if err != nil {
		return "error " + err.Error()
	}
	var text []string
	for _, block := range r.Content {
		if _, mime, ok := block.Data(); ok {
			text = append(text, mime)
		} else {
			text = append(text, block.Text())
		}
	}
	if r.IsError {
		return "! " + strings.Join(text, "|")
	}
	return strings.Join(text, "|")
}

func (c *cards) want(tool, args, want string) {
	c.t.Helper()
	if got := c.call(tool, args); got != want {
		c.t.Errorf("%s %s gives\n%s\nnot\n%s\n%s", tool, args, got, want, c.errors(strings.ReplaceAll(tool[:strings.LastIndexByte(tool, '_')], "_", "-")))
	}
}

func (c *cards) wantIn(tool, args string, wants ...string) {
	c.t.Helper()
	got := c.call(tool, args)
	for _, w := range wants {
		if !strings.Contains(got, w) {
			c.t.Errorf("%s %s gives\n%s\nwithout %q", tool, args, got, w)
		}
	}
}

// wantSoon calls until the answer is the one that is wanted: what a call leaves behind that
// was given up comes a little after the caller's answer.
func (c *cards) wantSoon(tool, want string) {
	c.t.Helper()
	got := ""
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); {
		if got = c.call(tool, "{}"); got == want {
			return
		}
	}
	c.t.Errorf("%s gives %q, not %q", tool, got, want)
}

const sdk = "import { connect, isCardSdkError, createTranslator, toolText, toolImage, toolError } from '@neurosquad/card-sdk';\nconst card = await connect();\n"

func TestCardResults(t *testing.T) {
	c := newCards(t, loader.Options{})
	png := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n and more"))
	kinds := map[string][2]string{
		"nothing":  {"undefined", "OK"},
		"text":     {"'a\\nb'", "a\nb"},
		"object":   {"({ a: 1, b: [true, null], c: {} })", "{\n  \"a\": 1,\n  \"b\": [\n    true,\n    null\n  ],\n  \"c\": {}\n}"},
		"number":   {"12", "12"},
		"nil":      {"null", "null"},
		"list":     {"[1]", "[\n  1\n]"},
		"tooltext": {"toolText('said')", "said"},
		"image":    {"toolImage('" + png + "', 'image/png', 'a picture')", "image/png|a picture"},
		"failed":   {"toolError('it is closed')", "! it is closed"},
		"throws":   {"(() => { throw new Error('out of paper') })()", "! out of paper"},
		"broken":   {"({ content: [{ type: 'text' }] })", "{\n  \"content\": [\n    {\n      \"type\": \"text\"\n    }\n  ]\n}"},
		"about":    {"[call.tool, call.agent.name, typeof call.callId, call.deadline > Date.now(), call.signal.aborted]", "[\n  \"about\",\n  \"Agent\",\n  \"string\",\n  true,\n  false\n]"},
	}
	code := sdk
	for name, k := range kinds {
		code += fmt.Sprintf("card.tools.handle(%q, async (args, call) => %s);\n", name, k[0])
	}
	c.card("kinds", code, nil, slices.Sorted(maps.Keys(kinds))...)
	c.load()
	for name, k := range kinds {
		c.want("kinds_"+name, "{}", k[1])
	}
	r, ok := c.host.Tool("kinds_text")
	if !ok || r.Description != `[Custom card "kinds", community code] A tool of a test card.` {
		t.Errorf("the description is %q", r.Description)
	}
	if want := `{"type":"object","properties":{"card":{"type":"string"}}}`; string(r.InputSchema) != want {
		t.Errorf("the schema is %s", r.InputSchema)
	}
}

func TestCardHandlers(t *testing.T) {
	c := newCards(t, loader.Options{})
	c.card("late", sdk+`
let n = 0, off;
card.tools.handle('open', () => { card.tools.handle('waits', (args) => 'heard ' + args.word); return 'opened'; });
card.tools.handle('again', () => {
  off?.();
  const mine = ++n;
  off = card.tools.handle('changes', () => 'handler ' + mine);
  return 'set';
});
card.tools.handle('twice', () => { card.tools.handle('twice', () => 1); });
card.tools.handle('stop', () => { off(); off(); return 'stopped'; });
`, nil, "open", "waits:20000", "again", "changes:1500", "twice", "stop", "never:1000")
	c.load()
	answer := make(chan string, 1)
	started := make(chan struct{})
	stop := c.host.Observe(observer(func(e host.Event) {
		if e.Kind == host.CallStarted && e.Call.Tool == "late_waits" {
			close(started)
		}
	}))
	defer stop()
	go func() { answer <- c.call("late_waits", `{"word":"you"}`) }()
	<-started
	c.want("late_open", "{}", "opened")
	if got := <-answer; got != "heard you" {
		t.Errorf("a call before its handler gives %q", got)
	}
	c.want("late_again", "{}", "set")
	c.want("late_changes", "{}", "handler 1")
	c.want("late_again", "{}", "set")
	c.want("late_changes", "{}", "handler 2")
	c.wantIn("late_twice", "{}", `! a handler of the tool "twice" is registered already`)
	c.want("late_stop", "{}", "stopped")
	c.wantIn("late_changes", "{}", `! the card has registered no handler of the tool "changes" in time`)
	c.wantIn("late_never", "{}", `! the card has registered no handler of the tool "never" in time; it has handlers of "open", "again"`, `card.tools.handle("never", …)`)
}

type observer func(host.Event)

func (f observer) Observe(e host.Event) { f(e) }

func TestCardsThatGoWrong(t *testing.T) {
	c := newCards(t, loader.Options{})
	c.card("throws", sdk+"null.x;", nil, "a")
	c.card("doubles", sdk+"card.tools.handle('a', () => 1);\ncard.tools.handle('a', () => 2);", nil, "a")
	c.card("misnames", sdk+"card.tools.handle('lst', () => 1);", nil, "list:1000")
	c.card("silent", "globalThis.x = 1;", nil, "a:1000")
	c.card("no-function", sdk+"card.tools.handle('a', 7);", nil, "a")
	c.card("fine", sdk+"card.tools.handle('a', () => 'fine');", nil, "a")
	c.card("two", sdk, nil, "a")
	c.write("two/filer-plugin.json", `{"name":"two"}`)
	c.card("no-entry", "", nil, "a")
	c.load()
	for name, want := range map[string]string{
		"throws": "card.js:3:", "doubles": "card.js:4:", "no-function": `the handler of the tool "a" is no function`,
		"two": "the folder has a filer-plugin.json and a neurosquad-card.json", "no-entry": `the file "card.js" of the card does not exist`,
	} {
		if got := c.errors(name); !strings.Contains(got, want) {
			t.Errorf("%s: %q lacks %q", name, got, want)
		}
	}
	c.want("fine_a", "{}", "fine")
	c.wantIn("misnames_list", "{}", `it has handlers of "lst"`)
	c.wantIn("silent_a", "{}", "it has none at all")
	if log := c.log.String(); !strings.Contains(log, `a handler is registered for \"lst\", which is no tool of the manifest: it has list`) {
		t.Errorf("the log does not tell of the wrong name: %s", log)
	}
}

func TestCardTimes(t *testing.T) { inBoth(t, testCardTimes) }

func testCardTimes(t *testing.T, runtime runtimes.Runtime) {
	c := newCardsIn(t, runtime, loader.Options{})
	c.card("slow", sdk+`
let seen = 'nothing';
card.tools.handle('wait', (args, call) => new Promise((go) => {
  for (let i = 0; i < 50; i++) call.progress('step ' + i + ' ' + 'x'.repeat(300));
  call.signal.addEventListener('abort', () => { seen = call.signal.reason.name; });
}));
card.tools.handle('seen', () => seen);
`, nil, "wait:1000", "seen")
	c.load()
	c.want("slow_seen", "{}", "nothing") // what comes before the first call takes of no deadline
	var said []string
	started := time.Now()
	r, err := c.host.Call(t.Context(), &host.Call{Tool: "slow_wait", Progress: func(m string) { said = append(said, m) }})
	if err != nil || !r.IsError || !strings.Contains(r.Content[0].Text(), `"slow_wait" timed out after 1s`) {
		t.Errorf("%v %v", r, err)
	}
	if took := time.Since(started); took < time.Second || len(said) > 5 || len(said) < 2 {
		t.Errorf("%d messages in %s", len(said), took)
	}
	for _, m := range said {
		if len([]rune(m)) > 200 {
			t.Errorf("a message of %d characters", len(m))
		}
	}
	c.wantSoon("slow_seen", "TimeoutError")
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := c.host.Call(ctx, &host.Call{Tool: "slow_wait", Progress: func(string) { cancel() }}); err == nil {
		t.Error("a cancelled call has a result")
	}
	c.wantSoon("slow_seen", "AbortError")
}

func TestCardNames(t *testing.T) {
	c := newCards(t, loader.Options{})
	for owner, source := range map[string]host.Source{"own": host.BuiltIn, "program": host.HostTool} {
		if _, err := c.host.Replace(owner, source, []*host.Tool{{
			Name: owner + "_tool", Description: "A tool of the host.", InputSchema: json.RawMessage(`{"type":"object"}`),
			Handler: host.HandlerFunc(func(context.Context, *host.Call) (*host.Result, error) { return nil, nil }),
		}}); err != nil {
			t.Fatal(err)
		}
	}
	say := func(what string) string { return sdk + "card.tools.handle('say', () => '" + what + "');" }
	c.write("a-plugin/filer-plugin.json", `{"name":"a-plugin","tools":[{"id":"b_card_say","title":"Say","description":"Says something to somebody.","schema":"s.json","handler":"h.js"}]}`)
	c.write("a-plugin/s.json", `{"type":"object"}`)
	c.write("a-plugin/h.js", `export default () => 'plugin';`)
	c.card("b-card", say("card"), nil, "say")
	c.card("own", say("x"), nil, "tool")
	c.card("program", say("x"), nil, "tool")
	c.write("z-plugin/filer-plugin.json", `{"name":"z-plugin","tools":[{"id":"b_card_say_2","title":"Say","description":"Says something to somebody.","schema":"s.json","handler":"h.js"}]}`)
	c.write("z-plugin/s.json", `{"type":"object"}`)
	c.write("z-plugin/h.js", `export default () => 'z';`)
	c.load()
	c.want("b_card_say", "{}", "plugin")
	c.want("b_card_say_2", "{}", "card")
	for _, name := range []string{"own", "program"} {
		if got := c.errors(name); !strings.Contains(got, `"`+name+`_tool"`) {
			t.Errorf("a card with the name of a tool of the host: %q", got)
		}
	}
	for _, s := range c.loader.Status() {
		switch s.Name {
		case "b-card":
			if !slices.Equal(s.Tools, []string{"b_card_say_2"}) {
				t.Errorf("the card's tools are %v", s.Tools)
			}
		case "z-plugin":
			if len(s.Skipped) != 1 {
				t.Errorf("a plugin takes a card's name: %+v", s)
			}
		}
	}
}

func TestCardCopies(t *testing.T) {
	c := newCards(t, loader.Options{Cards: []loader.CardCopy{
		{Card: "board", ID: "work", Name: "Work Board"}, {Card: "board", ID: "home", Name: "Home"}, {Card: "board", ID: "other", Name: "home"}, {Card: "else", ID: "x"},
	}})
	c.card("board", sdk+`
let n = 0;
card.tools.handle('add', async (args) => {
  await card.storage.set('n', (await card.storage.get('n', 0)) + 1);
  await card.storage.package.set('all', (await card.storage.package.get('all', 0)) + 1);
  return [++n, await card.storage.get('n'), await card.storage.package.get('all'), card.instanceId, card.instance.title, card.settings.value('copy'), 'card' in args, (await card.storage.keys()).join()].join(' ');
});
card.tools.handle('hide', async ({ hidden }) => { await card.tools.setEnabled('add', !hidden); return 'done'; });
`, map[string]any{"settings": []any{map[string]any{"key": "copy", "type": "string", "label": "Copy"}}}, "add", "hide")
	c.load()
	c.want("board_add", `{"card":"work"}`, "1 1 1 work Work Board board@work false n")
	c.want("board_add", `{"card":"Work Board"}`, "2 2 2 work Work Board board@work false n")
	c.want("board_add", `{"card":"work board"}`, "3 3 3 work Work Board board@work false n")
	c.want("board_add", `{"card":"Home"}`, "1 1 4 home Home board@home false n")
	c.want("board_add", `{"card":"other"}`, "1 1 5 other home board@other false n")
	c.wantIn("board_add", `{"card":"HOME"}`, `! The tool did not run: 2 copies of the card "board" are called "HOME"`, `"home" (Home), "other" (home)`)
	c.wantIn("board_add", `{"card":"wrk"}`, `there is no copy "wrk"`, `Did you mean "work"?`)
	c.wantIn("board_add", `{"card":"nowhere at all"}`, `There is "work" (Work Board)`)
	c.wantIn("board_add", `{}`, `there are 3 copies of the card "board"`)
	c.wantIn("board_add", `{"card":["work"]}`, "!", "/card")
	c.want("board_hide", `{"card":"home","hidden":true}`, "done")
	if got := c.call("board_add", `{"card":"work"}`); !strings.Contains(got, "unknown tool") {
		t.Errorf("a hidden tool of another copy gives %q", got)
	}
	c.want("board_hide", `{"card":"work","hidden":false}`, "done")
	c.want("board_add", `{"card":"work"}`, "4 4 6 work Work Board board@work false n")
}

func TestCardRequests(t *testing.T) {
	c := newCards(t, loader.Options{})
	try := func(what string) string {
		return "(async () => { try { return { ok: (await (" + what + ")) ?? null }; } catch (e) { return [isCardSdkError(e, e.code), e.code, e.message].join(' '); } })()"
	}
	requests := map[string][]string{
		"confirm":   {"card.ui.confirm({title:'a',message:'b'})", "true UNAVAILABLE ui.confirm: this host has no screen that could answer [UNAVAILABLE] — This card runs without a screen"},
		"terminal":  {"card.terminals.run('x', 'ls')", "true PERMISSION_DENIED", `no permission "terminals.write"`, "neurosquad-card.json"},
		"agents":    {"card.agents.list()", "true UNAVAILABLE"},
		"badge":     {"card.setBadge(3)", "null"},
		"overview":  {"card.setOverview({ primary: 'x' })", "null"},
		"attention": {"card.attention('info', 'look')", "null"},
		"toast":     {"card.ui.toast('hi')", "null"},
		"menu":      {"card.ui.setMenu([{ id: 'a', label: 'A', onSelect() {} }])", "null"},
		"emit":      {"card.ports.emit('out', 1)", "0"},
		"raw":       {"card.call('no.such')", "true METHOD_NOT_FOUND"},
		"workspace": {"card.workspace.get()", `"folder": "` + c.folder},
		"readtext":  {"card.fs.readText('a.txt')", `"ok": "content"`},
		"outside":   {"card.fs.readText('../x')", `true FS_DENIED fs.read: ".." is not allowed`},
		"absolute":  {"card.fs.readText('/etc/passwd')", "true FS_DENIED"},
		"link":      {"card.fs.readText('out.txt')", "true FS_DENIED"},
		"missing":   {"card.fs.readText('nope')", "true INVALID_PARAMS", "ENOENT"},
		"write":     {"card.fs.writeText('sub/b.txt', 'b', { createDirs: true })", `"size": 1`},
		"writegit":  {"card.fs.writeText('.mcp.json', '{}')", "true FS_DENIED"},
		"lost":      {"card.fs.writeText('a.txt', 'new', { ifMtimeMs: 1 })", "true INVALID_PARAMS", "was changed"},
		"files":     {"card.fs.list('', { recursive: true })", `"path": "a.txt"`, `"type": "file"`},
		"trash":     {"card.fs.trash('a.txt')", "true UNAVAILABLE"},
		"host":      {"card.net.fetch('https://elsewhere.example.com/')", "true HOST_NOT_ALLOWED"},
		"header":    {"card.net.fetch('https://api.example.com/', { headers: { Cookie: 'x' } })", "true INVALID_PARAMS"},
		"setting":   {"[card.settings.value('unit'), card.settings.value('token'), card.settings.hasSecret('token'), card.settings.values.unit, JSON.stringify(card.settings.secrets)].join()", `metric,,true,metric,{\"token\":true}`},
		"change":    {"card.settings.set({ unit: 'x' })", "true UNAVAILABLE", "toolhost settings set all.KEY VALUE"},
		"key":       {"card.storage.set('', 1)", "true INVALID_PARAMS"},
		"value":     {"card.storage.set('x', undefined)", "true INVALID_PARAMS"},
		"enabled":   {"card.tools.setEnabled('nope', false)", "true INVALID_PARAMS"},
		"granted":   {"card.permissions.request('fs.read', 'usage.read')", "\"fs.read\"\n"},
		"has":       {"card.permissions.has('fs.read') && !card.permissions.has('usage.read')", `"ok": true`},
		"language":  {"[['n', { count: 2000.5 }], ['n', { count: 1 }], ['a.b', { name: 'Ada' }], ['none']].map((w) => createTranslator({ en: { n_one: '{{count}} word', n_other: '{{count}} words', a: { b: 'hi {{name}}' } } }, card)(...w)).join()", "2,000.5 words,1 word,hi Ada,none"},
		"log":       {"card.log.warn('odd', { a: 1 })", "null"},
	}
	code := sdk
	for name, r := range requests {
		code += fmt.Sprintf("card.tools.handle(%q, () => %s);\n", name, try(r[0]))
	}
	c.card("all", code, map[string]any{
		"permissions": []any{"fs.write", "agents.read", map[string]any{"id": "network", "hosts": []string{"api.example.com"}}},
		"settings": []any{
			map[string]any{"key": "unit", "type": "string", "label": "Unit", "default": "metric"},
			map[string]any{"key": "token", "type": "secret", "label": "Token"},
		},
	}, slices.Sorted(maps.Keys(requests))[:32]...)
	names := slices.Sorted(maps.Keys(requests))
	if len(names) > 32 {
		t.Fatalf("a card has 32 tools, not %d", len(names))
	}
	if err := os.WriteFile(filepath.Join(c.folder, "a.txt"), []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(c.folder, "out.txt")); err != nil {
		t.Fatal(err)
	}
	c.load()
	for _, name := range names {
		c.wantIn("all_"+name, "{}", requests[name][1:]...)
	}
	for _, w := range []string{`card.setBadge {\"count\":3}`, `ui.toast {\"message\":\"hi\"}`, `odd {\"a\":1}`} {
		if log := c.log.String(); !strings.Contains(log, w) {
			t.Errorf("the log lacks %s", w)
		}
	}
}

func TestCardHidesTools(t *testing.T) {
	c := newCards(t, loader.Options{})
	c.card("hides", sdk+"await card.tools.setEnabled('b', false);\ncard.tools.handle('a', async (args) => { await card.tools.setEnabled('b', args.show); return 'ok'; });\ncard.tools.handle('b', () => 'b');", nil, "a", "b")
	changes := 0
	var mu sync.Mutex
	defer c.host.Observe(observer(func(e host.Event) {
		if e.Kind == host.ToolsChanged {
			mu.Lock()
			defer mu.Unlock()
			changes++
		}
	}))()
	c.load()
	enabled := func(want bool) {
		t.Helper()
		if r, ok := c.host.Tool("hides_b"); !ok || r.Enabled != want {
			t.Errorf("enabled is %v", r.Enabled)
		}
	}
	enabled(false)
	c.want("hides_a", `{"show":true}`, "ok")
	enabled(true)
	c.host.SetEnabled("hides_b", false)
	c.want("hides_a", `{"show":true}`, "ok")
	enabled(false) // the user's word counts
	c.host.SetEnabled("hides_b", true)
	c.want("hides_b", "{}", "b")
	mu.Lock()
	defer mu.Unlock()
	if changes != 4 {
		t.Errorf("the list changed %d times", changes)
	}
}

func TestCardReload(t *testing.T) {
	c := newCards(t, loader.Options{})
	version := func(n string) {
		c.card("again", sdk+"let n = 0; card.tools.handle('say', () => '"+n+"' + ++n);", nil, "say")
	}
	version("first ")
	c.load()
	c.want("again_say", "{}", "first 1")
	c.want("again_say", "{}", "first 2")
	version("second ")
	if err := c.loader.Load(t.Context(), filepath.Join(c.dir, "again")); err != nil {
		t.Fatal(err)
	}
	c.want("again_say", "{}", "second 1")
	c.card("again", sdk+"throw new Error('half written');", nil, "say")
	if err := c.loader.Load(t.Context(), filepath.Join(c.dir, "again")); err == nil || !strings.Contains(err.Error(), "half written") {
		t.Errorf("err = %v", err)
	}
	c.want("again_say", "{}", "second 2")
}

// A card that is saved, added or removed is seen as a plugin is.
func TestCardIsWatched(t *testing.T) {
	events := make(chan loader.Event, 100)
	c := newCards(t, loader.Options{Observe: func(e loader.Event) { events <- e }})
	next := func(kind loader.EventKind, name string) {
		t.Helper()
		for e := range events {
			if e.Status.Name == name && e.Kind == kind {
				return
			}
			t.Logf("%s %s %v", e.Kind, e.Status.Name, e.Status.Errors)
		}
	}
	c.card("one", sdk+"card.tools.handle('say', () => 'first');", nil, "say")
	c.load()
	next(loader.PluginLoaded, "one")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.loader.Watch(ctx) // ends with ctx
	}()
	defer func() { cancel(); <-ended }()
	c.card("two", sdk+"card.tools.handle('say', () => 'new');", nil, "say")
	next(loader.PluginLoaded, "two")
	c.want("two_say", "{}", "new")
	c.write("one/card.js", sdk+"card.tools.handle('say', () => 'second');")
	next(loader.PluginReloaded, "one")
	c.want("one_say", "{}", "second")
	if err := os.RemoveAll(filepath.Join(c.dir, "two")); err != nil {
		t.Fatal(err)
	}
	next(loader.PluginRemoved, "two")
}

func TestCardWithAPage(t *testing.T) {
	c := newCards(t, loader.Options{})
	c.card("board", "", map[string]any{"entry": "dist/index.html", "displayName": map[string]string{"en": "Release Board"}}, "list")
	c.write("board/dist/index.html", "<!doctype html>")
	c.load()
	c.want("board_list", "{}", `! The tool did not run: it runs in the page of the card "Release Board" (dist/index.html), which is not open. Ask the user to open this card in an app that shows cards, and call the tool again.`)
}

func TestVendoredSDKDoesNotWin(t *testing.T) {
	c := newCards(t, loader.Options{})
	c.card("vendored", sdk+"card.tools.handle('a', () => 'of the host');", nil, "a")
	c.write("vendored/node_modules/@neurosquad/card-sdk/package.json", `{"name":"@neurosquad/card-sdk","version":"9.9.9","main":"index.js"}`)
	c.write("vendored/node_modules/@neurosquad/card-sdk/index.js", "exports.connect = () => { throw new Error('vendored'); };")
	c.write("vendored/package.json", `{"name":"vendored","type":"module","dependencies":{"@neurosquad/card-sdk":"^1.0.0"}}`)
	c.load()
	c.want("vendored_a", "{}", "of the host")
}
