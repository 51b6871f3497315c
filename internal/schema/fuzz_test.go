package schema

import (
	"encoding/json"
	"errors"
	"testing"
	"time"
)

// fuzzTime is far more than any schema or value may cost, even on a busy machine.
const fuzzTime = 30 * time.Second

// seeds gives schemas with every keyword: those of the suites and of the
// hostile cases that are small.
func seeds(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"integer","default":1}}}`), []byte(`{"a":"1"}`))
	f.Add([]byte(`{`+d7+`"type":"object","properties":{"a":{"oneOf":[{"const":1},{"enum":["x"]}]}},"additionalProperties":false,"patternProperties":{"^b":{"$ref":"#"}}}`), []byte(`{"b":{"a":2}}`))
	f.Add([]byte(`{`+d7+`"type":"object","properties":{"a":{"$ref":"#foo","$anchor":"foo"}}}`), []byte(`{"a":{}}`))
	f.Add([]byte(`{"type":"object","$dynamicAnchor":"n","properties":{"kids":{"items":{"$dynamicRef":"#n"}}},"unevaluatedProperties":false}`), []byte(`{"kids":[{"x":1}]}`))
	f.Add([]byte(`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"minimum":1,"exclusiveMinimum":true,"items":[{},{}],"additionalItems":false}},"dependencies":{"a":["b"]}}`), []byte(`{"a":[1,2,3]}`))
	f.Add([]byte(`{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object","$recursiveAnchor":true,"properties":{"a":{"$recursiveRef":"#"}},"dependentSchemas":{"a":{"not":{}}},"if":{"required":["a"]},"then":{"propertyNames":{"pattern":"^a"}}}`), []byte(`{"a":{}}`))
	for _, c := range hostileCases() {
		if len(c.schema) < 4000 && len(c.value) < 4000 {
			f.Add([]byte(c.schema), []byte(c.value))
		}
	}
	for i, tool := range realTools(f) {
		if i%4 > 0 {
			continue
		}
		f.Add([]byte(tool.Schema), []byte(tool.Instances[0]))
	}
}

// FuzzSchema: whatever the schema, compiling it, linting it and checking a value
// ends soon and without a panic, and gives findings of the promised kind.
func FuzzSchema(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text, value []byte) {
		if len(text) > 64<<10 || len(value) > 64<<10 {
			return
		}
		start := time.Now()
		s, err := Compile(text)
		var load *LoadError
		if err != nil {
			if !errors.As(err, &load) || len(load.Findings) == 0 {
				t.Fatalf("error %v (%T) without findings", err, err)
			}
			return
		}
		for _, finding := range s.Lint() {
			if finding.Severity == Error || finding.Rule == "" || finding.Message == "" {
				t.Fatalf("a lint finding %+v", finding)
			}
		}
		if _, err := Compile(s.Public()); err != nil {
			t.Fatalf("what is published does not compile: %v\n%s", err, s.Public())
		}
		checked, err := s.Check(value, false)
		if err == nil && len(checked.Issues) == 0 {
			s.PathArguments(checked.Value)
		}
		Explain("", checked.Issues)
		if d := time.Since(start); d > fuzzTime {
			t.Fatalf("took %v", d)
		}
	})
}

// FuzzCheck: an accepted value fits strictly, checking it again changes nothing,
// and both engines agree.
func FuzzCheck(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text, value []byte) {
		if len(text) > 16<<10 || len(value) > 16<<10 {
			return
		}
		s, err := Compile(text)
		if err != nil {
			return
		}
		checked, err := s.Check(value, false)
		if err != nil {
			return
		}
		if len(checked.Issues) > 0 {
			if checked.Value != nil || checked.Repaired != nil {
				t.Fatalf("a value %s beside issues %v", checked.Value, checked.Issues)
			}
			for _, issue := range checked.Issues {
				if issue.Message == "" {
					t.Fatalf("an issue without message: %+v", issue)
				}
			}
			return
		}
		again, err := s.Check(checked.Value, true)
		if err != nil || len(again.Issues) > 0 {
			t.Fatalf("%s became %s, which does not fit: %v %v", value, checked.Value, again.Issues, err)
		}
		if string(again.Value) != string(checked.Value) {
			t.Fatalf("%s became %s and then %s", value, checked.Value, again.Value)
		}
		strict, err := s.Check(value, true)
		if err == nil && (len(strict.Issues) == 0) != (len(checked.Repaired) == 0) {
			t.Fatalf("%s fits strictly: %v, repaired %q", value, len(strict.Issues) == 0, checked.Repaired)
		}
		e, err := s.engine()
		if err != nil {
			t.Fatal(err)
		}
		if _, isQuick := e.(*quick); isQuick && !json.Valid(checked.Value) {
			t.Fatalf("no JSON: %s", checked.Value)
		}
		if full, err := s.full(); err == nil {
			v, err := readValue(checked.Value)
			if err != nil {
				t.Fatal(err)
			}
			if ok, err := full.valid(v.value); err == nil && !ok {
				t.Fatalf("the engines disagree about %s", checked.Value)
			}
		}
	})
}
