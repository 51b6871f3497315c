package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// source is one file of a schema, or the text of one that is no file.
type source struct {
	file   string
	prefix string // pointer to its place in the bundled document
	doc    *jsondoc.Document
	tree   *tree
}

// compilation is what is known while a schema is compiled.
type compilation struct {
	root     fs.FS  // nil where there are no files to refer to
	proofs   Proofs // nil where everything is checked
	sources  []*source
	findings []Finding
	anyRoot  bool // the root need not say that it is an object

	dialect dialect
	tree    *tree // of the bundled document
}

// find adds a finding about the value at a pointer of the bundled document, or
// about the name of the member there.
func (c *compilation) find(rule string, sev Severity, pointer string, atName bool, message, hint string) {
	s, local := c.sources[0], pointer
	for _, other := range c.sources[1:] {
		if pointer == other.prefix || strings.HasPrefix(pointer, other.prefix+"/") {
			s, local = other, pointer[len(other.prefix):]
		}
	}
	c.findIn(s, rule, sev, local, atName, message, hint)
}

// findIn is find for a pointer of one source.
func (c *compilation) findIn(s *source, rule string, sev Severity, pointer string, atName bool, message, hint string) {
	if len(c.findings) >= maxFindings {
		return
	}
	f := Finding{Rule: rule, Severity: sev, File: s.file, Pointer: pointer, Message: message, Hint: hint}
	if s.doc != nil {
		pos := s.doc.Position(pointer)
		if atName {
			pos = s.doc.KeyPosition(pointer)
		}
		f.Line, f.Column = pos.Line, pos.Column
	}
	if !slices.Contains(c.findings, f) {
		c.findings = append(c.findings, f)
	}
}

// failed gives the error for the findings so far; nil where there are none.
func (c *compilation) failed() error {
	var errs []Finding
	for _, f := range c.findings {
		if f.Severity == Error {
			errs = append(errs, f)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	sortFindings(errs)
	return &LoadError{Findings: errs}
}

// sortFindings puts findings in the order of their files and places.
func sortFindings(list []Finding) {
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column)
	})
}

// readFile reads a file of the root. It gives nil after a finding.
func (c *compilation) readFile(name string, from *source, at string) *source {
	s := &source{file: name}
	complain := func(message, hint string) {
		if from != nil {
			c.findIn(from, "S05", Error, at, false, `"$ref" to `+message, hint)
			return
		}
		c.findIn(s, "S01", Error, "", false, message, hint)
	}
	if !fs.ValidPath(name) {
		complain(fmt.Sprintf("file %q is not below the plugin's folder", name), "use a path below the folder, without \"..\"")
		return nil
	}
	text, err := readBounded(c.root, name)
	switch {
	case errors.Is(err, errTooLarge):
		complain(fmt.Sprintf("file %q has more than %d KiB", name, maxSchemaBytes>>10), "split off what is not needed")
		return nil
	case errors.Is(err, fs.ErrNotExist):
		complain(fmt.Sprintf("file %q does not exist", name), "")
		return nil
	case err != nil:
		complain(fmt.Sprintf("file %q cannot be read: %v", name, cause(err)), "")
		return nil
	}
	return c.parse(s, text)
}

var errTooLarge = errors.New("too large")

func readBounded(root fs.FS, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSchemaBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxSchemaBytes {
		return nil, errTooLarge
	}
	return text, nil
}

// cause gives the error without the path, which the message names already.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	// The os package exports no error for a path that leaves its root, only this text.
	if strings.HasSuffix(err.Error(), "path escapes from parent") {
		return errors.New("it is a link that leaves the plugin's folder")
	}
	return err
}

// parse reads the text of a source and checks it against the bounds. It gives
// nil after a finding that leaves nothing to look at.
func (c *compilation) parse(s *source, text []byte) *source {
	if len(text) > maxSchemaBytes {
		c.findIn(s, "S01", Error, "", false, fmt.Sprintf("the schema has more than %d KiB", maxSchemaBytes>>10), "split off what is not needed")
		return nil
	}
	doc, err := jsondoc.Parse(text)
	if err != nil {
		f := Finding{Rule: "S01", Severity: Error, File: s.file, Message: "no JSON: " + err.Error()}
		var syntax *jsondoc.SyntaxError
		if errors.As(err, &syntax) {
			f.Line, f.Column = syntax.Line, syntax.Column
		}
		c.findings = append(c.findings, f)
		return nil
	}
	s.doc = doc
	for _, pointer := range doc.Duplicates {
		c.findIn(s, "S01", Error, pointer, true, fmt.Sprintf("the name %q is there twice", lastToken(pointer)), "keep one of the two")
	}
	if !c.checkLimits(s, make([]byte, 0, 128), doc.Value, 1) {
		return nil
	}
	return s
}

// checkLimits looks at numbers, names and nesting of a document. It gives false
// where the document must not be looked at any further. pointer grows and shrinks: it is a text
// where something is found only.
func (c *compilation) checkLimits(s *source, pointer []byte, v any, depth int) bool {
	if depth > maxSchemaDepth {
		c.findIn(s, "S01", Error, string(pointer), false, fmt.Sprintf("nested more than %d deep", maxSchemaDepth), "move inner parts into definitions")
		return false
	}
	ok := true
	switch v := v.(type) {
	case json.Number:
		if problem := numberProblem(v); problem != "" {
			c.findIn(s, "S01", Error, string(pointer), false, problem, "")
			return false
		}
	case []any:
		for i, item := range v {
			ok = c.checkLimits(s, strconv.AppendInt(append(pointer, '/'), int64(i), 10), item, depth+1) && ok
		}
	case map[string]any:
		for name, item := range v {
			if len(name) > maxNameBytes {
				c.findIn(s, "S01", Error, string(pointer), false, fmt.Sprintf("the name %q… has more than %d bytes", clip(name, maxEcho), maxNameBytes), "")
				ok = false
				continue
			}
			ok = c.checkLimits(s, append(append(pointer, '/'), jsondoc.Escape(name)...), item, depth+1) && ok
		}
	}
	return ok
}

func lastToken(pointer string) string {
	return jsondoc.Unescape(pointer[strings.LastIndexByte(pointer, '/')+1:])
}
