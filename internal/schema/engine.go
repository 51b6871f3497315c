package schema

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/xeipuuv/gojsonreference"
	"github.com/xeipuuv/gojsonschema"
)

// engine gives verdicts.
type engine interface {
	valid(v any) (bool, error)
}

// quick is gojsonschema, for draft-04, -06 and -07.
type quick struct{ schema *gojsonschema.Schema }

var _ engine = (*quick)(nil)

// newQuick compiles the document, which it changes.
func newQuick(document map[string]any, d dialect) (q *quick, err error) {
	defer recovered(&err)
	l := gojsonschema.NewSchemaLoader()
	// Validate must stay off: it puts a loader in place that fetches.
	l.Validate, l.AutoDetect, l.Draft = false, false, d.gojs()
	s, err := l.Compile(localLoader{gojsonschema.NewRawLoader(document)})
	if err != nil {
		return nil, err
	}
	return &quick{s}, nil
}

func (q *quick) valid(v any) (ok bool, err error) {
	r, err := q.result(v)
	return err == nil && r.Valid(), err
}

func (q *quick) result(v any) (r *gojsonschema.Result, err error) {
	defer recovered(&err)
	return q.schema.Validate(gojsonschema.NewRawLoader(v))
}

// localLoader loads a document whose references lead nowhere else.
type localLoader struct{ gojsonschema.JSONLoader }

// LoaderFactory gives the loader for other documents, which refuses.
func (localLoader) LoaderFactory() gojsonschema.JSONLoaderFactory { return refusing{} }

type refusing struct{}

// New gives a loader that loads nothing.
func (refusing) New(source string) gojsonschema.JSONLoader { return refusingLoader(source) }

type refusingLoader string

// JsonSource gives the address.
func (l refusingLoader) JsonSource() any { return string(l) }

// LoadJSON refuses.
func (l refusingLoader) LoadJSON() (any, error) {
	return nil, fmt.Errorf("%q is not loaded: a schema may not refer to other documents", string(l))
}

// JsonReference gives the address.
func (l refusingLoader) JsonReference() (gojsonreference.JsonReference, error) {
	return gojsonreference.NewJsonReference(string(l))
}

// LoaderFactory gives the loader for other documents, which refuses too.
func (l refusingLoader) LoaderFactory() gojsonschema.JSONLoaderFactory { return refusing{} }

// full is santhosh-tekuri/jsonschema, for every dialect. It also explains why a
// value does not fit. Its compiler is not safe for concurrent use.
type full struct {
	schema   *jsonschema.Schema
	reverse  *jsonschema.Schema // fits what schema does not fit; nil for a meta-schema
	mu       sync.Mutex
	compiler *jsonschema.Compiler
}

var _ engine = (*full)(nil)

// The addresses under which the engine knows the schema; nothing is loaded.
const (
	fullURL    = "mem:///schema"
	reverseURL = "mem:///reverse"
)

func newFull(document map[string]any, d dialect, patterns func(string) (jsonschema.Regexp, error)) (f *full, err error) {
	defer recovered(&err)
	c := jsonschema.NewCompiler()
	c.UseLoader(nil)
	c.DefaultDraft(d.santhosh())
	c.AssertFormat()
	c.UseRegexpEngine(patterns)
	for _, name := range []string{formatFile, formatDir} {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	if err := c.AddResource(fullURL, document); err != nil {
		return nil, err
	}
	s, err := c.Compile(fullURL)
	if err != nil {
		return nil, err
	}
	if err := c.AddResource(reverseURL, map[string]any{"not": map[string]any{"$ref": fullURL}}); err != nil {
		return nil, err
	}
	reverse, err := c.Compile(reverseURL)
	if err != nil {
		return nil, err
	}
	return &full{schema: s, reverse: reverse, compiler: c}, nil
}

// fits is valid for large values: below a "not" the engine keeps no account of
// what is wrong, which for a long list can need a hundred times its size.
func (f *full) fits(v any) (bool, error) {
	problem, err := f.explain(f.reverse, v)
	return err == nil && problem != nil, err
}

func (f *full) valid(v any) (bool, error) {
	problem, err := f.explain(f.schema, v)
	return err == nil && problem == nil, err
}

// explain checks a value and gives what is wrong with it; nil where it fits.
func (f *full) explain(s *jsonschema.Schema, v any) (problem *jsonschema.ValidationError, err error) {
	defer recovered(&err)
	err = s.Validate(v)
	if errors.As(err, &problem) {
		return problem, nil
	}
	return nil, err
}

// at gives the schema at a pointer of the engines' copy.
func (f *full) at(pointer string) (s *jsonschema.Schema, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer recovered(&err)
	return f.compiler.Compile(fullURL + (&url.URL{Fragment: pointer}).String())
}

// pointerOf gives the pointer in the engines' copy of an address that the engine gives.
func pointerOf(location string) string {
	_, fragment, _ := strings.Cut(location, "#")
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return fragment
	}
	return pointer
}

// recovered turns a panic of an engine into an error.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the validator failed: %v", r)
	}
}

// deepCopy copies a document.
func deepCopy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = deepCopy(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = deepCopy(item)
		}
		return out
	}
	return v
}
