package node

import (
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

func TestComputed(t *testing.T) {
	for code, want := range map[string]string{
		"let a; a.b; a['c']; a[0]; a[-1]":                               "",
		"for (let i = 0; i < 9; i++) a[i]":                              "",
		"for (let i = 0, j = i + 1; i < 9; i += 2) a[i + 1] + a[j - b]": "",
		"let i = 0; i = i * 2; a[i]; a[~x]; a[x % 5]; a[y ? 1 : i]":     "",
		"a[b]":                            "names",
		"let k = 'x'; a[k]":               "names",
		"let k = 0; k += 'x'; a[k]":       "names",
		"function f(k) { a[k] }":          "names",
		"let k = 0; ((k) => a[k])('x')":   "names",
		"for (const k in o) a[k]":         "names",
		"for (const k of o) a[k]":         "names",
		"let k = 0; [k] = o; a[k]":        "names",
		"let k = 0; ({ k } = o); a[k]":    "names",
		"const { [k]: x } = o":            "names",
		"let k = 0; k ??= 'x'; a[k]":      "names",
		"try { } catch (k) { a[k] }":      "names",
		"let j = k, k = 'x'; a[j]":        "names",
		"a[`x`]":                          "names",
		"a[k + 'x']":                      "names",
		"a[0] = 1":                        "indexes",
		"a.length = 5":                    "indexes",
		"let i = 0; a[i] = a[i - 1]; b.c": "indexes",
		"a[b] = 1":                        "names indexes",
	} {
		script, err := goja.Parse("t.js", code, parser.WithDisableSourceMaps)
		if err != nil {
			t.Fatal(err)
		}
		c, got := computedIn(script, 0), ""
		if c.names {
			got = "names"
		}
		if c.indexes {
			got += map[bool]string{true: " indexes", false: "indexes"}[c.names]
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", code, got, want)
		}
	}
}
