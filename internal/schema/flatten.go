package schema

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// isAlternative says which keywords clients and model providers do not take at the root.
func isAlternative(name string) bool {
	return slices.Contains([]string{"anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const", "$ref", "$dynamicRef", "$recursiveRef"}, name)
}

// maxFlattened is how many schemas are looked at to flatten a root.
const maxFlattened = 1000

// flattened is a root without alternatives: with every argument that one of them has, of
// which those are required that each of them requires.
type flattened struct {
	w        *portableWriter
	names    []string
	props    map[string][]*node
	required []string
	visited  int
}

// flatten gives nil where there is nothing to flatten.
func (w *portableWriter) flatten(root *node) *flattened {
	found := len(root.refs) > 0
	for name := range root.object {
		if k, known := w.tree.dialect.keyword(name); known && k.shape != shapeNote && isAlternative(name) {
			found = true
		}
	}
	if !found {
		return nil
	}
	f := &flattened{w: w, props: map[string][]*node{}}
	f.required = f.gather(root, nil)
	return f
}

// gather takes in the arguments of n, and gives those that it requires. around are the
// schemas in which n stands, so that one that leads to itself is left alone.
func (f *flattened) gather(n *node, around []*node) (required []string) {
	if f.visited++; n == nil || n.object == nil || slices.Contains(around, n) || f.visited > maxFlattened {
		return nil
	}
	around = append(slices.Clip(around), n)
	if !f.w.tree.alone(n) {
		required = stringsOf(n.object["required"])
		for _, p := range n.named["properties"] {
			f.take(p.name, p.node)
		}
	}
	add := func(names []string) {
		for _, name := range names {
			if !slices.Contains(required, name) {
				required = append(required, name)
			}
		}
	}
	for _, r := range n.refs {
		add(f.gather(r.target, around))
	}
	for _, part := range n.list["allOf"] {
		add(f.gather(part, around))
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		var common []string
		for i, part := range n.list[keyword] {
			names := f.gather(part, around)
			if i == 0 {
				common = names
			}
			common = slices.DeleteFunc(slices.Clone(common), func(name string) bool { return !slices.Contains(names, name) })
		}
		add(common)
	}
	// What "if" says of an argument is no rule for it.
	for _, keyword := range []string{"then", "else"} {
		f.gather(n.one[keyword], around)
	}
	return required
}

// take notes a schema of an argument. The root's own come first, and hold beside any other.
func (f *flattened) take(name string, n *node) {
	have, known := f.props[name]
	if !known {
		f.names = append(f.names, name)
	}
	text := f.w.tree.doc.TextOf(n.pointer)
	for _, other := range have {
		if other.parent == f.w.tree.root || bytes.Equal(text, f.w.tree.doc.TextOf(other.pointer)) {
			return
		}
	}
	f.props[name] = append(have, n)
}

// write writes what the flattened root has.
func (f *flattened) write(o *objectWriter) {
	w := f.w
	description, _ := w.tree.root.object["description"].(string)
	o.member("description", jsondoc.Quote(strings.TrimSpace(description+" "+f.note())))
	o.key("properties")
	props := w.object()
	for _, name := range f.names {
		props.key(name)
		switch list := f.props[name]; {
		case len(list) == 1:
			w.schema(list[0], "properties", nil)
		case len(list) > maxAlternatives:
			w.out.WriteString("{}")
		default:
			alternatives := w.object()
			alternatives.key("anyOf")
			w.out.WriteByte('[')
			for i, n := range list {
				if i > 0 {
					w.out.WriteByte(',')
				}
				w.schema(n, "anyOf", nil)
			}
			w.out.WriteByte(']')
			alternatives.end()
		}
	}
	props.end()
	if len(f.required) > 0 {
		o.member("required", string(jsondoc.Marshal(f.required)))
	}
}

// maxNamed is up to how many alternatives are told in words.
const maxNamed = 10

// note says in words what the flattened root does not.
func (f *flattened) note() string {
	root := f.w.tree.root
	rest := len(root.refs) > 0
	var parts []string
	for name := range root.object {
		rest = rest || isAlternative(name) && name != "anyOf" && name != "oneOf"
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		list := root.list[keyword]
		if len(list) == 0 {
			continue
		}
		var choices []string
		whole := true // the choices are all that the alternatives say
		for _, n := range list {
			required := stringsOf(n.object["required"])
			for i, name := range required {
				required[i] = fmt.Sprintf("%q", clip(name, maxEcho))
			}
			whole = whole && len(required) > 0 && len(n.object) == 1
			choices = append(choices, strings.Join(required, " with "))
		}
		if !whole || len(choices) > maxNamed {
			rest = true
			continue
		}
		how := "at least one"
		if keyword == "oneOf" {
			how = "exactly one"
		}
		parts = append(parts, fmt.Sprintf("Give %s of: %s.", how, strings.Join(choices, "; ")))
	}
	if rest {
		parts = append(parts, "More rules hold for these arguments than stand here; a call that breaks one is told which.")
	}
	return strings.Join(parts, " ")
}
