package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

func TestPortable(t *testing.T) {
	const rules = "More rules hold for these arguments than stand here; a call that breaks one is told which."
	for _, c := range []struct{ name, in, want string }{
		{"unchanged",
			"{ \"type\": \"object\",\n \"properties\": {\"n\": {\"type\": \"number\", \"maximum\": 1.0}}, \"additionalProperties\": false}",
			"{ \"type\": \"object\",\n \"properties\": {\"n\": {\"type\": \"number\", \"maximum\": 1.0}}, \"additionalProperties\": false}"},
		{"no properties", `{"type":"object"}`, `{"type":"object","properties":{}}`},
		{"booleans",
			`{"type":"object","properties":{"any":true,"none":false,"list":{"type":"array","items":true},"o":{"type":"object","additionalProperties":true}}}`,
			`{"type":"object","properties":{"any":{},"none":{"not":{}},"list":{"type":"array","items":{}},"o":{"type":"object","additionalProperties":true}}}`},
		{"older drafts",
			`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"draft-04",
			`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"draft-04 that means something else",
			`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"type":"number","minimum":1,"exclusiveMinimum":true}}}`,
			`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"type":"number","minimum":1,"exclusiveMinimum":true}}}`},
		{"an older draft on which only what is left out depends",
			`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"tree":{"properties":{"k":{"$ref":"#/definitions/tree","maxLength":3}}}}}`,
			`{"type":"object","properties":{}}`},
		{"an older draft's definitions",
			`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"t":{"$ref":"#/definitions/tree"},"any":true},"definitions":{"tree":{"properties":{"k":{"$ref":"#/definitions/tree"}}}}}`,
			`{"type":"object","properties":{"t":{"$ref":"#/definitions/tree"},"any":{}},"definitions":{"tree":{"properties":{"k":{"$ref":"#/definitions/tree"}}}}}`},
		{"references",
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/a","description":"first"},"b":{"$ref":"#/$defs/b"}},"$defs":{"a":{"type":"string","description":"an a"},"b":{"type":"array","items":{"$ref":"#/$defs/a"}},"unused":{}}}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"first"},"b":{"type":"array","items":{"type":"string","description":"an a"}}}}`},
		{"a reference with rules beside it",
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/a","maxLength":3}},"$defs":{"a":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"maxLength":3,"allOf":[{"type":"string"}]}}}`},
		{"a reference with rules beside it that draft-07 ignores",
			`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"$ref":"#/definitions/a","maxLength":3}},"definitions":{"a":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"a tree",
			`{"type":"object","properties":{"t":{"$ref":"#/$defs/tree"}},"$defs":{"tree":{"type":"object","properties":{"leaf":{"$ref":"#/$defs/leaf"},"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}}},"leaf":{"type":"string"}}}`,
			`{"type":"object","properties":{"t":{"$ref":"#/$defs/tree"}},"$defs":{"tree":{"type":"object","properties":{"leaf":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}}}}}`},
		{"one that leads to the root", `{"type":"object","properties":{"sub":{"$ref":"#"}}}`, `{"type":"object","properties":{"sub":{"$ref":"#"}}}`},
		{"a place that is no definition",
			`{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"$ref":"#/properties/a"}}}}}`,
			`{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"$ref":"#/$defs/a"}}}},"$defs":{"a":{"type":"object","properties":{"x":{"$ref":"#/$defs/a"}}}}}`},
		{"one of",
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"object","description":"Give exactly one of: \"a\"; \"b\".","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`},
		{"kinds",
			`{"type":"object","description":"D.","required":["id"],"properties":{"id":{"type":"string"}},"anyOf":[{"properties":{"kind":{"const":"a"},"x":{"type":"string"},"id":{"minLength":3}},"required":["kind","x"]},{"properties":{"kind":{"const":"b"},"x":{"type":"string"}},"required":["kind"]}]}`,
			`{"type":"object","description":"D. ` + rules + `","properties":{"id":{"type":"string"},"kind":{"anyOf":[{"const":"a"},{"const":"b"}]},"x":{"type":"string"}},"required":["id","kind"]}`},
		{"all of, with references",
			`{"type":"object","allOf":[{"$ref":"#/$defs/a"},{"properties":{"b":{"type":"number"}},"required":["b"]}],"additionalProperties":true,"$defs":{"a":{"properties":{"a":{"type":"string"}},"required":["a"]}}}`,
			`{"type":"object","additionalProperties":true,"description":"` + rules + `","properties":{"a":{"type":"string"},"b":{"type":"number"}},"required":["a","b"]}`},
		{"conditions",
			`{"type":"object","properties":{"m":{"type":"string"}},"if":{"properties":{"m":{"const":"x"},"other":{"const":1}}},"then":{"required":["x"],"properties":{"x":{"type":"string"}}},"not":{"required":["z"]}}`,
			`{"type":"object","description":"` + rules + `","properties":{"m":{"type":"string"},"x":{"type":"string"}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Compile([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(s.Portable()); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			s, err = Compile([]byte(c.want))
			if err != nil {
				t.Fatal(err)
			}
			if again := string(s.Portable()); again != c.want {
				t.Errorf("a second time\n%s", again)
			}
		})
	}
}

// References that double at every step must not make a schema grow without bound.
func TestPortableIsBounded(t *testing.T) {
	var defs []string
	for i := range 40 {
		defs = append(defs, fmt.Sprintf(`"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`, i, i+1, i+1))
	}
	in := `{"type":"object","properties":{"x":{"$ref":"#/$defs/d0"},"any":true},"$defs":{` + strings.Join(defs, ",") + `,"d40":{"type":"string"}}}`
	s, err := Compile([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	out := s.Portable()
	if len(out) > 4*len(in) || !strings.Contains(string(out), `"any":{}`) {
		t.Errorf("%d bytes became %d: %.200s", len(in), len(out), out)
	}
	if _, err := Compile(out); err != nil {
		t.Errorf("what is published does not compile: %v", err)
	}
}

// unportable gives what clients are known to stumble over in a published schema.
func unportable(text []byte) []string {
	var wrong []string
	doc, err := jsondoc.Parse(text)
	if err != nil {
		return []string{err.Error()}
	}
	root, _ := doc.Value.(map[string]any)
	if _, ok := root["properties"].(map[string]any); !ok || root["type"] != "object" {
		wrong = append(wrong, "the root is no object with properties")
	}
	for name := range root {
		if isAlternative(name) {
			wrong = append(wrong, name+" at the root")
		}
	}
	tree := newTree(doc, draft2020)
	for _, n := range tree.order {
		if n.object == nil && !keepsBoolean(n.keyword) {
			wrong = append(wrong, n.pointer+" is a boolean")
		}
		for _, r := range n.refs {
			if !strings.HasPrefix(r.text, "#") || tree.target(r.text[1:]) == nil {
				wrong = append(wrong, r.pointer()+" leads nowhere: "+r.text)
			}
		}
	}
	return wrong
}

func FuzzPortable(f *testing.F) {
	for _, tool := range realTools(f) {
		f.Add([]byte(tool.Schema))
	}
	for _, seed := range []string{
		`{"type":"object","properties":{"a":true,"t":{"$ref":"#/$defs/t"}},"$defs":{"t":{"items":{"$ref":"#/$defs/t"}}},"anyOf":[{"$ref":"#"},{"$ref":"#/$defs/t"}]}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","id":"x","properties":{"a":{"$ref":"#/definitions/b","id":"y"}},"definitions":{"b":{"dependencies":{"a":["b"],"c":{"not":{}}}}}}`,
		`{"type":"object","$dynamicRef":"#x","$dynamicAnchor":"x","allOf":[{"$ref":"#/allOf/0"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := Compile(in)
		if err != nil {
			return
		}
		out := s.Portable()
		if !json.Valid(out) {
			t.Fatalf("%s became %s", in, out)
		}
		if len(out) > max(maxInlined, 4*len(in))+1024 {
			t.Fatalf("%d bytes became %d", len(in), len(out))
		}
		if s.tree.isPortable() && string(s.rewritten()) != string(out) {
			t.Fatalf("%s has to become %s", in, s.rewritten())
		}
		p, err := Compile(out)
		if err != nil {
			t.Fatalf("%s became %s: %v", in, out, err)
		}
		if string(p.Portable()) != string(out) {
			t.Fatalf("not the same a second time: %s, then %s", out, p.Portable())
		}
	})
}
