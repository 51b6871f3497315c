package jsondoc

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Quote writes s as a JSON string without escaping what HTML would need.
func Quote(s string) string { return string(AppendText(nil, s)) }

// Marshal is json.Marshal without escaping what HTML would need. Its value must be one
// that marshals; any other gives null.
func Marshal(v any) []byte {
	if text, ok := appendValue(make([]byte, 0, 128), v); ok {
		return text
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// appendValue writes a value as a [Document] holds it, in the way of encoding/json, which looks
// at each value by reflection. It gives false for others.
func appendValue(text []byte, v any) (_ []byte, ok bool) {
	switch v := v.(type) {
	case nil:
		return append(text, "null"...), true
	case bool:
		if v {
			return append(text, "true"...), true
		}
		return append(text, "false"...), true
	case string:
		return AppendText(text, v), true
	case json.Number:
		return append(text, v...), isNumber(string(v))
	case []any:
		if v == nil {
			return nil, false
		}
		text = append(text, '[')
		for i, item := range v {
			if i > 0 {
				text = append(text, ',')
			}
			if text, ok = appendValue(text, item); !ok {
				return nil, false
			}
		}
		return append(text, ']'), true
	case map[string]any:
		if v == nil {
			return nil, false
		}
		text = append(text, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				text = append(text, ',')
			}
			if text, ok = appendValue(append(AppendText(text, name), ':'), v[name]); !ok {
				return nil, false
			}
		}
		return append(text, '}'), true
	}
	return nil, false
}

// isNumber reports whether a text is a JSON number.
func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s)) && s[len(s)-1] >= '0' && s[len(s)-1] <= '9'
}
