package jsondoc

import (
	"encoding/json"
	"strconv"
	"strings"
)

// quick reads a text of which it is known that it is one JSON value and UTF-8. That takes a
// fraction of what the decoder of encoding/json does, whose mistakes have places instead: a text
// that is not good is read by that one, to say why.
type quick struct {
	doc  *Document
	src  string
	at   int
	path []string // escaped tokens down to the value that is being read
	deep bool     // it is nested too deeply, and was not read to its end
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

// value reads the value that comes next and notes its place in e.
func (q *quick) value(e *entry, depth int) any {
	q.space()
	e.start = q.at
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
	e.end = q.at
	return v
}

func (q *quick) list(e *entry, depth int) any {
	list := []any{}
	for q.at++; ; q.at++ { // past the bracket, or a comma
		q.space()
		if q.src[q.at] == ']' {
			break
		}
		item := &entry{key: -1}
		e.list = append(e.list, item)
		q.path = append(q.path, strconv.Itoa(len(list)))
		list = append(list, q.value(item, depth+1))
		if q.deep {
			return nil
		}
		q.path = q.path[:len(q.path)-1]
		if q.space(); q.src[q.at] == ']' {
			break
		}
	}
	q.at++
	return list
}

func (q *quick) object(e *entry, depth int) any {
	object := map[string]any{}
	e.members = map[string]*entry{}
	for q.at++; ; q.at++ { // past the brace, or a comma
		if q.space(); q.src[q.at] == '}' {
			break
		}
		member := &entry{key: q.at}
		name := q.text()
		q.space()
		q.at++ // the colon
		q.path = append(q.path, Escape(name))
		if _, twice := object[name]; !twice {
			e.names = append(e.names, name)
		} else if len(q.doc.Duplicates) < maxDuplicates {
			q.doc.Duplicates = append(q.doc.Duplicates, "/"+strings.Join(q.path, "/"))
		}
		e.members[name] = member
		v := q.value(member, depth+1)
		if q.deep {
			return nil
		}
		q.path = q.path[:len(q.path)-1]
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
	from, escaped := q.at, false
	for q.at++; q.src[q.at] != '"'; q.at++ {
		if q.src[q.at] == '\\' {
			escaped = true
			q.at++
		}
	}
	q.at++
	if !escaped {
		return strings.Clone(q.src[from+1 : q.at-1]) // so that a name does not keep the whole text
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
