package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxUnsent is how many messages of one call wait to be sent; further ones take the
// place of the oldest.
const maxUnsent = 8

// heartbeat is how long a call may be silent before a progress notification says that
// it still runs: clients that asked for progress take it as a sign of life, and give up
// after a minute without one.
const heartbeat = 10 * time.Second

// progress sends what a handler says on its way as progress notifications.
//
// Why a goroutine? The handler's goroutine must not wait for a client that does not
// read, or the call would miss its deadline. So say only leaves the message, and a
// goroutine that lives as long as there is something to send sends it. end waits for that
// goroutine: what was said last is on its way before the result is, and nothing follows
// the result.
//
// A nil *progress is that of a call whose client did not ask for it.
type progress struct {
	ctx    context.Context // the request's: it leads to the client
	notify func(context.Context, *mcp.ProgressNotificationParams) error
	token  any

	mu      sync.Mutex
	count   float64 // what was sent last; it must rise
	waiting []string
	sending chan struct{} // closed when the sending goroutine ends; nil where none runs
	beat    *time.Timer
	ended   bool
}

// newProgress gives nil where the call has no progress token.
func newProgress(ctx context.Context, c *toolCall) *progress {
	token := c.meta["progressToken"]
	switch token.(type) {
	case string, float64:
	default:
		return nil
	}
	p := &progress{ctx: ctx, notify: c.notify, token: token}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beat = time.AfterFunc(heartbeat, p.stillRunning)
	return p
}

func (p *progress) stillRunning() { p.say("still running") }

// say leaves a message to be sent. It never waits for the client.
func (p *progress) say(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.beat.Reset(heartbeat)
	if len(p.waiting) == maxUnsent {
		p.waiting = p.waiting[1:]
	}
	p.waiting = append(p.waiting, message)
	if p.sending == nil {
		p.sending = make(chan struct{})
		go p.send(p.sending)
	}
}

func (p *progress) send(done chan struct{}) {
	defer close(done)
	for {
		p.mu.Lock()
		if len(p.waiting) == 0 {
			p.sending = nil
			p.mu.Unlock()
			return
		}
		message := p.waiting[0]
		p.waiting = p.waiting[1:]
		p.count++
		params := &mcp.ProgressNotificationParams{ProgressToken: p.token, Progress: p.count, Message: message}
		p.mu.Unlock()
		// It fails where the request was cancelled or the client is gone; then nobody
		// wants to hear more.
		_ = p.notify(p.ctx, params)
	}
}

// end takes no further messages, and waits until what was said has been sent or the
// request's context has ended.
func (p *progress) end() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.ended = true
	p.beat.Stop()
	sending := p.sending
	p.mu.Unlock()
	if sending != nil {
		<-sending
	}
}
