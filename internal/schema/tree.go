package schema

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// node is one schema in a document: the whole, or a part of it.
type node struct {
	pointer string
	parent  *node
	keyword string         // of the parent, behind which this schema stands
	object  map[string]any // nil for a schema that is true or false
	fixed   bool           // what a schema without object says

	one   map[string]*node   // schemas behind keywords that have one
	list  map[string][]*node // behind keywords that have a list
	named map[string][]named // behind keywords that have names, as they stand in the text

	refs     []*reference
	props    map[string]*node // the named schemas of "properties"
	patterns []patternNode
	pattern  *pattern
	types    typeSet // that its own "type", "enum" and "const" allow

	leadsToMark bool   // a format that marks paths is here or where this leads
	valueCost   int    // values that it compares with
	definition  string // name of its definition in the engines' copy; "" where nothing refers to it
	cost        int    // schemas that a value meets here without a step into it
}

type named struct {
	name string
	node *node
}

type patternNode struct {
	pattern *pattern
	node    *node
}

// reference is a $ref, or one of its dynamic kin.
type reference struct {
	from    *node
	keyword string
	text    string
	target  *node // nil until it is resolved
}

func (r *reference) pointer() string { return r.from.pointer + "/" + r.keyword }

// tree holds the schemas of one document.
type tree struct {
	doc     *jsondoc.Document
	dialect dialect
	root    *node
	nodes   map[string]*node // by pointer
	order   []*node
	refs    []*reference
	anchors map[string]*node
	twice   []*node // whose anchor another schema has too
	idNodes []*node // below the root, that have an identifier
}

// newTree finds the schemas of a document. It does not follow references.
func newTree(doc *jsondoc.Document, d dialect) *tree {
	t := &tree{doc: doc, dialect: d, nodes: map[string]*node{}, anchors: map[string]*node{}}
	t.root = t.add("", doc.Value, nil, "")
	return t
}

// add puts the schema v at a pointer into the tree, and those inside it. It
// gives nil where v can be no schema, and stops beyond the limit.
func (t *tree) add(pointer string, v any, parent *node, keyword string) *node {
	if n := t.nodes[pointer]; n != nil {
		return n
	}
	n := &node{pointer: pointer, parent: parent, keyword: keyword, types: anyType}
	switch v := v.(type) {
	case bool:
		n.fixed = v
	case map[string]any:
		n.object = v
	default:
		return nil
	}
	t.nodes[pointer] = n
	t.order = append(t.order, n)
	if n.object != nil && len(t.order) <= maxSubschemas {
		t.addParts(n)
	}
	return n
}

func (t *tree) addParts(n *node) {
	// Beside a $ref the older dialects see nothing else.
	alone := false
	if _, ok := n.object["$ref"].(string); ok && t.dialect <= draft07 {
		alone = true
	}
	t.addNames(n, alone)
	for _, name := range t.doc.Keys(n.pointer) {
		k, ok := t.dialect.keyword(name)
		if !ok || alone && k.shape != shapeRef && k.shape != shapeDefs {
			continue
		}
		t.addPart(n, name, k.shape, n.object[name])
	}
	if !alone {
		n.types = t.typesOf(n)
	}
	if list := n.named["properties"]; len(list) > 0 {
		n.props = make(map[string]*node, len(list))
		for _, p := range list {
			n.props[p.name] = p.node
		}
	}
}

func (t *tree) typesOf(n *node) typeSet {
	types := anyType
	if v, ok := n.object["type"]; ok {
		types = typesOf(v)
	}
	if values, ok := n.object["enum"].([]any); ok {
		types &= typesOfValues(values)
	}
	if v, ok := n.object["const"]; ok && t.dialect >= draft06 {
		types &= typesOfValues([]any{v})
	}
	return types
}

func (t *tree) addPart(n *node, name string, s shape, v any) {
	at := n.pointer + "/" + name
	switch v := v.(type) {
	case string:
		if s == shapeRef {
			r := &reference{from: n, keyword: name, text: v}
			n.refs = append(n.refs, r)
			t.refs = append(t.refs, r)
		}
	case []any:
		if s == shapeList || s == shapeItems {
			set(&n.list, name, []*node{}) // an empty list counts as one
			for i, item := range v {
				if part := t.add(at+"/"+strconv.Itoa(i), item, n, name); part != nil {
					n.list[name] = append(n.list[name], part)
				}
			}
		}
	case map[string]any:
		switch s {
		case shapeSchema, shapeItems:
			set(&n.one, name, t.add(at, v, n, name))
		case shapeMap, shapeDeps, shapeDefs:
			for _, key := range t.doc.Keys(at) {
				if part := t.add(at+"/"+jsondoc.Escape(key), v[key], n, name); part != nil {
					set(&n.named, name, append(n.named[name], named{key, part}))
				}
			}
		}
	case bool:
		if s == shapeSchema || s == shapeItems {
			set(&n.one, name, t.add(at, v, n, name))
		}
	}
}

// set puts a value into a map, of which most schemas need none.
func set[V any](m *map[string]V, name string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[name] = v
}

// addNames notes the anchors and the identifier of a schema.
func (t *tree) addNames(n *node, alone bool) {
	anchor := func(name string) {
		if old := t.anchors[name]; old != nil && old != n {
			t.twice = append(t.twice, n)
			return
		}
		t.anchors[name] = n
	}
	if t.dialect >= draft2019 {
		for _, k := range []string{"$anchor", "$dynamicAnchor"} {
			if name, ok := n.object[k].(string); ok && (k == "$anchor" || t.dialect == draft2020) {
				anchor(name)
			}
		}
	}
	id, ok := n.object[t.dialect.idKeyword()].(string)
	if !ok || alone {
		return
	}
	if name, isAnchor := strings.CutPrefix(id, "#"); isAnchor && t.dialect <= draft07 && name != "" {
		anchor(name)
	} else if n.parent != nil {
		t.idNodes = append(t.idNodes, n)
	}
}

// at gives the schema at a pointer, which may stand where no keyword is known.
// It gives nil where there is no schema.
func (t *tree) at(pointer string) *node {
	if n := t.nodes[pointer]; n != nil {
		return n
	}
	v := t.doc.Value
	around := t.root // the innermost known schema on the way
	path, data := "", false
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		name := jsondoc.Unescape(token)
		if n := t.nodes[path]; n != nil {
			k, ok := t.dialect.keyword(name)
			around, data = n, ok && k.shape == shapeData || name == "default" || name == "examples"
		}
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[name]
			if !ok {
				return nil
			}
			v = next
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) || strconv.Itoa(i) != name {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
		path += "/" + token
	}
	if data {
		return nil
	}
	return t.add(path, v, around, "")
}

// target gives the schema that a fragment ("" or what follows "#") means, or nil.
func (t *tree) target(fragment string) *node {
	name, err := url.PathUnescape(fragment)
	switch {
	case err != nil:
		return nil
	case name == "":
		return t.root
	case name[0] == '/':
		return t.at(canonical(name))
	}
	return t.anchors[name]
}

// canonical writes the tokens of a pointer in the one way that Escape does.
func canonical(pointer string) string {
	tokens := strings.Split(pointer, "/")
	for i, token := range tokens {
		tokens[i] = jsondoc.Escape(jsondoc.Unescape(token))
	}
	return strings.Join(tokens, "/")
}

// alone says whether a schema is a $ref beside which nothing counts.
func (t *tree) alone(n *node) bool { return t.dialect <= draft07 && len(n.refs) > 0 }

// inPlace gives the schemas that look at the same value as n does.
func (n *node) inPlace() []*node {
	var out []*node
	for _, r := range n.refs {
		if r.target != nil {
			out = append(out, r.target)
		}
	}
	for _, k := range []string{"allOf", "anyOf", "oneOf"} {
		out = append(out, n.list[k]...)
	}
	for _, k := range []string{"not", "if", "then", "else"} {
		if n.one[k] != nil {
			out = append(out, n.one[k])
		}
	}
	for _, k := range []string{"dependencies", "dependentSchemas"} {
		for _, p := range n.named[k] {
			out = append(out, p.node)
		}
	}
	return out
}

// member gives the schemas of n that look at the member name of an object.
func (n *node) member(name string) []*node {
	var out []*node
	if p := n.props[name]; p != nil {
		out = append(out, p)
	}
	for _, p := range n.patterns {
		if p.pattern.MatchString(name) {
			out = append(out, p.node)
		}
	}
	if len(out) == 0 && n.one["additionalProperties"] != nil {
		out = append(out, n.one["additionalProperties"])
	}
	return out
}

// item gives the schema of n for the item i of a list by its place, or nil.
func (n *node) item(i int) *node {
	places, rest := n.list["prefixItems"], n.one["items"]
	if list, ok := n.list["items"]; ok {
		places, rest = list, n.one["additionalItems"]
	}
	if i < len(places) {
		return places[i]
	}
	return rest
}

// stringsOf gives the texts of a list.
func stringsOf(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return slices.Clip(out)
}
