package host

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// ToolsFor gives the tools that a context menu offers for a selection of files: host
// and plugin tools whose Extensions match every one of paths, those that match by
// more first, otherwise in registration order. Case does not count; a name that
// begins with its only dot has no extension. A folder among paths, or no path at all,
// gives none. The files need not exist.
func (h *Host) ToolsFor(paths ...string) []Registered {
	names := make([]string, 0, len(paths))
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			return nil
		}
		names = append(names, fold(filepath.Base(p)))
	}
	if len(names) == 0 {
		return nil
	}
	type offer struct {
		tool  Registered
		match int
	}
	var offers []offer
	for _, t := range h.table.Load().order {
		if t.Source == BuiltIn || !t.Enabled {
			continue
		}
		if n := matched(t.Extensions, names); n >= 0 {
			offers = append(offers, offer{t, n})
		}
	}
	slices.SortStableFunc(offers, func(a, b offer) int { return cmp.Compare(b.match, a.match) })
	tools := make([]Registered, len(offers))
	for i, o := range offers {
		tools[i] = o.tool
	}
	return tools
}

// MatchesExtensions reports whether every one of the paths has one of the extensions, by
// the rules of [Host.ToolsFor]; no extension matches every path.
func MatchesExtensions(extensions []string, paths ...string) bool {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = fold(filepath.Base(p))
	}
	return matched(extensions, names) >= 0
}

// FileArgument gives the first property of the tool's arguments that takes a file, or a
// list of files; "" where none does. It asks the schema, by the rule that grants use, what a
// probing text there would be.
func (r Registered) FileArgument() (name string, list bool) {
	doc, err := jsondoc.Parse(r.InputSchema)
	if err != nil {
		return "", false // a registered tool's schema is sound
	}
	var types struct {
		Properties map[string]struct{ Type any }
	}
	if json.Unmarshal(r.InputSchema, &types) != nil {
		types.Properties = nil // a property may be true or false: then nothing is known of any
	}
	for _, name := range doc.Keys("/properties") {
		var probe any = "probe"
		list := isList(types.Properties[name].Type)
		if list {
			probe = []string{"probe"}
		}
		if len(r.Input.PathArguments(jsondoc.Marshal(map[string]any{name: probe}))) > 0 {
			return name, list
		}
	}
	return "", false
}

// isList reports whether a schema's type takes lists and no texts.
func isList(of any) bool {
	types, _ := of.([]any)
	if one, ok := of.(string); ok {
		types = []any{one}
	}
	return slices.Contains(types, any("array")) && !slices.Contains(types, any("string"))
}

// Commands gives every command in registration order, disabled ones included.
func (h *Host) Commands() []Registered { return slices.Clone(h.table.Load().commands) }

// CommandName reports whether a text may be the name of a command.
func CommandName(name string) bool {
	return name != "" && len(name) <= 128 && utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}

// matched gives the length of the shortest match over all names (the longest of each),
// 0 where there are no extensions, -1 where a name does not match.
func matched(extensions, names []string) int {
	if len(extensions) == 0 {
		return 0
	}
	shortest := -1
	for _, name := range names {
		longest := -1
		for _, e := range extensions {
			e = fold(e)
			if len(e) > longest && len(name) > len(e) && strings.HasSuffix(name, e) {
				longest = len(e)
			}
		}
		if longest < 0 {
			return -1
		}
		if shortest < 0 || longest < shortest {
			shortest = longest
		}
	}
	return shortest
}

// fold maps every character to the least one of its simple case folding, so that
// texts that differ in case only become equal, without a locale's rules.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}
