package process

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzFrame: whatever a line holds, reading it does not fail; what is taken for a message
// is one, and its result is the same value as was written.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		`{"id":"c1","result":"text"}`, `{"id":"c1","result":{"a":"\u017c\ud83d\ude00\ud800","b":[1.50, null]}}`, `{"id":"c1","error":{"message":"m"}}`,
		`noise {"id":"c1"}`, `{"method":"progress","params":{"id":"c1","message":"m"}}`, `{"id":7,"method":"ai.complete","params":{}}`,
		"\ufeff{\"id\":\"c1\"}", `{"ID":"c1"}`, `{{{{"id":1}`, "\xff\xfe", `{"id":"c1","result":"\\\""}`, "", "null", "{}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, noise, ok := readMessage(line)
		if !utf8.ValidString(noise) {
			t.Errorf("the noise %q is no UTF-8", noise)
		}
		if !ok {
			return
		}
		if m.Method == "" && m.ID == nil {
			t.Fatalf("%q was taken for a message", line)
		}
		if _, err := m.result(); err != nil {
			t.Fatal(err)
		}
		if m.Result == nil {
			return
		}
		var before, after any
		if err := json.Unmarshal(m.Result, &before); err != nil {
			t.Fatalf("the result %q is no JSON: %v", m.Result, err)
		}
		text := plain(m.Result)
		if err := json.Unmarshal(text, &after); err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%q became %q: %v", m.Result, text, err)
		}
		if strings.ContainsAny(string(text), "\n\r") {
			t.Errorf("%q has a line end", text)
		}
	})
}

func TestFindMessage(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":"c1","result":1}`:               "",
		`log: {"id":"c1","result":1}`:          "log: ",
		`{"level":"info"} {"id":"c1"}`:         `{"level":"info"} `,
		"\ufeff{\"id\":\"c1\"}\r\n":            "",
		`{"level":"info","msg":"no message"}`:  `{"level":"info","msg":"no message"}`,
		`{"Id":"c1","result":1}`:               `{"Id":"c1","result":1}`,
		`[{"id":"c1"}]`:                        `[{"id":"c1"}]`,
		"\xffbinary {\"id\":\"c1\"}":           "\ufffdbinary ",
		strings.Repeat("{", 20) + `{"id":"1"}`: strings.Repeat("{", 20) + `{"id":"1"}`,
	} {
		_, noise, ok := readMessage([]byte(line))
		if noise != want || ok != (want != line && want != strings.TrimSpace(line) || want == "") {
			t.Errorf("%q: noise %q, message %v; want noise %q", line, noise, ok, want)
		}
	}
}
