package mcpserver

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// headerExchange tells, in the headers that the SDK hands on with a request, which HTTP
// request brought it. Clients cannot set it: the handler overwrites it.
const headerExchange = "Toolhost-Exchange"

// exchange is an HTTP request under way.
//
// The SDK runs the requests of a session with the session's context, not with that of
// the HTTP request that brought them. A client that closed its connection could not be
// told from one that waits, and its calls would run on for nobody.
type exchange struct {
	handler *HTTPHandler
	ctx     context.Context // ends when the client is gone, its session is, or the server closes
	stop    context.CancelCauseFunc

	late   bool            // its session has ended
	posted bool            // it brought messages
	single bool            // it brought one request, and ends with its answer
	id     json.RawMessage // of that request
	news   bool            // it brought a notification, which has no answer
	batch  bool            // it brought a batch
	// refused are the answers to those messages of a batch that are not for the SDK.
	refused [][]byte
	// answered says that such a request has been served: what is written next is its answer.
	answered atomic.Bool

	// Guarded by the handler's mutex:
	session *httpSession // nil where there is none
	waits   bool         // for what the server says on its own
	opening bool         // it may open a session, and has not yet
}

// exchanges finds HTTP requests by what their headers say.
type exchanges struct {
	mu   sync.Mutex
	last uint64
	open map[string]*exchange
}

func (e *exchanges) add(x *exchange) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last++
	key := strconv.FormatUint(e.last, 10)
	if e.open == nil {
		e.open = map[string]*exchange{}
	}
	e.open[key] = x
	return key
}

func (e *exchanges) remove(key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.open, key)
}

func (e *exchanges) of(extra *mcp.RequestExtra) *exchange {
	if extra == nil {
		return nil
	}
	key := extra.Header.Get(headerExchange)
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open[key]
}

// follow lets a request end with the HTTP request that brought it. The function that it
// gives must be called when the request has been served: where it was cancelled, no
// answer follows, unless it is one of a batch.
func (s *Server) follow(ctx context.Context, method string, req mcp.Request) (context.Context, func()) {
	if strings.HasPrefix(method, "notifications/") {
		return ctx, func() {} // it was accepted, which ended the HTTP request
	}
	extra := req.GetExtra()
	x := s.exchanges.of(extra)
	if x == nil {
		if extra != nil && extra.Header.Get(headerExchange) != "" {
			// The HTTP request was over before this one began.
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(errClientGone)
			return ctx, func() {}
		}
		return ctx, func() {}
	}
	switch session, _ := req.GetSession().(*mcp.ServerSession); method {
	case methodInitialize:
		x.handler.opened(x, session)
	case methodSetLevel:
		x.handler.wantsLog(x)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(x.ctx, func() { cancel(context.Cause(x.ctx)) })
	return ctx, func() {
		if ctx.Err() != nil && extra.CloseSSEStream != nil && !x.batch { // others of a batch are still to be answered
			extra.CloseSSEStream(mcp.CloseSSEStreamArgs{})
		}
		stop()
		cancel(nil)
		x.answered.Store(x.single)
	}
}
