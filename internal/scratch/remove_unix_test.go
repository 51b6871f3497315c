//go:build unix

package scratch

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// lowerFiles lowers how many files this process may have open.
func lowerFiles(t *testing.T, n uint64) {
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	now := was
	now.Cur = n
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &now); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was) })
}

// nest makes folders in each other, with a file in each; their path is longer than any that
// the system takes.
func nest(t *testing.T, dir string, depth int) {
	root, err := os.OpenRoot(dir)
	name := strings.Repeat("d", 100)
	for range depth {
		if err == nil {
			err = root.Mkdir(name, 0o700)
		}
		if err == nil {
			err = root.WriteFile("file", nil, 0o400)
		}
		if err != nil {
			t.Fatal(err)
		}
		below, opening := root.OpenRoot(name)
		_ = root.Close()
		root, err = below, opening
	}
	_ = root.Close()
}

// However deep a folder is, removing it takes no more than a few open files.
func TestRemoveDeep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	nest(t, dir, 500)
	lowerFiles(t, 64)
	Remove(dir)
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

// Links are removed, not followed; folders that are closed are opened; many files are
// removed; a file is not taken for a folder.
func TestRemove(t *testing.T) {
	temp := t.TempDir()
	other, dir := filepath.Join(temp, "other"), filepath.Join(temp, "dir")
	for _, d := range []string{other, dir, dir + "/closed", dir + "/closed/inner", dir + "/many"} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{other + "/file", dir + "/closed/inner/file"} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range batch + 10 {
		if err := os.WriteFile(filepath.Join(dir, "many", strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range []string{dir + "/link", dir + "/closed/inner/link"} {
		if err := os.Symlink(other, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{dir + "/closed/inner", dir + "/closed", dir} {
		if err := os.Chmod(d, 0); err != nil {
			t.Fatal(err)
		}
	}
	Remove(dir)
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	if err := os.Symlink(other, dir); err != nil {
		t.Fatal(err)
	}
	Remove(dir)
	Remove(other + "/file")
	if _, err := os.Stat(other + "/file"); err != nil {
		t.Errorf("what a link leads to was removed: %v", err)
	}
}
