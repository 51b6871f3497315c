package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
)

const (
	// publishQuiet and publishLimit make one notification of a burst of changes: it is
	// sent when nothing has changed for publishQuiet, or publishLimit after the first.
	publishQuiet = 20 * time.Millisecond
	publishLimit = 200 * time.Millisecond

	listChanged = "notifications/tools/list_changed"

	// maxDescription and maxTitle are how many characters of a tool's description and title
	// are listed. Clients cut descriptions there, without a word.
	maxDescription = 2048
	maxTitle       = 200

	// maxWhole is up to how many characters of a result a client is asked to show the model
	// whole. Some save results of more than a tenth of that to a file and show its beginning.
	maxWhole = 200_000
)

// definition is a tool as tools/list shows it.
type definition struct {
	tool  *host.Tool
	owner string
	raw   json.RawMessage // the tool's object in tools/list
	input json.RawMessage // its schema
	same  bool            // it says what the one that is listed does
	err   error           // why it cannot be listed
}

// define makes the definition of a tool. It is written here and not by the SDK, whose
// annotations state readOnlyHint and idempotentHint even where the tool does not.
func (s *Server) define(t host.Registered) (*definition, error) {
	wire := struct {
		Name         string            `json:"name"`
		Title        string            `json:"title,omitempty"`
		Description  string            `json:"description"`
		InputSchema  json.RawMessage   `json:"inputSchema"`
		OutputSchema json.RawMessage   `json:"outputSchema,omitempty"`
		Annotations  *host.Annotations `json:"annotations,omitempty"`
		Meta         map[string]any    `json:"_meta,omitempty"`
	}{
		Name: t.Name, Title: cutMarked(t.Title, maxTitle), Description: cutMarked(t.Description, maxDescription),
		InputSchema: t.Input.Portable(),
	}
	if t.Output != nil {
		wire.OutputSchema = t.Output.Portable()
	}
	if t.Annotations != nil && *t.Annotations != (host.Annotations{}) {
		wire.Annotations = t.Annotations
	}
	wire.Meta = map[string]any{"anthropic/maxResultSizeChars": min(maxWhole, s.host.Limits().Result)}
	if t.Source >= host.Plugin {
		wire.Meta["toolhost/plugin"] = t.Owner
	}
	raw, err := json.Marshal(wire)
	return &definition{tool: t.Tool, owner: t.Owner, raw: raw, input: wire.InputSchema}, err
}

// cutMarked gives s, or its beginning with a mark that it goes on, of n characters.
func cutMarked(s string, n int) string {
	const mark = " […]"
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	return cut(s, n-utf8.RuneCountInString(mark)) + mark
}

// Observe implements [host.Observer].
func (s *Server) Observe(e host.Event) {
	if e.Kind != host.ToolsChanged || !s.isReady() {
		return // the first load is published when it is done, or when somebody asks
	}
	s.changed.Store(true)
	s.timerMu.Lock()
	defer s.timerMu.Unlock()
	switch now := time.Now(); {
	case s.closed:
	case s.timer == nil:
		s.due = now.Add(publishLimit)
		s.timer = time.AfterFunc(publishQuiet, s.publishWaiting)
	default:
		s.timer.Reset(min(publishQuiet, max(0, s.due.Sub(now))))
	}
}

var _ host.Observer = (*Server)(nil)

func (s *Server) publishWaiting() {
	s.timerMu.Lock()
	s.timer = nil
	s.timerMu.Unlock()
	s.publish()
}

// publish brings the SDK's tool set up to date. Only what differs is touched, since
// every change there, even to the same, notifies the clients.
func (s *Server) publish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := false
	offered := map[string]bool{}
	var others []host.Registered // than those that are listed
	for _, t := range s.host.Tools() {
		if !t.Enabled {
			continue
		}
		offered[t.Name] = true
		old := s.listed[t.Name]
		if old == nil || old.tool != t.Tool || old.owner != t.Owner {
			others = append(others, t)
		}
	}
	for i, d := range s.defineAll(others) {
		t := others[i]
		if old := s.listed[t.Name]; d.same {
			old.tool, old.owner = t.Tool, t.Owner
			continue
		}
		s.listed[t.Name] = d
		changed = true
		if d.err != nil {
			s.log.Warn("the tool cannot be listed over MCP", "plugin", t.Owner, "tool", t.Name, "err", d.err)
			s.mcp.RemoveTools(t.Name)
		}
	}
	for name := range s.listed {
		if !offered[name] {
			delete(s.listed, name)
			changed = true
			s.mcp.RemoveTools(name)
		}
	}
	if changed {
		s.generation++
	}
}

// defineAll makes the definitions of tools and puts those that differ from what is listed into
// the SDK's tool set, on all processors: whoever has just started a client waits for the first
// list. s.mu is held.
func (s *Server) defineAll(tools []host.Registered) []*definition {
	made := make([]*definition, len(tools))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(tools)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(tools)); i = next.Add(1) - 1 {
				made[i] = s.defineOne(tools[i])
			}
		})
	}
	workers.Wait()
	return made
}

// defineOne is defineAll for one tool. A panic would not be that of the request that asks.
func (s *Server) defineOne(t host.Registered) (d *definition) {
	defer func() {
		if v := recover(); v != nil {
			d = &definition{tool: t.Tool, owner: t.Owner, err: fmt.Errorf("%v", v)}
		}
	}()
	d, err := s.define(t)
	old := s.listed[t.Name]
	switch {
	case err != nil:
		d.err = err
	case old != nil && bytes.Equal(old.raw, d.raw):
		d.same = true
	default:
		d.err = s.add(d)
	}
	return d
}

// anyObject is what the SDK is told of schemas with nothing in them that it goes by. It parses
// them a few times, and what is listed is the definition's own text.
var anyObject = json.RawMessage(`{"type":"object"}`)

// add puts a tool into the SDK's tool set, which panics where it does not like a schema.
func (s *Server) add(d *definition) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	tool := &mcp.Tool{Name: d.tool.Name, InputSchema: anyObject}
	if bytes.Contains(bytes.ToLower(d.input), []byte("x-mcp-header")) || bytes.IndexByte(d.input, '\\') >= 0 {
		tool.InputSchema = d.input // which may name arguments that are headers, too
	}
	s.mcp.AddTool(tool, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		// The receiving middleware carries all calls to the host, so that a call never
		// depends on whether the change of a tool has been published already.
		return nil, internalError()
	})
	return nil
}

// listResult is a result of tools/list.
type listResult struct {
	mcp.ResultBase
	mcp.Cacheable
	ResultType string            `json:"resultType,omitempty"`
	NextCursor string            `json:"nextCursor,omitempty"`
	Tools      []json.RawMessage `json:"tools"`
}

// listTools answers tools/list.
func (s *Server) listTools(ctx context.Context, next mcp.MethodHandler, method string, req mcp.Request) (mcp.Result, error) {
	s.awaitReady(ctx)
	ready := s.isReady()
	s.publish()
	if !ready {
		s.noteShort(req.GetSession())
	}
	res, err := next(ctx, method, req)
	if err != nil {
		return nil, err
	}
	page, ok := res.(*mcp.ListToolsResult)
	if !ok || page == nil {
		return nil, internalError()
	}
	result := &listResult{
		Cacheable:  page.Cacheable,
		ResultType: resultType(req),
		NextCursor: page.NextCursor,
		Tools:      make([]json.RawMessage, 0, len(page.Tools)),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range page.Tools {
		if d := s.listed[t.Name]; d != nil && d.err == nil {
			result.Tools = append(result.Tools, d.raw)
		}
	}
	return result, nil
}

// send is the middleware for what the SDK sends on its own. It holds back list_changed
// from sessions to which it says nothing: before the handshake, and where the change is
// the first load, of which the session has not seen a half.
func (s *Server) send(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == listChanged && !s.concerns(req.GetSession()) {
			return nil, nil
		}
		return next(ctx, method, req)
	}
}

func (s *Server) concerns(session mcp.Session) bool {
	if ss, ok := session.(*mcp.ServerSession); !ok || ss.InitializeParams() == nil {
		return false
	}
	session = shortKey(session)
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, short := s.short[session]
	if !s.changed.Load() && (!short || seen == s.generation) {
		return false
	}
	if session != nil { // others may be told too
		delete(s.short, session)
	}
	return true
}

// noteShort notes that a session is given a list before the first load is done.
func (s *Server) noteShort(session mcp.Session) {
	session = shortKey(session)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, noted := s.short[session]; !noted || session != nil { // of those that share a key the first one misses the most
		s.short[session] = s.generation
	}
}

// shortKey gives what short knows a session by. Over HTTP every request of the stateless
// revision is a session of its own, and so is the subscription that hears of changes: they
// share the key nil.
func shortKey(session mcp.Session) mcp.Session {
	if ss, ok := session.(*mcp.ServerSession); ok {
		if p := ss.InitializeParams(); p != nil && p.ProtocolVersion >= statelessRevision {
			return nil
		}
	}
	return session
}

func (s *Server) forget(session mcp.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.short, session)
}
