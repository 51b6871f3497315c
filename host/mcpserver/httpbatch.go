package mcpserver

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// maxBatch is how many messages a batch may hold: each that is no good is answered, with more
// than it takes to send it.
const maxBatch = 1000

// batchMethod says what the SDK asks of a message with a method, else it refuses the whole batch.
type batchMethod struct{ notification, params bool }

// batchMethods are what clients may send in revision 2025-03-26, the only one with batches.
var batchMethods = map[string]batchMethod{
	methodInitialize:                   {params: true},
	methodCall:                         {params: true},
	methodSetLevel:                     {params: true},
	"ping":                             {},
	"tools/list":                       {},
	"resources/list":                   {},
	"resources/templates/list":         {},
	"resources/read":                   {params: true},
	"resources/subscribe":              {params: true},
	"resources/unsubscribe":            {params: true},
	"prompts/list":                     {},
	"prompts/get":                      {params: true},
	"completion/complete":              {params: true},
	methodCancelled:                    {notification: true},
	methodProgress:                     {notification: true, params: true},
	"notifications/initialized":        {notification: true},
	"notifications/roots/list_changed": {notification: true},
}

// hasBatches reports whether a request may hold a batch, by the revision that it names; that of
// the oldest need not.
func hasBatches(r *http.Request) bool { return r.Header.Get(headerRevision) < "2025-06-18" }

// isBatch reports whether a body is a JSON-RPC batch.
func isBatch(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && body[0] == '['
}

// sortBatch gives what of a batch is for the SDK, which refuses the whole for one message, and
// notes the answers to what is not. The error is about the batch as such.
func (h *HTTPHandler) sortBatch(r *http.Request, x *exchange, body []byte) (rest []json.RawMessage, wrong *jsonrpc.Error) {
	if !hasBatches(r) {
		return nil, rpcError(jsonrpc.CodeInvalidRequest, "JSON-RPC batching is not supported from revision 2025-06-18 on: send one message a request")
	}
	messages, wrong := splitBatch(body)
	if wrong != nil {
		return nil, wrong
	}
	ids := map[jsonrpc.ID]bool{}
	for _, message := range messages {
		msg, id, wrong := h.judge(r, x, message, ids)
		if msg != nil {
			// As it came it may have more members, which the SDK looks at.
			message, err := jsonrpc.EncodeMessage(msg)
			if err == nil {
				rest = append(rest, message)
				continue
			}
			wrong = rpcError(jsonrpc.CodeInvalidRequest, "%s", err)
		}
		if wrong != nil {
			x.refused = append(x.refused, encodeResponse(id, nil, wrong))
		}
	}
	return rest, nil
}

// serveRefused answers a batch of which nothing is for the SDK.
func (h *HTTPHandler) serveRefused(w http.ResponseWriter, x *exchange) {
	if len(x.refused) == 0 { // notifications that are passed over
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answer := newStream(w, x)
	defer answer.finish()
	answer.add(x.refused)
}

// splitBatch gives the messages of a batch.
func splitBatch(body []byte) (messages []json.RawMessage, wrong *jsonrpc.Error) {
	if !json.Valid(body) {
		return nil, rpcError(jsonrpc.CodeParseError, "the batch is not JSON: %s", cut(whyInvalid(body), 200))
	}
	in := json.NewDecoder(bytes.NewReader(body))
	_, _ = in.Token() // the bracket; all of it is valid
	for in.More() {
		var message json.RawMessage
		if err := in.Decode(&message); err != nil {
			return nil, rpcError(jsonrpc.CodeParseError, "the batch is not JSON: %s", cut(err.Error(), 200))
		}
		if messages = append(messages, message); len(messages) > maxBatch {
			return nil, rpcError(jsonrpc.CodeInvalidRequest, "a batch may hold %d messages; send more than one", maxBatch)
		}
	}
	if len(messages) == 0 {
		return nil, rpcError(jsonrpc.CodeInvalidRequest, "a batch must hold at least one message")
	}
	return messages, nil
}

// judge gives a message of a batch that is for the SDK. Of another one it gives the error to
// answer and the id; no error where nobody waits for one. ids are those of the messages before.
func (h *HTTPHandler) judge(r *http.Request, x *exchange, message json.RawMessage, ids map[jsonrpc.ID]bool) (jsonrpc.Message, json.RawMessage, *jsonrpc.Error) {
	if message[0] != '{' {
		return nil, nil, rpcError(jsonrpc.CodeInvalidRequest, "a message must be a JSON object")
	}
	msg, id, wrong := parseLine(message)
	req, isRequest := msg.(*jsonrpc.Request)
	if !isRequest {
		return msg, id, wrong
	}
	method, known := batchMethods[req.Method]
	lacking := method.params && len(req.Params) == 0
	if !req.IsCall() {
		if req.Method == methodCancelled {
			h.cancelCall(x, req.Params)
		}
		if !known || !method.notification || lacking || namesRevision(req.Params) {
			return nil, nil, nil
		}
		return req, nil, nil
	}
	if ids[req.ID] { // with the id it would be taken for the other one's answer
		return nil, nil, rpcError(jsonrpc.CodeInvalidRequest, "the id %s is that of another message of the batch", cut(string(id), 100))
	}
	ids[req.ID] = true
	switch {
	case !known:
		wrong = rpcError(jsonrpc.CodeMethodNotFound, "method not found: %q", req.Method)
	case method.notification:
		wrong = rpcError(jsonrpc.CodeInvalidRequest, "%q is a notification: it has no id", req.Method)
	case lacking:
		wrong = rpcError(jsonrpc.CodeInvalidRequest, `"params" is missing`)
	case namesRevision(req.Params):
		wrong = rpcError(jsonrpc.CodeInvalidRequest, `revisions whose requests name them in "_meta" have no batches`)
	default:
		wrong = h.wrongRequest(r, x, req)
	}
	if wrong != nil {
		return nil, id, wrong
	}
	return req, id, nil
}

// namesRevision reports whether params say in _meta which revision they are of.
func namesRevision(params json.RawMessage) bool {
	if len(params) == 0 || params[0] != '{' {
		return false
	}
	for name, meta := range jsondoc.Members(params) {
		if name != "_meta" || meta[0] != '{' {
			continue
		}
		for name := range jsondoc.Members(meta) {
			if name == mcp.MetaKeyProtocolVersion {
				return true
			}
		}
	}
	return false
}
