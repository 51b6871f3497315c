package schema

import (
	"encoding/json"
	"math/big"
	"strconv"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// engineCopy writes the schemas anew for the engines. The copy has only what
// counts for a verdict, in the one form that both engines read alike:
//
//   - every schema that something refers to stands once, in the definitions, and
//     every reference is "#/definitions/<n>", so that no engine resolves
//     anything by itself: each has its own ideas about identifiers, anchors and
//     unknown keywords;
//   - no identifiers, no annotations, no unknown keywords, no formats that are
//     not asserted;
//   - counts are plain integers, since gojsonschema refuses 3.0.
//
// places maps each pointer of the copy to the schema that it was made from.
func (c *compilation) engineCopy(targets []*node) (document map[string]any, places map[string]*node) {
	w := &copyWriter{dialect: c.dialect, defs: c.dialect.definitions(), places: map[string]*node{}, definitions: map[string]any{}}
	for _, t := range targets {
		w.definitions[t.definition] = w.body(t, "/"+w.defs+"/"+t.definition)
	}
	body, isObject := w.body(c.tree.root, "").(map[string]any)
	if !isObject {
		body = map[string]any{}
		if !c.tree.root.fixed {
			body["not"] = map[string]any{}
		}
	}
	if _, ok := body["$ref"]; ok && c.dialect <= draft07 {
		// Beside it the definitions would not count.
		body = map[string]any{"allOf": []any{body}}
		w.places["/allOf/0"] = c.tree.root
	}
	if len(w.definitions) > 0 {
		body[w.defs] = w.definitions
	}
	return body, w.places
}

// targets gives the schemas that something refers to, and numbers their definitions.
func (c *compilation) targets() []*node {
	var targets []*node
	for _, r := range c.tree.refs {
		if t := r.target; t != nil && t != c.tree.root && t.definition == "" {
			t.definition = strconv.Itoa(len(targets))
			targets = append(targets, t)
		}
	}
	return targets
}

type copyWriter struct {
	dialect     dialect
	defs        string
	places      map[string]*node
	definitions map[string]any
}

// schema writes n, or a reference where it has a definition.
func (w *copyWriter) schema(n *node, at string) any {
	w.places[at] = n
	if n.definition != "" {
		return w.reference(n)
	}
	return w.body(n, at)
}

func (w *copyWriter) reference(n *node) map[string]any {
	if n.parent == nil {
		return map[string]any{"$ref": "#"}
	}
	return map[string]any{"$ref": "#/" + w.defs + "/" + n.definition}
}

func (w *copyWriter) body(n *node, at string) any {
	w.places[at] = n
	if n.object == nil {
		return n.fixed
	}
	out := map[string]any{}
	if w.dialect <= draft07 && len(n.refs) > 0 {
		return w.reference(n.refs[0].target)
	}
	for name, v := range n.object {
		k, ok := w.dialect.keyword(name)
		if !ok {
			continue
		}
		switch k.shape {
		case shapeValue:
			out[name] = v
		case shapeCount:
			out[name] = count(v)
		case shapeData:
			out[name] = v
		case shapeSchema:
			if part := n.one[name]; part != nil {
				out[name] = w.schema(part, at+"/"+name)
			}
		case shapeList, shapeItems:
			w.list(n, name, at, out)
		case shapeMap, shapeDeps:
			w.names(n, name, v, at, out)
		}
	}
	w.adjust(n, at, out)
	return out
}

func (w *copyWriter) list(n *node, name, at string, out map[string]any) {
	if part := n.one[name]; part != nil {
		out[name] = w.schema(part, at+"/"+name)
		return
	}
	parts := n.list[name]
	if len(parts) == 0 {
		return
	}
	list := make([]any, len(parts))
	for i, part := range parts {
		list[i] = w.schema(part, at+"/"+name+"/"+strconv.Itoa(i))
	}
	out[name] = list
}

func (w *copyWriter) names(n *node, name string, v any, at string, out map[string]any) {
	named := map[string]any{}
	object, _ := v.(map[string]any)
	for key, value := range object {
		if list, ok := value.([]any); ok { // of "dependencies"
			named[key] = list
		}
	}
	for _, p := range n.named[name] {
		named[p.name] = w.schema(p.node, at+"/"+name+"/"+jsondoc.Escape(p.name))
	}
	out[name] = named
}

// adjust writes differently what the engines read in different ways.
func (w *copyWriter) adjust(n *node, at string, out map[string]any) {
	// gojsonschema knows neither an empty list of values, which nothing fits, …
	if values, ok := out["enum"].([]any); ok {
		if len(values) == 0 {
			delete(out, "enum")
			w.also(out, map[string]any{"not": map[string]any{}})
		} else if w.dialect <= draft07 {
			out["enum"] = distinct(values)
		}
	}
	// … nor an empty list of items, which leaves all of them to additionalItems.
	if list, ok := n.list["items"]; ok && len(list) == 0 {
		delete(out, "additionalItems")
		if rest := n.one["additionalItems"]; rest != nil {
			out["items"] = w.schema(rest, at+"/items")
		}
	}
	if _, ok := out["items"].([]any); !ok {
		delete(out, "additionalItems") // means nothing without a list
	}
	for i, r := range n.refs {
		if i == 0 {
			out["$ref"] = w.reference(r.target)["$ref"]
			continue
		}
		w.also(out, w.reference(r.target)) // one resource: a dynamic reference is a plain one
	}
	if name, _ := out["format"].(string); !isAsserted(name) && !isPathFormat(name) {
		delete(out, "format")
	}
}

// also adds a schema that must hold too.
func (w *copyWriter) also(out map[string]any, s map[string]any) {
	list, _ := out["allOf"].([]any)
	out["allOf"] = append(list, s)
}

// distinct leaves out values that equal an earlier one: gojsonschema refuses them.
func distinct(values []any) []any {
	seen := map[string]bool{}
	var out []any
	for _, v := range values {
		key := string(equalText(v))
		if !seen[key] {
			seen[key] = true
			out = append(out, v)
		}
	}
	return out
}

// equalText gives a text that is the same for equal values, numbers as float64.
func equalText(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var plain any
	if json.Unmarshal(b, &plain) != nil {
		return b
	}
	if b, err = json.Marshal(plain); err != nil {
		return nil
	}
	return b
}

// maxCount stands for all larger counts, which no value reaches.
const maxCount = 1<<31 - 1

func count(v any) any {
	n, ok := v.(json.Number)
	if !ok {
		return v
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok || !r.IsInt() {
		return v
	}
	if r.Cmp(big.NewRat(maxCount, 1)) > 0 {
		return json.Number(strconv.Itoa(maxCount))
	}
	return json.Number(r.Num().String())
}
