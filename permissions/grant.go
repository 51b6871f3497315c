package permissions

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Grant is what one call may touch. It is safe for concurrent use; the zero value
// (and nil) allows nothing.
type Grant struct {
	folder string // absolute, as the user named it
	policy *Policy

	// named holds the places below the agent's folder that the arguments name.
	named map[string]bool

	over atomic.Bool
	// mu is held for reading by whatever touches a file, so that nothing is under way
	// once Revoke returns.
	mu     sync.RWMutex
	opened sync.Once
	trees  trees
	rules  rules
	files  fileSet
	links  linkSet
	noted  recorder
}

const (
	// maxNamed is how many places the arguments of one call may name: each costs a look
	// at the disk before the handler starts.
	maxNamed = 10_000
	// maxNamedSteps is how many names are walked for all of them together.
	maxNamedSteps = 100_000
)

// Resolve makes the grant of one call. folder is the agent's folder ("" where the
// call has none: then no file but the plugin's own is granted). A relative folder
// starts at the working directory of the process. The error is an *ArgumentError where
// a marked argument lies outside the folder and the policy lets arguments name files.
// The caller calls Revoke when the call has ended.
func (p *Policy) Resolve(folder string, args []Argument) (*Grant, error) {
	return p.ResolveFor(nil, folder, args)
}

// ResolveFor is Resolve for a call that a handler makes, whose own grant is caller; nil stands for
// a call of the agent. A handler can put any place into arguments: they name only what
// the handler may touch itself, in each way that the policy lets arguments allow.
func (p *Policy) ResolveFor(caller *Grant, folder string, args []Argument) (*Grant, error) {
	g := &Grant{policy: p}
	if p == nil {
		return g, nil
	}
	if folder != "" {
		abs, err := filepath.Abs(folder)
		if err != nil {
			abs = folder
		}
		g.folder = abs
	}
	if !p.FS.byParameter() {
		return g, nil
	}
	left := maxNamedSteps
	for i, a := range args {
		if err := g.name(caller, a, i >= maxNamed, &left); err != nil {
			g.Revoke()
			return nil, err
		}
	}
	return g, nil
}

// byParameter reports whether any rule is about what the arguments name.
func (p FSPolicy) byParameter() bool {
	return p.Read.Parameter || p.Write.Parameter || p.List != nil && p.List.Parameter
}

// name grants what an argument names: the place where it leads, and the link itself
// where it is one. caller is whose arguments they are, over says that there were enough of
// them, left how many names may still be walked.
func (g *Grant) name(caller *Grant, a Argument, over bool, left *int) error {
	if a.Value == "" {
		return nil
	}
	refuse := func(reason string) error {
		if !a.Marked {
			return nil
		}
		return &ArgumentError{Argument: a, Reason: reason}
	}
	switch {
	case g.folder == "":
		return refuse("cannot be used: this call has no agent folder")
	case over:
		return refuse(fmt.Sprintf("is one path too many: the arguments of one call may name at most %d", maxNamed))
	case strings.IndexByte(a.Value, 0) >= 0:
		return refuse("holds a NUL character, which no path can")
	}
	const costly = "is too much: the paths in the arguments of one call may have at most %d names together, and \"..\" counts for all before it"
	if *left <= 0 {
		return refuse(fmt.Sprintf(costly, maxNamedSteps))
	}
	if !g.begin() {
		return nil
	}
	defer g.mu.RUnlock()
	trees := g.trees
	trees.left = left
	var found []string
	for _, follow := range []bool{false, true} {
		p, err := trees.walkAgain(a.Value, follow)
		if *left < 0 {
			if p != nil {
				p.close()
			}
			return refuse(fmt.Sprintf(costly, maxNamedSteps))
		}
		if err != nil {
			return refuse("cannot be used as a path: " + err.Error())
		}
		p.close()
		if !p.in.folder {
			return refuse("lies outside the agent's folder")
		}
		if caller != nil && !caller.lends(g, p.in) {
			return refuse("was not named by the agent, and is not for the plugin that makes this call to hand on")
		}
		found = append(found, p.in.folderPath)
		if p.info == nil || p.info.Mode()&fs.ModeSymlink == 0 {
			break // it is no link that leads on
		}
	}
	if g.named == nil {
		g.named = map[string]bool{}
	}
	for _, path := range found {
		g.named[path] = true
	}
	return nil
}

// FS gives the door to files.
func (g *Grant) FS() *FS {
	return &FS{g: g}
}

// Folder gives the agent's folder as an absolute path, as the user named it; "" where there is none.
func (g *Grant) Folder() string {
	if g == nil {
		return ""
	}
	return g.folder
}

// Env gives a granted environment variable of the host.
func (g *Grant) Env(name string) (string, bool) {
	value, ok := g.env(name)
	if ok && g.recording() {
		g.note(variables, name)
		g.Use("env " + name)
	}
	return value, ok
}

func (g *Grant) env(name string) (string, bool) {
	if g == nil || g.policy == nil || g.over.Load() || !slices.Contains(g.policy.Env, name) {
		return "", false
	}
	return os.LookupEnv(name)
}

// EnvNames gives the names of the granted variables that are set, sorted.
func (g *Grant) EnvNames() []string {
	if g == nil || g.policy == nil {
		return nil
	}
	var names []string
	for _, name := range g.policy.Env {
		if _, ok := g.env(name); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Revoke ends the grant: whatever is asked of it later is denied, and what it holds
// open is closed, connections too; a file opened for replacing that was not closed is left as it was. It
// waits for the single read or write that is under way. It may be called more than once.
func (g *Grant) Revoke() {
	if g == nil {
		return
	}
	g.over.Store(true)
	g.links.closeAll()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.files.closeAll()
	g.trees.close()
}

// begin starts one act on files; the caller ends it with g.mu.RUnlock. It must not be
// called again before that. It reports false where the grant allows nothing at all.
func (g *Grant) begin() bool {
	if g == nil || g.policy == nil || g.over.Load() {
		return false
	}
	g.mu.RLock()
	if g.over.Load() {
		g.mu.RUnlock()
		return false
	}
	g.opened.Do(func() {
		g.trees = openTrees(g.folder, g.policy.Root)
		g.rules = compile(&g.policy.FS, &g.policy.Closed)
	})
	return true
}

// ended is why everything is refused after Revoke.
const ended = "the call has ended"
