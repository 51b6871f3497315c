package sandbox

import (
	"path/filepath"
	"slices"

	"github.com/toolhost/toolhost/permissions"
)

// MaxRules is how many places a grant may open one by one.
const MaxRules = 10_000

// FromGrant gives rules that open to a program what one call may read and list, and
// nothing else of the agent's folder: what the grant denies stays closed, and so does what
// is made later. The program may read the plugin's own files and run what is among them.
// What the call may write is for a [Stage] to say. The error is a *permissions.TooManyError
// where that takes more than MaxRules places.
//
// A folder that may be listed can hold another one, at any depth, that may not be. Where
// there are namespaces the program finds such a folder closed, unless it holds something
// that may be read. Otherwise it cannot list the folders around it either: see
// [Rules.Unlisted].
func FromGrant(g *permissions.Grant, pluginDir string) (*Rules, error) {
	return fromGrant(g, pluginDir, MaxRules, Supported().Mounts)
}

func fromGrant(g *permissions.Grant, pluginDir string, limit int, hide bool) (*Rules, error) {
	o, err := g.Openings(limit, hide)
	if err != nil {
		return nil, err
	}
	r := &Rules{System: true, Temp: true}
	r.exact = exact{files: o.Files, trees: o.Trees, folders: o.Folders, hidden: o.Hidden, unlisted: o.Unlisted}
	if pluginDir != "" {
		if real, err := filepath.EvalSymlinks(pluginDir); err == nil {
			r.exact.run = []string{real}
		}
	}
	return r, nil
}

// Unlisted gives the folders that the grant lets be listed, but the rules do not, since a
// folder below them may not be listed.
func (r *Rules) Unlisted() []string { return slices.Clone(r.exact.unlisted) }

// writes reports whether the program may write anything but folders of its own.
func (r *Rules) writes() bool { return len(r.Write) > 0 || len(r.exact.writable) > 0 }
