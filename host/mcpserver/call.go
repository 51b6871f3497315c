package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
)

// maxAgentName is how many characters of a client's name are kept: it goes into logs.
const maxAgentName = 100

// callResult is a result of tools/call. The content blocks are the host's own, so that
// every field of theirs reaches the client as it is.
type callResult struct {
	mcp.ResultBase
	ResultType string          `json:"resultType,omitempty"`
	Content    []host.Content  `json:"content"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
}

// toolCall is a request of tools/call, by whatever way it has come.
type toolCall struct {
	name    string
	args    json.RawMessage
	meta    mcp.Meta
	rawMeta json.RawMessage     // meta as it came; where the SDK has read it, as good as that
	header  http.Header         // of the HTTP request that brought it, if one did
	session *mcp.ServerSession  // nil where it has none
	agentID string              // "" where it has no session
	client  *mcp.Implementation // nil where it does not say who it is
	server  *mcp.Implementation // to be named in the answer; nil where that is left to the SDK
	// resultType of the answer: "" before the stateless revision.
	resultType string
	// notify sends what the handler says on its way.
	notify func(context.Context, *mcp.ProgressNotificationParams) error
	// size of the result in bytes, once there is one.
	size int
}

// sdkCall gives the call that a request of the SDK asks for.
func sdkCall(req *mcp.CallToolRequest) *toolCall {
	c := &toolCall{
		name: req.Params.Name, args: req.Params.Arguments, meta: req.Params.Meta,
		session: req.Session, agentID: req.Session.ID(), client: req.ClientInfo(), resultType: resultType(req), notify: req.Session.NotifyProgress,
	}
	if len(c.meta) > 0 {
		c.rawMeta = jsondoc.Marshal(c.meta)
	}
	if extra := req.GetExtra(); extra != nil {
		c.header = extra.Header
	}
	return c
}

// carried gives what a call carries by the names of a trace context.
func (c *toolCall) carried(name string) string {
	if value, ok := c.meta[name].(string); ok {
		return value
	}
	return c.header.Get(name)
}

// agent says who calls.
func (c *toolCall) agent() host.Agent {
	a := host.Agent{ID: c.agentID}
	if c.client != nil {
		a.Name = cut(c.client.Name, maxAgentName)
	}
	return a
}

// callTool answers tools/call.
func (s *Server) callTool(ctx context.Context, c *toolCall) (answer *callResult, err error) {
	s.startTool(ctx, c, func(ctx context.Context, call *host.Call, ended func(*host.Result, error)) {
		ended(s.host.Call(ctx, call))
	}, func(result *callResult, e error) { answer, err = result, e })
	return answer, err
}

// startTool has start make a call, and gives the answer to answered, once. Where that is
// [host.Host.Start] answered may be called on another goroutine, and before startTool returns.
func (s *Server) startTool(ctx context.Context, c *toolCall, start func(context.Context, *host.Call, func(*host.Result, error)), answered func(*callResult, error)) {
	var said *progress
	var once sync.Once
	answer := func(result *callResult, err error) {
		once.Do(func() {
			said.end()
			answered(result, err)
		})
	}
	// A panic must not end the process, nor leave the client without an answer.
	contain := func(part func()) {
		whole := false
		defer func() {
			if !whole {
				answer(nil, s.panicked(methodCall, recover()))
			}
		}()
		part()
		whole = true
	}
	contain(func() {
		s.awaitTool(ctx, c.name)
		call := &host.Call{Tool: c.name, Args: c.args, Agent: c.agent(), Meta: c.rawMeta}
		call.Complete = completer(c.session)
		if said = newProgress(ctx, c); said != nil {
			call.Progress = said.say
		}
		if c.session != nil {
			ctx = context.WithValue(ctx, sessionKey{}, c.session)
		}
		ctx, ended := s.around(ctx, call, c.carried)
		if err := s.enter(ctx); err != nil {
			ended(nil, err)
			answer(s.convert(ctx, c, nil, err))
			return
		}
		start(ctx, call, func(result *host.Result, err error) {
			contain(func() {
				result = s.leave(ctx, c, result)
				ended(result, err)
				answer(s.convert(ctx, c, result, err))
			})
		})
	})
}

// enter waits until it is the call's turn. Calls of a client that does not read do not start,
// since their results would pile up. Where it succeeds, leave must follow.
func (s *Server) enter(ctx context.Context) error {
	conn, _ := ctx.Value(connKey{}).(*lineConn)
	for {
		if err := s.limit.enter(ctx); err != nil {
			return err
		}
		room := conn.noRoom()
		if room == nil {
			return nil
		}
		s.limit.leave()
		select {
		case <-room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// leave gives the result of a call as it is to be sent, and its place to another call.
func (s *Server) leave(ctx context.Context, c *toolCall, result *host.Result) *host.Result {
	defer s.limit.leave()
	if result != nil {
		conn, _ := ctx.Value(connKey{}).(*lineConn)
		result = s.cutTexts(owner(ctx, c.agentID, c.resultType), result)
		c.size = result.Size()
		conn.expect(c.size) // before another call takes its place
	}
	return result
}

// convert gives the answer to a call of which came a result or an error.
func (s *Server) convert(ctx context.Context, c *toolCall, r *host.Result, err error) (*callResult, error) {
	var unknown *host.UnknownToolError
	switch {
	case errors.As(err, &unknown) && unknown.Plugin == "": // a tool that waits for consent is told of in a result, which models see
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	case err != nil && ctx.Err() != nil:
		return nil, err // the client has cancelled, or is gone
	case err != nil:
		r = host.ErrorResult(err.Error())
	}
	if len(r.Structured) > 0 && !json.Valid(r.Structured) {
		// It cannot be sent, and the client must not wait for ever.
		s.log.Error("the structured content of a result is not JSON", "tool", c.name)
		r = host.ErrorResult(fmt.Sprintf("internal error in tool %q: its structured content is not JSON", c.name))
	}
	result := &callResult{
		ResultType: c.resultType,
		Content:    r.Content,
		Structured: r.Structured,
		IsError:    r.IsError,
	}
	if len(r.Meta) > 0 {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(r.Meta, &fields); err != nil {
			s.log.Warn("the _meta of a result is no JSON object and was left out", "tool", c.name, "err", err)
		}
		// Only the server itself says who the server is.
		delete(fields, mcp.MetaKeyServerInfo)
		result.Meta = make(mcp.Meta, len(fields)+1)
		for name, value := range fields {
			result.Meta[name] = value
		}
	}
	if c.server != nil {
		if result.Meta == nil {
			result.Meta = mcp.Meta{}
		}
		result.Meta[mcp.MetaKeyServerInfo] = c.server
	}
	return result, nil
}

// cut gives at most the first n characters of s.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// maxWaiting is how many calls may wait for their turn.
const maxWaiting = 1024

// limit bounds how many calls run at once.
type limit struct {
	slots   chan struct{}
	waiting atomic.Int64
}

func newLimit(n int) *limit { return &limit{slots: make(chan struct{}, n)} }

// enter waits for the call's turn. Where it succeeds, leave must follow.
func (l *limit) enter(ctx context.Context) error {
	select {
	case l.slots <- struct{}{}:
		return nil
	default:
	}
	defer l.waiting.Add(-1)
	if l.waiting.Add(1) > maxWaiting {
		return fmt.Errorf("the tool host is busy: %d calls run and %d wait; call again later", cap(l.slots), maxWaiting)
	}
	select {
	case l.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *limit) leave() { <-l.slots }
