package permissions

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	// maxPath is the longest path that is looked at, in bytes.
	maxPath = 4096
	// maxSteps is how many names are walked for one path: "a/../a/../…" costs a walk
	// from the start for each "..".
	maxSteps = 10_000
)

// location says where a place is. Paths are slash paths below the tree; "." is the tree itself.
type location struct {
	folder, plugin         bool // it lies in the agent's folder, in the plugin's own
	folderPath, pluginPath string
	asked                  string // the path below the agent's folder as it was written; "" where it is none
}

// place is where a path leads, with the folder around it held open. Whatever is done to
// it is done by its single last name in that folder, so nothing that happens to the
// names before can lead elsewhere.
type place struct {
	in location
	// dir holds the place by name; "." where the place is dir itself.
	dir  *os.Root
	name string
	info fs.FileInfo // of what is there, not following a link; nil where nothing is
	// looked says that nothing was read or written there, whatever access was checked.
	looked bool
	// err is why the walk ended early: a name on the way is missing, is no folder, …
	// Then in is where the rest of the path would lead, and dir is nil.
	err error
	own bool // dir is closed with the place
	// asFolder: the path ends in a slash, so it can only name a folder.
	asFolder bool
}

func (p *place) close() {
	if p.own && p.dir != nil {
		_ = p.dir.Close()
	}
	p.dir = nil
}

// walker follows one path name by name. Outside the trees it only reckons with names
// and never looks at the disk, so that no answer depends on what is there.
type walker struct {
	trees   trees
	pending []string // what is left to walk, next name last

	tree  *tree    // nil: outside
	out   []string // outside: the absolute path so far
	names []string // inside: the path so far below tree
	dir   *os.Root // inside: the open folder at names
	own   bool     // dir is closed by the walker
	// otherAt is how many of names lead to the other tree; -1 where they do not.
	otherAt int

	asFolder bool // the path ends in a slash: it must lead to a folder
	links    int
	steps    int
}

// walk follows name. Where follow is set, a link in the last place is followed too. The
// error is a syscall.Errno where name is no path at all, or errChanged. The place must be closed.
func (t trees) walk(name string, follow bool) (*place, error) {
	switch {
	case name == "":
		return nil, syscall.ENOENT
	case len(name) > maxPath:
		return nil, syscall.ENAMETOOLONG
	case strings.IndexByte(name, 0) >= 0:
		return nil, syscall.EINVAL
	}
	w := walker{trees: t, otherAt: -1}
	slash := filepath.ToSlash(name)
	w.asFolder = strings.HasSuffix(slash, "/") || strings.HasSuffix(slash, "/.")
	w.pending = pushParts(nil, slash)
	p, err := w.start(filepath.IsAbs(name) || slash[0] == '/', follow)
	if err != nil {
		w.leave()
		return nil, err
	}
	p.in.asked = t.asked(slash)
	return p, nil
}

// tries is how often a path is walked anew when something on it is exchanged while it
// is being opened, as editors do when they save.
const tries = 32

// walkAgain is walk, tried again while names are being exchanged.
func (t trees) walkAgain(name string, follow bool) (*place, error) {
	for range tries {
		p, err := t.walk(name, follow)
		if err != errChanged {
			return p, err
		}
	}
	return nil, syscall.EBUSY
}

// asked gives the path below the agent's folder that name is by its mere spelling.
func (t trees) asked(name string) string {
	clean := path.Clean(name)
	if !path.IsAbs(clean) && !filepath.IsAbs(name) {
		if clean == ".." || strings.HasPrefix(clean, "../") {
			return ""
		}
		return clean
	}
	if t.folder == nil {
		return ""
	}
	for _, s := range t.folder.spellings {
		if clean == s {
			return "."
		}
		if rest, ok := strings.CutPrefix(clean, strings.TrimSuffix(s, "/")+"/"); ok {
			return rest
		}
	}
	return ""
}

func (w *walker) start(abs, follow bool) (*place, error) {
	switch {
	case abs:
		w.arrive()
	case w.trees.folder == nil:
		return &place{}, nil
	case w.trees.folder.root == nil:
		// Nothing to walk in: the agent's folder is missing.
		return w.stop("", syscall.ENOENT)
	default:
		w.into(w.trees.folder)
	}
	for len(w.pending) > 0 {
		if !w.spend() {
			return nil, syscall.ENAMETOOLONG
		}
		name := w.pending[len(w.pending)-1]
		w.pending = w.pending[:len(w.pending)-1]
		switch {
		case name == "..":
			if err := w.up(); err != nil {
				return nil, err
			}
		case w.tree == nil:
			w.out = append(w.out, name)
			w.arrive()
		default:
			p, err := w.step(name, follow)
			if p != nil || err != nil {
				return p, err
			}
		}
	}
	if w.tree == nil {
		return &place{}, nil
	}
	info, err := w.dir.Lstat(".")
	if err != nil {
		return w.stop("", errno(err))
	}
	return w.finish(".", info)
}

// spend counts a name that is walked. It reports false where there were enough.
func (w *walker) spend() bool {
	w.steps++
	if w.trees.left != nil {
		*w.trees.left--
		if *w.trees.left < 0 {
			return false
		}
	}
	return w.steps <= maxSteps
}

// step goes on to name inside a tree. It gives the place where the walk ends with it.
func (w *walker) step(name string, follow bool) (*place, error) {
	last := len(w.pending) == 0
	info, err := w.dir.Lstat(name)
	if err != nil {
		n := errno(err)
		if n == syscall.ENOENT && last {
			return w.finish(name, nil)
		}
		return w.stop(name, n)
	}
	if info.Mode()&fs.ModeSymlink != 0 && (!last || follow || w.asFolder) {
		if w.links++; w.links > maxLinks {
			return w.stop(name, syscall.ELOOP)
		}
		target, err := w.dir.Readlink(name)
		if err != nil {
			return nil, errChanged
		}
		w.asFolder = w.asFolder || last && strings.HasSuffix(filepath.ToSlash(target), "/")
		w.pending = pushParts(w.pending, target)
		if filepath.IsAbs(target) {
			w.leave()
			w.out = nil
			w.arrive()
		}
		return nil, nil
	}
	switch {
	case last && w.asFolder && !info.IsDir():
		return w.stop(name, syscall.ENOTDIR)
	case last:
		return w.finish(name, info)
	case !info.IsDir():
		return w.stop(name, syscall.ENOTDIR)
	}
	err = w.down(name, info)
	if n := errno(err); n != 0 {
		return w.stop(name, n)
	}
	return nil, err
}

// down enters the folder name, which info describes.
func (w *walker) down(name string, info fs.FileInfo) error {
	sub, err := enter(w.dir, name, info)
	if err != nil {
		return err
	}
	if w.own {
		_ = w.dir.Close()
	}
	w.dir, w.own = sub, true
	w.names = append(w.names, name)
	w.meet(info)
	return nil
}

// meet notes where the folder that was just entered is the other tree. It goes by the
// file, not by its name: names may differ in case, or by a mount.
func (w *walker) meet(info fs.FileInfo) {
	if o := w.trees.other(w.tree); w.otherAt < 0 && o != nil && o.info != nil && os.SameFile(info, o.info) {
		w.otherAt = len(w.names)
	}
}

// into goes to the start of a tree; where it lies inside the other one, by the way from
// there, so that the place is known in both.
func (w *walker) into(t *tree) {
	if t.outer != nil {
		for _, name := range slices.Backward(t.inOuter) {
			w.pending = append(w.pending, name)
		}
		t = t.outer
	}
	w.tree, w.dir, w.own, w.names, w.otherAt = t, t.root, false, nil, -1
	w.meet(t.info)
}

// arrive enters the tree to which the path so far is a spelling, if it is one.
func (w *walker) arrive() {
	if t := w.trees.spelled(slashPath(w.out)); t != nil {
		w.into(t)
	}
}

// leave gives up the open folder.
func (w *walker) leave() {
	if w.own {
		_ = w.dir.Close()
	}
	w.tree, w.dir, w.own, w.names, w.otherAt = nil, nil, false, nil, -1
}

// up goes to the folder above. An open folder cannot be left upwards, since it may have
// been moved; the walk starts again at the tree.
func (w *walker) up() error {
	if w.tree == nil {
		w.out = w.out[:max(len(w.out)-1, 0)]
		w.arrive()
		return nil
	}
	if len(w.names) == 0 {
		w.out = parts(w.tree.real)
		w.leave()
		w.out = w.out[:max(len(w.out)-1, 0)]
		w.arrive()
		return nil
	}
	names, t := w.names[:len(w.names)-1], w.tree
	w.leave()
	w.tree, w.dir = t, t.root
	w.meet(t.info)
	for _, name := range names {
		if !w.spend() {
			return syscall.ENAMETOOLONG
		}
		info, err := w.dir.Lstat(name)
		if err != nil || !info.IsDir() {
			return errChanged
		}
		if err := w.down(name, info); err != nil {
			return errChanged
		}
	}
	return nil
}

// finish ends the walk at name in the open folder.
func (w *walker) finish(name string, info fs.FileInfo) (*place, error) {
	names := w.names
	if name != "." {
		names = append(slices.Clip(names), name)
		if info != nil && info.IsDir() {
			// The place itself may be the other tree.
			w.names = names
			w.meet(info)
		}
	}
	p := &place{in: w.location(names), dir: w.dir, own: w.own, name: name, info: info, asFolder: w.asFolder}
	w.own = false
	return p, nil
}

// stop ends the walk early: name (may be "") in the open folder cannot be passed. The
// place is where the rest of the path leads by its spelling.
func (w *walker) stop(name string, why syscall.Errno) (*place, error) {
	if why == 0 {
		return nil, errChanged
	}
	names, t := slices.Clone(w.names), w.tree
	if t == nil {
		t = w.trees.folder
	}
	rest := w.pending
	if name != "" {
		rest = append(slices.Clip(rest), name)
	}
	p := &place{err: why}
	at := w.otherAt
	for _, name := range slices.Backward(rest) {
		if name != ".." {
			names = append(names, name)
			continue
		}
		if len(names) == 0 {
			w.leave()
			return p, nil // outside
		}
		names = names[:len(names)-1]
		if len(names) < at {
			at = -1
		}
	}
	w.leave()
	w.tree, w.otherAt = t, at
	p.in = w.location(names)
	return p, nil
}

// location says where names in the walker's tree are.
func (w *walker) location(names []string) location {
	join := func(names []string) string {
		if len(names) == 0 {
			return "."
		}
		return strings.Join(names, "/")
	}
	var in location
	if w.tree == w.trees.folder {
		in.folder, in.folderPath = true, join(names)
	} else {
		in.plugin, in.pluginPath = true, join(names)
	}
	if w.otherAt >= 0 {
		rest := join(names[w.otherAt:])
		if in.folder {
			in.plugin, in.pluginPath = true, rest
		} else {
			in.folder, in.folderPath = true, rest
		}
	}
	return in
}
