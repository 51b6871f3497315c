package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

const (
	// bodyOverhead is what the body of a request may hold beside the arguments of a call.
	bodyOverhead = 1 << 20
	// maxBodies bounds what the bodies of all requests under way hold together, in bytes.
	maxBodies = 256 << 20
	// bodyAtOnce is how much room is made for a body before any of it has come.
	bodyAtOnce = 64 << 10
	// bodyTime is how long a client may take to send a body.
	bodyTime = 30 * time.Second

	defaultMaxSessions    = 1000
	defaultSessionTimeout = 30 * time.Minute
)

const (
	headerRevision = "Mcp-Protocol-Version"
	headerSession  = "Mcp-Session-Id"
)

var (
	errClosing    = errors.New("the server is closing")
	errClientGone = errors.New("the client is gone")
	errEnded      = errors.New("the session has been ended")
)

// HTTPOptions of a handler. The zero value serves whoever comes from this machine.
type HTTPOptions struct {
	// Token is what every request must carry as "Authorization: Bearer TOKEN"; "" asks
	// for none.
	Token string
	// Hosts are the names and addresses, without a port, by which clients may reach the
	// server beside those of this machine itself (localhost, 127.0.0.1, ::1): a request
	// with another Host or Origin is refused, so that no web page can reach the server
	// through a name that it controls.
	Hosts []string
	// MaxBody is how large the body of a request may be, in bytes; 0 is the host's limit
	// of arguments and 1 MiB.
	MaxBody int64
	// MaxSessions is how many sessions may be open at once; 0 is 1000. Beyond it the
	// session that has been idle for the longest is ended.
	MaxSessions int
	// SessionTimeout is how long a session may be idle, which is without a request or a
	// stream; 0 is 30 minutes. The stateless revision has no sessions.
	SessionTimeout time.Duration
}

// HTTPHandler serves MCP over streamable HTTP. Make it with [Server.Handler]. It serves
// every path that it is mounted on, and every protocol revision from 2025-03-26 on.
//
// A client that closes its connection cancels the call that it has made with it.
type HTTPHandler struct {
	server  *Server
	options HTTPOptions
	guard   guard
	// One of the two serves a request, by the revision that it names.
	stateful, stateless http.Handler

	mu       sync.Mutex // guards what follows
	closing  bool
	open     map[*exchange]struct{}
	emptied  chan struct{} // closed when closing and nothing is open
	sessions map[string]*httpSession
	opening  int // sessions that are about to open
	bodies   int64
	waiters  sync.WaitGroup // the goroutines of sessions
}

var _ http.Handler = (*HTTPHandler)(nil)

// Handler gives the server as an HTTP handler. options may be nil. Several handlers may
// serve at once. Close the handler before the http.Server is shut down: its streams end
// with it only.
//
// The http.Server should limit how long a header may take to come (ReadHeaderTimeout)
// and how large it may be, and must set no WriteTimeout, since answers are streams.
func (s *Server) Handler(options *HTTPOptions) *HTTPHandler {
	h := &HTTPHandler{server: s, open: map[*exchange]struct{}{}, emptied: make(chan struct{}), sessions: map[string]*httpSession{}}
	if options != nil {
		h.options = *options
	}
	o := &h.options
	if o.MaxBody <= 0 {
		o.MaxBody = int64(s.host.Limits().Arguments) + bodyOverhead
	}
	if o.MaxSessions <= 0 {
		o.MaxSessions = defaultMaxSessions
	}
	if o.SessionTimeout <= 0 {
		o.SessionTimeout = defaultSessionTimeout
	}
	h.guard = newGuard(o.Token, o.Hosts)
	get := func(*http.Request) *mcp.Server { return s.mcp }
	// The guard has looked at the host already, and the handler has read the body.
	h.stateful = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		DisableLocalhostProtection: true, MaxRequestBodyBytes: -1,
	})
	h.stateless = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		DisableLocalhostProtection: true, MaxRequestBodyBytes: -1,
		Stateless: true, PropagateRequestCancellation: true,
	})
	return h
}

// ServeHTTP implements [http.Handler].
func (h *HTTPHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler {
				panic(v)
			}
			h.server.log.Error("serving an HTTP request panicked", "err", fmt.Sprint(v), "stack", string(debug.Stack()))
			refuse(w, http.StatusInternalServerError, nil, jsonrpc.CodeInternalError, "internal error in the tool host; its log says more")
		}
	}()
	if wrong := h.guard.check(w, r); wrong != nil {
		refuse(w, wrong.status, nil, jsonrpc.CodeInvalidRequest, wrong.text)
		return
	}
	x, err := h.begin(r)
	if err != nil {
		w.Header().Set("Connection", "close")
		refuse(w, http.StatusServiceUnavailable, nil, jsonrpc.CodeInternalError, err.Error())
		return
	}
	defer h.end(x)
	switch {
	case r.Method == http.MethodPost:
		h.post(w, r, x)
	case x.late:
		refuseLate(w, nil)
	case r.Method == http.MethodDelete:
		h.cancel(func(o *exchange) bool { return o != x && o.session != nil && o.session == x.session }, errEnded)
		h.pass(w, r, x)
	default:
		h.pass(w, r, x) // it says what is allowed
	}
}

// post serves a message of a client.
func (h *HTTPHandler) post(w http.ResponseWriter, r *http.Request, x *exchange) {
	x.posted = true
	body, err := h.readBody(w, r)
	if err != nil {
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			w.Header().Set("Connection", "close")
			refuse(w, http.StatusRequestEntityTooLarge, nil, jsonrpc.CodeInvalidRequest,
				fmt.Sprintf("the body is larger than %d bytes", h.options.MaxBody))
		case errors.Is(err, errBusy):
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusServiceUnavailable, nil, jsonrpc.CodeInternalError, err.Error())
		default:
			refuse(w, http.StatusBadRequest, nil, jsonrpc.CodeParseError, "the body did not arrive whole")
		}
		return
	}
	size := int64(len(body))
	h.hold(size)
	defer h.hold(-size)
	if x.batch = isBatch(body); x.batch {
		if x.late {
			refuseLate(w, nil)
			return
		}
		rest, wrong := h.sortBatch(r, x, body)
		if wrong != nil {
			refuse(w, http.StatusBadRequest, nil, wrong.Code, wrong.Message)
			return
		}
		if len(rest) == 0 {
			h.serveRefused(w, x)
			return
		}
		body = jsondoc.Marshal(rest)
	} else {
		msg, id, wrong := parseLine(body)
		if wrong == nil && len(body) == 0 {
			wrong = rpcError(jsonrpc.CodeInvalidRequest, "the body is empty")
		}
		if wrong != nil {
			refuse(w, http.StatusBadRequest, id, wrong.Code, wrong.Message)
			return
		}
		if x.late {
			refuseLate(w, id)
			return
		}
		req, isRequest := msg.(*jsonrpc.Request)
		switch {
		case !isRequest:
		case req.Method == methodListen:
			h.waits(x)
		case req.Method == methodCancelled:
			h.cancelCall(x, req.Params)
		case req.IsCall():
			if call := h.directCall(r, x, req); call != nil {
				h.serveCall(w, x, req.ID, id, call)
				return
			}
			if wrong := h.wrongRequest(r, x, req); wrong != nil {
				refuse(w, http.StatusBadRequest, id, wrong.Code, wrong.Message)
				return
			}
			x.single, x.id = true, id
		default:
			x.news = true
		}
	}
	if r.Header.Get(headerSession) == "" && !isStateless(r) {
		if !h.makeRoom(x) {
			w.Header().Set("Retry-After", "60")
			refuse(w, http.StatusServiceUnavailable, nil, jsonrpc.CodeInternalError,
				fmt.Sprintf("%d sessions are open and in use, which is the limit; end one, or try again later", h.options.MaxSessions))
			return
		}
		defer h.madeRoom(x)
	}
	r.Body = newBody(body)
	r.ContentLength = int64(len(body))
	h.pass(w, r, x)
}

// refuseLate answers a request of a session that has ended.
func refuseLate(w http.ResponseWriter, id json.RawMessage) {
	refuse(w, http.StatusNotFound, id, jsonrpc.CodeInvalidRequest, "session not found")
}

// wrongRequest says what is wrong with a request that the SDK would serve, or refuse in other
// words; nil where nothing is known to be.
func (h *HTTPHandler) wrongRequest(r *http.Request, x *exchange, req *jsonrpc.Request) *jsonrpc.Error {
	switch wrong := wrongParams(req); {
	case wrong != nil:
		return wrong
	case needsSession(r, req):
		return rpcError(jsonrpc.CodeInvalidRequest, "there is no session: send %q first, and the %s of its answer with what follows", methodInitialize, headerSession)
	case req.Method == methodInitialize && h.inSession(x):
		return rpcError(jsonrpc.CodeInvalidRequest, "the session has begun; leave %s out to begin another", headerSession)
	}
	return nil
}

// needsSession reports whether a request would be one of a session, and names none. What may
// come before one, and what says itself which revision it is of, is for the SDK to judge.
func needsSession(r *http.Request, req *jsonrpc.Request) bool {
	switch r.Header.Get(headerRevision) {
	case "", "2025-03-26", "2025-06-18", "2025-11-25": // requests of the oldest of them do not say it
	default:
		return false
	}
	of := strings.HasPrefix(req.Method, "tools/") || strings.HasPrefix(req.Method, "resources/") || req.Method == methodSetLevel
	return of && r.Header.Get(headerSession) == "" && !bytes.Contains(req.Params, []byte(mcp.MetaKeyProtocolVersion))
}

// pass hands a request to the SDK, and sends what it answers.
func (h *HTTPHandler) pass(w http.ResponseWriter, r *http.Request, x *exchange) {
	next := h.stateful
	if isStateless(r) {
		next = h.stateless
	}
	key := h.server.exchanges.add(x)
	defer h.server.exchanges.remove(key)
	r = r.WithContext(x.ctx)
	r.Header = maps.Clone(r.Header)
	r.Header.Set(headerExchange, key)
	answer := newStream(w, x)
	defer answer.finish()
	next.ServeHTTP(answer, r)
	if len(x.refused) > 0 && x.ctx.Err() == nil {
		answer.add(x.refused)
	}
}

var errBusy = errors.New("the tool host is busy with large requests; try again")

// readBody reads the body of a request, bounded in size and time.
func (h *HTTPHandler) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > h.options.MaxBody {
		return nil, &http.MaxBytesError{Limit: h.options.MaxBody}
	}
	if h.held() > maxBodies {
		return nil, errBusy
	}
	control := http.NewResponseController(w)
	timed := control.SetReadDeadline(time.Now().Add(bodyTime)) == nil // not every server can
	body := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 0), bodyAtOnce)+bytes.MinRead))
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, h.options.MaxBody))
	if timed && err == nil {
		_ = control.SetReadDeadline(time.Time{}) // it could be set, so it can be unset
	}
	return body.Bytes(), err
}

func (h *HTTPHandler) hold(size int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bodies += size
}

func (h *HTTPHandler) held() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bodies
}

// Close ends the handler: streams that wait for news end at once, running calls when
// they are answered or ctx ends, which cancels them; then all sessions end. Requests that
// come later are refused. It returns when nothing of it runs any more.
func (h *HTTPHandler) Close(ctx context.Context) {
	h.mu.Lock()
	if !h.closing {
		h.closing = true
		h.check()
	}
	h.mu.Unlock()
	h.cancel(func(x *exchange) bool { return x.waits }, errClosing)
	select {
	case <-h.emptied:
	case <-ctx.Done():
		h.cancel(func(*exchange) bool { return true }, errClosing)
	}
	<-h.emptied
	h.mu.Lock()
	open := slices.Collect(maps.Values(h.sessions))
	h.mu.Unlock()
	for _, s := range open {
		s.close() // nothing runs in it any more
	}
	h.waiters.Wait()
}

// check closes emptied where all is over. h.mu is held.
func (h *HTTPHandler) check() {
	if !h.closing || len(h.open) > 0 {
		return
	}
	select {
	case <-h.emptied:
	default:
		close(h.emptied)
	}
}

// refuse answers a request that is not passed on, in a form that clients of all kinds
// can read.
func refuse(w http.ResponseWriter, status int, id []byte, code int64, text string) {
	body := encodeResponse(id, nil, rpcError(code, "%s", text))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // whoever does not wait for the answer has not asked
}
