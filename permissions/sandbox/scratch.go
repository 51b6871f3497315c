package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	// scratchPrefix begins the names of what is made here, and of nothing else, in the
	// system's temporary folder.
	scratchPrefix = "toolhost-scratch-"
	// scratchAge is how old a folder must be to be taken for one that was left behind:
	// between being made and being locked there is a moment.
	scratchAge = time.Minute
)

// sweepOnce removes, once in a process, what earlier ones left behind.
var sweepOnce = sync.OnceFunc(func() { sweep(os.TempDir(), time.Now()) })

// scratch makes a folder in the system's temporary one. It is locked for as long as this
// process lives, so that a later one can tell what was left behind by a host that was
// killed. release removes it.
func scratch(kind string) (dir string, release func(), err error) {
	sweepOnce()
	dir, err = os.MkdirTemp("", scratchPrefix+kind+"-")
	if err != nil {
		return "", nil, err
	}
	unlock, _ := lock(dir) // without it the folder is only taken for an old one, later
	release = func() {
		removeTree(dir)
		unlock()
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		release()
		return "", nil, err
	}
	return real, release, nil
}

// sweep removes the folders of hosts that are no more.
func sweep(temp string, now time.Time) {
	entries, err := os.ReadDir(temp)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), scratchPrefix) {
			continue
		}
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) < scratchAge || !own(info) {
			continue
		}
		dir := filepath.Join(temp, e.Name())
		if unlock, ok := lock(dir); ok {
			removeTree(dir)
			unlock()
		}
	}
}
