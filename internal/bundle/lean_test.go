package bundle_test

import (
	"strings"
	"testing"
)

// TestLean counts what is left of the bundler's helpers, which run again for each call.
func TestLean(t *testing.T) {
	for _, test := range []struct {
		name, code    string
		with, without []string
	}{
		{"h.cjs", "module.exports = () => 1;", []string{"__commonJS = ", "__host.common("}, []string{"__toESM", "__copyProps", "Object."}},
		{"h.cjs", "Object.prototype.polluted = () => { throw 1; }; module.exports = require('./p.cjs');", []string{"for (var name in cb) break;"}, []string{"__toESM"}},
		{"h.mjs", "import p from './p.cjs'; export default p;", []string{"__toESM = ", "__copyProps = ", "__host.export("}, []string{"__host.common(", "__host.namespace"}},
		{"h.mjs", "import * as fs from 'fs'; export default fs;", []string{"=> __host.namespace(mod) || (target = mod"}, nil},
	} {
		b, err := build(t, map[string]string{test.name: test.code, "p.cjs": "module.exports = () => 1;"}, test.name)
		if err != nil {
			t.Fatal(err)
		}
		s := b.Scripts[test.name]
		for _, text := range test.with {
			if !strings.Contains(s.Code, text) {
				t.Errorf("%s: no %q in\n%s", test.code, text, s.Code)
			}
		}
		for _, text := range test.without {
			if helpers := strings.TrimSuffix(s.Code, s.Modules()); strings.Contains(helpers, text) {
				t.Errorf("%s: %q in\n%s", test.code, text, helpers)
			}
		}
		run(t, s) // fails where it does not load
	}
}
