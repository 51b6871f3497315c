// Package plugintest runs the cases that plugins bring along: files below a plugin's
// folder tests, each with a call and what its answer must be.
//
//	cases, err := plugintest.Load("plugins/word-count")
//	outcome, err := cases[0].Run(ctx, h, folder)
//	for _, p := range outcome.Problems { … }
//
// A [Case] says what the agent's folder holds, which settings are set and what hosts
// answer, so that it gives the same everywhere. The caller brings a host in which the
// plugin is loaded.
package plugintest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/suggest"
)

// Folder is the folder of a plugin that holds its cases.
const Folder = "tests"

const (
	maxCase  = 16 << 20 // bytes of one file
	maxCases = 10_000   // of one plugin
	maxText  = 64 << 20 // bytes of one file of a case's folder
)

// Case is one case of a plugin.
type Case struct {
	Name string `json:"-"` // the file's, without its ending
	File string `json:"-"`

	Schema    string          `json:"$schema"` // for editors; never fetched
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	// Files are the agent's folder, by slash path.
	Files map[string]File `json:"files"`
	// Settings are the user's, by their full keys; what is missing has its default.
	Settings map[string]json.RawMessage `json:"settings"`
	// Responses are what hosts answer, by URL. Nothing else is reached.
	Responses map[string]Response `json:"responses"`
	// Expect is what the answer must be; nil where that is still to be written down.
	Expect *Expect `json:"expect"`

	doc *jsondoc.Document
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
		if times < 0 || len(*form.Text) > 0 && times > maxText/len(*form.Text) {
			return fmt.Errorf("a text %d times is more than %d bytes, or less than none", times, maxText)
		}
		f.Data = []byte(strings.Repeat(*form.Text, times))
	case form.Base64 != nil && form.Text == nil:
		data, err := base64.StdEncoding.DecodeString(*form.Base64)
		if err != nil {
			return err
		}
		f.Data = data
	default:
		return errors.New("a file is a string, or has either text or base64")
	}
	return nil
}

// Expect is what a case's answer must be.
type Expect struct {
	IsError  bool     `json:"isError,omitempty"`
	Text     *string  `json:"text,omitempty"`     // all text blocks, a line break between them
	Contains []string `json:"contains,omitempty"` // what the text must have
	Excludes []string `json:"excludes,omitempty"` // what it must not have
	Image    string   `json:"image,omitempty"`    // the types of the image and audio blocks, a space between them; "" is none
}

// Response is what a host answers.
type Response struct {
	Status  int               `json:"status"` // 200 where it is 0
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

func unmarshalStrict(text []byte, v any) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// Load reads the cases of a plugin folder, by the names of their files. A folder without
// cases gives none. The error holds what is wrong with each file.
func Load(dir string) ([]*Case, error) {
	files, err := filepath.Glob(filepath.Join(escape(dir), Folder, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) > maxCases {
		return nil, fmt.Errorf("%q has %d cases; the limit is %d", dir, len(files), maxCases)
	}
	slices.Sort(files)
	var cases []*Case
	var wrong []error
	for _, file := range files {
		c, err := read(file)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		cases = append(cases, c)
	}
	return cases, errors.Join(wrong...)
}

// escape takes their meaning from the characters that a glob would read.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

func read(file string) (*Case, error) {
	text, err := readAtMost(file)
	if err != nil {
		return nil, fmt.Errorf("reading the case %q: %w", file, err)
	}
	doc, err := jsondoc.Parse(text)
	var syntax *jsondoc.SyntaxError
	if errors.As(err, &syntax) {
		return nil, fmt.Errorf("%s:%d:%d: %s", file, syntax.Line, syntax.Column, syntax.Msg)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the case %q: %w", file, err)
	}
	c := &Case{Name: strings.TrimSuffix(filepath.Base(file), ".json"), File: file, doc: doc}
	if err := unmarshalStrict(doc.Text(), c); err != nil {
		return nil, fmt.Errorf("%s: %w", file, plainly(err))
	}
	if c.Tool == "" {
		return nil, fmt.Errorf(`%s: a case names its "tool"`, file)
	}
	for name := range c.Files {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("%s: the file %q lies outside the folder", file, name)
		}
	}
	return c, nil
}

// plainly says what is wrong with a case in the words of its author, not in those of Go.
func plainly(err error) error {
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		fields := []string{"tool", "arguments", "files", "settings", "responses", "expect", "text", "times", "base64", "contains", "excludes", "isError", "image", "status", "headers", "body"}
		if near := suggest.Nearest(strings.Trim(name, `"`), fields); near != "" {
			return fmt.Errorf("unknown field %s; did you mean %q?", name, near)
		}
		return fmt.Errorf("unknown field %s", name)
	}
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("the field %q cannot be this: %s", wrong.Field, wrong.Value)
	}
	return err
}

// readAtMost reads a case. Opening does not wait for the other end of a pipe.
func readAtMost(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCase+1))
	if err == nil && len(text) > maxCase {
		err = fmt.Errorf("it is larger than %d bytes", maxCase)
	}
	return text, err
}
