package loader

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes"

	"github.com/fsnotify/fsnotify"
)

// watch follows the world's folders until the test ends.
func (w *world) watch() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.loader.Watch(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			w.t.Errorf("Watch ended with %v", err)
		}
	})
}

// awaits waits until the log has a line with these words n times.
func (w *world) awaits(n int, words string) {
	w.t.Helper()
	w.log.await(w.t, func(log string) bool { return strings.Count(log, words) >= n })
}

func (w *world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w *world) rename(from, to string) {
	w.t.Helper()
	if err := os.Rename(w.path(from), w.path(to)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(name string) {
	w.t.Helper()
	if err := os.RemoveAll(w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) link(target, name string) {
	w.t.Helper()
	if err := os.Symlink(target, w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

// awaitsCall waits until a tool answers so. A file that is written in place may be read before it
// is whole, so that a reload may be followed by another.
func (w *world) awaitsCall(tool, want string) {
	w.t.Helper()
	w.log.await(w.t, func(string) bool { return w.call(tool) == want })
}

func (w *world) wantCall(tool, want string) {
	w.t.Helper()
	if got := w.call(tool); got != want {
		w.t.Errorf("%s answers %q, want %q", tool, got, want)
	}
}

// rest waits until the watcher has handled all that happened before: a plugin of its own
// is written, and is loaded.
func (w *world) rest() {
	w.t.Helper()
	name := fmt.Sprintf("marker-%d", strings.Count(w.log.String(), "plugin=marker-"))
	w.plugin(name, name, strings.ReplaceAll(name, "-", "_"))
	w.awaits(1, `msg="plugin loaded" plugin=`+name)
}

// modes are the ways of watching; every test runs in each.
func modes(t *testing.T, test func(t *testing.T, w *world)) {
	for name, poll := range map[string]time.Duration{"events": 0, "polling": 50 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(_ *world, o *Options) { o.Poll = poll })
			test(t, w)
		})
	}
}

func TestWatchSeesEveryKindOfSave(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		w.plugin("ant", "ant", "dig")
		w.plugin("bee", "bee", "fly")
		w.loadAll()
		w.watch()
		saves := []func(text string){
			func(text string) { w.write("ant/h0.js", text) },
			func(text string) { w.write("ant/h0.js.tmp", text); w.rename("ant/h0.js.tmp", "ant/h0.js") },
			func(text string) { w.write("ant/.h0.js.swp", text); w.rename("ant/.h0.js.swp", "ant/h0.js") },
			func(text string) {
				w.rename("ant/h0.js", "ant/h0.js~")
				w.write("ant/h0.js", text)
				w.remove("ant/h0.js~")
			},
			func(text string) { w.remove("ant/h0.js"); w.write("ant/h0.js", text) },
			func(text string) { w.remove("ant"); w.plugin("ant", "ant", "dig"); w.write("ant/h0.js", text) },
			func(text string) {
				w.write("v/one/h0.js", text)
				w.remove("ant/h0.js")
				w.write("ant/..data/h0.js", text)
				w.link("..data/h0.js", "ant/h0.js")
			},
			func(text string) {
				w.write("ant/..next/h0.js", text)
				w.remove("ant/..data")
				w.rename("ant/..next", "ant/..data")
			},
		}
		w.undisturbed(func(round int, step func(func())) {
			if round > 0 { // without the links of the last
				step(func() { w.remove("ant"); w.plugin("ant", "ant", "dig") })
				w.awaitsCall("dig", "dig of ant")
			}
			for i, save := range saves {
				text := fmt.Sprintf("version %d of round %d", i, round)
				step(func() { save(text) })
				w.awaitsCall("dig", text)
			}
			w.rest()
		}, func(log string) {
			if strings.Contains(log, "plugin failed") || strings.Contains(log, "removed") || strings.Contains(log, `reloaded" plugin=bee`) {
				t.Errorf("the log says more than that ant was reloaded:\n%s", log)
			}
		})
	})
}

// undisturbed has do take steps that a watcher must see as one each, and gives what was logged to
// check. A step for which the machine had no time, so that it took as long as a folder must be at
// rest, may rightly be seen by half: then all is done once more.
func (w *world) undisturbed(do func(round int, step func(func())), check func(log string)) {
	w.t.Helper()
	for round := 0; ; round++ {
		before, slow := len(w.log.String()), false
		do(round, func(f func()) {
			began := time.Now()
			f()
			slow = slow || time.Since(began) >= quiet
		})
		if !slow {
			check(w.log.String()[before:])
			return
		}
	}
}

func TestWatchReloadsForNothingElse(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		w.plugin("ant", "ant", "dig")
		w.loadAll()
		w.watch()
		w.rest()
		w.undisturbed(func(_ int, step func(func())) {
			w.write("ant/README.md", "read me")
			step(func() { w.write("ant/h0.js", "dig of ant") }) // the same bytes
			w.write("ant/other.js", "imported by nothing")
			w.write("ant/.git/index", "x")
			w.write("ant/deep/er/x.js", "x")
			now := time.Now().Add(time.Hour)
			if err := os.Chtimes(w.path("ant/h0.js"), now, now); err != nil {
				t.Fatal(err)
			}
			w.write("notes.txt", "no plugin")
			w.rest()
			w.rest()
		}, func(log string) {
			if strings.Contains(log, "reloaded") || strings.Contains(log, "failed") {
				t.Errorf("something was reloaded:\n%s", log)
			}
		})
	})
}

func TestWatchSeesSameSizeAndTime(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		w.plugin("ant", "ant", "dig")
		w.loadAll()
		w.watch()
		w.rest()
		info, err := os.Stat(w.path("ant/h0.js"))
		if err != nil {
			t.Fatal(err)
		}
		w.write("ant/h0.js", "DIG of ant")
		if err := os.Chtimes(w.path("ant/h0.js"), info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		w.awaitsCall("dig", "DIG of ant")
		w.awaits(1, `msg="plugin reloaded" plugin=ant revision=2`)
	})
}

func TestWatchKeepsTheLastGoodVersion(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		w.plugin("ant", "ant", "dig")
		w.loadAll()
		w.watch()
		manifest, err := os.ReadFile(w.path("ant/" + ManifestFile))
		if err != nil {
			t.Fatal(err)
		}
		w.write("ant/"+ManifestFile, `{"name": "ant",`)
		w.awaits(1, `msg="plugin failed" plugin=ant`)
		w.wantCall("dig", "dig of ant")
		if s := w.loader.Status()[0]; s.State != Loaded || len(s.Errors) == 0 || s.Revision != 1 {
			t.Errorf("status = %+v", s)
		}
		w.write("ant/"+ManifestFile, string(manifest)) // taken back
		w.awaits(1, `msg="plugin repaired" plugin=ant revision=1`)
		w.write("ant/s.json", `{"type":"nothing"}`)
		w.awaits(1, `s.json:1:`)
		w.write("ant/s.json", `{"type":"object"}`)
		w.awaits(1, `msg="plugin reloaded" plugin=ant revision=2`)
		w.rest()
		if s := w.loader.Status()[0]; len(s.Errors) != 0 {
			t.Errorf("errors are left: %v", s.Errors)
		}
	})
}

func TestWatchFollowsFolders(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		w.dirIsMissing()
		w.watch()
		w.plugin("ant", "ant", "dig")
		w.awaits(1, `msg="plugin loaded" plugin=ant`)
		if err := os.Mkdir(w.path("bee"), 0o755); err != nil { // the manifest comes later
			t.Fatal(err)
		}
		w.rest()
		w.plugin("bee", "bee", "fly")
		w.awaits(1, `msg="plugin loaded" plugin=bee`)
		w.remove("bee")
		w.awaits(1, `msg="plugin removed" plugin=bee`)
		w.plugin("bee", "bee", "fly")
		w.awaits(2, `msg="plugin loaded" plugin=bee`)
		w.write("bee/h0.js", "again")
		w.awaits(1, `msg="plugin reloaded" plugin=bee`)
		w.rename("bee", "wasp")
		w.log.await(t, func(string) bool {
			s := w.loader.Status()
			return s[len(s)-1].Dir == w.path("wasp") && s[len(s)-1].State == Loaded
		})
		w.wantCall("fly", "again")
		// The whole folder of plugins goes, and comes back.
		w.remove(".")
		w.awaits(1, `msg="plugin removed" plugin=ant`)
		w.log.await(t, func(string) bool { return len(w.tools()) == 0 })
		w.plugin("ant", "ant", "dig")
		w.awaits(2, `msg="plugin loaded" plugin=ant`)
		w.write("ant/h0.js", "back")
		w.awaitsCall("dig", "back")
		w.awaits(1, `msg="plugin reloaded" plugin=ant`)
	})
}

// dirIsMissing takes the folder of plugins away, which newWorld has made.
func (w *world) dirIsMissing() { w.remove(".") }

func TestWatchFollowsALinkToAnotherFolder(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		store := t.TempDir()
		for _, v := range []string{"one", "two"} {
			o := &world{t: t, dir: store}
			o.plugin(v, "ant", "dig")
		}
		w.link(filepath.Join(store, "one"), "ant")
		w.loadAll()
		w.watch()
		w.wantCall("dig", "dig of one")
		w.link(filepath.Join(store, "two"), "ant.new")
		w.rename("ant.new", "ant")
		w.awaits(1, `msg="plugin reloaded" plugin=ant`)
		w.wantCall("dig", "dig of two")
		if err := os.WriteFile(filepath.Join(store, "two", "h0.js"), []byte("saved"), 0o644); err != nil {
			t.Fatal(err)
		}
		w.awaitsCall("dig", "saved")
		w.awaits(2, `msg="plugin reloaded" plugin=ant`)
	})
}

// A link that gives way to another link or a folder, under names that tell nobody anything.
func TestWatchSeesALinkExchanged(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		store := t.TempDir()
		for _, v := range []string{"one", "two", "three"} {
			(&world{t: t, dir: store}).plugin(v, "ant", "dig")
		}
		w.link(filepath.Join(store, "one"), "ant")
		w.loadAll()
		w.watch()
		w.link(filepath.Join(store, "two"), ".ant")
		w.rename(".ant", "ant")
		w.awaits(1, `msg="plugin reloaded" plugin=ant`)
		w.wantCall("dig", "dig of two")
		w.remove("ant")
		if err := os.Rename(filepath.Join(store, "three"), w.path("ant")); err != nil {
			t.Fatal(err)
		}
		w.awaits(2, `msg="plugin reloaded" plugin=ant`)
		w.wantCall("dig", "dig of three")
		w.rename("ant", ".ant")
		w.link(filepath.Join(store, "one"), "ant")
		w.awaits(3, `msg="plugin reloaded" plugin=ant`)
		w.wantCall("dig", "dig of one")
	})
}

// A file that has become huge is not read to see that it is another one.
func TestWatchReadsNoHugeFile(t *testing.T) {
	w := newWorld(t, nil)
	w.rt.fail = func(s runtimes.Spec) error {
		if info, err := os.Stat(filepath.Join(s.Dir, "h0.js")); err == nil && info.Size() > runtimes.MaxSummed {
			return errors.New("too large")
		}
		return nil
	}
	w.plugin("ant", "ant", "dig")
	w.plugin("bee", "bee", "fly")
	w.loadAll()
	w.watch()
	if err := os.Truncate(w.path("ant/h0.js"), 1<<40); err != nil {
		t.Fatal(err)
	}
	w.awaits(1, `msg="plugin failed" plugin=ant`)
	w.write("bee/h0.js", "again")
	w.awaits(1, `msg="plugin reloaded" plugin=bee`)
}

func TestWatchMendsWhatWasRefused(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		w.plugin("a", "ant", "dig")
		w.plugin("b", "ant", "carry") // the same name
		w.loadAll()
		w.watch()
		w.wantTools("dig")
		w.remove("a")
		w.awaits(1, `msg="plugin removed"`)
		w.awaits(2, `msg="plugin loaded" plugin=ant`)
		w.wantTools("carry")
	})
}

func TestWatchMissesNothingThatHappensDuringALoad(t *testing.T) {
	w := newWorld(t, nil)
	w.plugin("ant", "ant", "dig")
	w.loadAll()
	opened := false
	w.rt.fail = func(spec runtimes.Spec) error {
		if spec.Plugin == "ant" && !opened {
			opened = true // the schema was read already; the handler is read after this
			w.write("ant/s.json", `{"type":"object","title":"written during the load"}`)
		}
		return nil
	}
	w.watch()
	w.write("ant/h0.js", "two")
	w.log.await(t, func(string) bool {
		tools := w.host.Tools()
		return len(tools) == 1 && strings.Contains(string(tools[0].InputSchema), "during")
	})
}

// What happens right after a load, before the watcher has looked at what it read, is seen by the
// next look: while polling nothing else tells of it.
func TestPollingMissesNothingThatHappensRightAfterALoad(t *testing.T) {
	for name, text := range map[string]string{"a load that fails": `{"name":`, "a load": ""} {
		t.Run(name, func(t *testing.T) {
			var happen func()
			w := newWorld(t, func(w *world, o *Options) {
				o.Poll = time.Hour
				o.Observe = func(Event) {
					if happen != nil {
						happen()
					}
				}
			})
			w.plugin("ant", "ant", "dig")
			w.loadAll()
			v, dir := newWatcher(w.loader), w.path("ant")
			good, err := os.ReadFile(w.path("ant/" + ManifestFile))
			if err != nil {
				t.Fatal(err)
			}
			if text == "" {
				text = strings.Replace(string(good), `"ant"`, `"ant","version":"2.0.0"`, 1)
			}
			w.write("ant/"+ManifestFile, text)
			w.ages("ant")
			happen = func() { happen = nil; w.write("ant/"+ManifestFile, string(good)) }
			v.check(t.Context(), dir)
			delete(v.dirty, dir) // it may come after every look of the load
			v.sweep(func(*plugin) bool { return true })
			if happen != nil || v.dirty[dir] == nil {
				t.Fatalf("nobody sees that the manifest was written once more: %v", v.dirty)
			}
			v.check(t.Context(), dir)
			if s := w.loader.Status()[0]; len(s.Errors) > 0 || w.loader.plugins[0].inputs[ManifestFile] != sha256.Sum256(good) {
				t.Errorf("what serves is not what the folder holds: %+v", s)
			}
		})
	}
}

func TestWatchFollowsALoneFolder(t *testing.T) {
	var lone string
	w := newWorld(t, func(w *world, o *Options) {
		lone = filepath.Join(w.dir, "ant")
		o.Dirs = []string{lone + "/"}
	})
	w.plugin("ant", "ant", "dig")
	w.loadAll()
	w.watch()
	w.write("ant/h0.js", "two")
	w.awaits(1, `msg="plugin reloaded" plugin=ant`)
	w.remove("ant")
	w.awaits(1, `msg="plugin removed" plugin=ant`)
	w.plugin("ant", "ant", "dig")
	w.awaits(2, `msg="plugin loaded" plugin=ant`)
}

func TestReloadsUnderLoad(t *testing.T) {
	w := newWorld(t, nil)
	w.plugin("ant", "ant", "dig")
	w.write("ant/h0.js", "0")
	w.loadAll()
	var served atomic.Int64 // the version that every call from now on must have, or a newer one
	ctx, cancel := context.WithCancel(context.Background())
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			for ctx.Err() == nil {
				least := served.Load()
				r, err := w.host.Call(context.Background(), &host.Call{Tool: "dig"})
				if err != nil || r.IsError {
					t.Errorf("a call failed: %v %v", err, r)
					return
				}
				if got, err := strconv.ParseInt(r.Content[0].Text(), 10, 64); err != nil || got < least {
					t.Errorf("a call was answered %q, by a version older than %d", r.Content[0].Text(), least)
					return
				}
			}
		})
	}
	for i := range int64(500) {
		w.write("ant/h0.js", strconv.FormatInt(i+1, 10))
		if bad := w.load("ant"); bad != nil {
			t.Fatal(bad)
		}
		served.Store(i + 1)
	}
	cancel()
	callers.Wait()
}

// A new plugin is written in parts; it is loaded once it is at rest.
func TestWatchWaitsForANewPluginToBeWritten(t *testing.T) {
	w := newWorld(t, nil)
	v, ctx := newWatcher(w.loader), t.Context() // it looks only when it is told to
	dir := w.path("bee")
	o := &world{t: t, dir: t.TempDir()}
	o.plugin("bee", "bee", "fly")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w.write("bee/"+ManifestFile, `{"name":`)
	v.rescan(ctx, w.dir)
	if s := w.loader.Status(); len(s) > 0 || v.dirty[dir] == nil || v.watched[dir] == nil {
		t.Fatalf("half a plugin was loaded, or is not followed: %+v %v %v", s, v.dirty, v.watched)
	}
	v.dirty[dir].last = time.Now().Add(time.Minute) // it is being written still
	v.settle(ctx)
	if s := w.loader.Status(); len(s) > 0 {
		t.Fatalf("a plugin was loaded that was not at rest: %+v", s)
	}
	for _, name := range []string{"s.json", "h0.js", ManifestFile} {
		part, err := os.ReadFile(o.path("bee/" + name))
		if err != nil {
			t.Fatal(err)
		}
		w.write("bee/"+name, string(part))
	}
	v.dirty[dir].last = time.Now().Add(-quiet)
	v.settle(ctx)
	w.wantTools("fly")
}

// TestWatchLooksFirstAtWhatHappened: the look at all plugins with which a watch begins holds
// up no save.
func TestWatchLooksFirstAtWhatHappened(t *testing.T) {
	w := newWorld(t, func(_ *world, o *Options) { o.Poll = time.Hour })
	const plugins = 3 * leisurely
	for i := range plugins {
		w.plugin(fmt.Sprintf("p%02d", i), fmt.Sprintf("p%02d", i), fmt.Sprintf("tool_%02d", i))
	}
	w.loadAll()
	watcher := newWatcher(w.loader)
	past := time.Now().Add(-time.Minute)
	for _, s := range w.loader.Status() {
		watcher.dirty[s.Dir] = &dirt{first: past, last: past, leisure: true}
	}
	saved := w.path(fmt.Sprintf("p%02d", plugins-1))
	watcher.touch(saved)
	if d := watcher.dirty[saved]; d.leisure || d.first.Equal(past) {
		t.Errorf("a save leaves %+v", d)
	}
	watcher.dirty[saved].first, watcher.dirty[saved].last = past, past // it has come to rest
	for _, left := range []int{plugins - 1, plugins - 1 - leisurely, plugins - 1 - 2*leisurely, 0} {
		watcher.settle(t.Context())
		if len(watcher.dirty) != left || watcher.dirty[saved] != nil {
			t.Errorf("%d plugins are left to look at, want %d", len(watcher.dirty), left)
		}
	}
}

// A folder that is made while a root is looked at for the first time is watched, or told of: the
// watch of the root begins after the root was listed.
func TestRescanMissesNoNewFolder(t *testing.T) {
	for i := range 200 {
		root := t.TempDir()
		made := filepath.Join(root, "new")
		l := New(nil, nil, &Options{Dirs: []string{root}})
		w := newWatcher(l)
		events, err := fsnotify.NewWatcher()
		if err != nil {
			t.Fatal(err)
		}
		w.events = events
		done := make(chan error, 1)
		go func() {
			for range i * 50 { // another moment in each round
				runtime.Gosched()
			}
			done <- os.Mkdir(made, 0o755)
		}()
		w.rescan(t.Context(), root)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if w.watched[made] == nil {
			select {
			case <-events.Events:
			case <-time.After(5 * time.Second):
				t.Errorf("round %d: nobody hears of what is written into the new folder", i)
			}
		}
		events.Close()
		if t.Failed() {
			return
		}
	}
}
