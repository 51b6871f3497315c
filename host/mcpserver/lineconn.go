package mcpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxPending bounds what unanswered requests may hold in memory; while they hold
	// more, no further line is read. requestCost is what a request holds beside its line.
	maxPending  = 64 << 20
	requestCost = 4 << 10

	// maxBacklog bounds what waits to be written, in bytes. Beyond it notifications wait, no
	// line is read, and no call starts: for these, results on their way there count too.
	// Answers of calls that run are still taken.
	maxBacklog = 16 << 20

	// maxResting is how many goroutines wait for their turn to read, once they have been
	// needed: new ones would have to grow their stacks first.
	maxResting = 8

	// Answers wait for those of the lines that have come with theirs, to be written together:
	// each write wakes the client. They wait while at most maxGathered lines are read, and for
	// no more than maxGather bytes. Calls that take the processors hold up whoever reads, so
	// answers wait only where as many calls in a row took less than quickCall. Only there does a
	// goroutine keep the turn to read while it makes a call, too (keptTurn).
	maxGathered = 8
	maxGather   = 64 << 10
	quickCall   = time.Millisecond

	// maxSpare is the largest buffer that is kept for what is written next, in bytes.
	maxSpare = 256 << 10
)

const (
	methodInitialize = "initialize"
	methodListen     = "subscriptions/listen"
	methodCancelled  = "notifications/cancelled"
	methodProgress   = "notifications/progress"
	methodSetLevel   = "logging/setLevel"
)

// lineConn is a connection over two streams, one message a line.
//
// The SDK's own transport ends the session at the first line that is no message, and
// loses the answers of running calls when the input ends. This one answers such a line
// with an error and goes on, and reports the end of the input to the SDK only when all
// is answered and written, or the grace is over. Calls it hands to the server itself.
//
// One goroutine at a time reads lines, and makes the call that it has read; the SDK's takes
// other messages from Read. Whoever has something to write while nobody writes does so, with
// all that comes meanwhile: lines are never mixed, and no call waits for a client that does
// not read. Where several lines have come at once, their answers gather until the last of them
// has been read.
type lineConn struct {
	id     string
	in     io.Reader
	out    io.Writer
	stop   <-chan struct{} // ends the session, from outside
	server *Server

	session atomic.Pointer[mcp.ServerSession] // nil until the SDK has made it

	calling context.Context // of the calls that are handed to the server
	hangUp  context.CancelFunc
	calls   sync.WaitGroup

	turn     chan *lineReader // to read
	kept     keptTurn
	resting  atomic.Int64         // goroutines that wait for their turn
	messages chan jsonrpc.Message // for the SDK; closed when reading has ended
	readDone chan struct{}
	readErr  error // why reading ended; set before readDone closes

	failed chan struct{} // closed when writing has failed

	progressed chan struct{} // something was answered or written; for end only
	ended      chan struct{} // closed when Read has reported the end
	cause      error         // why Read did, where that is an error; set before ended closes
	closed     chan struct{} // closed by Close
	closeOnce  sync.Once

	mu        sync.Mutex // guards what follows
	pending   map[jsonrpc.ID]*pendingRequest
	held      int  // what the pending requests hold, in bytes
	ending    bool // no further request is taken
	queue     []byte
	spare     []byte        // memory for the next queue
	writing   int           // bytes that are being written
	gathering bool          // the queue waits for what the lines bring that have come already
	gathered  int           // lines that have been read since the queue last did not wait
	quick     int           // calls in a row that took less than quickCall
	flushing  chan struct{} // closed when all is written; nil where nobody writes
	finished  bool          // nothing is written any more
	coming    int           // bytes of results that calls have given and that are not in the queue yet
	room      chan struct{} // closed when there is less of what is held or waits; nil where nobody waits for it
	err       error         // why writing failed
}

type pendingRequest struct {
	method    string
	cost      int
	cancelled bool
	cancel    context.CancelFunc // of a call that was handed to the server
}

var _ mcp.Connection = (*lineConn)(nil)

// newLineConn makes a connection whose calls get ctx's values.
func newLineConn(ctx context.Context, s *Server, in io.Reader, out io.Writer) *lineConn {
	c := &lineConn{
		id: rand.Text(), in: in, out: out, stop: ctx.Done(), server: s,
		turn: make(chan *lineReader, 1), messages: make(chan jsonrpc.Message), readDone: make(chan struct{}), readErr: io.EOF, failed: make(chan struct{}),
		progressed: make(chan struct{}, 1), ended: make(chan struct{}), closed: make(chan struct{}),
		pending: map[jsonrpc.ID]*pendingRequest{},
	}
	c.kept.pass = c.passTurn
	// Calls outlive ctx by the grace.
	c.calling, c.hangUp = context.WithCancel(context.WithValue(context.WithoutCancel(ctx), connKey{}, c))
	return c
}

// SessionID implements [mcp.Connection]. It is what identifies the agent.
func (c *lineConn) SessionID() string { return c.id }

// Close implements [mcp.Connection]. What is to be written is still written.
func (c *lineConn) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return nil
}

// work reads lines in turn with others like it. Whichever has read a call makes it: to hand the
// call over would be to wait until another processor has been woken. What it hands over is
// the reading, to one that waits for that, where it does not keep it.
func (c *lineConn) work() {
	var r *lineReader // where it is this one's turn
	for {
		if r == nil {
			c.resting.Add(1)
			next, ok := <-c.turn
			if c.resting.Add(-1); !ok {
				return
			}
			r = next
		}
		call := c.next(r)
		if call == nil {
			close(c.turn)
			close(c.messages)
			close(c.readDone)
			return
		}
		if c.keepsTurn(r) {
			c.kept.keep(r)
			call()
			r = c.kept.take()
		} else {
			c.passTurn(r)
			r = nil
			call()
		}
		if r == nil && c.resting.Load() >= maxResting {
			return
		}
	}
}

// passTurn has another goroutine read.
func (c *lineConn) passTurn(r *lineReader) {
	if c.resting.Load() == 0 {
		go c.work()
	}
	c.turn <- r
}

// keepsTurn reports whether the turn is kept for a call: calls are quick, and no line waits.
func (c *lineConn) keepsTurn(r *lineReader) bool {
	if r.hasLine() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.areQuick() {
		return false
	}
	c.gather(false) // nothing waits for a line that has to come
	return true
}

// next reads lines until one brings a call, and gives what makes it; nil where reading has
// ended.
func (c *lineConn) next(r *lineReader) func() {
	for c.awaitRoom(r.hasLine()) {
		line, err := r.next()
		if err != nil && err != errTooLong {
			c.readErr = err
			return nil
		}
		msg, call := c.accept(line, err)
		if call != nil {
			return call
		}
		if msg == nil {
			continue
		}
		c.mu.Lock()
		c.gather(false)
		c.mu.Unlock()
		select {
		case c.messages <- msg:
		case <-c.closed:
			return nil
		}
	}
	return nil
}

// awaitRoom waits until there is room for what another line may bring, which is there already
// or has to come. It reports whether there will be.
func (c *lineConn) awaitRoom(there bool) bool {
	for {
		c.mu.Lock()
		if c.ending {
			c.gather(false)
			c.mu.Unlock()
			return false
		}
		if !c.isFull() {
			c.gather(there)
			c.mu.Unlock()
			return true
		}
		c.gather(false)
		room := c.nextRoom()
		c.mu.Unlock()
		select {
		case <-room:
		case <-c.closed:
			return false
		}
	}
}

// Read implements [mcp.Connection]: it gives the next message that is for the SDK.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg, ok := <-c.messages:
		if !ok {
			return nil, c.end(c.readErr)
		}
		return msg, nil
	case <-c.failed:
	case <-c.stop:
	case <-c.closed:
	case <-ctx.Done():
	}
	return nil, c.end(io.EOF)
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
	defer c.hangUp()
	c.mu.Lock()
	c.ending = true
	c.shrunk() // for the goroutine that reads
	c.mu.Unlock()
	if !errors.Is(cause, io.EOF) {
		c.cause = fmt.Errorf("reading from the client: %w", cause)
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	ready := c.server.ready
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

// isFull reports whether there is no room for what another line may bring. c.mu is held.
func (c *lineConn) isFull() bool { return c.held > maxPending || c.backlog() > maxBacklog }

// isBusy reports whether something is to be answered or written still. A subscription
// is answered at the end of the session only.
func (c *lineConn) isBusy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.backlog() > 0 {
		return true
	}
	for _, p := range c.pending {
		if p.method != methodListen && !p.cancelled {
			return true
		}
	}
	return false
}

// accept takes a line. It gives the message in it that is for the SDK, or what makes the
// call that is in it, or nothing: what is wrong with it has been answered.
func (c *lineConn) accept(line []byte, err error) (jsonrpc.Message, func()) {
	if err != nil {
		c.refuse(nil, rpcError(jsonrpc.CodeInvalidRequest, "%s", err))
		return nil, nil
	}
	msg, rawID, wrong := parseLine(line)
	if wrong != nil {
		c.refuse(rawID, wrong)
		return nil, nil
	}
	req, ok := msg.(*jsonrpc.Request)
	switch {
	case !ok:
		return msg, nil // an answer, or nil
	case !req.IsCall():
		if req.Method == methodCancelled && !c.cancel(req.Params) {
			return nil, nil
		}
		return req, nil
	}
	p := &pendingRequest{method: req.Method, cost: len(line) + requestCost}
	call := directCall(req, c.session.Load())
	if call == nil {
		if wrong := wrongParams(req); wrong != nil {
			c.refuse(rawID, wrong)
			return nil, nil
		}
	}
	ctx := c.calling
	if call != nil {
		ctx, p.cancel = context.WithCancel(ctx)
	}
	err = c.begin(req.ID, p)
	switch {
	case err == nil && call == nil:
		return req, nil
	case err == nil:
		return nil, func() { c.serve(ctx, p.cancel, req.ID, rawID, call) }
	case call != nil:
		p.cancel()
	}
	if errors.Is(err, errInUse) {
		// Not with that id, though it may be free by now: the first has been answered with it.
		c.refuse(nil, rpcError(jsonrpc.CodeInvalidRequest, "the id %s is %s", cut(string(rawID), 100), err))
	}
	return nil, nil
}

var errInUse = errors.New("in use by a request that is not answered yet")

// begin notes that a request is to be answered.
func (c *lineConn) begin(id jsonrpc.ID, p *pendingRequest) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return mcp.ErrConnectionClosed
	}
	if c.pending[id] != nil {
		return errInUse
	}
	c.pending[id] = p
	c.held += p.cost
	if p.cancel != nil {
		c.calls.Add(1)
	}
	return nil
}

// serve answers a call.
func (c *lineConn) serve(ctx context.Context, cancel context.CancelFunc, id jsonrpc.ID, rawID json.RawMessage, call *toolCall) {
	began := time.Now()
	c.server.startTool(ctx, call, c.server.host.Start, func(result *callResult, err error) {
		line := c.server.line(rawID, result, err)
		c.note(time.Since(began))
		if ctx.Err() != nil {
			line = nil
		}
		cancel()
		flush, _ := c.answer(id, line) // it fails where nobody hears it any more
		c.arrived(call.size)
		c.calls.Done() // a client that does not read holds up nobody
		if flush {
			c.flush()
		}
	})
}

// refuse says what is wrong with a line. It does so with the id of the line, unless that is in
// use: what is said would be taken for the answer of the request that has it.
func (c *lineConn) refuse(id json.RawMessage, err *jsonrpc.Error) {
	if parsed, ok := parseID(id); ok && c.isPending(parsed) {
		id = nil
	}
	_ = c.put(encodeResponse(id, nil, err)) // it fails where nobody hears it any more
}

func (c *lineConn) isPending(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pending[id] != nil
}

// cancel notes that a request is not to be answered. It reports whether the SDK is to know.
func (c *lineConn) cancel(params json.RawMessage) bool {
	id, ok := cancelledID(params)
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
	if r.cancel == nil {
		return true
	}
	r.cancel()
	return false
}

// finish waits for the goroutines of a closed connection, interrupts those that block,
// and says why the session ended where that is an error.
func (c *lineConn) finish() error {
	c.calls.Wait()
	c.mu.Lock()
	c.finished = true
	flushing := c.flushing
	c.mu.Unlock()
	if flushing != nil && !await(flushing) {
		interrupt(c.out, func(d deadliner, t time.Time) error { return d.SetWriteDeadline(t) })
		await(flushing)
	}
	select {
	case <-c.readDone:
	default:
		interrupt(c.in, func(d deadliner, t time.Time) error { return d.SetReadDeadline(t) })
		await(c.readDone)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.err, c.cause)
}
