package schema

import (
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// propertyName is for a member whose name does not fit.
func (x *explainer) propertyName(n *node, name string, causes []*jsonschema.ValidationError) []group {
	if n == nil {
		return nil // of a meta-schema: such names are patterns, which are checked on their own
	}
	why := "its name is not allowed"
	inner := explainer{value: name, places: x.places, findings: x.findings, compared: x.compared}
	for _, cause := range causes {
		if g := inner.groups(cause); len(g) > 0 {
			why = "its name is not allowed: " + g[0].issues[0].Message
			break
		}
	}
	var out []group
	for _, at := range x.objectsAt(n, name) {
		out = append(out, group{rankRest, []Issue{{at + "/" + jsondoc.Escape(name), "propertyNames", "another name", literal(name), why}}})
	}
	return out
}

// objectsAt finds the objects that a schema looks at and that have a member of
// the name. The engine's own location of a wrong name is a slice that it goes on
// writing to.
func (x *explainer) objectsAt(target *node, name string) []string {
	type visited struct {
		n       *node
		pointer string
	}
	seen := map[visited]bool{}
	var found []string
	var visit func(n *node, pointer string, v any)
	visit = func(n *node, pointer string, v any) {
		if seen[visited{n, pointer}] || len(seen) > maxExplained {
			return
		}
		seen[visited{n, pointer}] = true
		for _, part := range n.inPlace() {
			visit(part, pointer, v)
		}
		switch v := v.(type) {
		case []any:
			for i, item := range v {
				for _, part := range []*node{n.item(i), n.one["contains"], n.one["unevaluatedItems"]} {
					if part != nil {
						visit(part, pointer+"/"+strconv.Itoa(i), item)
					}
				}
			}
		case map[string]any:
			if _, has := v[name]; n == target && has {
				found = append(found, pointer)
			}
			for key, item := range v {
				parts := n.member(key)
				if part := n.one["unevaluatedProperties"]; part != nil {
					parts = append(parts, part)
				}
				for _, part := range parts {
					visit(part, pointer+"/"+jsondoc.Escape(key), item)
				}
			}
		}
	}
	if root := x.places[""]; root != nil {
		visit(root, "", x.value)
	}
	return found
}
