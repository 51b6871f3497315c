package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxPending bounds what unanswered requests may hold in memory; while they hold
	// more, no further line is read. requestCost is what a request holds beside its line.
	maxPending  = 64 << 20
	requestCost = 4 << 10

	// maxBacklog bounds what waits to be written, in bytes, results on their way there
	// included. Beyond it notifications wait, no call starts and no line is read. Answers
	// of calls that run are still taken.
	maxBacklog = 16 << 20
)

const (
	methodInitialize = "initialize"
	methodListen     = "subscriptions/listen"
	methodCancelled  = "notifications/cancelled"
)

// lineConn is a connection over two streams, one message a line.
//
// The SDK's own transport ends the session at the first line that is no message, and
// loses the answers of running calls when the input ends. This one answers such a line
// with an error and goes on, and reports the end of the input to the SDK only when all
// is answered and written, or the grace is over.
//
// Three goroutines work on it: one reads lines; the SDK's takes messages from Read; one
// writes. Since only that one writes, lines are never mixed, and no call waits for a
// client that does not read: Write only appends to what is to be written.
type lineConn struct {
	id    string
	in    io.Reader
	out   io.Writer
	stop  <-chan struct{} // ends the session, from outside
	ready <-chan struct{} // calls may wait for it

	lines    chan incoming // from the reading goroutine; closed when that ends
	readDone chan struct{}
	readErr  error // why reading ended; set before readDone closes

	work    chan struct{} // there is something to write
	written chan struct{} // closed when the writing goroutine has ended
	failed  chan struct{} // closed when writing has failed

	progressed chan struct{} // something was answered or written; for Read only
	ended      chan struct{} // closed when Read has reported the end
	cause      error         // why Read did, where that is an error; set before ended closes
	closed     chan struct{} // closed by Close
	closeOnce  sync.Once

	mu      sync.Mutex // guards what follows
	pending map[jsonrpc.ID]*pendingRequest
	held    int // what the pending requests hold, in bytes
	queue   []byte
	writing int           // bytes that are being written
	coming  int           // bytes of results that calls have given and that are not in the queue yet
	room    chan struct{} // closed when the backlog has shrunk
	err     error         // why writing failed
}

type pendingRequest struct {
	method    string
	cost      int
	cancelled bool
}

type incoming struct {
	line []byte
	err  error // errTooLong
}

var _ mcp.Connection = (*lineConn)(nil)

func newLineConn(in io.Reader, out io.Writer, stop, ready <-chan struct{}) *lineConn {
	return &lineConn{
		id: rand.Text(), in: in, out: out, stop: stop, ready: ready,
		lines: make(chan incoming), readDone: make(chan struct{}),
		work: make(chan struct{}, 1), written: make(chan struct{}), failed: make(chan struct{}),
		progressed: make(chan struct{}, 1), ended: make(chan struct{}), closed: make(chan struct{}),
		pending: map[jsonrpc.ID]*pendingRequest{}, room: make(chan struct{}),
	}
}

func (c *lineConn) start() {
	go c.readLines()
	go c.writeLines()
}

// SessionID implements [mcp.Connection]. It is what identifies the agent.
func (c *lineConn) SessionID() string { return c.id }

// Close implements [mcp.Connection]. What is to be written is still written.
func (c *lineConn) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return nil
}

func (c *lineConn) readLines() {
	defer close(c.readDone)
	defer close(c.lines)
	r := newLineReader(c.in)
	for {
		line, err := r.next()
		if err != nil && err != errTooLong {
			c.readErr = err
			return
		}
		select {
		case c.lines <- incoming{line, err}:
		case <-c.closed:
			return
		}
	}
}

// Read implements [mcp.Connection]: it gives the next message that is for the SDK.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		lines := c.lines
		if c.isFull() {
			lines = nil
		}
		select {
		case in, ok := <-lines:
			if !ok {
				return nil, c.end(c.readErr)
			}
			if msg := c.accept(in); msg != nil {
				return msg, nil
			}
		case <-c.progressed:
		case <-c.failed:
			return nil, c.end(io.EOF)
		case <-c.stop:
			return nil, c.end(io.EOF)
		case <-c.closed:
			return nil, c.end(io.EOF)
		case <-ctx.Done():
			return nil, c.end(io.EOF)
		}
	}
}

// end waits for the answers of what runs, and gives the error that Read reports: with
// it the SDK cancels the requests that are left.
func (c *lineConn) end(cause error) error {
	select {
	case <-c.ended:
		return io.EOF
	default:
	}
	defer close(c.ended)
	if !errors.Is(cause, io.EOF) {
		c.cause = fmt.Errorf("reading from the client: %w", cause)
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	ready := c.ready
	select {
	case <-ready:
		ready = nil
	default:
		// What was asked waits for the first load, which is not the calls' fault.
		timer.Reset(readyWait + grace)
	}
	for c.isBusy() {
		select {
		case <-c.progressed:
		case <-ready:
			ready = nil
			timer.Reset(grace)
		case <-timer.C:
			return io.EOF
		case <-c.failed:
			return io.EOF
		case <-c.closed:
			return io.EOF
		}
	}
	return io.EOF
}

func (c *lineConn) isFull() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held > maxPending || c.backlog() > maxBacklog
}

// backlog gives how many bytes wait to be written. c.mu is held.
func (c *lineConn) backlog() int { return len(c.queue) + c.writing + c.coming }

// expect notes that a result of so many bytes is on its way to the queue. It is called
// before another call takes the place of the one that has ended.
func (c *lineConn) expect(size int) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.coming += size
}

// arrived takes an answer off what is on its way. The answer's own length stands for
// its result's size, which nobody remembers; where nothing is pending nothing is on
// its way. c.mu is held.
func (c *lineConn) arrived(size int) {
	c.coming = max(c.coming-size, 0)
	if len(c.pending) == 0 {
		c.coming = 0
	}
}

// noRoom gives a channel that closes when something has been written, where the client
// has to read first; nil where it has not. The nil connection is any other transport's.
func (c *lineConn) noRoom() <-chan struct{} {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.backlog() <= maxBacklog {
		return nil
	}
	return c.room
}

// isBusy reports whether something is to be answered or written still. A subscription
// is answered at the end of the session only.
func (c *lineConn) isBusy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue)+c.writing > 0 {
		return true
	}
	for _, p := range c.pending {
		if p.method != methodListen && !p.cancelled {
			return true
		}
	}
	return false
}

// accept gives the message of a line, or nil where the SDK has nothing to do with it;
// what is wrong with the line has been answered then.
func (c *lineConn) accept(in incoming) jsonrpc.Message {
	if in.err != nil {
		c.refuse(nil, rpcError(jsonrpc.CodeInvalidRequest, "%s", in.err))
		return nil
	}
	req, rawID, wrong := parseLine(in.line)
	switch {
	case wrong != nil:
		c.refuse(rawID, wrong)
		return nil
	case req == nil:
		return nil
	case !req.IsCall():
		if req.Method == methodCancelled && !c.cancel(req.Params) {
			return nil
		}
		return req
	}
	c.mu.Lock()
	_, inUse := c.pending[req.ID]
	if !inUse {
		p := &pendingRequest{method: req.Method, cost: len(in.line) + requestCost}
		c.pending[req.ID] = p
		c.held += p.cost
	}
	c.mu.Unlock()
	if inUse {
		// Not with that id: the answer of the first would be taken for a second one.
		c.refuse(nil, rpcError(jsonrpc.CodeInvalidRequest, "the id %s is in use by a request that is not answered yet", cut(string(rawID), 100)))
		return nil
	}
	return req
}

func (c *lineConn) refuse(id json.RawMessage, err *jsonrpc.Error) {
	line := encodeResponse(id, nil, err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enqueue(line)
}

// cancel notes that a request is not to be answered. It reports whether there is one.
func (c *lineConn) cancel(params json.RawMessage) bool {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	id, ok := parseID(p.RequestID)
	if !ok {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.pending[id]
	if r == nil || r.method == methodInitialize { // which must not be cancelled
		return false
	}
	r.cancelled = true
	return true
}

// Write implements [mcp.Connection]. An answer is taken at once; it is dropped where
// the client has cancelled the request. A notification waits while the client does not
// read what is there already.
func (c *lineConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if res, ok := msg.(*jsonrpc.Response); ok {
		id, err := json.Marshal(res.ID.Raw())
		if err != nil {
			return fmt.Errorf("encoding the id of a response: %w", err)
		}
		return c.answer(res.ID, encodeResponse(id, res.Result, res.Error))
	}
	line, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	line = wellFormed(append(line, '\n'))
	for {
		if ctx.Err() != nil { // progress of a request that was cancelled
			return ctx.Err()
		}
		room := c.noRoom()
		if room == nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.enqueue(line)
		}
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		case <-c.ended:
			return mcp.ErrConnectionClosed
		}
	}
}

func (c *lineConn) answer(id jsonrpc.ID, line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[id]
	if p == nil {
		return nil
	}
	// From here on the id may be used again; in one step with the queueing, so that
	// Read never finds neither.
	delete(c.pending, id)
	c.held -= p.cost
	c.arrived(len(line))
	c.tell()
	if p.cancelled {
		c.shrunk()
		return nil
	}
	return c.enqueue(line)
}

// enqueue appends a line to what is to be written. c.mu is held.
func (c *lineConn) enqueue(line []byte) error {
	if c.err != nil {
		return c.err
	}
	c.queue = append(c.queue, line...)
	select {
	case c.work <- struct{}{}:
	default:
	}
	return nil
}

// shrunk wakes those who wait for room. c.mu is held.
func (c *lineConn) shrunk() {
	close(c.room)
	c.room = make(chan struct{})
}

// tell wakes Read.
func (c *lineConn) tell() {
	select {
	case c.progressed <- struct{}{}:
	default:
	}
}

// writeLines writes what is queued, all that is there at once.
func (c *lineConn) writeLines() {
	defer close(c.written)
	var spare []byte
	for last := false; !last; {
		select {
		case <-c.work:
		case <-c.closed:
			last = true
		}
		c.mu.Lock()
		lines := c.queue
		c.queue, c.writing = spare[:0], len(lines)
		c.mu.Unlock()
		spare = nil
		if len(lines) > 0 {
			if _, err := c.out.Write(lines); err != nil {
				c.mu.Lock()
				c.err = fmt.Errorf("writing to the client: %w", err)
				c.mu.Unlock()
				close(c.failed)
				return
			}
		}
		if cap(lines) <= 256<<10 { // an unusually big one is left to the collector
			spare = lines
		}
		c.mu.Lock()
		c.writing = 0
		c.shrunk()
		c.mu.Unlock()
		c.tell()
	}
}
