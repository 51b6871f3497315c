package host

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
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
