package connect

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/lazyregexp"
)

// tomlLine is a line of a TOML text.
type tomlLine struct {
	text   string // with its end
	header string // of a table: what stands between the brackets; "" elsewhere
	inside bool   // it is inside a text or a list that began on a line above
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
		isHeader := !l.inside && strings.HasPrefix(trimmed, "[")
		if isHeader {
			found := tomlHeader.FindStringSubmatch(trimmed)
			if found == nil {
				return nil, fmt.Errorf("line %d: %.60q is no table", number, trimmed)
			}
			l.header = strings.Join(strings.Fields(found[1]+found[2]), "")
			lines = append(lines, l)
			continue
		}
		if !l.inside && trimmed != "" && trimmed[0] != '#' && !strings.Contains(trimmed, "=") {
			return nil, fmt.Errorf("line %d: %.60q is neither a table nor a value", number, trimmed)
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

var tomlHeader = lazyregexp.New(`^(?:\[\[([^\[\]#]+)\]\]|\[([^\[\]#]+)\])\s*(?:#.*)?$`)

// setTOML puts the table [key.name] into a text, or takes it out where value is nil.
func setTOML(text, key, name string, value any) (string, error) {
	lines, err := tomlLines(text)
	if err != nil {
		return "", err
	}
	table := key + "." + name
	other := regexp.MustCompile(`^` + regexp.QuoteMeta(key) + `\s*(=|\.\s*["']?` + regexp.QuoteMeta(name) + `["']?\s*[.=])`)
	short := regexp.MustCompile(`^["']?` + regexp.QuoteMeta(name) + `["']?\s*[.=]`)
	var out strings.Builder
	written, within, header := false, false, ""
	entry := ""
	if value != nil {
		entry = "[" + table + "]\n" + tomlValues(value)
	}
	held := "" // comments in the table, which may be of what follows it
	leave := func() {
		out.WriteString(strings.TrimLeft(held, "\n"))
		held = ""
	}
	for _, l := range lines {
		if l.header != "" {
			header = strings.NewReplacer(`"`, "", `'`, "").Replace(l.header)
			within = header == table || strings.HasPrefix(header, table+".")
			if within {
				held = ""
			} else {
				leave()
			}
			if within && !written && value != nil {
				out.WriteString(entry + "\n")
			}
			written = written || within
		}
		trimmed := strings.TrimSpace(l.text)
		if !l.inside && l.header == "" && (header == "" && other.MatchString(trimmed) || header == key && short.MatchString(trimmed)) {
			return "", fmt.Errorf("it has %q in a form that is not changed here: %.60q", table, trimmed)
		}
		switch {
		case !within:
			out.WriteString(l.text)
		case l.header == "" && !l.inside && (trimmed == "" || trimmed[0] == '#'):
			held += l.text
		default:
			held = ""
		}
	}
	leave()
	if written || value == nil {
		return strings.TrimRight(out.String(), "\n") + strings.Repeat("\n", min(1, out.Len())), nil
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
