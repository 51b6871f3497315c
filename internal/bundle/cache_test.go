package bundle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// cached is a plugin that was built and kept.
type cached struct {
	dir   string
	root  *os.Root
	cache *Cache
	built *Bundle
}

var madeForTests = sha256.Sum256([]byte("test"))

// cacheWith builds a plugin with the handler h.ts and keeps it.
func cacheWith(t *testing.T, files map[string]string) *cached {
	t.Helper()
	c := &cached{dir: t.TempDir(), cache: NewCache(filepath.Join(t.TempDir(), "cache"))}
	c.write(t, files)
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	c.root = root
	if c.built, err = New(nil).Build(context.Background(), root, []string{"h.ts"}); err != nil {
		t.Fatal(err)
	}
	if err := c.cache.Put("p", madeForTests, c.built); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *cached) write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(c.dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (c *cached) get() *Bundle { return c.cache.Get(c.dir, "p", madeForTests) }

// entry gives the path of the one entry.
func (c *cached) entry(t *testing.T) string {
	t.Helper()
	found, err := os.ReadDir(c.cache.dir)
	if err != nil || len(found) != 1 {
		t.Fatalf("entries = %v %v", found, err)
	}
	return filepath.Join(c.cache.dir, found[0].Name())
}

var cachedFiles = map[string]string{
	"h.ts":                              `import a from "./lib/a"; import b from "pack"; import c from "#own"; let d; try { d = require("maybe") } catch {} ; export default () => [a, b, c, d];`,
	"lib/a.js":                          `export default "a";`,
	"own.js":                            `export default "own";`,
	"package.json":                      `{"imports":{"#own":"./own.js"}}`,
	"node_modules/pack/package.json":    `{"name":"pack","main":"main.js"}`,
	"node_modules/pack/main.js":         `module.exports = "pack";`,
	"notes.txt":                         `nothing that is imported`,
	"node_modules/other/package.json":   `{"name":"other"}`,
	"node_modules/other/lib/index.json": `{}`,
}

func TestCacheGivesTheSameBundle(t *testing.T) {
	c := cacheWith(t, cachedFiles)
	c.write(t, map[string]string{"notes.txt": "something else", "node_modules/other/lib/index.js": "", "lib/unrelated.js": ""})
	got := c.get()
	if got == nil {
		t.Fatal("nothing was kept")
	}
	if !slices.Equal(got.Inputs, c.built.Inputs) {
		t.Errorf("inputs = %v", got.Inputs)
	}
	if a, b := slices.Sorted(maps.Keys(got.Scripts)), slices.Sorted(maps.Keys(c.built.Scripts)); !slices.Equal(a, b) {
		t.Fatalf("scripts = %v, want %v", a, b)
	}
	for name, want := range c.built.Scripts {
		s := got.Scripts[name]
		if s.Code != want.Code || s.Async != want.Async || !bytes.Equal(s.Map.text, want.Map.text) || !bytes.Equal(s.Map.packed, want.Map.packed) {
			t.Errorf("%s is otherwise", name)
		}
	}
}

// TestCacheFolderIsMadeAnew takes the folder away in which entries were found before: what is
// written from then on is read again.
func TestCacheFolderIsMadeAnew(t *testing.T) {
	c := cacheWith(t, cachedFiles)
	if c.get() == nil {
		t.Fatal("nothing was kept")
	}
	if err := os.RemoveAll(c.cache.dir); err != nil {
		t.Fatal(err)
	}
	if c.get() != nil {
		t.Error("what was removed is taken")
	}
	if err := c.cache.Put("p", madeForTests, c.built); err != nil {
		t.Fatal(err)
	}
	if c.get() == nil {
		t.Error("nothing was kept in the new folder")
	}
}

// changes change what a build went by, one thing at a time.
func changes() map[string]func(t *testing.T, c *cached) error {
	return map[string]func(t *testing.T, c *cached) error{
		"a byte of the handler":      func(t *testing.T, c *cached) error { return appendTo(c, "h.ts") },
		"a byte of a module":         func(t *testing.T, c *cached) error { return appendTo(c, "lib/a.js") },
		"a byte of a package":        func(t *testing.T, c *cached) error { return appendTo(c, "node_modules/pack/main.js") },
		"a byte of a package.json":   func(t *testing.T, c *cached) error { return appendTo(c, "node_modules/pack/package.json") },
		"a module that is gone":      func(t *testing.T, c *cached) error { return os.Remove(filepath.Join(c.dir, "lib/a.js")) },
		"a handler that is gone":     func(t *testing.T, c *cached) error { return os.Remove(filepath.Join(c.dir, "h.ts")) },
		"a module that comes first":  newFile("lib/a.ts"),
		"one without an ending":      newFile("lib/a"),
		"a package that comes first": newFile("node_modules/maybe/index.js"),
		"a package in one file":      newFile("node_modules/maybe.js"),
		"a package.json in between":  newFile("lib/package.json"),
		"a main that comes first":    newFile("node_modules/pack/main.js.ts", "node_modules/pack/main.js"),
		"a module that became a link": func(t *testing.T, c *cached) error {
			file := filepath.Join(c.dir, "lib/a.js")
			if err := os.Rename(file, filepath.Join(c.dir, "b.js")); err != nil {
				return err
			}
			return os.Symlink("../b.js", file)
		},
		"a folder that became a link": func(t *testing.T, c *cached) error {
			if err := os.Rename(filepath.Join(c.dir, "lib"), filepath.Join(c.dir, "real")); err != nil {
				return err
			}
			return os.Symlink("real", filepath.Join(c.dir, "lib"))
		},
		"a module that became a pipe": func(t *testing.T, c *cached) error {
			file := filepath.Join(c.dir, "lib/a.js")
			if err := os.Remove(file); err != nil {
				return err
			}
			return syscall.Mkfifo(file, 0o600)
		},
		"another program": func(t *testing.T, c *cached) error { c.cache.program[0]++; return nil },
	}
}

func TestCacheSeesChanges(t *testing.T) {
	for name, change := range changes() {
		t.Run(name, func(t *testing.T) {
			c := cacheWith(t, cachedFiles)
			if c.get() == nil {
				t.Fatal("nothing was kept")
			}
			if err := change(t, c); err != nil {
				t.Fatal(err)
			}
			if c.get() != nil {
				t.Error("the bundle is still given")
			}
		})
	}
	c := cacheWith(t, cachedFiles)
	if c.cache.Get(c.dir, "p", sha256.Sum256([]byte("other"))) != nil || c.cache.Get(c.dir, "q", madeForTests) != nil {
		t.Error("a bundle is given that was kept for something else")
	}
}

func appendTo(c *cached, name string) error {
	f, err := os.OpenFile(filepath.Join(c.dir, name), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(" ")
	return err
}

// newFile makes a file, in the place of others.
func newFile(name string, gone ...string) func(*testing.T, *cached) error {
	return func(t *testing.T, c *cached) error {
		c.write(t, map[string]string{name: "{}"})
		for _, g := range gone {
			if err := os.Remove(filepath.Join(c.dir, g)); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestCacheTakesNothingOfOthers damages the entry, or lets others at it.
func TestCacheTakesNothingOfOthers(t *testing.T) {
	rewrite := func(change func([]byte) []byte) func(*testing.T, *cached, string) error {
		return func(t *testing.T, c *cached, entry string) error {
			data, err := os.ReadFile(entry)
			if err != nil {
				return err
			}
			return os.WriteFile(entry, change(data), 0o600)
		}
	}
	for name, tc := range map[string]struct {
		damage  func(t *testing.T, c *cached, entry string) error
		removed bool
	}{
		"empty":               {rewrite(func(d []byte) []byte { return nil }), true},
		"truncated":           {rewrite(func(d []byte) []byte { return d[:len(d)-1] }), true},
		"only a head":         {rewrite(func(d []byte) []byte { return d[:head] }), true},
		"one byte otherwise":  {rewrite(func(d []byte) []byte { d[len(d)/2] ^= 1; return d }), true},
		"longer":              {rewrite(func(d []byte) []byte { return append(d, 0) }), true},
		"whole, but no entry": {rewrite(func(d []byte) []byte { return forged(d, "no entry") }), true},
		"readable by others":  {func(t *testing.T, c *cached, entry string) error { return os.Chmod(entry, 0o644) }, true},
		"a link": {func(t *testing.T, c *cached, entry string) error {
			if err := os.Rename(entry, filepath.Join(c.dir, "entry")); err != nil {
				return err
			}
			return os.Symlink(filepath.Join(c.dir, "entry"), entry)
		}, true},
		"a pipe": {func(t *testing.T, c *cached, entry string) error {
			if err := os.Remove(entry); err != nil {
				return err
			}
			return syscall.Mkfifo(entry, 0o600)
		}, true},
		"a folder":                      {func(t *testing.T, c *cached, entry string) error { os.Remove(entry); return os.Mkdir(entry, 0o700) }, true},
		"a folder that others use":      {func(t *testing.T, c *cached, _ string) error { return os.Chmod(c.cache.dir, 0o750) }, false},
		"others may replace the folder": {func(t *testing.T, c *cached, _ string) error { return os.Chmod(filepath.Dir(c.cache.dir), 0o777) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := cacheWith(t, cachedFiles)
			entry := c.entry(t)
			if err := tc.damage(t, c, entry); err != nil {
				t.Fatal(err)
			}
			if c.get() != nil {
				t.Error("the entry is taken")
			}
			if _, err := os.Lstat(entry); os.IsNotExist(err) != tc.removed {
				t.Errorf("after that: %v", err)
			}
		})
	}
	if os.Geteuid() == 0 { // as another user owns it only for root
		c := cacheWith(t, cachedFiles)
		if err := os.Chown(c.entry(t), 12345, -1); err != nil {
			t.Fatal(err)
		}
		if c.get() != nil {
			t.Error("another user's entry is taken")
		}
		if err := os.Chown(c.cache.dir, 12345, -1); err != nil {
			t.Fatal(err)
		}
		if err := c.cache.Put("p", madeForTests, c.built); err == nil {
			t.Error("another user's folder is written into")
		}
	}
}

// forged gives an entry with a right sum.
func forged(data []byte, body string) []byte {
	sum := sha256.Sum256([]byte(body))
	return slices.Concat(data[:sha256.Size], sum[:], []byte(body))
}

func TestCacheDropsOldEntries(t *testing.T) {
	c := cacheWith(t, map[string]string{"h.ts": "export default 1; //" + strings.Repeat("x", 1000) + "\nconsole.log(`" + strings.Repeat("y", 5000) + "`)"})
	info, err := os.Stat(c.entry(t))
	if err != nil {
		t.Fatal(err)
	}
	c.cache.most = 20 * info.Size()
	stale := filepath.Join(c.cache.dir, unfinished+"left")
	if err := os.WriteFile(stale, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * leftAfter)
	if err := os.Chtimes(stale, long, long); err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		name := fmt.Sprint(i)
		if err := c.cache.Put(name, madeForTests, c.built); err != nil {
			t.Fatal(err)
		}
		when := long.Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(filepath.Join(c.cache.dir, fileName(name)), when, when); err != nil {
			t.Fatal(err)
		}
	}
	found, err := os.ReadDir(c.cache.dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(found); n < 10 || n > 23 {
		t.Errorf("%d entries are left", n)
	}
	if c.cache.Get(c.dir, "59", madeForTests) == nil {
		t.Error("the newest entry is gone")
	}
	if c.cache.Get(c.dir, "0", madeForTests) != nil {
		t.Error("the oldest entry is there")
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Error("what was never finished is there")
	}
	c.cache.most = info.Size()
	if err := c.cache.Put("much", madeForTests, c.built); err != nil || c.cache.Get(c.dir, "much", madeForTests) != nil {
		t.Errorf("an entry that fills the room is kept (%v)", err)
	}
}

// TestCacheOfSeveral has processes that share nothing use one folder.
func TestCacheOfSeveral(t *testing.T) {
	c := cacheWith(t, cachedFiles)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			other := NewCache(c.cache.dir)
			for range 20 {
				if err := other.Put("p", madeForTests, c.built); err != nil {
					t.Error(err)
				}
				if got := other.Get(c.dir, "p", madeForTests); got == nil || got.Scripts["h.ts"].Code != c.built.Scripts["h.ts"].Code {
					t.Error("the entry is not whole")
				}
			}
		})
	}
	all.Wait()
	c.entry(t) // nothing else is left
}

func TestNoCache(t *testing.T) {
	c := cacheWith(t, cachedFiles)
	var none *Cache
	if err := none.Put("p", madeForTests, c.built); err != nil || none.Get(c.dir, "p", madeForTests) != nil {
		t.Errorf("a cache that is none: %v", err)
	}
	nowhere := NewCache(filepath.Join(t.TempDir(), "missing", "cache"))
	if err := nowhere.Put("p", madeForTests, c.built); err == nil || nowhere.Get(c.dir, "p", madeForTests) != nil {
		t.Errorf("a folder that is not there: %v", err)
	}
}
