package scaffold

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the declarations anew")

// TestTypes compares the declarations of testdata/types/NAME.json with NAME.d.ts.
func TestTypes(t *testing.T) {
	files, err := filepath.Glob("testdata/types/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			schema, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Types(map[string]json.RawMessage{name: schema})
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(file, ".json") + ".d.ts"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestTypesOfManyToolsHaveNamesOfTheirOwn(t *testing.T) {
	text, err := Types(map[string]json.RawMessage{
		"get_file": json.RawMessage(`{"type":"object"}`), "get-file": json.RawMessage(`{"type":"object"}`),
		"7up": json.RawMessage(`{"type":"object"}`), "_": json.RawMessage(`{"type":"object"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"type GetFile ", "type GetFile2 ", "type T7up ", "type Params "} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is not there once in\n%s", want, text)
		}
	}
}

func TestNew(t *testing.T) {
	for name, test := range map[string]struct {
		folder  string
		options Options
		plugin  string
		file    string // one that must be there
	}{
		"default":    {"My Plugin!", Options{}, "my-plugin", "find.js"},
		"typescript": {"ts", Options{Lang: "ts"}, "ts", "tsconfig.json"},
		"python":     {"py", Options{Lang: "python"}, "py", "main.py"},
		"go":         {"g", Options{Lang: "go"}, "g", ".gitignore"},
		"program":    {"p", Options{Lang: "js", Runtime: "process"}, "p", "main.mjs"},
		"card":       {"My Card", Options{Card: true}, "my-card", "card.js"},
		"card in ts": {"notes-2", Options{Card: true, Lang: "ts"}, "notes-2", "types/card-sdk.d.ts"},
		"long":       {strings.Repeat("long-", 20), Options{}, strings.Repeat("long-", 12) + "long", "types/params.d.ts"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), test.folder)
			made, err := New(dir, &test.options)
			if err != nil {
				t.Fatal(err)
			}
			if made.Name != test.plugin || len(made.Tool) > 64 || !slices.Contains(made.Files, test.file) {
				t.Errorf("made %+v", made)
			}
			for _, f := range made.Files {
				text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f)))
				if err != nil || strings.Contains(string(text), "{{.") || strings.Contains(string(text), "<no value>") {
					t.Errorf("%s: %v\n%s", f, err, text)
				}
				if strings.HasSuffix(f, ".json") && f != "types/filer-plugin.schema.json" && f != "types/neurosquad-card.schema.json" && !json.Valid(text) {
					t.Errorf("%s is no JSON:\n%s", f, text)
				}
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		dir     string
		options Options
		want    string
	}{
		"not empty": {full, Options{}, "is not empty"},
		"no name":   {filepath.Join(t.TempDir(), "!!"), Options{}, "no plugin can be named"},
		"ts":        {filepath.Join(t.TempDir(), "a"), Options{Lang: "ts", Runtime: "process"}, "there is no new plugin"},
		"language":  {filepath.Join(t.TempDir(), "a"), Options{Lang: "cobol"}, `--lang "cobol" is unknown`},
		"card":      {filepath.Join(t.TempDir(), "a"), Options{Card: true, Lang: "go"}, "there is no new card"},
		"card name": {filepath.Join(t.TempDir(), "todo"), Options{Card: true, CardName: func(string) string { return "reserved" }}, "no card can be named"},
		"runtime":   {filepath.Join(t.TempDir(), "a"), Options{Runtime: "procss"}, `--runtime "procss" is unknown`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(test.dir, &test.options)
			var usage *UsageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), test.want) || usage.Hint == "" {
				t.Errorf("error = %v", err)
			}
			if _, err := os.Stat(test.dir); test.dir != full && err == nil {
				t.Error("something was left behind")
			}
		})
	}
}

func TestNewLeavesNothingBehind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	// The types folder cannot be made: a file of that name is written first.
	err := write(dir, []file{{"types", nil}, {"types/params.d.ts", nil}})
	if err == nil {
		t.Fatal("no error")
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder was left behind")
	}
}

func TestWriteTypesStaysInTheFolder(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "types")); err != nil {
		t.Fatal(err)
	}
	if err := WriteTypes(dir, map[string]json.RawMessage{"a": json.RawMessage(`{"type":"object"}`)}); err == nil {
		t.Error("no error")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("written outside: %v %v", entries, err)
	}
}
