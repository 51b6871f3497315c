package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/lazyregexp"
	"github.com/toolhost/toolhost/internal/suggest"
)

// linted gives the findings that do not refuse a schema, in the order of the text.
func (c *compilation) linted(s *Schema) []Finding {
	l := linter{compilation: c, schema: s}
	l.root()
	for _, n := range c.tree.order {
		if n.object != nil {
			l.node(n)
		}
	}
	if l.values > 1000 {
		l.warn("M12", "", false, fmt.Sprintf("%d enum values in all; some clients take 1000", l.values), "list fewer, or describe them")
	}
	if l.depth > 10 {
		l.warn("M12", l.deepest, false, fmt.Sprintf("properties are nested %d deep; some clients take 10", l.depth), "flatten the arguments")
	}
	sortFindings(c.findings)
	return c.findings
}

type linter struct {
	*compilation
	schema  *Schema
	values  int // enum values seen
	depth   int
	deepest string
}

func (l *linter) warn(rule, pointer string, atName bool, message, hint string) {
	l.find(rule, Warning, pointer, atName, message, hint)
}

func (l *linter) info(rule, pointer string, atName bool, message, hint string) {
	l.find(rule, Info, pointer, atName, message, hint)
}

// root checks what only the whole schema can have.
func (l *linter) root() {
	root := l.tree.root
	for _, k := range []string{"anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "$ref"} {
		if _, ok := root.object[k]; ok {
			l.warn("M01", "/"+k, true, fmt.Sprintf("%q at the root: some model providers refuse every request of a client with such a tool", k), "describe the alternatives in words and check them in the handler")
		}
	}
	if _, ok := root.object["$schema"]; ok && l.dialect <= draft07 {
		how := "it is published without $schema, since some clients refuse older drafts"
		if len(l.schema.public) == len(l.tree.doc.Text()) {
			how = "it is published as it is, since it would mean something else as 2020-12"
		}
		l.info("M04", "/$schema", true, fmt.Sprintf("declares %s and is read as that; %s", l.dialect, how), "")
	}
	if _, ok := root.object["additionalProperties"]; !ok {
		l.info("M14", "", false, "arguments with unknown names are ignored", `add "additionalProperties": false, then a wrong name is told to the model`)
	}
	if size := len(l.schema.public); size > 8<<10 {
		l.info("M15", "", false, fmt.Sprintf("has %d bytes, which every request carries", size), "describe less")
	}
	if n := len(root.props); n > 30 {
		l.info("M15", "/properties", true, fmt.Sprintf("has %d arguments", n), "split the tool")
	}
}

func (l *linter) node(n *node) {
	l.keywords(n)
	if l.alone(n) {
		l.refs(n)
		return
	}
	l.properties(n)
	l.lists(n)
	l.texts(n)
	l.refs(n)
	if depth := l.depthOf(n); depth > l.depth {
		l.depth, l.deepest = depth, n.pointer
	}
}

// depthOf counts the properties around a schema.
func (l *linter) depthOf(n *node) int {
	depth := 0
	for ; n != nil; n = n.parent {
		if n.keyword == "properties" {
			depth++
		}
	}
	return depth
}

var clientName = lazyregexp.New(`^[a-zA-Z0-9_.-]{1,64}$`)

func (l *linter) properties(n *node) {
	required := stringsOf(n.object["required"])
	for _, p := range n.named["properties"] {
		at := p.node.pointer
		if !clientName.MatchString(p.name) {
			l.warn("M02", at, true, fmt.Sprintf("the property name %q: some clients drop a tool silently for it", clip(p.name, maxEcho)), "use up to 64 letters, digits, _, . and -")
		}
		if p.node.object == nil {
			continue
		}
		if slices.Contains(required, p.name) {
			if _, ok := p.node.object["default"]; ok {
				l.info("M16", at+"/default", true, fmt.Sprintf("the default of %q is never used, since it is required", clip(p.name, maxEcho)), "take it out of required, or drop the default")
			}
		}
		if p.node.description() == "" {
			l.info("M13", at, true, fmt.Sprintf("%q has no description", clip(p.name, maxEcho)), "say what it means: the model reads it")
		}
		_, hasType := p.node.object["type"]
		_, hasEnum := p.node.object["enum"]
		_, hasConst := p.node.object["const"]
		if !hasType && !hasEnum && !hasConst && len(p.node.inPlace()) == 0 {
			l.info("M10", at, true, fmt.Sprintf("%q has no type", clip(p.name, maxEcho)), "")
		}
	}
}

func (l *linter) lists(n *node) {
	if t, ok := n.object["type"]; ok && typesOf(t)&typeArray != 0 {
		_, items := n.object["items"]
		if !items && n.object["prefixItems"] == nil {
			l.warn("M03", n.pointer, false, `an array without "items": some clients refuse the tool`, `add "items"`)
		}
	}
	values, ok := n.object["enum"].([]any)
	if !ok {
		return
	}
	l.values += len(values)
	chars, texts := 0, true
	for _, v := range values {
		s, isText := v.(string)
		texts = texts && isText
		chars += len(s)
	}
	at := n.pointer + "/enum"
	switch {
	case len(values) > 250 || chars > 15_000:
		l.warn("M12", at, true, fmt.Sprintf("enum of %d values and %d characters; some clients take 250 and 15000", len(values), chars), "list fewer, or describe them")
	case len(values) > 50:
		l.info("M12", at, true, fmt.Sprintf("enum of %d values", len(values)), "")
	}
	if !texts {
		l.info("M10", at, true, "enum with values that are no texts: some clients refuse them", "")
	}
}

func (l *linter) texts(n *node) {
	for _, name := range []string{"title", "description"} {
		text, _ := n.object[name].(string)
		if r, found := Hidden(text); found {
			l.warn("M17", n.pointer+"/"+name, false, fmt.Sprintf("%q holds the character %U, which people do not see and the model reads", name, r), "take it out")
		}
	}
	if format, ok := n.object["format"].(string); ok {
		at := n.pointer + "/format"
		switch {
		case isPathFormat(format):
		case !isAsserted(format):
			hint := "known are " + strings.Join(append(slices.Clone(formatNames), formatFile, formatDir), ", ")
			if near := suggest.Nearest(format, append(slices.Clone(formatNames), formatFile, formatDir)); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			l.warn("M08", at, false, fmt.Sprintf("the format %q is not checked", clip(format, maxEcho)), hint)
		case format != "date-time" && n.types&typeString != 0:
			l.info("M09", at, false, fmt.Sprintf("the format %q: some clients take only date-time", format), "")
		}
	}
	if n.pattern != nil && n.pattern.slow != nil {
		l.slow(n.pattern, n.pointer+"/pattern", false)
	}
	for _, p := range n.patterns {
		if p.pattern.slow != nil {
			l.slow(p.pattern, p.node.pointer, true)
		}
	}
}

func (l *linter) slow(p *pattern, at string, atName bool) {
	l.warn("M11", at, atName, fmt.Sprintf("the pattern %q needs backtracking: a text on which it takes over %v does not match", clip(p.expr, maxEcho), backtrackTime),
		"write it without look-around and back-references")
}

func (l *linter) refs(n *node) {
	for _, r := range n.refs {
		l.info("M05", r.pointer(), true, fmt.Sprintf("%q: some clients cannot follow it", r.keyword), "write the schema out in its place")
	}
	if !l.alone(n) {
		return
	}
	for _, name := range l.tree.doc.Keys(n.pointer) {
		if k, known := keywords[name]; known && k.shape != shapeNote && k.shape != shapeDefs && name != "$ref" {
			l.warn("M06", n.pointer+"/"+name, true, fmt.Sprintf("%q beside a $ref is ignored in %s", name, l.dialect), `put both into "allOf"`)
		}
	}
}

// foreign are keywords of other formats, with what they are in JSON Schema.
func foreign(name string) string {
	return map[string]string{
		"nullable": `write "type": ["string", "null"]`,
		"example":  `use "examples", a list`,
		"min":      `use "minimum", "minLength" or "minItems"`,
		"max":      `use "maximum", "maxLength" or "maxItems"`,
		"values":   `use "enum"`,
		"optional": `list what must be there in "required" of the object`,
	}[name]
}

// keywords looks for names that this dialect makes nothing of.
func (l *linter) keywords(n *node) {
	for _, name := range l.tree.doc.Keys(n.pointer) {
		if len(l.findings) >= maxFindings {
			return // suggestions cost
		}
		at := n.pointer + "/" + jsondoc.Escape(name)
		_, list := n.object[name].([]any)
		if k, known := keywords[name]; known && name != "id" {
			switch {
			case name == "$defs":
			case name == "items" && list && l.dialect == draft2020:
				l.warn("M06", at, true, `a list of "items" is of older drafts`, `use "prefixItems"`)
			case l.dialect < k.from && k.shape != shapeNote, l.dialect > k.to && k.shape != shapeNote, (name == "$anchor" || name == "$dynamicAnchor") && l.dialect < k.from:
				l.warn("M06", at, true, fmt.Sprintf("%q is ignored in %s", name, l.dialect), l.otherDialect(name, k))
			}
			continue
		}
		if strings.HasPrefix(name, "x-") || name == "id" {
			continue
		}
		hint := foreign(name)
		if near := suggest.Nearest(name, l.keywordNames()); hint == "" && near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		l.warn("M07", at, true, fmt.Sprintf("unknown keyword %q is ignored", clip(name, maxEcho)), hint)
	}
}

func (l *linter) keywordNames() []string {
	var names []string
	for name := range keywords {
		if _, ok := l.dialect.keyword(name); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// otherDialect says what to do about a keyword of another dialect.
func (l *linter) otherDialect(name string, k keyword) string {
	instead := map[string]string{
		"dependencies":     `use "dependentRequired" or "dependentSchemas"`,
		"additionalItems":  `use "prefixItems" with "items"`,
		"$recursiveRef":    `use "$dynamicRef"`,
		"$recursiveAnchor": `use "$dynamicAnchor"`,
	}[name]
	if l.dialect < k.from {
		return fmt.Sprintf("declare %s or later, or leave $schema out", k.from)
	}
	return instead
}
