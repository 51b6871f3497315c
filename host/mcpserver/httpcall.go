package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	headerMethod = "Mcp-Method"
	headerName   = "Mcp-Name"
)

// directCall gives the call that a request asks for, or nil where the SDK is to serve it:
// the SDK also serves clients that hear more than progress during a call, which are those that
// asked for the log, or offer their model.
func (h *HTTPHandler) directCall(r *http.Request, x *exchange, req *jsonrpc.Request) *toolCall {
	if !hasPlainHeader(r.Header) {
		return nil
	}
	if isStateless(r) {
		return h.statelessCall(r.Header, req)
	}
	h.mu.Lock()
	s := x.session
	direct := s != nil && !s.ended && !s.logs
	h.mu.Unlock()
	if !direct || completer(s.mcp) != nil {
		return nil
	}
	call := directCall(req, s.mcp)
	revision := r.Header.Get(headerRevision)
	if call == nil || revision != "" && revision != s.mcp.InitializeParams().ProtocolVersion {
		return nil
	}
	call.header = r.Header
	return call
}

// hasPlainHeader reports whether the headers of a request are those that one should have.
func hasPlainHeader(header http.Header) bool {
	content, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || content != "application/json" || len(header.Values("Last-Event-ID")) > 0 {
		return false
	}
	asJSON, asStream := false, false
	for part := range strings.SplitSeq(strings.Join(header.Values("Accept"), ","), ",") {
		accepted, _, _ := strings.Cut(part, ";")
		switch strings.TrimSpace(accepted) {
		case "application/json":
			asJSON = true
		case "text/event-stream":
			asStream = true
		}
	}
	return asJSON && asStream
}

// statelessCall is directCall for requests that say all about themselves, in the headers as
// well as in _meta.
func (h *HTTPHandler) statelessCall(header http.Header, req *jsonrpc.Request) *toolCall {
	if header.Get(headerRevision) != statelessRevision || header.Get(headerMethod) != methodCall {
		return nil
	}
	c := parseCall(req)
	if c == nil || header.Get(headerName) != c.name || !h.server.isPlain(c.name) {
		return nil
	}
	if _, there := h.server.host.Tool(c.name); !there {
		return nil
	}
	var capabilities *mcp.ClientCapabilities
	for name, value := range c.meta {
		ok := true
		switch name {
		case mcp.MetaKeyProtocolVersion:
			ok = value == statelessRevision
		case mcp.MetaKeyClientCapabilities:
			ok = decode(value, &capabilities)
		case mcp.MetaKeyClientInfo:
			ok = decode(value, &c.client)
		default:
			ok = !strings.HasPrefix(name, reservedMeta)
		}
		if !ok {
			return nil
		}
	}
	if c.meta[mcp.MetaKeyProtocolVersion] == nil || capabilities == nil {
		return nil
	}
	c.header, c.server, c.resultType = header, h.server.self, completeResult
	return c
}

// decode decodes a part of _meta. It reports whether that is what it should be.
func decode(value, into any) bool {
	text, err := json.Marshal(value)
	return err == nil && json.Unmarshal(text, into) == nil
}

// serveCall answers a call.
func (h *HTTPHandler) serveCall(w http.ResponseWriter, x *exchange, id jsonrpc.ID, rawID json.RawMessage, call *toolCall) {
	switch err := h.beginCall(x, id); err {
	case nil:
	case errEnded: // since it was looked for
		refuseLate(w, rawID)
		return
	default:
		refuse(w, http.StatusBadRequest, rawID, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the id is %s", err))
		return
	}
	answer := newStream(w, x)
	defer answer.finish()
	answer.begin()
	call.notify = answer.notify
	line := h.server.answer(x.ctx, rawID, call)
	h.endCall(x, id) // before the client can know, and use the id again
	if x.ctx.Err() != nil {
		return // it was cancelled, and no answer follows
	}
	x.answered.Store(true)
	_ = answer.event(line) // it fails where the client is gone
}

// notify sends progress. It fails where the call was cancelled.
func (s *stream) notify(ctx context.Context, params *mcp.ProgressNotificationParams) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	line, err := jsonrpc.EncodeMessage(&jsonrpc.Request{Method: methodProgress, Params: raw})
	if err != nil {
		return err
	}
	return s.event(append(line, '\n'))
}

// event sends a line as an event.
func (s *stream) event(line []byte) error {
	event := make([]byte, 0, len(line)+len("event: message\ndata: \n"))
	event = append(event, "event: message\ndata: "...)
	event = append(event, line...)
	_, err := s.Write(append(event, '\n'))
	return err
}

// beginCall notes that a call is under way, unless one with the same id is already, or the
// session has ended.
func (h *HTTPHandler) beginCall(x *exchange, id jsonrpc.ID) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case x.session == nil: // each request stands for itself
	case x.session.ended:
		return errEnded
	case x.session.calls[id] != nil:
		return errInUse
	default:
		x.session.calls[id] = x
	}
	return nil
}

func (h *HTTPHandler) endCall(x *exchange, id jsonrpc.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x.session != nil {
		delete(x.session.calls, id)
	}
}

// cancelCall cancels the call that a cancellation names. Of others the SDK knows.
func (h *HTTPHandler) cancelCall(x *exchange, params json.RawMessage) {
	id, ok := cancelledID(params)
	h.mu.Lock()
	defer h.mu.Unlock()
	if !ok || x.session == nil {
		return
	}
	if call := x.session.calls[id]; call != nil {
		call.stop(context.Canceled)
	}
}

// wantsLog notes that a client has asked for log messages.
func (h *HTTPHandler) wantsLog(x *exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x.session != nil {
		x.session.logs = true
	}
}
