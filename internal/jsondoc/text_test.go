package jsondoc

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzAppendText compares with encoding/json.
func FuzzAppendText(f *testing.F) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, s := range []string{"", "plain", "a \"quoted\" \\ text\n", string(all), "ü 世界 😀", "\u2028\u2029\ufffd\u007f", "cut \xe4\xb8", "<a href='&'>", "\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		got := append(AppendText([]byte("before"), s), '\n')
		if string(got) != "before"+want.String() {
			t.Errorf("AppendText(%q) = %q, not %q", s, got, want.String())
		}
	})
}
