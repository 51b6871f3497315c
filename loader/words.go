package loader

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// field names a field for a message: the last name of its pointer, and where that is
// a place in a list, the list with the index: "fileExtensions"[0].
func field(pointer string) string {
	if pointer == "" {
		return "the manifest"
	}
	tokens := strings.Split(pointer[1:], "/")
	index := ""
	for len(tokens) > 1 {
		last := tokens[len(tokens)-1]
		if _, err := strconv.Atoi(last); err != nil {
			break
		}
		index = "[" + last + "]" + index
		tokens = tokens[:len(tokens)-1]
	}
	return strconv.Quote(cut(jsondoc.Unescape(tokens[len(tokens)-1]))) + index
}

// keyFor gives `"name": ` for a member, "" for a place in a list.
func keyFor(pointer string) string {
	last := pointer[strings.LastIndexByte(pointer, '/')+1:]
	if _, err := strconv.Atoi(last); err == nil || pointer == "" {
		return ""
	}
	return strconv.Quote(cut(jsondoc.Unescape(last))) + ": "
}

// kind names what a JSON value is.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case json.Number:
		return "the number " + cut(v.String())
	case string:
		return "a string"
	case []any:
		return "a list"
	default:
		return "an object"
	}
}

// kinds names the types that a part of the schema takes.
func kinds(n *node) string {
	var words []string
	if n != nil {
		for _, t := range n.Type {
			switch t {
			case "array":
				words = append(words, "a list")
			case "object", "integer":
				words = append(words, "an "+t)
			case "boolean":
				words = append(words, "true or false")
			default:
				words = append(words, "a "+t)
			}
		}
	}
	if len(words) == 0 {
		return "something else"
	}
	return strings.Join(words, " or ")
}

// shown shows a value that is not among the choices.
func shown(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(cut(s))
	}
	return kind(v)
}

// oneOf gives `"a", "b" or "c"`.
func oneOf(choices []string) string {
	quoted := make([]string, len(choices))
	for i, c := range choices {
		quoted[i] = strconv.Quote(c)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}

// cut shortens what an author wrote, so that a message stays readable.
func cut(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	end := most
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// compact gives a value as JSON text on one line, with a space after : and ,.
func compact(v any) string {
	switch v := v.(type) {
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, jsondoc.Quote(k)+": "+compact(v[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = compact(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return string(jsondoc.Marshal(v))
}
