package permissions

import (
	"maps"
	"slices"
)

// Named gives the places in the agent's folder that the arguments name, as slash paths
// below it, sorted; "." is the folder itself.
func (g *Grant) Named() []string {
	if g == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(g.named))
}

// Regrant makes a grant of the policy once more, from what [Grant.Folder] and
// [Grant.Named] gave: in another process, where the call goes on. The caller calls Revoke
// when the call has ended.
func (p *Policy) Regrant(folder string, named []string) *Grant {
	g := &Grant{policy: p}
	if p == nil {
		return g
	}
	g.folder = folder
	for _, n := range named {
		if g.named == nil {
			g.named = make(map[string]bool, len(named))
		}
		g.named[n] = true
	}
	return g
}
