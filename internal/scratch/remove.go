package scratch

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"
)

// batch is how many entries of a folder are read at once.
const batch = 1024

// Remove removes a folder with all below it, also where the rights to do so were taken away
// and however deep it is: [os.RemoveAll] holds a descriptor open for each level, and a
// program that nests folders would take them all from this process. What cannot be removed
// stays.
func Remove(dir string) {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return
	}
	_ = os.Chmod(dir, 0o700)
	if root, err := os.OpenRoot(dir); err == nil {
		(&remover{root: root, mark: rand.Text()}).top()
		_ = root.Close()
	}
	_ = os.Remove(dir)
}

// remover empties a folder. Folders in folders are moved to the top first, so that nothing
// is ever deeper than one level.
type remover struct {
	root  *os.Root
	mark  string // begins the names of what was moved; nobody knew it
	moved int
}

func (r *remover) top() {
	for r.pass(".", func(name string) bool {
		for r.pass(name, func(inner string) bool { return r.lift(filepath.Join(name, inner)) }) {
		}
		return r.root.Remove(name) == nil
	}) {
	}
}

// lift moves a folder to the top. Moving it takes the right to write in it.
func (r *remover) lift(path string) bool {
	_ = r.root.Chmod(path, 0o700)
	r.moved++
	return r.root.Rename(path, r.mark+strconv.Itoa(r.moved)) == nil
}

// pass removes some of what is in a folder, and has its folders dealt with. It is false
// where nothing is left, or nothing could be done.
func (r *remover) pass(name string, folder func(string) bool) (more bool) {
	if name != "." {
		_ = r.root.Chmod(name, 0o700)
	}
	dir, err := r.root.Open(name)
	if err != nil {
		return false
	}
	entries, _ := dir.ReadDir(batch)
	_ = dir.Close() // reading on would pass over entries, now that some are gone
	for _, e := range entries {
		if e.IsDir() {
			more = folder(e.Name()) || more
		} else {
			more = r.root.Remove(filepath.Join(name, e.Name())) == nil || more
		}
	}
	return more
}
