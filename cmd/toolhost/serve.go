package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/host/mcpserver"
	"github.com/toolhost/toolhost/internal/tracing"
)

func (p *program) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the tools to MCP clients, on stdio or HTTP",
		Long: `Serves the tools over MCP on stdin and stdout. A plugin that is saved, added or
removed is loaded anew while it serves; one that is broken leaves its last good
version in place. Nothing but protocol lines goes to
stdout, whatever a plugin prints; the log goes to stderr. It ends when stdin
closes, or at SIGINT or SIGTERM: running calls get 2 s.

With --http it serves many clients at /mcp instead, by all revisions of streamable
HTTP, and until it gets a signal. Clients must send a token: that of --token-file,
else one that is made at the first run and kept in the state folder. /healthz says
that it runs; /metrics has counters for Prometheus and wants the token too.`,
		Example: `  toolhost serve --plugins ./plugins --folder ~/notes
  claude mcp add toolhost -- toolhost serve --plugins ~/plugins --folder ~/notes
  toolhost serve --http 127.0.0.1:8080 --folder ~/notes`,
		Args: needsNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.serve(cmd.Context(), p.flags.folderNamed)
		},
	}
	p.addFlags(cmd)
	p.addHTTPFlags(cmd)
	cmd.Flags().IntVar(&p.flags.maxText, "max-text", 0, "cut texts of results that have more bytes, with a note where to read on (default: nothing is cut)")
	return cmd
}

func (p *program) serve(ctx context.Context, folderNamed bool) error {
	if n := p.flags.maxText; n != 0 && n < 1000 {
		return usagef("for example --max-text 20000", "--max-text %d is too little: a note where to read on takes some room itself", n)
	}
	if err := p.refuseWideFolder(folderNamed); err != nil {
		return err
	}
	s, err := p.open(false)
	if err != nil {
		return err
	}
	defer s.close()
	if err := p.offerRequests(s); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	ready, ended := make(chan struct{}), make(chan struct{})
	traces, err := tracing.FromEnvironment(ctx, s.host, &tracing.Options{Version: version(), Log: s.log})
	if err != nil {
		p.warnf("calls are not traced: %v", err)
	}
	defer p.sendTraces(traces)
	server := p.newServer(s, ready, traces)
	defer server.Close()
	web, err := p.openHTTP(s, server)
	if err != nil {
		stop()
		return err
	}
	go func() {
		defer close(ended)
		p.follow(ctx, s, func() {
			server.Publish() // before anything else takes the processors
			close(ready)
		})
	}()
	defer func() { stop(); <-ended }()
	<-s.hidden // while plugins are loaded
	if web != nil {
		return web.serve(ctx)
	}
	if err := server.ServeStdio(ctx, p.in, p.out); err != nil && !errors.Is(err, context.Canceled) {
		return failed(err)
	}
	return nil
}

// newServer makes the MCP server of a session. It is called before the first load, after which
// ready is closed.
func (p *program) newServer(s *session, ready <-chan struct{}, traces *tracing.Tracer) *mcpserver.Server {
	server := mcpserver.New(s.host, &mcpserver.Options{
		Name:    "toolhost",
		Version: version(),
		Log:     s.log,
		Ready:   ready,
		MaxText: p.flags.maxText,
		Around:  traces.Around,
		Instructions: "Tools for the files of one folder (folder_*), and tools of plugins. Paths are relative to that folder. " +
			"A failed result says what to do; arguments are checked against each tool's schema.",
	})
	s.loads = append(s.loads, announceLoads(server))
	return server
}

// freeAfter is how long after the first load the memory that it took is given back.
const freeAfter = 2 * time.Second

// listedAfter is how long after the first load those have the processors who wait for the list of
// tools. What changes meanwhile is seen afterwards.
const listedAfter = 20 * time.Millisecond

// follow loads every plugin, calls loaded, and loads anew what changes until ctx ends.
func (p *program) follow(ctx context.Context, s *session, loaded func()) {
	p.loadAll(ctx, s)
	loaded()
	select {
	case <-time.After(listedAfter):
	case <-ctx.Done():
	}
	p.announceUpdates(context.WithoutCancel(ctx), s) // also where the session was a short one
	if len(p.globsOf(p.flags.state, realPaths{})) > 0 {
		s.log.Warn("the state folder lies in the agent's folder: it is closed to every tool, and not to other programs of the agent",
			"state", p.flags.state, "folder", p.flags.folder, "hint", "name another one with --state")
	}
	// Loading took much that nothing needs any more. Whoever waits for the tools comes first.
	free := time.AfterFunc(freeAfter, debug.FreeOSMemory)
	defer free.Stop()
	switching := make(chan struct{})
	go func() { defer close(switching); s.off.watch(ctx) }()
	defer func() { <-switching }()
	_ = s.loader.Watch(ctx) // it ends with ctx, and for no other reason
}

// traceTimeout is how long the last traces may take to be sent.
const traceTimeout = time.Second

func (p *program) sendTraces(traces *tracing.Tracer) {
	ctx, cancel := context.WithTimeout(context.Background(), traceTimeout)
	defer cancel()
	if err := traces.Close(ctx); err != nil {
		p.warnf("%v", err)
	}
}

// refuseWideFolder refuses to open / or the home folder to agents by accident.
func (p *program) refuseWideFolder(named bool) error {
	if named {
		return nil
	}
	real, err := filepath.EvalSymlinks(p.flags.folder)
	if err != nil {
		return failed(err)
	}
	home, _ := os.UserHomeDir() // without one there is nothing to compare with
	if h, err := filepath.EvalSymlinks(home); err == nil {
		home = h
	}
	if real == home || filepath.Dir(real) == real {
		return usagef("name the agent's folder with --folder; --folder "+p.flags.folder+" if you mean this one",
			"the agent's folder would be %s", p.flags.folder)
	}
	return nil
}
