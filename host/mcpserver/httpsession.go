package mcpserver

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// httpSession is a session of the revisions that have some. Its fields are guarded by
// the handler's mutex.
type httpSession struct {
	mcp   *mcp.ServerSession
	open  int       // requests and streams under way
	used  time.Time // when the last one ended
	idle  *time.Timer
	ended bool
	// logs says that the client has asked for log messages.
	logs  bool
	calls map[jsonrpc.ID]*exchange // calls under way that the server itself answers
}

func (s *httpSession) close() { _ = s.mcp.Close() } // that of a connection which has no errors

// begin notes that a request is under way.
func (h *HTTPHandler) begin(r *http.Request) (*exchange, error) {
	x := &exchange{handler: h, waits: r.Method == http.MethodGet}
	x.ctx, x.stop = context.WithCancelCause(r.Context())
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		x.stop(errClosing)
		return nil, errClosing
	}
	h.open[x] = struct{}{}
	switch s := h.sessions[r.Header.Get(headerSession)]; {
	case s == nil || isStateless(r):
	case s.ended:
		x.late = true
	default:
		h.use(x, s)
	}
	return x, nil
}

// use notes that a request belongs to a session. h.mu is held.
func (h *HTTPHandler) use(x *exchange, s *httpSession) {
	x.session = s
	s.open++
	s.idle.Stop()
}

// end notes that a request has been answered, or is nobody's any more.
func (h *HTTPHandler) end(x *exchange) {
	x.stop(errClientGone)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, x)
	if s := x.session; s != nil {
		s.open--
		s.used = time.Now()
		if s.open == 0 && !s.ended {
			s.idle.Reset(h.options.SessionTimeout)
		}
	}
	h.check()
}

// waits notes that a request waits for what the server says on its own.
func (h *HTTPHandler) waits(x *exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	x.waits = true
	if h.closing {
		x.stop(errClosing)
	}
}

// cancel ends the requests for which which says so.
func (h *HTTPHandler) cancel(which func(*exchange) bool, cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for x := range h.open {
		if which(x) {
			x.stop(cause)
		}
	}
}

// opened notes the session that a request has opened.
func (h *HTTPHandler) opened(x *exchange, session *mcp.ServerSession) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x.session != nil || session.ID() == "" || h.sessions[session.ID()] != nil {
		return
	}
	s := &httpSession{mcp: session, calls: map[jsonrpc.ID]*exchange{}}
	s.idle = time.AfterFunc(h.options.SessionTimeout, func() {
		if h.retire(s) {
			s.close()
		}
	})
	h.sessions[session.ID()] = s
	h.use(x, s)
	if x.opening {
		x.opening = false
		h.opening--
	}
	h.waiters.Go(func() {
		_ = session.Wait() // however it ended
		h.closed(s)
	})
}

// inSession reports whether a request belongs to a session.
func (h *HTTPHandler) inSession(x *exchange) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return x.session != nil
}

// retire marks an idle session as ended, before it is closed: a request that comes in between
// would be cut off. It gives false where it is not idle any more.
func (h *HTTPHandler) retire(s *httpSession) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.open > 0 || s.ended {
		return false
	}
	s.ended = true
	return true
}

func (h *HTTPHandler) closed(s *httpSession) {
	h.server.forget(s.mcp)
	h.mu.Lock()
	defer h.mu.Unlock()
	s.ended = true
	s.idle.Stop()
	delete(h.sessions, s.mcp.ID())
	for _, call := range s.calls {
		call.stop(errEnded)
	}
}

// makeRoom sees to it that a request may open one more session; madeRoom must follow
// where it could.
func (h *HTTPHandler) makeRoom(x *exchange) bool {
	h.mu.Lock()
	var oldest *httpSession
	full := len(h.sessions)+h.opening >= h.options.MaxSessions
	if full {
		for _, s := range h.sessions {
			if s.open == 0 && !s.ended && (oldest == nil || s.used.Before(oldest.used)) {
				oldest = s
			}
		}
		if oldest == nil {
			h.mu.Unlock()
			return false
		}
		oldest.ended = true // nobody else counts on its place
	}
	h.opening++
	x.opening = true
	h.mu.Unlock()
	if oldest != nil {
		h.server.log.Info("the session that was idle for the longest is ended, since as many are open as may be", "session", oldest.mcp.ID())
		oldest.close()
	}
	return true
}

func (h *HTTPHandler) madeRoom(x *exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x.opening {
		x.opening = false
		h.opening--
	}
}

// Sessions gives how many sessions are open. Clients of the stateless revision have none.
func (h *HTTPHandler) Sessions() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		if !s.ended {
			n++
		}
	}
	return n
}

// isStateless reports whether a request stands for itself.
func isStateless(r *http.Request) bool { return r.Header.Get(headerRevision) >= statelessRevision }

func newBody(body []byte) io.ReadCloser { return io.NopCloser(bytes.NewReader(body)) }
