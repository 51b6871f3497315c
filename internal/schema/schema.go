// Package schema compiles, checks and lints JSON Schemas of tools.
//
//	s, err := schema.Compile(text) // or CompileFile, where it refers to other files
//	checked, err := s.Check(args, false)
//	if len(checked.Issues) > 0 {
//		return schema.Explain("the arguments do not fit:", checked.Issues)
//	}
//	args = checked.Value // repaired losslessly, defaults filled in
//
// What is wrong with a [Schema] is a [Finding], for its author: all of them at once in a
// [LoadError], or from [Schema.Lint] what a model or a client will stumble over. What is
// wrong with a value is an [Issue], for the model that sent it.
//
// The dialect that a schema declares picks the engine: draft-04, -06 and -07 go
// to xeipuuv/gojsonschema; 2019-09, 2020-12 and schemas that declare nothing go
// to santhosh-tekuri/jsonschema. Neither engine sees a schema that has not passed
// the preflight, and both see one normalised copy of it.
package schema

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Severity of a [Finding].
type Severity int

const (
	Error   Severity = iota // the schema is refused
	Warning                 // something a model or a client will stumble over
	Info                    // shown only when everything is asked for
)

// Finding is one thing that is wrong with a schema.
type Finding struct {
	Rule     string // "S05", "M03": the rule's id
	Severity Severity
	File     string // slash path below the plugin's root; "" where the schema is no file
	Line     int    // from 1; 0 where the place is not known
	Column   int    // from 1, in characters
	Pointer  string // JSON pointer within File
	Message  string // what is wrong, lower case, no full stop
	Hint     string // what to do about it; may be empty
}

// String gives the finding on one line: `a.json:3:7: "type" is missing [S02]; hint`.
func (f Finding) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File + ":")
	}
	if f.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", f.Line, f.Column)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if f.Pointer != "" {
		b.WriteString(f.Pointer + ": ")
	}
	fmt.Fprintf(&b, "%s [%s]", f.Message, f.Rule)
	if f.Hint != "" {
		b.WriteString("; " + f.Hint)
	}
	return b.String()
}

// LoadError holds everything for which a schema was refused. All its findings
// have severity [Error].
type LoadError struct{ Findings []Finding }

// Error gives the findings, a line each.
func (e *LoadError) Error() string {
	lines := make([]string, len(e.Findings))
	for i, f := range e.Findings {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Schema is a compiled schema. It is immutable, but for the count of checks that
// take too long, and safe for concurrent use.
type Schema struct {
	dialect dialect
	sources []*source
	tree    *tree
	places  func() map[string]*node // schemas by their pointer in the engines' copy, which is made when it is needed
	public  json.RawMessage
	lint    func() []Finding // looked for when somebody asks

	engine func() (engine, error) // compiled when it is needed
	full   func() (*full, error)  // the engine that explains, as well
	late   *atomic.Int32          // checks that go on though their time is over

	backtracks  bool // a pattern of it needs time that cannot be told beforehand
	plain       bool // no references and nothing that costs much
	hasDefaults bool
	marked      bool // path formats mark the arguments that name files
	maybeNamed  bool // without marks, some argument may have a name that says so
	closed      bool // no object may have properties that the schema does not name
}

// Compile compiles the schema in raw, whose references may only point into
// itself. The error is a *LoadError.
func Compile(raw []byte) (*Schema, error) {
	c := &compilation{}
	s := c.parse(&source{}, raw)
	return c.compile(s)
}

// Known is Compile for a schema that the program itself brings along, and that a test of it
// compiles: it is read and not checked once more at each start.
func Known(raw []byte) (*Schema, error) {
	c := &compilation{proofs: allKnown{}}
	s := c.parse(&source{}, raw)
	return c.compile(s)
}

// allKnown knows everything to be good.
type allKnown struct{}

var _ Proofs = allKnown{}

// Proven says so.
func (allKnown) Proven([sha256.Size]byte) bool { return true }

// Prove is not called.
func (allKnown) Prove([sha256.Size]byte) {}

// Proofs remembers that something is good, by a sum of it. It is safe for concurrent use.
type Proofs interface {
	Proven(sum [sha256.Size]byte) bool
	Prove(sum [sha256.Size]byte)
}

// CompileFile compiles the schema file name (a slash path) of root. Relative
// references to other files of root are bundled into $defs; any other reference
// out of the document is refused. The error is a *LoadError. What was compiled before
// without a mistake, by proofs, is read and not checked once more: its engines are compiled
// when a value comes. proofs may be nil.
func CompileFile(root fs.FS, name string, proofs Proofs) (*Schema, error) {
	c := &compilation{root: root, proofs: proofs}
	s := c.readFile(name, nil, "")
	return c.compile(s)
}

// compile does the work on the first source, which is nil after a finding.
func (c *compilation) compile(first *source) (*Schema, error) {
	if first == nil {
		return nil, c.failed()
	}
	c.sources = []*source{first}
	text := c.bundle()
	if first.tree == nil || len(c.sources) > 1 && c.failed() != nil {
		return nil, c.failed()
	}
	c.tree = first.tree
	if len(c.sources) > 1 {
		whole := c.parse(&source{file: first.file}, text)
		if whole == nil {
			return nil, c.failed()
		}
		c.tree = newTree(whole.doc, c.dialect)
	}
	late := &atomic.Int32{}
	c.preflight(late)
	sum := sha256.Sum256(slices.Concat([]byte("schema\x00"+c.dialect.String()+"\x00"), text))
	proven := c.proofs != nil && c.proofs.Proven(sum)
	if c.tree.root != nil && len(c.tree.order) <= maxSubschemas && !proven {
		c.checkMeta()
	}
	if err := c.failed(); err != nil {
		return nil, err
	}
	s := c.schema(late)
	c.build(s)
	if !proven {
		if err := c.prove(s); err != nil {
			return nil, err
		}
		if c.proofs != nil {
			c.proofs.Prove(sum)
		}
	}
	s.findMarks()
	c.root, c.proofs = nil, nil // what is looked for later needs no files
	s.lint = sync.OnceValue(func() []Finding { return c.linted(s) })
	return s, nil
}

// prove compiles the engine and checks the defaults with it.
func (c *compilation) prove(s *Schema) error {
	if _, err := s.engine(); err != nil {
		c.find("S04", Error, "", false, "the schema cannot be compiled: "+strings.Join(strings.Fields(err.Error()), " "), "")
		return c.failed()
	}
	c.checkDefaults(s)
	return c.failed()
}

// schema gives the schema without its engine.
func (c *compilation) schema(late *atomic.Int32) *Schema {
	s := &Schema{dialect: c.dialect, sources: c.sources, tree: c.tree, late: late, public: c.publicText(), plain: true, closed: true}
	for _, n := range c.tree.order {
		if n.object == nil {
			s.closed = s.closed && !n.fixed
			continue
		}
		values, _ := n.object["enum"].([]any)
		n.valueCost = len(values)
		if len(n.refs) > 0 || n.pattern != nil || len(n.patterns) > 0 || len(values) > 100 {
			s.plain = false
		}
		if _, ok := n.object["default"]; ok {
			s.hasDefaults = true
		}
		if extra := n.one["additionalProperties"]; n.types&typeObject != 0 && (extra == nil || extra.object != nil || extra.fixed) {
			s.closed = false
		}
	}
	return s
}

// build says how the engines are compiled.
func (c *compilation) build(s *Schema) {
	targets := c.targets()
	made := sync.OnceValues(func() (map[string]any, map[string]*node) { return c.engineCopy(targets) })
	d := c.dialect
	s.places = func() map[string]*node { _, places := made(); return places }
	patterns := c.patterns()
	s.full = sync.OnceValues(func() (*full, error) {
		document, _ := made()
		return newFull(document, d, func(expr string) (jsonschema.Regexp, error) {
			if p := patterns[expr]; p != nil {
				return p, nil
			}
			return compilePattern(expr, maxPatternSize, s.late)
		})
	})
	for _, p := range patterns {
		s.backtracks = s.backtracks || p.slow != nil
	}
	s.engine = sync.OnceValues(func() (engine, error) {
		if d <= draft07 && !s.backtracks {
			document, _ := made()
			return newQuick(deepCopy(document).(map[string]any), d)
		}
		return s.full()
	})
}

// patterns gives the compiled patterns by their text.
func (c *compilation) patterns() map[string]*pattern {
	all := map[string]*pattern{}
	for _, n := range c.tree.order {
		if n.pattern != nil {
			all[n.pattern.expr] = n.pattern
		}
		for _, p := range n.patterns {
			all[p.pattern.expr] = p.pattern
		}
	}
	return all
}

// checkDefaults refuses defaults that do not fit where they stand: they would
// make a correct call fail.
func (c *compilation) checkDefaults(s *Schema) {
	w := worker{done: map[workKey]int{}} // one for all: together they must be cheap
	if !s.hasDefaults {
		return
	}
	places := s.places()
	for _, pointer := range slices.Sorted(maps.Keys(places)) {
		n := places[pointer]
		v, ok := n.object["default"]
		if !ok || c.alone(n) {
			continue
		}
		full, err := s.full()
		if err != nil {
			c.find("S08", Error, n.pointer+"/default", false, "the default cannot be checked: "+err.Error(), "")
			return
		}
		at, err := full.at(pointer)
		if err != nil {
			c.find("S08", Error, n.pointer+"/default", false, "the default cannot be checked: "+err.Error(), "")
			continue
		}
		if w.visit(n, v); w.steps > largeWork {
			c.find("S08", Error, n.pointer+"/default", false, "the defaults are too large to be checked", "")
			return
		}
		problem, err := full.explain(at, v)
		if err != nil {
			c.find("S08", Error, n.pointer+"/default", false, "the default cannot be checked: "+err.Error(), "")
			continue
		}
		if problem == nil {
			continue
		}
		x := explainer{value: v, places: places}
		for _, issue := range x.issues(problem) {
			c.find("S08", Error, n.pointer+"/default"+issue.Pointer, false, "the default does not fit its own schema: "+issue.Message, "correct the default, or leave it out")
			break
		}
	}
}

// Public gives the schema as it is published to clients.
func (s *Schema) Public() json.RawMessage { return append(json.RawMessage(nil), s.public...) }

// Files gives the files that went into the schema, as slash paths below the root
// that CompileFile was given.
func (s *Schema) Files() []string {
	var files []string
	for _, source := range s.sources {
		if source.file != "" {
			files = append(files, source.file)
		}
	}
	return files
}

// Dialect gives the dialect that the schema is read by, such as "draft-07" or "2020-12".
func (s *Schema) Dialect() string { return s.dialect.String() }

// Issue is one thing that is wrong with a value.
type Issue struct {
	Pointer  string `json:"path"`     // JSON pointer into the value
	Keyword  string `json:"keyword"`  // the rule that was broken: "required", "type", …
	Expected string `json:"expected"` // what the schema wants there
	Got      string `json:"got"`      // what came, cut short
	Message  string `json:"-"`        // one line for a model, without the pointer: `expected integer, got string "5"`
}

// String gives `/path: message`, for logs.
func (i Issue) String() string { return i.Pointer + ": " + i.Message }

// Checked is the outcome of a check.
type Checked struct {
	// Value is the accepted value with defaults filled in, as JSON text. Member
	// order and the spelling of numbers are the sender's. nil where Issues is not empty.
	Value json.RawMessage
	// Repaired holds the pointers of texts that were turned losslessly into the
	// number, boolean, list or object that the schema demands.
	Repaired []string
	// Issues holds what is wrong, at most a thousand.
	Issues []Issue

	schema *Schema
	parsed parsed // Value
}

// Check checks a JSON value; no text at all counts as {}. Where it does not fit,
// and strict is not set, one lossless repair pass is tried. The error says that
// the value could not be checked at all (no JSON, nested too deeply, too much
// work); its text is fit for a model.
func (s *Schema) Check(value json.RawMessage, strict bool) (Checked, error) {
	return s.check(value, strict)
}

// PathArgument is a text in the arguments that names a file or folder.
type PathArgument struct {
	Pointer string // JSON pointer into the arguments
	Value   string // the text
	Marked  bool   // the schema says format file-path or directory-path there
}

// PathArguments gives the texts in an accepted value that name files: those
// at places with format file-path or directory-path, or, where the schema marks none at
// all, those at properties whose name is or ends in the word path, paths, file,
// files, dir or folder.
func (c Checked) PathArguments() []PathArgument {
	if c.schema == nil {
		return nil
	}
	return c.schema.pathArguments(c.parsed)
}

// Marks gives the places that mark arguments as paths, in the order of the files; only File, Line, Column and
// Pointer of the findings are set.
func (s *Schema) Marks() []Finding { return s.marks() }

// PathArguments gives the texts in any JSON value that name files, as
// [Checked.PathArguments] does.
func (s *Schema) PathArguments(value json.RawMessage) []PathArgument {
	p, err := readValue(value)
	if err != nil {
		return nil
	}
	return s.pathArguments(p)
}

// Explain gives the text for a model about a value that does not fit: one line that
// begins with lead, then a line an issue.
func Explain(lead string, issues []Issue) string { return explain(lead, issues) }

// Lint gives what a model or a client will stumble over in a schema that compiles:
// warnings and infos.
func (s *Schema) Lint() []Finding { return append([]Finding(nil), s.lint()...) }
