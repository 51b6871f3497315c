package loader

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
)

// Origin says how a plugin came to this host.
type Origin string

const (
	Named     Origin = "named"     // its folder was named by the user
	Installed Origin = "installed" // it was installed from elsewhere
	Bundled   Origin = "bundled"   // it ships with the host
)

// Consent says whether the user has agreed to what plugins ask for. It must be safe for
// concurrent use.
type Consent interface {
	// Ask is called in each load, after the manifest and the schemas were read and before
	// anything of the plugin runs. Where the answer is not Agreed, this version does not run.
	Ask(ctx context.Context, q *ConsentQuestion) ConsentAnswer
	// Changed gives the folders about which the user has decided something since the version
	// that it gave before, and the version now; where since is negative, the version only.
	// Watch asks about once a second.
	Changed(ctx context.Context, since int64) (dirs []string, now int64, err error)
}

// ConsentQuestion is a plugin that is about to be loaded.
type ConsentQuestion struct {
	Dir    string // its folder, absolute, links resolved
	Origin Origin
	Asks   *Summary
	// Digest is the hash of the manifest, the schemas and the prompts that Asks was made from.
	Digest string
	// Files gives these files by slash paths below Dir. They are read anew; an error says that
	// they are others by now.
	Files func() (map[string][]byte, error)
}

// ConsentAnswer says whether a plugin may run; the zero value is that it may not.
type ConsentAnswer struct {
	Agreed bool
	// Waits says what the user has to agree to, a difference a text.
	Waits []string
	// Allow says how the user can agree, where that is not by the commands of consent.
	Allow string
	// Withdrawn takes also away what serves already.
	Withdrawn bool

	// Fingerprint is that of the version which the user agreed to last; "" where there is
	// none. It serves on, or is opened: from Dir, where there is a copy of all of it, else
	// with Files in the place of what the plugin's folder holds now. Nothing is served that
	// has another fingerprint.
	Fingerprint string
	Dir         string
	Files       map[string][]byte
}

// version says which version of a plugin is to be opened; the zero value is the one that its
// folder holds.
type version struct {
	resolved    string            // where the plugin's folder is, links resolved; "" where that is not known
	dir         string            // holds it instead of the plugin's folder
	files       map[string][]byte // stand for those of the folder
	fingerprint string            // that it must have
	// asking is closed when the user's consent can be asked for; nil where it can be at once.
	asking <-chan struct{}
}

// open opens the folder that holds the version of a plugin's folder.
func (v *version) open(dir string) (*folder, error) {
	switch {
	case v.dir != "":
		return openFolder(v.dir)
	case v.resolved != "":
		return openResolved(v.resolved)
	}
	return openFolder(dir)
}

// origin says how the plugin of a folder came here. Nothing that a manifest says counts.
func (o *opener) origin(p *opened) Origin {
	switch {
	case p.foreign:
		return Installed
	case liesIn(p.found, o.bundled):
		return Bundled
	}
	return Named
}

// agreed reports whether an opened plugin may run, and notes in it what waits where it may not.
func (o *opener) agreed(ctx context.Context, p *opened, f *folder, v version) bool {
	if o.consent == nil || o.lint {
		return true
	}
	asks := summarise(p.manifest, p.tools, p.menu.prompts)
	if v.fingerprint != "" {
		if asks.Fingerprint() != v.fingerprint {
			p.errors = append(p.errors, &ManifestError{
				Rule: ruleRefused, File: ManifestFile, Msg: "what was kept of the version that the user agreed to is not that version any more",
				Hint: "agree to the version that is there now: toolhost consent approve " + p.name,
			})
			return false
		}
		return true
	}
	if v.asking != nil {
		<-v.asking
	}
	answer := o.consent.Ask(ctx, &ConsentQuestion{Dir: p.dir, Origin: o.origin(p), Asks: asks, Digest: p.inputs.digest(), Files: f.consented(p.inputs)})
	if answer.Agreed {
		return true
	}
	p.held = &held{ConsentAnswer: answer, asks: asks}
	return false
}

// consented gives a function that reads files again, as long as they hold what they held.
func (f *folder) consented(want sums) func() (map[string][]byte, error) {
	return func() (map[string][]byte, error) {
		files := map[string][]byte{}
		for name := range want {
			data, err := f.all(name)
			if err != nil {
				return nil, err
			}
			if sha256.Sum256(data) != want[name] {
				return nil, fmt.Errorf("%q was changed meanwhile", name)
			}
			files[name] = data
		}
		return files, nil
	}
}

// all reads a file that lies in the folder.
func (f *folder) all(name string) ([]byte, error) {
	file, err := f.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	const most = 16 << 20 // schemas have limits of their own, which are lower
	return io.ReadAll(io.LimitReader(file, most))
}

// held is a version of a plugin that waits for the user.
type held struct {
	ConsentAnswer
	asks *Summary
}

// hold keeps a version out that waits for the user. The last one that was agreed to serves.
// l.loading is held.
func (l *Loader) hold(ctx context.Context, dir, resolved string, known *plugin, p *opened) error {
	answer := p.held
	l.mu.Lock()
	serving := known != nil && known.instance != nil
	keep := serving && !answer.Withdrawn && (answer.Dir == "" || known.from == answer.Dir)
	var code sums
	if keep && answer.Dir == "" && answer.Fingerprint != "" {
		code = known.made.without(answer.Files)
	}
	l.mu.Unlock()
	if code != nil && !code.hold(resolved) {
		// The code in a folder that the user named is the user's own, and not what waits. One
		// that does not load leaves the last that did.
		l.serveAgreed(ctx, dir, resolved, known, p)
	}
	if !keep && answer.Fingerprint != "" {
		keep = l.serveAgreed(ctx, dir, resolved, known, p)
		known = l.known(resolved)
	}
	if !keep && serving {
		l.withdraw(known)
	}
	l.mu.Lock()
	if known == nil {
		known = &plugin{dir: dir, resolved: resolved}
		l.plugins = append(l.plugins, known)
	}
	s := &known.status
	told := s.State == Held && slices.Equal(s.Waits, answer.Waits) && len(s.Errors) == 0
	if known.owner == "" {
		s.Name, s.Dir, s.Tools, s.Skipped = p.name, dir, nil, nil
	}
	s.State, s.Waits, s.Errors, s.Warnings = Held, answer.Waits, nil, p.warnings
	s.Allow = cmp.Or(answer.Allow, "toolhost consent show "+p.name)
	known.allow = cmp.Or(answer.Allow, "toolhost consent approve "+p.name)
	known.waiting = waitingTools(answer.asks, s.Tools)
	allow := s.Allow
	known.inputs, known.seen = p.inputs, sighting{}
	l.mu.Unlock()
	if told {
		return nil
	}
	for _, w := range answer.Waits {
		l.log.Warn("plugin held", "plugin", p.name, "err", w, "hint", allow)
	}
	l.tell(PluginHeld, known)
	return nil
}

// serveAgreed opens the version that the user agreed to last, and reports whether it serves now.
func (l *Loader) serveAgreed(ctx context.Context, dir, resolved string, known *plugin, p *opened) bool {
	a := p.held
	v := version{dir: a.Dir, files: a.Files, fingerprint: a.Fingerprint}
	old := l.opener.openVersion(ctx, dir, v)
	if len(old.errors) == 0 {
		l.refuseTaken(old, resolved)
	}
	if len(old.errors) > 0 {
		for _, e := range old.errors {
			l.log.Warn("the version that was agreed to cannot be loaded", attrs(old.name, e)...)
		}
		old.abandon(l.log)
		return false
	}
	old.from = a.Dir
	return l.swap(dir, resolved, known, old) == nil
}

// known gives the plugin of a folder; nil where there is none.
func (l *Loader) known(resolved string) *plugin {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.find(resolved)
}

// withdraw takes away what serves of a plugin, which stays known.
func (l *Loader) withdraw(p *plugin) {
	l.mu.Lock()
	owner, instance, visible := p.owner, p.instance, p.visible
	p.owner, p.instance, p.menu, p.visible, p.from = "", nil, nil, nil, ""
	l.mu.Unlock()
	if visible != nil {
		visible.detach()
	}
	l.reg.Remove(owner)
	l.drain(owner, instance)
}

// waitingTools gives the ids of the tools that a version has and that do not serve.
func waitingTools(asks *Summary, serve []string) []string {
	var list []string
	for _, t := range asks.Tools {
		if !slices.Contains(serve, t.ID) {
			list = append(list, t.ID)
		}
	}
	return list
}

// Waiting gives the plugin with a tool that waits for the user's consent, and how the user can
// give it; "" where no such tool waits.
func (l *Loader) Waiting(tool string) (plugin, allow string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.plugins {
		if p.status.State == Held && slices.Contains(p.waiting, tool) {
			return p.status.Name, p.allow
		}
	}
	return "", ""
}

// Examination is what can be told of a plugin without running anything of it.
type Examination struct {
	Manifest *Manifest // nil where there is none to be read
	// Question is what Consent would be asked; nil where there are errors.
	Question *ConsentQuestion
	Errors   []*ManifestError
	Warnings []*ManifestError
}

// Examine reads a plugin folder as a load does, and runs nothing of it. options may be nil; of
// it Installed, Bundled, MaxTimeout, Strict, Enforced and Log count.
func Examine(ctx context.Context, dir string, options *Options) *Examination {
	o := Options{}
	if options != nil {
		o = *options
	}
	asked := &recorder{}
	o.Consent = asked
	op := newOpener(nil, &o)
	op.anyRuntime = true
	p := op.open(ctx, dir)
	return &Examination{Manifest: p.manifest, Question: asked.question, Errors: p.errors, Warnings: p.warnings}
}

// recorder agrees to nothing, and keeps what it was asked.
type recorder struct{ question *ConsentQuestion }

var _ Consent = (*recorder)(nil)

// Ask keeps the question with its files, since the folder is open now only.
func (r *recorder) Ask(_ context.Context, q *ConsentQuestion) ConsentAnswer {
	kept := *q
	files, err := q.Files()
	kept.Files = func() (map[string][]byte, error) { return files, err }
	r.question = &kept
	return ConsentAnswer{}
}

// Changed tells of nothing.
func (r *recorder) Changed(_ context.Context, since int64) ([]string, int64, error) {
	return nil, since, nil
}

// unsettled reports whether what a plugin's folder holds does not serve. Loader.mu is held.
func (p *plugin) unsettled() bool { return len(p.status.Errors) > 0 || p.status.State == Held }

// startFollowing notes how the user's decisions stand before anything is asked.
func (l *Loader) startFollowing(ctx context.Context) {
	if l.consent == nil {
		return
	}
	_, now, err := l.consent.Changed(ctx, -1)
	if err != nil {
		l.log.Debug("reading what the user has agreed to", "err", err)
	}
	l.mu.Lock()
	l.decided = now
	l.mu.Unlock()
}

// reconsider touches the plugins about which the user has decided something since the last
// time.
func (w *watcher) reconsider(ctx context.Context) {
	w.l.mu.Lock()
	since := w.l.decided
	w.l.mu.Unlock()
	dirs, now, err := w.l.consent.Changed(ctx, since)
	if err != nil {
		w.l.log.Debug("reading what the user has agreed to", "err", err)
		return
	}
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	w.l.decided = now
	for _, p := range w.l.plugins {
		if slices.Contains(dirs, p.resolved) && w.follows(p.dir) {
			w.again[p.dir] = true
			w.touch(p.dir)
		}
	}
}
