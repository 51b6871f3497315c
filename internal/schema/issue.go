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
	at := jsondoc.Pointer(e.InstanceLocation)
	v := jsondoc.ValueAt(x.value, e.InstanceLocation)
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
	around := jsondoc.ValueAt(x.value, jsondoc.Names(at[:i]))
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
		out = append(out, Issue{Pointer: jsondoc.Pointer(tokens), Keyword: e.Type(), Got: got, Message: description})
		if len(out) == maxIssues {
			break
		}
	}
	return out
}
