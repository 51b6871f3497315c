package permissions_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/permissions"
)

// Asking whether something may be written gives what writing it gives, and changes nothing.
func TestMay(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "out"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "out", "a.txt"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	policy := &permissions.Policy{FS: permissions.FSPolicy{Write: permissions.Access{Paths: []string{"out/**"}}}}
	g, err := policy.Resolve(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Revoke()
	for name, want := range map[string]struct{ file, dir error }{
		"out":              {syscall.EISDIR, nil},
		"out/a.txt":        {nil, syscall.EEXIST},
		"out/new":          {nil, nil},
		"out/new/deep":     {nil, nil},
		"out/a.txt/b":      {syscall.ENOTDIR, syscall.ENOTDIR},
		"out/.git":         {permissions.ErrDenied, permissions.ErrDenied},
		"out/new/.git/sub": {permissions.ErrDenied, permissions.ErrDenied},
		"other":            {permissions.ErrDenied, permissions.ErrDenied},
		"../other":         {permissions.ErrDenied, permissions.ErrDenied},
	} {
		if err := g.FS().MayWriteFile(name); !errors.Is(err, want.file) {
			t.Errorf("writing %q: %v, not %v", name, err, want.file)
		}
		if err := g.FS().MayMkdir(name); !errors.Is(err, want.dir) {
			t.Errorf("making %q: %v, not %v", name, err, want.dir)
		}
	}
	var found []string
	_ = filepath.WalkDir(folder, func(path string, _ fs.DirEntry, _ error) error {
		found = append(found, path)
		return nil
	})
	if len(found) != 3 {
		t.Errorf("the folder holds %q", found)
	}
}
