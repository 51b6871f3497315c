package connect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// tomlEntry is a TOML text, part by part, as it is seen from one of its tables.
type tomlEntry struct {
	table []string
	lines []tomlLine
	parts []tomlPart
}

// tomlPart is lines[from:to]: a header, a value, or a line with neither.
type tomlPart struct {
	from, to      int
	within        bool     // in the table, or in one below it
	header, value bool     // what it is
	path          []string // seen from the table; of a line with neither that of the table in which it is
}

func readTOMLEntry(text string, table []string) (*tomlEntry, error) {
	lines, err := tomlLines(text)
	if err != nil {
		return nil, err
	}
	e := &tomlEntry{table: table, lines: lines}
	var header []string
	for i := 0; i < len(lines); {
		l, from := lines[i], i
		for i++; i < len(lines) && lines[i].inside; i++ {
		}
		if l.header != nil {
			header = l.header
		}
		p := tomlPart{from: from, to: i, header: l.header != nil, value: l.key != nil, within: hasPrefix(header, table)}
		if p.within {
			p.path = slices.Concat(header[len(table):], l.key)
		}
		e.parts = append(e.parts, p)
	}
	return e, nil
}

// find gives the first part in the table with that path.
func (e *tomlEntry) find(header bool, path ...string) (tomlPart, bool) {
	i := slices.IndexFunc(e.parts, func(p tomlPart) bool {
		return p.within && p.header == header && p.value == !header && slices.Equal(p.path, path)
	})
	if i < 0 {
		return tomlPart{}, false
	}
	return e.parts[i], true
}

// between gives the text of some lines.
func (e *tomlEntry) between(from, to int) string {
	var b strings.Builder
	for _, l := range e.lines[from:to] {
		b.WriteString(l.text)
	}
	return b.String()
}

// replace gives the text with another one in the place of some lines.
func (e *tomlEntry) replace(from, to int, text string) string {
	return e.between(0, from) + text + e.between(to, len(e.lines))
}

// behind gives the text with a line behind a part.
func (e *tomlEntry) behind(p tomlPart, line string) string {
	return e.replace(p.from, p.to, strings.TrimSuffix(e.between(p.from, p.to), "\n")+"\n"+line+"\n")
}

// split gives the key of a value with the space before it, the value, and the comment behind it, as they are written.
func (e *tomlEntry) split(p tomlPart) (key, value, comment string) {
	text := strings.TrimSuffix(e.between(p.from, p.to), "\n")
	if last := e.lines[p.to-1]; last.note > 0 {
		at := len(text) - len(strings.TrimSuffix(last.text, "\n")) + last.note
		text, comment = text[:at], " "+text[at:]
	}
	_, rest := tomlKey(text)
	return strings.TrimRight(text[:len(text)-len(rest)], " \t"), strings.TrimSpace(rest[1:]), comment
}

// set gives the text with a value in the place of another one.
func (e *tomlEntry) set(p tomlPart, value string) string {
	key, old, comment := e.split(p)
	if old == value {
		return e.between(0, len(e.lines))
	}
	return e.replace(p.from, p.to, key+" = "+value+comment+"\n")
}

// mergeTOML sets values in a table that is there, or has tables below it, and takes out those
// that other says. What else is in it stays as it is written.
func mergeTOML(text string, table []string, values fields, other func(name, value string) bool) (string, error) {
	e, err := readTOMLEntry(text, table)
	if err != nil {
		return "", err
	}
	if _, there := e.find(true); !there {
		first := slices.IndexFunc(e.parts, func(p tomlPart) bool { return p.within })
		at := e.parts[first].from
		text = e.replace(at, at, tomlTable(table, nil)+"\n")
	}
	for _, f := range slices.Backward(values) { // each that is new stands first
		if text, err = setTOMLValue(text, table, f); err != nil {
			return "", err
		}
	}
	return cutTOMLValues(text, table, values, other)
}

// setTOMLValue sets one value of a table that has a header.
func setTOMLValue(text string, table []string, f field) (string, error) {
	e, err := readTOMLEntry(text, table)
	if err != nil {
		return "", err
	}
	own, _ := e.find(true)
	old, there := e.find(false, f.name)
	inner, isTable := f.value.(fields)
	switch {
	case there && isTable:
		_, value, _ := e.split(old)
		merged, err := mergeInline(value, inner)
		if err != nil {
			return "", fmt.Errorf("%q: %w", f.name, err)
		}
		return e.set(old, merged), nil
	case there:
		return e.set(old, tomlValue(f.value)), nil
	case !isTable:
		return e.behind(own, f.name+" = "+tomlValue(f.value)), nil
	}
	at, before := own, f.name+"."
	if below, there := e.find(true, f.name); there {
		at, before = below, ""
	} else if !slices.ContainsFunc(e.parts, func(p tomlPart) bool { return p.within && p.value && p.path[0] == f.name }) {
		return e.behind(own, f.name+" = "+tomlValue(inner)), nil
	}
	for _, g := range inner {
		if old, there := e.find(false, f.name, g.name); there {
			text = e.set(old, tomlValue(g.value))
		} else {
			text = e.behind(at, before+jsondoc.Quote(g.name)+" = "+tomlValue(g.value))
		}
		if e, err = readTOMLEntry(text, table); err != nil {
			return "", err
		}
	}
	return text, nil
}

// cutTOMLValues takes out of a table what other says, and what would be a second value of one that is set.
func cutTOMLValues(text string, table []string, values fields, other func(name, value string) bool) (string, error) {
	e, err := readTOMLEntry(text, table)
	if err != nil {
		return "", err
	}
	gone := func(p tomlPart) bool {
		if len(p.path) == 0 {
			return false
		}
		i := slices.IndexFunc(values, func(f field) bool { return f.name == p.path[0] })
		if i < 0 {
			value := ""
			if p.value && len(p.path) == 1 {
				_, value, _ = e.split(p)
			}
			return other(p.path[0], strings.ReplaceAll(value, "'", `"`))
		}
		inner, isTable := values[i].value.(fields)
		if isTable {
			return p.value && len(p.path) > 1 && inner.spelledOtherwise(p.path[1], "")
		}
		return len(p.path) > 1 || p.header
	}
	var out, held strings.Builder // held are the lines at the end of a table that goes, which may be of what follows
	release := func() {
		lines := held.String()
		if before := out.String(); before == "" || strings.HasSuffix(before, "\n\n") {
			lines = strings.TrimLeft(lines, "\n")
		}
		out.WriteString(lines)
		held.Reset()
	}
	for _, p := range e.parts {
		switch {
		case p.header && !gone(p):
			release()
			out.WriteString(e.between(p.from, p.to))
		case p.within && gone(p) && (p.header || p.value):
			held.Reset()
		case p.within && gone(p):
			held.WriteString(e.between(p.from, p.to))
		default:
			out.WriteString(e.between(p.from, p.to))
		}
	}
	if strings.Trim(held.String(), " \t\n") == "" && len(e.parts) > 0 && gone(e.parts[len(e.parts)-1]) { // it was the last thing
		return strings.TrimRight(out.String(), "\n") + "\n", nil
	}
	release()
	return out.String(), nil
}

// mergeInline sets values in a table that is written on one line.
func mergeInline(text string, values fields) (string, error) {
	members, err := inlineMembers(text)
	if err != nil {
		return "", err
	}
	var parts []string
	left := slices.Clone(values)
	same := true
	for _, m := range members {
		switch i := slices.IndexFunc(left, func(f field) bool { return len(m.key) == 1 && f.name == m.key[0] }); {
		case i >= 0:
			value := tomlValue(left[i].value)
			same = same && value == m.value
			parts = append(parts, m.name+" = "+value)
			left = slices.Delete(left, i, i+1)
		case values.spelledOtherwise(m.key[0], ""):
			same = false
		default:
			parts = append(parts, m.name+" = "+m.value)
		}
	}
	if same && len(left) == 0 {
		return text, nil
	}
	for _, f := range left {
		parts = append(parts, jsondoc.Quote(f.name)+" = "+tomlValue(f.value))
	}
	return "{ " + strings.Join(parts, ", ") + " }", nil
}

// inlineMember is a member of a table that is written on one line, as it is written.
type inlineMember struct {
	key         []string
	name, value string
}

func inlineMembers(text string) ([]inlineMember, error) {
	odd := fmt.Errorf("it is in a form that is not changed here: %.60q", text)
	rest, ok := strings.CutPrefix(text, "{")
	if !ok || strings.Contains(text, "\n") {
		return nil, odd
	}
	var members []inlineMember
	for {
		rest = strings.TrimLeft(rest, " \t")
		if rest == "}" {
			return members, nil
		}
		key, after := tomlKey(rest)
		if key == nil || !strings.HasPrefix(after, "=") {
			return nil, odd
		}
		m := inlineMember{key: key, name: strings.TrimRight(rest[:len(rest)-len(after)], " \t")}
		end, ok := inlineEnd(after[1:])
		if !ok {
			return nil, odd
		}
		m.value = strings.TrimSpace(after[1:][:end])
		members = append(members, m)
		rest = strings.TrimPrefix(after[1:][end:], ",")
	}
}

// inlineEnd gives where a value on one line ends: at the comma or the brace behind it.
func inlineEnd(text string) (end int, ok bool) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			if strings.HasPrefix(text[i:], strings.Repeat(string(c), 3)) {
				return 0, false
			}
			for i++; i < len(text) && text[i] != c; i++ {
				if c == '"' && text[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth == 0 {
				return i, c == '}'
			}
			depth--
		case ',':
			if depth == 0 {
				return i, true
			}
		}
	}
	return 0, false
}
