package schema

import (
	"maps"
	"slices"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// addition is a member that is filled in.
type addition struct {
	steps []step // to the object
	name  string
	text  string // JSON
}

// additions finds the properties that are absent and have a default. It looks
// into objects and lists that are there, invents none, and leaves alternatives
// (anyOf, oneOf, if) alone. What a schema requires has no default in effect.
func (s *Schema) additions(v any) ([]addition, error) {
	if !s.hasDefaults {
		return nil, nil
	}
	f := filler{s: s}
	f.visit([]*node{s.tree.root}, v)
	if f.work > maxFilling {
		return nil, errTooMuchWork
	}
	return f.out, nil
}

// maxFilling bounds the steps of filling defaults in.
const maxFilling = 1_000_000

type filler struct {
	s     *Schema
	steps []step
	out   []addition
	work  int
}

// visit looks at a value with the schemas that it must fit.
func (f *filler) visit(nodes []*node, v any) {
	nodes = certain(nodes)
	if f.work += 1 + len(nodes)*len(nodes); f.work > maxFilling {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		f.object(nodes, v)
	case []any:
		for i, item := range v {
			var parts []*node
			for _, n := range nodes {
				if part := n.item(i); part != nil {
					parts = append(parts, part)
				}
			}
			f.into(step{item: i, isItem: true}, parts, item)
		}
	}
}

func (f *filler) object(nodes []*node, object map[string]any) {
	var required []string
	for _, n := range nodes {
		required = append(required, stringsOf(n.object["required"])...)
		f.work += len(n.props) + len(object)
	}
	added := map[string]bool{}
	for _, n := range nodes {
		for _, p := range n.named["properties"] {
			if _, there := object[p.name]; there || added[p.name] || slices.Contains(required, p.name) {
				continue
			}
			if text, ok := f.s.defaultOf(p.node); ok {
				added[p.name] = true
				f.out = append(f.out, addition{slices.Clone(f.steps), p.name, text})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		var parts []*node
		for _, n := range nodes {
			parts = append(parts, n.member(name)...)
		}
		f.into(step{name: name}, parts, object[name])
	}
}

func (f *filler) into(s step, nodes []*node, v any) {
	if len(nodes) == 0 {
		return
	}
	f.steps = append(f.steps, s)
	f.visit(nodes, v)
	f.steps = f.steps[:len(f.steps)-1]
}

// certain adds the schemas that hold too wherever the given ones hold.
func certain(nodes []*node) []*node {
	var out []*node
	for _, n := range nodes {
		out = n.addCertain(out)
	}
	return out
}

func (n *node) addCertain(out []*node) []*node {
	if slices.Contains(out, n) {
		return out
	}
	out = append(out, n)
	for _, r := range n.refs {
		if r.target != nil {
			out = r.target.addCertain(out)
		}
	}
	for _, part := range n.list["allOf"] {
		out = part.addCertain(out)
	}
	return out
}

// defaultOf gives the default of a schema, or of what it refers to.
func (s *Schema) defaultOf(n *node) (text string, ok bool) {
	for _, n := range certain([]*node{n}) {
		if _, has := n.object["default"]; has && !(s.dialect <= draft07 && len(n.refs) > 0) {
			return string(s.tree.doc.TextOf(n.pointer + "/default")), true
		}
	}
	return "", false
}

// edited makes fixes or additions in the text of a value.
func edited(text []byte, fixes []fix, adds []addition) ([]byte, error) {
	if len(fixes) == 0 && len(adds) == 0 {
		return text, nil
	}
	doc, err := jsondoc.Parse(text)
	if err != nil {
		return nil, err
	}
	var edits []jsondoc.Edit
	for _, f := range fixes {
		edits = append(edits, doc.Replace(pathTo(f.steps), f.text))
	}
	for _, a := range adds {
		edits = append(edits, doc.Append(pathTo(a.steps), a.name, a.text))
	}
	return doc.Apply(edits), nil
}
