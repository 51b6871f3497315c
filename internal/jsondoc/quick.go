package jsondoc

import (
	"encoding/json"
	"iter"
	"strconv"
	"strings"
)

// quick reads a text of which it is known that it is one JSON value and UTF-8. That takes a
// fraction of what the decoder of encoding/json does, whose mistakes have places instead: a text
// that is not good is read by that one, to say why.
type quick struct {
	doc  *Document // nil where neither places nor duplicates matter
	src  string
	at   int
	path []string // tokens down to the value that is being read
	free []entry  // made together, since there are many
	deep bool     // it is nested too deeply, and was not read to its end
}

// entry makes an entry.
func (q *quick) entry(key int, name string) *entry {
	if len(q.free) == 0 {
		q.free = make([]entry, 16)
	}
	e := &q.free[0]
	e.key, e.name, q.free = key, name, q.free[1:]
	return e
}

// space passes over white space.
func (q *quick) space() {
	for q.at < len(q.src) {
		switch q.src[q.at] {
		case ' ', '\t', '\r', '\n':
			q.at++
		default:
			return
		}
	}
}

// Value reads a text that is known to be one JSON value in UTF-8; numbers are [json.Number].
// Of members of one name the last one counts. It gives false where the value is nested deeper
// than [MaxDepth].
func Value(text []byte) (any, bool) {
	q := quick{src: string(text)}
	v := q.value(nil, 0)
	return v, !q.deep
}

// Members gives the members of an object in order, each value as its text, which is a part of
// text. text must be known to be one JSON object in UTF-8.
func Members(text []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		q := quick{src: string(text)}
		q.space()
		for q.at++; ; q.at++ { // past the brace, or a comma
			if q.space(); q.src[q.at] == '}' {
				return
			}
			name := q.text()
			q.space()
			q.at++ // the colon
			q.space()
			from := q.at
			q.skip()
			if !yield(name, text[from:q.at:q.at]) {
				return
			}
			if q.space(); q.src[q.at] == '}' {
				return
			}
		}
	}
}

// skip passes over the value that comes next.
func (q *quick) skip() {
	depth := 0
	for ; ; q.at++ {
		switch q.src[q.at] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			q.at = q.textEnd() - 1
		default:
			if depth > 0 {
				continue
			}
			for q.at < len(q.src) && strings.IndexByte(",]} \t\r\n", q.src[q.at]) < 0 {
				q.at++
			}
			return
		}
		if depth == 0 {
			q.at++
			return
		}
	}
}

// textEnd gives where the string that comes next ends.
func (q *quick) textEnd() int {
	at := q.at + 1
	for ; q.src[at] != '"'; at++ {
		if q.src[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// value reads the value that comes next and notes its place in e, where there is one.
func (q *quick) value(e *entry, depth int) any {
	q.space()
	from := q.at
	var v any
	switch c := q.src[q.at]; {
	case depth > MaxDepth:
		q.deep = true
	case c == '{':
		v = q.object(e, depth)
	case c == '[':
		v = q.list(e, depth)
	case c == '"':
		v = q.text()
	case c == 't':
		v, q.at = true, q.at+len("true")
	case c == 'f':
		v, q.at = false, q.at+len("false")
	case c == 'n':
		q.at += len("null")
	default:
		v = q.number()
	}
	if e != nil {
		e.start, e.end = from, q.at
	}
	return v
}

func (q *quick) list(e *entry, depth int) any {
	list := []any{}
	for q.at++; ; q.at++ { // past the bracket, or a comma
		q.space()
		if q.src[q.at] == ']' {
			break
		}
		var item *entry
		if e != nil {
			item = q.entry(-1, "")
			e.items = append(e.items, item)
			q.path = append(q.path, strconv.Itoa(len(list)))
		}
		list = append(list, q.value(item, depth+1))
		if q.deep {
			return nil
		}
		if e != nil {
			q.path = q.path[:len(q.path)-1]
		}
		if q.space(); q.src[q.at] == ']' {
			break
		}
	}
	q.at++
	return list
}

func (q *quick) object(e *entry, depth int) any {
	object := map[string]any{}
	for q.at++; ; q.at++ { // past the brace, or a comma
		if q.space(); q.src[q.at] == '}' {
			break
		}
		key := q.at
		name := q.text()
		q.space()
		q.at++ // the colon
		var member *entry
		if e != nil {
			q.path = append(q.path, name)
			_, twice := object[name]
			if twice {
				q.doc.duplicate(q.path)
			}
			member = q.entry(key, name)
			e.note(member, twice)
		}
		v := q.value(member, depth+1)
		if q.deep {
			return nil
		}
		if e != nil {
			q.path = q.path[:len(q.path)-1]
		}
		object[name] = v
		if q.space(); q.src[q.at] == '}' {
			break
		}
	}
	q.at++
	return object
}

// text reads a string.
func (q *quick) text() string {
	from := q.at
	q.at = q.textEnd()
	if inner := q.src[from+1 : q.at-1]; strings.IndexByte(inner, '\\') < 0 {
		return strings.Clone(inner) // so that a name does not keep the whole text
	}
	var s string
	_ = json.Unmarshal([]byte(q.src[from:q.at]), &s) // the text is good
	return s
}

func (q *quick) number() json.Number {
	from := q.at
	for q.at < len(q.src) && strings.IndexByte("+-.0123456789eE", q.src[q.at]) >= 0 {
		q.at++
	}
	return json.Number(strings.Clone(q.src[from:q.at]))
}
