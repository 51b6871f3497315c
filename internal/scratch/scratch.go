// Package scratch makes temporary folders that are removed in any case: by who made them,
// or, where that process was killed, by the next one.
//
//	dir, release, err := scratch.Folder("", "stage")
//	defer release()
package scratch

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	// prefix begins the names of what is made here, and of nothing else.
	prefix = "toolhost-scratch-"
	// oldest is how old a folder must be to be taken for one that was left behind: between
	// being made and being locked there is a moment.
	oldest = time.Minute
	// patience is how long removing something is waited for. A program may have filled its
	// folder with more files than anybody wants to wait for.
	patience = 250 * time.Millisecond
)

// swept holds the folders in which this process has looked for what others left behind. It
// is of the process, not of a runtime, as what is left behind is: one look is enough for all.
var swept sync.Map

// Folder makes a folder in base; "" is the system's temporary one. It is locked for as long
// as this process lives, so that a later one can tell what was left behind. dir has no links
// in it. release removes it with all that is in it; where that takes long it goes on after
// release has returned, and what this process does not come to is left to the next. It may be
// called more than once.
func Folder(base, kind string) (dir string, release func(), err error) {
	if base == "" {
		base = os.TempDir()
	}
	if _, again := swept.LoadOrStore(base, true); !again {
		within(patience, func() { sweep(base, time.Now()) })
	}
	dir, err = os.MkdirTemp(base, prefix+kind+"-")
	if err != nil {
		return "", nil, err
	}
	unlock, _ := lock(dir) // without it the folder is only taken for an old one, later
	made := dir
	var once sync.Once
	release = func() {
		once.Do(func() {
			within(patience, func() {
				Remove(made)
				unlock()
			})
		})
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		release()
		return "", nil, err
	}
	return dir, release, nil
}

// within does something and waits for it, but not for long.
func within(limit time.Duration, do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

// sweep removes the folders of processes that are no more.
func sweep(base string, now time.Time) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) < oldest || !own(info) {
			continue
		}
		dir := filepath.Join(base, e.Name())
		if unlock, ok := lock(dir); ok {
			Remove(dir)
			unlock()
		}
	}
}
