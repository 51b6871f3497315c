package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/host/foldertools"
	"github.com/toolhost/toolhost/internal/bundle"
	"github.com/toolhost/toolhost/internal/calllog"
	"github.com/toolhost/toolhost/internal/complete"
	"github.com/toolhost/toolhost/internal/fetch"
	"github.com/toolhost/toolhost/internal/mounted"
	"github.com/toolhost/toolhost/internal/state"
	"github.com/toolhost/toolhost/loader"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/permissions/sandbox"
	"github.com/toolhost/toolhost/plugins"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
	"github.com/toolhost/toolhost/runtimes/process"
	"github.com/toolhost/toolhost/runtimes/worker"
)

// closeTimeout is how long running calls get when the program ends.
const closeTimeout = 2 * time.Second

// flushTimeout is how long the call log may take to write down what waits.
const flushTimeout = time.Second

// mountWait is how long the first load waits for mounted MCP servers.
const mountWait = 10 * time.Second

// session is a host with its loader, as the flags ask for it.
type session struct {
	host   *host.Host
	loader *loader.Loader
	state  *state.DB
	node   *isolation
	// network is what handlers reach instead of the real one, where it is not nil.
	network runtimes.Network
	client  *fetch.Client       // makes the requests of all plugins
	model   *complete.Completer // completes prompts; nil where the configuration names none
	mounts  *mounted.Servers    // those of the configuration
	log     *slog.Logger
	calls   *calllog.Log         // nil where nothing is recorded
	off     switched             // the tools that the user has disabled
	updates map[string]bool      // which were said to wait, by what is said; Watch alone uses it once it runs
	loads   []func(loader.Event) // told what becomes of plugins; set before the first load
	undo    []func()
	reading sync.WaitGroup // what is read of the state while the session is opened
	hidden  chan struct{}  // closed once the host knows which tools are disabled
}

// open makes the host with the built-in tools; plugins are loaded by loadAll. Tools that are
// disabled may be offered until hidden is closed, which loadAll waits for. quiet
// keeps what is said while loading out of the log, warnings excepted.
func (p *program) open(quiet bool) (*session, error) {
	limits, err := p.flags.limits.host()
	if err != nil {
		return nil, failed(fmt.Errorf("reading the limits: %w", err))
	}
	s := &session{log: p.logger(slog.LevelDebug)}
	closedTo := make(chan permissions.Closed, 1)
	go func() { closedTo <- p.closed() }() // it looks at every plugin folder
	s.state = p.openState(s.log)
	s.client = fetch.New(&fetch.Options{MaxBody: p.flags.limits.Body})
	s.undo = append(s.undo, s.client.Close)
	if s.model = p.model; s.model != nil {
		s.undo = append(s.undo, s.model.Close)
	}
	s.host = host.New(&host.Options{
		Folder:          p.flags.folder,
		StrictArguments: p.flags.strictArguments,
		Offer:           p.offer(),
		Waiting:         func(tool string) (plugin, allow string) { return s.loader.Waiting(tool) },
		Limits:          limits,
		Log:             s.log,
	})
	// Opening the database takes longer than the rest here, and does not wait for it.
	s.off = switched{session: s}
	book := p.book(s.state)
	s.hidden = make(chan struct{})
	s.reading.Go(func() {
		_ = s.off.apply(context.Background()) // why it cannot be read is in the log
		close(s.hidden)
		book.ReadAhead(context.Background())
	})
	builtIn := foldertools.Tools()
	cache := p.cacheDir()
	var proofs *bundle.Proofs
	if cache != "" {
		proofs = bundle.NewProofs(cache, func(err error) { s.log.Debug("what is checked is not kept", "err", err) })
	}
	runtimes := p.runtimes(s.host.Limits(), cache)
	closed := <-closedTo
	names := []string{requestTool}
	for _, t := range builtIn {
		t.Policy.Closed = closed
		names = append(names, t.Name)
	}
	if _, err = s.host.Replace("toolhost", host.BuiltIn, builtIn); err != nil {
		return nil, failed(fmt.Errorf("registering the built-in tools: %w", err))
	}
	s.record(p.flags.calls, p.flags.mounts, p.flags.state)
	loadLog := s.log
	if quiet {
		loadLog = p.logger(slog.LevelError + 1) // the command reports what failed itself
	}
	s.mounts, err = mounted.New(s.host, p.flags.mounts, &mounted.Options{Folder: p.flags.folder, Version: version(), Log: loadLog})
	if err != nil {
		return nil, usagef(`correct "mcpServers" in the configuration`, "%w", err)
	}
	s.undo = append(s.undo, s.mounts.Close)
	s.node, _ = runtimes["node"].(*isolation)
	s.loader = loader.New(s.host, runtimes, &loader.Options{
		Dirs:       p.flags.plugins,
		Installed:  p.flags.installed,
		Bundled:    p.bundled(s),
		Services:   s.services,
		Enforced:   p.enforcedInLoad,
		Cards:      p.flags.cards,
		DataDir:    p.dataDir(),
		Closed:     closed,
		Proofs:     proofs,
		MaxTimeout: s.host.Limits().MaxTimeout,
		HostTools:  names,
		Strict:     p.flags.strict,
		Poll:       p.flags.poll,
		Observe:    s.observeLoad,
		Consent:    &following{Book: book, changed: func(ctx context.Context) { p.announceUpdates(ctx, s) }},
		Log:        loadLog,
	})
	return s, nil
}

// record has the calls of the session written to the call log, where there is a state folder
// and the configuration does not turn it off.
func (s *session) record(c calls, mounts map[string]mounted.Config, state string) {
	if state == "" || c.Record != nil && !*c.Record {
		return
	}
	keep, _ := parseAge(c.Keep) // the schema has checked it; "" is the default
	s.calls = calllog.New(s.state, &calllog.Options{Keep: keep, Bytes: c.Bytes, Secrets: mountedSecrets(mounts), Log: s.log})
	s.host.Observe(s.calls)
}

// mountedSecrets gives the secrets with which mounted servers are reached.
func mountedSecrets(mounts map[string]mounted.Config) (list []string) {
	for _, c := range mounts {
		for _, v := range c.Values() {
			if calllog.IsSecretKey(v.Name) {
				list = append(list, v.Value)
			}
		}
	}
	return list
}

// observeLoad passes on what became of a plugin.
func (s *session) observeLoad(e loader.Event) {
	for _, observe := range s.loads {
		observe(e)
	}
}

// load opens a session and loads every plugin.
func (p *program) load(ctx context.Context) (*session, error) {
	s, err := p.open(true)
	if err != nil {
		return nil, err
	}
	p.loadAll(ctx, s)
	return s, nil
}

// loadAll loads every plugin. What is wrong with one stands in the loader's status; what
// is wrong with a folder of them is said here.
func (p *program) loadAll(ctx context.Context, s *session) {
	s.mounts.Start()
	defer func() {
		<-s.hidden
		ctx, cancel := context.WithTimeout(ctx, mountWait)
		defer cancel()
		s.mounts.Await(ctx)
	}()
	if err := s.loader.LoadAll(ctx); err != nil && ctx.Err() == nil {
		p.warnf("%v", err)
	}
	found := map[string]bool{} // folders of plugins, and those that these lie in
	for _, st := range s.loader.Status() {
		found[st.Dir], found[filepath.Dir(st.Dir)] = true, true
	}
	p.warnEmpty(slices.DeleteFunc(slices.Clone(p.flags.plugins), func(dir string) bool { return found[filepath.Clean(dir)] }))
}

// warnEmpty names those of folders that can be read and hold no plugin.
func (p *program) warnEmpty(dirs []string) {
	for _, dir := range dirs {
		if folders, err := loader.Folders(dir); err == nil && len(folders) == 0 {
			p.warnf("there is no plugin in %q", dir)
		}
	}
}

// warnUnloaded names the plugins that did not load: what somebody looks for may be
// theirs.
func (p *program) warnUnloaded(s *session) {
	for _, st := range s.loader.Status() {
		if len(st.Errors) > 0 {
			p.warnf("plugin %s did not load; \"toolhost check %s\" says why", oneLine(st.Name), oneLine(st.Dir))
		}
		if st.State == loader.Held {
			p.warnf("plugin %s waits for your consent: %s", oneLine(st.Name), oneLine(st.Allow))
		}
	}
}

// warnHeld says that another version of a plugin answers than the one in its folder: who has
// just changed the manifest would look for the reason in vain.
func (p *program) warnHeld(s *session, plugin string) {
	for _, st := range s.loader.Status() {
		if st.Name == plugin && st.State == loader.Held {
			p.warnf("plugin %s waits for your consent, and the version that you agreed to answers: %s", oneLine(st.Name), oneLine(st.Allow))
		}
	}
}

// maxProcesses is how many programs and workers of all plugins run at once, unless the
// configuration says otherwise.
const maxProcesses = 64

// runtimes gives the runtimes that there are, by the names that manifests use. cache is
// where they keep what they made of plugins; "" for nowhere.
func (p *program) runtimes(limits host.Limits, cache string) map[string]runtimes.Runtime {
	mode, _ := sandbox.ParseMode(p.flags.sandbox) // settleFlags has checked it
	places := runtimes.NewPlaces(cmp.Or(p.flags.limits.Processes, maxProcesses))
	programs := &process.Options{Sandbox: mode, MaxResult: limits.Result, Places: places}
	return map[string]runtimes.Runtime{
		"node": newIsolation(p.flags.isolation, &node.Options{MaxResult: limits.Result, Cache: cache},
			&worker.Options{MaxResult: limits.Result, Sandbox: mode, Folder: p.flags.folder, Places: places}, programs),
		"process": process.New(programs),
	}
}

// offer gives the filter that --tools and --plugins-only ask for.
func (p *program) offer() func(host.Registered) bool {
	globs, pluginsOnly := slices.Clone(p.flags.tools), p.flags.pluginsOnly
	if len(globs) == 0 && !pluginsOnly {
		return nil
	}
	return func(r host.Registered) bool {
		if pluginsOnly && r.Source != host.Plugin {
			return false
		}
		return len(globs) == 0 || slices.ContainsFunc(globs, func(g string) bool {
			ok, _ := filepath.Match(g, r.Name) // settleFlags has checked the globs
			return ok
		})
	}
}

// bundled gives the folders of the plugins that ship with the program, written below
// the state folder, or below a temporary one where there is none or it cannot be written.
func (p *program) bundled(s *session) []string {
	if p.flags.noBundled {
		return nil
	}
	if p.flags.state != "" {
		_ = os.MkdirAll(p.flags.state, 0o700) // what follows says why it cannot be made
		dirs, err := plugins.Materialise(filepath.Join(p.flags.state, "bundled"))
		if err == nil {
			return dirs
		}
		s.log.Debug("the state folder cannot hold the bundled plugins", "err", err)
	}
	var dirs []string
	temporary, err := os.MkdirTemp("", "toolhost-bundled-")
	if err == nil {
		s.undo = append(s.undo, func() { _ = os.RemoveAll(temporary) }) // a leftover in the temporary folder
		dirs, err = plugins.Materialise(temporary)
	}
	if err != nil {
		p.warnf("the bundled plugins are left out: %v", err)
	}
	return dirs
}

// dataDir is where each plugin has a private folder; "" where there is no state folder.
func (p *program) dataDir() string {
	if p.flags.state == "" {
		return ""
	}
	return filepath.Join(p.flags.state, "data")
}

// cacheDir is where runtimes keep what they made of plugins; "" where that must not be. A
// handler that may write the agent's whole folder must not write what is run for others.
func (p *program) cacheDir() string {
	if p.flags.state == "" {
		return ""
	}
	_ = os.MkdirAll(p.flags.state, 0o700) // nothing is kept where it cannot be made
	if within(p.flags.state, p.flags.folder) {
		return ""
	}
	return filepath.Join(p.flags.state, "cache")
}

// within reports whether a folder is another one, or lies in it, by whatever names. Where
// that cannot be seen it is taken to be so.
func within(dir, other string) bool {
	outer, err := os.Stat(other)
	if err != nil {
		return true
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return true
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return true
	}
	for {
		if info, err := os.Stat(abs); err != nil || os.SameFile(info, outer) {
			return true
		}
		above := filepath.Dir(abs)
		if above == abs {
			return false
		}
		abs = above
	}
}

// close ends the session: running calls get a moment, then everything is stopped.
func (s *session) close() {
	s.reading.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := s.host.Close(ctx); err != nil {
		s.log.Warn("closing the host", "err", err)
	}
	if err := s.loader.Close(ctx); err != nil {
		s.log.Warn("closing the plugins", "err", err)
	}
	if s.calls != nil {
		// Calls that took the whole time above must be written down all the same.
		ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
		defer cancel()
		if err := s.calls.Close(ctx); err != nil {
			s.log.Warn("the last calls were not recorded", "err", err)
		}
	}
	if err := s.state.Close(); err != nil {
		s.log.Warn("closing the state", "err", err)
	}
	for _, undo := range s.undo {
		undo()
	}
}
