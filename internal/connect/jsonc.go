package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// jsonc is a JSON text that may have comments and trailing commas, as editors keep their
// settings. It is read to be changed at one place; all else stays as it is written.
type jsonc struct {
	text string
	at   int
}

// span is a value, or a member with its name: text[from:to].
type span struct{ from, to int }

// memberSpan is a member of an object.
type memberSpan struct {
	name  string
	whole span // from the name's quote to the value's end
	value span
}

// objectSpan is an object: its braces and what is in it.
type objectSpan struct {
	span
	members []memberSpan
	comma   bool // a comma follows the last member
}

const maxNesting = 500

func (j *jsonc) fail(format string, args ...any) error {
	line := 1 + strings.Count(j.text[:min(j.at, len(j.text))], "\n")
	return fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
}

// blank passes over white space and comments.
func (j *jsonc) blank() error {
	for j.at < len(j.text) {
		rest := j.text[j.at:]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			j.at++
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			if strings.Contains(strings.TrimSuffix(rest[:end], "\r"), "\r") {
				return j.fail("a carriage return stands in a comment, which ends it for some programs") // and not for others
			}
			j.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return j.fail("a comment has no end")
			}
			j.at += end + 4
		default:
			return nil
		}
	}
	return nil
}

// literal reads a text, a number, true, false or null.
func (j *jsonc) literal() error {
	start := j.at
	if j.text[j.at] == '"' {
		for j.at++; ; j.at++ {
			switch {
			case j.at >= len(j.text) || j.text[j.at] == '\n':
				return j.fail("a text has no end")
			case j.text[j.at] == '\\':
				j.at++
				continue
			case j.text[j.at] != '"':
				continue
			}
			j.at++
			break
		}
	} else {
		for j.at < len(j.text) && !strings.ContainsRune(" \t\r\n,]}:/\"", rune(j.text[j.at])) {
			j.at++
		}
	}
	if !json.Valid([]byte(j.text[start:j.at])) {
		return j.fail("%.40q is no JSON", j.text[start:min(j.at, len(j.text))])
	}
	return nil
}

// value reads any value; of an object it gives the members.
func (j *jsonc) value(depth int) (*objectSpan, error) {
	if depth > maxNesting {
		return nil, j.fail("it is nested too deeply")
	}
	if err := j.blank(); err != nil {
		return nil, err
	}
	if j.at >= len(j.text) {
		return nil, j.fail("it ends too early")
	}
	open := j.text[j.at]
	if open != '{' && open != '[' {
		return nil, j.literal()
	}
	o := &objectSpan{span: span{from: j.at}}
	j.at++
	for need := false; ; {
		if err := j.blank(); err != nil {
			return nil, err
		}
		if j.at >= len(j.text) {
			return nil, j.fail("it ends too early")
		}
		c := j.text[j.at]
		switch {
		case c == open+2: // } and ] stand two after { and [
			j.at++
			o.to = j.at
			if open == '[' {
				return nil, nil
			}
			return o, nil
		case need && c == ',':
			j.at++
			need, o.comma = false, true
			continue
		case need:
			return nil, j.fail("a comma is missing")
		}
		m := memberSpan{whole: span{from: j.at}}
		if open == '{' {
			if c != '"' {
				return nil, j.fail("a name in quotes is missing")
			}
			if err := j.literal(); err != nil {
				return nil, err
			}
			_ = json.Unmarshal([]byte(j.text[m.whole.from:j.at]), &m.name) // literal has checked it
			if err := j.blank(); err != nil {
				return nil, err
			}
			if j.at >= len(j.text) || j.text[j.at] != ':' {
				return nil, j.fail("a colon is missing")
			}
			j.at++
			if err := j.blank(); err != nil {
				return nil, err
			}
		}
		m.value.from = j.at
		if _, err := j.value(depth + 1); err != nil {
			return nil, err
		}
		m.value.to, m.whole.to = j.at, j.at
		o.members = append(o.members, m)
		need, o.comma = true, false
	}
}

// object reads the object at from.
func objectAt(text string, from int) (*objectSpan, error) {
	j := &jsonc{text, from}
	o, err := j.value(0)
	if err == nil && o == nil {
		err = j.fail("an object is needed here")
	}
	return o, err
}

// whole reads a whole text.
func whole(text string) (*objectSpan, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("it is not UTF-8")
	}
	j := &jsonc{text: text}
	o, err := j.value(0)
	if err != nil {
		return nil, err
	}
	if err := j.blank(); err != nil {
		return nil, err
	}
	if j.at < len(text) {
		return nil, j.fail("something follows the end")
	}
	if o == nil {
		return nil, errors.New("it is no JSON object")
	}
	return o, nil
}

// find gives the member of that name; nil where there is none. Two are an error.
func (o *objectSpan) find(name string) (*memberSpan, int, error) {
	var found *memberSpan
	at := -1
	for i := range o.members {
		if o.members[i].name != name {
			continue
		}
		if found != nil {
			return nil, 0, fmt.Errorf("%q stands twice in it", name)
		}
		found, at = &o.members[i], i
	}
	return found, at, nil
}

// setJSON puts an entry into the object named key of a text, or takes it out where value
// is nil. Of an entry that is there, what other says is taken out; what else it has stays.
func setJSON(text, key, name string, value fields, other func(name, value string) bool) (string, error) {
	switch j := (&jsonc{text: text}); {
	case value == nil && strings.TrimSpace(text) == "":
		return text, nil
	case j.blank() == nil && j.at == len(text): // nothing, or comments only
		if text = strings.TrimRight(text, " \t\n"); text != "" {
			text += "\n"
		}
		text += "{}\n"
	}
	root, err := whole(text)
	if err != nil {
		return "", err
	}
	around, _, err := root.find(key)
	if err != nil {
		return "", err
	}
	if around == nil {
		if value == nil {
			return text, nil
		}
		return insert(text, root, key, map[string]any{name: value}), nil
	}
	if v := around.value; text[v.from:v.to] == "null" { // as some programs write none
		if value == nil {
			return text, nil
		}
		return text[:v.from] + indented(map[string]any{name: value}, indentOf(text, around.whole.from), unitOf(text)) + text[v.to:], nil
	}
	servers, err := objectAt(text, around.value.from)
	if err != nil {
		return "", fmt.Errorf("%q: %w", key, err)
	}
	old, i, err := servers.find(name)
	switch {
	case err != nil:
		return "", err
	case value == nil && old == nil:
		return text, nil
	case value == nil:
		return cutMember(text, servers, i), nil
	case old == nil:
		return insert(text, servers, name, value), nil
	}
	entry := text[old.value.from:old.value.to]
	if !strings.HasPrefix(entry, "{") {
		return text[:old.value.from] + indented(value, indentOf(text, old.whole.from), unitOf(text)) + text[old.value.to:], nil
	}
	o, err := objectAt(text, old.value.from)
	if err != nil {
		return "", err
	}
	stays := func(m memberSpan) bool { return !value.has(m.name) && !other(m.name, text[m.value.from:m.value.to]) }
	if json.Valid([]byte(entry)) && !sameJSON(entry, value) && !slices.ContainsFunc(o.members, stays) { // nor does it have comments
		return text[:old.value.from] + indented(value, indentOf(text, old.whole.from), unitOf(text)) + text[old.value.to:], nil
	}
	if text, err = mergeJSON(text, old.value.from, value, other); err != nil {
		return "", fmt.Errorf("%q: %w", name, err)
	}
	return text, nil
}

// mergeJSON sets members of the object that stands at a place, and takes out those that
// other says. What else is in it stays as it is written, and what says the same already,
// whatever white space another program has put there.
func mergeJSON(text string, from int, set fields, other func(name, value string) bool) (string, error) {
	for _, f := range set {
		o, err := objectAt(text, from)
		if err != nil {
			return "", err
		}
		oneLine := !strings.Contains(text[o.from:o.to], "\n")
		old, _, err := o.find(f.name)
		if err != nil {
			return "", err
		}
		switch inner, isObject := f.value.(fields); {
		case old == nil && oneLine && len(o.members) > 0:
			last := o.members[len(o.members)-1].whole.to
			text = text[:last] + ", " + jsondoc.Quote(f.name) + ": " + string(jsondoc.Marshal(f.value)) + text[last:]
		case old == nil:
			text = insert(text, o, f.name, f.value)
		case sameJSON(text[old.value.from:old.value.to], f.value):
		case isObject && text[old.value.from] == '{' && !sameJSON(text[old.value.from:old.value.to], fields{}):
			if text, err = mergeJSON(text, old.value.from, inner, inner.spelledOtherwise); err != nil {
				return "", fmt.Errorf("%q: %w", f.name, err)
			}
		case oneLine:
			text = text[:old.value.from] + string(jsondoc.Marshal(f.value)) + text[old.value.to:]
		default:
			text = text[:old.value.from] + indented(f.value, indentOf(text, old.whole.from), unitOf(text)) + text[old.value.to:]
		}
	}
	for {
		o, err := objectAt(text, from)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(o.members, func(m memberSpan) bool {
			return !set.has(m.name) && other(m.name, text[m.value.from:m.value.to])
		})
		if i < 0 {
			return text, nil
		}
		if _, _, err := o.find(o.members[i].name); err != nil {
			return "", err
		}
		text = cutMember(text, o, i)
	}
}

// insert adds a member at the end of an object.
func insert(text string, o *objectSpan, name string, value any) string {
	unit := unitOf(text)
	outer := indentOf(text, o.from)
	inner := outer + unit
	member := "\n" + inner + jsondoc.Quote(name) + ": " + indented(value, inner, unit)
	if len(o.members) == 0 {
		rest := strings.TrimRight(text[o.from+1:o.to-1], " \t\r\n")
		return text[:o.from+1] + rest + member + "\n" + outer + text[o.to-1:]
	}
	last := o.members[len(o.members)-1].whole.to
	comma, at := ",", last
	if o.comma {
		comma, at = "", commaAfter(text, last)+1
	}
	end := lineEnd(text[:o.to-1], at) // what is said of the last member stays with it
	rest := text[end:]
	if !strings.Contains(text[end:o.to-1], "\n") {
		rest = "\n" + outer + strings.TrimLeft(rest, " \t")
	}
	return text[:last] + comma + text[last:end] + member + rest
}

// commaAfter gives where the comma behind a member is. There is one.
func commaAfter(text string, at int) int {
	j := &jsonc{text, at}
	_ = j.blank() // it was read once
	return j.at
}

// lineEnd gives where the comments end that stand behind a place, on its line.
func lineEnd(text string, at int) int {
	end := at
	for at < len(text) {
		rest := text[at:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t':
			at++
		case strings.HasPrefix(rest, "//"):
			line, _, _ := strings.Cut(rest, "\n")
			return at + len(line)
		case strings.HasPrefix(rest, "/*"):
			comment, _, _ := strings.Cut(rest[len("/*"):], "*/")
			if strings.Contains(comment, "\n") {
				return end // it is of what follows
			}
			at += len("/*") + len(comment) + len("*/")
			end = at
		default:
			return end
		}
	}
	return end
}

// cutMember takes a member out, with the comma that it needed and the lines that it leaves
// empty. Comments stay.
func cutMember(text string, o *objectSpan, i int) string {
	m := o.members[i].whole
	switch {
	case i+1 < len(o.members) || o.comma:
		comma := commaAfter(text, m.to)
		text = text[:comma] + text[comma+1:]
	case i > 0:
		comma := commaAfter(text, o.members[i-1].whole.to)
		text = text[:comma] + text[comma+1:]
		m.from, m.to = m.from-1, m.to-1
	}
	before, after := text[:m.from], strings.TrimLeft(text[m.to:], " \t")
	line := strings.TrimRight(before, " \t")
	switch {
	case !strings.HasSuffix(line, "\n"):
		before = line // it shares its line, of which what is behind it moves up
		if c := line[len(line)-1]; c != '{' && after != "" && after[0] != '}' && after[0] != '\n' {
			before += " "
		}
	case strings.HasPrefix(after, "\n"):
		before, after = line, after[1:]
	}
	if end := strings.TrimLeft(after, " \t\n"); strings.HasPrefix(end, "}") && strings.Trim(before[o.from+1:], " \t\n") == "" { // nothing is left in it
		return before[:o.from+1] + end
	}
	return before + after
}

// sameJSON reports whether a text says what a value says, in the same order.
func sameJSON(text string, value any) bool {
	var a, b bytes.Buffer
	return json.Compact(&a, []byte(text)) == nil && json.Compact(&b, jsondoc.Marshal(value)) == nil && bytes.Equal(a.Bytes(), b.Bytes())
}

// indentOf gives the white space with which the line of a place begins.
func indentOf(text string, at int) string {
	line := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// unitOf gives the indentation that a text uses: that of its first indented line.
func unitOf(text string) string {
	for line := range strings.Lines(text) {
		if rest := strings.TrimLeft(line, " \t"); len(rest) < len(line) && strings.TrimSpace(rest) != "" {
			return line[:len(line)-len(rest)]
		}
	}
	return "  "
}

// indented writes a value over several lines.
func indented(value any, outer, unit string) string {
	var b bytes.Buffer
	_ = json.Indent(&b, jsondoc.Marshal(value), outer, unit) // it is JSON
	return b.String()
}
