package bundle

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func sumOf(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }

// newProofs keeps proofs below a folder that is the user's own; none may be lost.
func newProofs(t *testing.T, dir string) *Proofs {
	t.Helper()
	return NewProofs(filepath.Join(dir, "cache"), func(err error) { t.Errorf("a proof is lost: %v", err) })
}

func TestProofsAreKept(t *testing.T) {
	dir := t.TempDir()
	p := newProofs(t, dir)
	if p.Proven(sumOf("a")) {
		t.Error("proven before it was")
	}
	var all sync.WaitGroup
	for _, text := range []string{"a", "b", "a", "c"} {
		all.Go(func() { p.Prove(sumOf(text)) })
	}
	all.Wait()
	again := newProofs(t, dir)
	for text, want := range map[string]bool{"a": true, "b": true, "c": true, "d": false} {
		if got := again.Proven(sumOf(text)); got != want {
			t.Errorf("%s is proven: %t", text, got)
		}
	}
	other := newProofs(t, dir)
	other.cache.program = sumOf("another program")
	if other.Proven(sumOf("a")) {
		t.Error("what another program has proven holds for this one")
	}
	other.Prove(sumOf("d"))
	if p := newProofs(t, dir); p.Proven(sumOf("a")) || p.Proven(sumOf("d")) {
		t.Error("the file is of two programs")
	}
	var none *Proofs
	none.Prove(sumOf("a"))
	if none.Proven(sumOf("a")) {
		t.Error("nothing has proven something")
	}
}

func TestProofsFileIsDamagedOrFull(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "cache", proofFile)
	for _, change := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:len(b)-5] },
		func([]byte) []byte { return nil },
		func(b []byte) []byte { return append(b, make([]byte, maxProofs)...) },
	} {
		newProofs(t, dir).Prove(sumOf("a"))
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, change(data), 0o600); err != nil {
			t.Fatal(err)
		}
		newProofs(t, dir).Prove(sumOf("b"))
		if info, err := os.Stat(file); err != nil || info.Size() > maxProofs || info.Size()%sha256.Size != 0 {
			t.Errorf("%v, %v", info, err)
		}
		if !newProofs(t, dir).Proven(sumOf("b")) {
			t.Error("the file is not begun anew")
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

// TestProofsOfOthersAreNotTaken: whoever can write the file could have anything pass.
func TestProofsOfOthersAreNotTaken(t *testing.T) {
	dir := t.TempDir()
	newProofs(t, dir).Prove(sumOf("a"))
	file := filepath.Join(dir, "cache", proofFile)
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	if newProofs(t, dir).Proven(sumOf("a")) {
		t.Error("a file that others may write is taken")
	}
	if err := os.Rename(file, file+"-real"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file+"-real", file); err != nil {
		t.Fatal(err)
	}
	if newProofs(t, dir).Proven(sumOf("a")) {
		t.Error("a link is followed")
	}
	failures := 0
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	p := NewProofs(filepath.Join(dir, "cache"), func(error) { failures++ })
	p.Prove(sumOf("b"))
	p.Prove(sumOf("c"))
	if failures != 1 || p.Proven(sumOf("a")) {
		t.Errorf("told %d times", failures)
	}
}
