package scaffold

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/lazyregexp"
)

// Types writes the TypeScript declarations of the arguments of tools: for each an
// interface named for the tool ("greet_file" gives GreetFile). schemas are JSON Schemas by
// tool id. What TypeScript has no type for is unknown, and what a handler gets with its
// default filled in is not optional.
func Types(schemas map[string]json.RawMessage) (string, error) {
	w := &typeWriter{taken: map[string]bool{}}
	w.b.WriteString("// Made from the schemas of the tools; do not edit.\n")
	ids := make([]string, 0, len(schemas))
	for id := range schemas {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if err := w.tool(id, schemas[id]); err != nil {
			return "", fmt.Errorf("the types of tool %q: %w", id, err)
		}
	}
	return w.b.String(), nil
}

// TypeName gives the name of the type of a tool's arguments.
func TypeName(tool string) string {
	var b strings.Builder
	upper := true
	for _, r := range tool {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			upper = true
			continue
		case b.Len() == 0 && unicode.IsDigit(r):
			b.WriteByte('T')
		}
		if upper {
			r = unicode.ToUpper(r)
		}
		upper = false
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "Params"
	}
	return b.String()
}

// maxTypeDepth is how deep types are written out; below that they are unknown.
const maxTypeDepth = 32

type typeWriter struct {
	b     strings.Builder
	taken map[string]bool
	doc   *jsondoc.Document
	names map[string]string // of the definitions of the schema at hand, by pointer
}

func (w *typeWriter) name(wanted string) string {
	name := wanted
	for i := 2; w.taken[name]; i++ {
		name = wanted + strconv.Itoa(i)
	}
	w.taken[name] = true
	return name
}

func (w *typeWriter) tool(id string, schema json.RawMessage) error {
	doc, err := jsondoc.Parse(schema)
	if err != nil {
		return err
	}
	root := w.name(TypeName(id))
	w.doc, w.names = doc, map[string]string{"": root}
	var definitions []string
	for _, at := range []string{"/$defs", "/definitions"} {
		for _, name := range doc.Keys(at) {
			pointer := at + "/" + jsondoc.Escape(name)
			definitions = append(definitions, pointer)
			w.names[pointer] = w.name(root + TypeName(name))
		}
	}
	for _, pointer := range append([]string{""}, definitions...) {
		w.declare(pointer)
	}
	return nil
}

func (w *typeWriter) at(pointer string) map[string]any {
	m, _ := jsondoc.ValueAt(w.doc.Value, jsondoc.Names(pointer)).(map[string]any)
	return m
}

// declare writes the declaration of the schema at a pointer.
func (w *typeWriter) declare(pointer string) {
	w.b.WriteByte('\n')
	w.comment(w.at(pointer), "")
	t := w.typeAt(pointer, 0, "")
	if !t.joined && strings.HasPrefix(t.text, "{") && strings.HasSuffix(t.text, "}") {
		fmt.Fprintf(&w.b, "export interface %s %s\n", w.names[pointer], t.text)
		return
	}
	fmt.Fprintf(&w.b, "export type %s = %s;\n", w.names[pointer], t.text)
}

// tsType is the text of a type; joined says that it needs brackets within another.
type tsType struct {
	text   string
	joined bool
}

var unknown = tsType{text: "unknown"}

func (t tsType) closed() string {
	if t.joined {
		return "(" + t.text + ")"
	}
	return t.text
}

// comment writes a description as a comment. Nothing in it can end the comment.
func (w *typeWriter) comment(s map[string]any, margin string) {
	text, _ := s["description"].(string)
	if text == "" {
		text, _ = s["title"].(string)
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }), " ")
	if text != "" {
		fmt.Fprintf(&w.b, "%s/** %s */\n", margin, strings.ReplaceAll(text, "*/", "* /"))
	}
}

// typesOf gives the types that a schema names.
func typesOf(s map[string]any) []string {
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var list []string
		for _, v := range t {
			if name, ok := v.(string); ok {
				list = append(list, name)
			}
		}
		return list
	}
	return nil
}

// typeAt gives the type of the schema at a pointer, as text.
func (w *typeWriter) typeAt(pointer string, depth int, margin string) tsType {
	value := jsondoc.ValueAt(w.doc.Value, jsondoc.Names(pointer))
	if value == false {
		return tsType{text: "never"}
	}
	s, ok := value.(map[string]any)
	if !ok || depth > maxTypeDepth {
		return unknown
	}
	var parts []tsType // all of them hold
	if ref, ok := s["$ref"].(string); ok {
		name, known := w.names[strings.TrimPrefix(ref, "#")]
		if !known || !strings.HasPrefix(ref, "#") {
			name = "unknown"
		}
		parts = append(parts, tsType{text: name})
	}
	if c, ok := s["const"]; ok {
		parts = append(parts, literal(c))
	} else if list, ok := s["enum"].([]any); ok {
		var choices []tsType
		for _, v := range list {
			choices = append(choices, literal(v))
		}
		parts = append(parts, union(choices))
	} else {
		parts = append(parts, w.own(s, pointer, depth, margin))
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if list, ok := s[word].([]any); ok {
			var choices []tsType
			for i := range list {
				choices = append(choices, w.typeAt(fmt.Sprintf("%s/%s/%d", pointer, word, i), depth+1, margin))
			}
			parts = append(parts, union(choices))
		}
	}
	if list, ok := s["allOf"].([]any); ok {
		for i := range list {
			parts = append(parts, w.typeAt(fmt.Sprintf("%s/allOf/%d", pointer, i), depth+1, margin))
		}
	}
	return intersection(parts)
}

// own gives the type that a schema's own words about types say.
func (w *typeWriter) own(s map[string]any, pointer string, depth int, margin string) tsType {
	types := typesOf(s)
	if len(types) == 0 {
		switch {
		case s["properties"] != nil:
			types = []string{"object"}
		case s["items"] != nil || s["prefixItems"] != nil:
			types = []string{"array"}
		default:
			return unknown
		}
	}
	var choices []tsType
	for _, t := range types {
		switch t {
		case "string", "boolean", "null":
			choices = append(choices, tsType{text: t})
		case "integer", "number":
			choices = append(choices, tsType{text: "number"})
		case "array":
			choices = append(choices, tsType{text: w.array(s, pointer, depth, margin)})
		case "object":
			choices = append(choices, tsType{text: w.object(s, pointer, depth, margin)})
		}
	}
	return union(choices)
}

func (w *typeWriter) array(s map[string]any, pointer string, depth int, margin string) string {
	tuple := "prefixItems"
	if _, ok := s["items"].([]any); ok {
		tuple = "items"
	}
	if list, ok := s[tuple].([]any); ok {
		var items []string
		for i := range list {
			items = append(items, w.typeAt(fmt.Sprintf("%s/%s/%d", pointer, tuple, i), depth+1, margin).closed()+"?")
		}
		rest := unknown
		if more := map[string]string{"prefixItems": "items", "items": "additionalItems"}[tuple]; s[more] != nil {
			rest = w.typeAt(pointer+"/"+more, depth+1, margin)
		}
		if rest.text != "never" {
			items = append(items, "..."+rest.closed()+"[]")
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	if s["items"] == nil {
		return "unknown[]"
	}
	return w.typeAt(pointer+"/items", depth+1, margin).closed() + "[]"
}

var identifier = lazyregexp.New(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

func (w *typeWriter) object(s map[string]any, pointer string, depth int, margin string) string {
	required, _ := s["required"].([]any)
	inner := margin + "  "
	var b strings.Builder
	for _, name := range w.doc.Keys(pointer + "/properties") {
		at := pointer + "/properties/" + jsondoc.Escape(name)
		member := w.at(at)
		optional := "?"
		if _, filled := member["default"]; filled || slices.Contains(required, any(name)) {
			optional = ""
		}
		key := name
		if !identifier.MatchString(name) {
			key = literal(name).text
		}
		about := &typeWriter{}
		about.comment(member, inner)
		fmt.Fprintf(&b, "%s%s%s%s: %s;\n", about.b.String(), inner, key, optional, w.typeAt(at, depth+1, inner).text)
	}
	switch more := s["additionalProperties"].(type) {
	case map[string]any:
		value := w.typeAt(pointer+"/additionalProperties", depth+1, inner)
		if b.Len() == 0 {
			return "Record<string, " + value.text + ">"
		}
		fmt.Fprintf(&b, "%s[name: string]: unknown;\n", inner) // the named members may be of other types
	case bool:
		if more && b.Len() > 0 {
			fmt.Fprintf(&b, "%s[name: string]: unknown;\n", inner)
		}
	}
	if b.Len() == 0 {
		if s["additionalProperties"] == false {
			return "Record<string, never>"
		}
		return "Record<string, unknown>"
	}
	return "{\n" + b.String() + margin + "}"
}

// literal gives a value as a type. Lists and objects have none that is worth it.
func literal(v any) tsType {
	switch v.(type) {
	case string, json.Number, float64, bool, nil:
		// The two that JSON allows in a text and older scripts do not.
		return tsType{text: strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`).Replace(string(jsondoc.Marshal(v)))}
	}
	return unknown
}

func union(list []tsType) tsType {
	if slices.Contains(list, unknown) || len(list) == 0 {
		return unknown
	}
	return join(list, " | ", func(t tsType) string { return t.text })
}

func intersection(list []tsType) tsType {
	list = slices.DeleteFunc(list, func(t tsType) bool { return t == unknown })
	if len(list) == 0 {
		return unknown
	}
	return join(list, " & ", tsType.closed)
}

// join joins types, each once, in the order in which they first came.
func join(list []tsType, with string, text func(tsType) string) tsType {
	var once []string
	for _, t := range list {
		if !slices.Contains(once, text(t)) {
			once = append(once, text(t))
		}
	}
	if len(once) == 1 {
		return list[0]
	}
	return tsType{strings.Join(once, with), true}
}
