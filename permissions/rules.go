package permissions

import (
	"fmt"
	"strings"
)

// access is a kind of access to a file: the word of the manifest.
type access string

const (
	read  access = "read"
	write access = "write"
	list  access = "list"
	stat  access = "stat" // allowed where any of the others is
	// makeDir is writing too, but also allowed for the folders that lead to what may
	// be written.
	makeDir access = "mkdir"
)

// word gives the word of the manifest for an access.
func (a access) word() string {
	if a == makeDir {
		return string(write)
	}
	return string(a)
}

// rules are the rules for files of a policy, made ready for matching.
type rules struct {
	read, write, list rule
	listed            bool // the manifest has a rule of its own for listings
}

type rule struct {
	access           access
	Access           // as declared
	paths            allowList
	deny, denyPlugin denyList
	host             *denyList // of every host
	private          denyList  // of this one
}

func compile(p *FSPolicy, closed *Closed) rules {
	r := rules{
		read:  newRule(read, p.Read, &hostReadDeny, closed.Read),
		write: newRule(write, p.Write, &hostWriteDeny, closed.Write),
	}
	if r.listed = p.List != nil; r.listed {
		r.list = newRule(list, *p.List, &hostReadDeny, closed.Read)
	} else {
		r.list = r.read
	}
	return r
}

func newRule(a access, declared Access, host *denyList, private []string) rule {
	return rule{
		access:     a,
		Access:     declared,
		paths:      newAllowList(declared.Paths, false),
		deny:       newDenyList(declared.Deny, false),
		denyPlugin: newDenyList(declared.Deny, true),
		host:       host,
		private:    newDenyList(private, false),
	}
}

// refusal is why an access is refused, and the manifest line that would allow it.
type refusal struct{ reason, line string }

// check gives why an access to a place is refused; nil where it is allowed.
func (g *Grant) check(a access, in location) *refusal {
	switch a {
	case read:
		return g.rules.read.check(g, a, in)
	case list:
		return g.rules.list.check(g, a, in)
	case write, makeDir:
		return g.rules.write.check(g, a, in)
	}
	refused := g.rules.read.check(g, read, in)
	if refused == nil || g.rules.listed && g.rules.list.check(g, list, in) == nil || g.rules.write.check(g, makeDir, in) == nil {
		return nil
	}
	return refused
}

func (r *rule) check(g *Grant, a access, in location) *refusal {
	writing := a == write || a == makeDir
	switch {
	case !in.folder && !in.plugin && g.folder == "":
		return &refusal{reason: "the call has no agent folder"}
	case !in.folder && !in.plugin:
		return &refusal{reason: "it lies outside the agent's folder, and nothing there can be granted"}
	case in.folder && g.trees.folder.isSystem(in.folderPath):
		return &refusal{reason: "the system's own files (/dev, /proc, /sys) are closed to every tool"}
	case in.plugin && writing:
		return &refusal{reason: "the plugin's own folder can be read, and is never written"}
	}
	if by := r.closed(in); by != "" {
		return &refusal{reason: by}
	}
	if in.plugin {
		return nil
	}
	path := in.folderPath
	if r.Folder || r.paths.match(path) || r.Parameter && g.isNamed(path) {
		return nil
	}
	if a == makeDir && (r.paths.leadsTo(path) || r.Parameter && g.leadsToNamed(path)) {
		return nil
	}
	return &refusal{reason: r.gap(), line: fmt.Sprintf(`"permissions": {"fs": {"%s": %s`, r.access, folderRule)}
}

// closed says by which rule a place is closed whatever else allows it; "" where by none.
func (r *rule) closed(in location) string {
	if in.plugin {
		if by := r.denyPlugin.closes(in.pluginPath); by != "" {
			return fmt.Sprintf("the manifest's deny rule %q closes it", by)
		}
	}
	if !in.folder {
		return ""
	}
	paths := []string{in.folderPath, in.asked}
	if in.asked == in.folderPath {
		paths = paths[:1]
	}
	for _, path := range paths {
		if by := r.deny.closes(path); by != "" {
			return fmt.Sprintf("the manifest's deny rule %q closes it", by)
		}
		// What a plugin brings along is no secret of the user's, wherever it was put:
		// packages come with certificates.
		if in.plugin && r.access != write && len(in.pluginPath) < len(in.folderPath) {
			continue
		}
		if by := r.host.closes(path); by != "" {
			return fmt.Sprintf("the host's own rule %q closes it to every tool", by)
		}
		if by := r.private.closes(path); by != "" {
			return fmt.Sprintf("the host keeps what it goes by at %q, and closes it to every tool", by)
		}
	}
	return ""
}

const (
	// folderRule is how the manifest line ends that opens the whole folder in one way.
	folderRule = `{"folder": true}}}`
	// notNamed is how a gap begins that a rule "parameter" leaves.
	notNamed = "the arguments of this call do not name it"
)

// gap says why a place is not among those that a rule allows; "" where the manifest
// has no such rule.
func (r *rule) gap() string {
	var only []string
	if r.Parameter {
		only = append(only, notNamed)
	}
	if len(r.Paths) > 0 {
		only = append(only, fmt.Sprintf("the manifest's globs (%s) do not match it", strings.Join(quoteSome(r.Paths), ", ")))
	}
	return strings.Join(only, ", and ")
}

// quoteSome quotes the first few of a list.
func quoteSome(list []string) []string {
	const most = 5
	var quoted []string
	for i, s := range list {
		if i == most {
			return append(quoted, "…")
		}
		quoted = append(quoted, fmt.Sprintf("%q", s))
	}
	return quoted
}

// isNamed reports whether the arguments name a place, or a folder around it.
func (g *Grant) isNamed(path string) bool {
	if len(g.named) == 0 {
		return false
	}
	if g.named["."] {
		return true
	}
	for p := range prefixes(path) {
		if g.named[p] {
			return true
		}
	}
	return false
}

// lends reports whether a place, with all below it, may be named by the arguments of a call that
// the holder of this grant makes, whose grant is to: where it may touch it itself in each
// way in which they would allow it. Globs do not count, which may match a folder and
// not what is in it.
func (g *Grant) lends(to *Grant, in location) bool {
	if g.folder != to.folder || !g.begin() {
		return false
	}
	defer g.mu.RUnlock()
	for _, pair := range [][2]*rule{{&g.rules.read, &to.rules.read}, {&g.rules.write, &to.rules.write}, {&g.rules.list, &to.rules.list}} {
		own, theirs := pair[0], pair[1]
		if !theirs.Parameter {
			continue
		}
		if !own.Folder && !(own.Parameter && g.isNamed(in.folderPath)) || own.closed(in) != "" {
			return false
		}
		if len(own.Deny) > 0 && g.policy != to.policy {
			return false // the other plugin may not have the same deny rules
		}
	}
	return true
}

// leadsToNamed reports whether a place is a folder around one that the arguments name.
func (g *Grant) leadsToNamed(path string) bool {
	for n := range g.named {
		if strings.HasPrefix(n, path+"/") {
			return true
		}
	}
	return false
}
