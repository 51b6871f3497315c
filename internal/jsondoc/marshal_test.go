package jsondoc

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// slowly is Marshal by encoding/json alone.
func slowly(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestMarshal(t *testing.T) {
	for _, v := range []any{
		nil, true, false, "", "plain ~ text", `"`, `\`, "\n", "\x7f", "<&>", "é", "\u2028", "\xff", 1.5, 7,
		json.Number("1"), json.Number("-0.50e+3"), json.Number(""), json.Number("1 "), json.Number(" 1"), json.Number("01"), json.Number("x"), json.Number("[1]"), json.Number(`1"`),
		[]any{}, []any(nil), []any{"a", nil, []any{json.Number("2")}}, map[string]any{}, map[string]any(nil),
		map[string]any{"b": 1, "a": []any{"x", map[string]any{"é": true, "": nil}}, "A": "\t"},
		map[string]any{"b": json.Number("3"), "a": "<"}, struct{ A, B string }{"<", "é"}, []string{"a"}, func() {},
	} {
		if got, want := string(Marshal(v)), slowly(v); got != want {
			t.Errorf("%#v: %s, want %s", v, got, want)
		}
	}
}

// FuzzMarshal: what was read is written as encoding/json writes it.
func FuzzMarshal(f *testing.F) {
	for _, seed := range []string{`{"b":[1,-2.5e7,"x"],"a":{"":null,"é":true}}`, `"\u0000<"`, `[]`, `{}`, `"\ud800"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse(text)
		if err != nil {
			return
		}
		if got, want := string(Marshal(d.Value)), slowly(d.Value); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
