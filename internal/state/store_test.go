package state

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestStore(t *testing.T) {
	db := open(t, t.TempDir(), nil)
	s := db.Store("p")
	values := map[string]string{
		"a": `{"b": [1, 2.50, 1e400, "\u2028ü"] }`, "a/b": `null`, "a/ü": `""`, "ä": `"x"`, "\x00": `1`, "A": `0`, "a/\U0010ffff": `true`, "%_'\"": `"` + strings.Repeat("y", 1000) + `"`,
	}
	for key, value := range values {
		if err := s.Set(t.Context(), key, json.RawMessage(value)); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range values {
		if got, err := s.Get(t.Context(), key); string(got) != value || err != nil {
			t.Errorf("%q: got %s, %v", key, got, err)
		}
		if got, err := db.Store("q").Get(t.Context(), key); got != nil || err != nil {
			t.Errorf("another plugin has %q: %s, %v", key, got, err)
		}
	}
	for prefix, want := range map[string]string{
		"": "\x00 %_'\" A a a/b a/ü a/\U0010ffff ä", "a": "a a/b a/ü a/\U0010ffff", "a/": "a/b a/ü a/\U0010ffff", "\xff": "", "a/\U0010ffff": "a/\U0010ffff", "%": "%_'\"", "zz": "",
	} {
		if got, err := s.List(t.Context(), prefix); strings.Join(got, " ") != want || got == nil || err != nil {
			t.Errorf("%q: got %q, %v", prefix, got, err)
		}
	}
	if had, err := s.Delete(t.Context(), "a"); !had || err != nil {
		t.Error(had, err)
	}
	if had, err := s.Delete(t.Context(), "a"); had || err != nil {
		t.Error(had, err)
	}
	if got, err := s.Get(t.Context(), "a"); got != nil || err != nil {
		t.Error(got, err)
	}
}

func TestStoreLimits(t *testing.T) {
	db := open(t, t.TempDir(), nil)
	s := db.Store("p")
	big := func(n int) json.RawMessage { return json.RawMessage(`"` + strings.Repeat("v", n-2) + `"`) }
	for want, err := range map[string]error{
		"must not be empty":           s.Set(t.Context(), "", big(5)),
		"may have 512 bytes, not 513": s.Set(t.Context(), strings.Repeat("k", 513), big(5)),
		"may have 1048576 bytes":      s.Set(t.Context(), "k", big(MaxStoreValue+1)),
		"is no JSON":                  s.Set(t.Context(), "k", json.RawMessage(`{`)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := s.Get(t.Context(), ""); err == nil {
		t.Error("an empty key can be read")
	}
	for i := range 9 {
		if err := s.Set(t.Context(), fmt.Sprint(i), big(MaxStoreValue)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Set(t.Context(), "last", big(MaxStoreValue)); err == nil || !strings.Contains(err.Error(), "may have 10485760 bytes") {
		t.Error(err)
	}
	rest := MaxStoreBytes - 9*(MaxStoreValue+1) - len("last")
	if err := s.Set(t.Context(), "last", big(rest)); err != nil {
		t.Error("what fits exactly:", err)
	}
	if err := s.Set(t.Context(), "last", big(rest+1)); err == nil {
		t.Error("one byte too many is taken")
	}
	if err := s.Set(t.Context(), "0", big(10)); err != nil {
		t.Error("a smaller value:", err)
	}
	if had, err := s.Delete(t.Context(), "1"); !had || err != nil {
		t.Error(had, err)
	}
	if err := s.Set(t.Context(), "again", big(MaxStoreValue)); err != nil {
		t.Error("after making room:", err)
	}
	if err := db.Store("q").Set(t.Context(), "k", big(MaxStoreValue)); err != nil {
		t.Error("another plugin:", err)
	}
	if err := db.Store("many").Set(t.Context(), "k", big(5)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.open.sql.Exec("UPDATE store_use SET keys = 10000 WHERE plugin = 'many'"); err != nil {
		t.Fatal(err)
	}
	if err := db.Store("many").Set(t.Context(), "k", big(6)); err != nil {
		t.Error("a key that is there:", err)
	}
	if err := db.Store("many").Set(t.Context(), "k2", big(5)); err == nil || !strings.Contains(err.Error(), "may have 10000 keys") {
		t.Error(err)
	}
}

// FuzzStoreList: List gives exactly the keys that begin with the prefix, in byte order,
// and Get what was set.
func FuzzStoreList(f *testing.F) {
	f.Add("a", "ab", "a\xff", "a")
	f.Add("\xff", "\xff\xff", "", "\xff")
	f.Add("ä", "a/b", "\x00", "a/")
	db := New(f.TempDir(), nil)
	f.Cleanup(func() { _ = db.Close() })
	n := 0
	f.Fuzz(func(t *testing.T, a, b, c, prefix string) {
		n++
		s := db.Store(fmt.Sprint(n))
		var want []string
		for _, key := range []string{a, b, c} {
			err := s.Set(t.Context(), key, json.RawMessage(`1`))
			if (err == nil) != (key != "" && len(key) <= MaxStoreKey) {
				t.Fatalf("%q: %v", key, err)
			}
			if err == nil && strings.HasPrefix(key, prefix) {
				want = append(want, key)
			}
		}
		slices.Sort(want)
		want = slices.Compact(want)
		got, err := s.List(t.Context(), prefix)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q, %v", got, want, err)
		}
		for _, key := range []string{a, b, c} {
			_, err := s.Delete(t.Context(), key)
			if (err == nil) != (key != "" && len(key) <= MaxStoreKey) {
				t.Fatalf("%q: %v", key, err)
			}
		}
		if got, err := s.List(t.Context(), ""); len(got) != 0 || err != nil {
			t.Fatal(got, err)
		}
	})
}

// FuzzParse: what a text on the command line is taken for fits the setting, and a text that
// a setting of texts takes comes back as it was.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "5", "-0", "1e999", "true", `"a"`, "null", "[1]", "\u2028<&>"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []string{"string", "number", "boolean"} {
			d := &Declaration{Key: "p.k", Type: kind}
			value, err := d.Parse(text)
			if err != nil {
				continue
			}
			var v any
			if json.Unmarshal(value, &v) != nil || kindOf(v) != kind {
				t.Fatalf("%q as a %s is %s", text, kind, value)
			}
			if kind == "string" && utf8.ValidString(text) && v != text {
				t.Fatalf("%q came back as %q", text, v)
			}
		}
	})
}
