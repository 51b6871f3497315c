package schema

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

func (s *Schema) pathArguments(v parsed) []PathArgument {
	if !s.marked && !s.maybeNamed {
		return nil
	}
	f := pathFinder{schema: s}
	if !s.marked {
		f.byName("", v.value, false)
		return f.out
	}
	full, err := s.full()
	if err != nil || s.work(v) > maxWork {
		return nil
	}
	f.full = full
	f.seen = map[visited]bool{}
	f.byMark(full.schema, "", v.value)
	slices.SortFunc(f.out, func(a, b PathArgument) int { return comparePointers(a.Pointer, b.Pointer) })
	return f.out
}

type pathFinder struct {
	schema *Schema
	full   *full
	seen   map[visited]bool
	out    []PathArgument
}

type visited struct {
	schema  *jsonschema.Schema
	pointer string
}

// byName finds texts at properties whose name says so, and in lists of such.
func (f *pathFinder) byName(pointer string, v any, named bool) {
	switch v := v.(type) {
	case string:
		if named {
			f.out = append(f.out, PathArgument{Pointer: pointer, Value: v})
		}
	case []any:
		for i, item := range v {
			f.byName(pointer+"/"+strconv.Itoa(i), item, named)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			f.byName(pointer+"/"+jsondoc.Escape(name), v[name], namesPath(name))
		}
	}
}

// namesPath reports whether a name is, or ends in, a word that names paths, in camel, snake
// or kebab case.
func namesPath(name string) bool {
	for _, word := range [...]string{"Path", "Paths", "File", "Files", "Dir", "Folder"} {
		at := len(name) - len(word)
		if at < 0 || !strings.EqualFold(name[at:], word) {
			continue
		}
		if at == 0 || name[at-1] == '-' || name[at-1] == '_' || name[at:] == word {
			return true
		}
	}
	return false
}

// byMark finds texts at places with a format that marks paths. Of alternatives
// it follows those that the value fits.
func (f *pathFinder) byMark(s *jsonschema.Schema, pointer string, v any) {
	key := visited{s, pointer}
	if s == nil || s.Bool != nil || f.seen[key] || !f.schema.leadsToMark(s) {
		return
	}
	f.seen[key] = true
	if text, ok := v.(string); ok && s.Format != nil && isPathFormat(s.Format.Name) {
		f.add(pointer, text)
	}
	f.byMark(s.Ref, pointer, v)
	for _, part := range s.AllOf {
		f.byMark(part, pointer, v)
	}
	for _, parts := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		for _, part := range parts {
			if f.schema.leadsToMark(part) && f.holds(part, v) {
				f.byMark(part, pointer, v)
			}
		}
	}
	if s.If != nil && (s.Then != nil || s.Else != nil) {
		if f.holds(s.If, v) {
			f.byMark(s.If, pointer, v)
			f.byMark(s.Then, pointer, v)
		} else {
			f.byMark(s.Else, pointer, v)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		f.members(s, pointer, v)
	case []any:
		f.items(s, pointer, v)
	}
}

func (f *pathFinder) holds(s *jsonschema.Schema, v any) bool {
	problem, err := f.full.explain(s, v)
	return problem == nil && err == nil
}

func (f *pathFinder) members(s *jsonschema.Schema, pointer string, object map[string]any) {
	for name, v := range object {
		at := pointer + "/" + jsondoc.Escape(name)
		known := false
		if part := s.Properties[name]; part != nil {
			known = true
			f.byMark(part, at, v)
		}
		for re, part := range s.PatternProperties {
			if re.MatchString(name) {
				known = true
				f.byMark(part, at, v)
			}
		}
		if part, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && !known {
			known = true
			f.byMark(part, at, v)
		}
		if !known {
			f.byMark(s.UnevaluatedProperties, at, v)
		}
		if part := s.DependentSchemas[name]; part != nil {
			f.byMark(part, pointer, object)
		}
		if part, ok := s.Dependencies[name].(*jsonschema.Schema); ok {
			f.byMark(part, pointer, object)
		}
	}
}

func (f *pathFinder) items(s *jsonschema.Schema, pointer string, list []any) {
	places, rest := s.PrefixItems, s.Items2020
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		rest = items
	case []*jsonschema.Schema:
		places = items
		rest, _ = s.AdditionalItems.(*jsonschema.Schema)
	}
	for i, v := range list {
		at := pointer + "/" + strconv.Itoa(i)
		switch {
		case i < len(places):
			f.byMark(places[i], at, v)
		case rest != nil:
			f.byMark(rest, at, v)
		default:
			f.byMark(s.UnevaluatedItems, at, v)
		}
		if s.Contains != nil && f.schema.leadsToMark(s.Contains) && f.holds(s.Contains, v) {
			f.byMark(s.Contains, at, v)
		}
	}
}

func (f *pathFinder) add(pointer, text string) {
	p := PathArgument{Pointer: pointer, Value: text, Marked: true}
	if !slices.Contains(f.out, p) {
		f.out = append(f.out, p)
	}
}

// leadsToMark says whether a mark stands in a schema or in one that it leads to.
func (s *Schema) leadsToMark(part *jsonschema.Schema) bool {
	n := s.places()[pointerOf(part.Location)]
	return n == nil || n.leadsToMark
}

// findMarks notes which schemas lead to a mark, and whether a call's arguments
// may name paths at all.
func (s *Schema) findMarks() {
	leads := map[*node][]*node{} // from each schema to those that lead to it
	for _, n := range s.tree.order {
		for _, next := range n.parts() {
			leads[next] = append(leads[next], n)
		}
	}
	var visit func(n *node)
	visit = func(n *node) {
		if n.leadsToMark {
			return
		}
		n.leadsToMark = true
		for _, from := range leads[n] {
			visit(from)
		}
	}
	for _, n := range s.tree.order {
		if format, _ := n.object["format"].(string); isPathFormat(format) && !s.tree.alone(n) {
			visit(n)
		}
	}
	s.marked = s.tree.root.leadsToMark
	s.maybeNamed = !s.marked && s.mayName()
}

// marks gives the places of the marks that count for some value.
func (s *Schema) marks() []Finding {
	if !s.marked {
		return nil
	}
	c := compilation{sources: s.sources}
	seen := map[*node]bool{}
	left := []*node{s.tree.root}
	for len(left) > 0 {
		n := left[len(left)-1]
		left = left[:len(left)-1]
		if seen[n] || !n.leadsToMark {
			continue
		}
		seen[n] = true
		if format, _ := n.object["format"].(string); isPathFormat(format) && !s.tree.alone(n) {
			c.find("", Warning, n.pointer+"/format", false, "", "")
		}
		left = append(left, n.parts()...)
	}
	sortFindings(c.findings)
	return c.findings
}

// mayName says whether any object that fits may have a property whose name says
// that it is a path.
func (s *Schema) mayName() bool {
	for _, n := range s.tree.order {
		for name := range n.props {
			if namesPath(name) {
				return true
			}
		}
	}
	// Open objects may have any property; most roots are open.
	return !s.closed
}

// parts gives the schemas that are applied to a value, or to parts of it, where n is.
func (n *node) parts() []*node {
	out := n.inPlace()
	for k, part := range n.one {
		if !slices.Contains([]string{"not", "if", "then", "else", "propertyNames"}, k) {
			out = append(out, part)
		}
	}
	for k, parts := range n.list {
		if strings.HasSuffix(strings.ToLower(k), "items") {
			out = append(out, parts...)
		}
	}
	for _, k := range []string{"properties", "patternProperties"} {
		for _, p := range n.named[k] {
			out = append(out, p.node)
		}
	}
	return out
}
