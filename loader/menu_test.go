package loader

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func TestActionsAreOffered(t *testing.T) {
	dir := t.TempDir()
	at := func(names ...string) []string {
		paths := []string{}
		for _, n := range names {
			paths = append(paths, filepath.Join(dir, n))
		}
		return paths
	}
	if err := os.MkdirAll(filepath.Join(dir, "folder.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		action Action
		paths  []string
		want   bool
	}{
		"any file":                    {Action{}, at("a.xyz"), true},
		"several files":               {Action{}, at("a", "b"), true},
		"no scope and a folder":       {Action{}, at("folder.md"), false},
		"nothing":                     {Action{}, nil, false},
		"one is too few":              {Action{Scope: Strings{"multi-file"}}, at("a"), false},
		"one too many":                {Action{Scope: Strings{"single-file"}}, at("a", "b"), false},
		"a folder":                    {Action{Scope: Strings{"folder"}}, at("folder.md"), true},
		"a folder and a file":         {Action{Scope: Strings{"folder", "multi-file"}}, at("folder.md", "a"), false},
		"kind":                        {Action{FileTypes: []string{"image"}}, at("A.PNG"), true},
		"another kind":                {Action{FileTypes: []string{"image"}}, at("a.md"), false},
		"kind or extension":           {Action{FileTypes: []string{"image"}, FileExtensions: []string{".md"}}, at("a.md", "b.png"), true},
		"a kind that nobody knows":    {Action{FileTypes: []string{"hologram"}}, at("a.md"), false},
		"a dotfile has no extension":  {Action{FileExtensions: []string{".env"}}, at(".env"), false},
		"one of several files is not": {Action{FileTypes: []string{"image"}}, at("a.png", "b.md"), false},
	} {
		if got := tt.action.offered(tt.paths); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestFillPrompt(t *testing.T) {
	values := map[string]json.RawMessage{"lang": json.RawMessage(`"English"`), "n": json.RawMessage(`3`)}
	for prompt, want := range map[string]string{
		"{{paths[0]}} {{ path }} {{name}}": "/a/b.md /a/b.md b.md", "{{paths}}": "/a/b.md\n/c.md", "{{paths[1]}}{{paths[2]}}": "/c.md",
		"{{lang}} {{n}}": "English 3", "{{other}} {lang} {{lang": "{{other}} {lang} {{lang", "{{path[0]}}": "{{path[0]}}",
	} {
		if got := fill(prompt, []string{"/a/b.md", "/c.md"}, values); got != want {
			t.Errorf("%q: got %q, want %q", prompt, got, want)
		}
	}
	// What stands in a value is no placeholder.
	if got := fill("{{lang}}", nil, map[string]json.RawMessage{"lang": json.RawMessage(`"{{paths}}"`)}); got != "{{paths}}" {
		t.Errorf("got %q", got)
	}
}
