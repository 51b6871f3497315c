package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func files(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

func TestBundle(t *testing.T) {
	for _, c := range []struct {
		name   string
		files  fstest.MapFS
		public string
		used   []string
		good   string
		bad    string
	}{
		{"one file", files("schemas/a.json", "\ufeff{\"type\":\"object\", \"properties\":{\"n\":{\"type\":\"integer\"}}}"),
			`{"type":"object", "properties":{"n":{"type":"integer"}}}`, []string{"schemas/a.json"}, `{"n":1}`, `{"n":"x"}`},
		{"another file", files(
			"schemas/a.json", `{"type":"object", "properties":{"z":{"$ref":"../types/t.json"},"a":{"$ref": "../types/t.json#/$defs/Name"}}}`,
			"types/t.json", `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"http://example.com/t.json","type":"array","items":{"$ref":"#/$defs/Name"},"$defs":{"Name":{"type":"string"}}}`),
			`{"type":"object", "properties":{"z":{"$ref":"#/$defs/types_t.json"},"a":{"$ref": "#/$defs/types_t.json/$defs/Name"}},"$defs":{"types_t.json":{"type":"array","items":{"$ref":"#/$defs/types_t.json/$defs/Name"},"$defs":{"Name":{"type":"string"}}}}}`,
			[]string{"schemas/a.json", "types/t.json"}, `{"z":["x"],"a":"y"}`, `{"z":[1]}`},
		{"definitions that are there", files(
			"schemas/a.json", `{"type":"object","$defs":{"schemas_b.json":{"type":"boolean"}},"properties":{"a":{"$ref":"b.json"},"b":{"$ref":"#/$defs/schemas_b.json"}}}`,
			"schemas/b.json", `{"type":"string"}`),
			`{"type":"object","$defs":{"schemas_b.json":{"type":"boolean"},"schemas_b.json_2":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/schemas_b.json_2"},"b":{"$ref":"#/$defs/schemas_b.json"}}}`,
			[]string{"schemas/a.json", "schemas/b.json"}, `{"a":"x","b":true}`, `{"a":true}`},
		{"recursion across files", files(
			"schemas/a.json", `{"type":"object","properties":{"kids":{"$ref":"b.json#/list"},"name":{"type":"string"}},"additionalProperties":false}`,
			"schemas/b.json", `{"list":{"type":"array","items":{"$ref":"a.json"}}}`),
			`{"type":"object","properties":{"kids":{"$ref":"#/$defs/schemas_b.json/list"},"name":{"type":"string"}},"additionalProperties":false,"$defs":{"schemas_b.json":{"list":{"type":"array","items":{"$ref":"#"}}}}}`,
			[]string{"schemas/a.json", "schemas/b.json"}, `{"kids":[{"name":"x","kids":[]}]}`, `{"kids":[{"nme":"x"}]}`},
		{"draft-07 and anchors", files(
			"schemas/a.json", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"n":{"$ref":"b%20c.json#pos"}}}`,
			"schemas/b c.json", `{"definitions":{"p":{"$id":"#pos","type":"integer","minimum":1}}}`),
			`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"n":{"$ref":"#/definitions/schemas_b_c.json/definitions/p"}},"definitions":{"schemas_b_c.json":{"definitions":{"p":{"$id":"#pos","type":"integer","minimum":1}}}}}`,
			[]string{"schemas/a.json", "schemas/b c.json"}, `{"n":1}`, `{"n":0}`},
		{"an identifier that is no base", files(
			"schemas/a.json", `{"$id":"https://example.com/root.json","type":"object","properties":{"n":{"$ref":"b.json"},"m":{"$ref":"https://example.com/root.json#/$defs/m"}},"$defs":{"m":{"type":"null"}}}`,
			"schemas/b.json", `true`),
			`{"$id":"https://example.com/root.json","type":"object","properties":{"n":{"$ref":"#/$defs/schemas_b.json"},"m":{"$ref":"https://example.com/root.json#/$defs/m"}},"$defs":{"m":{"type":"null"},"schemas_b.json":true}}`,
			[]string{"schemas/a.json", "schemas/b.json"}, `{"n":1,"m":null}`, `{"m":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := CompileFile(c.files, "schemas/a.json", nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(s.Public()); got != c.public {
				t.Errorf("published\n%s\nwant\n%s", got, c.public)
			}
			if !reflect.DeepEqual(s.Files(), c.used) {
				t.Errorf("files %q, want %q", s.Files(), c.used)
			}
			for value, want := range map[string]bool{c.good: true, c.bad: false} {
				if got, err := s.Check([]byte(value), true); err != nil || (len(got.Issues) == 0) != want {
					t.Errorf("%s: %v %v, want it to fit: %v", value, got.Issues, err, want)
				}
			}
			again, err := Compile(s.Public())
			if err != nil {
				t.Fatalf("what is published does not compile: %v", err)
			}
			if got, err := again.Check([]byte(c.good), true); err != nil || len(got.Issues) > 0 {
				t.Errorf("%s does not fit what is published: %v %v", c.good, got.Issues, err)
			}
		})
	}
}

func TestBundleRefusals(t *testing.T) {
	ref := func(to string) string { return `{"type":"object","properties":{"a":{"$ref":"` + to + `"}}}` }
	for _, c := range []struct {
		name  string
		files fstest.MapFS
		want  string
	}{
		{"no file", files(), `s/a.json: file "s/a.json" does not exist [S01]`},
		{"outside", files("s/a.json", ref("../../x.json")), `s/a.json:1:44: /properties/a/$ref: "$ref" to "../../x.json" leaves the plugin's folder [S05]`},
		{"absolute", files("s/a.json", ref("/etc/passwd")), `"$ref" to "/etc/passwd" is no relative path with slashes [S05]`},
		{"backslash", files("s/a.json", ref(`..\\..\\x.json`)), `is no relative path with slashes [S05]`},
		{"escaped", files("s/a.json", ref("%2e%2e/%2e%2e/x.json")), `leaves the plugin's folder [S05]`},
		{"http", files("s/a.json", ref("http://example.com/x.json")), `"$ref" to "http://example.com/x.json" leaves the plugin; nothing is fetched [S05]`},
		{"https", files("s/a.json", ref("https://example.com/x.json#/a")), `leaves the plugin; nothing is fetched [S05]`},
		{"file", files("s/a.json", ref("file:///etc/passwd")), `"$ref" to "file:///etc/passwd" leaves the plugin; nothing is fetched [S05]`},
		{"host", files("s/a.json", ref("//example.com/x.json")), `leaves the plugin; nothing is fetched [S05]`},
		{"query", files("s/a.json", ref("x.json?a")), `has a query`},
		{"not there", files("s/a.json", ref("x.json")), `s/a.json:1:44: /properties/a/$ref: "$ref" to file "s/x.json" does not exist [S05]`},
		{"a folder", files("s/a.json", ref("x"), "s/x/y.json", `{}`), `"$ref" to file "s/x" cannot be read: it is no regular file [S05]`},
		{"no JSON there", files("s/a.json", ref("x.json"), "s/x.json", "{\n]"), `s/x.json:2:1: no JSON: invalid character ']' [S01]`},
		{"no schema there", files("s/a.json", ref("x.json"), "s/x.json", "[]"), `s/x.json:1:1: a schema must be an object [S04]`},
		{"nothing there", files("s/a.json", ref("x.json#/b"), "s/x.json", "{}"), `s/a.json:1:44: /properties/a/$ref: "$ref" to "x.json#/b" leads to no schema [S05]`},
		{"another dialect", files("s/a.json", ref("x.json"), "s/x.json", `{"$schema":"http://json-schema.org/draft-07/schema#"}`), `"$ref" to file "s/x.json", which declares draft-07, while this schema is read as 2020-12 [S03]`},
		{"a mistake there", files("s/a.json", ref("x.json"), "s/x.json", "{\n\"pattern\":\"(\"}"), `s/x.json:2:11: /pattern: the pattern "(" is no regular expression`},
		{"a wrong default there", files("s/a.json", ref("x.json#/$defs/n"), "s/x.json", "{\"$defs\":{\n\"n\":{\"type\":\"integer\",\"default\":\"x\"}}}"), `s/x.json:2:33: /$defs/n/default: the default does not fit its own schema`},
		{"a cycle through files", files("s/a.json", `{"type":"object","allOf":[{"$ref":"x.json"}]}`, "s/x.json", `{"anyOf":[{"$ref":"a.json"}]}`), `that leads back to itself without a step into the value [S06]`},
		{"dynamic", files("s/a.json", ref("x.json"), "s/x.json", `{"$dynamicAnchor":"x"}`), `s/x.json:1:2: /$dynamicAnchor: $dynamicAnchor in a schema of several files [S05]`},
		{"an anchor in two files", files("s/a.json", `{"type":"object","$anchor":"x","properties":{"a":{"$ref":"x.json"}}}`, "s/x.json", `{"$anchor":"x"}`), `s/x.json:1:1: an anchor that another schema has too [S05]`},
		{"too large together", files("s/a.json", ref("x.json"), "s/x.json", `{"title":"`+strings.Repeat("x", maxSchemaBytes-20)+`"}`), `s/a.json: the schema has more than 256 KiB [S01]`},
		{"too large", files("s/a.json", ref("x.json"), "s/x.json", `{"title":"`+strings.Repeat("x", maxSchemaBytes)+`"}`), `"$ref" to file "s/x.json" has more than 256 KiB [S05]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := CompileFile(c.files, "s/a.json", nil)
			if got := findings(t, err); !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Too many files must be refused before they are all read.
func TestBundleManyFiles(t *testing.T) {
	m := fstest.MapFS{}
	for i := range maxFiles + 10 {
		m[name(i)] = &fstest.MapFile{Data: []byte(`{"type":"object","properties":{"a":{"$ref":"` + name(i+1) + `"}}}`)}
	}
	_, err := CompileFile(m, name(0), nil)
	if got := findings(t, err); !strings.Contains(got, "one file too many") {
		t.Errorf("got %s", got)
	}
}

func name(i int) string { return "f" + strings.Repeat("x", i) + ".json" }

// The folder is a real one here, below which nothing leads out, not even a link.
func TestBundleLink(t *testing.T) {
	outside, inside := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "secret.json"), `{"type":"string"}`)
	write(filepath.Join(inside, "a.json"), `{"type":"object","properties":{"a":{"$ref":"link.json"},"b":{"$ref":"b.json"}}}`)
	write(filepath.Join(inside, "b.json"), `{"type":"string"}`)
	if err := os.Symlink(filepath.Join(outside, "secret.json"), filepath.Join(inside, "link.json")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(inside)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	_, err = CompileFile(root.FS(), "a.json", nil)
	got := findings(t, err)
	if !strings.Contains(got, `"$ref" to file "link.json" cannot be read: it is a link that leaves the plugin's folder`) || strings.Contains(got, outside) {
		t.Errorf("got %s", got)
	}
	write(filepath.Join(inside, "a.json"), `{"type":"object","properties":{"b":{"$ref":"b.json"}}}`)
	s, err := CompileFile(root.FS(), "a.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Files(), []string{"a.json", "b.json"}) || !json.Valid(s.Public()) {
		t.Errorf("files %q, published %s", s.Files(), s.Public())
	}
}
