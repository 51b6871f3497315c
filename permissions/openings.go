package permissions

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Openings are the places on the disk to which a grant opens reading and listing, for a
// sandbox that can only be told places. Paths are absolute, with all links followed, and
// sorted.
type Openings struct {
	Files   []string // regular files that may be read
	Trees   []string // folders in which everything may be read and listed, also what comes later
	Folders []string // folders that may be listed, and so may every folder below them
	// Hidden are folders below these that may not be listed, and hold nothing that may be
	// read: they must be hidden, since to open the folders around them is to open them too.
	Hidden []string
	// Unlisted are folders that may be listed, but are not among Folders, since a folder
	// somewhere below may not be listed and cannot be hidden.
	Unlisted []string
}

// maxHidden is how many folders are hidden.
const maxHidden = 256

// TooManyError says that a grant opens more places than can be told.
type TooManyError struct{ Limit int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("the permissions open more than %d files one by one, which is more than a sandbox can be told; grant a smaller folder or narrower globs, or let the arguments name the files", e.Limit)
}

// maxVisited is how many entries of folders are looked at to find what a grant opens.
const maxVisited = 500_000

// Openings gives the places that are open now: what is made later is not among them, but
// in the trees. hide says that folders can be hidden; else none is. The error is a
// *TooManyError where there are more than limit.
func (g *Grant) Openings(limit int, hide bool) (*Openings, error) {
	o := &Openings{}
	if !g.begin() {
		return o, nil
	}
	defer g.mu.RUnlock()
	w := &surveyor{g: g, limit: limit, hide: hide, o: o, files: map[string]bool{}}
	if t := g.trees.plugin; t != nil && t.root != nil {
		if w.wholePlugin() {
			o.Trees = append(o.Trees, t.real)
		} else if _, err := w.visit(t.root, ".", t.info, g.top(t), 0); err != nil {
			return nil, err
		}
	}
	if t := g.trees.folder; t != nil && t.root != nil {
		for _, start := range w.starts() {
			if err := w.from(start); err != nil {
				return nil, err
			}
		}
	}
	for _, list := range []*[]string{&o.Files, &o.Folders, &o.Hidden, &o.Unlisted} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return o, nil
}

// surveyor finds the places that a grant opens.
type surveyor struct {
	g       *Grant
	o       *Openings
	limit   int
	hide    bool
	visited int
	files   map[string]bool // those that were found, since starts may overlap
}

// wholePlugin reports whether no rule closes anything in the plugin's own folder.
func (s *surveyor) wholePlugin() bool {
	g := s.g
	for _, r := range []*rule{&g.rules.read, &g.rules.list} {
		if !r.denyPlugin.empty() {
			return false
		}
		plugin, folder := g.trees.plugin, g.trees.folder
		if folder == nil {
			continue
		}
		if folder.outer == plugin || plugin.real == folder.real {
			return false // the folder's own rules hold in it
		}
		if plugin.outer == folder && !r.deny.empty() {
			return false
		}
	}
	return true
}

func (l *denyList) empty() bool {
	return l.broken == "" && len(l.names) == 0 && len(l.runs) == 0 && len(l.suffixes) == 0 && len(l.globs) == 0
}

// top gives the location of a tree itself.
func (g *Grant) top(t *tree) location {
	w := walker{trees: g.trees, otherAt: -1}
	w.into(t)
	for _, name := range slices.Backward(w.pending) {
		w.names = append(w.names, name)
	}
	if w.tree != t {
		w.otherAt = len(w.names)
	}
	in := w.location(w.names)
	in.asked = in.folderPath
	return in
}

// starts gives the places in the agent's folder below which anything may be open.
func (s *surveyor) starts() []string {
	var starts []string
	rules := []*rule{&s.g.rules.read}
	if s.g.rules.listed {
		rules = append(rules, &s.g.rules.list)
	}
	for _, r := range rules {
		if r.Folder {
			return []string{"."}
		}
		for _, g := range r.paths {
			starts = append(starts, g.base)
		}
		if r.Parameter {
			for n := range s.g.named {
				starts = append(starts, n)
			}
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	if slices.Contains(starts, ".") {
		return []string{"."}
	}
	// What lies in another one is found from there.
	return slices.DeleteFunc(starts, func(inner string) bool {
		return slices.ContainsFunc(starts, func(outer string) bool { return strings.HasPrefix(inner, outer+"/") })
	})
}

// from surveys what lies at a path below the agent's folder. A link leads nowhere: where
// it leads is open in its own right or not at all.
func (s *surveyor) from(name string) error {
	p, err := s.g.trees.walkAgain(filepath.Join(s.g.trees.folder.real, filepath.FromSlash(name)), false)
	if err != nil {
		return nil // it is no path to anything
	}
	defer p.close()
	if p.err != nil || p.info == nil || !p.in.folder {
		return nil
	}
	p.in.asked = p.in.folderPath
	_, err = s.visit(p.dir, p.name, p.info, p.in, 0)
	return err
}

// found is what a visit found at a place and below.
type found struct {
	listed bool // every folder there may be listed, or is hidden
	some   bool // there is something to read or list
}

// visit notes what may be read and listed at name in dir and below.
func (s *surveyor) visit(dir *os.Root, name string, info fs.FileInfo, in location, depth int) (found, error) {
	if s.visited++; s.visited > maxVisited {
		return found{}, &TooManyError{Limit: maxVisited}
	}
	switch {
	case info.Mode().IsRegular():
		if s.g.check(read, in) == nil {
			return found{listed: true, some: true}, s.file(s.g.realPath(in))
		}
		return found{listed: true}, nil
	case !info.IsDir():
		return found{listed: true}, nil
	case depth > maxDepth:
		return found{some: true}, nil
	}
	may := s.g.check(list, in) == nil
	all := found{listed: may, some: may}
	sub, err := enter(dir, name, info)
	if err != nil {
		return found{some: may}, nil // gone, or closed by the system
	}
	defer sub.Close()
	entries, err := entriesIn(sub)
	if err != nil {
		return found{some: may}, nil
	}
	folders, hidden := len(s.o.Folders), len(s.o.Hidden)
	var empty []string // folders in this one with nothing to read or list
	for _, e := range entries {
		info, err := sub.Lstat(e.Name())
		if err != nil {
			continue
		}
		child := in.child(e.Name())
		if info.IsDir() {
			s.meet(&child, info)
		}
		below, err := s.visit(sub, e.Name(), info, child, depth+1)
		if err != nil {
			return found{}, err
		}
		if info.IsDir() && !below.listed && !below.some && s.hide {
			empty, below.listed = append(empty, s.g.realPath(child)), true
		}
		all.listed = all.listed && below.listed
		all.some = all.some || below.some
	}
	real := s.g.realPath(in)
	if all.listed && len(s.o.Hidden)+len(empty) > maxHidden {
		all.listed = false
	}
	switch {
	case all.listed:
		// One rule for all of them.
		s.o.Folders = append(s.o.Folders[:folders], real)
		s.o.Hidden = append(s.o.Hidden, empty...)
		return all, s.count()
	case may:
		s.o.Unlisted = append(s.o.Unlisted, real)
	case !all.some:
		s.o.Hidden = s.o.Hidden[:hidden]
	}
	return all, nil
}

// meet notes where a folder is the top of the other tree.
func (s *surveyor) meet(in *location, info fs.FileInfo) {
	same := func(t *tree) bool { return t != nil && t.info != nil && os.SameFile(info, t.info) }
	if !in.plugin && same(s.g.trees.plugin) {
		in.plugin, in.pluginPath = true, "."
	}
	if !in.folder && same(s.g.trees.folder) {
		in.folder, in.folderPath, in.asked = true, ".", "."
	}
}

func (s *surveyor) file(path string) error {
	if s.files[path] {
		return nil
	}
	s.files[path] = true
	s.o.Files = append(s.o.Files, path)
	return s.count()
}

func (s *surveyor) count() error {
	if len(s.o.Files)+len(s.o.Folders) > s.limit {
		return &TooManyError{Limit: s.limit}
	}
	return nil
}

// Target gives the absolute path, with all links followed, of the place that writing to
// name would change or make; folders that lead there may be missing. The error says why
// writing there is refused, as it would be for the writing itself.
func (f *FS) Target(name string) (string, error) {
	if !f.g.begin() {
		return "", f.refused(write, name)
	}
	defer f.g.mu.RUnlock()
	p, err := f.g.trees.walkAgain(name, true)
	if err != nil {
		return "", f.explain("open", write, name, err)
	}
	defer p.close()
	if r := f.g.check(write, p.in); r != nil {
		return "", &DeniedError{Op: string(write), Target: shorten(name), Rule: r.line, Reason: r.reason}
	}
	if p.err != nil && p.err != syscall.ENOENT {
		return "", f.explain("open", write, name, p.err)
	}
	return f.g.realPath(p.in), nil
}

// Links gives how many names (hard links) a file has; 0 where there is none.
func Links(info fs.FileInfo) uint64 { return linkCount(info) }

// WritesFreely reports whether the call may write in the agent's folder what its arguments
// do not name: the manifest opens the folder, or globs, for writing.
func (g *Grant) WritesFreely() bool {
	return g != nil && g.policy != nil && g.folder != "" && !g.over.Load() && (g.policy.FS.Write.Folder || len(g.policy.FS.Write.Paths) > 0)
}
