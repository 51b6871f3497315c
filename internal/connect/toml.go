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
	note   int      // where a comment begins behind something else; 0 where there is none
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
				l.note = i
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

// setTOML puts the table [key.name] into a text, or takes it out where value is nil. Of a
// table that is there, what other says is taken out; what else it has stays.
func setTOML(text, key, name string, value fields, other func(name, value string) bool) (string, error) {
	lines, err := tomlLines(text)
	if err != nil {
		return "", err
	}
	table := []string{key, name}
	found := false
	var header []string
	for _, l := range lines {
		if l.header != nil {
			header = l.header
			found = found || hasPrefix(header, table)
		}
		path := slices.Concat(header, l.key)
		if l.array && slices.Equal(path, table) || !hasPrefix(header, table) && l.key != nil && hasPrefix(path, table) || (l.key != nil || l.array) && slices.Equal(path, table[:1]) {
			return "", fmt.Errorf("it has %q in a form that is not changed here: %.60q", key+"."+name, strings.TrimSpace(l.text))
		}
	}
	switch {
	case value == nil:
		return cutTOML(lines, table), nil
	case found:
		return mergeTOML(text, table, value, other)
	}
	switch {
	case text == "":
	case !strings.HasSuffix(text, "\n"):
		text += "\n\n"
	default:
		text += "\n"
	}
	return text + tomlTable(table, value), nil
}

// cutTOML takes a table out, with those below it. Comments at its end may be of what follows it, and stay.
func cutTOML(lines []tomlLine, table []string) string {
	var out strings.Builder
	within := false
	var held []byte // blank lines and comments in the table
	for _, l := range lines {
		if l.header != nil {
			if now := hasPrefix(l.header, table); within && !now {
				out.WriteString(strings.TrimLeft(string(held), "\n"))
				within = false
			} else {
				within = now
			}
			held = nil
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
	case within && strings.Trim(rest, " \t\n") == "": // the table was the last thing
		return strings.TrimRight(out.String(), "\n") + strings.Repeat("\n", min(1, out.Len()))
	default:
		return out.String() + strings.TrimLeft(rest, "\n")
	}
}

func hasPrefix(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// tomlTable writes a table with its values.
func tomlTable(name []string, values fields) string {
	text := "[" + strings.Join(name, ".") + "]\n"
	for _, f := range values {
		text += f.name + " = " + tomlValue(f.value) + "\n"
	}
	return text
}

// tomlValue writes a value. JSON's texts and lists of texts are TOML too.
func tomlValue(value any) string {
	table, ok := value.(fields)
	if !ok {
		return string(jsondoc.Marshal(value))
	}
	var parts []string
	for _, f := range table {
		parts = append(parts, jsondoc.Quote(f.name)+" = "+tomlValue(f.value))
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}
