package schema

import (
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// pointerTo writes names as a JSON pointer.
func pointerTo(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(jsondoc.Escape(t))
	}
	return b.String()
}

// tokensOf reads a JSON pointer.
func tokensOf(pointer string) []string {
	if pointer == "" {
		return nil
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, t := range tokens {
		tokens[i] = jsondoc.Unescape(t)
	}
	return tokens
}

// valueAt gives the part of a value that names lead to; nil where there is none.
func valueAt(v any, tokens []string) any {
	for _, t := range tokens {
		switch in := v.(type) {
		case map[string]any:
			v = in[t]
		case []any:
			i, err := strconv.Atoi(t)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}
