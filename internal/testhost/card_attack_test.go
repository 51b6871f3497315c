package testhost_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/loader"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
	"github.com/toolhost/toolhost/runtimes/worker"
)

func TestMain(m *testing.M) {
	child.Main()
	worker.Main()
	os.Exit(m.Run())
}

// inBoth runs a test with cards in the host's process and in workers.
func inBoth(t *testing.T, test func(t *testing.T, r runtimes.Runtime)) {
	t.Run("in process", func(t *testing.T) { test(t, node.New(nil)) })
	t.Run("worker", func(t *testing.T) { test(t, worker.New(nil)) })
}

// hostile are bodies of a handler, with what the answer to a call of it has. What only
// harms the card itself may end in any answer, which is "".
var hostile = map[string][2]string{
	// What cards hand over.
	"path is an object":          {`card.fs.readText({ toString() { return '/etc/passwd'; } })`, "the path must be a string [INVALID_PARAMS]"},
	"path is a proxy":            {`card.fs.readText(new Proxy({}, { get() { throw new Error('trap'); } }))`, "the path must be a string [INVALID_PARAMS]"},
	"parameters are a proxy":     {`card.call('fs.read', new Proxy({}, { get() { throw new Error('trap'); } }))`, "fs.read: trap [INTERNAL]"},
	"parameters throw nothing":   {`card.call('fs.read', { get path() { throw null; } })`, "fs.read: null [INTERNAL]"},
	"parameters throw anything":  {`card.call('fs.read', { get path() { throw { get message() { throw 1; } }; } })`, "fs.read: a value that cannot be described was thrown [INTERNAL]"},
	"no parameters":              {`card.call('fs.read', null)`, "fs.read: the parameters must be an object [INVALID_PARAMS]"},
	"parameters are a text":      {`card.call('storage.get', 'x')`, "storage.get: the parameters must be an object [INVALID_PARAMS]"},
	"method is an object":        {`card.call({ toString() { return 'storage.get'; } })`, "the name of a method is a string [BAD_REQUEST]"},
	"method of all objects":      {`card.call('constructor')`, "[METHOD_NOT_FOUND]"},
	"method is the prototype":    {`card.call('__proto__')`, "[METHOD_NOT_FOUND]"},
	"scope":                      {`card.call('storage.get', { scope: '../x', key: 'a' })`, `"scope" must be "instance" or "package" [INVALID_PARAMS]`},
	"key is an object":           {`card.storage.get({ length: 1 })`, "the key must be a string of at most 256 characters [INVALID_PARAMS]"},
	"key is long":                {`card.storage.set('x'.repeat(257), 1)`, "the key must be a string of at most 256 characters [INVALID_PARAMS]"},
	"key is as long as may be":   {`card.storage.set('\u00e4'.repeat(249), 1)`, "OK"},
	"key has many bytes":         {`card.storage.set('\u00e4'.repeat(250), 1)`, "the key has 500 bytes as UTF-8; 498 are the most"},
	"prefix is a number":         {`card.storage.keys(5)`, "[INVALID_PARAMS]"},
	"value is a circle":          {`(() => { const a = {}; a.a = a; return card.storage.set('k', a); })()`, "the value is no JSON: Converting circular structure to JSON [INVALID_PARAMS]"},
	"value throws":               {`card.storage.set('k', { get a() { throw new Error('getter'); } })`, "the value is no JSON: getter [INVALID_PARAMS]"},
	"value throws nothing":       {`card.storage.set('k', { toJSON() { throw undefined; } })`, "the value is no JSON: undefined [INVALID_PARAMS]"},
	"value is a proxy":           {`card.storage.set('k', new Proxy({}, { ownKeys() { throw new Error('keys'); } }))`, "the value is no JSON: keys [INVALID_PARAMS]"},
	"value is a big number":      {`card.storage.set('k', 10n)`, "the value is no JSON: "},
	"value is large":             {`card.storage.set('k', 'x'.repeat(1 << 20))`, "the value has 1048578 bytes as JSON; 1048576 are the most [TOO_LARGE]"},
	"value is larger":            {`card.storage.set('k', 'x'.repeat(3 << 20))`, "the value has 3145730 bytes as JSON; 1048576 are the most [TOO_LARGE]"},
	"title throws":               {`card.setTitle({ toJSON() { throw new Error('no'); } })`, "card.setTitle: what is to be shown is no JSON: no [INVALID_PARAMS]"},
	"overview is a circle":       {`(() => { const a = {}; a.a = a; return card.setOverview(a); })()`, "card.setOverview: what is to be shown is no JSON: Converting circular"},
	"menu is nothing":            {`card.ui.setMenu(null)`, "ui.setMenu: the items must be a list [INVALID_PARAMS]"},
	"menu maps":                  {`card.ui.setMenu({ map() { throw new Error('m'); } })`, "ui.setMenu: the items must be a list [INVALID_PARAMS]"},
	"menu of nothing":            {`card.ui.setMenu([null])`, "OK"},
	"log throws":                 {`card.log.info({ toString() { throw new Error('a'); }, toJSON() { throw new Error('b'); } })`, "OK"},
	"log of a proxy":             {`card.log.info(new Proxy(new Error('x'), { get() { throw new Error('trap'); } }))`, "OK"},
	"log of a symbol":            {`card.log.info(Symbol('x'), Object.assign(new Error('x'), { stack: Symbol('y') }))`, "OK"},
	"log of much":                {`card.log.info('x'.repeat(5e6))`, "OK"},
	"progress throws":            {`call.progress({ toString() { throw new Error('p'); } })`, "OK"},
	"bytes are nothing":          {`card.fs.writeBytes('b', null)`, "fs.write: the data must be an ArrayBuffer or a view of one, such as a Uint8Array [INVALID_PARAMS]"},
	"bytes pretend":              {`card.fs.writeBytes('b', { buffer: { slice() { return null; } } })`, "fs.write: the data must be an ArrayBuffer"},
	"bytes of a part":            {`card.fs.writeBytes('b', new Uint8Array([1, 2, 3]).subarray(1))`, `"size": 2`},
	"image is nothing":           {`SDK.toolImage(null, 'image/png')`, "toolImage: the data must be an ArrayBuffer or a view of one, such as a Uint8Array [INVALID_PARAMS]"},
	"type of an image":           {`SDK.toolImage('x', { toString() { throw 1; } })`, `the type of the image must be a string, such as "image/png"`},
	"error is no error":          {`SDK.toolError({ get message() { throw new Error('m'); } })`, "! a value that cannot be described was thrown"},
	"settings of none":           {`[card.settings.value('x'), card.settings.value('__proto__'), card.settings.hasSecret({}), Object.keys(card.settings.values).length, card.context.settings].length`, "5"},
	"permissions of an object":   {`card.permissions.request({ toString() { throw 1; } }, null, 'network')`, "network"},
	"permissions are changed":    {`(card.permissions.all.push({ id: 'usage.read' }), card.permissions.has('usage.read'))`, "false"},
	"translations are a circle":  {`(() => { const a = {}; a.a = a; return SDK.createTranslator({ en: a }, card)('x'); })()`, "RangeError"},
	"an error that is a proxy":   {`(() => { throw new Proxy(new Error('p'), { get() { throw new Error('trap'); } }); })()`, "! the handler threw a value that cannot be described"},
	"a thenable that throws":     {`({ then() { throw new Error('thenable'); } })`, "! thenable"},
	"a result that is a circle":  {`(() => { const a = {}; a.a = a; return a; })()`, "! Converting circular structure to JSON"},
	"a result that is a proxy":   {`new Proxy({}, { get() { throw new Error('trap'); }, ownKeys() { throw new Error('keys'); } })`, "! trap"},
	"a result of 2 MB":           {`'x'.repeat(2e6)`, `! the result of tool "evil_run" is 2000027 bytes; the limit is 1048576 bytes`},
	"a result of 2 MB in a text": {`SDK.toolText('x'.repeat(2e6))`, "bytes; the limit is 1048576 bytes"},
	"never":                      {`new Promise(() => {})`, `! tool "evil_brief" timed out after 1.5s`},
	"waits for nothing":          {`card.waitFor('x', null, { timeoutMs: 10 })`, "no x in 10 ms [TIMEOUT]"},

	// Handlers.
	"connect twice":            {`connect().then((again) => again === card)`, "true"},
	"handle twice":             {`card.tools.handle('run', () => 1)`, `! a handler of the tool "run" is registered already`},
	"handle with an object":    {`card.tools.handle({ toString() { return 'run'; } }, () => 1)`, "takes the name of a tool, which is a string"},
	"handle in a handle":       {`(card.tools.handle('inner', () => card.tools.handle('inner', () => 1)), 'fine')`, "fine"},
	"dispose twice":            {`(() => { const off = card.tools.handle('other2', () => 1); off(); const on = card.tools.handle('other2', () => 2); off(); on(); return 'fine'; })()`, "fine"},
	"many handlers":            {`(() => { for (let i = 0; i < 500; i++) card.tools.handle('none' + i, () => 1); return 'fine'; })()`, "fine"},
	"another card's tool":      {`card.tools.setEnabled('fine_say', false)`, `the card's manifest has no tool "fine_say"; it has run, brief, other [INVALID_PARAMS]`},
	"another card's tool, too": {`(Array.prototype.includes = () => true, card.tools.setEnabled('say', false))`, `the card has no tool "say"`},
	"enabled is a text":        {`card.tools.setEnabled('other', 'no')`, `"enabled" must be true or false`},

	// Files.
	"absolute":          {`card.fs.readText('/proc/self/environ')`, "absolute paths are not allowed [FS_DENIED]"},
	"absolute, Windows": {`card.fs.readText('\\\\server\\share')`, "absolute paths are not allowed [FS_DENIED]"},
	"above":             {`card.fs.readText('sub/./../../x')`, `".." is not allowed [FS_DENIED]`},
	"NUL":               {`card.fs.readText('a.txt\0.png')`, "the path has a NUL character [FS_DENIED]"},
	"link":              {`card.fs.readText('out.txt')`, "out.txt cannot be used [FS_DENIED]"},
	"write to a link":   {`card.fs.writeText('out.txt', 'x')`, "out.txt cannot be used [FS_DENIED]"},
	"below a link":      {`card.fs.readText('etc/hostname')`, "etc/hostname cannot be used [FS_DENIED]"},
	"list of a link":    {`card.fs.list('etc')`, "etc cannot be used [FS_DENIED]"},
	"folder in a link":  {`card.fs.mkdir('etc/x')`, "etc/x cannot be used [FS_DENIED]"},
	"address of a file": {`card.fs.readText('file:///etc/passwd')`, "ENOENT"},
	"agent's settings":  {`card.fs.writeText('SUB/.MCP.json', '{}', { createDirs: true })`, "[FS_DENIED]"},
	"git":               {`card.fs.writeText('.git/config', 'x', { createDirs: true })`, ".git/config cannot be used [FS_DENIED]"},

	// Hosts. This host has no network: what is asked for ends there at the latest.
	"this computer":         {`card.net.fetch('http://127.0.0.1:80/')`, "127.0.0.1 is not among the hosts of the card [HOST_NOT_ALLOWED]"},
	"address of metadata":   {`card.net.fetch('http://169.254.169.254/latest')`, "[HOST_NOT_ALLOWED]"},
	"host before an @":      {`card.net.fetch('https://api.example.com@127.0.0.1/')`, "includes credentials"},
	"host before a host":    {`card.net.fetch('https://API.EXAMPLE.COM.evil.test/')`, "[HOST_NOT_ALLOWED]"},
	"file":                  {`card.net.fetch('file:///etc/passwd')`, "net.fetch: URLs of requests begin with http:// or https://, not with file: [INVALID_PARAMS]"},
	"no URL":                {`card.net.fetch(Symbol('x'))`, `net.fetch: "Symbol(x)" is no URL [INVALID_PARAMS]`},
	"URL throws":            {`card.net.fetch({ toString() { throw new Error('x'); } })`, "is no URL [INVALID_PARAMS]"},
	"options are nothing":   {`card.net.fetch('https://api.example.com/', null)`, "NETWORK"},
	"options are a number":  {`card.net.fetch('https://api.example.com/', 7)`, "net.fetch: the options must be an object [INVALID_PARAMS]"},
	"headers are a number":  {`card.net.fetch('https://api.example.com/', { headers: 5 })`, `"headers" must be an object or a list of pairs [INVALID_PARAMS]`},
	"headers are numbers":   {`card.net.fetch('https://api.example.com/', { headers: [5] })`, `"headers" must be an object or a list of pairs [INVALID_PARAMS]`},
	"header that is closed": {`card.net.fetch('https://api.example.com/', { headers: [['coOkie', 'x']] })`, `the header "coOkie" cannot be set by a card`},
	"method that is closed": {`card.net.fetch('https://api.example.com/', { method: 'CONNECT' })`, `"method" must be one of`},
	"signal":                {`card.net.fetch('https://api.example.com/', { signal: {} })`, `"signal" must be an AbortSignal [INVALID_PARAMS]`},
	"body is a circle":      {`(() => { const a = {}; a.a = a; return card.net.fetch('https://api.example.com/', { body: a }); })()`, "net.fetch: the body is no JSON: Converting circular"},

	// What all objects have in common.
	"objects are thenables":  {`(async () => { Object.prototype.then = function (go) { go('taken'); }; try { return await card.storage.get('a'); } finally { delete Object.prototype.then; } })()`, ""},
	"lists are not iterable": {`(Array.prototype[Symbol.iterator] = () => { throw new Error('no'); }, card.fs.readText('../x'))`, ""},
	"promises do not settle": {`(Promise.prototype.then = () => 7, card.storage.get('a'))`, ""},
	"no JSON":                {`(JSON.stringify = () => '1', JSON.parse = () => { throw 1; }, card.storage.set('j', { a: 1 }))`, ""},
	"paths are let through":  {`(String.prototype.startsWith = RegExp.prototype.test = Array.prototype.includes = () => false, card.fs.readText('/../../../../../../etc/hostname'))`, "FS_DENIED"},
	"parts are exchanged":    {`(Array.prototype.filter = () => ['..', '..', '..', '..', '..', '..', 'etc', 'hostname'], Array.prototype.includes = () => false, card.fs.readText('x'))`, "FS_DENIED"},
	"permissions are faked":  {`(Set.prototype.has = () => true, Array.prototype.some = () => true, card.terminals.run('x', 'ls'))`, "UNAVAILABLE"},
	"methods are faked":      {`(Object.hasOwn = () => true, card.call('toString'))`, ""},
	"errors are faked":       {`(Object.defineProperty(Object.prototype, 'code', { get() { throw new Error('code'); }, set() {}, configurable: true }), card.fs.readText('nope'))`, ""},
}

const hostileCard = `
import * as SDK from '@neurosquad/card-sdk';
const { connect } = SDK;
const card = await connect();
const made = Object.getPrototypeOf(async function () {}).constructor;
const run = (args, call) => new made('card', 'call', 'connect', 'SDK', 'return ' + args.source)(card, call, connect, SDK);
card.tools.handle('run', run);
card.tools.handle('brief', run);
card.tools.handle('other', () => 'other');
`

// Whatever a card does to the SDK has an answer, its other tools answer where it left itself
// able to, and another card and the host are as before.
func TestHostileCards(t *testing.T) {
	inBoth(t, func(t *testing.T, r runtimes.Runtime) {
		c := newCardsIn(t, r, loader.Options{})
		c.card("fine", sdk+"card.tools.handle('say', async () => [Object.keys(await card.storage.keys()).length, {}.then, [...'ab'].length].join());", nil, "say")
		for name, target := range map[string]string{"out.txt": "/etc/hostname", "etc": "/etc"} {
			if err := os.Symlink(target, filepath.Join(c.folder, name)); err != nil {
				t.Fatal(err)
			}
		}
		c.load()
		spoilt := true // the card as it runs: it is loaded anew
		for _, name := range slices.Sorted(maps.Keys(hostile)) {
			t.Run(name, func(t *testing.T) {
				source, want := hostile[name][0], hostile[name][1]
				args, err := json.Marshal(map[string]string{"source": source})
				if err != nil {
					t.Fatal(err)
				}
				c.t = t
				if spoilt {
					c.card("evil", hostileCard+"// "+name, map[string]any{
						"permissions": []any{"fs.write", map[string]any{"id": "network", "hosts": []string{"api.example.com"}}},
					}, "run:60000", "brief:1500", "other:60000")
					if err := c.loader.Load(t.Context(), filepath.Join(c.dir, "evil")); err != nil {
						t.Fatal(err)
					}
				}
				tool := "evil_run"
				if want == "" || strings.Contains(want, "evil_brief") {
					tool = "evil_brief" // it may never end
				}
				c.wantIn(tool, string(args), want)
				if spoilt = want == "" || strings.Contains(source, "prototype"); !spoilt {
					c.want("evil_other", "{}", "other")
				}
				c.want("fine_say", "{}", "0,,2")
			})
		}
		c.t = t
		if hostname, err := os.ReadFile("/etc/hostname"); err == nil && strings.Contains(c.log.String(), strings.TrimSpace(string(hostname))+`\n`) {
			t.Error("what is outside stands in the log")
		}
	})
}

// beginnings are modules that go wrong before they are connected, or after; with what a
// load says, or else what a call gives; "" is anything.
var beginnings = map[string]struct{ code, load, call string }{
	"throws-first":   {"throw new Error('at once');\n" + sdk, "at once", ""},
	"throws-nothing": {sdk + "throw undefined;", "undefined", ""},
	"throws-odd":     {sdk + "throw { get message() { throw new Error('m'); }, get stack() { throw 1; } };", "cannot be described", ""},
	"never-ready":    {"await new Promise(() => {});\n" + sdk, "the module waits at its top level for something that can never happen", ""},
	"thenables":      {"Object.prototype.then = function (go) { go(1); };\nconst { connect } = await import('@neurosquad/card-sdk');\nconst card = await connect();\ncard.tools?.handle('a', () => 1);", "", ""},
	"iterators":      {"Array.prototype[Symbol.iterator] = function () { throw new Error('no'); };\nconst { connect } = await import('@neurosquad/card-sdk');\n(await connect()).tools.handle('a', () => 'in spite');", "", ""},
	"promises":       {"Promise.prototype.then = () => 7;\nconst { connect } = await import('@neurosquad/card-sdk');\n(await connect()).tools.handle('a', () => 'in spite');", "", ""},
	"json":           {"JSON.parse = JSON.stringify = () => '{}';\nconst { connect } = await import('@neurosquad/card-sdk');\n(await connect()).tools.handle('a', () => 'in spite');", "", ""},
	"maps":           {"Map.prototype.has = () => true; Map.prototype.get = () => () => 'wrong';\nconst { connect } = await import('@neurosquad/card-sdk');\n(await connect()).tools.handle('a', () => 1);", "", ""},
	"closes":         {sdk + "card.tools.handle('a', () => 1); card.close(); card.close();", "", "! the card has closed its connection with card.close(): it takes no calls until it is loaded anew"},
	"disposes":       {sdk + "const off = card.tools.handle('a', () => 1); off(); off(); card.tools.handle('a', () => 'second'); off();", "", "second"},
	"proxy":          {sdk + "card.tools.handle('a', new Proxy(() => 1, { apply() { throw new Error('trap'); } }));", "", "! trap"},
	"floods":         {sdk + "for (let i = 0; i < 3000; i++) card.log.info(i);\ncard.tools.handle('a', (args, call) => { for (let i = 0; i < 5000; i++) call.progress('p' + i); return 'done'; });", "", "done"},
	"no-settings":    {sdk + "const { values, secrets } = card.settings;\ncard.tools.handle('a', () => JSON.stringify([values, secrets, card.permissions.all, card.ports.inputs]));", "", "[{},{},[],[]]"},
}

func TestHostileBeginnings(t *testing.T) {
	inBoth(t, func(t *testing.T, r runtimes.Runtime) {
		c := newCardsIn(t, r, loader.Options{})
		c.card("fine", sdk+"card.tools.handle('say', () => 'fine');", nil, "say")
		for name, b := range beginnings {
			c.card(name, b.code, nil, "a:20000")
		}
		c.load()
		for _, name := range slices.Sorted(maps.Keys(beginnings)) {
			b := beginnings[name]
			if got := c.errors(name); !strings.Contains(got, b.load) || (b.call != "" && got != "") {
				t.Errorf("%s: %q lacks %q", name, got, b.load)
			}
			if b.call != "" {
				c.want(strings.ReplaceAll(name, "-", "_")+"_a", "{}", b.call)
			} else {
				t.Logf("%s: %q, %.200q", name, c.errors(name), c.call(strings.ReplaceAll(name, "-", "_")+"_a", "{}"))
			}
			c.want("fine_say", "{}", "fine")
		}
	})
}
