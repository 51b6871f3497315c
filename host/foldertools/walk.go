package foldertools

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/permissions"
)

// maxVisited is how many files and folders one call looks at.
const maxVisited = 200_000

// maxPaths is how many bytes of paths an answer has.
const maxPaths = 128 << 10

// noise names folders that hold what tools made or fetched: an agent that searches a
// project hardly ever means them, and they are most of its files.
var noise = [...]string{
	".cache", ".git", ".gradle", ".hg", ".jj", ".mypy_cache", ".next", ".nuxt", ".pytest_cache",
	".svn", ".terraform", ".tox", ".venv", "__pycache__", "bower_components", "node_modules",
}

func isNoise(name string) bool { return slices.Contains(noise[:], name) }

// walk is one walk through the agent's folder.
type walk struct {
	folder  folder
	root    string
	all     bool            // noise is entered too
	asked   []string        // names of noise folders that the pattern names itself
	depth   int             // how many levels are entered; 0 is all
	skipped map[string]bool // noise folders that were not entered
	visited int
	cut     bool // it ended early, at maxVisited
	closed  int  // folders that could not be listed
}

// each calls visit for everything below root (root itself only where it is no folder)
// in byte order; rel is the slash path below root.
func (w *walk) each(ctx context.Context, visit func(name, rel string, d fs.DirEntry) error) error {
	w.skipped = map[string]bool{}
	root := path.Clean(filepath.ToSlash(w.root))
	return w.folder.WalkDir(w.root, func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if d == nil || name == w.root {
				return w.folder.explain(name, err)
			}
			w.closed++
			return nil
		}
		rel, err := filepath.Rel(root, path.Clean(filepath.ToSlash(name)))
		if err != nil {
			return fmt.Errorf("walking %q: %w", w.folder.show(w.root), err)
		}
		rel = filepath.ToSlash(rel)
		if rel == "." && d.IsDir() {
			return nil
		}
		if w.visited++; w.visited > maxVisited {
			w.cut = true
			return fs.SkipAll
		}
		if err := visit(name, rel, d); err != nil {
			return err
		}
		if d.IsDir() && isNoise(d.Name()) && !w.all && !slices.Contains(w.asked, d.Name()) {
			w.skipped[d.Name()] = true
			return fs.SkipDir
		}
		if d.IsDir() && w.depth > 0 && strings.Count(rel, "/")+1 >= w.depth {
			return fs.SkipDir
		}
		return nil
	})
}

// notes says what the walk left out, one line each, with what to do about it.
func (w *walk) notes() []string {
	var notes []string
	if len(w.skipped) > 0 {
		var names []string
		for _, n := range noise {
			if w.skipped[n] {
				names = append(names, n)
			}
		}
		notes = append(notes, fmt.Sprintf("[folders named %s were passed over; set includeIgnored to true to enter them]", strings.Join(names, ", ")))
	}
	if w.closed > 0 {
		notes = append(notes, fmt.Sprintf("[%s could not be listed]", count(w.closed, "folder")))
	}
	if w.cut {
		notes = append(notes, fmt.Sprintf("[stopped after %d files and folders; give a deeper path to see the rest]", maxVisited))
	}
	return notes
}

// glob is a set of patterns for paths below a folder.
type glob []string

// newGlob checks patterns. One without a slash means names at any depth.
func newGlob(field string, patterns []string) (glob, error) {
	g := make(glob, 0, len(patterns))
	for _, given := range patterns {
		p := strings.TrimPrefix(given, "./")
		switch {
		case strings.HasPrefix(p, "/"):
			return nil, fmt.Errorf("%s %q: a pattern is relative; put the folder into path and leave it out here", field, given)
		case slices.Contains(strings.Split(p, "/"), ".."):
			return nil, fmt.Errorf("%s %q: a pattern cannot go up with \"..\"; put the folder into path", field, given)
		}
		if !strings.Contains(p, "/") {
			p = "**/" + p
		}
		if _, err := permissions.Match(p, "x"); err != nil {
			return nil, fmt.Errorf("%s %q is no valid glob (%w); write * ? [a-z] {one,two} or **, and a backslash before such a character that is meant itself", field, given, err)
		}
		g = append(g, p)
	}
	return g, nil
}

func (g glob) match(rel string) bool {
	return slices.ContainsFunc(g, func(p string) bool {
		ok, err := permissions.Match(p, rel)
		return err == nil && ok
	})
}

// asked gives the noise folders that a pattern names itself.
func (g glob) asked() []string {
	var names []string
	for _, p := range g {
		for part := range strings.SplitSeq(p, "/") {
			if isNoise(part) {
				names = append(names, part)
			}
		}
	}
	return names
}
