package schema

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// findings gives the findings of a schema that must be refused, a line each.
func findings(t *testing.T, err error) string {
	t.Helper()
	var load *LoadError
	if !errors.As(err, &load) || len(load.Findings) == 0 {
		t.Fatalf("error %v (%T), want a *LoadError with findings", err, err)
	}
	for _, f := range load.Findings {
		if f.Severity != Error {
			t.Errorf("%v is no error", f)
		}
	}
	return load.Error()
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"empty", ``, `1:1: no JSON: the file is empty; it must hold a JSON value [S01]`},
		{"no JSON", "{\n  \"type\": \"object\",\n}", `2:19: no JSON: this comma is one too many: '}' follows [S01]`},
		{"a name twice", `{"type":"object","title":"a","title":"b"}`, `1:30: /title: the name "title" is there twice [S01]; keep one of the two`},
		{"a list", `[]`, `1:1: a schema of a tool must be an object, not array [S02]; write {"type": "object", "properties": {…}}`},
		{"true", `true`, `1:1: a schema of a tool must be an object, not boolean [S02]; write {"type": "object", "properties": {…}}`},
		{"no type", `{"properties":{}}`, `1:1: the root has no "type"; it must say "type": "object" [S02]; arguments are named: write {"type": "object", "properties": {…}}`},
		{"another type", `{"type":"string"}`, `1:9: /type: the root's "type" is "string"; it must be "object" [S02]; arguments are named: write {"type": "object", "properties": {…}}`},
		{"several types", `{"type":["object","null"]}`, `1:9: /type: the root's "type" is ["object","null"]; it must be "object" [S02]; arguments are named: write {"type": "object", "properties": {…}}`},
		{"unknown dialect", `{"$schema":"http://json-schema.org/draft-05/schema#","type":"object"}`,
			`1:12: /$schema: $schema is "http://json-schema.org/draft-05/schema#", which is none of the five dialects that are supported [S03]; use http://json-schema.org/draft-04/schema#, http://json-schema.org/draft-06/schema#, http://json-schema.org/draft-07/schema#, https://json-schema.org/draft/2019-09/schema or https://json-schema.org/draft/2020-12/schema, or leave it out for 2020-12`},
		{"no dialect", `{"$schema":5,"type":"object"}`, `$schema is 5, which is none of the five dialects`},
		{"wrong type", `{"type":"object","properties":{"a":{"type":"int"}}}`, `1:44: /properties/a/type: "type" is no valid 2020-12: expected array, "array", "boolean", "integer", "null", "number", "object" or "string", got string "int" [S04]`},
		{"old exclusiveMinimum", `{"type":"object","properties":{"a":{"minimum":1,"exclusiveMinimum":true}}}`, `/properties/a/exclusiveMinimum: "exclusiveMinimum" is no valid 2020-12: expected number, got boolean true [S04]`},
		{"new exclusiveMinimum", `{"$schema":"http://json-schema.org/draft-04/schema","type":"object","properties":{"a":{"exclusiveMinimum":1}}}`, `"exclusiveMinimum" is no valid draft-04: expected boolean, got integer 1 [S04]`},
		{"a reference outside", `{"type":"object","properties":{"a":{"$ref":"http://example.com/x.json"}}}`, `1:44: /properties/a/$ref: "$ref" to "http://example.com/x.json" leaves the plugin; nothing is fetched [S05]; put the schema into $defs of this one, or into a file of the plugin`},
		{"a file without files", `{"type":"object","properties":{"a":{"$ref":"x.json"}}}`, `/properties/a/$ref: "$ref" to "x.json" leaves the document [S05]; put the schema into $defs of this one`},
		{"a reference to nothing", `{"type":"object","$defs":{"Point":{}},"properties":{"a":{"$ref":"#/$defs/point"}}}`, `"$ref" to "#/$defs/point" leads to no schema [S05]; did you mean "#/$defs/Point"?`},
		{"a reference to data", `{"type":"object","properties":{"a":{"enum":[{"type":"string"}]},"b":{"$ref":"#/properties/a/enum/0"}}}`, `"$ref" to "#/properties/a/enum/0" leads to no schema [S05]`},
		{"an identifier inside", `{"type":"object","properties":{"a":{"$id":"http://example.com/a"}}}`, `1:37: /properties/a/$id: "$id" inside a schema [S05]; take it out and refer to the place itself, such as "#/properties/a"`},
		{"an anchor twice", `{"type":"object","properties":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, `/properties/b: an anchor that another schema has too [S05]`},
		{"a cycle", `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"not":{"$ref":"#/$defs/x"}}}}`, `/$defs/x/not/$ref: a "$ref" that leads back to itself without a step into the value [S06]; refer to it below properties or items, or take it out`},
		{"no pattern", `{"type":"object","properties":{"a":{"pattern":"("}},"patternProperties":{"[":{}}}`, "1:47: /properties/a/pattern: the pattern \"(\" is no regular expression: missing closing ): `(` [S07]\n1:74: /patternProperties/[: the pattern \"[\" is no regular expression: missing closing ]: `[` [S07]"},
		{"no pattern in an old draft", `{` + d7 + `"type":"object","properties":{"a":{"pattern":"("}}}`, `the pattern "(" is no regular expression`},
		{"a wrong default", `{"type":"object","properties":{"n":{"type":"integer","default":"5"}}}`, `1:64: /properties/n/default: the default does not fit its own schema: expected integer, got string "5" [S08]; correct the default, or leave it out`},
		{"a default in a definition", `{` + d7 + `"type":"object","properties":{"n":{"$ref":"#/definitions/n"}},"definitions":{"n":{"enum":["a"],"default":"b"}}}`, `/definitions/n/default: the default does not fit its own schema: expected "a", got string "b" [S08]`},
		{"required and forbidden", `{"type":"object","required":["pth"],"properties":{"path":{}},"additionalProperties":false}`, `1:30: /required/0: the required "pth" is not in properties, and additionalProperties is false: nothing can fit [S09]; did you mean "path"?`},
		{"a header on an object", `{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}`, `x-mcp-header on a property that is no string, integer or boolean [S10]`},
		{"no header name", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A b"}}}`, `x-mcp-header is "A b", which is no header name [S10]`},
		{"a header twice", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`, `x-mcp-header "a" is used twice [S10]`},
		{"a header in a list", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}`, `x-mcp-header at a place that is not reached by properties alone [S10]`},
		{"several at once", "{\"properties\":{\n\"a\":{\"$ref\":\"#/x\"},\n\"b\":{\"pattern\":\"(\"}}}",
			"1:1: the root has no \"type\"; it must say \"type\": \"object\" [S02]; arguments are named: write {\"type\": \"object\", \"properties\": {…}}\n2:13: /properties/a/$ref: \"$ref\" to \"#/x\" leads to no schema [S05]\n3:16: /properties/b/pattern: the pattern \"(\" is no regular expression: missing closing ): `(` [S07]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile([]byte(c.schema))
			if got := findings(t, err); !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestDialects(t *testing.T) {
	for url, want := range map[string]string{
		"http://json-schema.org/draft-04/schema#":       "draft-04",
		"https://json-schema.org/draft-06/schema":       "draft-06",
		"http://json-schema.org/draft-07/schema":        "draft-07",
		"https://json-schema.org/draft/2019-09/schema#": "2019-09",
		"http://json-schema.org/draft/2020-12/schema":   "2020-12",
		"": "2020-12",
	} {
		declared := ""
		if url != "" {
			declared = `"$schema":"` + url + `",`
		}
		s, err := Compile([]byte(`{` + declared + `"type":"object","properties":{"a":{"type":"string","minLength":2.0}}}`))
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		e, err := s.engine()
		if err != nil {
			t.Fatal(err)
		}
		_, isQuick := e.(*quick)
		if s.Dialect() != want || isQuick != strings.HasPrefix(want, "draft") {
			t.Errorf("%q is read as %s by gojsonschema: %v, want %s", url, s.Dialect(), isQuick, want)
		}
		if c, err := s.Check([]byte(`{"a":"x"}`), true); err != nil || len(c.Issues) != 1 {
			t.Errorf("%s: %v %v, want one issue", url, c.Issues, err)
		}
	}
}

// A pattern that only backtracking can match goes to the engine that can.
func TestBacktracking(t *testing.T) {
	for _, declared := range []string{"", d7} {
		s, err := Compile([]byte(`{` + declared + `"type":"object","properties":{"a":{"pattern":"^(?!\\.)x"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		for value, want := range map[string]int{`{"a":"x"}`: 0, `{"a":".x"}`: 1} {
			if c, err := s.Check([]byte(value), true); err != nil || len(c.Issues) != want {
				t.Errorf("%s %s: %v %v, want %d issues", declared, value, c.Issues, err, want)
			}
		}
	}
}

func TestPublic(t *testing.T) {
	draft07 := `"$schema": "http://json-schema.org/draft-07/schema#"`
	for _, c := range []struct{ name, schema, want string }{
		{"2020-12 as it is", `{"$schema":"https://json-schema.org/draft/2020-12/schema", "type":"object","b":1,"a":1.0}`, ""},
		{"draft-07", `{ ` + draft07 + `, "type":"object", "properties":{"z":{},"a":{}} }`, `{ "type":"object", "properties":{"z":{},"a":{}} }`},
		{"draft-07, at the end", `{"type":"object",` + draft07 + `}`, `{"type":"object"}`},
		{"a byte order mark", "\ufeff{\"type\":\"object\"}", `{"type":"object"}`},
		{"draft-04", `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object"}`, ""},
		{"list of items", `{` + draft07 + `,"type":"object","properties":{"a":{"items":[{}]}}}`, ""},
		{"dependencies", `{` + draft07 + `,"type":"object","dependencies":{"a":["b"]}}`, ""},
		{"what draft-07 ignores", `{` + draft07 + `,"type":"object","dependentRequired":{"a":["b"]}}`, ""},
		{"beside a reference", `{` + draft07 + `,"type":"object","properties":{"a":{"$ref":"#/definitions/x","type":"string"}},"definitions":{"x":{}}}`, ""},
		{"a description beside a reference", `{` + draft07 + `,"type":"object","properties":{"a":{"$ref":"#/definitions/x","description":"d"}},"definitions":{"x":{}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/definitions/x","description":"d"}},"definitions":{"x":{}}}`},
	} {
		s, err := Compile([]byte(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if c.want == "" {
			c.want = c.schema
		}
		if got := string(s.Public()); got != c.want {
			t.Errorf("%s: published %s, want %s", c.name, got, c.want)
		}
	}
}

// Nothing in a schema may make either engine, or a meta-schema check, open a
// connection.
func TestNoConnection(t *testing.T) {
	var seen atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { seen.Add(1) }))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			seen.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	t.Setenv("HTTP_PROXY", server.URL)
	t.Setenv("HTTPS_PROXY", server.URL)
	t.Setenv("ALL_PROXY", server.URL)
	for _, declared := range []string{"", d7, `"$schema":"http://json-schema.org/draft-04/schema",`, `"$schema":"https://json-schema.org/draft/2019-09/schema",`, `"$schema":"` + server.URL + `/schema",`} {
		for _, schema := range []string{
			`"properties":{"a":{"$ref":"URL/a.json"}}`,
			`"properties":{"a":{"$ref":"//HOST/a.json"}}`,
			`"$id":"URL/root.json","properties":{"a":{"$ref":"a.json"}}`,
			`"id":"URL/root.json","properties":{"a":{"$ref":"a.json"}}`,
			`"$id":"URL/root.json","properties":{"a":{"$ref":"#/definitions/x"}},"definitions":{"x":{"type":"string"}}`,
			`"properties":{"a":{"$id":"URL/","$ref":"#/x"}}`,
			`"properties":{"a":{"$schema":"URL/meta.json","type":"string"}}`,
			`"$recursiveRef":"URL/a.json"`, `"$dynamicRef":"URL/a.json#x"`,
			`"properties":{"a":{"default":{"$ref":"URL/a.json"}}}`,
			`"properties":{"a":{"enum":[{"$ref":"URL/a.json","$id":"URL"}]}}`,
			`"x":{"$ref":"URL/a.json"},"properties":{"a":{"$ref":"#/x"}}`,
			`"$vocabulary":{"URL/v":true}`,
		} {
			text := `{` + declared + `"type":"object",` + strings.NewReplacer("URL", server.URL, "HOST", server.Listener.Addr().String()).Replace(schema) + `}`
			s, err := Compile([]byte(text))
			if err == nil {
				_, err = s.Check([]byte(`{"a":1}`), false)
				if err != nil {
					t.Errorf("%s: %v", text, err)
				}
			}
		}
	}
	if n := seen.Load(); n != 0 {
		t.Errorf("%d connections were opened", n)
	}
}

func TestFindingString(t *testing.T) {
	for want, f := range map[string]Finding{
		`a.json:3:7: /x: m [S02]; h`: {Rule: "S02", File: "a.json", Line: 3, Column: 7, Pointer: "/x", Message: "m", Hint: "h"},
		`m [S01]`:                    {Rule: "S01", Message: "m"},
	} {
		if got := f.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestLint(t *testing.T) {
	for _, c := range []struct{ schema, rule, want string }{
		{`{"type":"object","anyOf":[{}]}`, "M01", `"anyOf" at the root`},
		{`{"type":"object","properties":{"a b":{}}}`, "M02", `the property name "a b"`},
		{`{"type":"object","properties":{"a":{"type":["array","null"]}}}`, "M03", `an array without "items"`},
		{`{` + d7 + `"type":"object"}`, "M04", `declares draft-07 and is read as that; it is published without $schema`},
		{`{` + d7 + `"type":"object","dependencies":{}}`, "M04", `it is published as it is`},
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{}}}`, "M05", `some clients cannot follow it`},
		{`{` + d7 + `"type":"object","properties":{"a":{"prefixItems":[]}}}`, "M06", `"prefixItems" is ignored in draft-07`},
		{`{"type":"object","properties":{"a":{"dependencies":{}}}}`, "M06", `"dependencies" is ignored in 2020-12`},
		{`{` + d7 + `"type":"object","properties":{"a":{"$ref":"#","minLength":1}}}`, "M06", `"minLength" beside a $ref is ignored in draft-07`},
		{`{"type":"object","require":["a"]}`, "M07", `unknown keyword "require" is ignored [M07]; did you mean "required"?`},
		{`{"type":"object","properties":{"a":{"maxlength":3}}}`, "M07", `did you mean "maxLength"?`},
		{`{"type":"object","properties":{"a":{"nullable":true}}}`, "M07", `write "type": ["string", "null"]`},
		{`{"type":"object","properties":{"a":{"type":"string","format":"dat"}}}`, "M08", `the format "dat" is not checked [M08]; did you mean "date"?`},
		{`{"type":"object","properties":{"a":{"type":"string","format":"uri"}}}`, "M09", `some clients take only date-time`},
		{`{"type":"object","properties":{"a":{"enum":[1]}}}`, "M10", `enum with values that are no texts`},
		{`{"type":"object","properties":{"a":{}}}`, "M10", `"a" has no type`},
		{`{"type":"object","properties":{"a":{"pattern":"(?!x)"}}}`, "M11", `needs backtracking`},
		{`{"type":"object","properties":{"a":{"enum":["` + strings.Repeat("x", 16_000) + `"]}}}`, "M12", `enum of 1 values and 16000 characters`},
		{`{"type":"object","properties":{"a":` + strings.Repeat(`{"properties":{"a":`, 11) + `{}` + strings.Repeat(`}}`, 11) + `}}`, "M12", `nested 12 deep`},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, "M13", `"a" has no description`},
		{`{"type":"object"}`, "M14", `arguments with unknown names are ignored`},
		{`{"type":"object","description":"` + strings.Repeat("x", 9000) + `"}`, "M15", `bytes, which every request carries`},
		{`{"type":"object","required":["a"],"properties":{"a":{"type":"string","default":"x"}}}`, "M16", `the default of "a" is never used`},
		{`{"type":"object","properties":{"a":{"description":"the\u202e file"}}}`, "M17", `"description" holds the character U+202E`},
		{`{"type":"object","title":"x\u001b[31m"}`, "M17", `"title" holds the character U+001B`},
		{`{"type":"object","properties":{"a":{"description":"read it\udb40\udc41"}}}`, "M17", `U+E0041`},
		{`{"type":"object","required":["b"],"properties":{"a":{}}}`, "S09", `the required "b" is not in properties`},
	} {
		s, err := Compile([]byte(c.schema))
		if err != nil {
			t.Errorf("%.200s: %v", c.schema, err)
			continue
		}
		i := slices.IndexFunc(s.Lint(), func(f Finding) bool { return f.Rule == c.rule && strings.Contains(f.String(), c.want) })
		if i < 0 {
			t.Errorf("%.200s: %v, want %s %s", c.schema, s.Lint(), c.rule, c.want)
			continue
		}
		if f := s.Lint()[i]; f.Severity == Error || f.Line == 0 || f.Column == 0 {
			t.Errorf("%v has severity %d and place %d:%d", f, f.Severity, f.Line, f.Column)
		}
	}
	clean := `{"type":"object","additionalProperties":false,"required":["path"],"properties":{"path":{"type":"string","format":"file-path","description":"the file\n\u00e9 \ud83d\udc69\u200d\ud83d\udc67"},"x":{"type":"string","description":"d","x-mcp-header":"X"}}}`
	s, err := Compile([]byte(clean))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Lint(); len(got) > 0 {
		t.Errorf("a clean schema has findings: %v", got)
	}
}
