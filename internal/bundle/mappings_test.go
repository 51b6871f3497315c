package bundle

import (
	"strings"
	"testing"
)

func TestVLQ(t *testing.T) {
	for _, n := range []int{0, 1, -1, 15, 16, -16, 31, 32, 1 << 20, -(1 << 20)} {
		var b strings.Builder
		writeVLQ(&b, n)
		if got, rest, err := readVLQ(b.String() + "A"); got != n || rest != "A" || err != nil {
			t.Errorf("%d as %q: got %d, %q, %v", n, b.String(), got, rest, err)
		}
	}
}

func TestRewriteMappings(t *testing.T) {
	prefixes := map[string]prefix{"b.js": {line: 1, length: 4}}
	for in, want := range map[string]string{
		"":               "",
		";;AAAA":         ";;CAAC",
		"AAAA,IAAI;EACE": "CAAC,IAAI;GACE", // lines begin anew, source columns go on
		"AAAAC":          "CAAC",           // a name is left out
		"A,IAAA":         "C,IAAC",         // a place of nobody
		"ACAA,IAAI,IAAI": "CCAC,IAAA,IAAI", // what was put before the first line of b.js
		"ACAA;ACAA":      "! ",             // no such source
		"A!":             "! ",
		"AAAAAA":         "! ",
		"gggggggggg":     "! ",
	} {
		got, err := rewriteMappings(in, []string{"a.js", "b.js"}, prefixes)
		if err != nil {
			got = "! "
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
