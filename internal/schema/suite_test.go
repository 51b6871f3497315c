package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// suiteCase is a group of tests in JSON Schema's own format.
type suiteCase struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// moduleDir gives the folder of a module in the module cache.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil || len(strings.TrimSpace(string(out))) == 0 {
		t.Fatalf("the test data of %s are missing from the module cache (run go mod download %s): %v", module, module, err)
	}
	return strings.TrimSpace(string(out))
}

// policy are the rules that may refuse a schema of the suite: what leaves the
// document, identifiers inside, dialects of one's own, and defaults that do not
// fit their own schema.
var policy = []string{"S03", "S05", "S08"}

func TestSuites(t *testing.T) {
	gojs := filepath.Join(moduleDir(t, "github.com/xeipuuv/gojsonschema"), "testdata")
	google := filepath.Join(moduleDir(t, "github.com/google/jsonschema-go"), "jsonschema", "testdata")
	for _, suite := range []struct {
		dir     string
		dialect dialect
		right   int // how many are right; the others are refused by policy
	}{
		{filepath.Join(gojs, "draft4"), draft04, 285},
		{filepath.Join(gojs, "draft6"), draft06, 378},
		{filepath.Join(gojs, "draft7"), draft07, 396},
		{filepath.Join(google, "draft7"), draft07, 857},
		{filepath.Join(google, "draft2020-12"), draft2020, 989},
	} {
		name := filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(suite.dir)))) + "/" + filepath.Base(suite.dir)
		t.Run(name, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(suite.dir, "*.json"))
			if err != nil {
				t.Fatal(err)
			}
			right, refused := 0, 0
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				var cases []suiteCase
				if err := json.Unmarshal(text, &cases); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				for _, c := range cases {
					r, p := runSuiteCase(t, filepath.Base(file), c, suite.dialect)
					right, refused = right+r, refused+p
				}
			}
			if right != suite.right {
				t.Errorf("%d right and %d refused, want %d right", right, refused, suite.right)
			}
		})
	}
}

func runSuiteCase(t *testing.T, file string, c suiteCase, d dialect) (right, refused int) {
	t.Helper()
	s, err := compileAny(c.Schema, d)
	if err != nil {
		var load *LoadError
		if !errors.As(err, &load) || !slices.ContainsFunc(load.Findings, func(f Finding) bool { return slices.Contains(policy, f.Rule) }) {
			t.Errorf("%s: %s: refused: %v\n%s", file, c.Description, err, c.Schema)
			return 0, 0
		}
		return 0, len(c.Tests)
	}
	for _, test := range c.Tests {
		id := fmt.Sprintf("%s: %s: %s", file, c.Description, test.Description)
		v, err := readValue(test.Data)
		var ok bool
		if err == nil {
			ok, err = s.fits(v.value, s.work(v))
		}
		if err == nil && ok == test.Valid {
			right++
		} else {
			t.Errorf("%s: %v, %v, want %v\n%s\n%s", id, ok, err, test.Valid, c.Schema, test.Data)
		}
		if s.dialect <= draft07 && err == nil {
			full, err := s.full()
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			if other, err := full.valid(v.value); err != nil || other != ok {
				t.Errorf("%s: the engines disagree: %v and %v, %v", id, ok, other, err)
			}
		}
	}
	return right, refused
}

// compileAny compiles a schema whose root is anything, in a dialect that it need
// not declare.
func compileAny(text []byte, d dialect) (*Schema, error) {
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) == nil && object != nil && object["$schema"] == nil {
		object["$schema"], _ = json.Marshal(d.metaURL())
		text, _ = json.Marshal(object)
	}
	c := &compilation{anyRoot: true}
	return c.compile(c.parse(&source{}, text))
}
