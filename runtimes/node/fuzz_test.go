package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
)

func testEngine() *engine {
	e := newEngine(context.Background(), "/plugin", &permissions.Grant{}, slog.New(slog.DiscardHandler))
	e.takeOwn(ownNamesIn("eval", computed{}))
	e.guard(guardsFor("eval", computed{}))
	return e
}

// Any JSON text comes out of the engine as it went in, and any value of a script becomes
// a result or a failure; nothing panics.
func FuzzShapeResult(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.5,-0,1e21,true,null,"x"],"__proto__":{"b":1}}`, `"\ud83d"`, `"\u0000\u001f\u2028é😀"`, `[]`, `{}`, ` 1 `, `-`, `{"a"`, `01`, `"a`,
		`undefined`, `Symbol('s')`, `() => 1`, `10n`, `new Date(0)`, `new Map([[1, 2]])`, `Object('x')`, `new Proxy([], {})`, `[,1]`, `new Error('x')`,
		`{toJSON() { return this }}`, `{get a() { throw 1 }}`, `Object.create(null)`, `new Uint8Array(3)`, `/x/g`, `NaN`, `'\ud83d'`, `Promise.resolve(1)`,
		`(() => { const a = []; a[0] = a; return a })()`, `JSON.rawJSON('1')`, `{content: [{type: 'text', text: 'x'}]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // the host lets no such text through
		}
		const limit = 1 << 20
		e := testEngine()
		defer time.AfterFunc(500*time.Millisecond, func() { e.vm.Interrupt(errors.New("enough")) }).Stop()
		v, err := e.parseJSON([]byte(text))
		if valid := json.Valid([]byte(text)); valid != (err == nil) && depth(text) <= maxJSONDepth {
			t.Fatalf("valid JSON: %v; parsing it: %v", valid, err)
		}
		if err == nil {
			r, err := e.shape(v, limit)
			if err != nil {
				t.Fatal(err)
			}
			same(t, text, r)
		}
		if v, err := e.vm.RunString("(" + text + "\n)"); err == nil {
			r, err := e.shape(v, limit)
			var internal *internalError
			switch {
			case errors.As(err, &internal):
				t.Fatal(err)
			case err != nil:
				_ = e.failureOf(err).Error()
			case r == nil:
				t.Fatal("neither a result nor an error")
			case r.Value != nil && !json.Valid(r.Value):
				t.Fatalf("the result is no JSON: %q", r.Value)
			}
		} else {
			_ = e.failureOf(err).Error()
		}
	})
}

// depth gives an upper bound of how deep a JSON text is nested.
func depth(text string) int {
	return bytes.Count([]byte(text), []byte("[")) + bytes.Count([]byte(text), []byte("{"))
}

// same checks that a result says what the JSON text said.
func same(t *testing.T, text string, r *host.Result) {
	t.Helper()
	var want, got any
	if json.Unmarshal([]byte(text), &want) != nil {
		return // a number out of range
	}
	if s, ok := want.(string); ok {
		if r.Content[0].Text() != s {
			t.Fatalf("got %q, want %q", r.Content[0].Text(), s)
		}
		return
	}
	if err := json.Unmarshal(r.Value, &got); err != nil {
		t.Fatalf("%v: %q", err, r.Value)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %s, want %s", r.Value, text)
	}
}
