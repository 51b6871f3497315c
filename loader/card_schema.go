package loader

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/lazyregexp"
	"github.com/toolhost/toolhost/internal/suggest"
)

// The bounds of a card's schemas.
const (
	maxCardNodes   = 500
	maxCardDepth   = 16
	maxCardEnum    = 256
	maxEnumBytes   = 16 << 10
	maxConstBytes  = 4 << 10
	maxAlternative = 16
	maxSchemaWords = 20 // mistakes of one schema that are reported
)

var (
	cardFormats = []string{"uri", "date-time", "date", "email", "color", "uuid"}
	cardNotes   = []string{"$id", "$schema", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}
	cardWords   = []string{
		"$ref", "$defs", "type", "enum", "const", "properties", "required", "additionalProperties", "minProperties", "maxProperties",
		"items", "minItems", "maxItems", "uniqueItems", "minLength", "maxLength", "format", "minimum", "maximum",
		"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "anyOf", "oneOf",
	}
	cardTypes  = []string{"string", "number", "integer", "boolean", "object", "array", "null"}
	cardCounts = []string{"minProperties", "maxProperties", "minItems", "maxItems", "minLength", "maxLength"}
	cardRef    = lazyregexp.New(`^#/\$defs/([^/]+)$`)
)

// schemaChecker goes over one schema of a card.
type schemaChecker struct {
	*checker
	root        map[string]any
	nodes, said int
	tooLarge    bool
}

// cardSchema checks the schema of a tool's arguments, and gives its text.
func (c *checker) cardSchema(pointer string, s map[string]any) json.RawMessage {
	if t, there := s["type"]; !there || t != "object" {
		at := pointer + "/type"
		if !there {
			c.error(at, ruleCardSchema, `the schema of the arguments has no "type"; it must be "object"`, `add "type": "object"`)
		} else {
			c.error(at, ruleCardSchema, fmt.Sprintf(`the "type" of the arguments must be "object", not %s`, shown(t)), `write "type": "object"`)
		}
	}
	if _, declared := object(s, "properties")[copyArgument]; declared {
		c.keyError(pointer+"/properties/"+copyArgument, ruleCardSchema, `the argument "card" is reserved: the host adds it, to pick one of several copies of the card`, "give the argument another name")
	}
	c.cardSubset(pointer, s)
	return json.RawMessage(c.doc.TextOf(pointer))
}

// cardSubset checks a schema against the part of the language that cards have.
func (c *checker) cardSubset(pointer string, s map[string]any) {
	sc := &schemaChecker{checker: c, root: s}
	sc.schema(pointer, s, 0)
}

func (c *schemaChecker) wrong(pointer, msg, hint string) {
	if c.said++; c.said <= maxSchemaWords {
		c.error(pointer, ruleCardSchema, msg, hint)
	}
}

func (c *schemaChecker) schema(pointer string, value any, depth int) {
	if c.tooLarge || c.said >= maxSchemaWords {
		return
	}
	if c.nodes++; c.nodes > maxCardNodes {
		c.tooLarge = true
		c.wrong(pointer, fmt.Sprintf("the schema has more than %d parts", maxCardNodes), "simplify it: models cope badly with large schemas, too")
		return
	}
	if depth > maxCardDepth {
		c.wrong(pointer, fmt.Sprintf("the schema is nested more than %d deep", maxCardDepth), "flatten it, or refer to parts in $defs")
		return
	}
	s, ok := value.(map[string]any)
	if !ok {
		c.wrong(pointer, fmt.Sprintf("a schema must be an object, not %s", kind(value)), "")
		return
	}
	for _, name := range c.doc.Keys(pointer) {
		at, v := pointer+"/"+jsondoc.Escape(name), s[name]
		switch {
		case slices.Contains(cardNotes, name):
			if _, ok := v.(string); !ok && (name == "title" || name == "description" || name == "$comment") {
				c.wrong(at, fmt.Sprintf("%q must be a string, not %s", name, kind(v)), "")
			}
		case slices.Contains(cardWords, name):
			c.word(at, name, v, depth)
		case name == "pattern":
			c.keyWrong(at, `"pattern" is not allowed in the schemas of cards`, `use "enum", "format" or "maxLength", and check the rest in the handler`)
		default:
			hint := "cards have only a part of JSON Schema; the manual lists it"
			if near := suggest.Nearest(name, cardWords); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			c.keyWrong(at, fmt.Sprintf("the schemas of cards have no keyword %q", cut(name)), hint)
		}
	}
}

func (c *schemaChecker) keyWrong(pointer, msg, hint string) {
	if c.said++; c.said <= maxSchemaWords {
		c.keyError(pointer, ruleCardSchema, msg, hint)
	}
}

// word checks one keyword.
func (c *schemaChecker) word(at, name string, v any, depth int) {
	switch name {
	case "$ref":
		if s, ok := v.(string); !ok || !c.leads(s) {
			c.wrong(at, fmt.Sprintf(`"$ref" must be "#", or "#/$defs/NAME" of something that is there, not %s`, shown(v)), "")
		}
	case "$defs", "properties":
		o, ok := v.(map[string]any)
		if !ok {
			c.wrong(at, fmt.Sprintf("%q must be an object of schemas, not %s", name, kind(v)), "")
			return
		}
		for _, n := range c.doc.Keys(at) {
			c.schema(at+"/"+jsondoc.Escape(n), o[n], depth+1)
		}
	case "items":
		c.schema(at, v, depth+1)
	case "additionalProperties":
		if _, ok := v.(bool); !ok {
			c.schema(at, v, depth+1)
		}
	case "anyOf", "oneOf":
		l, ok := v.([]any)
		if !ok || len(l) == 0 || len(l) > maxAlternative {
			c.wrong(at, fmt.Sprintf("%q must be a list of 1 to %d schemas", name, maxAlternative), "")
			return
		}
		for i, one := range l {
			c.schema(at+"/"+strconv.Itoa(i), one, depth+1)
		}
	case "type":
		c.typeWord(at, v)
	case "enum":
		l, ok := v.([]any)
		switch {
		case !ok || len(l) == 0 || len(l) > maxCardEnum:
			c.wrong(at, fmt.Sprintf(`"enum" must be a list of 1 to %d values`, maxCardEnum), "")
		case len(jsondoc.Marshal(l)) > maxEnumBytes:
			c.wrong(at, fmt.Sprintf(`the values of "enum" have more than %d bytes`, maxEnumBytes), "")
		}
	case "const":
		if len(jsondoc.Marshal(v)) > maxConstBytes {
			c.wrong(at, fmt.Sprintf(`"const" has more than %d bytes`, maxConstBytes), "")
		}
	case "required":
		l, ok := v.([]any)
		if !ok || slices.ContainsFunc(l, func(v any) bool { _, isText := v.(string); return !isText }) {
			c.wrong(at, `"required" must be a list of names of properties`, "")
		}
	case "uniqueItems":
		if _, ok := v.(bool); !ok {
			c.wrong(at, fmt.Sprintf(`"uniqueItems" must be true or false, not %s`, kind(v)), "")
		}
	case "format":
		if s, ok := v.(string); !ok || !slices.Contains(cardFormats, s) {
			c.wrong(at, fmt.Sprintf("cards have no format %s", shown(v)), "the formats are "+oneOf(cardFormats))
		}
	default:
		c.numberWord(at, name, v)
	}
}

// leads reports whether a reference leads to a schema.
func (c *schemaChecker) leads(ref string) bool {
	if ref == "#" {
		return true
	}
	m := cardRef.FindStringSubmatch(ref)
	if m == nil {
		return false
	}
	_, ok := object(c.root, "$defs")[jsondoc.Unescape(m[1])].(map[string]any)
	return ok
}

func (c *schemaChecker) typeWord(at string, v any) {
	l, ok := v.([]any)
	if !ok {
		l = []any{v}
	}
	for _, one := range l {
		if s, ok := one.(string); !ok || !slices.Contains(cardTypes, s) {
			c.wrong(at, fmt.Sprintf("there is no type %s", shown(one)), "the types are "+oneOf(cardTypes))
			return
		}
	}
	if len(l) == 0 {
		c.wrong(at, `"type" must not be an empty list`, "the types are "+oneOf(cardTypes))
	}
}

func (c *schemaChecker) numberWord(at, name string, v any) {
	n, ok := v.(json.Number)
	if !ok {
		c.wrong(at, fmt.Sprintf("%q must be a number, not %s", name, kind(v)), "")
		return
	}
	f, err := n.Float64()
	switch {
	case err != nil || math.IsInf(f, 0):
		c.wrong(at, fmt.Sprintf("%q is a number that a float64 does not hold", name), "")
	case slices.Contains(cardCounts, name) && (f < 0 || f != math.Trunc(f)):
		c.wrong(at, fmt.Sprintf("%q must be a whole number from 0, not %s", name, cut(n.String())), "")
	case name == "multipleOf" && f <= 0:
		c.wrong(at, `"multipleOf" must be greater than 0`, "")
	}
}

// addProperty gives a schema with a property more, which stands last.
func addProperty(raw []byte, name, schema string) json.RawMessage {
	doc, err := jsondoc.Parse(raw)
	if err != nil {
		return raw // it stood in a document that was parsed
	}
	root, _ := doc.Value.(map[string]any)
	if _, ok := root["properties"].(map[string]any); ok {
		return doc.Apply([]jsondoc.Edit{doc.Append("/properties", name, schema)})
	}
	return doc.Apply([]jsondoc.Edit{doc.Append("", "properties", "{"+jsondoc.Quote(name)+":"+schema+"}")})
}
