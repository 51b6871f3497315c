package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/devui"
	"github.com/toolhost/toolhost/loader"
)

// devFlags are those of dev alone.
type devFlags struct {
	call        string
	test, plain bool
}

func (p *program) devCommand() *cobra.Command {
	var f devFlags
	cmd := &cobra.Command{
		Use:   "dev DIR [ARGS...]",
		Short: "Show an author what happens to a plugin while it is written",
		Long: `Loads the plugin in DIR, or every plugin of the folder DIR, loads it anew whenever
it is saved, and shows on one screen what is loaded, what is wrong with its place in
the source, and every call with its arguments, log lines, duration and result. Keys
call a tool again, change its arguments (which are remembered), show its schema and
run the plugin's tests. DIR is trusted. --http serves MCP to agents at the same time.

--call TOOL calls a tool after the first load and after each further one; ARGS are
written as for "toolhost call". Without a terminal, or with --plain, the same is
written to stdout as plain lines, and the log to stderr, until SIGINT or SIGTERM.`,
		Example: `  toolhost dev ./my-plugin
  toolhost dev ./plugins --call count_words path=README.md
  toolhost dev ./my-plugin --test --plain
  toolhost dev ./my-plugin --http 127.0.0.1:8080`,
		Args: needs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.dev(cmd.Context(), args[0], args[1:], f) },
	}
	p.addFlags(cmd)
	p.addHTTPFlags(cmd)
	cmd.Flags().StringVar(&f.call, "call", "", "call this tool after each load, with the ARGS that follow DIR")
	cmd.Flags().BoolVar(&f.test, "test", false, "run the plugin's tests after each load")
	cmd.Flags().BoolVar(&f.plain, "plain", false, "write plain lines on a terminal, too")
	return cmd
}

func (p *program) dev(ctx context.Context, dir string, words []string, f devFlags) error {
	if _, err := loader.Folders(dir); err != nil {
		return usagef(`"toolhost new DIR" makes a plugin`, "developing %q: %w", dir, err)
	}
	if len(words) > 0 && f.call == "" {
		return usagef("for example toolhost dev DIR --call TOOL "+strings.Join(words, " "), "%q is for no tool", words[0])
	}
	if slices.Contains(words, "-") {
		return usagef("write the arguments as JSON or as key=value", "stdin has no arguments here")
	}
	if err := p.refuseWideFolder(p.flags.folderNamed); err != nil {
		return err
	}
	p.flags.plugins = append([]string{dir}, p.flags.plugins...)
	p.flags.installed, p.flags.trust = nil, true
	screen := !f.plain && onTerminal(p.out) && isTerminal(p.in) && os.Getenv("TERM") != "dumb"
	d := &dev{
		p: p, feed: devui.NewFeed(), dir: dir, call: f.call, words: words, testing: f.test,
		loaded: map[string]bool{}, wake: make(chan struct{}, 1), lines: &argumentLines{dir: p.flags.state},
	}
	opener := *p
	if screen { // what would be written beside it is shown on it
		var level slog.Level
		_ = level.UnmarshalText([]byte(p.flags.logLevel)) // settleFlags has checked it
		opener.err, opener.sink = d.feed, d.feed.Handler(level)
	}
	var err error
	if d.s, err = opener.open(false); err != nil {
		return err
	}
	defer d.s.close()
	if err := opener.offerRequests(d.s); err != nil {
		return err
	}
	d.s.loads = append(d.s.loads, d.feed.Load, d.noteLoad)
	defer d.s.host.Observe(d.feed)()
	ready := make(chan struct{})
	if p.flags.http.Addr != "" {
		server := opener.newServer(d.s, ready, nil)
		defer server.Close()
		if d.web, err = opener.openHTTP(d.s, server); err != nil {
			return err
		}
	}
	return d.run(ctx, &opener, ready, screen)
}

func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && onTerminal(f)
}

// dev is a session for an author.
type dev struct {
	p     *program
	s     *session
	feed  *devui.Feed
	dir   string
	call  string // the tool that is called after each load; "" for none
	words []string
	lines *argumentLines
	web   *web // serves MCP; nil where nothing is served

	mu      sync.Mutex
	loaded  map[string]bool // the folders of plugins that were loaded and not yet followed up
	testing bool            // tests run after each load
	wake    chan struct{}   // holds one signal where loaded has something
}

// run loads, watches and shows until the user quits or ctx ends. opener says what is wrong
// while it loads.
func (d *dev) run(ctx context.Context, opener *program, ready chan struct{}, screen bool) error {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer func() { stop(); running.Wait() }()
	running.Go(func() {
		opener.follow(ctx, d.s, func() { close(ready) })
	})
	running.Go(func() {
		<-ready
		d.followUp(ctx)
	})
	if d.web != nil {
		d.feed.Say(devui.Strong, "MCP at "+d.web.url())
		running.Go(func() {
			if err := d.web.serve(ctx); err != nil {
				d.feed.Say(devui.Bad, fmt.Sprintf("nothing is served any more: %v", err))
			}
		})
	}
	var err error
	if screen {
		err = devui.Run(ctx, d.feed, d.p.in, d.p.out, d.screen())
	} else {
		err = devui.Print(ctx, d.feed, d.p.out)
	}
	if err != nil {
		return failed(err)
	}
	return nil
}

func (d *dev) screen() *devui.Options {
	address := ""
	if d.web != nil {
		address = d.web.url()
	}
	return &devui.Options{
		Title:   d.dir,
		Address: address,
		Tools:   d.tools,
		Arguments: func(tool string) string {
			if line := d.lines.get(tool); line != "" {
				return line
			}
			t, _ := d.s.host.Tool(tool)
			if t.Tool == nil {
				return ""
			}
			return sampleArguments(t.InputSchema)
		},
		Remember: func(tool, line string) {
			if err := d.lines.set(tool, line); err != nil {
				d.feed.Say(devui.Warning, fmt.Sprintf("the arguments are not remembered: %v", err))
			}
		},
		Call:         d.callLine,
		Test:         d.testAll,
		TestOnReload: d.setTesting,
		Testing:      d.testing,
	}
}

// tools gives the tools of the plugins that are developed.
func (d *dev) tools() []host.Registered {
	ours := map[string]bool{}
	for _, s := range d.s.loader.Status() {
		if d.ours(s.Dir) {
			ours[s.Name] = true
		}
	}
	return slices.DeleteFunc(d.s.host.Tools(), func(t host.Registered) bool {
		return t.Source != host.Plugin || !ours[t.Owner] || !t.Enabled
	})
}

// ours reports whether a plugin's folder is one of those that are developed.
func (d *dev) ours(folder string) bool {
	dir := filepath.Clean(d.dir)
	return folder == dir || filepath.Dir(folder) == dir
}

// noteLoad has a plugin that was loaded followed up.
func (d *dev) noteLoad(e loader.Event) {
	switch e.Kind {
	case loader.PluginLoaded, loader.PluginReloaded, loader.PluginRepaired:
	default:
		return
	}
	if !d.ours(e.Status.Dir) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loaded[e.Status.Dir] = true
	select {
	case d.wake <- struct{}{}:
	default: // it is set
	}
}

// followUp calls and tests what was loaded, until ctx ends.
func (d *dev) followUp(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
		}
		d.mu.Lock()
		dirs, testing := d.loaded, d.testing
		d.loaded = map[string]bool{}
		d.mu.Unlock()
		if d.call != "" {
			if err := d.callWords(ctx, d.call, d.words); err != nil {
				d.feed.Say(devui.Bad, fmt.Sprintf("%s was not called: %v", d.call, err))
			}
		}
		if !testing {
			continue
		}
		for _, s := range d.s.loader.Status() { // in their order
			if dirs[s.Dir] {
				d.testOne(ctx, s.Dir)
			}
		}
	}
}

// callLine calls a tool with a line of arguments.
func (d *dev) callLine(ctx context.Context, tool, line string) error {
	words := []string{line}
	switch {
	case strings.TrimSpace(line) == "":
		words = nil
	case !strings.HasPrefix(strings.TrimSpace(line), "{"):
		var err error
		if words, err = splitWords(line); err != nil {
			return err
		}
	}
	if slices.Contains(words, "-") {
		return errors.New("stdin has no arguments here")
	}
	return d.callWords(ctx, tool, words)
}

// callWords calls a tool. What comes of it is told by the host; the error says why there was
// no call.
func (d *dev) callWords(ctx context.Context, tool string, words []string) error {
	c := &host.Call{Tool: tool, Agent: host.Agent{ID: devui.Caller, Name: devui.Caller}}
	if t, ok := d.s.host.Tool(tool); ok {
		var err error
		if c.Args, err = d.p.arguments(ctx, t, words); err != nil {
			if f := (*failure)(nil); errors.As(err, &f) && f.hint != "" {
				err = fmt.Errorf("%w; %s", err, f.hint)
			}
			return err
		}
	}
	_, _ = d.s.host.Call(ctx, c) // the feed shows it
	return nil
}

func (d *dev) setTesting(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.testing = on
}

// testAll runs the tests of all plugins that are developed.
func (d *dev) testAll(ctx context.Context) error {
	for _, s := range d.s.loader.Status() {
		if d.ours(s.Dir) && ctx.Err() == nil {
			d.testOne(ctx, s.Dir)
		}
	}
	return nil
}

// testOne runs the tests of a plugin, and shows what comes of them.
func (d *dev) testOne(ctx context.Context, dir string) {
	results, err := d.p.testPlugin(ctx, dir, false)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		d.feed.Say(devui.Bad, fmt.Sprintf("testing %s: %v", dir, err))
	}
	switch {
	case len(results) == 0 && err != nil:
		return
	case len(results) == 0:
		d.feed.Say(devui.Warning, fmt.Sprintf("%s has no tests; a case is a file tests/NAME.json", dir))
		return
	}
	var report bytes.Buffer
	_ = printTests(&report, results) // a buffer takes all
	kind := devui.Good
	if slices.ContainsFunc(results, func(r testResult) bool { return !r.OK }) {
		kind = devui.Bad
	}
	d.feed.Say(kind, report.String())
}
