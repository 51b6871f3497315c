package permissions

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// swap exchanges a name between what is at the others, in turn, until stop is closed.
func swap(t *testing.T, stop <-chan struct{}, name string, others ...string) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		// The one that is in place goes to its own name, then the next one comes.
		if err := os.Rename(name, others[i%len(others)]); err != nil {
			t.Error(err)
			return
		}
		if err := os.Rename(others[(i+1)%len(others)], name); err != nil {
			t.Error(err)
			return
		}
	}
}

// While a file or folder on the way is exchanged for links, pipes and other folders,
// nothing is read or changed but what the path names.
func TestSwappedNames(t *testing.T) {
	for _, others := range [][]string{
		{"x", "x.in"}, {"x", "x.rel"}, {"x", "x.out"}, {"x", "x.pipe"}, {"x", "x.in", "x.pipe", "x.out", "x.rel"},
		{"d", "d.in"}, {"d", "d.out"}, {"d", "d.pipe"}, {"d", "d.none"}, {"d", "d.in", "d.pipe", "d.out", "d.none"},
	} {
		t.Run(strings.Join(others, " "), func(t *testing.T) { swappedNames(t, others[0], others[1:]) })
	}
}

func swappedNames(t *testing.T, name string, others []string) {
	top := lay(t, map[string]string{
		"f/x": "harmless", "f/x.out": "-> ../outside/secret", "f/x.in": "-> closed/secret", "f/x.rel": "-> ./closed/../closed/secret",
		"f/d/x": "harmless", "f/d.out": "-> ../outside/d", "f/d.in": "-> closed", "f/d.none/": "",
		"f/closed/secret": "SECRET", "f/closed/x": "SECRET", "outside/secret": "SECRET", "outside/d/x": "SECRET",
	})
	folder := filepath.Join(top, "f")
	for _, pipe := range []string{"x.pipe", "d.pipe"} {
		if err := syscall.Mkfifo(filepath.Join(folder, pipe), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p := everything()
	p.FS.Read.Deny = []string{"closed"}
	p.FS.Write.Deny = []string{"closed"}
	f := grant(t, p, folder).FS()
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	places := []string{filepath.Join(folder, name+".plain")}
	for _, o := range others {
		places = append(places, filepath.Join(folder, o))
	}
	swapping.Go(func() { swap(t, stop, filepath.Join(folder, name), places...) })

	seen := map[string]int{}
	note := func(act string, err error) { seen[act+" "+outcome(err)]++ }
	for i := range 1000 {
		for _, name := range []string{"x", "d/x", "d/../d/x"} {
			data, err := f.ReadFile(name, 0)
			if strings.Contains(string(data), "SECRET") {
				t.Errorf("%s gave %q", name, data)
			}
			note("read", err)
		}
		entries, err := f.ReadDir("d")
		if got := entryNames(entries); strings.Contains(got, "secret") {
			t.Errorf("d holds %s", got)
		}
		note("list", err)
		if i%25 > 0 {
			continue
		}
		for _, name := range []string{"x", "d/x"} {
			note("write", f.WriteFile(name, []byte("written"), 0))
			note("append", f.AppendFile(name, nil, 0))
			note("truncate", f.Truncate(name, 7))
			note("chmod", f.Chmod(name, 0o600))
		}
		note("mkdir", f.Mkdir("d/made", 0))
		note("remove", f.RemoveAll("d/made"))
		note("rename", f.Rename("d/x", "d/moved"))
		note("rename", f.Rename("d/moved", "d/x"))
	}
	close(stop)
	swapping.Wait()
	for _, name := range []string{"f/closed/secret", "f/closed/x", "outside/secret", "outside/d/x"} {
		info, err := os.Stat(filepath.Join(top, name))
		if got := content(t, filepath.Join(top, name)); got != "SECRET" || err != nil || info.Mode().Perm() == 0o600 {
			t.Errorf("%s was changed to %q", name, got)
		}
	}
	for dir, want := range map[string]string{"f/closed": "secret x", "outside": "d secret", "outside/d": "x"} {
		entries, err := os.ReadDir(filepath.Join(top, dir))
		if got := entryNames(entries); got != want || err != nil {
			t.Errorf("%s holds %s %v", dir, got, err)
		}
	}
	// Otherwise the test would have tried nothing.
	if seen["read ok"] == 0 || len(seen) < 4 {
		t.Errorf("%v", seen)
	}
	for what := range seen {
		if strings.Contains(what, "other") {
			t.Errorf("an error without a number: %s", what)
		}
	}
}

// A file that is saved over and over by rename, as editors do, can always be read whole.
func TestReadWhileSaved(t *testing.T) {
	top := lay(t, map[string]string{"a": strings.Repeat("0", 5000)})
	f := grant(t, everything(), top).FS()
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 1000 {
			if err := f.WriteFile("a", []byte(strings.Repeat(string(rune('0'+i%10)), 5000)), 0); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 2000 {
		data, err := f.ReadFile("a", 0)
		if err != nil || len(data) != 5000 || strings.Count(string(data), string(data[0])) != 5000 {
			t.Error(len(data), err)
			break
		}
	}
	wg.Wait()
	noLeftovers(t, top)
}

func TestAppendsAreNotLost(t *testing.T) {
	top := lay(t, nil)
	f := grant(t, everything(), top).FS()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				if err := f.AppendFile("log", []byte("line\n"), 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 4 {
		wg.Go(func() {
			if _, err := f.MkdirAll("a/b/c/d", 0); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := strings.Count(content(t, filepath.Join(top, "log")), "line\n"); got != 400 {
		t.Error(got)
	}
}

func TestExclusiveCreationHasOneWinner(t *testing.T) {
	f := grant(t, everything(), t.TempDir()).FS()
	var wg sync.WaitGroup
	won := make(chan *File, 16)
	for range 16 {
		wg.Go(func() {
			file, err := f.OpenFile("lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0)
			if err == nil {
				won <- file
			} else if !errors.Is(err, os.ErrExist) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Errorf("%d won", len(won))
	}
}
