package worker

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	pb "github.com/toolhost/toolhost/runtimes/worker/workerpb"
)

const (
	// maxChunk is how many bytes of a body or a connection travel in one message.
	maxChunk = 256 << 10
	// maxRequest is how large a request may be, in bytes.
	maxRequest = 32 << 20
)

func encodeHeader(h http.Header) []*pb.Header {
	var list []*pb.Header
	for name, values := range h {
		m := &pb.Header{Name: []byte(name)}
		for _, v := range values {
			m.Values = append(m.Values, []byte(v))
		}
		list = append(list, m)
	}
	return list
}

func decodeHeader(list []*pb.Header) http.Header {
	h := http.Header{}
	for _, m := range list {
		for _, v := range m.GetValues() {
			h[string(m.GetName())] = append(h[string(m.GetName())], string(v))
		}
	}
	return h
}

// remote is something in the host that is read by requests: the body of a response, or a
// connection. It belongs to one reader.
type remote struct {
	ctx     context.Context
	session *session
	handle  uint64
	rest    []byte
	end     error // what comes after rest; nil where more may
	closing sync.Once
}

func newRemote(ctx context.Context, s *session, handle uint64) *remote {
	return &remote{ctx: ctx, session: s, handle: handle}
}

// Read reads.
func (r *remote) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.end != nil {
			return 0, r.end
		}
		if len(p) == 0 {
			return 0, nil
		}
		m, err := r.session.ask(r.ctx, &pb.Request{Act: &pb.Request_Read{Read: &pb.Read{Handle: r.handle, Limit: int64(max(len(p), 32<<10))}}})
		r.rest = m.GetChunk().GetData()
		switch {
		case err != nil:
			r.end = err
		case m.GetChunk() == nil:
			r.end = errReply
		case m.GetChunk().GetEnd():
			r.end = io.EOF
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close tells the host that it is not needed any more. It may be called while Read runs.
func (r *remote) Close() error {
	r.closing.Do(func() { r.session.forget(r.handle, false) })
	return nil
}

// forget tells the host to close something. Nobody waits for the reply.
func (s *session) forget(handle uint64, writingOnly bool) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _ = s.ask(ctx, &pb.Request{Act: &pb.Request_Close{Close: &pb.Close{Handle: handle, WritingOnly: writingOnly}}})
}

// connection is a connection of the host. Two goroutines carry bytes, each through a pipe
// that has the deadlines of a connection.
type connection struct {
	in, out       net.Conn // our ends of the pipes
	session       *session
	handle        uint64
	local, remote net.Addr

	mu                sync.Mutex
	closed            bool
	written           bool  // carryOut has ended
	readErr, writeErr error // why nothing comes or goes any more, where that is no plain end
}

var _ net.Conn = (*connection)(nil)

// address is one end of a connection, as the host tells it.
func address(text string) net.Addr {
	to, err := netip.ParseAddrPort(text)
	if err != nil {
		return &net.TCPAddr{}
	}
	return net.TCPAddrFromAddrPort(to)
}

func newConnection(s *session, m *pb.Connection) *connection {
	in, toIn := net.Pipe()
	out, fromOut := net.Pipe()
	c := &connection{in: in, out: out, session: s, handle: m.GetHandle(), local: address(m.GetLocal()), remote: address(m.GetRemote())}
	go c.carryIn(toIn)
	go c.carryOut(fromOut)
	return c
}

func (c *connection) carryIn(to net.Conn) {
	defer to.Close()
	_, err := io.Copy(to, newRemote(context.Background(), c.session, c.handle))
	if err != nil && !errors.Is(err, io.ErrClosedPipe) {
		c.fail(&c.readErr, err)
	}
}

func (c *connection) carryOut(from net.Conn) {
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			_, failed := c.session.ask(context.Background(), &pb.Request{Act: &pb.Request_Write{Write: &pb.Write{Handle: c.handle, Data: buffer[:n]}}})
			if failed != nil {
				c.fail(&c.writeErr, failed)
				return
			}
		}
		if err != nil { // closed by us, for writing at least
			c.mu.Lock()
			c.written = true
			writingOnly := !c.closed
			c.mu.Unlock()
			c.session.forget(c.handle, writingOnly)
			return
		}
	}
}

func (c *connection) fail(to *error, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*to = err
}

// told gives why a pipe ended, where it is known better than by the pipe.
func (c *connection) told(err error, why *error) error {
	if err != io.EOF && err != io.ErrClosedPipe {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return net.ErrClosed
	case *why != nil:
		return *why
	}
	return err
}

func (c *connection) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	return n, c.told(err, &c.readErr)
}

func (c *connection) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	return n, c.told(err, &c.writeErr)
}

// CloseWrite tells the other side that nothing more comes.
func (c *connection) CloseWrite() error { return c.out.Close() }

func (c *connection) Close() error {
	c.mu.Lock()
	closed, written := c.closed, c.written
	c.closed = true
	c.mu.Unlock()
	if closed {
		return net.ErrClosed
	}
	if written {
		c.session.forget(c.handle, false)
	}
	_ = c.out.Close() // else carryOut closes the connection once all is written
	return c.in.Close()
}

func (c *connection) LocalAddr() net.Addr  { return c.local }
func (c *connection) RemoteAddr() net.Addr { return c.remote }

func (c *connection) SetDeadline(t time.Time) error {
	return errors.Join(c.in.SetReadDeadline(t), c.out.SetWriteDeadline(t))
}
func (c *connection) SetReadDeadline(t time.Time) error  { return c.in.SetReadDeadline(t) }
func (c *connection) SetWriteDeadline(t time.Time) error { return c.out.SetWriteDeadline(t) }
