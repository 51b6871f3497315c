package bundle

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// entryOf reads the one entry of a cache.
func entryOf(t *testing.T, c *cached) *kept {
	t.Helper()
	data, err := os.ReadFile(c.entry(t))
	if err != nil {
		t.Fatal(err)
	}
	k := &kept{}
	if err := k.decode(data[head:]); err != nil {
		t.Fatal(err)
	}
	return k
}

// putEntry writes an entry in the place of the one that there is.
func putEntry(t *testing.T, c *cached, k *kept) {
	t.Helper()
	body := k.encode()
	mark, sum := c.cache.mark(madeForTests), sha256.Sum256(body)
	if err := os.WriteFile(c.entry(t), slices.Concat(mark[:], sum[:], body), 0o600); err != nil {
		t.Fatal(err)
	}
}

// seenWith is cacheWith with an entry that says what everything looked like: it was read at a
// time at which nothing had changed for long.
func seenWith(t *testing.T, files map[string]string) *cached {
	t.Helper()
	c := cacheWith(t, files)
	c.cache.now = func() time.Time { return time.Now().Add(2 * settled) }
	c.cache.stamps = func(string) bool { return true }
	if c.get() == nil {
		t.Fatal("nothing was kept")
	}
	if len(entryOf(t, c).Sights) == 0 {
		t.Fatal("the entry does not say what the files look like")
	}
	c.awaitTick(t)
	return c
}

// awaitTick returns once what is changed has another time than what was changed before: that the
// time was long ago is not so in a test.
func (c *cached) awaitTick(t *testing.T) {
	t.Helper()
	at := func() uint64 {
		file := filepath.Join(t.TempDir(), "tick")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s, _ := stampOf(file)
		return s.Changed
	}
	for first := at(); at() == first; {
	}
}

// TestCacheReadsNothingThatLooksTheSame has an entry say of files what they do not hold: only
// who reads them can see that.
func TestCacheReadsNothingThatLooksTheSame(t *testing.T) {
	c := seenWith(t, cachedFiles)
	k := entryOf(t, c)
	for i := range k.Inputs {
		k.Inputs[i].Sum[0]++
	}
	putEntry(t, c, k)
	if c.get() == nil {
		t.Error("files are read that look as they did")
	}
	k.Sights = nil
	putEntry(t, c, k)
	if c.get() != nil {
		t.Error("files are not read of which it is not known what they looked like")
	}
}

func TestCacheSeesChangesByLooks(t *testing.T) {
	all := changes()
	all["the same size and time"] = func(t *testing.T, c *cached) error {
		file := filepath.Join(c.dir, "lib/a.js")
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		if _, err := f.WriteAt([]byte("b"), int64(len(`export default "`))); err != nil {
			return err
		}
		return os.Chtimes(file, info.ModTime(), info.ModTime())
	}
	for name, change := range all {
		t.Run(name, func(t *testing.T) {
			c := seenWith(t, cachedFiles)
			if err := change(t, c); err != nil {
				t.Fatal(err)
			}
			if c.get() != nil {
				t.Error("the bundle is still given")
			}
		})
	}
}

// TestCacheDistrustsWhatHasJustChanged has what was written right before it was read be read
// again: another change within the same tick would not show.
func TestCacheDistrustsWhatHasJustChanged(t *testing.T) {
	c := cacheWith(t, cachedFiles)
	c.cache.stamps = func(string) bool { return true }
	s, _ := stampOf(filepath.Join(c.dir, "lib/a.js"))
	c.cache.now = s.changed // however long the build took
	for range 2 {
		if c.get() == nil {
			t.Fatal("nothing was kept")
		}
	}
	k := entryOf(t, c)
	if len(k.Sights) > 0 {
		t.Fatalf("the looks count of files that were written just now: %v", k.Sights)
	}
	for _, tc := range []struct {
		age  time.Duration
		want bool
	}{{0, false}, {settled - 1, false}, {settled + time.Second, true}} {
		if got := k.look(c.dir, s.changed().Add(tc.age)); (got != nil) != tc.want {
			t.Errorf("%v after the change: %v", tc.age, got)
		}
	}
	file := filepath.Join(c.dir, "lib/a.js")
	if err := os.WriteFile(file, []byte(`export default "b";`), 0o644); err != nil { // as long as before
		t.Fatal(err)
	}
	if c.get() != nil {
		t.Error("the bundle is still given")
	}
}

// TestCacheLooksThroughNoLink: what a link leads to can change without the link's folder.
func TestCacheLooksThroughNoLink(t *testing.T) {
	later := time.Now().Add(time.Hour)
	for name, link := range map[string]string{
		"a folder": "lib", "a module": "lib/a.js", "something that was not there": "node_modules/maybe",
	} {
		t.Run(name, func(t *testing.T) {
			c := cacheWith(t, cachedFiles)
			k := entryOf(t, c)
			if k.look(c.dir, later) == nil {
				t.Fatal("files do not count that lie there")
			}
			file := filepath.Join(c.dir, filepath.FromSlash(link))
			real := filepath.Join(c.dir, "real")
			if err := os.Rename(file, real); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if err := os.Symlink(real, file); err != nil {
				t.Fatal(err)
			}
			if got := k.look(c.dir, later); got != nil {
				t.Errorf("%v", got)
			}
		})
	}
	c := cacheWith(t, cachedFiles)
	k := entryOf(t, c)
	k.Answers = append(k.Answers, told{Question: question{Name: "../beside"}})
	if k.look(c.dir, later) != nil {
		t.Error("it looks outside of the folder")
	}
	k.Answers[len(k.Answers)-1] = told{Question: question{Name: "pipe"}}
	if err := syscall.Mkfifo(filepath.Join(c.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if k.look(c.dir, later) != nil {
		t.Error("a pipe counts")
	}
}
