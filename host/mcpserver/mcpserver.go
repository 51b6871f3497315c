// Package mcpserver serves the tools of a [host.Host] to an agent over MCP, the
// Model Context Protocol.
//
//	s := mcpserver.New(h, &mcpserver.Options{Version: "1.2.3", Log: log})
//	defer s.Close()
//	err := s.ServeStdio(ctx, os.Stdin, os.Stdout)
//
// A [Server] speaks every protocol revision of the MCP SDK that it is built on, the
// ones with an initialize handshake (up to 2025-11-25) and the one without
// (2026-07-28), to several sessions at once. It offers tools and log messages; resources only
// to read on in results that were cut ([Options.MaxText]); no prompts and no tasks.
//
// What goes wrong with a call is a result with isError, which the model reads and can
// act on. Only an unknown tool is a JSON-RPC error.
package mcpserver

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
)

const (
	// readyWait is how long tools/list waits for the first load. Some clients give a
	// server 10 s to start.
	readyWait = 3 * time.Second

	// toolWait is how long a call waits for its tool during the first load. A plugin
	// that loads slowly delays those after it, and to agents a tool that is not there
	// yet would look like one that does not exist.
	toolWait = 30 * time.Second
	// toolLook is how often such a call looks for its tool.
	toolLook = 50 * time.Millisecond

	defaultMaxInFlight = 64

	// minMaxText is the least that Options.MaxText cuts at: a note takes some room itself.
	minMaxText = 1000
)

// Options of a server. The zero value is usable.
type Options struct {
	// Name is what the server calls itself; "" is "toolhost". Agents put it before the
	// names of the tools, so keep it short.
	Name string
	// Title is the name for people; it may be empty.
	Title string
	// Version of the program.
	Version string
	// Instructions are what agents tell the model about the server as a whole. Clients
	// cut them at about 2000 characters.
	Instructions string
	// Ready is closed when the tools have been loaded for the first time. Until then
	// tools/list waits, but not longer than 3 s, and so do calls of tools that are not
	// there, up to 30 s. nil: they are there from the start.
	Ready <-chan struct{}
	// MaxInFlight is how many calls run at once; 0 is 64. Further ones wait, and where
	// very many wait already, fail.
	MaxInFlight int
	// MaxText cuts text blocks of results that have more bytes, with a note that names a
	// resource where the client can read on; 0 cuts nothing. It is at least 1000.
	MaxText int
	// Around is called before each call and may change its context, as tracing does; the
	// function that it gives is told how the call ended. carried gives what the request
	// carries by a name, such as traceparent: in its _meta, or in an HTTP header. nil: nothing.
	Around func(ctx context.Context, call *host.Call, carried func(name string) string) (context.Context, func(*host.Result, error))
	// Log takes what goes wrong on the way, and what the MCP SDK says; nil drops it.
	Log *slog.Logger
}

// Server serves a host over MCP. It is safe for concurrent use.
type Server struct {
	host  *host.Host
	log   *slog.Logger
	ready <-chan struct{}
	mcp   *mcp.Server
	self  *mcp.Implementation // who the server is
	limit *limit

	around    func(context.Context, *host.Call, func(string) string) (context.Context, func(*host.Result, error))
	exchanges exchanges // the HTTP requests under way

	unobserve func()
	messages  *messages
	maxText   int // 0: texts are not cut
	kept      *keptTexts
	// changed says that the tools have changed since the first load.
	changed atomic.Bool

	mu     sync.Mutex // guards what follows, and the tool set of mcp
	listed map[string]*definition
	// generation counts the lists that were published. short holds, for the sessions
	// that were given one before the first load was done, which one that was.
	generation uint64
	short      map[mcp.Session]uint64

	timerMu sync.Mutex // guards what follows; never taken before mu
	timer   *time.Timer
	due     time.Time // when the waiting changes are published at the latest
	closed  bool
}

// New makes a server of h's tools, which follows their changes until Close. options
// may be nil. The host stays the caller's to close.
func New(h *host.Host, options *Options) *Server {
	var o Options
	if options != nil {
		o = *options
	}
	if o.Name == "" {
		o.Name = "toolhost"
	}
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = defaultMaxInFlight
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Around == nil {
		o.Around = func(ctx context.Context, _ *host.Call, _ func(string) string) (context.Context, func(*host.Result, error)) {
			return ctx, func(*host.Result, error) {}
		}
	}
	if o.Ready == nil {
		ready := make(chan struct{})
		close(ready)
		o.Ready = ready
	}
	s := &Server{
		host:     h,
		log:      o.Log,
		ready:    o.Ready,
		self:     &mcp.Implementation{Name: o.Name, Title: o.Title, Version: o.Version},
		limit:    newLimit(o.MaxInFlight),
		around:   o.Around,
		messages: newMessages(),
		kept:     newKeptTexts(),
		listed:   map[string]*definition{},
		short:    map[mcp.Session]uint64{},
	}
	//lint:ignore SA1019 clients of the revisions before 2026-07-28 show these messages
	capabilities := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}, Logging: &mcp.LoggingCapabilities{}}
	if o.MaxText > 0 {
		s.maxText = max(o.MaxText, minMaxText)
		capabilities.Resources = &mcp.ResourceCapabilities{}
	}
	s.mcp = mcp.NewServer(
		s.self,
		&mcp.ServerOptions{
			Instructions: o.Instructions,
			Logger:       slog.New(calmHandler{o.Log.Handler()}),
			Capabilities: capabilities,
		})
	s.mcp.AddReceivingMiddleware(s.receive)
	s.mcp.AddSendingMiddleware(s.send)
	if s.maxText > 0 {
		s.offerKept()
	}
	s.unobserve = h.Observe(s)
	if s.isReady() {
		s.publish()
	}
	return s
}

// MCP gives the SDK's server, for transports other than standard input and output.
// Its tools are the host's; add and remove them there. Middleware that is added to it does not
// see plain calls of tools over the transports of this package; what is to see all is
// [Options].Around.
func (s *Server) MCP() *mcp.Server { return s.mcp }

// Publish makes the list of the tools that there are. It is made when somebody asks otherwise:
// at the end of the first load, before [Options].Ready is closed, whoever waits is answered sooner.
func (s *Server) Publish() { s.publish() }

// Close stops following the host. It does not end sessions.
func (s *Server) Close() {
	s.unobserve()
	s.messages.close()
	s.timerMu.Lock()
	defer s.timerMu.Unlock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
}

func (s *Server) isReady() bool {
	select {
	case <-s.ready:
		return true
	default:
		return false
	}
}

// awaitReady waits for the first load, for readyWait, or for the end of ctx.
func (s *Server) awaitReady(ctx context.Context) {
	if s.isReady() {
		return
	}
	timer := time.NewTimer(readyWait)
	defer timer.Stop()
	select {
	case <-s.ready:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// awaitTool waits for a tool to be there, for the end of the first load, for toolWait,
// or for the end of ctx.
func (s *Server) awaitTool(ctx context.Context, name string) {
	if s.isReady() {
		return
	}
	timer, look := time.NewTimer(toolWait), time.NewTicker(toolLook)
	defer timer.Stop()
	defer look.Stop()
	for {
		if _, there := s.host.Tool(name); there {
			return
		}
		select {
		case <-look.C:
		case <-s.ready:
			return
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
