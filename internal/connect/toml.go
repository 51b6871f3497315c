package connect

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// tomlLine is a line of a TOML text.
type tomlLine struct {
	text   string   // with its end
	header []string // of a table: its name, part by part; nil elsewhere
	array  bool     // the table is one of a list of tables
	key    []string // of a value, part by part; nil elsewhere
	inside bool     // it is inside a text or a list that began on a line above
}

// tomlLines reads a TOML text as far as is needed to know where tables begin.
func tomlLines(text string) ([]tomlLine, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("it is not UTF-8")
	}
	var lines []tomlLine
	open := ""    // the quotes of a text over several lines
	brackets := 0 // of lists and inline tables
	number := 0
	for line := range strings.Lines(text) {
		number++
		l := tomlLine{text: line, inside: open != "" || brackets > 0}
		trimmed := strings.TrimSpace(line)
		switch {
		case l.inside || trimmed == "" || trimmed[0] == '#':
		case trimmed[0] == '[':
			if l.header, l.array = tomlHeader(trimmed); l.header == nil {
				return nil, fmt.Errorf("line %d: %.60q is no table", number, trimmed)
			}
			lines = append(lines, l)
			continue
		default:
			var rest string
			if l.key, rest = tomlKey(trimmed); l.key == nil || !strings.HasPrefix(rest, "=") {
				return nil, fmt.Errorf("line %d: %.60q is neither a table nor a value", number, trimmed)
			}
		}
		for i := 0; i < len(line); i++ {
			rest := line[i:]
			switch {
			case open != "":
				switch {
				case open[0] == '"' && rest[0] == '\\':
					i++
				case strings.HasPrefix(rest, open):
					i += len(open) - 1
					for n := 0; n < 2 && len(open) == 3 && strings.HasPrefix(line[i+1:], open[:1]); n++ {
						i++ // the last of five quotes end the text, the first are of it
					}
					open = ""
				case len(open) == 1 && rest[0] == '\n':
					return nil, fmt.Errorf("line %d: a text has no end", number)
				}
			case rest[0] == '#':
				i = len(line)
			case strings.HasPrefix(rest, `"""`), strings.HasPrefix(rest, `'''`):
				open = rest[:3]
				i += 2
			case rest[0] == '"' || rest[0] == '\'':
				open = rest[:1]
			case rest[0] == '[' || rest[0] == '{':
				brackets++
			case rest[0] == ']' || rest[0] == '}':
				if brackets--; brackets < 0 {
					return nil, fmt.Errorf("line %d: a bracket too many", number)
				}
			}
		}
		lines = append(lines, l)
	}
	if open != "" || brackets > 0 {
		return nil, errors.New("a text or a list has no end")
	}
	return lines, nil
}

// tomlHeader reads the line of a table's header: the table's name, nil where it is none, and
// whether the table is one of a list.
func tomlHeader(line string) (name []string, array bool) {
	rest, end := line[1:], "]"
	if array = strings.HasPrefix(rest, "["); array {
		rest, end = rest[1:], "]]"
	}
	name, rest = tomlKey(rest)
	rest, closed := strings.CutPrefix(rest, end)
	if rest = strings.TrimSpace(rest); !closed || rest != "" && rest[0] != '#' {
		return nil, false
	}
	return name, array
}

// tomlKey reads a key with its parts, and gives what follows it; nil where there is none.
func tomlKey(text string) (parts []string, rest string) {
	for {
		text = strings.TrimLeft(text, " \t")
		part, end := "", 0
		switch {
		case strings.HasPrefix(text, "'"):
			end = strings.IndexByte(text[1:], '\'') + 2
			part = text[1:max(1, end-1)]
		case strings.HasPrefix(text, `"`):
			quoted, err := strconv.QuotedPrefix(text)
			if err == nil {
				part, err = strconv.Unquote(quoted)
			}
			if err != nil {
				return nil, text
			}
			end = len(quoted)
		default:
			if end = strings.IndexAny(text, " \t.=[]{}\"'#,"); end < 0 {
				end = len(text)
			}
			part = text[:end]
		}
		if end == 0 || end == 1 && text[0] == '\'' {
			return nil, text
		}
		parts = append(parts, part)
		text = strings.TrimLeft(text[end:], " \t")
		if !strings.HasPrefix(text, ".") {
			return parts, text
		}
		text = text[1:]
	}
}

// setTOML puts the table [key.name] into a text, or takes it out where value is nil.
func setTOML(text, key, name string, value any) (string, error) {
	lines, err := tomlLines(text)
	if err != nil {
		return "", err
	}
	table := []string{key, name}
	entry := ""
	if value != nil {
		entry = "[" + key + "." + name + "]\n" + tomlValues(value)
	}
	var out strings.Builder
	found, within := false, false
	placed := false // the entry stands in the place of the table, or part of it, that is read
	var header []string
	var held []byte // blank lines and comments in the table, which may be of what follows it
	for _, l := range lines {
		if l.header != nil {
			header = l.header
			switch now, rest := hasPrefix(header, table), string(held); {
			case now && !found && value != nil:
				out.WriteString(entry)
				found, placed = true, true
			case now:
				found, placed = true, placed && within
			case within && placed && !strings.HasPrefix(rest, "\n"):
				out.WriteString("\n" + rest)
			case within && placed:
				out.WriteString(rest)
			case within:
				out.WriteString(strings.TrimLeft(rest, "\n"))
			}
			within, held = hasPrefix(header, table), nil
		}
		path := slices.Concat(header, l.key)
		if !within && (l.key != nil || l.array) && (hasPrefix(path, table) || slices.Equal(path, table[:1])) {
			return "", fmt.Errorf("it has %q in a form that is not changed here: %.60q", key+"."+name, strings.TrimSpace(l.text))
		}
		switch {
		case !within:
			out.WriteString(l.text)
		case l.header == nil && l.key == nil && !l.inside:
			held = append(held, l.text...)
		default:
			held = nil
		}
	}
	switch rest := string(held); {
	case within && !placed && strings.Trim(rest, " \t\n") == "": // the table was the last thing
		return strings.TrimRight(out.String(), "\n") + strings.Repeat("\n", min(1, out.Len())), nil
	case within && !placed:
		return out.String() + strings.TrimLeft(rest, "\n"), nil
	case found || value == nil:
		return out.String() + rest, nil
	}
	before := out.String()
	switch {
	case before == "":
	case !strings.HasSuffix(before, "\n"):
		before += "\n\n"
	default:
		before += "\n"
	}
	return before + entry, nil
}

func hasPrefix(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// tomlValues writes the values of an entry. JSON's texts and lists of texts are TOML too.
func tomlValues(value any) string {
	var b strings.Builder
	for _, f := range value.(fields) {
		text := string(jsondoc.Marshal(f.value))
		if table, ok := f.value.(fields); ok {
			var parts []string
			for _, g := range table {
				parts = append(parts, jsondoc.Quote(g.name)+" = "+string(jsondoc.Marshal(g.value)))
			}
			text = "{ " + strings.Join(parts, ", ") + " }"
		}
		fmt.Fprintf(&b, "%s = %s\n", f.name, text)
	}
	return b.String()
}
