package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/xeipuuv/gojsonschema"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/suggest"
)

// explainer turns an engine's findings about a value into issues.
type explainer struct {
	value    any
	places   map[string]*node // nil for a meta-schema
	findings int              // looked at so far
	compared int              // names compared for suggestions so far
}

// The bounds on an explanation: a large value can have any number of mistakes.
const (
	maxExplained = 100_000
	maxCompared  = 50_000
)

// nearest proposes a name that was meant, as long as that is cheap. Any word of
// two letters is near to any other.
func (x *explainer) nearest(word string, names []string) string {
	if x.compared += len(names); x.compared > maxCompared || len(word) < 3 {
		return ""
	}
	return suggest.Nearest(word, names)
}

// rank is the order of issues: what is missing first, since it often explains
// what is unknown.
type rank int

const (
	rankMissing rank = iota
	rankUnknown
	rankType
	rankRest
)

// group is an issue with those that only make sense right behind it.
type group struct {
	rank   rank
	issues []Issue
}

func (x *explainer) issues(problem *jsonschema.ValidationError) []Issue {
	return flat(x.groups(problem))
}

// flat puts the groups in order and leaves out what is there twice.
func flat(groups []group) []Issue {
	groups = slices.Clone(groups)
	slices.SortStableFunc(groups, func(a, b group) int {
		if a.rank != b.rank {
			return cmp.Compare(a.rank, b.rank)
		}
		if c := comparePointers(a.issues[0].Pointer, b.issues[0].Pointer); c != 0 {
			return c
		}
		return strings.Compare(a.issues[0].Message, b.issues[0].Message)
	})
	var out []Issue
	seen := map[[2]string]bool{}
	for _, g := range groups {
		for _, issue := range g.issues {
			key := [2]string{issue.Pointer, issue.Message}
			if !seen[key] && len(out) < maxIssues {
				seen[key] = true
				out = append(out, issue)
			}
		}
	}
	return out
}

// comparePointers sorts list items by number.
func comparePointers(a, b string) int {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range min(len(as), len(bs)) {
		an, aErr := strconv.Atoi(as[i])
		bn, bErr := strconv.Atoi(bs[i])
		if aErr == nil && bErr == nil && an != bn {
			return cmp.Compare(an, bn)
		}
		if c := strings.Compare(as[i], bs[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

// groups gives the groups of one finding and of those below it.
func (x *explainer) groups(e *jsonschema.ValidationError) []group {
	if x.findings++; x.findings > maxExplained {
		return nil
	}
	at := pointerTo(e.InstanceLocation)
	v := valueAt(x.value, e.InstanceLocation)
	n := x.places[pointerOf(e.SchemaURL)]
	rest := func(keyword, expected, format string, args ...any) []group {
		return []group{{rankRest, []Issue{{at, keyword, expected, show(v), fmt.Sprintf(format, args...)}}}}
	}
	expected := func(keyword, what string) []group {
		return rest(keyword, what, "expected %s, got %s", what, show(v))
	}
	size := func(keyword, what string, got int) []group {
		return rest(keyword, what, "expected %s, got %d", what, got)
	}
	switch k := e.ErrorKind.(type) {
	case nil:
		return nil
	case *kind.Type:
		g := expected("type", typesOf(anyList(k.Want)).String())
		g[0].rank = rankType
		return g
	case *kind.Required:
		return x.missing(at, "required", n, k.Missing, "required but missing")
	case *kind.Dependency:
		return x.missing(at, "dependencies", n, k.Missing, fmt.Sprintf("required but missing, since %q is given", k.Prop))
	case *kind.DependentRequired:
		return x.missing(at, "dependentRequired", n, k.Missing, fmt.Sprintf("required but missing, since %q is given", k.Prop))
	case *kind.AdditionalProperties:
		return x.unknown(at, v, n, k.Properties)
	case *kind.FalseSchema:
		return x.forbidden(at, v, e.SchemaURL)
	case *kind.Enum:
		return x.enum(at, v, k.Want)
	case *kind.Const:
		return expected("const", literal(k.Want))
	case *kind.Format:
		g := expected("format", "a text of format "+k.Want)
		return g
	case *kind.Pattern:
		return expected("pattern", "a text that matches "+strconv.Quote(clip(k.Want, 200)))
	case *kind.MinLength:
		return size("minLength", "at least "+plural(strconv.Itoa(k.Want), "character"), k.Got)
	case *kind.MaxLength:
		return size("maxLength", "at most "+plural(strconv.Itoa(k.Want), "character"), k.Got)
	case *kind.MinItems:
		return size("minItems", "at least "+plural(strconv.Itoa(k.Want), "item"), k.Got)
	case *kind.MaxItems:
		return size("maxItems", "at most "+plural(strconv.Itoa(k.Want), "item"), k.Got)
	case *kind.AdditionalItems:
		list, _ := v.([]any)
		return size("additionalItems", "at most "+plural(strconv.Itoa(len(list)-k.Count), "item"), len(list))
	case *kind.MinProperties:
		return size("minProperties", "at least "+strconv.Itoa(k.Want)+" properties", k.Got)
	case *kind.MaxProperties:
		return size("maxProperties", "at most "+strconv.Itoa(k.Want)+" properties", k.Got)
	case *kind.Minimum:
		return expected("minimum", "at least "+number(k.Want))
	case *kind.Maximum:
		return expected("maximum", "at most "+number(k.Want))
	case *kind.ExclusiveMinimum:
		return expected("exclusiveMinimum", "more than "+number(k.Want))
	case *kind.ExclusiveMaximum:
		return expected("exclusiveMaximum", "less than "+number(k.Want))
	case *kind.MultipleOf:
		return expected("multipleOf", "a multiple of "+number(k.Want))
	case *kind.UniqueItems:
		return rest("uniqueItems", "different items", "items %d and %d are equal; each may be there once", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return rest("contains", "an item of a certain kind", "none of the items is of the kind that must be there%s", x.containsHint(n))
	case *kind.MinContains:
		return rest("minContains", fmt.Sprintf("at least %d items of a certain kind", k.Want), "expected at least %d items of a certain kind, got %d%s", k.Want, len(k.Got), x.containsHint(n))
	case *kind.MaxContains:
		return rest("maxContains", fmt.Sprintf("at most %d items of a certain kind", k.Want), "expected at most %d items of a certain kind, got %d%s", k.Want, len(k.Got), x.containsHint(n))
	case *kind.PropertyNames:
		return x.propertyName(x.places[strings.TrimSuffix(pointerOf(e.SchemaURL), "/propertyNames")], k.Property, e.Causes)
	case *kind.Not:
		return rest("not", "something else", "%s is not allowed here", show(v))
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			i, j := k.Subschemas[0]+1, k.Subschemas[1]+1
			return rest("oneOf", "exactly one alternative", "fits alternatives %d and %d, but must fit exactly one", i, j)
		}
		return x.union(at, v, "oneOf", e.Causes)
	case *kind.AnyOf:
		return x.union(at, v, "anyOf", e.Causes)
	case *kind.RefCycle, *kind.InvalidJsonValue:
		return rest("", "a value that can be checked", "cannot be checked")
	}
	var out []group
	for _, cause := range e.Causes {
		out = append(out, x.groups(cause)...)
		if len(out) > maxIssues {
			break
		}
	}
	return out
}

func (x *explainer) missing(at, keyword string, n *node, names []string, message string) []group {
	var out []group
	for _, name := range names {
		expected, text := "", message
		if about := n.property(name).about(); about != "" {
			expected, text = about, text+" ("+about+")"
		}
		out = append(out, group{rankMissing, []Issue{{at + "/" + jsondoc.Escape(name), keyword, expected, "nothing", text}}})
	}
	return out
}

func (x *explainer) unknown(at string, v any, n *node, names []string) []group {
	object, _ := v.(map[string]any)
	var known, free []string
	if n != nil {
		for _, p := range n.named["properties"] {
			known = append(known, p.name)
			if _, taken := object[p.name]; !taken {
				free = append(free, p.name)
			}
		}
	}
	slices.Sort(names)
	names = names[:min(len(names), maxIssues)]
	var out []group
	for _, name := range names {
		text, expected := "unknown property", "no such property"
		if near := x.nearest(name, free); near != "" {
			text += fmt.Sprintf("; did you mean %q?", near)
			expected = near
		} else if len(known) > 0 {
			text += "; known are " + listed(known)
		}
		value := show(object[name])
		out = append(out, group{rankUnknown, []Issue{{at + "/" + jsondoc.Escape(name), "additionalProperties", expected, value, text}}})
	}
	return out
}

// forbidden is for a schema that is false: nothing may be there.
func (x *explainer) forbidden(at string, v any, schemaURL string) []group {
	pointer := pointerOf(schemaURL)
	keyword := lastToken(pointer)
	if keyword != "unevaluatedProperties" && keyword != "additionalProperties" {
		return []group{{rankRest, []Issue{{at, "false", "nothing", show(v), "not allowed here"}}}}
	}
	i := strings.LastIndexByte(at, '/')
	if i < 0 {
		return nil
	}
	around := valueAt(x.value, tokensOf(at[:i]))
	n := x.places[strings.TrimSuffix(pointer, "/"+keyword)]
	all := &node{named: map[string][]named{"properties": n.allProperties()}}
	g := x.unknown(at[:i], around, all, []string{lastToken(at)})
	g[0].issues[0].Keyword = keyword
	return g
}

func (x *explainer) enum(at string, v any, values []any) []group {
	text := valueList(values)
	message := fmt.Sprintf("expected %s, got %s", text, show(v))
	if s, ok := v.(string); ok {
		if near := x.nearest(s, stringsOf(values)); near != "" {
			message += fmt.Sprintf("; did you mean %s?", literal(near))
		}
	}
	return []group{{rankRest, []Issue{{at, "enum", text, show(v), message}}}}
}

func valueList(values []any) string {
	var words []string
	for _, v := range values {
		words = append(words, literal(v))
	}
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + listed(words)
}

func (x *explainer) containsHint(n *node) string {
	if n == nil || n.one["contains"] == nil {
		return ""
	}
	if about := n.one["contains"].about(); about != "" {
		return " (" + about + ")"
	}
	return ""
}

func (x *explainer) propertyName(n *node, name string, causes []*jsonschema.ValidationError) []group {
	if n == nil {
		return nil // of a meta-schema: such names are patterns, which are checked on their own
	}
	why := "its name is not allowed"
	inner := explainer{value: name, places: x.places, findings: x.findings, compared: x.compared}
	for _, cause := range causes {
		if g := inner.groups(cause); len(g) > 0 {
			why = "its name is not allowed: " + g[0].issues[0].Message
			break
		}
	}
	var out []group
	for _, at := range x.objectsAt(n, name) {
		out = append(out, group{rankRest, []Issue{{at + "/" + jsondoc.Escape(name), "propertyNames", "another name", literal(name), why}}})
	}
	return out
}

// objectsAt finds the objects that a schema looks at and that have a member of
// the name. The engine's own location of a wrong name is a slice that it goes on
// writing to.
func (x *explainer) objectsAt(target *node, name string) []string {
	type visited struct {
		n       *node
		pointer string
	}
	seen := map[visited]bool{}
	var found []string
	var visit func(n *node, pointer string, v any)
	visit = func(n *node, pointer string, v any) {
		if seen[visited{n, pointer}] || len(seen) > maxExplained {
			return
		}
		seen[visited{n, pointer}] = true
		for _, part := range n.inPlace() {
			visit(part, pointer, v)
		}
		switch v := v.(type) {
		case []any:
			for i, item := range v {
				for _, part := range []*node{n.item(i), n.one["contains"], n.one["unevaluatedItems"]} {
					if part != nil {
						visit(part, pointer+"/"+strconv.Itoa(i), item)
					}
				}
			}
		case map[string]any:
			if _, has := v[name]; n == target && has {
				found = append(found, pointer)
			}
			for key, item := range v {
				parts := n.member(key)
				if part := n.one["unevaluatedProperties"]; part != nil {
					parts = append(parts, part)
				}
				for _, part := range parts {
					visit(part, pointer+"/"+jsondoc.Escape(key), item)
				}
			}
		}
	}
	if root := x.places[""]; root != nil {
		visit(root, "", x.value)
	}
	return found
}

// union explains alternatives of which none fits by the one that comes closest.
func (x *explainer) union(at string, v any, keyword string, causes []*jsonschema.ValidationError) []group {
	var (
		branches  [][]group
		types     typeSet
		values    []any
		plain     = true // every alternative only says which types or values it wants
		closest   = -1
		closeness int
		others    int // alternatives that want another type
	)
	for i, cause := range causes {
		branch := x.groups(cause)
		branches = append(branches, branch)
		score := 0
		for _, issue := range flat(branch) {
			switch {
			case issue.Pointer == at && issue.Keyword == "type":
				score += 1000
			case issue.Keyword == "const", issue.Keyword == "enum":
				score += 100
			default:
				score++
			}
		}
		if score >= 1000 {
			others++
		}
		if closest < 0 || score < closeness {
			closest, closeness = i, score
		}
		t, vs, ok := x.wanted(cause, at)
		types |= t
		values = append(values, vs...)
		plain = plain && ok
	}
	if closest < 0 {
		return nil
	}
	issue := Issue{Pointer: at, Keyword: keyword, Got: show(v)}
	if plain {
		var words []string
		if types != 0 {
			words = types.names()
		}
		for _, value := range values {
			words = append(words, literal(value))
		}
		issue.Expected = orList(words)
		if len(words) > maxListed {
			issue.Expected = "one of " + listed(words)
		}
		issue.Message = fmt.Sprintf("expected %s, got %s", issue.Expected, show(v))
		r := rankRest
		if len(values) == 0 {
			r, issue.Keyword, issue.Expected = rankType, "type", types.String()
			issue.Message = fmt.Sprintf("expected %s, got %s", issue.Expected, show(v))
		} else if s, ok := v.(string); ok {
			if near := x.nearest(s, stringsOf(values)); near != "" {
				issue.Message += fmt.Sprintf("; did you mean %s?", literal(near))
			}
		}
		return []group{{r, []Issue{issue}}}
	}
	if others == len(causes)-1 && closeness < 1000 {
		return branches[closest] // the others are for values of another type
	}
	issue.Expected = fmt.Sprintf("one of %d alternatives", len(causes))
	issue.Message = fmt.Sprintf("expected one of %d alternatives; closest is alternative %d, which needs:", len(causes), closest+1)
	return []group{{rankRest, append([]Issue{issue}, flat(branches[closest])...)}}
}

// wanted gives the types and values that an alternative wants at the place of
// the union, and false where it complains about anything else.
func (x *explainer) wanted(e *jsonschema.ValidationError, at string) (types typeSet, values []any, ok bool) {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return typesOf(anyList(k.Want)), nil, pointerTo(e.InstanceLocation) == at
	case *kind.Const:
		return 0, []any{k.Want}, pointerTo(e.InstanceLocation) == at
	case *kind.Enum:
		return 0, k.Want, pointerTo(e.InstanceLocation) == at
	case *kind.Reference, *kind.AllOf, *kind.Schema, *kind.Group, *kind.AnyOf:
		for _, cause := range e.Causes {
			t, v, fine := x.wanted(cause, at)
			if !fine {
				return 0, nil, false
			}
			types, values = types|t, append(values, v...)
		}
		_, either := k.(*kind.AnyOf)
		return types, values, len(e.Causes) == 1 || either && len(e.Causes) > 0
	}
	return 0, nil, false
}

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

// number writes an exact number.
func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func anyList(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}

func pointerTo(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(jsondoc.Escape(t))
	}
	return b.String()
}

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

// quickIssues gives gojsonschema's own words, for the rare value that only it refuses.
func quickIssues(r *gojsonschema.Result, err error) []Issue {
	if err != nil {
		return []Issue{{Message: err.Error()}}
	}
	var out []Issue
	for _, e := range r.Errors() {
		if e.Type() == "number_all_of" {
			continue // what it holds comes too
		}
		tokens := strings.Split(e.Context().String("\x00"), "\x00")[1:]
		if name, ok := e.Details()["property"].(string); ok && e.Type() == "required" {
			tokens = append(tokens, name)
		}
		description := e.Description()
		if description != "" {
			description = strings.ToLower(description[:1]) + strings.TrimSuffix(description[1:], ".")
		}
		got := ""
		if _, isNumber := e.Value().(json.Number); isNumber || e.Value() != nil {
			got = show(e.Value())
		}
		out = append(out, Issue{Pointer: pointerTo(tokens), Keyword: e.Type(), Got: got, Message: description})
		if len(out) == maxIssues {
			break
		}
	}
	return out
}
