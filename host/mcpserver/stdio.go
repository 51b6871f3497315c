package mcpserver

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// grace is how long running calls get when the session ends.
	grace = 2 * time.Second
	// interruptWait is how long the end of a blocked read or write is waited for.
	interruptWait = 100 * time.Millisecond
)

// ServeStdio serves one session over in and out, one JSON-RPC message a line, until in
// ends or ctx does; both are no error. Running calls are answered first, for at most
// 2 s; the contexts of those that are left then end. It returns when they have, and
// leaves nothing behind. An error says that reading or writing failed.
//
// A read of in or a write to out that still blocks at the end is interrupted by a
// deadline in the past or, where the stream takes none, by closing it. A stream that
// neither helps with, such as a terminal, keeps a few goroutines until the process ends.
//
// An *[os.File] whose reads block, such as [os.Stdin], is read through a descriptor of its own
// that does not, where it is a pipe, or a socket that out is not: other goroutines have all
// processors.
//
// Nothing but protocol lines is written to out. Whoever passes the process's standard
// output must see to it that nobody else writes there.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	in, done := pollable(in, out)
	defer done()
	c := newLineConn(ctx, s, in, out)
	session, err := s.mcp.Connect(context.WithoutCancel(c.calling), lineTransport{c}, nil)
	if err != nil {
		return fmt.Errorf("starting the MCP session: %w", err)
	}
	c.session.Store(session)
	defer s.forget(session)

	loaded := make(chan struct{})
	go func() {
		defer close(loaded)
		select {
		case <-s.ready:
			s.publish()
		case <-c.closed:
		}
	}()
	_ = session.Wait() // c knows better what went wrong
	<-loaded
	return c.finish()
}

// connKey is the key of a request's *lineConn in its context.
type connKey struct{}

// lineTransport hands one connection to the SDK.
type lineTransport struct{ c *lineConn }

var _ mcp.Transport = lineTransport{}

// Connect implements [mcp.Transport].
func (t lineTransport) Connect(context.Context) (mcp.Connection, error) {
	t.c.turn <- newLineReader(t.c.in)
	go t.c.work()
	return t.c, nil
}

func await(done <-chan struct{}) bool {
	timer := time.NewTimer(interruptWait)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

type deadliner interface {
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

func interrupt(stream any, set func(deadliner, time.Time) error) {
	if d, ok := stream.(deadliner); ok && set(d, time.Unix(1, 0)) == nil {
		return
	}
	if c, ok := stream.(io.Closer); ok {
		_ = c.Close()
	}
}
