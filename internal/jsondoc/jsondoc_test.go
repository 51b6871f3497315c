package jsondoc

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestPlaces(t *testing.T) {
	d, err := Parse([]byte("\ufeff{\n  \"tööls\": [ {\"id\": \"a\"},\n    {\"a/b\" : 1.50} ],\n\"x\":null}"))
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string][2]Position{
		"":                 {{1, 1}, {1, 1}},
		"/tööls":           {{2, 3}, {2, 12}},
		"/tööls/0/id":      {{2, 15}, {2, 21}},
		"/tööls/1":         {{3, 5}, {3, 5}},
		"/tööls/1/a~1b":    {{3, 6}, {3, 14}},
		"/tööls/1/missing": {{3, 5}, {3, 5}},
		"/x":               {{4, 1}, {4, 5}},
	} {
		if got := [2]Position{d.KeyPosition(pointer), d.Position(pointer)}; got != want {
			t.Errorf("%q is at %v, want %v", pointer, got, want)
		}
	}
	if got := d.Keys(""); !reflect.DeepEqual(got, []string{"tööls", "x"}) {
		t.Errorf("Keys: %q", got)
	}
	if got := string(d.TextOf("/tööls/1/a~1b")); got != "1.50" {
		t.Errorf("TextOf: %q", got)
	}
	if got := d.TextOf("/nothing"); got != nil {
		t.Errorf("TextOf of nothing: %q", got)
	}
	if got := d.Keys("/nothing"); got != nil {
		t.Errorf("Keys of nothing: %q", got)
	}
}

func TestPointers(t *testing.T) {
	d, err := Parse([]byte(`{"a/b":[1,{"~":"x"}],"":{"":2}}`))
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]any{
		"":            d.Value,
		"/a~1b/0":     json.Number("1"),
		"/a~1b/1/~0":  "x",
		"/":           map[string]any{"": json.Number("2")},
		"//":          json.Number("2"),
		"/a~1b/2":     nil,
		"/a~1b/-1":    nil,
		"/a~1b/x":     nil,
		"/a~1b/0/0":   nil,
		"/nothing":    nil,
		"/nothing/at": nil,
	} {
		names := Names(pointer)
		if got := ValueAt(d.Value, names); !reflect.DeepEqual(got, want) {
			t.Errorf("%q leads to %v, want %v", pointer, got, want)
		}
		if got := Pointer(names); got != pointer {
			t.Errorf("%q was read and written as %q", pointer, got)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for src, want := range map[string]string{
		"":                                    "1:1 the file is empty; it must hold a JSON value",
		"\ufeff \n":                           "1:1 the file is empty; it must hold a JSON value",
		"{\"a\": 1":                           "1:8 the text ends in the middle of a value",
		"{\"a\":\n  tru}":                     "2:3 invalid character '}' in literal true (expecting 'e')",
		"{} {}":                               "1:4 there is text after the end of the JSON value",
		"{1: 2}":                              "1:2 a member name must be a string in double quotes",
		"{\n\"a\": 1\n\"b\": 2}":              "3:1 a comma is missing before this",
		"[1 2]":                               "1:4 a comma is missing before this",
		"{\"a\": 1,\n}":                       "1:8 this comma is one too many: '}' follows",
		"[[1,]]":                              "1:4 this comma is one too many: ']' follows",
		"{\"a\": 1,,\"b\": 2}":                "1:9 invalid character ',' looking for beginning of object key string",
		"{// a\n}":                            "1:2 JSON has no comments",
		"\"\xff\"":                            "1:2 the file is not UTF-8 (byte 0xff)",
		strings.Repeat("[", MaxDepth+2) + "1": "1:514 nested more than 512 deep",
	} {
		_, err := Parse([]byte(src))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("Parse(%.40q) = %v, want a *SyntaxError", src, err)
			continue
		}
		b, _ := json.Marshal([]int{syntax.Line, syntax.Column})
		if got := strings.NewReplacer("[", "", "]", "", ",", ":").Replace(string(b)) + " " + syntax.Msg; got != want {
			t.Errorf("Parse(%.40q): %s, want %s", src, got, want)
		}
	}
}

func TestDuplicates(t *testing.T) {
	d, err := Parse([]byte(`{"a":1,"b":[0,{"c/d":1,"c/d":2}],"a":3}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/b/1/c~1d", "/a"}; !reflect.DeepEqual(d.Duplicates, want) {
		t.Errorf("Duplicates = %q, want %q", d.Duplicates, want)
	}
	if got := d.Value.(map[string]any)["a"]; got != json.Number("3") {
		t.Errorf("a = %v, want the last one", got)
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		src  string
		edit func(*Document) []Edit
		want string
	}{
		{`{"a": "5", "b" : 1.0}`, func(d *Document) []Edit { return []Edit{d.Replace("/a", "5")} }, `{"a": 5, "b" : 1.0}`},
		{`{"a":1 }`, func(d *Document) []Edit { return []Edit{d.Append("", "x<", "1"), d.Append("", "y", "2")} }, `{"a":1,"x<":1,"y":2 }`},
		{`{ }`, func(d *Document) []Edit { return []Edit{d.Append("", "x", "1"), d.Append("", "y", "2")} }, `{"x":1,"y":2 }`},
		{`[{},{}]`, func(d *Document) []Edit { return []Edit{d.Append("/1", "x", "1"), d.Append("/0", "x", "1")} }, `[{"x":1},{"x":1}]`},
		{`{"a":1, "b":2, "c":3}`, func(d *Document) []Edit { return d.Remove("", "a") }, `{"b":2, "c":3}`},
		{`{"a":1, "b":2, "c":3}`, func(d *Document) []Edit { return d.Remove("", "b", "c") }, `{"a":1}`},
		{`{"a":1, "b":2, "c":3}`, func(d *Document) []Edit { return d.Remove("", "a", "c") }, `{"b":2}`},
		{`{"a":1, "b":2, "a":3}`, func(d *Document) []Edit { return d.Remove("", "a") }, `{"b":2}`},
		{`{"a":1, "b":2, "\u0061":3, "a":4, "c":5}`, func(d *Document) []Edit { return d.Remove("", "a") }, `{"b":2, "c":5}`},
		{`{"b":2, "a":1, "a":3}`, func(d *Document) []Edit { return d.Remove("", "b") }, `{"a":1, "a":3}`},
		{`{"a":1, "b":2, "c":3}`, func(d *Document) []Edit { return d.Remove("", "a", "b", "c", "d") }, `{}`},
		{`{"a":1}`, func(d *Document) []Edit { return append(d.Remove("", "a"), d.Append("", "b", "2")) }, `{"b":2}`},
		{`[1]`, func(d *Document) []Edit { return append(d.Remove("", "a"), d.Remove("/x", "a")...) }, `[1]`},
	} {
		d, err := Parse([]byte(c.src))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(d.Apply(c.edit(d))); got != c.want {
			t.Errorf("%s became %s, want %s", c.src, got, c.want)
		}
	}
}

// A long name must not be paid for once for each value below it.
func TestLongNames(t *testing.T) {
	src := `{"` + strings.Repeat("k", 100_000) + `":[` + strings.Repeat("0,", 70_000) + `0]}`
	start := time.Now()
	if _, err := Parse([]byte(src)); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestEscape(t *testing.T) {
	for _, name := range []string{"", "a", "a/b", "~", "~1", "/~0"} {
		if got := Unescape(Escape(name)); got != name {
			t.Errorf("%q came back as %q", name, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":null}]}`, `{"a":1,"a":2}`, `"x"`, ` [ ] `, `{"":{"":0}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := Parse(src)
		if err != nil {
			return
		}
		if !json.Valid(d.Text()) {
			t.Fatalf("accepted what is no JSON: %q", src)
		}
		if got := d.Apply([]Edit{d.Replace("", "[]")}); !strings.Contains(string(got), "[]") || !json.Valid(got) {
			t.Fatalf("replaced to %q", got)
		}
		if _, ok := d.Value.(map[string]any); !ok {
			return
		}
		names := d.Keys("")
		edits := append(d.Remove("", names...), d.Append("", "new", "1"))
		var out map[string]any
		if err := json.Unmarshal(d.Apply(edits), &out); err != nil || len(out) != 1 {
			t.Fatalf("%q became %q: %v", src, d.Apply(edits), err)
		}
	})
}
