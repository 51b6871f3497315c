package schema

import (
	"crypto/sha256"
	"testing"
	"testing/fstest"
)

// proven remembers in memory.
type proven map[[sha256.Size]byte]bool

func (p proven) Proven(sum [sha256.Size]byte) bool { return p[sum] }
func (p proven) Prove(sum [sha256.Size]byte)       { p[sum] = true }

func TestProofs(t *testing.T) {
	files := fstest.MapFS{
		"a.json":   {Data: []byte(`{"type":"object","properties":{"n":{"$ref":"b.json"},"d":{"type":"string","default":"x"}},"required":["n"]}`)},
		"b.json":   {Data: []byte(`{"type":"integer","minimum":3}`)},
		"c.json":   {Data: []byte(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"n":{"type":"integer","minimum":3},"d":{"default":"x"}},"required":["n"]}`)},
		"bad.json": {Data: []byte(`{"type":"object","properties":{"n":{"type":"integer","default":"x"}}}`)},
	}
	proofs := proven{}
	for _, name := range []string{"a.json", "c.json"} {
		fresh, err := CompileFile(files, name, proofs)
		if err != nil {
			t.Fatal(err)
		}
		before := len(proofs)
		kept, err := CompileFile(files, name, proofs)
		if err != nil {
			t.Fatal(err)
		}
		if len(proofs) != before {
			t.Errorf("%s was proven twice", name)
		}
		if string(kept.Public()) != string(fresh.Public()) || len(kept.Lint()) != len(fresh.Lint()) {
			t.Errorf("%s differs: %s, %s", name, kept.Public(), fresh.Public())
		}
		for value, fits := range map[string]bool{`{"n":3}`: true, `{"n":2}`: false, `{}`: false, `{"n":"4"}`: true} {
			checked, err := kept.Check([]byte(value), false)
			if err != nil || (len(checked.Issues) == 0) != fits {
				t.Errorf("%s: %s: %+v, %v", name, value, checked, err)
			}
			want, err := fresh.Check([]byte(value), false)
			if err != nil || string(want.Value) != string(checked.Value) {
				t.Errorf("%s: %s: %s, want %s", name, value, checked.Value, want.Value)
			}
		}
	}
	if n := len(proofs); n != 2 {
		t.Errorf("%d proofs", n)
	}
	for range 2 { // what is wrong is never proven
		if _, err := CompileFile(files, "bad.json", proofs); err == nil {
			t.Error("a wrong schema compiles")
		}
	}
	files["b.json"].Data = []byte(`{"type":"integer","default":"x"}`) // another file than the one that is named
	if _, err := CompileFile(files, "a.json", proofs); err == nil {
		t.Error("what was proven holds for other files, too")
	}
}
