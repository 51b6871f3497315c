package schema

import "strings"

// property gives the schema of a member, or nil.
func (n *node) property(name string) *node {
	if n == nil {
		return nil
	}
	for _, p := range n.allProperties() {
		if p.name == name {
			return p.node
		}
	}
	return nil
}

// allProperties gives the properties that n and the schemas in its place name.
func (n *node) allProperties() []named {
	var out []named
	seen := map[*node]bool{}
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		out = append(out, n.named["properties"]...)
		for _, part := range n.inPlace() {
			if part.keyword != "not" {
				visit(part)
			}
		}
	}
	visit(n)
	return out
}

// about describes in short what a schema wants: "string: file to read".
func (n *node) about() string {
	if n == nil {
		return ""
	}
	words := ""
	if t := n.allowed(); t != anyType && t != 0 {
		words = t.String()
	}
	if d := n.description(); d != "" {
		if words != "" {
			words += ": "
		}
		words += d
	}
	return words
}

// description gives the first line of the description.
func (n *node) description() string {
	d, _ := n.object["description"].(string)
	line, _, _ := strings.Cut(strings.TrimSpace(d), "\n")
	if line == "" && len(n.refs) == 1 && n.refs[0].target != nil && n.refs[0].target.object != nil && len(n.refs[0].target.refs) == 0 {
		return n.refs[0].target.description()
	}
	return clip(strings.TrimSpace(line), 100)
}
