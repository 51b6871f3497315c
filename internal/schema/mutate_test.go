package schema

import (
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// mutator makes new schemas out of old ones: parts are exchanged, added, taken
// away and referred to. Bytes that are changed at random hardly ever make one.
// corpusTool is a tool of the corpus of real schemas, which the tests with the tag outside read.
type corpusTool struct {
	Tool, Server string
	Schema       json.RawMessage
	Instances    []json.RawMessage
	Valid        []bool // what another validator says of each instance
}

type mutator struct {
	documents []any
	instances []any
	behind    map[string][]any // what stands behind each keyword
	names     []string
}

func newMutator(t *testing.T) *mutator {
	t.Helper()
	m := &mutator{behind: map[string][]any{}}
	for _, dir := range []string{
		filepath.Join(moduleDir(t, "github.com/xeipuuv/gojsonschema"), "testdata", "draft4"),
		filepath.Join(moduleDir(t, "github.com/xeipuuv/gojsonschema"), "testdata", "draft7"),
		filepath.Join(moduleDir(t, "github.com/google/jsonschema-go"), "jsonschema", "testdata", "draft2020-12"),
	} {
		paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var cases []suiteCase
			if err := json.Unmarshal(text, &cases); err != nil {
				t.Fatal(err)
			}
			for _, c := range cases {
				m.learn(c.Schema)
				for _, test := range c.Tests {
					if v, err := readValue(test.Data); err == nil {
						m.instances = append(m.instances, v.value)
					}
				}
			}
		}
	}
	for i, tool := range realTools(t) {
		if i%10 == 0 {
			m.learn(tool.Schema)
		}
	}
	m.names = slices.Sorted(maps.Keys(m.behind))
	return m
}

func (m *mutator) learn(text []byte) {
	read, err := readValue(text)
	if err != nil {
		return
	}
	m.documents = append(m.documents, read.value)
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, item := range v {
				m.behind[name] = append(m.behind[name], item)
				visit(item)
			}
		case []any:
			for _, item := range v {
				visit(item)
			}
		}
	}
	visit(read.value)
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// schema makes one schema.
func (m *mutator) schema(r *rand.Rand) []byte {
	root, ok := deepCopy(pick(r, m.documents)).(map[string]any)
	if !ok {
		root = map[string]any{}
	}
	for range 1 + r.IntN(6) {
		objects, pointers := objectsIn(root)
		o := pick(r, objects)
		name := pick(r, m.names)
		switch r.IntN(6) {
		case 0, 1:
			o[name] = deepCopy(pick(r, m.behind[name]))
		case 2:
			if keys := slices.Sorted(maps.Keys(o)); len(keys) > 0 {
				key := pick(r, keys)
				if len(m.behind[key]) > 0 {
					o[key] = deepCopy(pick(r, m.behind[key]))
				}
			}
		case 3:
			o["$ref"] = "#" + pick(r, pointers)
		case 4:
			if keys := slices.Sorted(maps.Keys(o)); len(keys) > 0 {
				delete(o, pick(r, keys))
			}
		case 5:
			if inner, ok := deepCopy(pick(r, m.documents)).(map[string]any); ok {
				o[pick(r, []string{"not", "items", "additionalProperties", "contains", "if", "then", "else", "propertyNames", "unevaluatedProperties"})] = inner
			}
		}
	}
	root["type"] = "object"
	if r.IntN(3) > 0 {
		root["$schema"] = dialect(r.IntN(int(draft2020) + 1)).metaURL()
	}
	text, err := json.Marshal(root)
	if err != nil {
		return nil
	}
	return text
}

func objectsIn(v any) (objects []map[string]any, pointers []string) {
	var visit func(v any, pointer string)
	visit = func(v any, pointer string) {
		pointers = append(pointers, pointer)
		switch v := v.(type) {
		case map[string]any:
			objects = append(objects, v)
			for _, name := range slices.Sorted(maps.Keys(v)) {
				visit(v[name], pointer+"/"+jsondoc.Escape(name))
			}
		case []any:
			for _, item := range v {
				visit(item, pointer+"/0")
			}
		}
	}
	visit(v, "")
	return objects, pointers
}

// TestMutated: no mutated schema kills or stalls, and where both engines know a
// dialect they agree.
func TestMutated(t *testing.T) {
	m := newMutator(t)
	const rounds = 3000
	compiled := 0
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := m.schema(r)
		start := time.Now()
		s, err := Compile(text)
		var load *LoadError
		if err != nil {
			if !errors.As(err, &load) || len(load.Findings) == 0 {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			if strings.Contains(err.Error(), "validator failed") {
				t.Errorf("seed %d: %v\n%s", seed, err, text)
			}
			continue
		}
		compiled++
		full, err := s.full()
		if err != nil {
			t.Errorf("seed %d: the other engine refuses: %v\n%s", seed, err, text)
			continue
		}
		for range 5 {
			v := pick(r, m.instances)
			if _, ok := v.(map[string]any); !ok {
				v = map[string]any{pick(r, []string{"foo", "bar", "a", "x"}): v}
			}
			value, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			checked, err := s.Check(value, false)
			if err != nil {
				t.Errorf("seed %d: %s: %v\n%s", seed, value, err, text)
				continue
			}
			for _, issue := range checked.Issues {
				if issue.Message == "" || issue.Message == "does not fit the schema" {
					t.Errorf("seed %d: %s: %+v\n%s", seed, value, issue, text)
				}
			}
			if len(checked.Issues) == 0 {
				s.PathArguments(checked.Value)
				if again, err := s.Check(checked.Value, true); err != nil || len(again.Issues) > 0 || string(again.Value) != string(checked.Value) {
					t.Errorf("seed %d: %s became %s, then %s %v %v\n%s", seed, value, checked.Value, again.Value, again.Issues, err, text)
				}
			}
			e, err := s.engine()
			if err != nil {
				t.Fatal(err)
			}
			ok, err := e.valid(v)
			if err != nil {
				t.Errorf("seed %d: %s: %v\n%s", seed, value, err, text)
			}
			if other, err := full.valid(v); err != nil || other != ok {
				t.Errorf("seed %d: %s: the engines say %v and %v, %v\n%s", seed, value, ok, other, err, text)
			}
			if other, err := full.fits(v); err != nil || other != ok {
				t.Errorf("seed %d: %s: the engine says %v, and %v of large values, %v\n%s", seed, value, ok, other, err, text)
			}
		}
		if d := time.Since(start); d > fuzzTime {
			t.Errorf("seed %d took %v\n%s", seed, d, text)
		}
	}
	if compiled < rounds/4 {
		t.Errorf("only %d of %d schemas compile; the mutations are too wild to find anything", compiled, rounds)
	}
}
