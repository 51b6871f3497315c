package schema

import (
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// allowed gives the types that a schema lets through: never too few, since what
// it says decides whether a text may be read as something else.
func (n *node) allowed() typeSet {
	w := typeWalk{done: map[typeKey]typeSet{}}
	return w.at(n, 0)
}

// step leads into a value: to a member of an object or to an item of a list.
type step struct {
	name   string
	item   int
	isItem bool
}

func (s step) token() string {
	if s.isItem {
		return strconv.Itoa(s.item)
	}
	return jsondoc.Escape(s.name)
}

func pathTo(steps []step) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteByte('/')
		b.WriteString(s.token())
	}
	return b.String()
}

type typeKey struct {
	n     *node
	depth int
}

// typeWalk finds the types that a schema allows for the part of a value that the
// steps lead to.
type typeWalk struct {
	steps []step
	done  map[typeKey]typeSet
}

func (w *typeWalk) at(n *node, depth int) typeSet {
	key := typeKey{n, depth}
	if t, ok := w.done[key]; ok {
		return t
	}
	w.done[key] = anyType // for schemas that lead back here; the preflight leaves none
	t := w.own(n, depth)
	for _, r := range n.refs {
		if r.target != nil {
			t &= w.at(r.target, depth)
		}
	}
	for _, part := range n.list["allOf"] {
		t &= w.at(part, depth)
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if parts := n.list[k]; len(parts) > 0 {
			var either typeSet
			for _, part := range parts {
				either |= w.at(part, depth)
			}
			t &= either
		}
	}
	w.done[key] = t
	return t
}

// own looks at n alone, without the schemas in its place.
func (w *typeWalk) own(n *node, depth int) typeSet {
	if n.object == nil {
		if n.fixed {
			return anyType
		}
		return 0
	}
	if depth == len(w.steps) {
		return n.types
	}
	t, next := anyType, w.steps[depth]
	if next.isItem && n.types&typeArray == 0 || !next.isItem && n.types&typeObject == 0 {
		return 0 // nothing of a list or an object passes here
	}
	if next.isItem {
		if part := n.item(next.item); part != nil {
			t = w.at(part, depth+1)
		}
		return t
	}
	for _, part := range n.member(next.name) {
		t &= w.at(part, depth+1)
	}
	return t
}

func typesOfValues(values []any) typeSet {
	var t typeSet
	for _, v := range values {
		t |= typeOf(v)
	}
	if t&typeNumber != 0 {
		t |= typeInteger
	}
	return t
}
