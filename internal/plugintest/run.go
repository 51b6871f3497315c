package plugintest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/text"
)

// Outcome is what became of a case.
type Outcome struct {
	Got Expect // the answer, in the form in which it is expected
	// Problems say where it is not what was expected; empty where it is.
	Problems []string
}

// Run makes the case's call. folder is an empty one, which becomes the agent's. The error
// says that there was no answer at all.
func (c *Case) Run(ctx context.Context, h *host.Host, folder string) (*Outcome, error) {
	for name, f := range c.Files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return nil, err
		}
	}
	result, err := h.Call(ctx, &host.Call{Tool: c.Tool, Args: c.Arguments, Folder: folder, Agent: host.Agent{ID: "test", Name: "test"}})
	if err != nil {
		return nil, err
	}
	var texts, images []string
	for _, block := range result.Content {
		if _, mimeType, ok := block.Data(); ok {
			images = append(images, mimeType)
		} else {
			texts = append(texts, block.Text())
		}
	}
	// Where the folder lies is not part of an answer.
	text := strings.ReplaceAll(strings.Join(texts, "\n"), folder, "FOLDER")
	o := &Outcome{Got: Expect{IsError: result.IsError, Text: &text, Image: strings.Join(images, " ")}}
	o.compare(c.Expect)
	return o, nil
}

// compare notes where the answer is not what was expected.
func (o *Outcome) compare(want *Expect) {
	problem := func(format string, args ...any) { o.Problems = append(o.Problems, fmt.Sprintf(format, args...)) }
	got := *o.Got.Text
	if want == nil {
		problem("the case does not say what it expects; the answer is\n%s", got)
		return
	}
	if o.Got.IsError != want.IsError {
		verdict := map[bool]string{true: "a failed result", false: "no failed result"}
		problem("the answer is %s, %s was expected:\n%s", verdict[o.Got.IsError], verdict[want.IsError], got)
	}
	if want.Text != nil && got != *want.Text {
		problem("the text differs:\n%s", lineDiff(*want.Text, got))
	}
	for _, s := range want.Contains {
		if !strings.Contains(got, s) {
			problem("the text lacks %q:\n%s", s, got)
		}
	}
	for _, s := range want.Excludes {
		if strings.Contains(got, s) {
			problem("the text has %q:\n%s", s, got)
		}
	}
	if o.Got.Image != want.Image {
		problem("the images are %q, %q was expected", o.Got.Image, want.Image)
	}
}

// lineDiff shows where two texts differ, line by line.
func lineDiff(want, got string) string {
	return strings.TrimSuffix(text.Diff(want+"\n", got+"\n", "expected", "answered"), "\n")
}

// Update writes into the case's file that it expects what was answered. The rest of the
// file stays as it is.
func (c *Case) Update(got Expect) error {
	var want bytes.Buffer
	if err := json.Indent(&want, jsondoc.Marshal(got), "  ", "  "); err != nil {
		return err
	}
	if c.Expect != nil {
		return replaceFile(c.File, c.doc.Apply([]jsondoc.Edit{c.doc.Replace("/expect", want.String())}))
	}
	text := c.doc.Apply([]jsondoc.Edit{c.doc.Append("", "expect", want.String())})
	const member = `,"expect":`
	at := bytes.LastIndex(text, []byte(member+want.String()))
	return replaceFile(c.File, slices.Concat(text[:at], []byte(",\n  \"expect\": "), text[at+len(member):]))
}

// replaceFile writes beside a file and renames, so that nobody reads half of it.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if chmodErr := f.Chmod(0o644); err == nil {
		err = chmodErr
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the error that counts is the one at hand
	}
	return err
}
