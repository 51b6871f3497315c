package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// mustCompile compiles the same schema as draft-07 and as 2020-12, so that both
// engines are tested. The schema begins with `{TYPE`.
func mustCompile(t testing.TB, schema string) map[string]*Schema {
	t.Helper()
	out := map[string]*Schema{}
	for name, declared := range map[string]string{"draft-07": d7, "2020-12": ""} {
		s, err := Compile([]byte(strings.Replace(schema, "{TYPE", `{`+declared+`"type":"object"`, 1)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = s
	}
	return out
}

const editFile = `{TYPE,"required":["path"],"additionalProperties":false,"properties":{
	"path":{"type":"string","description":"file to read\nand more"},
	"limit":{"type":"integer","minimum":1,"maximum":100},
	"ratio":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1,"multipleOf":0.25},
	"mode":{"enum":["read-only","write",3]},
	"kind":{"const":"text"},
	"when":{"type":"string","format":"date","pattern":"^2"},
	"tag":{"type":"string","pattern":"^[a-z]+$","minLength":2,"maxLength":4},
	"maybe":{"anyOf":[{"type":"integer"},{"type":"null"}]},
	"level":{"anyOf":[{"const":"low"},{"const":"high"}]},
	"opt":{"anyOf":[{"type":"object","required":["x"],"properties":{"x":{"type":"integer"}}},{"type":"null"}]},
	"list":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2,"uniqueItems":true},
	"map":{"type":"object","minProperties":1,"maxProperties":2,"propertyNames":{"pattern":"^[a-z]+$"}},
	"some":{"type":"array","contains":{"type":"integer"}},
	"not":{"not":{"type":"string"}},
	"never":false,
	"edits":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["oldText","newText"],"properties":{"oldText":{"type":"string"},"newText":{"type":"string"}}}},
	"target":{"oneOf":[
		{"type":"object","properties":{"kind":{"const":"file"},"path":{"type":"string"}},"required":["kind","path"]},
		{"type":"object","properties":{"kind":{"const":"url"},"url":{"type":"string","description":"address"}},"required":["kind","url"]}]},
	"both":{"oneOf":[{"type":"integer"},{"minimum":5}]},
	"a/b":{"type":"integer"},
	"cond":{"type":"object","if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}}}`

func TestMessages(t *testing.T) {
	schemas := mustCompile(t, editFile)
	for _, c := range []struct{ value, want string }{
		{`null`, "- expected object, got null"},
		{`[1]`, "- expected object, got array"},
		{`"x"`, `- expected object, got string "x"`},
		{`{}`, "- /path: required but missing (string: file to read)"},
		{`{"path":5}`, "- /path: expected string, got integer 5"},
		{`{"path":null}`, "- /path: expected string, got null"},
		{`{"path":"` + strings.Repeat("ä", 100) + `","limit":"` + strings.Repeat("ä", 100) + `"}`, `- /limit: expected integer, got string "` + strings.Repeat("ä", 60) + `…"`},
		{`{"path":"a","limit":1.5}`, "- /limit: expected integer, got number 1.5"},
		{`{"path":"a","limit":0}`, "- /limit: expected at least 1, got integer 0"},
		{`{"path":"a","limit":101}`, "- /limit: expected at most 100, got integer 101"},
		{`{"path":"a","ratio":0}`, "- /ratio: expected more than 0, got integer 0"},
		{`{"path":"a","ratio":1.0}`, "- /ratio: expected less than 1, got integer 1.0"},
		{`{"path":"a","ratio":0.3}`, "- /ratio: expected a multiple of 0.25, got number 0.3"},
		{`{"path":"a","mode":"readonly"}`, `- /mode: expected one of "read-only", "write", 3, got string "readonly"; did you mean "read-only"?`},
		{`{"path":"a","mode":{}}`, `- /mode: expected one of "read-only", "write", 3, got object`},
		{`{"path":"a","kind":"txt"}`, `- /kind: expected "text", got string "txt"`},
		{`{"path":"a","when":"x"}`, `- /when: expected a text of format date, got string "x"`},
		{`{"path":"a","when":"1999-01-01"}`, `- /when: expected a text that matches "^2", got string "1999-01-01"`},
		{`{"path":"a","tag":"A"}`, "- /tag: expected a text that matches \"^[a-z]+$\", got string \"A\"\n- /tag: expected at least 2 characters, got 1"},
		{`{"path":"a","tag":"abcde"}`, "- /tag: expected at most 4 characters, got 5"},
		{`{"path":"a","maybe":true}`, "- /maybe: expected integer or null, got boolean true"},
		{`{"path":"a","level":"hi"}`, `- /level: expected "low" or "high", got string "hi"`},
		{`{"path":"a","opt":{"x":"y"}}`, `- /opt/x: expected integer, got string "y"`},
		{`{"path":"a","list":[]}`, "- /list: expected at least 1 item, got 0"},
		{`{"path":"a","list":["a","b","a"]}`, "- /list: expected at most 2 items, got 3\n- /list: items 0 and 2 are equal; each may be there once"},
		{`{"path":"a","list":["a",2]}`, "- /list/1: expected string, got integer 2"},
		{`{"path":"a","map":{}}`, "- /map: expected at least 1 properties, got 0"},
		{`{"path":"a","map":{"A":1}}`, `- /map/A: its name is not allowed: expected a text that matches "^[a-z]+$", got string "A"`},
		{`{"path":"a","some":["x"]}`, "- /some: none of the items is of the kind that must be there (integer)"},
		{`{"path":"a","not":"x"}`, `- /not: string "x" is not allowed here`},
		{`{"path":"a","never":1}`, "- /never: not allowed here"},
		{`{"path":"a","both":7}`, "- /both: fits alternatives 1 and 2, but must fit exactly one"},
		{`{"path":"a","a/b":true}`, "- /a~1b: expected integer, got boolean true"},
		{`{"path":"a","cond":{"a":1}}`, "- /cond/b: required but missing"},
		{`{"path":"a","cond":{}}`, "- /cond/c: required but missing"},
		{`{"path":"a","edits":[{"oldText":"a","newText":"b"},{"oldText":"a","new_text":"b"}]}`,
			"- /edits/1/newText: required but missing (string)\n- /edits/1/new_text: unknown property; did you mean \"newText\"?"},
		{`{"path":"a","target":{"kind":"url"}}`,
			"- /target: expected one of 2 alternatives; closest is alternative 2, which needs:\n- /target/url: required but missing (string: address)"},
		{`{"path":"a","target":5}`, "- /target: expected object, got integer 5"},
		{`{"limit":"x","zzz":1,"list":[]}`, "- /path: required but missing (string: file to read)\n" +
			"- /zzz: unknown property; known are path, limit, ratio, mode, kind, when, tag, maybe, level, opt, list, map, some, not, never, edits, target, both, a/b, cond\n" +
			"- /limit: expected integer, got string \"x\"\n- /list: expected at least 1 item, got 0"},
		{`{"path":"a","list":[1,2,3,4,5,6,7,8,9,10,11,12]}`, "- /list/0: expected string, got integer 1\n- /list/1: expected string, got integer 2\n- /list/2: expected string, got integer 3\n" +
			"- /list/3: expected string, got integer 4\n- /list/4: expected string, got integer 5\n- /list/5: expected string, got integer 6\n- /list/6: expected string, got integer 7\n" +
			"- /list/7: expected string, got integer 8\n- /list/8: expected string, got integer 9\n- /list/9: expected string, got integer 10\n… and 3 more"},
	} {
		for name, s := range schemas {
			checked, err := s.Check(json.RawMessage(c.value), false)
			if err != nil {
				t.Errorf("%s: %s: %v", name, c.value, err)
				continue
			}
			if got := Explain("Lead:", checked.Issues); got != "Lead:\n"+c.want {
				t.Errorf("%s: %s:\n%s\nwant\n%s", name, c.value, got, c.want)
			}
			if checked.Value != nil || checked.Repaired != nil {
				t.Errorf("%s: %s: a value %s and repairs %q beside issues", name, c.value, checked.Value, checked.Repaired)
			}
		}
	}
}

func TestIssueFields(t *testing.T) {
	for name, s := range mustCompile(t, editFile) {
		checked, err := s.Check([]byte(`{"limit":"x","pth":1}`), true)
		if err != nil {
			t.Fatal(err)
		}
		want := []Issue{
			{"/path", "required", "string: file to read", "nothing", "required but missing (string: file to read)"},
			{"/pth", "additionalProperties", "path", "integer 1", `unknown property; did you mean "path"?`},
			{"/limit", "type", "integer", `string "x"`, `expected integer, got string "x"`},
		}
		if !reflect.DeepEqual(checked.Issues, want) {
			t.Errorf("%s: %+v, want %+v", name, checked.Issues, want)
		}
	}
}

func TestValues(t *testing.T) {
	const schema = `{TYPE,"required":["must"],"properties":{
		"must":{"default":"never filled in"},
		"n":{"type":"integer","default":1.0}, "s":{"type":"string","default":"a<b"},
		"x":{"type":["number","null"]}, "b":{"type":"boolean"},
		"list":{"type":"array","items":{"type":"object","properties":{"k":{"type":"integer","default":7}}}},
		"o":{"type":"object","properties":{"p":{"type":"object","properties":{"q":{"default":true}}}}},
		"either":{"anyOf":[{"type":"integer"},{"type":"string"}]},
		"maybe":{"anyOf":[{"type":"integer"},{"type":"null"}]},
		"u":{"anyOf":[{"type":"object","properties":{"d":{"default":1},"i":{"type":"integer"}}},{"type":"null"}]},
		"open":{}, "r":{"$ref":"#/definitions/r"}, "all":{"allOf":[{"properties":{"e":{"default":2}}}]}},
		"definitions":{"r":{"type":"array","items":{"type":"integer"}}}}`
	for _, c := range []struct {
		value    string
		want     string
		repaired []string
	}{
		{`{"must":1,"n":2,"s":""}`, ``, nil},
		{` { "must" : 1, "n":2.0e0 ,"s":"" } `, ``, nil},
		{`{"must":1}`, `{"must":1,"n":1.0,"s":"a<b"}`, nil},
		{`{"s":"x", "must":1.50 }`, `{"s":"x", "must":1.50,"n":1.0 }`, nil},
		{`{"must":1,"n":2,"s":"","list":[{},{"k":1}, {"z":[]}],"o":{}}`, `{"must":1,"n":2,"s":"","list":[{"k":7},{"k":1}, {"z":[],"k":7}],"o":{}}`, nil},
		{`{"must":1,"n":2,"s":"","o":{"p":{}}}`, `{"must":1,"n":2,"s":"","o":{"p":{"q":true}}}`, nil},
		{`{"must":1,"n":2,"s":"","u":{}}`, ``, nil},
		{`{"must":1,"n":2,"s":"","all":{}}`, `{"must":1,"n":2,"s":"","all":{"e":2}}`, nil},
		{`{"must":1,"n":"2","s":""}`, `{"must":1,"n":2,"s":""}`, []string{"/n"}},
		{`{"must":1,"n":2,"s":"","x":"-2.5","b":"true"}`, `{"must":1,"n":2,"s":"","x":-2.5,"b":true}`, []string{"/b", "/x"}},
		{`{"must":1,"n":2,"s":"","list":"[{\"k\":1.0}]"}`, `{"must":1,"n":2,"s":"","list":[{"k":1.0}]}`, []string{"/list"}},
		{`{"must":1,"n":2,"s":"","o":" {\"p\":{}} "}`, `{"must":1,"n":2,"s":"","o":{"p":{"q":true}}}`, []string{"/o"}},
		{`{"must":1,"n":2,"s":"","maybe":"5"}`, `{"must":1,"n":2,"s":"","maybe":5}`, []string{"/maybe"}},
		{`{"must":1,"n":2,"s":"","u":{"i":"5"}}`, `{"must":1,"n":2,"s":"","u":{"i":5}}`, []string{"/u/i"}},
		{`{"must":1,"n":2,"s":"","r":["5",6]}`, `{"must":1,"n":2,"s":"","r":[5,6]}`, []string{"/r/0"}},
		{`{"must":1,"n":2,"s":"","list":[{"k":"5"}]}`, `{"must":1,"n":2,"s":"","list":[{"k":5}]}`, []string{"/list/0/k"}},
		// Never for a text that fits.
		{`{"must":"1","n":2,"s":"5","either":"5","open":"5"}`, ``, nil},
	} {
		for name, s := range mustCompile(t, schema) {
			checked, err := s.Check(json.RawMessage(c.value), false)
			if err != nil || len(checked.Issues) > 0 {
				t.Errorf("%s: %s: %v %v", name, c.value, err, checked.Issues)
				continue
			}
			want := c.want
			if want == "" {
				want = c.value
			}
			if string(checked.Value) != want || !reflect.DeepEqual(checked.Repaired, c.repaired) {
				t.Errorf("%s: %s became %s, repaired %q; want %s, %q", name, c.value, checked.Value, checked.Repaired, want, c.repaired)
			}
			if strict, err := s.Check(json.RawMessage(c.value), true); err != nil || (len(strict.Issues) > 0) != (c.repaired != nil) {
				t.Errorf("%s: %s: strict: %v %v", name, c.value, strict.Issues, err)
			}
		}
	}
	// What would lose something, or is no number as a program prints it, stays wrong.
	for _, text := range []string{"", "5.0", "05", "+5", " 5", "5 ", "1e3", "0x10", "5,0", "five", "null", "NaN", "Infinity", "9007199254740993", "-0", "True", "[5]"} {
		for name, s := range mustCompile(t, schema) {
			value, _ := json.Marshal(map[string]any{"must": 1, "n": text, "maybe": text})
			if checked, err := s.Check(value, false); err != nil || len(checked.Issues) != 2 {
				t.Errorf("%s: %q for an integer: %v %s %v", name, text, err, checked.Value, checked.Issues)
			}
		}
	}
	for _, value := range []string{`{"must":1,"list":"[1"}`, `{"must":1,"list":"{}"}`, `{"must":1,"list":"[{\"k\":1,\"k\":2}]"}`, `{"must":1,"b":1}`, `{"must":1,"n":true}`, `{"must":1,"s":5}`, `"{\"must\":1}"`,
		`{"must":1,"n":"5","s":5}`} {
		for name, s := range mustCompile(t, schema) {
			if checked, err := s.Check(json.RawMessage(value), false); err != nil || len(checked.Issues) == 0 || checked.Repaired != nil {
				t.Errorf("%s: %s: %v %s %v", name, value, err, checked.Value, checked.Issues)
			}
		}
	}
}

// A default that would break what is right as it was sent is left out.
func TestDefaultsThatBreak(t *testing.T) {
	for name, s := range mustCompile(t, `{TYPE,"properties":{"a":{"default":1},"b":{}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`) {
		checked, err := s.Check([]byte(`{"b":1}`), false)
		if err != nil || string(checked.Value) != `{"b":1}` {
			t.Errorf("%s: %s %v %v", name, checked.Value, checked.Issues, err)
		}
	}
}

func TestUncheckable(t *testing.T) {
	for value, want := range map[string]string{
		`{`:                   "the value is no JSON: the text ends in the middle of a value",
		`{} {}`:               "the value is no JSON: there is text after its end",
		`{"a":1,}`:            "the value is no JSON: invalid character '}' looking for beginning of object key string",
		"{\"a\":\"\xff\"}":    "the value is no UTF-8 text",
		`{"a":{"b":1,"b":2}}`: `the value has "/a/b" twice; send it once`,
		`{"a":1e400}`:         "the value cannot be used: number 1e400 is out of range",
		`{"a":1e-500}`:        "the value cannot be used: number 1e-500 is out of range",
		`{"a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`: "the value is nested too deeply: 65 levels, at most 64 are taken",
		`{"` + strings.Repeat("k", 1025) + `":1}`:                         "the value has a property name of 1025 bytes; at most 1024 are taken",
		`{"a":"` + strings.Repeat("x", maxValueBytes) + `"}`:              "the value has 4194312 bytes; at most 4194304 are taken",
	} {
		for name, s := range mustCompile(t, `{TYPE}`) {
			checked, err := s.Check(json.RawMessage(value), false)
			if err == nil || err.Error() != want || checked.Value != nil {
				t.Errorf("%s: %.60s: %v %s, want %s", name, value, err, checked.Value, want)
			}
		}
	}
	for name, s := range mustCompile(t, `{TYPE}`) {
		if checked, err := s.Check(nil, false); err != nil || string(checked.Value) != `{}` {
			t.Errorf("%s: nothing became %s, %v", name, checked.Value, err)
		}
	}
}

// A machine without time for the process takes long to come to a small value: that is no
// reason to refuse it. The clock of the test goes on while the engine is awaited.
func TestCheckOnAStarvedMachine(t *testing.T) {
	large := `{"l":[` + strings.Repeat(`"a",`, 2*quickWork) + `"a"]}`
	for _, c := range []struct{ schema, value, want string }{
		{`{"type":"object","properties":{"l":{"items":{"type":"string"}}}}`, `{"l":["a"]}`, ""},
		{`{"type":"object","properties":{"l":{"items":{"pattern":"^a+$"}}}}`, `{"l":["a"]}`, ""},
		{`{"type":"object","properties":{"l":{"items":{"pattern":"^(a|aa)+$(?!x)"}}}}`, `{"l":["a"]}`, errTooSlow.Error()},
		{`{"type":"object","properties":{"l":{"items":{"type":"string"}}}}`, large, errTooSlow.Error()},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, err := Compile([]byte(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			starved := func() { time.Sleep(checkTime + time.Second) }
			compile, compileFull := s.engine, s.full
			s.engine = sync.OnceValues(func() (engine, error) { starved(); return compile() })
			s.full = sync.OnceValues(func() (*full, error) { starved(); return compileFull() })
			text := ""
			if _, err := s.Check([]byte(c.value), true); err != nil {
				text = err.Error()
			}
			if text != c.want {
				t.Errorf("%s: %.40s gives %q, want %q", c.schema, c.value, text, c.want)
			}
			time.Sleep(10 * checkTime) // what was given up ends too
		})
	}
}

// A check that outlives its time must not keep later ones out for good.
func TestSlowCheck(t *testing.T) {
	s, err := Compile([]byte(`{"type":"object","properties":{"l":{"items":{"pattern":"^(a|aa)+$(?!x)"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	item := `"` + strings.Repeat("a", 40) + `!",`
	if _, err := s.Check([]byte(`{"l":[`+strings.Repeat(item, 200)+`"a"]}`), true); err == nil || err.Error() != errTooSlow.Error() {
		t.Fatalf("error %v, want %v", err, errTooSlow)
	}
	for s.late.Load() > 0 { // its patterns give up now
		if _, err := s.Check([]byte(`{}`), true); err != nil && err.Error() != errBusy.Error() {
			t.Fatal(err)
		}
	}
	if checked, err := s.Check([]byte(`{"l":["a"]}`), true); err != nil || len(checked.Issues) > 0 {
		t.Errorf("after that: %v %v", checked.Issues, err)
	}
}

func TestConcurrentChecks(t *testing.T) {
	for name, s := range mustCompile(t, editFile) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 20 {
					good, err := s.Check([]byte(`{"path":"a","limit":"5"}`), false)
					if err != nil || string(good.Value) != `{"path":"a","limit":5}` {
						t.Errorf("%s: %s %v", name, good.Value, err)
					}
					if bad, err := s.Check([]byte(`{"pth":"a"}`), false); err != nil || len(bad.Issues) != 2 {
						t.Errorf("%s: %v %v", name, bad.Issues, err)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestPathArguments(t *testing.T) {
	const marked = `{TYPE,"properties":{
		"in":{"type":"string","format":"file-path"},"outPath":{"type":"string"},
		"list":{"type":"array","items":{"$ref":"#/definitions/p"}},
		"map":{"type":"object","additionalProperties":{"type":"string","format":"directory-path"},"patternProperties":{"^x":{}}},
		"deep":{"allOf":[{"properties":{"f":{"$ref":"#/definitions/p"}}}]},
		"target":{"oneOf":[
			{"type":"object","required":["kind"],"properties":{"kind":{"const":"file"},"at":{"format":"file-path"}}},
			{"type":"object","required":["kind"],"properties":{"kind":{"const":"url"},"at":{"type":"string"}}}]},
		"tree":{"$ref":"#/definitions/tree"}},
		"definitions":{"p":{"type":"string","format":"file-path"},
			"tree":{"type":"object","properties":{"file":{"$ref":"#/definitions/p"},"kids":{"type":"array","items":{"$ref":"#/definitions/tree"}}}}}}`
	const named = `{TYPE,"properties":{"path":{"type":"string"}}}`
	for _, c := range []struct{ schema, args, want string }{
		{marked, `{"in":"a","outPath":"b"}`, "/in=a*"},
		{marked, `{"list":["a","b"]}`, "/list/0=a* /list/1=b*"},
		{marked, `{"map":{"k":"a","x1":"b"}}`, "/map/k=a*"},
		{marked, `{"deep":{"f":"a"}}`, "/deep/f=a*"},
		{marked, `{"target":{"kind":"file","at":"a"}}`, "/target/at=a*"},
		{marked, `{"target":{"kind":"url","at":"a"}}`, ""},
		{marked, `{"tree":{"file":"a","kids":[{"file":"b","kids":[{"file":"c"}]}]}}`, "/tree/file=a* /tree/kids/0/file=b* /tree/kids/0/kids/0/file=c*"},
		{marked, `{}`, ""},
		{named, `{"path":"a","paths":["b","c"],"file":"d","files":["e"],"dir":"f","folder":"g"}`, "/dir=f /file=d /files/0=e /folder=g /path=a /paths/0=b /paths/1=c"},
		{named, `{"inputPath":"a","log_file":"b","out-dir":"c","PATH":"d","LOG_FILE":"e","myFolder":"f","URLPath":"g"}`, "/LOG_FILE=e /PATH=d /URLPath=g /inputPath=a /log_file=b /myFolder=f /out-dir=c"},
		{named, `{"profile":"a","filename":"b","pathology":"c","logfile":"d","fileCount":"e","x":"f","path":5}`, ""},
		{named, `{"o":{"path":"a","list":[{"srcPath":"b","name":"c"}]},"files":[{"name":"d","path":"e"}],"file":{"name":"f"}}`, "/files/0/path=e /o/list/0/srcPath=b /o/path=a"},
		{`{TYPE,"additionalProperties":false,"properties":{"x":{"type":"string"}}}`, `{"x":"a"}`, ""},
	} {
		for name, s := range mustCompile(t, c.schema) {
			var got []string
			for _, p := range s.PathArguments(json.RawMessage(c.args)) {
				mark := ""
				if p.Marked {
					mark = "*"
				}
				got = append(got, fmt.Sprintf("%s=%s%s", p.Pointer, p.Value, mark))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s: %s names %q, want %q", name, c.args, got, c.want)
			}
		}
	}
	if closed := mustCompile(t, `{TYPE,"additionalProperties":false,"properties":{"x":{"type":"string"}}}`)["2020-12"]; closed.maybeNamed || closed.marked {
		t.Error("a closed schema without such names is still searched")
	}
}

func BenchmarkCompile(b *testing.B) {
	for name, declared := range map[string]string{"draft-07": d7, "2020-12": ""} {
		text := []byte(`{` + declared + `"type":"object","required":["path"],"additionalProperties":false,"properties":{"path":{"type":"string","description":"file"},"limit":{"type":"integer","minimum":1},"mode":{"enum":["a","b"]}}}`)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compile(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	const schema = `{TYPE,"required":["path"],"additionalProperties":false,"properties":{"path":{"type":"string","description":"file"},"limit":{"type":"integer","minimum":1},"mode":{"enum":["a","b"]}}}`
	for name, s := range mustCompile(b, schema) {
		for what, value := range map[string]string{"good": `{"path":"a","limit":5,"mode":"b"}`, "repaired": `{"path":"a","limit":"5","mode":"b"}`, "bad": `{"pth":"a","limit":0}`} {
			b.Run(name+"/"+what, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Check(json.RawMessage(value), false); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
