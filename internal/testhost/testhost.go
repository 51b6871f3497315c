// Package testhost helps tests to load plugin folders into a host, with the real loader
// and the real runtimes, and to run the cases that plugins bring along.
//
//	h := testhost.New(t, t.TempDir(), "../plugins/word-count")
//	testhost.RunCases(t, "../plugins/word-count")
//
// A [Case] is a file of the plugin's folder tests. Both fail the test where a plugin does
// not load cleanly.
package testhost

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/loader"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

// New gives a host whose agent's folder is folder, with the plugins of dirs loaded. A
// plugin that does not load, or not without a warning, fails the test.
func New(t testing.TB, folder string, dirs ...string) *host.Host {
	t.Helper()
	h := host.New(&host.Options{Folder: folder})
	l := loader.New(h, map[string]runtimes.Runtime{"node": node.New(nil)}, &loader.Options{Dirs: dirs})
	t.Cleanup(func() {
		// The test's own context has ended by now.
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := l.LoadAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range l.Status() {
		for _, e := range slices.Concat(s.Errors, s.Warnings) {
			t.Errorf("plugin %s: %s (%s)", s.Name, e, e.Hint)
		}
		for _, c := range s.Skipped {
			t.Errorf("plugin %s: %s", s.Name, c)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	return h
}

// Case is one case of a plugin: a file below its folder tests.
type Case struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	// Files are the agent's folder, by slash path.
	Files  map[string]File `json:"files"`
	Expect Expect          `json:"expect"`
}

// File is the content of a file: a JSON string, or {"text", "times"} or {"base64"}.
type File struct{ Data []byte }

// UnmarshalJSON reads any of the forms.
func (f *File) UnmarshalJSON(text []byte) error {
	var s string
	if json.Unmarshal(text, &s) == nil {
		f.Data = []byte(s)
		return nil
	}
	var form struct {
		Text   *string
		Times  *int
		Base64 *string
	}
	if err := unmarshalStrict(text, &form); err != nil {
		return err
	}
	switch {
	case form.Text != nil && form.Base64 == nil:
		times := 1
		if form.Times != nil {
			times = *form.Times
		}
		f.Data = []byte(strings.Repeat(*form.Text, times))
	case form.Base64 != nil && form.Text == nil:
		data, err := base64.StdEncoding.DecodeString(*form.Base64)
		if err != nil {
			return err
		}
		f.Data = data
	default:
		return fmt.Errorf("a file is a string, or has either text or base64")
	}
	return nil
}

// Expect is what a case's answer must be.
type Expect struct {
	IsError  bool     `json:"isError"`
	Text     *string  `json:"text"`     // all text blocks, a line break between them
	Contains []string `json:"contains"` // what the text must have
	Excludes []string `json:"excludes"` // what it must not have
	Image    string   `json:"image"`    // the type of the one image block; "" is none
}

func unmarshalStrict(text []byte, v any) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// RunCases loads a plugin folder and runs the cases in its folder tests, of which there
// must be one for each tool at least.
func RunCases(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "tests", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	h := New(t, folder, dir)
	untested := map[string]bool{}
	for _, tool := range h.Tools() {
		untested[tool.Name] = true
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var c Case
			if err := unmarshalStrict(text, &c); err != nil {
				t.Fatalf("reading the case: %v", err)
			}
			delete(untested, c.Tool)
			c.run(t, h)
		})
	}
	for _, name := range slices.Sorted(maps.Keys(untested)) {
		t.Errorf("tool %s has no case in %s", name, filepath.Join(dir, "tests"))
	}
}

// run makes the case's call in a folder of its own.
func (c *Case) run(t *testing.T, h *host.Host) {
	t.Helper()
	folder := t.TempDir()
	for name, f := range c.Files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	result, err := h.Call(t.Context(), &host.Call{Tool: c.Tool, Args: c.Arguments, Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	var texts, images []string
	for _, block := range result.Content {
		if _, mimeType, ok := block.Data(); ok {
			images = append(images, mimeType)
		} else {
			texts = append(texts, block.Text())
		}
	}
	text := strings.Join(texts, "\n")
	if result.IsError != c.Expect.IsError {
		t.Errorf("failed is %v, want %v", result.IsError, c.Expect.IsError)
	}
	if c.Expect.Text != nil && text != *c.Expect.Text {
		t.Errorf("got\n%s\nwant\n%s", text, *c.Expect.Text)
	}
	for _, s := range c.Expect.Contains {
		if !strings.Contains(text, s) {
			t.Errorf("got\n%s\nwithout %q", text, s)
		}
	}
	for _, s := range c.Expect.Excludes {
		if strings.Contains(text, s) {
			t.Errorf("got\n%s\nwith %q", text, s)
		}
	}
	if got := strings.Join(images, " "); got != c.Expect.Image {
		t.Errorf("the images are %q, want %q", got, c.Expect.Image)
	}
	if t.Failed() {
		t.Logf("the answer is\n%s", text)
	}
}
