package loader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/schema"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// Registrar takes the tools of plugins. It must be safe for concurrent use.
type Registrar interface {
	// Replace puts tools in the place of all that owner had, in one step, and gives those
	// that stay out because their names are in use. An error changes nothing.
	Replace(owner string, source host.Source, tools []*host.Tool) ([]*host.ConflictError, error)
	// Remove takes away all that owner has.
	Remove(owner string)
}

var _ Registrar = (*host.Host)(nil)

// ErrClosed is what loads end with once the loader is closed.
var ErrClosed = errors.New("the loader is closed")

// Options of a [Loader]; the zero value is usable.
type Options struct {
	// Dirs are plugin folders, or folders of plugin folders (one level), in load order.
	Dirs []string
	// Installed are the same for plugins that were installed from elsewhere; they load
	// after Dirs, and their code counts as a stranger's.
	Installed []string
	// Bundled are the same for the plugins that ship with the host. They load last, so
	// that they never hide a tool of the user's.
	Bundled []string
	// MaxTimeout is how long the timeout of a tool may be; 0 is [DefaultMaxTimeout].
	MaxTimeout time.Duration
	// Strict refuses plugins for every warning, and for every rule of theirs that is only
	// advisory here.
	Strict bool
	// All has [Check] give what is only worth knowing, too.
	All bool
	// HostTools are the names of the host's own tools: a card that has one of them is refused.
	HostTools []string
	// Taken are the ids of tools that others have, with who: [Check] warns of them.
	Taken map[string]string
	// Enforced gives who holds the plugin in a folder to the rules of its manifest, as
	// [Enforce] does. Strict refuses a plugin with a rule to which nobody holds it. nil takes
	// handlers to run in this process.
	Enforced func(m *Manifest, dir string) []Enforcement
	// Services gives what a plugin's handlers may use besides files, as far as its policy
	// allows it. It is called once a load; nil gives nothing.
	Services func(*Manifest) runtimes.Services
	// Cards are the copies of cards that the user has made. A card that none of them is of
	// has one.
	Cards []CardCopy
	// DataDir is where each plugin gets a private folder named for it; "" for none.
	DataDir string
	// Closed is closed to the handlers of all plugins, whatever their manifests say.
	Closed permissions.Closed
	// Proofs remembers which manifests and schemas were checked without a mistake, so that a
	// start need not check them once more; nil checks everything.
	Proofs schema.Proofs
	// Poll has Watch look at the folders at this interval, for file systems that tell of
	// no changes; 0 waits to be told.
	Poll time.Duration
	// Consent is asked before anything of a plugin runs; nil agrees to everything.
	Consent Consent
	// Observe is told what becomes of plugins: one event after the other, on the goroutine
	// of the load, when the plugin's new tools answer already. It must not block, and must
	// not load or close. A load that fails as the one before it is told of once. nil drops
	// them.
	Observe func(Event)
	// Log takes the loader's and the plugins' log lines; nil drops them.
	Log *slog.Logger
}

// Loader loads plugins and registers their tools. It is safe for concurrent use: loads
// wait for each other.
type Loader struct {
	reg     Registrar
	opener  *opener
	dirs    []string // Dirs, Installed, Bundled
	roots   []string // of dirs those that Watch follows
	poll    time.Duration
	observe func(Event) // nil drops them
	consent Consent     // nil agrees to everything
	log     *slog.Logger
	loading sync.Mutex // held by a load, from its first read to its last log line

	installed []string // of dirs those whose cards stand in the order of their installation

	mu      sync.Mutex // guards what follows; never held while anything is awaited
	plugins []*plugin  // in load order
	closed  bool
	decided int64 // the version of Consent up to which its answers were followed

	drains   sync.WaitGroup // old instances that wait for their last calls
	draining context.Context
	cut      context.CancelFunc
}

// plugin is a plugin folder that was loaded, or tried. Its fields are guarded by Loader.mu.
type plugin struct {
	dir      string // as the user named it
	resolved string // absolute, links resolved: by it a folder is known again
	status   PluginStatus
	owner    string            // the name under which its tools are registered; "" where none are
	instance runtimes.Instance // the one that serves; nil where none does
	menu     *menu             // what it adds to context menus
	visible  *visibility       // which of its tools it hides; nil where none serves
	inputs   sums              // what that was made from, or the version that waits
	made     sums              // what the one that serves was made from
	seen     sighting          // what the folder looked like after its last load
	from     string            // the folder of the copy that serves in the place of dir; "" where dir does
	waiting  []string          // the tools that a version has which is held
	allow    string            // how the user can agree to it
}

// New makes a loader that has loaded nothing yet. rts holds the runtimes by the names that
// manifests use. options may be nil.
func New(reg Registrar, rts map[string]runtimes.Runtime, options *Options) *Loader {
	o := Options{}
	if options != nil {
		o = *options
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	l := &Loader{
		reg: reg, log: o.Log, observe: o.Observe, consent: o.Consent, dirs: slices.Concat(o.Dirs, o.Installed, o.Bundled),
		roots: slices.Concat(o.Dirs, o.Installed), installed: slices.Clone(o.Installed), poll: o.Poll,
		opener: newOpener(rts, &o),
	}
	l.opener.execute = executeBy(reg)
	for _, dirs := range [][]string{l.dirs, l.roots, l.installed} {
		for i, dir := range dirs {
			dirs[i] = filepath.Clean(dir)
		}
	}
	l.draining, l.cut = context.WithCancel(context.Background())
	return l
}

// opening is how many plugins LoadAll opens at the same time. More than there are
// processors: one whose code loops while it loads must not hold up the rest.
const opening = 4

// LoadAll loads every plugin of Options.Dirs, Options.Installed and Options.Bundled.
// Several are opened at a time; their tools are registered in order. Plugins that do not
// load are logged and stand in [Loader.Status]; they are no error. The error says which of
// the folders could not be read, that ctx has ended, or that the loader is closed.
func (l *Loader) LoadAll(ctx context.Context) error {
	following := make(chan struct{})
	go func(ctx context.Context) { defer close(following); l.startFollowing(ctx) }(ctx) // below ctx is another
	var errs []error
	var folders, resolved []string
	seen := map[string]bool{} // a folder that is named twice is loaded once
	places := places{}
	for _, dir := range l.dirs {
		found, err := Folders(dir)
		if err != nil {
			errs = append(errs, err)
		}
		if slices.Contains(l.installed, dir) {
			found = l.ordered(ctx, found)
		}
		for _, f := range found {
			if r := places.resolve(f); !seen[r] {
				seen[r] = true
				folders, resolved = append(folders, f), append(resolved, r)
			}
		}
	}
	defer func() { <-following }()
	l.loading.Lock()
	defer l.loading.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	opened := l.openAll(ctx, folders, resolved, following)
	for i, f := range folders {
		var bad *LoadError
		if err := l.take(ctx, f, resolved[i], <-opened[i], nil); err != nil && !errors.As(err, &bad) {
			cancel(err)
			for _, rest := range opened[i+1:] {
				(<-rest).abandon(l.log)
			}
			return errors.Join(append(errs, err)...)
		}
	}
	return errors.Join(errs...)
}

// openAll opens plugin folders, of which it is known where they are; each gets a channel that
// gives the one answer. The user's consent is asked for once following is closed.
func (l *Loader) openAll(ctx context.Context, folders, resolved []string, following <-chan struct{}) []chan *opened {
	answers := make([]chan *opened, len(folders))
	for i := range answers {
		answers[i] = make(chan *opened, 1)
	}
	var next atomic.Int64
	for range min(opening, len(folders)) { // of each goroutine the stack has to grow once
		go func() {
			for i := next.Add(1) - 1; i < int64(len(folders)); i = next.Add(1) - 1 {
				answers[i] <- l.opener.openVersion(ctx, folders[i], version{resolved: resolved[i], asking: following})
			}
		}()
	}
	return answers
}

// Load loads one plugin folder. A folder that is loaded already is opened anew beside its
// old instance, which takes no new calls after the swap and is closed when its last has
// ended. Where the load fails the error is a *[LoadError], and the old instance serves on.
// That a folder is not there, or went away while it was read, is no failure of a plugin: the
// error alone says so.
func (l *Loader) Load(ctx context.Context, dir string) error {
	return l.load(ctx, dir, nil)
}

// errStirs is what a load ends with that failed while its folder was being changed.
var errStirs = errors.New("the plugin's folder is being changed")

// load loads one plugin folder. Where the folder is followed stirs is not nil: then what was
// made from the same bytes is left alone, and a failure is nobody's business as long as stirs
// reports that the folder is being changed, given whether it has the name of one that is gone.
func (l *Loader) load(ctx context.Context, dir string, stirs func(left bool) bool) error {
	l.loading.Lock()
	defer l.loading.Unlock()
	l.mu.Lock()
	closed := l.closed
	l.mu.Unlock()
	if closed {
		return ErrClosed
	}
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("loading plugin %q: %w", dir, err)
	}
	p := l.opener.open(ctx, dir)
	return l.take(ctx, dir, resolve(dir), p, stirs)
}

// take registers an opened plugin in the place of what its folder had before. l.loading
// is held.
func (l *Loader) take(ctx context.Context, dir, resolved string, p *opened, stirs func(left bool) bool) error {
	l.mu.Lock()
	closed, known := l.closed, l.find(resolved)
	l.mu.Unlock()
	switch err := context.Cause(ctx); {
	case closed:
		p.abandon(l.log)
		return ErrClosed
	case err != nil:
		p.abandon(l.log)
		return fmt.Errorf("loading plugin %q: %w", dir, err) // no fault of the plugin
	}
	left := false
	if len(p.errors) == 0 {
		left = l.refuseTaken(p, resolved)
	}
	if len(p.errors) > 0 {
		p.abandon(l.log)
		switch {
		case !hasManifest(dir):
			// It was removed or renamed away while it was read. Watch takes away what serves.
			l.log.Debug("plugin gone while it was read", "plugin", p.name, "err", p.errors[0].Error())
			return &LoadError{Plugin: p.name, Dir: dir, Errors: p.errors}
		case stirs != nil && stirs(left):
			return errStirs
		}
		return l.failed(dir, resolved, known, p)
	}
	if p.held != nil {
		return l.hold(ctx, dir, resolved, known, p)
	}
	if stirs != nil && l.same(known, p) {
		p.abandon(l.log)
		return nil
	}
	return l.swap(dir, resolved, known, p)
}

// same reports whether a plugin serves already what was opened anew. Where a broken
// version was taken back, its errors go.
func (l *Loader) same(known *plugin, p *opened) bool {
	l.mu.Lock()
	if known == nil || known.instance == nil || known.status.State == Held || !maps.Equal(known.inputs, p.inputs) {
		l.mu.Unlock()
		return false
	}
	known.seen = sighting{}
	repaired, revision := len(known.status.Errors) > 0, known.status.Revision
	if repaired {
		known.status.Errors, known.status.Warnings = nil, p.warnings
	}
	l.mu.Unlock()
	if repaired {
		l.log.Info("plugin repaired", "plugin", p.name, "revision", revision)
		l.tell(PluginRepaired, known)
	}
	return true
}

// resolve gives the name by which a folder is known again. One that cannot be resolved
// is known by its absolute path.
func resolve(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	if resolved, err := filepath.EvalSymlinks(abs); err == nil {
		return resolved
	}
	return abs
}

// places are folders by the names that the user gave, links resolved. Of folders that lie side
// by side the links above them are followed once.
type places map[string]string

// resolve is the function of that name.
func (p places) resolve(dir string) string {
	parent, name := filepath.Dir(dir), filepath.Base(dir)
	if name == "." || name == ".." {
		return resolve(dir)
	}
	above, known := p[parent]
	if !known {
		above = resolve(parent)
		p[parent] = above
	}
	resolved := filepath.Join(above, name)
	if info, err := os.Lstat(resolved); err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return resolve(dir)
	}
	return resolved
}

// find gives the plugin of a folder; nil where it is new. l.mu is held.
func (l *Loader) find(resolved string) *plugin {
	if i := slices.IndexFunc(l.plugins, func(p *plugin) bool { return p.resolved == resolved }); i >= 0 {
		return l.plugins[i]
	}
	return nil
}

// hostName is the name under which the host's own tools are registered: a plugin of that name
// would take them away when it goes.
const hostName = "toolhost"

// refuseTaken refuses a plugin whose name another folder's plugin has; left reports that this
// folder is gone, perhaps since it was renamed, and the plugin not taken away yet.
func (l *Loader) refuseTaken(p *opened, resolved string) (left bool) {
	if p.name == hostName {
		p.errors = append(p.errors, &ManifestError{
			Rule: ruleNameTaken, File: p.file, Line: p.nameAt.Line, Column: p.nameAt.Column, Pointer: "/name",
			Msg: fmt.Sprintf("the plugin name %q is the host's own", p.name), Hint: "give the plugin a name of its own",
		})
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, other := range l.plugins {
		if other.owner == p.name && other.resolved != resolved {
			p.errors = append(p.errors, &ManifestError{
				Rule: ruleNameTaken, File: p.file, Line: p.nameAt.Line, Column: p.nameAt.Column, Pointer: "/name",
				Msg:  fmt.Sprintf("the plugin name %q is taken by the plugin in %q", p.name, other.dir),
				Hint: "rename one of the two, or load only one",
			})
			return !hasManifest(other.dir)
		}
	}
	return false
}

// failed notes and logs a load that failed.
func (l *Loader) failed(dir, resolved string, known *plugin, p *opened) error {
	l.mu.Lock()
	if known == nil {
		known = &plugin{dir: dir, resolved: resolved}
		l.plugins = append(l.plugins, known)
	}
	s := &known.status
	if known.owner == "" {
		s.Name, s.Dir, s.State = p.name, dir, Failed
	} else {
		s.State = Loaded // an older version
	}
	s.Waits, s.Allow, known.waiting = nil, "", nil
	told := equalErrors(s.Errors, p.errors)
	s.Errors, s.Warnings = p.errors, p.warnings
	known.seen = sighting{}
	l.mu.Unlock()
	if told {
		return &LoadError{Plugin: p.name, Dir: dir, Errors: p.errors}
	}
	for _, e := range p.errors {
		l.log.Error("plugin failed", attrs(p.name, e)...)
	}
	l.warn(p)
	l.tell(PluginFailed, known)
	return &LoadError{Plugin: p.name, Dir: dir, Errors: p.errors}
}

// equalErrors reports whether two loads failed alike.
func equalErrors(a, b []*ManifestError) bool {
	return slices.EqualFunc(a, b, func(x, y *ManifestError) bool { return *x == *y })
}

// warn logs the warnings of a load. A repeated tool has its own line.
func (l *Loader) warn(p *opened) {
	for _, w := range p.warnings {
		if w.Rule != ruleToolTwice {
			l.log.Warn("plugin warning", attrs(p.name, w)...)
		}
	}
}

func attrs(name string, e *ManifestError) []any {
	list := []any{"plugin", name, "err", e.Error()}
	if e.Hint != "" {
		list = append(list, "hint", e.Hint)
	}
	return list
}

// swap puts an open plugin in the place of what its folder had before.
func (l *Loader) swap(dir, resolved string, known *plugin, p *opened) error {
	oldOwner := ""
	if known != nil {
		oldOwner = known.owner
	}
	conflicts, err := l.reg.Replace(p.name, host.Plugin, p.tools)
	if err != nil {
		p.abandon(l.log)
		p.errors = append(p.errors, &ManifestError{Rule: ruleRefused, File: p.file, Msg: err.Error()})
		return l.failed(dir, resolved, known, p)
	}
	if oldOwner != "" && oldOwner != p.name {
		// The plugin was renamed. Its new name stands in line first, so that the names
		// of its tools pass on to it without a gap; then the conflicts are told anew.
		l.reg.Remove(oldOwner)
		if again, err := l.reg.Replace(p.name, host.Plugin, p.tools); err == nil {
			conflicts = again
		}
	}
	l.mu.Lock()
	if known == nil {
		known = &plugin{dir: dir, resolved: resolved}
		l.plugins = append(l.plugins, known)
	}
	old := known.instance
	if known.visible != nil {
		known.visible.detach()
	}
	known.visible = p.visible
	known.instance, known.owner, known.inputs, known.seen, known.menu = p.instance, p.name, p.inputs, sighting{}, p.menu
	known.from, known.waiting, known.made = p.from, nil, p.inputs
	known.status = PluginStatus{
		Name: p.name, Dir: known.dir, State: Loaded, Revision: known.status.Revision + 1,
		Warnings: p.warnings, Tools: l.given(p.name, registered(p.tools, conflicts)), Skipped: conflicts,
	}
	revision, tools := known.status.Revision, len(known.status.Tools)
	l.mu.Unlock()
	p.visible.attach(l.reg, p.name)
	if old != nil {
		l.drain(oldOwner, old)
	}
	l.warn(p)
	for _, c := range conflicts {
		l.log.Warn("tool skipped", "tool", c.Tool, "plugin", p.name, "takenBy", c.TakenBy)
	}
	if revision == 1 {
		l.log.Info("plugin loaded", "plugin", p.name, "tools", tools)
		l.tell(PluginLoaded, known)
	} else {
		l.log.Info("plugin reloaded", "plugin", p.name, "revision", revision, "tools", tools)
		l.tell(PluginReloaded, known)
	}
	return nil
}

// unload takes a plugin away whose folder is gone.
func (l *Loader) unload(p *plugin) {
	l.loading.Lock()
	defer l.loading.Unlock()
	l.mu.Lock()
	if !slices.Contains(l.plugins, p) {
		l.mu.Unlock()
		return
	}
	l.plugins = slices.DeleteFunc(l.plugins, func(o *plugin) bool { return o == p })
	owner, instance, name, visible := p.owner, p.instance, p.status.Name, p.visible
	l.mu.Unlock()
	if visible != nil {
		visible.detach()
	}
	if owner != "" {
		l.reg.Remove(owner)
	}
	if instance != nil {
		l.drain(owner, instance)
	}
	l.log.Info("plugin removed", "plugin", name)
	l.tell(PluginRemoved, p)
}

// given gives the names under which tools stand that were registered.
func (l *Loader) given(owner string, names []string) []string {
	giver, ok := l.reg.(interface {
		Given(owner string) map[string]string
	})
	if !ok {
		return names
	}
	given := giver.Given(owner)
	for i, asked := range names {
		if name := given[asked]; name != "" {
			names[i] = name
		}
	}
	return names
}

// registered gives the names of the tools that were not skipped.
func registered(tools []*host.Tool, conflicts []*host.ConflictError) []string {
	skipped := map[string]int{}
	for _, c := range conflicts {
		skipped[c.Tool]++
	}
	names := []string{}
	for _, t := range slices.Backward(tools) { // of a repeated tool the first one stays
		if t.Command {
			continue
		}
		if skipped[t.Name] > 0 {
			skipped[t.Name]--
			continue
		}
		names = append(names, t.Name)
	}
	slices.Reverse(names)
	return names
}

// drain closes an instance in the background, when its last call has ended.
func (l *Loader) drain(name string, instance runtimes.Instance) {
	l.drains.Go(func() { l.shut(l.draining, name, instance) })
}

// shut closes an instance. A panic there is the plugin's, and ends with it.
func (l *Loader) shut(ctx context.Context, name string, instance runtimes.Instance) {
	defer func() {
		if r := recover(); r != nil {
			l.log.Error("panic while closing", "plugin", name, "err", fmt.Sprint(r))
		}
	}()
	if err := instance.Close(ctx); err != nil && ctx.Err() == nil {
		l.log.Warn("closing the plugin", "plugin", name, "err", err)
	}
}

// Close takes all tools away, closes every plugin and waits for their running calls until
// ctx ends; then the rest is stopped, and the error is ctx's. Later loads fail with
// [ErrClosed]. A load that runs is waited for.
func (l *Loader) Close(ctx context.Context) error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.loading.Lock()
	defer l.loading.Unlock()
	l.mu.Lock()
	var open []plugin
	for _, p := range l.plugins {
		if p.instance != nil {
			open = append(open, *p)
			p.instance, p.owner = nil, ""
			p.status.Tools = nil
		}
	}
	l.mu.Unlock()
	for _, p := range open {
		l.reg.Remove(p.owner)
		l.drain(p.owner, p.instance)
	}
	stop := context.AfterFunc(ctx, l.cut)
	defer stop()
	l.drains.Wait()
	if l.draining.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
