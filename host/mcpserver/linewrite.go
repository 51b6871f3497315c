package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Write implements [mcp.Connection]. An answer is taken at once; it is dropped where
// the client has cancelled the request. A notification waits while the client does not
// read what is there already.
func (c *lineConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if res, ok := msg.(*jsonrpc.Response); ok {
		id, err := json.Marshal(res.ID.Raw())
		if err != nil {
			return fmt.Errorf("encoding the id of a response: %w", err)
		}
		flush, err := c.answer(res.ID, encodeResponse(id, res.Result, res.Error))
		if flush {
			go c.flush()
		}
		return err
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
		c.mu.Lock()
		var room <-chan struct{}
		if c.err == nil && c.backlog() > maxBacklog {
			room = c.nextRoom()
		}
		c.mu.Unlock()
		if room == nil {
			return c.put(line)
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

// answer takes the line that answers a request, nil where nobody is to hear of it. It
// reports whether flush must follow.
func (c *lineConn) answer(id jsonrpc.ID, line []byte) (flush bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[id]
	if p == nil {
		return false, nil
	}
	// From here on the id may be used again; in one step with the queueing, so that
	// the end never finds neither.
	delete(c.pending, id)
	c.held -= p.cost
	c.shrunk()
	c.tell()
	if p.cancelled || line == nil {
		return false, nil
	}
	return c.enqueue(line)
}

// put sees to it that a line is written.
func (c *lineConn) put(line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	flush, err := c.enqueue(line)
	if flush {
		go c.flush()
	}
	return err
}

// note notes how long a call took.
func (c *lineConn) note(took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.quick++; took >= quickCall {
		c.quick = 0
		c.gather(false)
	}
}

// areQuick reports whether the last calls took little time. c.mu is held.
func (c *lineConn) areQuick() bool { return c.quick >= maxGathered }

// gather says whether what is to be written waits for another line to be read, which must be
// there already. c.mu is held.
func (c *lineConn) gather(on bool) {
	if on && c.gathered < maxGathered && c.areQuick() {
		c.gathering = true
		c.gathered++
		return
	}
	c.gathering, c.gathered = false, 0
	if len(c.queue) > 0 && c.flushing == nil {
		c.flushing = make(chan struct{})
		go c.flush()
	}
}

// enqueue appends a line to what is to be written. It reports whether flush must follow.
// c.mu is held.
func (c *lineConn) enqueue(line []byte) (flush bool, err error) {
	switch {
	case c.err != nil:
		return false, c.err
	case c.finished:
		return false, mcp.ErrConnectionClosed
	}
	c.queue = append(c.queue, line...)
	if c.flushing != nil || c.gathering && len(c.queue) < maxGather {
		return false, nil
	}
	c.flushing = make(chan struct{})
	return true, nil
}

// tell wakes end.
func (c *lineConn) tell() {
	select {
	case c.progressed <- struct{}{}:
	default:
	}
}

// flush writes what is queued, all that is there at once, until there is nothing.
func (c *lineConn) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) > 0 {
		lines := c.queue
		c.queue, c.spare, c.writing = c.spare[:0], nil, len(lines)
		c.mu.Unlock()
		_, err := c.out.Write(lines)
		c.mu.Lock()
		if cap(lines) <= maxSpare { // an unusually big one is left to the collector
			c.spare = lines
		}
		c.writing = 0
		if err != nil {
			c.err = fmt.Errorf("writing to the client: %w", err)
			c.queue = nil
			close(c.failed)
		}
		c.shrunk()
		c.tell()
	}
	close(c.flushing)
	c.flushing = nil
}

// backlog gives how many bytes wait to be written. c.mu is held.
func (c *lineConn) backlog() int { return len(c.queue) + c.writing }

// nextRoom gives a channel that closes when there is more room than now. c.mu is held.
func (c *lineConn) nextRoom() <-chan struct{} {
	if c.room == nil {
		c.room = make(chan struct{})
	}
	return c.room
}

// shrunk wakes those who wait for room. c.mu is held.
func (c *lineConn) shrunk() {
	if c.room != nil {
		close(c.room)
		c.room = nil
	}
}

// expect notes that a result of so many bytes is on its way to the queue. It is called
// before another call takes the place of the one that has ended; arrived must follow. The
// nil connection, in both, is any other transport's.
func (c *lineConn) expect(size int) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.coming += size
}

func (c *lineConn) arrived(size int) {
	if c == nil || size == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.coming -= size
	c.shrunk()
}

// noRoom gives a channel that closes when there is more room for a call's result, where
// there is none; nil where there is some. The nil connection is any other transport's.
func (c *lineConn) noRoom() <-chan struct{} {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.backlog()+c.coming <= maxBacklog {
		return nil
	}
	return c.nextRoom()
}
