package schema

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestTry(t *testing.T) {
	for _, d := range []string{`"$schema":"http://json-schema.org/draft-07/schema#",`, ``} {
		s, err := Compile([]byte(`{` + d + `"type":"object","required":["path"],"additionalProperties":false,"properties":{
  "path":{"type":"string","description":"file to read\nmore"},"limit":{"type":"integer","default":10,"minimum":1},
  "mode":{"enum":["fast","slow"]},"when":{"type":"string","format":"date","pattern":"^2"},
  "n":{"anyOf":[{"type":"integer"},{"type":"null"}]},
  "list":{"type":"array","items":{"type":"string","maxLength":3}},
  "edits":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["newText"],"properties":{"newText":{"type":"string"},"opt":{"type":"boolean","default":true}}}},
  "target":{"oneOf":[{"type":"object","properties":{"kind":{"const":"file"},"path":{"type":"string"}},"required":["kind","path"]},{"type":"object","properties":{"kind":{"const":"url"},"url":{"type":"string"}},"required":["kind","url"]}]}
 }}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []string{`{"edits":[{"newText":"a"},{"new_text":"x"}],"limit":"x5","target":{"kind":"url"},"mode":"fst","when":"x","list":["abcd"],"n":true,"limt":4}`,
			`{"path":"a","limit":"5","edits":"[{\"newText\":\"a\"}]", "n":"7","list":["1"]}`, `{"path":"a" , "edits":[{"newText":"b"},{"newText":"c","opt":false}]}`, `null`, `[1]`, `{"path":"a","path":"b"}`, `{`, `{"path":1e1000000000}`, `{"path":"a","limit":0}`} {
			c, err := s.Check(json.RawMessage(v), false)
			fmt.Println(err, string(c.Value), c.Repaired)
			if len(c.Issues) > 0 {
				fmt.Println(Explain("Invalid:", c.Issues))
			}
		}
		fmt.Println(string(s.Public()), s.PathArguments([]byte(`{"path":"a","target":{"outFiles":["x","y"]}}`)))
	}
	for _, r := range []string{`{"type":"string"}`, ``, `[]`, `{"type":"object","properties":{"a":{"type":"int"}}}`, `{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"http://x/y"},"c":{"$ref":"#/$defs/foo"},"d":{"$id":"x"},"e":{"pattern":"("},"f":{"type":"integer","default":"x"}},"allOf":[{"$ref":"#"}],"$defs":{"fooo":{}}}`, `{"$schema":"http://x","type":"object"}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"int","pattern":"(?!x)","minLength":-1}}}`,
		`{"type":"object","properties":{"f":{"type":"integer","default":"x"}}}`, `{"type":"object","a":1e999,"a":2}`} {
		_, err := Compile([]byte(r))
		fmt.Println(err)
	}
}
