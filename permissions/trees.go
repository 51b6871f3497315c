package permissions

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxLinks is how many links are followed on the way to one place, as on Linux.
const maxLinks = 40

// tree is a folder that a grant knows: the agent's, or the plugin's own.
type tree struct {
	real   string      // absolute, links followed
	root   *os.Root    // nil where it could not be opened
	info   fs.FileInfo // of root
	top    bool        // it is "/"
	system bool        // it lies in one of the system's own folders
	// spellings holds the absolute slash paths that lead to the tree: as it was named,
	// as it is with all links followed, and the steps between.
	spellings []string
	// outer is the other tree where this one lies inside it; inOuter is the way from there.
	outer   *tree
	inOuter []string
}

// isSystem reports whether a place below the tree is one where the kernel shows
// processes and devices as files: their content is not the user's, and the host's own
// secrets (/proc/self/environ) are among it.
func (t *tree) isSystem(name string) bool {
	if !t.top {
		return t.system
	}
	return isSystem(parts(name))
}

func isSystem(names []string) bool {
	switch {
	case len(names) == 0 || filepath.Separator != '/':
		return false
	case names[0] == "dev":
		return len(names) == 1 || names[1] != "shm" // which is memory for everybody's files
	}
	return names[0] == "proc" || names[0] == "sys"
}

// trees are the folders of a grant; nil where there is none.
type trees struct {
	folder, plugin *tree
	// left is how many names may still be walked in all; nil where only those of each
	// path are counted.
	left *int
}

func openTrees(folder, plugin string) trees {
	var t trees
	if folder != "" {
		t.folder = openTree(folder)
	}
	if plugin != "" {
		t.plugin = openTree(plugin)
	}
	if t.folder != nil && t.plugin != nil {
		if way, ok := below(t.folder.real, t.plugin.real); ok && t.folder.root != nil {
			t.plugin.outer, t.plugin.inOuter = t.folder, way
		} else if way, ok := below(t.plugin.real, t.folder.real); ok && t.plugin.root != nil {
			t.folder.outer, t.folder.inOuter = t.plugin, way
		}
	}
	return t
}

func openTree(name string) *tree {
	t := &tree{}
	t.real, t.spellings = spell(name)
	names := parts(t.real)
	t.top, t.system = len(names) == 0, isSystem(names)
	root, err := os.OpenRoot(t.real)
	if err != nil {
		return t
	}
	info, err := root.Stat(".")
	if err != nil {
		_ = root.Close()
		return t
	}
	t.root, t.info = root, info
	return t
}

func (t trees) close() {
	for _, t := range []*tree{t.folder, t.plugin} {
		if t != nil && t.root != nil {
			_ = t.root.Close()
		}
	}
}

// other gives the tree that t is not.
func (t trees) other(of *tree) *tree {
	if of == t.folder {
		return t.plugin
	}
	return t.folder
}

// spelled gives the tree to which an absolute path is one of the spellings.
func (t trees) spelled(name string) *tree {
	for _, t := range []*tree{t.folder, t.plugin} {
		if t != nil && t.root != nil && slices.Contains(t.spellings, name) {
			return t
		}
	}
	return nil
}

// spell follows the links in an absolute path, and gives the path without them and
// every spelling on the way there. Where it cannot go on it keeps the rest as it is.
func spell(name string) (real string, spellings []string) {
	pending := parts(name)
	slices.Reverse(pending)
	var done []string
	note := func() {
		rest := slices.Clone(pending)
		slices.Reverse(rest)
		if s := slashPath(slices.Concat(done, rest)); !slices.Contains(spellings, s) {
			spellings = append(spellings, s)
		}
	}
	note()
	for links := 0; len(pending) > 0; {
		c := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if c == ".." {
			done = done[:max(len(done)-1, 0)]
			continue
		}
		done = append(done, c)
		target, err := os.Readlink(filepath.FromSlash(slashPath(done)))
		if err != nil {
			continue
		}
		if links++; links > maxLinks {
			break
		}
		done = done[:len(done)-1]
		if filepath.IsAbs(target) {
			done = nil
		}
		pending = pushParts(pending, target)
		note()
	}
	note()
	return filepath.FromSlash(spellings[len(spellings)-1]), spellings
}

// parts gives the names in a path, without empty ones and ".".
func parts(name string) []string {
	list := strings.Split(filepath.ToSlash(name), "/")
	return slices.DeleteFunc(list, func(s string) bool { return s == "" || s == "." })
}

// pushParts puts the names in a path on a stack, the first on top.
func pushParts(stack []string, name string) []string {
	list := parts(name)
	slices.Reverse(list)
	return append(stack, list...)
}

// slashPath joins names to an absolute slash path.
func slashPath(names []string) string {
	joined := strings.Join(names, "/")
	if filepath.Separator == '\\' {
		return joined // the first name is the volume
	}
	return "/" + joined
}

// below gives the way from outer to inner, both absolute, where inner is or lies in outer.
func below(outer, inner string) ([]string, bool) {
	o, i := parts(outer), parts(inner)
	if len(i) < len(o) || !slices.Equal(o, i[:len(o)]) {
		return nil, false
	}
	return i[len(o):], true
}

// errChanged says that a name was given to another file while it was being opened.
var errChanged = errors.New("exchanged while it was being opened")

// enter opens the folder name of dir, which info describes, and nothing else: a link or
// another folder that has taken its place since is errChanged. It never waits for a
// named pipe, since with "/." behind it the name is opened as a folder or not at all.
func enter(dir *os.Root, name string, info fs.FileInfo) (*os.Root, error) {
	sub, err := dir.OpenRoot(name + "/.")
	if err != nil {
		if errno(err) == syscall.ENOTDIR || errno(err) == 0 {
			return nil, errChanged
		}
		return nil, err
	}
	now, err := sub.Lstat(".")
	if err != nil || !os.SameFile(info, now) {
		_ = sub.Close()
		return nil, errChanged
	}
	return sub, nil
}

// errno gives the system's error number in err, or 0.
func errno(err error) syscall.Errno {
	var n syscall.Errno
	if errors.As(err, &n) {
		return n
	}
	return 0
}
