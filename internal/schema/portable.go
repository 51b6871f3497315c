package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

const (
	// maxInlined bounds what writing schemas out in the place of references may make of a
	// schema: this many bytes, or twice its own size where that is more.
	maxInlined = 64 << 10
	// maxInlinedDepth is how deep schemas then may stand in each other.
	maxInlinedDepth = 64
	// maxAlternatives is how many schemas of one argument are listed where the root's
	// alternatives have different ones.
	maxAlternatives = 16
)

// Portable gives the schema as clients can digest it: the published schema itself, or,
// where that has what clients are known to stumble over, one that says the same in their
// words. Values are checked by the schema itself; this one may accept more, and where the
// root has alternatives says of an argument what the alternatives that name it do.
//
//   - The root is type object and has properties. What stands at the root beside them (anyOf,
//     oneOf, allOf, not, if, enum, const, $ref) is flattened into the properties: model
//     providers refuse every request of a client that has a tool with one of these.
//   - A schema that is true or false, for which clients drop all tools of a server, is an
//     object. As additionalProperties and its kin it stays.
//   - The schema that a $ref leads to stands in its place, except where it leads to itself
//     or the whole would grow too large.
//   - An older draft's $schema is left out where nothing depends on it.
func (s *Schema) Portable() json.RawMessage {
	if s.tree.root.object == nil || s.tree.isPortable() {
		return s.Public()
	}
	return s.rewritten()
}

// isPortable reports whether nothing is to be done: it costs a fraction of rewritten, and holds
// for most schemas.
func (t *tree) isPortable() bool {
	root := t.root.object
	if kind, ok := root["type"].(string); !ok || kind != "object" || root["properties"] == nil || t.dialect == draft04 || len(t.refs) > 0 {
		return false
	}
	for name := range root {
		if isAlternative(name) {
			return false
		}
	}
	return !slices.ContainsFunc(t.order, func(n *node) bool { return n.object == nil && !keepsBoolean(n.keyword) })
}

// rewritten is Portable for a schema in which something may have to change.
func (s *Schema) rewritten() json.RawMessage {
	w := &portableWriter{tree: s.tree, limit: max(maxInlined, 2*len(s.public)), inline: true}
	w.out.Grow(len(s.public) + 64)
	if len(s.tree.refs) > 0 {
		w.findCycles()
	}
	w.root()
	if w.over {
		w = &portableWriter{tree: s.tree, limit: len(s.public) * 4, cyclic: w.cyclic}
		w.root()
	}
	if w.over {
		return s.Public()
	}
	// The published text of the later drafts has no $schema that could go.
	if d := s.tree.dialect; d <= draft07 && (w.changed || d == draft04) {
		doc, err := jsondoc.Parse(w.out.Bytes())
		if err == nil && newTree(doc, d).sameAs2020() {
			return doc.Apply(doc.Remove("", "$schema"))
		}
	}
	if !w.changed {
		return s.Public()
	}
	return w.out.Bytes()
}

type portableWriter struct {
	tree    *tree
	out     bytes.Buffer
	changed bool // something is not as it was
	limit   int
	over    bool // it is larger or deeper than it may be
	depth   int

	inline      bool           // references are written out
	cyclic      map[*node]bool // targets that lead to themselves
	definitions []*node        // that the text refers to
	names       map[*node]string
}

// findCycles finds the targets of references without which no reference leads to itself.
func (w *portableWriter) findCycles() {
	w.cyclic = map[*node]bool{}
	parts := map[*node][]*node{}
	for _, n := range w.tree.order {
		if n.parent != nil {
			parts[n.parent] = append(parts[n.parent], n)
		}
	}
	const (
		under = 1
		seen  = 2
	)
	state := map[*node]int{}
	var visit func(n *node)
	visit = func(n *node) {
		state[n] = under
		for _, part := range parts[n] {
			if state[part] == 0 {
				visit(part)
			}
		}
		for _, r := range n.refs {
			switch {
			case r.target == nil:
			case state[r.target] == under:
				w.cyclic[r.target] = true
			case state[r.target] == 0:
				visit(r.target)
			}
		}
		state[n] = seen
	}
	visit(w.tree.root)
	for _, n := range w.tree.order {
		if state[n] == 0 {
			visit(n)
		}
	}
}

// member is a member of an object: its name and its value's text.
type member struct{ name, text string }

// objectWriter writes the members of one object.
type objectWriter struct {
	w     *portableWriter
	begun bool
}

func (w *portableWriter) object() *objectWriter {
	w.out.WriteByte('{')
	return &objectWriter{w: w}
}

func (o *objectWriter) key(name string) {
	if o.begun {
		o.w.out.WriteByte(',')
	}
	o.begun = true
	o.w.out.WriteString(jsondoc.Quote(name))
	o.w.out.WriteByte(':')
}

func (o *objectWriter) member(name, text string) {
	o.key(name)
	o.w.out.WriteString(text)
}

func (o *objectWriter) end() { o.w.out.WriteByte('}') }

// text gives the text of a value, without white space around and in it.
func (w *portableWriter) text(pointer string) string {
	return string(compactText(w.tree.doc.TextOf(pointer)))
}

func compactText(text []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return text
	}
	return b.Bytes()
}

// isNote says whether a member only tells about a schema, so that one beside a reference
// may stand in the place of the target's.
func isNote(name string) bool {
	k, known := keywords[name]
	return known && k.shape == shapeNote && !strings.HasPrefix(name, "$") && name != "id" || name == "$comment"
}

// keepsBoolean says whether clients take true and false behind a keyword.
func keepsBoolean(keyword string) bool {
	return slices.Contains([]string{"additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems"}, keyword)
}

// schema writes n, with the notes of the reference that leads to it.
func (w *portableWriter) schema(n *node, keyword string, notes []member) {
	if w.depth++; w.depth > maxInlinedDepth || w.out.Len() > w.limit {
		w.over = true
	}
	defer func() { w.depth-- }()
	switch {
	case w.over:
	case n.object == nil && keepsBoolean(keyword):
		fmt.Fprint(&w.out, n.fixed)
	case n.object == nil:
		w.changed = true
		o := w.object()
		for _, m := range notes {
			o.member(m.name, m.text)
		}
		if !n.fixed {
			o.member("not", "{}")
		}
		o.end()
	case len(n.refs) > 0:
		w.reference(n, notes)
	default:
		o := w.object()
		w.members(o, n, notes, nil)
		o.end()
	}
}

// follows says whether the target of a reference is written in its place.
func (w *portableWriter) follows(r *reference) bool {
	return w.inline && r.target != w.tree.root && !w.cyclic[r.target]
}

// reference writes a schema that has references.
func (w *portableWriter) reference(n *node, notes []member) {
	notes = w.withNotes(n, notes)
	if len(n.refs) == 1 && !w.saysMore(n) {
		r := n.refs[0]
		if w.follows(r) {
			w.changed = true
			w.schema(r.target, n.keyword, notes)
			return
		}
		o := w.object()
		o.member("$ref", jsondoc.Quote(w.nameOf(r)))
		for _, m := range notes {
			o.member(m.name, m.text)
		}
		o.end()
		return
	}
	o := w.object()
	w.members(o, n, notes, n.refs)
	o.end()
}

// withNotes gives the notes of n, and those that stand in their places.
func (w *portableWriter) withNotes(n *node, over []member) []member {
	var all []member
	for _, name := range w.tree.doc.Keys(n.pointer) {
		if isNote(name) && !slices.ContainsFunc(over, func(m member) bool { return m.name == name }) {
			all = append(all, member{name, w.text(n.pointer + "/" + name)})
		}
	}
	return append(all, over...)
}

// saysMore says whether beside a reference something else counts.
func (w *portableWriter) saysMore(n *node) bool {
	if w.tree.alone(n) {
		return false
	}
	for _, name := range w.tree.doc.Keys(n.pointer) {
		k, known := w.tree.dialect.keyword(name)
		if !isNote(name) && (!known || k.shape != shapeRef && k.shape != shapeDefs && k.shape != shapeNote) {
			return true
		}
	}
	return false
}

// nameOf gives the reference to a target as it is to be written.
func (w *portableWriter) nameOf(r *reference) string {
	if r.target == w.tree.root {
		return "#"
	}
	if w.names == nil {
		w.names = map[*node]string{}
	}
	name, known := w.names[r.target]
	if !known {
		name = r.target.pointer[strings.LastIndexByte(r.target.pointer, '/')+1:]
		name = strings.Map(func(c rune) rune {
			if c < 0x80 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-.", c)) {
				return c
			}
			return '_'
		}, name)
		taken := func(s string) bool {
			return slices.ContainsFunc(w.definitions, func(n *node) bool { return w.names[n] == s })
		}
		plain := name
		for i := 2; taken(name); i++ {
			name = fmt.Sprint(plain, "_", i)
		}
		w.names[r.target] = name
		w.definitions = append(w.definitions, r.target)
	}
	where := "#/" + w.definitionsKeyword() + "/" + name
	if where != r.text || r.keyword != "$ref" {
		w.changed = true
	}
	return where
}

// definitionsKeyword gives the keyword below which definitions are written: that of the
// dialect, except where all that the schema itself has stand below the older one, which
// every dialect knows.
func (w *portableWriter) definitionsKeyword() string {
	root := w.tree.root.object
	if root["definitions"] != nil && root["$defs"] == nil {
		return "definitions"
	}
	return w.tree.dialect.definitions()
}

// members writes the members of n. must are references that hold too.
func (w *portableWriter) members(o *objectWriter, n *node, notes []member, must []*reference) {
	also := func() {
		for i, r := range must {
			if i > 0 {
				w.out.WriteByte(',')
			}
			if w.follows(r) {
				w.changed = true
				w.schema(r.target, "allOf", nil)
			} else {
				w.out.WriteString(`{"$ref":` + jsondoc.Quote(w.nameOf(r)) + `}`)
			}
		}
	}
	for _, name := range w.tree.doc.Keys(n.pointer) {
		if i := slices.IndexFunc(notes, func(m member) bool { return m.name == name }); i >= 0 {
			o.member(name, notes[i].text)
			notes = slices.Delete(slices.Clone(notes), i, i+1)
			continue
		}
		if w.leavesOut(n, name) {
			continue
		}
		o.key(name)
		if list := n.list[name]; name == "allOf" && len(must) > 0 && list != nil {
			w.out.WriteByte('[')
			for _, part := range list {
				w.schema(part, name, nil)
				w.out.WriteByte(',')
			}
			also()
			w.out.WriteByte(']')
			must = nil
			continue
		}
		w.value(n, name)
	}
	for _, m := range notes {
		o.member(m.name, m.text)
	}
	if len(must) > 0 {
		w.changed = true // also where a reference stays, since it moves
		o.key("allOf")
		w.out.WriteByte('[')
		also()
		w.out.WriteByte(']')
	}
}

// leavesOut says which members are not written with their schema.
func (w *portableWriter) leavesOut(n *node, name string) bool {
	k, known := w.tree.dialect.keyword(name)
	switch {
	case !known:
		return false
	case k.shape == shapeRef, k.shape == shapeDefs:
		return true // written elsewhere
	case name == "$anchor" || name == "$dynamicAnchor" || name == "$recursiveAnchor":
		return true // no reference uses one any more
	case name == w.tree.dialect.idKeyword() && n.parent != nil:
		return true // written twice it would be wrong
	}
	return false
}

// value writes what stands behind a member's name.
func (w *portableWriter) value(n *node, name string) {
	at := n.pointer + "/" + jsondoc.Escape(name)
	switch {
	case n.one[name] != nil:
		w.schema(n.one[name], name, nil)
	case len(n.list[name]) > 0:
		w.out.WriteByte('[')
		for i, part := range n.list[name] {
			if i > 0 {
				w.out.WriteByte(',')
			}
			w.schema(part, name, nil)
		}
		w.out.WriteByte(']')
	case len(n.named[name]) > 0:
		parts := map[string]*node{}
		for _, p := range n.named[name] {
			parts[p.name] = p.node
		}
		o := w.object()
		for _, key := range w.tree.doc.Keys(at) {
			o.key(key)
			if part := parts[key]; part != nil {
				w.schema(part, name, nil)
			} else { // of "dependencies"
				w.out.WriteString(w.text(at + "/" + jsondoc.Escape(key)))
			}
		}
		o.end()
	default:
		w.out.WriteString(w.text(at))
	}
}

// root writes the whole.
func (w *portableWriter) root() {
	root := w.tree.root
	o := w.object()
	f := w.flatten(root)
	names := w.tree.doc.Keys("")
	// What the draft ignores beside a $ref must not come to life.
	alone := w.tree.alone(root)
	for _, name := range names {
		switch {
		case alone && !isNote(name) && name != "$schema", w.leavesOut(root, name):
		case f != nil && isAlternative(name):
		case name == "type":
			if w.text("/type") != `"object"` {
				w.changed = true
			}
			o.member("type", `"object"`)
		case f != nil && slices.Contains([]string{"properties", "required", "description", "unevaluatedProperties"}, name):
		default:
			o.key(name)
			w.value(root, name)
		}
	}
	if !slices.Contains(names, "type") || alone {
		w.changed = true
		o.member("type", `"object"`)
	}
	if f != nil {
		w.changed = true
		f.write(o)
	} else if !slices.Contains(names, "properties") {
		w.changed = true
		o.member("properties", "{}")
	}
	w.writeDefinitions(o)
	o.end()
}

func (w *portableWriter) writeDefinitions(o *objectWriter) {
	if len(w.definitions) == 0 {
		return
	}
	o.key(w.definitionsKeyword())
	d := w.object()
	for i := 0; i < len(w.definitions) && !w.over; i++ { // they may lead to further ones
		d.key(w.names[w.definitions[i]])
		w.schema(w.definitions[i], "$defs", nil)
	}
	d.end()
}
