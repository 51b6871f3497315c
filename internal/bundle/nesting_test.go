package bundle

import (
	"strings"
	"testing"
)

// Each of these is nested once more for each repetition, whatever stands between.
func TestTooDeepSeesThrough(t *testing.T) {
	const n = 200_000
	for name, code := range map[string]string{
		"for":              strings.Repeat("for(;0;)", n) + ";",
		"if with object":   strings.Repeat("if({})", n) + ";",
		"if with function": strings.Repeat("if(()=>{})", n) + ";",
		"prefixes and (":   strings.Repeat("("+strings.Repeat("!", 9_000), 100),
		"members":          "x" + strings.Repeat(".a", n),
		"calls":            "x" + strings.Repeat("()", n),
		"index":            "x" + strings.Repeat("[0]", n),
		"tags":             "x" + strings.Repeat("``", n),
		"tags with ${":     "x" + strings.Repeat("`${{}}`", n),
		"commas":           strings.Repeat("1,", n) + "1",
		"commas in (":      "(" + strings.Repeat("f(),", n) + "1)",
		"classes":          "x = " + strings.Repeat("class extends ", n) + "A" + strings.Repeat("{}", n),
		"patterns":         "x = " + strings.Repeat("[a={}]=", n) + "1",
		"functions":        "x = " + strings.Repeat("function(){}**", n) + "1",
		"function in":      "x = " + strings.Repeat("function(){} in ", n) + "1",
		"conditions":       "x = " + strings.Repeat("a?function(){}:", n) + "1",
		"types":            "type A = " + strings.Repeat("keyof ", n) + "B",
	} {
		if TooDeep(code) == "" {
			t.Errorf("%s: let through", name)
		}
	}
	for name, code := range map[string]string{
		"statements":         strings.Repeat("if (a) { b.c(d); }\nfor (const x of y) { z() }\n", n),
		"functions":          strings.Repeat("function f() { return a + b }\n", n),
		"numbers":            "x = [" + strings.Repeat("1.5,", n) + "]",
		"objects":            "x = [" + strings.Repeat("{a: -1, b: {c: [f(x.y)]}},\n", n) + "]",
		"object":             "x = {" + strings.Repeat("a: f(1) + 2,", n) + "}",
		"arguments":          "f(" + strings.Repeat("a.b,", n) + ")",
		"cases":              "switch (a) {" + strings.Repeat("case 1: { f(); break }\ncase 2: g();\n", 4_000) + "}",
		"else":               strings.Repeat("if (a) { b() } else { c() }\n", 40_000),
		"members":            "class A {" + strings.Repeat("m(a, b) { return this.c.d(a) }\n", n) + "}",
		"assigned functions": strings.Repeat("a.b = function () { return c.d };", n),
	} {
		if what := TooDeep(code); what != "" {
			t.Errorf("%s: %s", name, what)
		}
	}
}
