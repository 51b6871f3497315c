package calllog

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// marks are the places that a schema marks as secret: writeOnly, or the format password.
type marks struct{ root any }

// maxNodes bounds how many schemas hold for one value.
const maxNodes = 200

// findMarks reads the marks of a schema; nil where it has none.
func findMarks(schema json.RawMessage) *marks {
	if !bytes.Contains(schema, []byte("writeOnly")) && !bytes.Contains(schema, []byte("password")) {
		return nil
	}
	m := &marks{}
	if json.Unmarshal(schema, &m.root) != nil {
		return nil
	}
	return m
}

func isMarked(nodes []any) bool {
	for _, n := range nodes {
		if object, ok := n.(map[string]any); ok && (object["writeOnly"] == true || object["format"] == "password") {
			return true
		}
	}
	return false
}

// expand adds to schemas those that hold for the same value.
func (m *marks) expand(nodes []any) []any {
	for i := 0; i < len(nodes) && len(nodes) < maxNodes; i++ {
		object, ok := nodes[i].(map[string]any)
		if !ok {
			continue
		}
		for _, word := range []string{"allOf", "anyOf", "oneOf"} {
			list, _ := object[word].([]any)
			nodes = append(nodes, list...)
		}
		for _, word := range []string{"if", "then", "else"} {
			if object[word] != nil {
				nodes = append(nodes, object[word])
			}
		}
		for _, word := range []string{"$ref", "$dynamicRef"} {
			if ref, ok := object[word].(string); ok {
				if target := m.at(ref); target != nil {
					nodes = append(nodes, target)
				}
			}
		}
	}
	return nodes[:min(len(nodes), maxNodes)]
}

// at gives what a reference into the same schema names; nil where that is nothing.
func (m *marks) at(ref string) any {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	at := m.root
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			break
		}
		name = strings.NewReplacer("~1", "/", "~0", "~", "%25", "%").Replace(name)
		switch v := at.(type) {
		case map[string]any:
			at = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			at = v[i]
		default:
			return nil
		}
	}
	return at
}

// property gives the schemas of a property. Those of patterns count for every name: hiding too
// much costs less than too little.
func (m *marks) property(nodes []any, name string) []any {
	if m == nil || len(nodes) == 0 {
		return nil
	}
	var found []any
	for _, n := range nodes {
		object, _ := n.(map[string]any)
		properties, _ := object["properties"].(map[string]any)
		if p, ok := properties[name]; ok {
			found = append(found, p)
		} else if object["additionalProperties"] != nil {
			found = append(found, object["additionalProperties"])
		}
		patterns, _ := object["patternProperties"].(map[string]any)
		for _, p := range patterns {
			found = append(found, p)
		}
	}
	return m.expand(found)
}

// item gives the schemas of an item of a list.
func (m *marks) item(nodes []any, i int) []any {
	if m == nil || len(nodes) == 0 {
		return nil
	}
	var found []any
	for _, n := range nodes {
		object, _ := n.(map[string]any)
		for _, word := range []string{"prefixItems", "items", "additionalItems"} {
			switch v := object[word].(type) {
			case []any:
				if i < len(v) {
					found = append(found, v[i])
				}
			case nil:
			default:
				found = append(found, v)
			}
		}
	}
	return m.expand(found)
}
