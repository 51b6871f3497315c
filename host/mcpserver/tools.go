package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
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
	known bool            // to the SDK, too
	err   error           // why it cannot be listed
}

// define makes the definition of a tool. It is written here and not by the SDK, whose
// annotations state readOnlyHint and idempotentHint even where the tool does not; and member by
// member, since whoever starts a client waits for a hundred of them.
func (s *Server) define(t host.Registered) (*definition, error) {
	d := &definition{tool: t.Tool, owner: t.Owner, input: t.Input.Portable()}
	var b bytes.Buffer
	b.Grow(2*len(t.Description) + 2*len(d.input) + 256)
	b.WriteString(`{"name":`)
	b.Write(jsondoc.Marshal(t.Name))
	if t.Title != "" {
		b.WriteString(`,"title":`)
		b.Write(jsondoc.Marshal(cutMarked(t.Title, maxTitle)))
	}
	b.WriteString(`,"description":`)
	b.Write(jsondoc.Marshal(cutMarked(t.Description, maxDescription)))
	b.WriteString(`,"inputSchema":`)
	if err := json.Compact(&b, d.input); err != nil { // a message is one line
		return d, err
	}
	if t.Output != nil {
		b.WriteString(`,"outputSchema":`)
		if err := json.Compact(&b, t.Output.Portable()); err != nil {
			return d, err
		}
	}
	if t.Annotations != nil && *t.Annotations != (host.Annotations{}) {
		b.WriteString(`,"annotations":`)
		b.Write(jsondoc.Marshal(t.Annotations))
	}
	b.WriteString(`,"_meta":{"anthropic/maxResultSizeChars":`)
	b.WriteString(strconv.Itoa(min(maxWhole, s.host.Limits().Result)))
	if t.Source >= host.Plugin {
		b.WriteString(`,"toolhost/plugin":`)
		b.Write(jsondoc.Marshal(t.Owner))
	}
	b.WriteString("}}")
	d.raw = b.Bytes()
	return d, nil
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

// publish brings what is listed up to date. Clients are notified only where something differs.
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
			s.mcp.RemoveTools(t.Name) // if an older one is there
		}
	}
	for name := range s.listed {
		if !offered[name] {
			delete(s.listed, name)
			changed = true
			s.mcp.RemoveTools(name) // if it is there
		}
	}
	if changed {
		s.generation++
		s.mcp.AddTool(&mcp.Tool{Name: changeMark, InputSchema: anyObject}, uncalled) // each time the clients are notified
	}
}

// defineAll makes the definitions of tools and has the SDK look at those that differ from what
// is listed, on all processors: whoever has just started a client waits for the first list.
// s.mu is held.
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

// isPlain reports whether a tool is listed, and nothing of it concerns the SDK.
func (s *Server) isPlain(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.listed[name]
	return d != nil && d.err == nil && !d.known
}

// changeMark is a tool of the SDK's that stands for the list: no tool of the host can have the
// name, and it is never listed.
const changeMark = "toolhost.list"

// anyObject is a schema with nothing in it that the SDK goes by.
var anyObject = json.RawMessage(`{"type":"object"}`)

// add puts a tool whose arguments may be headers, too, into the SDK's tool set, since the SDK
// checks these before a call gets here. It panics where it does not like a schema. Others are
// not in that set: it parses each schema a few times, and what is listed is the definition's own text.
func (s *Server) add(d *definition) (err error) {
	spelled := bytes.Contains(d.input, []byte(`\u`)) // by it any letter can be written
	if !spelled && !bytes.Contains(bytes.ToLower(d.input), []byte("x-mcp-header")) {
		s.mcp.RemoveTools(d.tool.Name) // if it was one of them
		return nil
	}
	d.known = true
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	s.mcp.AddTool(&mcp.Tool{Name: d.tool.Name, InputSchema: d.input}, uncalled)
	return nil
}

// uncalled is the SDK's handler of all tools. The receiving middleware carries all calls to the
// host, so that a call never depends on whether the change of a tool has been published already.
func uncalled(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, internalError()
}

// listResult is a result of tools/list.
type listResult struct {
	mcp.ResultBase
	mcp.Cacheable
	ResultType string            `json:"resultType,omitempty"`
	Tools      []json.RawMessage `json:"tools"`
}

// listTools answers tools/list, with all tools: widely used agents read the first page only. Of
// the SDK's answer it takes what is said about keeping it; a page that there is not is its error.
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
	s.mu.Lock()
	defer s.mu.Unlock()
	result := &listResult{Cacheable: page.Cacheable, ResultType: resultType(req), Tools: make([]json.RawMessage, 0, len(s.listed))}
	for _, name := range slices.Sorted(maps.Keys(s.listed)) {
		if d := s.listed[name]; d.err == nil {
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
