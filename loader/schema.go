package loader

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/schema"
	"github.com/toolhost/toolhost/internal/suggest"
)

// manifestSchemaText and cardSchemaText are published in docs.
var (
	//go:embed filer-plugin.schema.json
	manifestSchemaText []byte
	//go:embed neurosquad-card.schema.json
	cardSchemaText []byte
)

// ManifestSchema gives the JSON Schema of the manifests of Filer plugins, for editors.
func ManifestSchema() []byte { return bytes.Clone(manifestSchemaText) }

// CardSchema gives the JSON Schema of the manifests of cards, for editors.
func CardSchema() []byte { return bytes.Clone(cardSchemaText) }

// form is what the manifests of one kind are like.
type form struct {
	text []byte
	// tree gives the schema as a tree with its references followed. It is not changed after
	// it was read.
	tree func() *node
	// compiled holds the schema compiled; nil until it is needed. Whoever checks takes it out,
	// and others wait: a check takes a hundredth of what compiling does, and has a time limit. A
	// schema whose check took too long is busy until that has ended, so it is dropped, and the
	// next manifest is none the worse. A sync.Pool would be emptied at each collection, of which
	// loading makes many.
	compiled chan *schema.Schema
}

func newForm(text []byte) *form {
	f := &form{text: text, tree: sync.OnceValue(func() *node { return readTree(text) }), compiled: make(chan *schema.Schema, 1)}
	f.compiled <- nil
	return f
}

var filerForm, cardForm = newForm(manifestSchemaText), newForm(cardSchemaText)

// node is a part of the manifest schema, as far as messages and the search for unknown
// fields need it.
type node struct {
	Ref         string           `json:"$ref"`
	Description string           `json:"description"`
	Type        Strings          `json:"type"`
	Enum        []any            `json:"enum"`
	Examples    []any            `json:"examples"`
	Properties  map[string]*node `json:"properties"`
	Additional  *node            `json:"additionalProperties"`
	Items       *node            `json:"items"`
	Required    []string         `json:"required"`
	Definitions map[string]*node `json:"definitions"`

	nothing bool // it is false: nothing may stand there
}

// UnmarshalJSON also takes false.
func (n *node) UnmarshalJSON(data []byte) error {
	if string(data) == "false" {
		n.nothing = true
		return nil
	}
	type plain node
	return json.Unmarshal(data, (*plain)(n))
}

// readTree reads a schema.
func readTree(text []byte) *node {
	root := &node{}
	if err := json.Unmarshal(text, root); err != nil {
		panic(fmt.Sprintf("reading the manifest schema: %v", err))
	}
	var follow func(n *node) *node
	follow = func(n *node) *node {
		if n == nil {
			return nil
		}
		if n.Ref != "" {
			return root.Definitions[strings.TrimPrefix(n.Ref, "#/definitions/")]
		}
		for name, p := range n.Properties {
			n.Properties[name] = follow(p)
		}
		n.Additional, n.Items = follow(n.Additional), follow(n.Items)
		return n
	}
	for _, d := range root.Definitions {
		follow(d)
	}
	return follow(root)
}

// check checks a value against the schema of the form.
func (f *form) check(value json.RawMessage) (schema.Checked, error) {
	s := <-f.compiled
	var good *schema.Schema
	defer func() { f.compiled <- good }()
	if s == nil {
		var err error
		if s, err = schema.Compile(f.text); err != nil {
			panic(fmt.Sprintf("compiling the manifest schema: %v", err))
		}
	}
	checked, err := s.Check(value, true)
	if err == nil {
		good = s
	}
	return checked, err
}

// at gives the part of the schema for the value at a JSON pointer; nil where it says nothing.
func (n *node) at(pointer string) *node {
	if pointer == "" {
		return n
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		if n == nil {
			return nil
		}
		if _, err := strconv.Atoi(token); err == nil && n.Items != nil {
			n = n.Items
			continue
		}
		if p, ok := n.Properties[jsondoc.Unescape(token)]; ok {
			n = p
			continue
		}
		n = n.Additional
	}
	return n
}

// example gives the first example as JSON text, or "".
func (n *node) example() string {
	if n == nil || len(n.Examples) == 0 {
		return ""
	}
	return compact(n.Examples[0])
}

// prune gives a copy of a value without the members that the schema does not know, and
// warns about each of them; in a card they are mistakes.
func (c *checker) prune(n *node, value any, pointer string) any {
	switch v := value.(type) {
	case map[string]any:
		if n == nil || n.Properties == nil && n.Additional == nil {
			return v
		}
		kept := make(map[string]any, len(v))
		for _, name := range c.doc.Keys(pointer) {
			at := pointer + "/" + jsondoc.Escape(name)
			p, ok := n.Properties[name]
			if !ok {
				p = n.Additional
			}
			if p == nil || p.nothing {
				c.unknown(n, v, at, name)
				continue
			}
			kept[name] = c.prune(p, v[name], at)
		}
		return kept
	case []any:
		if n == nil || n.Items == nil {
			return v
		}
		kept := make([]any, len(v))
		for i, item := range v {
			kept[i] = c.prune(n.Items, item, pointer+"/"+strconv.Itoa(i))
		}
		return kept
	}
	return value
}

func (c *checker) unknown(n *node, object map[string]any, pointer, name string) {
	strict := c.form == cardForm
	if !strict && len(c.warnings) >= maxReports { // spares the search for the likely name
		c.moreWarnings++
		return
	}
	names := slices.Sorted(maps.Keys(n.Properties))
	free := slices.DeleteFunc(slices.Clone(names), func(p string) bool { _, there := object[p]; return there })
	hint := "take it away, or write it as the manual spells it"
	if likely := meant(name, free); likely != "" {
		hint = fmt.Sprintf("did you mean %q?", likely)
	} else if likely := meant(name, names); likely != "" {
		hint = fmt.Sprintf("did you mean %q? that is there already", likely)
	}
	if strict {
		c.keyError(pointer, ruleCardField, fmt.Sprintf("cards have no field %q here", cut(name)), hint)
		return
	}
	c.warn(pointer, ruleUnknown, fmt.Sprintf("unknown field %q is ignored", cut(name)), hint)
}

// meant gives the field that was probably meant: the nearest, or the only one that begins so.
func meant(name string, known []string) string {
	if likely := suggest.Nearest(name, known); likely != "" {
		return likely
	}
	const least = 4
	likely := ""
	for _, k := range known {
		if len(name) >= least && len(name) < len(k) && strings.EqualFold(k[:len(name)], name) {
			if likely != "" {
				return ""
			}
			likely = k
		}
	}
	return likely
}

// proof is the sum under which it is noted that a text fits the schema and has only members
// that the schema knows.
func (c *checker) proof(text []byte) [sha256.Size]byte {
	return sha256.Sum256(append([]byte("manifest\x00"+strconv.FormatBool(c.form == cardForm)+"\x00"), text...))
}

func (c *checker) proven(text []byte) bool { return c.proofs != nil && c.proofs.Proven(c.proof(text)) }

// checkSchema checks the manifest against its schema, and reports what no other rule
// has reported. Its text has only members that the schema knows, each once: others must not
// end the check.
func (c *checker) checkSchema(text []byte) {
	if c.moreErrors > 0 { // there is more than anybody reads, and the engine is slow at mistakes
		return
	}
	if c.proven(text) {
		return
	}
	checked, err := c.form.check(text)
	if err != nil {
		c.error("", ruleSyntax, err.Error(), "")
		return
	}
	if len(checked.Issues) == 0 && c.proofs != nil {
		c.proofs.Prove(c.proof(text))
	}
	root := c.form.tree()
	for _, issue := range checked.Issues {
		if issue.Keyword == "required" {
			c.missing(root, issue.Pointer)
			continue
		}
		if c.covered[issue.Pointer] || c.around[issue.Pointer] {
			continue
		}
		c.issue(root.at(issue.Pointer), issue)
	}
}

// missing reports the members that the object at a pointer lacks. The pointer may
// also be that of the missing member.
func (c *checker) missing(root *node, pointer string) {
	object, ok := c.value(pointer).(map[string]any)
	if !ok {
		pointer = pointer[:max(strings.LastIndexByte(pointer, '/'), 0)]
		if object, ok = c.value(pointer).(map[string]any); !ok {
			return
		}
	}
	n := root.at(pointer)
	if n == nil {
		return
	}
	for _, name := range n.Required {
		if _, there := object[name]; there {
			continue
		}
		hint := ""
		if p := n.Properties[name]; p.example() != "" {
			hint = fmt.Sprintf("add %q: %s", name, p.example())
		}
		c.error(pointer+"/"+name, ruleMissing, fmt.Sprintf("%s is missing%s", strconv.Quote(name), c.in(pointer)), hint)
	}
}

// issue turns an issue of the schema engine into words for the author.
func (c *checker) issue(n *node, issue schema.Issue) {
	value := c.value(issue.Pointer)
	name := field(issue.Pointer)
	hint := ""
	if example := n.example(); example != "" {
		hint = fmt.Sprintf("for example %s%s", keyFor(issue.Pointer), example)
	}
	switch issue.Keyword {
	case "type":
		c.error(issue.Pointer, ruleType, fmt.Sprintf("%s must be %s, not %s", name, kinds(n), kind(value)), hint)
	case "enum":
		var choices []string
		for _, e := range n.Enum {
			choices = append(choices, fmt.Sprint(e))
		}
		if s, ok := value.(string); ok {
			hint = ""
			if likely := suggest.Nearest(s, choices); likely != "" {
				hint = fmt.Sprintf("did you mean %q?", likely)
			}
		}
		c.error(issue.Pointer, ruleChoice, fmt.Sprintf("%s must be %s, not %s", name, oneOf(choices), shown(value)), hint)
	case "minLength", "minItems", "pattern":
		// The schema's one pattern that no other rule speaks of asks for some visible text.
		c.error(issue.Pointer, ruleBlank, name+" must not be empty", hint)
	case "maxLength", "maxItems", "uniqueItems", "minimum", "maximum", "exclusiveMinimum":
		c.error(issue.Pointer, ruleCardBounds, name+": "+issue.Message, hint)
	default:
		c.error(issue.Pointer, ruleType, name+": "+issue.Message, hint)
	}
}

// value gives the value at a pointer; nil where there is none.
func (c *checker) value(pointer string) any {
	return jsondoc.ValueAt(c.doc.Value, jsondoc.Names(pointer))
}

// in gives ` in tool "x"` or ` in …` for the object at a pointer, "" for the manifest itself.
func (c *checker) in(pointer string) string {
	if pointer == "" {
		return ""
	}
	if isTool(pointer) {
		return " in " + c.toolTitle(pointer)
	}
	return " in " + field(pointer)
}
