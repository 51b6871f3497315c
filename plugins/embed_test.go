package plugins_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/plugins"
)

func materialise(t *testing.T, dir string) []string {
	t.Helper()
	dirs, err := plugins.Materialise(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(dirs))
	for i, d := range dirs {
		names[i] = filepath.Base(d)
		if filepath.Dir(filepath.Dir(d)) != dir {
			t.Fatalf("%q is not one level below %q", d, dir)
		}
	}
	if want := []string{"image-tools", "markdown-tools", "table-tools", "word-count"}; !slices.Equal(names, want) {
		t.Fatalf("got %q, want %q", names, want)
	}
	return dirs
}

// compare checks that a materialised tree is what is embedded, and nothing else.
func compare(t *testing.T, root string) {
	t.Helper()
	want, got := map[string]string{}, map[string]string{}
	for tree, into := range map[fs.FS]map[string]string{plugins.FS(): want, os.DirFS(root): got} {
		err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := fs.ReadFile(tree, name)
			into[name] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(want) < 20 || len(got) != len(want) {
		t.Fatalf("%d files were written of %d", len(got), len(want))
	}
	for name, data := range want {
		if got[name] != data {
			t.Errorf("%s differs", name)
		}
		if info, err := os.Lstat(filepath.Join(root, name)); err != nil || info.Mode() != 0o444 {
			t.Errorf("%s has the mode %v (%v)", name, info.Mode(), err)
		}
	}
}

func TestMaterialise(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	dirs := materialise(t, dir)
	root := filepath.Dir(dirs[0])
	compare(t, root)
	before, err := os.Stat(root)
	if err != nil {
		t.Fatal(err)
	}
	if again := materialise(t, dir); !slices.Equal(again, dirs) {
		t.Errorf("the second time they are in %q", again)
	}
	if after, err := os.Stat(root); err != nil || !os.SameFile(before, after) {
		t.Error("what was complete was written anew")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("something was left beside the plugins: %v %v", entries, err)
	}
}

func TestMaterialiseRepairs(t *testing.T) {
	handler := filepath.Join("word-count", "handlers", "count-words.js")
	for name, damage := range map[string]func(root string) error{
		"changed": func(root string) error {
			file := filepath.Join(root, handler)
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			data[0] ^= 1
			return os.WriteFile(file, data, 0o444)
		},
		"missing": func(root string) error { return os.Remove(filepath.Join(root, handler)) },
		"added": func(root string) error {
			return os.WriteFile(filepath.Join(root, "word-count", "handlers", "more.js"), nil, 0o644)
		},
		"link": func(root string) error {
			file := filepath.Join(root, handler)
			if err := os.Rename(file, root+".js"); err != nil {
				return err
			}
			return os.Symlink(root+".js", file)
		},
		"linked whole": func(root string) error {
			if err := os.Rename(root, root+".moved"); err != nil {
				return err
			}
			return os.Symlink(root+".moved", root)
		},
		"a file": func(root string) error {
			if err := os.RemoveAll(root); err != nil {
				return err
			}
			return os.WriteFile(root, nil, 0o644)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			root := filepath.Dir(materialise(t, dir)[0])
			if name == "changed" {
				if err := os.Chmod(filepath.Join(root, handler), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := damage(root); err != nil {
				t.Fatal(err)
			}
			materialise(t, dir)
			compare(t, root)
		})
	}
}

func TestMaterialiseAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := plugins.Materialise(dir); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	compare(t, filepath.Dir(materialise(t, dir)[0]))
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("something was left beside the plugins: %v %v", entries, err)
	}
}

func TestMaterialiseWhereItCannot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if dirs, err := plugins.Materialise(file); err == nil {
		t.Errorf("it wrote to %q", dirs)
	}
}
