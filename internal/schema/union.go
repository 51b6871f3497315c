package schema

import (
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

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
		return typesOf(anyList(k.Want)), nil, jsondoc.Pointer(e.InstanceLocation) == at
	case *kind.Const:
		return 0, []any{k.Want}, jsondoc.Pointer(e.InstanceLocation) == at
	case *kind.Enum:
		return 0, k.Want, jsondoc.Pointer(e.InstanceLocation) == at
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
