package mounted

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// maxSaid is how many messages of progress and log are taken from a server in a second: the
// SDK keeps all that it is given until it comes to them, and nobody is shown so many.
const maxSaid = 50

// gate is what all messages of one server pass on their way to the SDK, however they came.
type gate struct {
	mu    sync.Mutex // guards what follows
	since time.Time  // when the running second began
	said  int        // messages of progress and log that came in it
}

// pass gives a message as the SDK is to get it, nil where it is to be dropped.
func (g *gate) pass(msg jsonrpc.Message) jsonrpc.Message {
	switch m := msg.(type) {
	case *jsonrpc.Request:
		if g.tooMuch(m) {
			return nil
		}
	case *jsonrpc.Response:
		return keepWhole(m)
	}
	return msg
}

// tooMuch reports whether a message is one that may be dropped, and comes too fast.
func (g *gate) tooMuch(r *jsonrpc.Request) bool {
	if r.IsCall() || r.Method != "notifications/progress" && r.Method != "notifications/message" {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := time.Now(); now.Sub(g.since) >= time.Second {
		g.since, g.said = now, 0
	}
	g.said++
	return g.said > maxSaid
}

// keepWhole puts the whole result of a call, as text, in the place of what it holds: the SDK
// makes Go values of what it reads, in which large numbers lose digits or are refused, and
// knows not all fields. [result] reads the text.
func keepWhole(r *jsonrpc.Response) jsonrpc.Message {
	var fields map[string]json.RawMessage
	if r.Error != nil || json.Unmarshal(r.Result, &fields) != nil || fields["content"] == nil && fields["structuredContent"] == nil {
		return r
	}
	delete(fields, "_meta")
	fields["content"], fields["structuredContent"] = json.RawMessage("[]"), jsondoc.Marshal(string(r.Result))
	return &jsonrpc.Response{ID: r.ID, Result: jsondoc.Marshal(fields), Extra: r.Extra}
}
