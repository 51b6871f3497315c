package loader

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/permissions"
)

// marksWithoutRule warns of schemas that mark arguments as paths, where no rule for files
// can hold for what such an argument names: each call could only fail. way is what the
// tools do with the files: "read" or "write".
func (p *opened) marksWithoutRule(way string) {
	// Commands of other plugins may do with a path what this one may not.
	if p.manifest.Card != nil || p.policy.HostTrigger || opensFolder(p.policy.FS) {
		return
	}
	other := map[string]string{"read": "write", "write": "read"}[way]
	seen := map[string]bool{} // one place of each file is enough to be told
	for _, t := range p.tools {
		if t.Input == nil {
			continue
		}
		for _, mark := range t.Input.Marks() {
			if seen[mark.File] {
				continue
			}
			seen[mark.File] = true
			p.add(&ManifestError{
				Rule: ruleNoFileRule, File: mark.File, Line: mark.Line, Column: mark.Column, Pointer: mark.Pointer, Warning: true,
				Msg: "the schema marks arguments that name files, and the manifest has no rule that lets a call touch them",
				Hint: fmt.Sprintf(`add "permissions": {"fs": {%q: {"parameter": true}}} to the manifest (%q where the tool does that); or take the mark away where no file is touched`,
					way, other),
			})
		}
	}
}

// opensFolder reports whether some rule opens something of the agent's folder.
func opensFolder(policy permissions.FSPolicy) bool {
	opens := func(a permissions.Access) bool {
		return a.Parameter || a.Folder || slices.ContainsFunc(a.Paths, func(glob string) bool { return !strings.HasPrefix(glob, "plugin:") })
	}
	return opens(policy.Read) || opens(policy.Write) || policy.List != nil && opens(*policy.List)
}
