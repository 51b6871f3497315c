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

// maxAsked is how many requests of a server are being answered at once: the SDK answers each on a
// goroutine of its own, and over HTTP with a connection, however long the server takes to read it.
const maxAsked = 16

const methodProgress = "notifications/progress"

// gate is what all messages of one server pass on their way to the SDK, however they came.
type gate struct {
	// progress takes what is said on the way of a call, and the SDK does not get it: it would
	// hand on the last of it beside the result, or after it. nil has the SDK get it.
	progress func(params json.RawMessage)

	mu    sync.Mutex // guards what follows
	since time.Time  // when the running second began
	said  int        // messages of progress and log that came in it
	other int        // other messages that want no answer
	asked int        // requests that were passed, and not answered yet
}

// pass gives a message as the SDK is to get it, nil where it is to be dropped.
func (g *gate) pass(msg jsonrpc.Message) jsonrpc.Message {
	switch m := msg.(type) {
	case *jsonrpc.Request:
		if m.IsCall() && !g.ask() || !m.IsCall() && g.tooMuch(m.Method) {
			return nil
		}
		if m.Method == methodProgress && !m.IsCall() && g.progress != nil {
			g.progress(m.Params)
			return nil
		}
	case *jsonrpc.Response:
		return keepWhole(m)
	}
	return msg
}

// tooMuch reports whether a message that wants no answer comes too fast. Those of progress and log
// are counted by themselves: they must not drown that there are other tools now.
func (g *gate) tooMuch(method string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := time.Now(); now.Sub(g.since) >= time.Second {
		g.since, g.said, g.other = now, 0, 0
	}
	count := &g.other
	if method == methodProgress || method == "notifications/message" {
		count = &g.said
	}
	*count++
	return *count > maxSaid
}

// ask reports whether one more request may be passed, and counts it.
func (g *gate) ask() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.asked >= maxAsked {
		return false
	}
	g.asked++
	return true
}

// asking reports whether there is a request to be answered.
func (g *gate) asking() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asked > 0
}

// answered notes that an answer has reached the server, or never will.
func (g *gate) answered() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = max(0, g.asked-1)
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
