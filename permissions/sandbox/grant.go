package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

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
// A folder that holds another one, at any depth, that may not be listed, cannot be listed
// by the program either where there are no namespaces: see [Rules.Unlisted].
func FromGrant(g *permissions.Grant, pluginDir string) (*Rules, error) {
	o, err := g.Openings(MaxRules)
	if err != nil {
		return nil, err
	}
	r := &Rules{System: true, Temp: true}
	r.exact = exact{files: o.Files, trees: o.Trees, folders: o.Folders, unlisted: o.Unlisted}
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

// FromPolicy gives rules for a program that serves many calls and looks at the grant of
// each by itself, as this host's own workers do: they are open to whatever any call may be
// granted in folder, the agent's, which may be "".
func FromPolicy(p *permissions.Policy, folder string) (*Rules, error) {
	r := &Rules{System: true, Temp: true}
	if p == nil {
		return r, nil
	}
	if p.Root != "" {
		r.Read = append(r.Read, p.Root)
	}
	if folder == "" {
		return r, nil
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, err
	}
	reading := []permissions.Access{p.FS.Read}
	if p.FS.List != nil {
		reading = append(reading, *p.FS.List)
	}
	for _, a := range reading {
		r.Read = append(r.Read, reach(real, a)...)
	}
	r.Write = reach(real, p.FS.Write)
	return r, nil
}

// reach gives the folders and files below which everything lies that a rule may open. Where
// one is not there yet it is the folder in which it would be made.
func reach(folder string, a permissions.Access) []string {
	if a.Folder || a.Parameter {
		return []string{folder}
	}
	var places []string
	for _, base := range permissions.GlobBases(a.Paths) {
		place := filepath.Join(folder, filepath.FromSlash(base))
		real, err := filepath.EvalSymlinks(place)
		for err != nil && place != folder {
			place = filepath.Dir(place)
			real, err = filepath.EvalSymlinks(place)
		}
		if err == nil && within(folder, real) {
			places = append(places, real)
		}
	}
	return places
}

// within reports whether a path without links is folder or lies in it.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(os.PathSeparator))
}

// writes reports whether the program may write anything but its temporary folder.
func (r *Rules) writes() bool { return len(r.Write) > 0 || len(r.exact.writable) > 0 }
