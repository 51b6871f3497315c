package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/lazyregexp"
	"github.com/toolhost/toolhost/internal/suggest"
)

// preflight checks the bundled document before an engine sees it: both engines
// die or hang on some schemas that pass their own checks.
func (c *compilation) preflight(late *atomic.Int32) {
	if !c.anyRoot {
		c.checkRoot()
	}
	if c.tree.root == nil || c.tree.root.object == nil {
		return
	}
	if len(c.sources) > 1 {
		c.resolve() // a single source is resolved already
	}
	if len(c.tree.order) > maxSubschemas {
		c.find("S01", Error, "", false, fmt.Sprintf("more than %d subschemas", maxSubschemas), "split the tool, or describe less")
		return
	}
	c.checkNames()
	c.checkPatterns(late)
	c.checkCost()
	c.checkRequired()
	c.checkHeaders()
}

func (c *compilation) checkRoot() {
	object, ok := c.tree.doc.Value.(map[string]any)
	if !ok {
		c.find("S02", Error, "", false, "a schema of a tool must be an object, not "+kindOf(c.tree.doc.Value), `write {"type": "object", "properties": {…}}`)
		return
	}
	if t, has := object["type"]; t != "object" {
		message := `the root has no "type"; it must say "type": "object"`
		at := ""
		if has {
			message = fmt.Sprintf(`the root's "type" is %s; it must be "object"`, literal(t))
			at = "/type"
		}
		c.find("S02", Error, at, false, message, `arguments are named: write {"type": "object", "properties": {…}}`)
	}
}

// resolve finds the targets of all references. Each must lie in the document.
func (c *compilation) resolve() {
	t := c.tree
	for i := 0; i < len(t.refs); i++ { // grows where a reference leads to an unknown place
		r := t.refs[i]
		file, fragment, _ := strings.Cut(r.text, "#")
		if file != "" && !t.isSelf(file) {
			c.find("S05", Error, r.pointer(), false, fmt.Sprintf("%q to %q leaves the document", r.keyword, clip(r.text, 200)), "put the schema into $defs of this one")
			continue
		}
		if r.target = t.target(fragment); r.target == nil {
			c.find("S05", Error, r.pointer(), false, fmt.Sprintf("%q to %q leads to no schema", r.keyword, clip(r.text, 200)), nearestHint(t, fragment))
		}
	}
}

// nearestHint proposes the definition that was probably meant.
func nearestHint(t *tree, fragment string) string {
	var names []string
	if t.root != nil {
		for _, k := range []string{"$defs", "definitions"} {
			for _, d := range t.root.named[k] {
				names = append(names, "#/"+k+"/"+jsondoc.Escape(d.name))
			}
		}
	}
	if near := suggest.Nearest("#"+fragment, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(names) > 0 {
		return "there are " + listed(names)
	}
	return ""
}

func (c *compilation) checkNames() {
	for _, n := range c.tree.idNodes {
		k := c.dialect.idKeyword()
		c.find("S05", Error, n.pointer+"/"+k, true, fmt.Sprintf("%q inside a schema", k), fmt.Sprintf(`take it out and refer to the place itself, such as "#%s"`, n.pointer))
	}
	for _, n := range c.tree.twice {
		c.find("S05", Error, n.pointer, false, "an anchor that another schema has too", "give each its own name")
	}
}

func (c *compilation) checkPatterns(late *atomic.Int32) {
	left := maxPatternSize
	compile := func(expr, pointer string, atName bool) *pattern {
		p, err := compilePattern(expr, left, late)
		switch {
		case errors.Is(err, errPatternSize):
			c.find("S07", Error, pointer, atName, fmt.Sprintf("the pattern %q is too large", clip(expr, maxEcho)), "count with minLength and maxLength instead of repeating")
			return nil
		case err != nil:
			c.find("S07", Error, pointer, atName, fmt.Sprintf("the pattern %q is no regular expression: %s", clip(expr, maxEcho), patternError(err)), "")
			return nil
		}
		left -= p.size
		return p
	}
	for _, n := range c.tree.order {
		if n.object == nil || c.alone(n) {
			continue
		}
		if expr, ok := n.object["pattern"].(string); ok {
			n.pattern = compile(expr, n.pointer+"/pattern", false)
		}
		for _, p := range n.named["patternProperties"] {
			if compiled := compile(p.name, p.node.pointer, true); compiled != nil {
				n.patterns = append(n.patterns, patternNode{compiled, p.node})
			}
		}
	}
}

var patternErrorPrefix = lazyregexp.New("^error parsing regexp: ")

func patternError(err error) string { return patternErrorPrefix.ReplaceAllString(err.Error(), "") }

// alone says whether a schema is a $ref beside which nothing counts.
func (c *compilation) alone(n *node) bool { return c.tree.alone(n) }

// checkCost refuses references that lead back to where they started without a
// step into the value, and schemas that meet one value far too often.
func (c *compilation) checkCost() {
	const running = -1
	var visit func(n *node) int
	visit = func(n *node) int {
		if n.cost != 0 {
			return n.cost
		}
		n.cost = running
		sum := 1
		for _, next := range n.inPlace() {
			cost := visit(next)
			if cost == running {
				at := n.pointer
				if len(n.refs) > 0 {
					at = n.refs[0].pointer()
				}
				c.find("S06", Error, at, false, `a "$ref" that leads back to itself without a step into the value`, "refer to it below properties or items, or take it out")
				cost = 1
			}
			sum = min(sum+cost, maxInPlace+1)
		}
		n.cost = sum
		return sum
	}
	for _, n := range c.tree.order {
		if visit(n) > maxInPlace {
			c.find("S06", Error, n.pointer, false, fmt.Sprintf("one value would be looked at by more than %d schemas here", maxInPlace), "nest fewer anyOf, oneOf and allOf")
			return
		}
	}
}

// checkRequired finds names that are required and cannot be there.
func (c *compilation) checkRequired() {
	for _, n := range c.tree.order {
		if n.object == nil || c.alone(n) || c.optional(n) {
			continue
		}
		closed := n.one["additionalProperties"]
		for i, name := range stringsOf(n.object["required"]) {
			if len(c.findings) >= maxFindings {
				return // suggestions cost
			}
			if n.props[name] != nil || len(n.member(name)) > 0 && (closed == nil || n.member(name)[0] != closed) {
				continue
			}
			at := fmt.Sprintf("%s/required/%d", n.pointer, i)
			var names []string
			for _, p := range n.named["properties"] {
				names = append(names, p.name)
			}
			hint := "add it to properties, or take it out of required"
			if near := suggest.Nearest(name, names); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			switch {
			case closed != nil && closed.object == nil && !closed.fixed:
				c.find("S09", Error, at, false, fmt.Sprintf("the required %q is not in properties, and additionalProperties is false: nothing can fit", name), hint)
			case closed == nil && len(names) > 0 && len(n.inPlace()) == 0 && (n.parent == nil || n.keyword != "allOf"):
				c.find("S09", Warning, at, false, fmt.Sprintf("the required %q is not in properties", name), hint)
			}
		}
	}
}

// optional says whether a schema, or one around it, need not hold.
func (c *compilation) optional(n *node) bool {
	for ; n != nil; n = n.parent {
		if slices.Contains([]string{"not", "if", "then", "else", "anyOf", "oneOf", "contains", "dependencies", "dependentSchemas"}, n.keyword) {
			return true
		}
	}
	return false
}

// checkHeaders checks x-mcp-header, which maps an argument to an HTTP header:
// the MCP library panics on a wrong one.
func (c *compilation) checkHeaders() {
	seen := map[string]bool{}
	reachable := map[*node]bool{c.tree.root: true}
	for _, n := range c.tree.order { // parents come before their parts
		if n.parent != nil && n.keyword == "properties" && reachable[n.parent] {
			reachable[n] = true
		}
		v, ok := n.object["x-mcp-header"]
		if !ok {
			continue
		}
		at := n.pointer + "/x-mcp-header"
		name, isText := v.(string)
		kind, _ := n.object["type"].(string)
		switch {
		case n == c.tree.root || !reachable[n]:
			c.find("S10", Error, at, true, "x-mcp-header at a place that is not reached by properties alone", "put it on a property of the root or of nested objects")
		case kind != "string" && kind != "integer" && kind != "boolean":
			c.find("S10", Error, at, true, "x-mcp-header on a property that is no string, integer or boolean", "")
		case !isText || !isToken(name):
			c.find("S10", Error, at, false, fmt.Sprintf("x-mcp-header is %s, which is no header name", literal(v)), "use letters, digits and -")
		case seen[strings.ToLower(name)]:
			c.find("S10", Error, at, false, fmt.Sprintf("x-mcp-header %q is used twice", name), "give each property its own header")
		}
		seen[strings.ToLower(name)] = true
	}
	c.checkHiddenHeaders()
}

// checkHiddenHeaders finds the annotation where this dialect sees no schema but
// the MCP library, which knows no dialects, does.
func (c *compilation) checkHiddenHeaders() {
	var visit func(pointer string, object map[string]any)
	visit = func(pointer string, object map[string]any) {
		props, _ := object["properties"].(map[string]any)
		for name, v := range props {
			at := pointer + "/properties/" + jsondoc.Escape(name)
			prop, _ := v.(map[string]any)
			if _, ok := prop["x-mcp-header"]; ok && c.tree.nodes[at] == nil {
				c.find("S10", Error, at, false, "x-mcp-header beside a $ref, where this dialect sees nothing else", "")
			}
			visit(at, prop)
		}
	}
	if root, ok := c.tree.doc.Value.(map[string]any); ok {
		visit("", root)
	}
}

// isToken says whether s is a token of HTTP.
func isToken(s string) bool {
	for _, r := range s {
		if r > 127 || !strings.ContainsRune("!#$%&'*+-.^_`|~", r) && !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return false
		}
	}
	return s != ""
}
