package runtimes_test

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/runtimes"
)

// A file is known by its content; a huge one by its size and time, and is not read.
func TestSum(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	sum := func() [sha256.Size]byte {
		t.Helper()
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s, err := runtimes.Sum(f)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	change := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	change(os.WriteFile(name, []byte("text"), 0o600))
	if sum() != sha256.Sum256([]byte("text")) {
		t.Error("the sum is not that of the content")
	}
	change(os.Truncate(name, 1<<40))
	change(os.Chtimes(name, time.Time{}, time.Unix(1, 0)))
	huge := sum()
	if sum() != huge {
		t.Error("a huge file has two sums")
	}
	change(os.Chtimes(name, time.Time{}, time.Unix(2, 0)))
	later := sum()
	change(os.Truncate(name, 1<<40+1))
	change(os.Chtimes(name, time.Time{}, time.Unix(2, 0)))
	if later == huge || sum() == later {
		t.Error("a huge file of another time or size has the same sum")
	}
}

// The digest of what was agreed to is made of these lines, and must be the same in later versions.
func TestAppendSums(t *testing.T) {
	got := string(runtimes.AppendSums([]byte("head\n"), map[string][sha256.Size]byte{"b/\"c\".js": {1, 0xab}, "a": {}}))
	zero := strings.Repeat("00", sha256.Size)
	if want := "head\n\"a\" " + zero + "\n" + `"b/\"c\".js" 01ab` + zero[4:] + "\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
