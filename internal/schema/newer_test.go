package schema

import "testing"

// Messages of keywords that only 2019-09 and 2020-12 have.
func TestNewerMessages(t *testing.T) {
	s, err := Compile([]byte(`{"type":"object","properties":{
		"closed":{"allOf":[{"properties":{"inner":{"type":"string"}}}],"properties":{"newText":{}},"unevaluatedProperties":false},
		"dep":{"type":"object","properties":{"b":{"type":"integer","description":"the b"}},"dependentRequired":{"a":["b"]},"dependentSchemas":{"c":{"required":["d"]}}},
		"count":{"type":"array","contains":{"type":"integer"},"minContains":2,"maxContains":3},
		"pair":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false},
		"ref":{"$ref":"#/$defs/u","description":"own"},
		"tree":{"$ref":"#/$defs/t"}},
		"required":["ref"],
		"$defs":{"u":{"anyOf":[{"type":"integer"},{"$ref":"#/$defs/v"}]},"v":{"enum":["alpha","beta"]},
			"t":{"type":"object","$dynamicAnchor":"t","required":["name"],"properties":{"name":{"$ref":"#/$defs/name"},"kids":{"type":"array","items":{"$dynamicRef":"#t"}}}},
			"name":{"type":"string","description":"of the node"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ value, want string }{
		{`{"ref":1,"closed":{"inner":"x","new_text":1}}`, "\n- /closed/new_text: unknown property; did you mean \"newText\"?"},
		{`{"ref":1,"closed":{"innr":"x"}}`, "\n- /closed/innr: unknown property; did you mean \"inner\"?"},
		{`{"ref":1,"dep":{"a":1}}`, "\n- /dep/b: required but missing, since \"a\" is given (integer: the b)"},
		{`{"ref":1,"dep":{"c":1}}`, "\n- /dep/d: required but missing"},
		{`{"ref":1,"count":[1]}`, "\n- /count: expected at least 2 items of a certain kind, got 1 (integer)"},
		{`{"ref":1,"count":[1,2,3,4]}`, "\n- /count: expected at most 3 items of a certain kind, got 4 (integer)"},
		{`{"ref":1,"pair":["a","b"]}`, "\n- /pair/1: expected integer, got string \"b\""},
		{`{"ref":1,"pair":["a",1,2]}`, "\n- /pair/2: not allowed here"},
		{`{"ref":"alpa"}`, "\n- /ref: expected integer, \"alpha\" or \"beta\", got string \"alpa\"; did you mean \"alpha\"?"},
		{`{}`, "\n- /ref: required but missing (integer or string: own)"},
		{`{"ref":1,"tree":{"name":"a","kids":[{"name":"b","kids":[{}]}]}}`, "\n- /tree/kids/0/kids/0/name: required but missing (string: of the node)"},
	} {
		checked, err := s.Check([]byte(c.value), false)
		if err != nil {
			t.Errorf("%s: %v", c.value, err)
			continue
		}
		if got := Explain("", checked.Issues); got != c.want {
			t.Errorf("%s:%s\nwant%s", c.value, got, c.want)
		}
	}
}
