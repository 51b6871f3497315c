package mounted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/lazyregexp"
	"github.com/toolhost/toolhost/internal/schema"
)

const (
	// startLimit is how long a server may take until its tools are known.
	startLimit = 30 * time.Second
	// longLife is how long a server must have lived for its end not to count with those before.
	longLife = time.Minute
	// callLimit is how long a call may take, where the host allows it.
	callLimit = 2 * time.Minute
	// refreshRest is the least time between two looks at a server's tools.
	refreshRest = time.Second
	maxPages    = 100
	maxTools    = 2000
	maxProblems = 20
)

var errBrokenOff = errors.New("it broke off the connection")

// server is one mounted server.
type server struct {
	host                          *host.Host
	name, prefix, folder, version string
	config                        Config
	log                           *slog.Logger
	tried                         chan struct{} // closed when it has been started once, or failed to
	triedOnce                     sync.Once

	mu       sync.Mutex // guards what follows
	session  *mcp.ClientSession
	gone     chan struct{} // closed once it is known why the session has ended
	err      error         // why there is no session
	told     error         // what of that agents are told
	problems []string
	tools    int
	progress map[string]func(string) // of the calls that run, by their tokens
}

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{Name: s.name, State: "starting", Tools: s.tools}
	told := s.problems
	switch {
	case s.config.Disabled:
		st.State = "disabled"
	case s.session != nil:
		st.State = "ready"
	case s.err != nil:
		st.State, told = "failed", []string{s.err.Error()}
	}
	st.Err = strings.Join(slices.Concat(told, s.config.misspelt), "; ")
	return st
}

// run keeps the server running until ctx ends.
func (s *server) run(ctx context.Context) {
	defer s.triedOnce.Do(func() { close(s.tried) })
	for failures := 0; ; {
		began := time.Now()
		err := s.config.hide(s.live(ctx))
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > longLife {
			failures = 0
		}
		failures++
		s.mu.Lock()
		s.told = err
		if s.session != nil {
			close(s.gone)
			if e, ok := errors.AsType[*ending](err); ok {
				s.told = e.how // what it said last may be of any agent's call; the log has it
			}
		}
		s.session, s.err = nil, err
		s.mu.Unlock()
		s.triedOnce.Do(func() { close(s.tried) })
		again := backoff(failures)
		s.log.Warn("an MCP server is not there", "err", err, "again", again)
		timer := time.NewTimer(again)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// live starts the server and returns when it has ended, with the reason.
func (s *server) live(ctx context.Context) error {
	c, err := s.config.expanded()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := time.AfterFunc(startLimit, cancel)
	defer late.Stop()

	var transport mcp.Transport
	ended := func() error { return errBrokenOff }
	if c.Command != "" {
		p, err := startProgram(ctx, c, s.folder, s.log)
		if err != nil {
			return err
		}
		defer p.Close()
		p.gate.progress = s.progressed
		transport, ended = p, p.ended
		defer context.AfterFunc(ctx, func() { _ = p.Close() })()
	} else {
		t, done, err := httpTransport(c, s.progressed)
		if err != nil {
			return err
		}
		defer done()
		transport = t
	}
	changed := make(chan struct{}, 1)
	client := mcp.NewClient(&mcp.Implementation{Name: "toolhost", Version: s.version}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			select {
			case changed <- struct{}{}:
			default:
			}
		},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return s.startError(ctx, err, ended)
	}
	defer func() { cancel(); _ = session.Close() }()
	if err := s.refresh(ctx, session); err != nil {
		return s.startError(ctx, err, ended)
	}
	late.Stop()
	s.mu.Lock()
	s.session, s.gone, s.err = session, make(chan struct{}), nil
	s.mu.Unlock()
	s.triedOnce.Do(func() { close(s.tried) })
	s.log.Info("an MCP server is there", "tools", s.status().Tools)

	over := make(chan error, 1)
	go func() { over <- session.Wait() }()
	defer func() { cancel(); _ = session.Close(); <-over }()
	for {
		select {
		case <-changed:
			refreshing, done := context.WithTimeout(ctx, startLimit)
			if err := s.refresh(refreshing, session); err != nil && ctx.Err() == nil {
				s.log.Warn("an MCP server does not say which tools it has now", "err", s.config.hide(err))
			}
			done()
			rest(ctx, refreshRest)
		case err := <-over:
			over <- nil
			if err == nil || isEnd(err) {
				err = ended()
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// startError says why a server did not start.
func (s *server) startError(ctx context.Context, err error, ended func() error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("it was not ready within %s", startLimit)
	}
	switch {
	case s.config.Command == "":
		return fmt.Errorf("it does not begin: %w", plain(err))
	case isEnd(err):
		return fmt.Errorf("it does not begin: %w", ended())
	}
	return fmt.Errorf("it does not begin (%w): %w", plain(err), ended())
}

// isEnd reports whether an error says no more than that the connection has ended.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed)
}

// plain takes from an error what the SDK says of its own doings.
func plain(err error) error {
	var web *url.Error
	if errors.As(err, &web) {
		return web
	}
	var answered *jsonrpc.Error
	if next := errors.Unwrap(err); next != nil && errors.As(err, &answered) && error(answered) == next {
		return fmt.Errorf("it answers with an error: %s", answered.Message)
	}
	return errors.New(doing.ReplaceAllString(err.Error(), ""))
}

var doing = lazyregexp.New(`^(?:(?:calling|sending) "[a-z/]+": )+`)

// refresh asks the server for its tools and puts them in the place of those before.
func (s *server) refresh(ctx context.Context, session *mcp.ClientSession) error {
	var found []*mcp.Tool
	seen := map[string]bool{}
	var problems []string
	problem := func(text string) {
		if len(problems) < maxProblems {
			problems = append(problems, text)
		}
	}
	params := &mcp.ListToolsParams{}
	for range maxPages {
		page, err := session.ListTools(ctx, params)
		if err != nil {
			return err
		}
		for _, t := range page.Tools {
			switch {
			case t == nil || t.Name == "":
			case seen[t.Name]:
				problem(fmt.Sprintf("its tool %.100q is there twice; the first one counts", t.Name))
			default:
				seen[t.Name] = true
				found = append(found, t)
			}
		}
		if page.NextCursor == "" || len(found) > maxTools {
			break
		}
		params.Cursor = page.NextCursor
	}
	if len(found) > maxTools {
		problem(fmt.Sprintf("it has more than %d tools; the rest is left out", maxTools))
		found = found[:maxTools]
	}
	plain := make([]string, len(found))
	for i, t := range found {
		plain[i] = t.Name
	}
	var tools []*host.Tool
	for i, name := range names(s.prefix, plain) {
		t, err := s.tool(name, found[i])
		if err != nil {
			problem(fmt.Sprintf("its tool %.100q is left out: %v", found[i].Name, err))
			continue
		}
		tools = append(tools, t)
	}
	for _, p := range problems {
		s.log.Warn("the list of an MCP server's tools has a mistake", "err", p)
	}
	if _, err := s.host.Replace(owner(s.name), host.HostTool, tools); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools, s.problems = len(tools), problems
	return nil
}

// tool makes a tool of the host of a server's.
func (s *server) tool(name string, t *mcp.Tool) (*host.Tool, error) {
	input, err := objectSchema(t.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("its input schema: %w", err)
	}
	out := &host.Tool{
		Name: name, Title: t.Title, Description: strings.TrimSpace(t.Description), InputSchema: input.Public(), Input: input,
		Timeout: min(callLimit, s.host.Limits().MaxTimeout), Runtime: "mcp", Handler: &handler{s, t.Name},
	}
	if output, err := objectSchema(t.OutputSchema); err == nil { // any other is of no use to clients
		out.Output, out.OutputSchema = output, output.Public()
	}
	if out.Description == "" {
		out.Description = fmt.Sprintf("The tool %q of the MCP server %q.", t.Name, s.name)
	}
	if a := t.Annotations; a != nil {
		if out.Title == "" {
			out.Title = a.Title // where the oldest revisions have it
		}
		out.Annotations = &host.Annotations{DestructiveHint: a.DestructiveHint, OpenWorldHint: a.OpenWorldHint}
		// The SDK does not say whether the server stated these two.
		if a.ReadOnlyHint {
			out.Annotations.ReadOnlyHint = &a.ReadOnlyHint
		}
		if a.IdempotentHint {
			out.Annotations.IdempotentHint = &a.IdempotentHint
		}
	}
	return out, nil
}

// objectSchema compiles the input or output schema of a tool. One that does not say so is of an object.
func objectSchema(from any) (*schema.Schema, error) {
	fields, ok := from.(map[string]any)
	if !ok {
		return nil, errors.New("it is no object")
	}
	if _, ok := fields["type"]; !ok {
		fields["type"] = "object"
	}
	if fields["type"] != "object" {
		return nil, fmt.Errorf("it is of type %v, not object", fields["type"])
	}
	return schema.Compile(jsondoc.Marshal(fields))
}

// progressed takes what a server says on the way of a call.
func (s *server) progressed(params json.RawMessage) {
	var p struct {
		ProgressToken   string
		Progress, Total float64
		Message         string
	}
	if json.Unmarshal(params, &p) != nil {
		return // it is of no call of this host: their tokens are texts
	}
	s.mu.Lock()
	say := s.progress[p.ProgressToken]
	s.mu.Unlock()
	if say == nil {
		return
	}
	switch {
	case p.Message != "":
	case p.Total > 0:
		p.Message = fmt.Sprintf("%g of %g", p.Progress, p.Total)
	default:
		p.Message = fmt.Sprintf("%g", p.Progress)
	}
	say(p.Message)
}

// handler carries the calls of one tool to its server.
type handler struct {
	server *server
	tool   string // as the server calls it
}

var _ host.Handler = (*handler)(nil)

// Handle implements [host.Handler].
func (h *handler) Handle(ctx context.Context, call *host.Call) (*host.Result, error) {
	s := h.server
	meta, err := meta(call.Meta, s.host.Limits().Arguments)
	if err != nil {
		return nil, err
	}
	select {
	case <-s.tried:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	session, gone, why := s.session, s.gone, s.told
	if session != nil {
		s.progress[call.ID] = call.Progress
	}
	s.mu.Unlock()
	if session == nil {
		return nil, s.absent(why)
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.progress, call.ID)
	}()
	params := &mcp.CallToolParams{Meta: meta, Name: h.tool, Arguments: call.Args}
	params.SetProgressToken(call.ID)
	answer, err := session.CallTool(ctx, params)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		switch _, ended := errors.AsType[*ending](err); {
		case !ended && !isEnd(err):
		case s.config.Command == "": // the session may well go on
			err = errBrokenOff
		default:
			err = s.why(ctx, gone)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, s.absent(err)
		}
		return nil, fmt.Errorf("the MCP server %q: %w", s.name, s.config.hide(plain(err)))
	}
	return result(answer)
}

// absent is what a call is told that cannot be carried to the server, or was lost with it.
func (s *server) absent(why error) error {
	return fmt.Errorf("the MCP server %q is not there: %w; it is started again in a moment", s.name, why)
}

// why gives the reason for which a session has ended, which is known a moment after its end.
func (s *server) why(ctx context.Context, gone <-chan struct{}) error {
	timer := time.NewTimer(2 * endGrace) // to learn how it ended, and to end what it has started
	defer timer.Stop()
	select {
	case <-gone:
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.told
	case <-timer.C:
	case <-ctx.Done():
	}
	return errBrokenOff
}

// result gives a server's result as the host's.
func result(answer *mcp.CallToolResult) (*host.Result, error) {
	if answer.NeedsInput() {
		return nil, errors.New("it asks for what this host does not offer")
	}
	out := &host.Result{IsError: answer.IsError}
	whole, ok := answer.StructuredContent.(string) // see keepWhole
	if !ok {
		return out, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(whole), &fields); err != nil {
		return nil, fmt.Errorf("reading the result: %w", err)
	}
	structured := fields["structuredContent"]
	out.Structured, out.Meta = object(structured), object(fields["_meta"])
	var blocks []json.RawMessage
	if raw := fields["content"]; raw != nil {
		if err := json.Unmarshal(raw, &blocks); err != nil {
			return nil, fmt.Errorf("reading the result: %w", err)
		}
	}
	for _, block := range blocks {
		var c host.Content
		if c.UnmarshalJSON(block) != nil {
			c = host.Text(string(block)) // nothing is dropped silently
		}
		out.Content = append(out.Content, c)
	}
	if len(out.Content) == 0 && structured != nil && string(structured) != "null" {
		out.Content = []host.Content{host.Text(string(structured))}
	}
	return out, nil
}

// object gives a JSON object, nil for anything else.
func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	return raw
}
