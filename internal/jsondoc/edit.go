package jsondoc

import (
	"bytes"
	"cmp"
	"slices"
)

// Edit is a change of a document's text. Edits leave everything else as it
// stands: order, spelling of numbers, white space.
type Edit struct {
	from, to int
	text     string
}

// Replace gives the edit that puts text in place of the value at a JSON pointer.
// There must be such a value.
func (d *Document) Replace(pointer, text string) Edit {
	e, _ := d.find(pointer)
	return Edit{e.start, e.end, text}
}

// Append gives the edit that adds a member at the end of the object at a JSON
// pointer, which must be an object. Members that are appended to one object
// come in the order of their edits.
func (d *Document) Append(pointer, name, text string) Edit {
	e, _ := d.find(pointer)
	at := e.end - 1
	for at > e.start+1 && bytes.IndexByte([]byte(" \t\r\n"), d.src[at-1]) >= 0 {
		at--
	}
	return Edit{at, at, "," + Quote(name) + ":" + text}
}

// Remove gives the edits that take members away from the object at a JSON
// pointer, all of a name. Names that it does not have, and places that are no object, need none.
func (d *Document) Remove(pointer string, names ...string) []Edit {
	object, found := d.find(pointer)
	if !found {
		return nil
	}
	var edits []Edit
	kept := false
	for i, m := range object.items {
		switch {
		case m.key < 0 || !slices.Contains(names, m.name):
			kept = true
		case kept:
			edits = append(edits, Edit{object.items[i-1].end, m.end, ""})
		case i+1 < len(object.items):
			edits = append(edits, Edit{m.key, object.items[i+1].key, ""})
		default:
			edits = append(edits, Edit{m.key, m.end, ""})
		}
	}
	return edits
}

// Apply gives the text with the edits made. They must not overlap.
func (d *Document) Apply(edits []Edit) []byte {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.from, b.from) })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(d.src[at:e.from])
		text := e.text
		if e.from == e.to && len(text) > 0 && text[0] == ',' && endsWith(out.Bytes(), '{') {
			text = text[1:] // the first member of an object that had none
		}
		out.WriteString(text)
		at = e.to
	}
	out.Write(d.src[at:])
	return out.Bytes()
}

func endsWith(b []byte, c byte) bool { return len(b) > 0 && b[len(b)-1] == c }
