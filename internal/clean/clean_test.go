package clean

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestTextAndLine(t *testing.T) {
	for _, c := range []struct{ in, line, text string }{
		{"plain text", "plain text", "plain text"},
		{"größer 日本 👩‍👩‍👧", "größer 日本 👩‍👩‍👧", "größer 日本 👩‍👩‍👧"},
		{"a\nb\tc\rd", `a\nb\tc\rd`, "a\nb\tc\ufffdd"},
		{"\x1b[31mred\x07", `\u001b[31mred\u0007`, "\ufffd[31mred\ufffd"},
		{"\u009b31m\x7f", `\u009b31m\u007f`, "\ufffd31m\ufffd"},
		{"abc\u202etxt\u2066\u200f", `abc\u202etxt\u2066\u200f`, "abc\u202etxt\u2066\u200f"},
		{"a\u2028b", `a\u2028b`, "a\u2028b"},
		{"bad\xff\xc0", `bad\xff\xc0`, "bad\ufffd\ufffd"},
		{"\ufffd", "\ufffd", "\ufffd"},
	} {
		if got := Line(c.in); got != c.line {
			t.Errorf("Line(%q) = %q, want %q", c.in, got, c.line)
		}
		if got := Text(c.in); got != c.text {
			t.Errorf("Text(%q) = %q, want %q", c.in, got, c.text)
		}
	}
}

func TestJSON(t *testing.T) {
	value := map[string]string{"a\u009b": "x\u202e\x7fé\u2066", "b": "plain"}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	escaped := JSON(text)
	if strings.ContainsFunc(string(escaped), hidden) {
		t.Errorf("JSON(%q) = %q", text, escaped)
	}
	var got map[string]string
	if err := json.Unmarshal(escaped, &got); err != nil || got["a\u009b"] != value["a\u009b"] {
		t.Errorf("the value of %q is %q, %v", escaped, got, err)
	}
	if same := JSON([]byte("{\n  \"a\": 1\n}\n")); string(same) != "{\n  \"a\": 1\n}\n" {
		t.Errorf("layout is lost: %q", same)
	}
}

// TestUnseen: what is not seen is escaped, in JSON so that it means the same; what scripts and
// emoji need stays.
func TestUnseen(t *testing.T) {
	for in, want := range map[string]string{
		"a\u200bb": `a\u200bb`, "\ufeffa": `\ufeffa`, "so\u00adft": `so\u00adft`, "\u3164": `\u3164`,
		"x\U000e0041": `x\U000e0041`, "x\U000e0100": `x\U000e0100`,
		"می\u200cخواهم": "می\u200cخواهم", "👩\u200d👩": "👩\u200d👩", "❤\ufe0f": "❤\ufe0f", "\u0600١": "\u0600١",
	} {
		if got := Line(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		raw, _ := json.Marshal(in)
		shown := JSON(raw)
		var again string
		if err := json.Unmarshal(shown, &again); err != nil || again != in {
			t.Errorf("%s means %q (%v), want %q", shown, again, err, in)
		}
		if want != in && bytes.Contains(shown, []byte(in)) {
			t.Errorf("%q stays as it is in JSON", in)
		}
	}
}
