package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

const (
	argumentFile = "dev-arguments.json"
	// maxArgumentFile is how many bytes of lines are remembered.
	maxArgumentFile = 1 << 20
)

// argumentLines remembers with which arguments an author called each tool last: in a file of
// the state folder, so that they are there the next time.
type argumentLines struct {
	dir   string            // the state folder; "" remembers nothing beyond this run
	lines map[string]string // nil before they were read
}

func (a *argumentLines) get(tool string) string {
	a.read()
	return a.lines[tool]
}

// read takes the lines from the file. One that cannot be read, or is none, counts as empty:
// it holds nothing that could not be typed again.
func (a *argumentLines) read() {
	if a.lines != nil {
		return
	}
	a.lines = map[string]string{}
	if a.dir == "" {
		return
	}
	if raw, err := readAtMost(filepath.Join(a.dir, argumentFile), maxArgumentFile); err == nil {
		_ = json.Unmarshal(raw, &a.lines)
	}
	if a.lines == nil { // the file held null
		a.lines = map[string]string{}
	}
}

// set remembers a line.
func (a *argumentLines) set(tool, line string) error {
	a.read()
	if old, ok := a.lines[tool]; ok && old == line {
		return nil
	}
	a.lines[tool] = line
	if a.dir == "" {
		return nil
	}
	raw, err := json.MarshalIndent(a.lines, "", "  ")
	if err != nil {
		return err
	}
	if len(raw) > maxArgumentFile {
		return fmt.Errorf("they are more than %d bytes together", maxArgumentFile)
	}
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(a.dir, ".dev-*") // nobody else may read it
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(a.dir, argumentFile))
	}
	if err != nil {
		if gone := os.Remove(f.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// sampleArguments gives arguments to begin with: those that a schema requires, with the
// values that it names, or empty ones.
func sampleArguments(schema json.RawMessage) string {
	var root struct {
		Required   []string                   `json:"required"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &root) != nil || len(root.Required) == 0 {
		return ""
	}
	var b strings.Builder
	for i, name := range root.Required {
		if i > 0 {
			b.WriteString(", ")
		}
		key, err := json.Marshal(name)
		if err != nil {
			return ""
		}
		b.Write(key)
		b.WriteString(": ")
		b.WriteString(sampleValue(root.Properties[name]))
	}
	return "{" + b.String() + "}"
}

func sampleValue(property json.RawMessage) string {
	var p struct {
		Type     any
		Default  json.RawMessage
		Const    json.RawMessage
		Examples []json.RawMessage
		Enum     []json.RawMessage
	}
	_ = json.Unmarshal(property, &p) // what is left empty has no sample
	for _, v := range append(append([]json.RawMessage{p.Default, p.Const}, p.Examples...), p.Enum...) {
		var line bytes.Buffer
		if len(v) > 0 && json.Compact(&line, v) == nil {
			return line.String()
		}
	}
	switch p.Type {
	case "number", "integer":
		return "0"
	case "boolean":
		return "false"
	case "array":
		return "[]"
	case "object":
		return "{}"
	default:
		return `""`
	}
}

// splitWords splits a line as a shell would: at white space that is not within quotes.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, begun = r, true
		case unicode.IsSpace(r):
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
