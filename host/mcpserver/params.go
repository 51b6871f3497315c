package mcpserver

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// What members of params hold; a member that is null is as good as none.
const (
	aText    = "a text"
	anObject = "an object"
)

// paramKinds says for the methods that clients ask for what members of their params hold, as far
// as a client is to hear of it in plain words: the SDK quotes the request, and names its own types.
// Source: the schemas of MCP revisions 2025-11-25 and 2026-07-28.
var paramKinds = map[string]map[string]string{
	methodInitialize:  {"protocolVersion": aText, "capabilities": anObject, "clientInfo": anObject},
	methodCall:        {"name": aText},
	"tools/list":      {"cursor": aText},
	"resources/list":  {"cursor": aText},
	"resources/read":  {"uri": aText},
	methodSetLevel:    {"level": aText},
	"server/discover": {},
	"ping":            {},

	"resources/templates/list": {"cursor": aText},
}

// wrongParams says what is wrong with the params of a request that the SDK would read; nil where
// nothing is known to be.
func wrongParams(req *jsonrpc.Request) *jsonrpc.Error {
	kinds, known := paramKinds[req.Method]
	if !known || len(req.Params) == 0 || req.Params[0] != '{' {
		return nil
	}
	for name, value := range jsondoc.Members(req.Params) {
		kind := kinds[name]
		if name == "_meta" {
			kind = anObject
		}
		if wrong := wrongKind("params."+name, kind, value); wrong != nil {
			return wrong
		}
		if name != "clientInfo" || req.Method != methodInitialize || value[0] != '{' {
			continue
		}
		for name, value := range jsondoc.Members(value) {
			if name == "name" || name == "title" || name == "version" {
				if wrong := wrongKind("params.clientInfo."+name, aText, value); wrong != nil {
					return wrong
				}
			}
		}
	}
	return nil
}

func wrongKind(what, kind string, value json.RawMessage) *jsonrpc.Error {
	first := value[0]
	if kind == "" || first == 'n' || kind == aText && first == '"' || kind == anObject && first == '{' {
		return nil
	}
	return rpcError(jsonrpc.CodeInvalidParams, "%q must be %s", what, kind)
}
