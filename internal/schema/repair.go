package schema

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// fix is a text that is read as what it spells.
type fix struct {
	steps []step
	text  string // JSON
}

// repairs finds the texts in a value where the schema wants no text, and that
// spell what it does want, without loss. Models send "5" for 5 and lists as text.
// Only a place where no alternative would take a text is touched.
func (s *Schema) repairs(v any) []fix {
	r := repairer{root: s.tree.root}
	if object, ok := v.(map[string]any); ok { // arguments that are a text stay one
		r.visit(object)
	}
	slices.SortFunc(r.fixes, func(a, b fix) int { return comparePointers(pathTo(a.steps), pathTo(b.steps)) })
	return r.fixes
}

// maxRepairs bounds how many texts are looked at.
const maxRepairs = 1000

type repairer struct {
	root   *node
	steps  []step
	looked int
	work   int
	fixes  []fix
}

func (r *repairer) visit(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			r.steps = append(r.steps, step{name: name})
			r.visit(item)
			r.steps = r.steps[:len(r.steps)-1]
		}
	case []any:
		for i, item := range v {
			r.steps = append(r.steps, step{item: i, isItem: true})
			r.visit(item)
			r.steps = r.steps[:len(r.steps)-1]
		}
	case string:
		if r.looked++; r.looked > maxRepairs || !spellsSomething(v) {
			return
		}
		w := typeWalk{steps: r.steps, done: map[typeKey]typeSet{}}
		allowed := w.at(r.root, 0)
		if r.work += len(w.done); r.work > maxFilling {
			r.looked = maxRepairs
		}
		if allowed&typeString != 0 {
			return
		}
		if text, ok := spelled(v, allowed); ok {
			r.fixes = append(r.fixes, fix{slices.Clone(r.steps), text})
		}
	}
}

// spellsSomething is a quick look before the schema is asked.
func spellsSomething(s string) bool {
	return s != "" && strings.IndexByte("-0123456789tf[{ \t\r\n", s[0]) >= 0
}

// spelled reads a text as a value of one of the types, if that loses nothing.
func spelled(s string, allowed typeSet) (text string, ok bool) {
	switch s {
	case "true", "false":
		return s, allowed&typeBoolean != 0
	}
	if allowed&(typeArray|typeObject) != 0 {
		trimmed := strings.Trim(s, " \t\r\n")
		if strings.HasPrefix(trimmed, "[") || strings.HasPrefix(trimmed, "{") {
			v, err := readValue([]byte(trimmed))
			return trimmed, err == nil && typeOf(v.value)&allowed != 0
		}
	}
	if !isPlainNumber(s) {
		return "", false
	}
	n := json.Number(s)
	return s, typeOf(n)&allowed != 0
}

// isPlainNumber says whether s is a number as a program would print it, without
// exponent, that float64 holds: "5" and "2.5", not "+5", "05", "5.0" or a long id
// that a JavaScript handler would see rounded.
func isPlainNumber(s string) bool {
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && strconv.FormatFloat(f, 'f', -1, 64) == s && s != "-0" && !strings.ContainsAny(s, "naIN")
}
