package node_test

import (
	"testing"
	"time"
)

// TestHandlerExports looks for the handler in whatever way a CommonJS module exports it.
func TestHandlerExports(t *testing.T) {
	files, want := map[string]string{}, map[string]string{}
	for name, one := range map[string]struct{ code, want string }{
		"function":  {"module.exports = () => 'a'; module.exports.default = () => 'b';", "a"},
		"default":   {"exports.default = () => 'c'; exports.handler = () => 'd';", "c"},
		"handler":   {"exports.handler = () => 'e';", "e"},
		"compiled":  {"exports.__esModule = true; exports.default = () => 'f';", "f"},
		"nested":    {"exports.__esModule = true; exports.default = { default: () => 'g', handler: () => 'h' };", "g"},
		"falsy":     {"module.exports = () => 'i'; module.exports.__esModule = 0;", "i"},
		"marked":    {"module.exports = () => 'j'; module.exports.__esModule = true; module.exports.default = () => 'k';", "k"},
		"inherited": {"module.exports = new (class { handler() { return 'l'; } })();", "l"},
		"json":      {"module.exports = () => ({ a: [1, { b: 2 }] });", `{"a":[1,{"b":2}]}`},
		"replaced":  {"JSON.stringify = () => '\"m\"'; module.exports = () => ({ n: 1 });", `{"n":1}`},
		"hidden":    {"const n = 'JS' + 'ON'; (function () { return this; })()[n].stringify = () => '\"m\"'; module.exports = () => ({ o: 1 });", `{"o":1}`},
	} {
		files[name+".cjs"], want[name] = one.code, one.want
	}
	p := open(t, files, 10*time.Second)
	for name, want := range want {
		for range 2 { // the second call has an engine that was made ready
			if got := p.call(t, name, "{}"); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
	}
}
