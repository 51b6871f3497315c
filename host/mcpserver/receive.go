package mcpserver

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// statelessRevision is the first protocol revision without a handshake; its requests
// name their revision themselves.
const statelessRevision = "2026-07-28"

// completeResult is the resultType of a result that nothing is asked for any more.
const completeResult = "complete"

// receive is the middleware for what clients ask. No panic passes it (the SDK has no
// recover, so one would end the process), nor a nil result (the SDK would panic).
func (s *Server) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		defer s.catch(method, &err)
		ctx, served := s.follow(ctx, method, req)
		defer served()
		switch r := req.(type) {
		case *mcp.CallToolRequest:
			call := sdkCall(r)
			conn, _ := ctx.Value(connKey{}).(*lineConn)
			defer func() { conn.arrived(call.size) }() // as good as: all that is left is to encode it
			answer, err := s.callTool(ctx, call)
			if err != nil {
				return nil, err
			}
			return answer, nil
		case *mcp.ListToolsRequest:
			return s.listTools(ctx, next, method, req)
		case *mcp.ReadResourceRequest:
			if strings.HasPrefix(r.Params.URI, resultPrefix) && s.maxText > 0 {
				read, err := s.readKept(ctx, r) // whatever the order of its parameters
				if err != nil {
					return nil, err
				}
				if read.Contents[0].Text == "" {
					return emptyPart{read, resultType(r)}, nil
				}
				return read, nil
			}
		}
		result, err = next(ctx, method, req)
		if err == nil && isNil(result) && !strings.HasPrefix(method, "notifications/") {
			s.log.Error("serving a request gave no result", "method", method)
			return nil, internalError()
		}
		return result, err
	}
}

// catch, deferred, makes an error of a panic.
func (s *Server) catch(method string, err *error) {
	if v := recover(); v != nil {
		*err = s.panicked(method, v)
	}
}

// panicked gives the error to answer where serving a request panicked.
func (s *Server) panicked(method string, v any) error {
	s.log.Error("serving a request panicked", "method", method, "err", fmt.Sprint(v), "stack", string(debug.Stack()))
	return internalError()
}

func isNil(r mcp.Result) bool {
	if r == nil {
		return true
	}
	v := reflect.ValueOf(r)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

func internalError() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error in the tool host; its log says more"}
}

// resultType gives the resultType field of an answer to req: requests of the stateless
// revision expect it, older ones do not know it.
func resultType(req mcp.Request) string {
	if revision, _ := req.GetParams().GetMeta()[mcp.MetaKeyProtocolVersion].(string); revision >= statelessRevision {
		return completeResult
	}
	return ""
}

// calmHandler lowers what the SDK tells of its ordinary doings to debug: that sessions come
// and go, and that of clients which did not open a stream to listen at none hears the news.
type calmHandler struct{ slog.Handler }

// unheard is in what the SDK says of the news that has no stream to go over.
const unheard = "stream not connected"

func calm(level slog.Level) slog.Level {
	if level == slog.LevelInfo {
		return slog.LevelDebug
	}
	return level
}

func (h calmHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.Handler.Enabled(ctx, calm(level))
}

func (h calmHandler) Handle(ctx context.Context, r slog.Record) error {
	r.Level = calm(r.Level)
	if r.Level == slog.LevelWarn && strings.Contains(r.Message, unheard) {
		r.Level = slog.LevelDebug
		if !h.Handler.Enabled(ctx, r.Level) {
			return nil
		}
	}
	return h.Handler.Handle(ctx, r)
}

func (h calmHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return calmHandler{h.Handler.WithAttrs(attrs)}
}

func (h calmHandler) WithGroup(name string) slog.Handler {
	return calmHandler{h.Handler.WithGroup(name)}
}
