package schema

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// kindOf gives the type of a value in words.
func kindOf(v any) string { return typeOf(v).String() }

// show repeats a value shortly: `string "a"`, `number 1.5`, `null`, `array`.
func show(v any) string {
	switch v := v.(type) {
	case nil, []any, map[string]any:
		return kindOf(v)
	default:
		return kindOf(v) + " " + literal(v)
	}
}

// literal writes a value as JSON, cut short.
func literal(v any) string {
	switch v := v.(type) {
	case string:
		return jsondoc.Quote(clip(v, maxEcho))
	case json.Number:
		return clip(string(v), maxEcho)
	case nil, bool:
		return strings.Replace(fmt.Sprint(v), "<nil>", "null", 1)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return kindOf(v)
	}
	return clip(string(b), maxEcho)
}

// maxListed is how many names or values a message lists.
const maxListed = 20

// listed joins words, and says how many are left out.
func listed(words []string) string {
	if len(words) <= maxListed {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:maxListed], ", "), len(words)-maxListed)
}

// plural gives "1 item", "2 items".
func plural(n, unit string) string {
	if n == "1" {
		return "1 " + unit
	}
	return n + " " + unit + "s"
}
