package process

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/runtimes"
)

// maxInputs is how many files of a plugin are looked at.
const maxInputs = 10_000

type sum = [sha256.Size]byte

// readInputs gives the sums of all files in the plugin's folder except those below names
// that begin with a dot and below node_modules, and looks at its own programs again later.
func readInputs(ctx context.Context, dir string, own []string) (map[string]sum, *sightings, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	sums := map[string]sum{}
	seen := &sightings{dir: dir, of: map[string]sighting{}}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && name == ".":
			return err
		case name != "." && (strings.HasPrefix(path.Base(name), ".") || path.Base(name) == "node_modules"):
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err != nil || !d.Type().IsRegular():
			return nil // what cannot be read cannot be watched either
		case len(sums) == maxInputs:
			return fs.SkipAll
		}
		if s, _, err := look(root, name); err == nil {
			sums[name] = s
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for _, name := range own {
		s, at, err := look(root, name)
		if err != nil {
			return nil, nil, err
		}
		sums[name], seen.of[name] = s, sighting{at, s}
	}
	return sums, seen, nil
}

// stamp is what a look at a file's entry tells of its content.
type stamp struct {
	size          int64
	time          time.Time
	device, inode uint64
}

func stampOf(info fs.FileInfo) stamp {
	s := stamp{size: info.Size(), time: info.ModTime()}
	s.device, s.inode = identity(info)
	return s
}

// look reads a file's sum.
func look(root *os.Root, name string) (s sum, at stamp, err error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return s, at, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return s, at, err
	}
	at = stampOf(info)
	s, err = runtimes.Sum(f)
	return s, at, err
}

// sightings are the plugin's own programs as they were when it was loaded: what was
// agreed to is what is run.
type sightings struct {
	dir string
	mu  sync.Mutex
	of  map[string]sighting
}

type sighting struct {
	at  stamp
	sum sum
}

// changed gives the name of a program that is no longer what it was; "" where there is none.
func (s *sightings) changed() (name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.of) == 0 {
		return "", nil
	}
	root, err := os.OpenRoot(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s.dir, nil
	}
	if err != nil {
		return "", err
	}
	defer root.Close()
	for name, was := range s.of {
		info, err := root.Stat(name)
		if err == nil && stampOf(info) == was.at {
			continue
		}
		now, at, err := look(root, name)
		if err != nil || now != was.sum {
			return name, nil
		}
		s.of[name] = sighting{at, was.sum} // touched, or written with the same bytes
	}
	return "", nil
}
