package loader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quiet is how long a folder must be at rest before it is looked at: savers write in
	// several steps.
	quiet = 100 * time.Millisecond
	// longest is how long a folder that never rests is left alone.
	longest = time.Second
	// gone is how long a folder or its manifest must be missing before the plugin is taken
	// away: some savers move the old away before they write the new.
	gone = 300 * time.Millisecond
	// patience is how long the failure of a load is put off because the folder is being
	// changed: it may be on its way to be removed, or to be whole again.
	patience = 5 * time.Second
	// retry is how often a plugin that does not load is looked at, besides events: what
	// would mend it may happen where nothing is watched.
	retry = 2 * time.Second
	// askAgain is how often it is looked whether the user has agreed to a plugin elsewhere.
	askAgain = time.Second
)

// Watch follows the folders of Options.Dirs and Options.Installed until ctx ends, and
// gives its cause. A plugin of which an input has changed is loaded anew; where that fails
// the old version serves on and the error stands in [Loader.Status]. New plugins are
// loaded, and those whose folders are gone are taken away. Call it once, after LoadAll:
// what changed in between is seen. It falls back to polling, and says so in the log, where
// the system gives no events.
func (l *Loader) Watch(ctx context.Context) error {
	w := newWatcher(l)
	if w.poll <= 0 {
		events, err := fsnotify.NewWatcher()
		if err != nil {
			w.fallBack(err)
		} else {
			w.events = events
			defer events.Close()
		}
	}
	for _, root := range l.roots {
		w.rescan(ctx, root)
	}
	l.mu.Lock()
	plugins := slices.Clone(l.plugins)
	l.mu.Unlock()
	for _, p := range plugins {
		if w.follows(p.dir) && w.dirty[p.dir] == nil {
			now := time.Now()
			w.dirty[p.dir] = &dirt{first: now, last: now, leisure: true}
		}
	}
	return w.run(ctx)
}

func newWatcher(l *Loader) *watcher {
	return &watcher{
		l: l, poll: l.poll, dirty: map[string]*dirt{}, wants: map[string][]want{}, watched: map[string]*watched{},
		missing: map[string]time.Time{}, stirring: map[string]time.Time{}, swept: map[string]sighting{}, again: map[string]bool{},
	}
}

// watcher belongs to the goroutine of Watch. What it follows are roots, which are folders
// of plugin folders, and plugin folders; both are known by the path that the user named.
type watcher struct {
	l        *Loader
	events   *fsnotify.Watcher    // nil while polling
	poll     time.Duration        // 0 while events come
	dirty    map[string]*dirt     // what is to be looked at, by path
	wants    map[string][]want    // what each is told about
	watched  map[string]*watched  // by path of a folder, links resolved
	swept    map[string]sighting  // what plugins looked like when they were last swept
	missing  map[string]time.Time // plugins whose folder or manifest is gone, since when
	stirring map[string]time.Time // plugins that do not load and are being changed, since when
	again    map[string]bool      // plugins that are loaded even where nothing of them has changed
}

// dirt says when something was touched first and last.
type dirt struct {
	first, last time.Time
	leisure     bool // nothing has happened to it; it is looked at when nothing else is to be done
}

// leisurely is how many plugins to which nothing has happened are looked at before it is seen
// what has happened meanwhile.
const leisurely = 2

// want is a folder that a root or plugin wants to be told about; only names the one entry
// in it that matters, where not all do.
type want struct{ dir, only string }

// watched is a folder with a watch.
type watched struct {
	id     string            // which folder stood there
	owners map[string]string // the roots and plugins that it tells about, and the entry that matters to each
}

// run handles events until ctx ends.
func (w *watcher) run(ctx context.Context) error {
	again := time.NewTicker(retry)
	defer again.Stop()
	var polls, decisions <-chan time.Time
	if w.l.consent != nil {
		t := time.NewTicker(askAgain)
		defer t.Stop()
		decisions = t.C
	}
	for {
		if w.poll > 0 && polls == nil {
			t := time.NewTicker(w.poll)
			defer t.Stop()
			polls = t.C
		}
		var events <-chan fsnotify.Event
		var errs <-chan error
		if w.events != nil {
			events, errs = w.events.Events, w.events.Errors
		}
		timer := time.NewTimer(w.rest())
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case e := <-events:
			w.event(e)
		case err := <-errs:
			// Events were lost, or may have been: everything is looked at.
			w.l.log.Debug("watching plugins", "err", err)
			w.touchAll()
		case <-polls:
			w.sweep(func(p *plugin) bool { return true })
		case <-again.C:
			w.sweep((*plugin).unsettled)
		case <-decisions:
			w.reconsider(ctx)
		case <-timer.C:
		}
		timer.Stop()
		w.settle(ctx)
	}
}

// rest gives how long nothing needs to be done.
func (w *watcher) rest() time.Duration {
	const long = time.Hour
	next := long
	for path, d := range w.dirty {
		next = min(next, time.Until(w.due(path, d)))
	}
	return max(next, 0)
}

// due gives when something that was touched is looked at.
func (w *watcher) due(path string, d *dirt) time.Time {
	if since, ok := w.missing[path]; ok && d.last.Equal(since) {
		return since.Add(gone)
	}
	at := d.last.Add(quiet)
	if latest := d.first.Add(longest); latest.Before(at) {
		return latest
	}
	return at
}

// touch notes that something may have changed.
func (w *watcher) touch(path string) {
	now := time.Now()
	if d := w.dirty[path]; d != nil {
		if d.leisure {
			d.first, d.leisure = now, false
		}
		d.last = now
		return
	}
	w.dirty[path] = &dirt{first: now, last: now}
}

func (w *watcher) touchAll() {
	for owner := range w.wants {
		w.touch(owner)
	}
}

// event touches whoever wants to know of the folder in which something happened.
func (w *watcher) event(e fsnotify.Event) {
	if e.Op == fsnotify.Chmod {
		// The links of a removed file are counted down before it goes, and indexers set
		// times: no content changes by it. What does change comes with a write or a rename.
		return
	}
	for _, folder := range []string{filepath.Dir(e.Name), e.Name} {
		if f := w.watched[folder]; f != nil {
			for owner, only := range f.owners {
				if only == "" || folder == e.Name || only == filepath.Base(e.Name) {
					w.touch(owner)
				}
			}
		}
	}
	if e.Has(fsnotify.Remove|fsnotify.Rename) && w.watched[e.Name] != nil {
		w.drop(e.Name) // the watch goes with the folder, and one that comes back may have its number
	}
}

// settle looks at everything that has been at rest long enough.
func (w *watcher) settle(ctx context.Context) {
	now := time.Now()
	var ready, leisure []string
	for path, d := range w.dirty {
		switch {
		case w.due(path, d).After(now):
		case d.leisure:
			leisure = append(leisure, path)
		default:
			ready = append(ready, path)
		}
	}
	if len(ready) == 0 {
		slices.Sort(leisure)
		ready = leisure[:min(len(leisure), leisurely)]
	}
	slices.Sort(ready)
	for _, path := range ready {
		delete(w.dirty, path)
		if slices.Contains(w.l.roots, path) {
			w.rescan(ctx, path)
		}
		switch {
		case w.plugin(path) != nil:
			w.check(ctx, path)
		case w.wants[path] != nil && !slices.Contains(w.l.roots, path):
			w.welcome(ctx, path)
		}
	}
}

// welcome loads a new plugin folder, unless it went away meanwhile.
func (w *watcher) welcome(ctx context.Context, dir string) {
	if hasManifest(dir) {
		w.load(ctx, dir)
	}
	if w.plugin(dir) == nil && w.dirty[dir] == nil { // else it is being changed
		w.want(dir, nil)
		delete(w.wants, dir)
	}
}

// plugin gives the plugin of a folder by the path that the user named; nil where it is none.
func (w *watcher) plugin(dir string) *plugin {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	if i := slices.IndexFunc(w.l.plugins, func(p *plugin) bool { return p.dir == dir }); i >= 0 {
		return w.l.plugins[i]
	}
	return nil
}

// follows reports whether a plugin folder is one of a root, or one itself.
func (w *watcher) follows(dir string) bool {
	return slices.Contains(w.l.roots, dir) || slices.Contains(w.l.roots, filepath.Dir(dir))
}

// rescan finds the plugin folders of a root that are new, and touches those that are gone.
func (w *watcher) rescan(ctx context.Context, root string) {
	if w.want(root, w.rootFolders(root)) {
		// A folder that was made since they were listed, before the watch of the root stood, is
		// in no list yet, and its manifest may come after the look below.
		w.want(root, w.rootFolders(root))
	}
	folders, err := Folders(root) // after the watches stand: what comes later is told
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.l.log.Debug("watching plugins", "err", err)
	}
	for _, dir := range folders {
		switch {
		case w.plugin(dir) != nil:
		case dir == root: // it is at rest itself
			w.load(ctx, dir)
		case w.wants[dir] == nil: // it may still be written: it is loaded once it is at rest
			w.want(dir, []want{{dir: dir}})
			w.touch(dir)
		}
	}
	w.touchMoved(root)
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	for _, p := range w.l.plugins {
		if (p.dir == root || filepath.Dir(p.dir) == root) && !slices.Contains(folders, p.dir) && w.dirty[p.dir] == nil {
			w.touch(p.dir)
		}
	}
}

// touchMoved touches the plugins of a root whose names lead to other folders now: the watches
// are on the old ones.
func (w *watcher) touchMoved(root string) {
	leads := map[string]string{}
	w.l.mu.Lock()
	for _, p := range w.l.plugins {
		if p.dir == root || filepath.Dir(p.dir) == root {
			leads[p.dir] = p.resolved
		}
	}
	w.l.mu.Unlock()
	for dir, was := range leads {
		if resolve(dir) != was && w.dirty[dir] == nil {
			w.touch(dir)
		}
	}
}

// rootFolders gives the folders to watch for a root: the nearest one above it that is
// there, in which it may come and go, the root itself, and its folders that are no
// plugins yet, in which a manifest may appear.
func (w *watcher) rootFolders(root string) []want {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil
	}
	above, below := filepath.Dir(abs), filepath.Base(abs)
	for above != filepath.Dir(above) && !isFolder(above) {
		above, below = filepath.Dir(above), filepath.Base(above)
	}
	list := []want{{above, below}}
	if !isFolder(abs) {
		return list
	}
	list = append(list, want{dir: abs})
	entries, err := os.ReadDir(abs)
	if err != nil || hasManifest(abs) {
		return list
	}
	for _, e := range entries {
		dir := filepath.Join(abs, e.Name())
		if !strings.HasPrefix(e.Name(), ".") && e.Name() != "node_modules" && isFolder(dir) && !hasManifest(dir) {
			list = append(list, want{dir: dir})
		}
	}
	return list
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// check looks at a plugin that was touched.
func (w *watcher) check(ctx context.Context, dir string) {
	p := w.plugin(dir)
	if !hasManifest(dir) {
		w.lost(dir, p)
		return
	}
	delete(w.missing, dir)
	resolved := resolve(dir)
	w.l.mu.Lock()
	moved := resolved != p.resolved
	p.resolved = resolved // a link that was set to another folder is the same plugin
	inputs, serves, failing := p.inputs, p.instance != nil, p.unsettled()
	folders, seen := w.folders(p), p.seen
	w.l.mu.Unlock()
	w.watchPlugin(dir, resolved, folders)
	now := look(resolved, folders)
	again := w.again[dir] // the user has decided something about it
	delete(w.again, dir)
	if !again && !moved && serves && !failing && (seen == sighting{} || seen.names == now.names) && inputs.hold(resolved) {
		w.saw(p, now)
		return
	}
	w.load(ctx, dir)
}

// folders gives the folders of a plugin in which a change may matter. l.mu is held.
func (w *watcher) folders(p *plugin) []string {
	if p.instance == nil || p.unsettled() {
		folders := append(allFolders(p.resolved), p.inputs.folders()...)
		slices.Sort(folders)
		return slices.Compact(folders)
	}
	return p.inputs.folders()
}

// lost takes a plugin away once its manifest has been missing for a while.
func (w *watcher) lost(dir string, p *plugin) {
	since, known := w.missing[dir]
	if !known {
		now := time.Now()
		w.missing[dir] = now
		w.dirty[dir] = &dirt{first: now, last: now}
		return
	}
	if time.Since(since) < gone {
		w.dirty[dir] = &dirt{first: since, last: since}
		return
	}
	delete(w.missing, dir)
	delete(w.stirring, dir)
	w.l.unload(p)
	w.want(dir, nil)
	delete(w.wants, dir)
	delete(w.swept, dir)
	w.touchRefused()
	for _, root := range w.l.roots {
		if dir == root || filepath.Dir(dir) == root {
			w.touch(root) // the folder may get a manifest again
		}
	}
}

// load loads a plugin folder and notes what it looks like. What happened while it was
// read, or in folders that were not watched then, is looked at again.
func (w *watcher) load(ctx context.Context, dir string) {
	var before plugin
	var folders []string
	var was sighting
	if p := w.plugin(dir); p != nil {
		w.l.mu.Lock()
		before, folders = *p, w.folders(p)
		w.l.mu.Unlock()
		was = look(before.resolved, folders)
	}
	var bad *LoadError
	err := w.l.load(ctx, dir, w.stirs(dir))
	if errors.Is(err, errStirs) {
		w.touch(dir)
		return
	}
	delete(w.stirring, dir)
	if err != nil && !errors.As(err, &bad) {
		if ctx.Err() == nil && !errors.Is(err, ErrClosed) {
			w.l.log.Warn("loading a plugin", "dir", dir, "err", err)
		}
		return
	}
	p := w.plugin(dir)
	if p == nil {
		return
	}
	w.l.mu.Lock()
	resolved, owner, all := p.resolved, p.owner, w.folders(p)
	inputs, unsettled := p.inputs, p.instance == nil || p.unsettled()
	w.l.mu.Unlock()
	fresh := w.watchPlugin(dir, resolved, all)
	if before.dir != "" && look(before.resolved, folders) != was {
		fresh = true
	}
	if before.owner != "" && before.owner != owner {
		w.touchRefused()
	}
	seen := look(resolved, all)
	switch {
	case resolved == before.resolved && slices.Equal(all, folders):
		seen = was // what happened since then may not have been read
	case w.events == nil && (unsettled || !inputs.hold(resolved)):
		fresh = true // it may have been written between the load and this look; nobody tells of that
	}
	w.saw(p, seen)
	if fresh {
		w.touch(dir)
	}
}

// stirs gives a function for the end of a load that fails: it reports whether the folder was
// changed since the load began or just before, or has the name of one that has left, so that
// another look is worth its while.
func (w *watcher) stirs(dir string) func(left bool) bool {
	began := time.Now()
	return func(left bool) bool {
		resolved := resolve(dir)
		folders := allFolders(resolved)
		if p := w.plugin(dir); p != nil {
			w.l.mu.Lock()
			folders = append(folders, p.inputs.folders()...)
			w.l.mu.Unlock()
		}
		if !left && !stirs(resolved, folders, quiet+time.Since(began)) {
			return false
		}
		since, known := w.stirring[dir]
		if !known {
			since = time.Now()
			w.stirring[dir] = since
		}
		return time.Since(since) < patience
	}
}

// touchRefused touches the plugins that did not load because another has their name.
func (w *watcher) touchRefused() {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	for _, p := range w.l.plugins {
		if slices.ContainsFunc(p.status.Errors, func(e *ManifestError) bool { return e.Rule == ruleNameTaken }) && w.follows(p.dir) {
			w.touch(p.dir)
		}
	}
}

// saw notes what a plugin's folders look like.
func (w *watcher) saw(p *plugin, now sighting) {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	p.seen = now
}

// watchPlugin watches the folders of a plugin; fresh reports whether any was not watched yet.
func (w *watcher) watchPlugin(dir, resolved string, folders []string) (fresh bool) {
	list := make([]want, len(folders))
	for i, f := range folders {
		list[i].dir = filepath.Join(resolved, filepath.FromSlash(f))
	}
	return w.want(dir, list)
}

// want sets the folders that owner is told about; fresh reports whether any was not
// watched yet.
func (w *watcher) want(owner string, list []want) (fresh bool) {
	real := make([]want, 0, len(list))
	for _, o := range list {
		if dir, err := filepath.EvalSymlinks(o.dir); err == nil { // else it went away; whoever watches above it is told
			real = append(real, want{dir, o.only})
		}
	}
	for _, old := range w.wants[owner] {
		if f := w.watched[old.dir]; f != nil && !slices.Contains(real, old) {
			if delete(f.owners, owner); len(f.owners) == 0 {
				w.drop(old.dir)
			}
		}
	}
	w.wants[owner] = real
	for _, o := range real {
		info, err := os.Stat(o.dir)
		if err != nil {
			continue
		}
		f := w.watched[o.dir]
		if f != nil && f.id != identity(info) {
			owners := f.owners
			w.drop(o.dir) // another folder stands there now, and the watch went with the old one
			if f = w.add(o.dir, info); f != nil {
				f.owners = owners
			}
			fresh = true
		}
		if f == nil {
			f = w.add(o.dir, info)
			fresh = true
		}
		if f == nil {
			continue
		}
		if only, ok := f.owners[owner]; ok && only != o.only {
			o.only = "" // both of two entries matter, or all
		}
		f.owners[owner] = o.only
	}
	return fresh
}

// add watches a folder; nil where it cannot be.
func (w *watcher) add(dir string, info fs.FileInfo) *watched {
	if w.events != nil {
		switch err := w.events.Add(dir); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			w.fallBack(fmt.Errorf("watching %q: %w", dir, err))
		}
	}
	f := &watched{id: identity(info), owners: map[string]string{}}
	w.watched[dir] = f
	return f
}

func (w *watcher) drop(dir string) {
	delete(w.watched, dir)
	if w.events != nil {
		_ = w.events.Remove(dir) // it may have gone with its folder
	}
}

// pollInstead is how often folders are looked at where the system gives no events.
const pollInstead = 2 * time.Second

// fallBack goes over to polling.
func (w *watcher) fallBack(err error) {
	w.l.log.Warn("the system does not tell of changes in plugin folders; they are looked at from time to time instead", "every", pollInstead, "err", err)
	w.poll = pollInstead
	if w.events != nil {
		_ = w.events.Close() // nothing was written through it
		w.events = nil
	}
}

// sweep looks at roots and plugins without having been told of anything, and touches
// those that have changed.
func (w *watcher) sweep(which func(*plugin) bool) {
	if w.events == nil {
		for _, root := range w.l.roots {
			if w.dirty[root] == nil {
				w.touch(root)
			}
		}
	}
	type candidate struct {
		dir, resolved string
		folders       []string
		seen          sighting
	}
	var list []candidate
	w.l.mu.Lock()
	for _, p := range w.l.plugins {
		if which(p) && w.follows(p.dir) {
			list = append(list, candidate{p.dir, p.resolved, w.folders(p), p.seen})
		}
	}
	w.l.mu.Unlock()
	for _, c := range list {
		now := look(c.resolved, c.folders)
		changed := now != c.seen || !hasManifest(c.dir) || resolve(c.dir) != c.resolved
		if changed && (w.dirty[c.dir] == nil || now != w.swept[c.dir]) { // what is at rest since the last time stays so
			w.touch(c.dir)
		}
		w.swept[c.dir] = now
	}
}
