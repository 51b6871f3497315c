package permissions

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"
)

// lay makes files in a new folder and gives its path: "name": "content", "name/": a
// folder, "name": "-> target" a link. "{top}" in a target stands for the new folder.
func lay(t testing.TB, files map[string]string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		full, content := filepath.Join(top, name), files[name]
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			t.Fatal(err)
		}
		target, link := strings.CutPrefix(content, "-> ")
		switch {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(full, 0o777)
		case link:
			err = os.Symlink(strings.ReplaceAll(target, "{top}", top), full)
		default:
			err = os.WriteFile(full, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// grant resolves a policy and ends the grant with the test.
func grant(t testing.TB, p *Policy, folder string, args ...Argument) *Grant {
	t.Helper()
	g, err := p.Resolve(folder, args)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Revoke)
	return g
}

func everything() *Policy {
	return &Policy{FS: FSPolicy{Read: Access{Folder: true}, Write: Access{Folder: true}}}
}

// outcome writes an error as the tables do: "ok", "denied", or the system's name for it.
func outcome(err error) string {
	var denied *DeniedError
	var n syscall.Errno
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &denied):
		return "denied"
	case !errors.As(err, &n):
		return "other: " + err.Error()
	}
	for name, known := range map[string]syscall.Errno{
		"ENOENT": syscall.ENOENT, "EISDIR": syscall.EISDIR, "ENOTDIR": syscall.ENOTDIR, "EEXIST": syscall.EEXIST,
		"ENOTEMPTY": syscall.ENOTEMPTY, "ELOOP": syscall.ELOOP, "EINVAL": syscall.EINVAL, "ENAMETOOLONG": syscall.ENAMETOOLONG,
		"EFBIG": syscall.EFBIG, "EPERM": syscall.EPERM, "EACCES": syscall.EACCES, "EBADF": syscall.EBADF, "EBUSY": syscall.EBUSY,
	} {
		if n == known {
			return name
		}
	}
	return n.Error()
}

func readText(f *FS, name string) (string, error) {
	data, err := f.ReadFile(name, 0)
	return string(data), err
}

// names gives the names of entries.
func entryNames(entries []fs.DirEntry) string {
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

// content gives what is on the disk, "" where nothing is.
func content(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

// noLeftovers fails where a hidden file of a write was left behind.
func noLeftovers(t testing.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(name), ".toolhost-") {
			t.Errorf("left behind: %s", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
