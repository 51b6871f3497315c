//go:build !race

package worker_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
)

type attack struct{ Name, Source string }

func attacks(tb testing.TB) []attack {
	tb.Helper()
	file, err := os.Open("../node/testdata/attacks.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	var list []attack
	for s := bufio.NewScanner(file); s.Scan(); {
		var a attack
		if err := json.Unmarshal(s.Bytes(), &a); err != nil {
			tb.Fatal(err)
		}
		list = append(list, a)
	}
	if len(list) < 90 {
		tb.Fatalf("there are %d attacks", len(list))
	}
	return list
}

// returned makes a source give its value, where that is an expression or ends with a promise.
func returned(source string) string {
	const promise = "new Promise(()=>{})"
	if before, ok := strings.CutSuffix(source, promise); ok {
		return before + "return " + promise
	}
	if !strings.ContainsAny(source, ";{") || strings.HasPrefix(source, "Array.prototype") {
		return "return " + source
	}
	return source
}

// Every attack gets an answer at its deadline, this process goes on, and so does a plugin
// beside; the plugin itself answers soon again.
func TestAttacks(t *testing.T) {
	beside := open(t, setup{files: map[string]string{"beside.js": handlerOf("return 'beside'")}})
	for _, a := range attacks(t) {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			const timeout = 700 * time.Millisecond
			f := open(t, setup{timeout: timeout, files: map[string]string{
				"attack.js": "export default function () {\n" + returned(a.Source) + "\n}", "other.js": handlerOf("return 'other'"),
			}})
			began := time.Now()
			r, err := f.Call(t.Context(), &host.Call{Tool: "attack"})
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			if took > timeout+time.Second { // the machine is busy with other attacks
				t.Errorf("the answer came after %s", took)
			}
			text := r.Content[0].Text()
			for _, bad := range []string{"EOF", "rpc error", "Unavailable"} {
				if strings.Contains(text, bad) {
					t.Errorf("the answer speaks of what is between the processes: %.300q", text)
				}
			}
			t.Logf("after %d ms, isError %v: %.120s", took.Milliseconds(), r.IsError, text)
			beside.answers(t, "beside", "{}", "beside")
			// A worker that was just killed is started anew.
			for deadline := time.Now().Add(10 * time.Second); ; {
				if text, isError := f.call(t, "other", "{}"); !isError && text == "other" {
					break
				} else if time.Now().After(deadline) {
					t.Fatalf("the plugin does not answer again: %q", text)
				}
			}
		})
	}
}
