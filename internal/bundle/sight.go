package bundle

import (
	"path"
	"path/filepath"
	"strings"
	"time"
)

// stamp tells one state of a file or folder from another without reading it. It is made of what
// the file system says, in which the time of the last change of status is, which nobody can set
// back. The zero value is no stamp.
type stamp struct {
	Device, Inode, Size, Modified, Changed uint64
}

// sight is what a file that went into a bundle looked like, or a folder in which modules were
// looked for.
type sight struct {
	Path  string
	Stamp stamp
}

// settled is how long before it was looked at something must have changed last for its stamp to
// count: two changes within one tick of the file system's clock have the same.
const settled = 2 * time.Second

// look gives what all looks like that a bundle depends on, below a folder. It is nil where that
// does not tell whether a build would give the same: where links are on the way, or it
// changed just now.
//
// The stamp of a folder stands for which names there are in it, and for what these are.
func (k *kept) look(dir string, now time.Time) []sight {
	var list []sight
	known := map[string]bool{}
	// see looks at a name and the folders above it. stamped says that more of it counts than
	// what it is, which the stamp of the folder above stands for.
	var see func(name string, stamped bool) bool
	see = func(name string, stamped bool) bool {
		if name != "." && !see(path.Dir(name), true) {
			return false
		}
		if known[name] {
			return true
		}
		s, ok := stampOf(filepath.Join(dir, filepath.FromSlash(name)))
		if !ok || !stamped || s == (stamp{}) {
			return ok
		}
		known[name] = true
		list = append(list, sight{name, s})
		return s.Device == list[0].Stamp.Device && !s.changed().After(now.Add(-settled))
	}
	for _, i := range k.Inputs {
		if !filepath.IsLocal(i.Path) || !see(path.Clean(i.Path), true) {
			return nil
		}
	}
	for _, t := range k.Answers {
		if name := t.Question.Name; !filepath.IsLocal(name) || strings.HasPrefix(t.Answer, linkTo) || !see(path.Clean(name), false) {
			return nil
		}
	}
	return list
}

func (s *stamp) numbers() [5]*uint64 {
	return [...]*uint64{&s.Device, &s.Inode, &s.Size, &s.Modified, &s.Changed}
}

func (s stamp) changed() time.Time { return time.Unix(0, int64(s.Changed)) }

// unchanged reports whether everything looks as it did when it was seen last that the files
// were those that went into the bundle, and a build would find no others.
func (k *kept) unchanged(dir string) bool {
	for _, s := range k.Sights {
		if now, ok := stampOf(filepath.Join(dir, filepath.FromSlash(s.Path))); !ok || now != s.Stamp {
			return false
		}
	}
	return len(k.Sights) > 0
}
