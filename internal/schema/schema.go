// Package schema compiles, checks and lints JSON Schemas of tools.
//
// The dialect that a schema declares picks the engine: draft-04, -06 and -07 go
// to xeipuuv/gojsonschema; 2019-09, 2020-12 and schemas that declare nothing go
// to santhosh-tekuri/jsonschema. Neither engine sees a schema that has not passed
// the preflight, and both see one normalised copy of it.
package schema

import (
	"encoding/json"
	"io/fs"
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

// LoadError holds everything for which a schema was refused. All its findings
// have severity [Error].
type LoadError struct{ Findings []Finding }

func (e *LoadError) Error() string { return "STUB" }

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct{}

// Compile compiles the schema in raw, whose references may only point into
// itself. The error is a *LoadError.
func Compile(raw []byte) (*Schema, error) { panic("stub") }

// CompileFile compiles the schema file name (a slash path) of root. Relative
// references to other files of root are bundled into $defs; any other reference
// out of the document is refused. The error is a *LoadError.
func CompileFile(root fs.FS, name string) (*Schema, error) { panic("stub") }

// Public gives the schema as it is published to clients.
func (s *Schema) Public() json.RawMessage { panic("stub") }

// Files gives the files that went into the schema, as slash paths below the root
// that CompileFile was given.
func (s *Schema) Files() []string { panic("stub") }

// Dialect gives the dialect that the schema is read by, such as "draft-07" or "2020-12".
func (s *Schema) Dialect() string { panic("stub") }

// Issue is one thing that is wrong with a value.
type Issue struct {
	Pointer  string `json:"path"`     // JSON pointer into the value
	Keyword  string `json:"keyword"`  // the rule that was broken: "required", "type", …
	Expected string `json:"expected"` // what the schema wants there
	Got      string `json:"got"`      // what came, cut short
	Message  string `json:"-"`        // one line for a model, without the pointer: `expected integer, got string "5"`
}

// Checked is the outcome of a check.
type Checked struct {
	// Value is the accepted value with defaults filled in, as JSON text. Member
	// order and the spelling of numbers are the sender's. nil where Issues is not empty.
	Value json.RawMessage
	// Repaired holds the pointers of texts that were turned losslessly into the
	// number, boolean, list or object that the schema demands.
	Repaired []string
	Issues   []Issue
}

// Check checks a JSON value. Where it does not fit, and strict is not set, one
// lossless repair pass is tried. The error says that the value could not be checked at
// all (no JSON, nested too deeply, too much work); its text is fit for a model.
func (s *Schema) Check(value json.RawMessage, strict bool) (Checked, error) { panic("stub") }

// PathArgument is a text in the arguments that names a file or folder.
type PathArgument struct {
	Pointer string // JSON pointer into the arguments
	Value   string // the text
	Marked  bool   // the schema says format file-path or directory-path there
}

// PathArguments gives the texts in args (already checked) that name files: those
// at places with format file-path or directory-path, or, where the schema marks none at
// all, those at properties whose name is or ends in the word path, paths, file,
// files, dir or folder.
func (s *Schema) PathArguments(args json.RawMessage) []PathArgument { panic("stub") }

// Explain gives the text for a model about a value that does not fit: one line that
// begins with lead, then a line an issue.
func Explain(lead string, issues []Issue) string { panic("stub") }

// Lint gives what a model or a client will stumble over in a schema that compiles:
// warnings and infos.
func (s *Schema) Lint() []Finding { panic("stub") }
