package loader

import (
	"os"
	"path/filepath"
	"testing"
)

// Side by side or through links, a folder is where resolve says that it is.
func TestPlaces(t *testing.T) {
	base := t.TempDir()
	for _, dir := range []string{"real/ant", "real/bee"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "real", "real/cat": "bee", "real/dog": "nowhere", "real/loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(base)
	p := places{}
	for _, above := range []string{".", "..", "real", "link", "none", base, filepath.Join(base, "link"), "/"} {
		for _, name := range []string{"ant", "bee", "cat", "dog", "loop", "none", "..", "."} {
			dir := filepath.Join(above, name)
			if got, want := p.resolve(dir), resolve(dir); got != want {
				t.Errorf("%s: %s, want %s", dir, got, want)
			}
		}
	}
	if p.resolve(filepath.Join("link", "cat")) != resolve(filepath.Join("real", "bee")) {
		t.Error("a link in a linked folder was not followed")
	}
}
