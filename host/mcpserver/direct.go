package mcpserver

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

const (
	// methodCall is what clients ask for most. The SDK costs it more than all that the host
	// does for it, so plain calls are answered without the SDK.
	methodCall = "tools/call"
	// reservedMeta begins the names in _meta that have a meaning for the protocol itself.
	reservedMeta = "io.modelcontextprotocol/"
)

// directCall gives the call that a request of a session asks for, or nil where the SDK is to
// serve it: it is another request, has anything out of the ordinary, or the session has not
// begun.
func directCall(req *jsonrpc.Request, session *mcp.ServerSession) *toolCall {
	if session == nil {
		return nil
	}
	begun := session.InitializeParams()
	if begun == nil || begun.ProtocolVersion >= statelessRevision {
		return nil
	}
	c := parseCall(req)
	if c == nil {
		return nil
	}
	for name := range c.meta {
		if strings.HasPrefix(name, reservedMeta) {
			return nil
		}
	}
	c.session, c.agentID, c.client, c.notify = session, session.ID(), begun.ClientInfo, session.NotifyProgress
	return c
}

// parseCall gives what a request says of a call, or nil where it is no plain one.
func parseCall(req *jsonrpc.Request) *toolCall {
	if req.Method != methodCall || !req.IsCall() || len(req.Params) == 0 || req.Params[0] != '{' {
		return nil
	}
	c := &toolCall{}
	named := false
	for name, value := range jsondoc.Members(req.Params) {
		ok := true
		switch name {
		case "name":
			c.name, ok = parseText(value)
			named = true
		case "arguments":
			c.args = value
		case "_meta":
			c.meta, c.rawMeta = nil, value // of members of one name the last one counts
			ok = json.Unmarshal(value, &c.meta) == nil
		default:
			ok = false
		}
		if !ok {
			return nil
		}
	}
	if !named {
		return nil
	}
	return c
}

// answer makes a call, and gives the line of its answer.
func (s *Server) answer(ctx context.Context, id json.RawMessage, c *toolCall) []byte {
	result, err := s.callTool(ctx, c)
	return s.line(id, result, err)
}

// line gives the line of the answer to a call.
func (s *Server) line(id json.RawMessage, result *callResult, err error) (line []byte) {
	defer func() {
		if v := recover(); v != nil {
			line = encodeResponse(id, nil, s.panicked(methodCall, v))
		}
	}()
	if err == nil {
		line, err = encodeResult(id, result)
	}
	if err != nil {
		return encodeResponse(id, nil, err)
	}
	return line
}
