package loader

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/runtimes"
)

// onLook is a memory of proofs that is asked at every step of reading a plugin: of its
// manifest, then of each schema.
type onLook struct{ look func() }

func (o onLook) Proven([sha256.Size]byte) bool { o.look(); return false }
func (o onLook) Prove([sha256.Size]byte)       {}

// A folder that goes away while it is read has not failed.
func TestLoadOfAFolderThatVanishes(t *testing.T) {
	// The points of a load at which the folder goes away; each calls happen once in every load.
	moments := map[string]func(w *world, o *Options, happen func()){
		"after the manifest was read": func(_ *world, o *Options, happen func()) {
			asked := 0
			o.Proofs = onLook{func() {
				if asked++; asked%2 == 1 {
					happen()
				}
			}}
		},
		"after a schema was read": func(_ *world, o *Options, happen func()) {
			asked := 0
			o.Proofs = onLook{func() {
				if asked++; asked%2 == 0 {
					happen()
				}
			}}
		},
		"before the code is read": func(w *world, _ *Options, happen func()) {
			w.rt.fail = func(runtimes.Spec) error { happen(); return nil }
		},
	}
	ways := map[string]func(w *world){
		"removed":             func(w *world) { w.remove("bee") },
		"renamed":             func(w *world) { w.rename("bee", ".bee") },
		"without a manifest":  func(w *world) { w.remove("bee/h0.js"); w.remove("bee/s.json"); w.remove("bee/" + ManifestFile) },
		"a file in its place": func(w *world) { w.remove("bee"); w.write("bee", "no folder") },
	}
	for moment, seam := range moments {
		for way, vanish := range ways {
			var told *observed
			armed := false
			begin := func(t *testing.T) *world {
				told, armed = &observed{}, false
				w := newWorld(t, func(w *world, o *Options) {
					o.Observe = told.observe
					seam(w, o, func() {
						if armed {
							armed = false
							vanish(w)
						}
					})
				})
				w.plugin("bee", "bee", "fly")
				return w
			}
			check := func(t *testing.T, w *world, want ...string) {
				t.Helper()
				if armed {
					t.Error("nothing happened to the folder")
				}
				if got := told.texts(); !slices.Equal(got, want) {
					t.Errorf("events:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if log := w.log.String(); strings.Contains(log, "failed") || strings.Contains(log, "ERROR") {
					t.Errorf("the log tells of a failure:\n%s", log)
				}
			}
			const loaded, removed = "loaded bee loaded revision=1 tools=fly errors=0", "removed bee loaded revision=1 tools=fly errors=0"
			t.Run(moment+"/"+way+"/at the start", func(t *testing.T) {
				w := begin(t)
				armed = true
				w.loadAll()
				check(t, w)
				if s := w.loader.Status(); len(s) > 0 {
					t.Errorf("status = %+v", s)
				}
			})
			t.Run(moment+"/"+way+"/when it is new", func(t *testing.T) {
				w := begin(t)
				v, dir := newWatcher(w.loader), w.path("bee")
				v.rescan(t.Context(), w.dir)
				armed = true
				v.dirty[dir].last = time.Now().Add(-quiet) // it has come to rest
				v.settle(t.Context())
				check(t, w)
				if s := w.loader.Status(); len(s) > 0 || v.wants[dir] != nil {
					t.Errorf("status = %+v, wants %v", s, v.wants)
				}
			})
			t.Run(moment+"/"+way+"/when it is loaded anew", func(t *testing.T) {
				w := begin(t)
				w.loadAll()
				w.write("bee/h0.js", "again")
				v, dir := newWatcher(w.loader), w.path("bee")
				armed = true
				v.check(t.Context(), dir)
				check(t, w, loaded)
				w.wantCall("fly", "fly of bee") // until it has been gone for a while
				v.check(t.Context(), dir)
				v.missing[dir] = time.Now().Add(-gone)
				v.check(t.Context(), dir)
				check(t, w, loaded, removed)
				w.wantTools()
			})
			t.Run(moment+"/"+way+"/when the embedder asks for it", func(t *testing.T) {
				w := begin(t)
				armed = true
				var bad *LoadError
				if err := w.loader.Load(t.Context(), w.path("bee")); !errors.As(err, &bad) {
					t.Errorf("Load gives %v", err)
				}
				check(t, w)
			})
		}
	}
}

// A folder that was there when somebody looked, and is gone when it is to be opened.
func TestLoadOfAFolderThatIsGone(t *testing.T) {
	told := &observed{}
	w := newWorld(t, func(_ *world, o *Options) { o.Observe = told.observe })
	w.plugin("bee", "bee", "fly")
	w.loadAll()
	w.rename("bee", ".bee")
	newWatcher(w.loader).load(t.Context(), w.path("bee"))
	if bad := w.load("bee"); len(bad) != 1 || !strings.Contains(bad[0].Msg, "cannot be opened") {
		t.Errorf("Load gives %v", bad)
	}
	if got := told.texts(); len(got) != 1 {
		t.Errorf("events:\n%s\nwant the one that it was loaded", strings.Join(got, "\n"))
	}
	if s := w.loader.Status(); len(s) != 1 || s[0].State != Loaded || len(s[0].Errors) > 0 {
		t.Errorf("status = %+v", s)
	}
}

// ages makes a plugin's folder one to which nothing has happened for a while.
func (w *world) ages(folder string) {
	w.t.Helper()
	past := time.Now().Add(-time.Hour) // a load may take long, and is counted
	entries, err := os.ReadDir(w.path(folder))
	if err != nil {
		w.t.Fatal(err)
	}
	names := []string{folder}
	for _, e := range entries {
		names = append(names, folder+"/"+e.Name())
	}
	for _, name := range names {
		if err := os.Chtimes(w.path(name), past, past); err != nil {
			w.t.Fatal(err)
		}
	}
}

// A folder that is removed one file after the other, the manifest last, tells of no failure
// on its way. What comes to rest as a half is one.
func TestLoadOfAFolderThatIsBeingRemoved(t *testing.T) {
	const loaded, failed = "loaded bee loaded revision=1 tools=fly errors=0", "failed bee loaded revision=1 tools=fly errors=1"
	begin := func(t *testing.T) (*world, *observed, *watcher) {
		var told *observed
		var w *world
		var v *watcher
		for slow := true; slow; { // until the machine has the time to look before the folder is at rest
			told = &observed{}
			w = newWorld(t, func(_ *world, o *Options) { o.Observe = told.observe })
			w.plugin("bee", "bee", "fly")
			w.loadAll()
			removed := time.Now()
			w.remove("bee/s.json")
			v = newWatcher(w.loader)
			v.check(t.Context(), w.path("bee"))
			slow = time.Since(removed) >= quiet
		}
		if got := told.texts(); !slices.Equal(got, []string{loaded}) || strings.Contains(w.log.String(), "failed") {
			t.Fatalf("a folder that is being changed has %q, and the log\n%s", got, w.log)
		}
		if v.dirty[w.path("bee")] == nil {
			t.Fatal("it is not looked at again")
		}
		return w, told, v
	}
	t.Run("wholly", func(t *testing.T) {
		w, told, v := begin(t)
		w.remove("bee")
		v.check(t.Context(), w.path("bee"))
		v.missing[w.path("bee")] = time.Now().Add(-gone)
		v.check(t.Context(), w.path("bee"))
		if got := told.texts(); !slices.Equal(got, []string{loaded, "removed bee loaded revision=1 tools=fly errors=0"}) {
			t.Errorf("events: %q", got)
		}
	})
	t.Run("by half", func(t *testing.T) {
		w, told, v := begin(t)
		w.ages("bee")
		v.check(t.Context(), w.path("bee"))
		if got := told.texts(); !slices.Equal(got, []string{loaded, failed}) || len(v.stirring) > 0 {
			t.Errorf("events: %q, stirring %v", got, v.stirring)
		}
	})
	t.Run("for ever", func(t *testing.T) {
		w, told, v := begin(t)
		v.stirring[w.path("bee")] = time.Now().Add(-patience)
		v.check(t.Context(), w.path("bee"))
		if got := told.texts(); !slices.Equal(got, []string{loaded, failed}) || len(v.stirring) > 0 {
			t.Errorf("events: %q, stirring %v", got, v.stirring)
		}
	})
	t.Run("while it is new", func(t *testing.T) {
		var told *observed
		var w *world
		var v *watcher
		var dir string
		for slow := true; slow; {
			told = &observed{}
			w = newWorld(t, func(_ *world, o *Options) { o.Observe = told.observe })
			w.plugin("bee", "bee", "fly")
			removed := time.Now()
			w.remove("bee/s.json")
			v, dir = newWatcher(w.loader), w.path("bee")
			v.rescan(t.Context(), w.dir)
			v.dirty[dir].last = time.Now().Add(-quiet)
			v.settle(t.Context())
			slow = time.Since(removed) >= quiet
		}
		if got := told.texts(); len(got) > 0 || v.dirty[dir] == nil || v.wants[dir] == nil {
			t.Fatalf("events: %q, dirty %v, wants %v", got, v.dirty, v.wants)
		}
		w.ages("bee")
		v.dirty[dir].last = time.Now().Add(-quiet)
		v.settle(t.Context())
		if got := told.texts(); !slices.Equal(got, []string{"failed bee failed revision=0 tools= errors=1"}) {
			t.Errorf("events: %q", got)
		}
	})
}

// A folder that is renamed under the eyes of the watcher is a removal and a new plugin: that
// the name is taken by what is gone is no failure.
func TestWatchOfAFolderThatIsRenamed(t *testing.T) {
	told := &observed{}
	w := newWorld(t, func(_ *world, o *Options) { o.Observe = told.observe })
	w.plugin("bee", "bee", "fly")
	w.loadAll()
	w.rename("bee", "ant")
	w.ages("ant")
	v, from, to := newWatcher(w.loader), w.path("bee"), w.path("ant")
	v.rescan(t.Context(), w.dir)
	rested := func() {
		for _, d := range v.dirty {
			d.first, d.last = time.Now().Add(-quiet), time.Now().Add(-quiet)
		}
	}
	rested()
	v.settle(t.Context())
	if got := told.texts(); len(got) != 1 || v.dirty[to] == nil || v.missing[from].IsZero() {
		t.Fatalf("events: %q, dirty %v, missing %v", got, v.dirty, v.missing)
	}
	v.missing[from] = time.Now().Add(-gone)
	rested()
	v.settle(t.Context()) // the new one comes first
	rested()
	v.settle(t.Context())
	want := []string{
		"loaded bee loaded revision=1 tools=fly errors=0",
		"removed bee loaded revision=1 tools=fly errors=0",
		"loaded bee loaded revision=1 tools=fly errors=0",
	}
	if got := told.texts(); !slices.Equal(got, want) || len(v.stirring) > 0 {
		t.Errorf("events:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A load that takes long does not make old what was changed just before it.
func TestLongLoadOfAFolderThatIsBeingChanged(t *testing.T) {
	told := &observed{}
	w := newWorld(t, func(_ *world, o *Options) { o.Observe = told.observe })
	w.plugin("bee", "bee", "fly")
	w.loadAll()
	var loading time.Time
	w.rt.fail = func(runtimes.Spec) error {
		loading = time.Now()
		<-time.After(2 * quiet)
		return errors.New("half of a module")
	}
	v, dir := newWatcher(w.loader), w.path("bee")
	for slow := true; slow; { // until the machine has the time to load before the folder is at rest
		before := len(told.texts())
		w.ages("bee")
		written := time.Now()
		w.write("bee/h0.js", fmt.Sprintf("half at %s", written))
		v.check(t.Context(), dir)
		if slow = loading.Sub(written) >= quiet; slow {
			continue
		}
		if got := told.texts()[before:]; len(got) > 0 || v.dirty[dir] == nil {
			t.Errorf("events: %q, dirty %v", got, v.dirty)
		}
	}
}

func TestStirs(t *testing.T) {
	const while = time.Hour // the test takes less
	far, near := 2*while, while/2
	for _, c := range []struct {
		folder, file time.Duration // how old each is
		want         bool
	}{
		{far, far, false}, {near, far, true}, {far, near, true}, {far, 0, true},
		{far, -near, true},  // the clock of the file system is ahead, or it was written only now
		{far, -far, false},  // somebody has set that
		{-far, -far, false}, // and that
	} {
		w := &world{t: t, dir: t.TempDir()}
		w.write("bee/lib/h0.js", "text")
		for name, age := range map[string]time.Duration{"bee/lib/h0.js": c.file, "bee/lib": c.folder, "bee": far} {
			at := time.Now().Add(-age)
			if err := os.Chtimes(w.path(name), at, at); err != nil {
				t.Fatal(err)
			}
		}
		if got := stirs(w.path("bee"), []string{".", "lib", "gone"}, while); got != c.want {
			t.Errorf("a folder %v old with a file %v old: %v, want %v", c.folder, c.file, got, c.want)
		}
	}
}
