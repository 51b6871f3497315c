package node_test

import (
	"strings"
	"testing"
	"time"
)

// Functions with limits go on to do what they did.
func TestGuardsKeepTheirFunctions(t *testing.T) {
	for name, tt := range map[string]struct{ body, want string }{
		"strings":   {"return ['ab'.repeat(2), 'a'.padStart(3), 'a'.padEnd(3, '-'), 'aXbX'.replace('X', '$&$&'), 'aXbX'.replaceAll('X', 'y'), 'ab'.replace(/b/g, (m) => m + 1), ''.repeat(1e9), 'x'.padEnd(-1), 'a'.concat(1, 'b', null), [1].concat(2, [3, [4]]).length].join('|')", "abab|  a|a--|aXXbX|ayby|ab1||x|a1bnull|4"},
		"join":      {"return [[1, [2, [3]]].join(), [null, undefined, 1].join('-'), [].join(), String([[], [1]])].join(';')", "1,2,3;--1;;,1"},
		"arrays":    {"return JSON.stringify([[1, [2, [3]]].flat(), [1, [2, [3]]].flat(Infinity), new Array(3).fill(0), [1, 2].indexOf(2), [1, 2, 1].lastIndexOf(1), [NaN].includes(NaN), [1, 2].reverse(), Array.from({length: 2}, (_, i) => i), Array.from('ab'), Array.from(new Set([1]))])", `[[1,2,[3]],[1,2,3],[0,0,0],1,2,true,[2,1],[0,1],["a","b"],[1]]`},
		"functions": {"const f = function (a, b) { return [this?.x, a, b].join() }; return [f.apply({x: 1}, [2, 3]), f.bind({x: 1}, 2)(3), f.bind({}).name, Reflect.apply(f, {x: 1}, [4]), Reflect.construct(Date, [0]).getTime(), Math.max.apply(null, [1, 3])].join(';')", "1,2,3;1,2,3;bound f;1,4,;0;3"},
		"objects":   {"const o = Object.create({a: 1}, {b: {value: 2, enumerable: true}}); return JSON.stringify([o.a, o.b, Object.keys(o), Object.getPrototypeOf(Object.create(null))])", `[1,2,["b"],null]`},
		"code": {"const x = 2; const e = eval, o = { eval }; return [eval('x + 1'), eval('x', 'y'), typeof eval, e('typeof x'), o.eval('1 + 1'), eval(5), eval.name, new Function('a', 'return a * 2')(4), Function('return 7')(), (() => 1) instanceof Function, Function.prototype === Object.getPrototypeOf(() => 1), (() => 1).constructor === Function, (() => 1).constructor('return 3')(), class extends Function {}.name].join()",
			"3,2,function,undefined,2,5,eval,8,7,true,true,true,3,"},
		"patterns": {"return ['aXb'.match('X').index, 'ab'.search('b'), [...'aa'.matchAll('a')].length, 'ab'.match(/b/).index, 'a'.match(null), 'a'.match().index, /[(((]\\(/.test('((')].join()", "1,1,2,1,,0,true"},
		"names":    {"return [Array.prototype.join.name, ''.repeat.name, JSON.parse.name, Uint8Array.name, Uint8Array.length, Proxy.name].join()", "join,repeat,parse,Uint8Array,3,Proxy"},
		"JSON": {`return [JSON.stringify({b: [1, {c: 2}], a: 1}, null, 2).length, JSON.stringify({b: [1, {c: 2, d: 1}], a: 1}, ['b', 'c']), JSON.stringify({a: 1, b: 2}, (k, v) => k === 'a' ? undefined : v),
			JSON.stringify(undefined), JSON.stringify('x'), JSON.stringify({toJSON: (k) => k + '!'}), JSON.parse('{"a":[1,2]}', (k, v) => Array.isArray(v) ? v.length : v).a, JSON.parse(' 1 '), JSON.parse('"\\ud83d"').length].join(';')`,
			`58;{"b":[1,{"c":2}]};{"b":2};;"x";"!";2;1;1`},
		"JSON errors": {`const errors = []; for (const text of ['', '{', '[1,]', '{"a":1,}', 'nul', '01', '"a', '1 2', '-', '"\\x"', '{a:1}', '\u00a01']) { try { JSON.parse(text); errors.push('none: ' + text) } catch (e) { errors.push(e instanceof SyntaxError) } } return errors.join()`, "true,true,true,true,true,true,true,true,true,true,true,true"},
		"typed arrays": {`class B extends Uint8Array { get twice() { return this.length * 2 } }
			const b = new B(3), u = Uint8Array.from([1, 2]), f = new Float64Array(2);
			return [b.twice, b instanceof B, b instanceof Uint8Array, u instanceof Uint8Array, u.constructor === Uint8Array, Uint8Array.BYTES_PER_ELEMENT, u.subarray(1)[0], u.map((x) => x * 2).join(), u.slice(0, 1) instanceof Uint8Array,
				new Uint8Array(new ArrayBuffer(8), 2).length, ArrayBuffer.isView(u), f.buffer.byteLength, f.buffer instanceof ArrayBuffer, new ArrayBuffer(4).slice(1).byteLength, Object.getPrototypeOf(Uint8Array.prototype) === Object.getPrototypeOf(Float64Array.prototype), new Uint8Array([1, 2, 3]).length, new Uint8Array(new Set([1])).length].join()`,
			"6,true,true,true,true,1,2,2,4,true,6,true,16,true,3,true,3,1"},
		"proxy": {"const p = new Proxy({a: 1}, {get: (t, k) => k === 'b' ? 2 : t[k]}); const r = Proxy.revocable({}, {}); r.revoke(); let e; try { r.proxy.x } catch (x) { e = x.name } return [p.a, p.b, e].join()", "1,2,TypeError"},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, map[string]string{"tool.js": handler(tt.body)}, 10*time.Second)
			if got := p.call(t, "tool", "{}"); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestGuardsRefuse(t *testing.T) {
	for body, want := range map[string]string{
		"'x'.repeat(2 ** 40)":                                     "string length",
		"''.padEnd(2 ** 36)":                                      "string length",
		"'x'.repeat(1e6).replace(/x/g, 'y'.repeat(1e4))":          "string length",
		"let s = 'x'; for (;;) s = s.concat(s, s)":                "string length",
		"const a = new Array(2e7); return a.concat(a)":            "array length",
		"let s = 'x'; for (;;) s += s":                            "string length",
		"let s = 'é'; for (;;) s = s + s":                         "string length",
		"let s = 'x'; for (;;) s = `${s}-${s}`":                   "string length",
		"3n ** 50000000n":                                         "BigInt size",
		"1n << 40000000000n":                                      "BigInt size",
		"let n = 2n; n **= 10n ** 9n; return n":                   "BigInt size",
		"new Array(1e9).sort()":                                   "array length",
		"new Array(1e9).fill(0)":                                  "array length",
		"new Array(4294967295).join('x')":                         "array length",
		"Array(200).fill('x'.repeat(1e6)).join()":                 "string length",
		"Array.from({length: 1e9})":                               "array length",
		"Array.prototype.includes.call({length: 2 ** 53 - 1}, 1)": "array length",
		"let a = [1]; for (let i = 0; i < 5000; i++) a = [a]; return a.flat(Infinity)":         "array nesting",
		"let a = [1]; for (let i = 0; i < 5000; i++) a = [a]; return String(a)":                "call stack",
		"let a = [1]; for (let i = 0; i < 5000; i++) a = [a]; return JSON.stringify(a)":        "nested more than 1000",
		"let a = [1]; for (let i = 0; i < 5000; i++) a = [a]; return JSON.stringify(a, ['x'])": "nested more than 1000",
		"Math.max.apply(null, {length: 1e9})":                                                  "number of arguments",
		"Reflect.apply(Math.max, null, {length: 1e9})":                                         "number of arguments",
		"new ArrayBuffer(8e9)":             "typed array length",
		"new Uint8Array(4e9)":              "typed array length",
		"new Float64Array(1e8)":            "typed array length",
		"Float64Array.from({length: 1e8})": "typed array length",
		"let p = {}; for (let i = 0; i < 1e6; i++) p = new Proxy(p, {}); p.x":             "proxy",
		"let p = {}; for (let i = 0; i < 1e6; i++) p = Proxy.revocable(p, {}).proxy; p.x": "proxy",
		"let f = () => 1; for (let i = 0; i < 1e6; i++) f = f.bind(); f()":                "bound function",
		"let o = {}; for (let i = 0; i < 1e6; i++) o = Object.create(o); o.zzz":           "prototype",
		"eval('('.repeat(1e6))":                                                                         "brackets deep",
		"(0, eval)('-'.repeat(1e6) + 1)":                                                                "operators",
		"const e = eval; return e('['.repeat(1e6))":                                                     "brackets deep",
		"const o = { eval }; return o.eval('['.repeat(1e6))":                                            "brackets deep",
		"eval('/*' + ' '.repeat(9e6) + '*/')":                                                           "characters",
		"new Function('return ' + '['.repeat(1e6))":                                                     "brackets deep",
		"(() => 1).constructor('['.repeat(1e6))":                                                        "brackets deep",
		"new RegExp('('.repeat(1e6) + ')'.repeat(1e6))":                                                 "groups",
		"'x'.match('('.repeat(1e6) + ')'.repeat(1e6))":                                                  "groups",
		"'x'.search('(?='.repeat(1e6) + ')'.repeat(1e6))":                                               "groups",
		"new Function('return \"x\".repeat(1e10)')()":                                                   "string length",
		"const k = 're' + 'peat'; return 'x'[k](1e10)":                                                  "string length",
		"const k = (a, b) => a + b; return 'x'[k('re', 'peat')](1e10)":                                  "string length",
		"let k = 1; k = 're' + 'peat'; return 'x'[k](1e10)":                                             "string length",
		"let [k] = ['re' + 'peat']; return 'x'[k](1e10)":                                                "string length",
		"for (const k of ['re' + 'peat']) return 'x'[k](1e10);":                                         "string length",
		"const {['re' + 'peat']: f} = 'x'; return f.call('x', 1e10)":                                    "string length",
		"const f = Reflect.get(Object('x'), 're' + 'peat'); return f.call('x', 1e10)":                   "string length",
		"const a = [1, 2]; let i = 0; i++; return [][['fi', 'll'].join('')].call(new Array(1e9), a[i])": "array length",
		"(async () => 1)['con' + 'structor']('['.repeat(1e6))":                                          "brackets deep",
		"(function* () {})['con' + 'structor']('['.repeat(1e6))":                                        "brackets deep",
		"(async () => 1).constructor('['.repeat(1e6))":                                                  "brackets deep",
		"(function* () {}).constructor('['.repeat(1e6))":                                                "brackets deep",
	} {
		t.Run(body, func(t *testing.T) {
			if !strings.Contains(body, ";") {
				body = "return " + body
			}
			p := open(t, map[string]string{"tool.js": handler(body)}, time.Minute)
			if got := p.call(t, "tool", "{}"); !strings.HasPrefix(got, "! ") || !strings.Contains(got, want) {
				t.Errorf("got %.1200q, want a failure with %q", got, want)
			}
		})
	}
}
