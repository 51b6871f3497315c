//go:build unix

package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What a host left behind that was killed is removed by the next; what is in use, new or
// of something else stays.
func TestSweep(t *testing.T) {
	temp := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"toolhost-scratch-tmp-1", "toolhost-scratch-stage-2", "toolhost-scratch-empty-3", "toolhost-scratch-tmp-used", "toolhost-other-4", "other-tmp-5", "toolhost-scratch-tmp-new"} {
		must(t, os.Mkdir(filepath.Join(temp, name), 0o700))
	}
	must(t, os.WriteFile(temp+"/toolhost-scratch-tmp-1/file", nil, 0o600))
	must(t, os.Symlink(temp+"/other-tmp-5", temp+"/toolhost-scratch-tmp-link"))
	unlock, ok := lock(temp + "/toolhost-scratch-tmp-used")
	if !ok {
		t.Fatal("a new folder cannot be locked")
	}
	defer unlock()
	for _, name := range []string{"toolhost-scratch-tmp-1", "toolhost-scratch-stage-2", "toolhost-scratch-empty-3", "toolhost-scratch-tmp-used", "toolhost-other-4", "other-tmp-5"} {
		must(t, os.Chtimes(filepath.Join(temp, name), old, old))
	}
	sweep(temp, time.Now())
	for name, stays := range map[string]bool{"toolhost-scratch-tmp-1": false, "toolhost-scratch-stage-2": false, "toolhost-scratch-empty-3": false, "toolhost-scratch-tmp-used": true, "toolhost-other-4": true, "other-tmp-5": true, "toolhost-scratch-tmp-new": true, "toolhost-scratch-tmp-link": true} {
		if _, err := os.Lstat(filepath.Join(temp, name)); stays != !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
