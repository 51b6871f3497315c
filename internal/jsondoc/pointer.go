package jsondoc

import (
	"strconv"
	"strings"
)

// Escape writes a member name as one token of a JSON pointer (RFC 6901).
func Escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// Unescape is the reverse of Escape.
func Unescape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// Pointer writes names as a JSON pointer.
func Pointer(names []string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteByte('/')
		b.WriteString(Escape(n))
	}
	return b.String()
}

// Names reads a JSON pointer. It is the reverse of Pointer.
func Names(pointer string) []string {
	if pointer == "" {
		return nil
	}
	names := strings.Split(pointer[1:], "/")
	for i, n := range names {
		names[i] = Unescape(n)
	}
	return names
}

// ValueAt gives the part of a decoded value that names lead to; nil where there is none.
func ValueAt(v any, names []string) any {
	for _, name := range names {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
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
