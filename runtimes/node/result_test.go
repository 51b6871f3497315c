package node_test

import (
	"strings"
	"testing"
	"time"
)

// handler makes the text of a module whose handler has this body.
func handler(body string) string {
	return "export default async function (params, ctx) {\n" + body + "\n}"
}

func TestResults(t *testing.T) {
	for name, tt := range map[string]struct{ body, want string }{
		"string":               {"return 'a\\n b '", "a\n b "},
		"empty string":         {"return ''", ""},
		"undefined":            {"", "OK"},
		"null":                 {"return null", "null"},
		"numbers":              {"return [0, -0, 1.5, NaN, Infinity, 1e21]", "[0,0,1.5,null,null,1e+21]"},
		"object":               {"return {b: 1, a: undefined, f() {}, d: new Date(0), '<': '&'}", `{"b":1,"d":"1970-01-01T00:00:00.000Z","<":"&"}`},
		"function":             {"return () => 1", "OK"},
		"symbol":               {"return Symbol('s')", "OK"},
		"toJSON":               {"return {toJSON: (k) => 'key:' + k}", `"key:"`},
		"toJSON gives nothing": {"return {toJSON() {}}", "OK"},
		"boxed":                {"return [Object('s'), Object(1), Object(true)]", `["s",1,true]`},
		"map and set":          {"return [new Map([[1, 2]]), new Set([1])]", "[{},{}]"},
		"lone surrogate":       {"return 'a\\ud83d'", "a\ufffd"},
		"lone surrogate deep":  {"return {k: ['a\\udc00b']}", "{\"k\":[\"a\\ufffdb\"]}"},
		"BigInt":               {"return {id: 10n}", "! Do not know how to serialize a BigInt"},
		"cycle":                {"const o = {}; o.o = o; return o", "! Converting circular structure to JSON\n    --> starting at object with constructor 'Object'\n    --- property 'o' closes the circle"},
		"getter throws":        {"return {get x() { throw new Error('getter failed') }}", "! getter failed"},
		"toJSON throws":        {"return {toJSON() { throw new Error('toJSON failed') }}", "! toJSON failed"},
		"revoked proxy":        {"const {proxy, revoke} = Proxy.revocable({}, {}); revoke(); return proxy", "!"},
		"deep":                 {"let o = {}; for (let i = 0; i < 200000; i++) o = {o}; return o", "! the value is nested more than 1000 levels deep, which is as deep as JSON may be here"},
		"endless toJSON":       {"return {toJSON() { return {a: this} }}", "! the value is nested more than 1000 levels deep, which is as deep as JSON may be here"},
		"too large":            {"return 'x'.repeat(20000000)", "! the result is at least 20000000 bytes; the limit is 1048576 bytes"},
		"too large inside":     {"const s = 'x'.repeat(1000); const a = Array(10000).fill(s); return Array(10000).fill(a)", "! the result is at least 2097282 bytes; the limit is 1048576 bytes"},
		"nearly too large":     {"return Array(500000).fill(1)", "[" + strings.Repeat("1,", 499_999) + "1]"},
		"left out":             {"return Array(30000).fill({['a'.repeat(100)]() {}, ['b'.repeat(100)]: undefined, ['c'.repeat(100)]: Symbol('c')})", "[" + strings.Repeat("{},", 29_999) + "{}]"},
		"thenable":             {"return {then(done) { done('thenable') }}", "thenable"},
		"patched":              {"JSON.stringify = () => 'hacked'; Object.prototype.extra = 1; Array.prototype.join = () => 'hacked'; Promise.prototype.then = () => 'hacked'; return {a: [1]}", `{"a":[1]}`},
		"patched toJSON":       {"Object.prototype.toJSON = () => 'mine'; return {a: 1}", `"mine"`},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, map[string]string{"tool.js": handler(tt.body)}, 10*time.Second)
			got := p.call(t, "tool", "{}")
			if tt.want == "!" && strings.HasPrefix(got, "! ") && len(got) > 10 {
				return
			}
			if got != tt.want {
				t.Errorf("got %.200q, want %.200q", got, tt.want)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	p := open(t, map[string]string{"tool.js": handler(`
		const a = params.list, o = params;
		return [Array.isArray(a), a.map((x) => x + 1), Object.keys(o), Object.getPrototypeOf(o) === Object.prototype,
			Object.hasOwn(o, '__proto__') && o['__proto__'].polluted, ({}).polluted, o.text, o.neg === 0 && 1 / o.neg, o.big, o.text.length].join(';')`)}, time.Minute)
	got := p.call(t, "tool", `{"list":[1,2],"__proto__":{"polluted":true},"text":"ż\ud83d\ude00\n\u0041","neg":-0.0,"big":12345678901234567890}`)
	want := "true;2,3;list,__proto__,text,neg,big;true;true;;ż😀\nA;-Infinity;12345678901234567000;5"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestPatchedWithoutAName: a script that runs sloppy reaches the globals through this, and
// may make up the name of what it replaces. What shapes results must have been taken before.
func TestPatchedWithoutAName(t *testing.T) {
	p := open(t, map[string]string{"tool.js": `
const word = (...parts) => parts.join('');
const global = (function () { return this; })();
global[word('JS', 'ON')][word('string', 'ify')] = () => '"hacked"';
module.exports = () => ({ a: 1 });`}, 10*time.Second)
	if got, want := p.call(t, "tool", "{}"), `{"a":1}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
