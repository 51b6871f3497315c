package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRealPaths checks that links are followed in as much of a path as there is, whichever of
// its names was asked for before.
func TestRealPaths(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	if err := os.MkdirAll(at("a/b"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": "a", "a/up": "..", "a/b/nowhere": "gone/x", "circle": "circle"} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	real := realPaths{}
	for range 2 { // the second time from what is remembered
		for name, want := range map[string]string{
			"a/b": "a/b", "link": "a", "link/b": "a/b", "link/b/new/file": "a/b/new/file", "a/up/link/b": "a/b", "link/../a": "a",
			"link/b/nowhere": "a/b/nowhere", "link/b/nowhere/y": "a/b/nowhere/y", "circle": "circle", "circle/x": "circle/x",
		} {
			if got := real.of(dir + "/" + name); got != at(want) {
				t.Errorf("%s: %s, want %s", name, got, at(want))
			}
		}
	}
	if got := real.of("/"); got != "/" {
		t.Error(got)
	}
}
