package scratch

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A folder is there until it is released, and a second release does nothing.
func TestFolder(t *testing.T) {
	dir, release, err := Folder(t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	release()
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	release()
}

// What takes long is not waited for.
func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		started := time.Now()
		within(patience, func() { <-over })
		if took := time.Since(started); took != patience {
			t.Errorf("waited for %v, not %v", took, patience)
		}
		close(over)
	})
}
