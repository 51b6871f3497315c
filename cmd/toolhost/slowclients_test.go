package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/host/mcpserver"
)

// pipes is a listener whose connections are in memory, so that their time is that of the test.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// TestSlowClients: whatever a client sends, and however slowly, it is answered or left when its
// time is over, and others are served meanwhile.
func TestSlowClients(t *testing.T) {
	const (
		bodyTime = 30 * time.Second // as package mcpserver has it
		start    = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
	)
	limit := int64(host.New(nil).Limits().Arguments) + 1<<20
	trickle := func(text string) func(net.Conn) {
		return func(c net.Conn) { // a byte at a time
			for i := 0; ; i++ {
				if _, err := c.Write([]byte{text[i%len(text)]}); err != nil {
					return
				}
				time.Sleep(900 * time.Millisecond) // never in the moment of a limit
			}
		}
	}
	all := func(parts ...string) func(net.Conn) {
		return func(c net.Conn) {
			for _, part := range parts {
				if _, err := io.WriteString(c, part); err != nil {
					return
				}
			}
		}
	}
	endless := func(part string) func(net.Conn) {
		return func(c net.Conn) {
			for {
				if _, err := io.WriteString(c, part); err != nil {
					return
				}
			}
		}
	}
	for name, c := range map[string]struct {
		head   string
		more   func(net.Conn)
		status string // "" where there is no answer
		after  time.Duration
	}{
		"nothing":                        {"", nil, "", headerTime},
		"a header without an end":        {start + "X: ", nil, "", headerTime},
		"a header that trickles":         {start + "X: ", trickle("x"), "", headerTime},
		"header lines that trickle":      {start, trickle("X: y\r\n"), "", headerTime},
		"a body that does not come":      {start + "Content-Length: 1000\r\n\r\n", nil, "400", bodyTime},
		"a body that trickles":           {start + "Content-Length: 1000\r\n\r\n", trickle(" "), "400", bodyTime},
		"chunks that trickle":            {start + "Transfer-Encoding: chunked\r\n\r\n", trickle("1\r\n \r\n"), "400", bodyTime},
		"a header too large":             {start, all("X: " + strings.Repeat("x", 2*headerBytes)), "431", 0},
		"header lines without an end":    {start, endless("X: y\r\n"), "431", 0},
		"a body that says it is large":   {start + fmt.Sprintf("Content-Length: %d\r\n\r\n", limit+1), nil, "413", 0},
		"a body that is larger":          {start + "Transfer-Encoding: chunked\r\n\r\n", endless("10000\r\n" + strings.Repeat(" ", 1<<16) + "\r\n"), "413", 0},
		"a request, and then no further": {start + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(hello), hello), nil, "200", idleTime},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := slog.New(slog.DiscardHandler)
				h := host.New(nil)
				server := mcpserver.New(h, nil)
				handler := server.Handler(nil)
				web, ln := httpServer(handler, log), &pipes{make(chan net.Conn), make(chan struct{})}
				served := make(chan error, 1)
				go func() { served <- web.Serve(ln) }()

				conn := ln.dial()
				began := time.Now()
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					if _, err := io.WriteString(conn, c.head); err == nil && c.more != nil {
						c.more(conn)
					}
				}()
				answer, _ := io.ReadAll(bufio.NewReader(conn)) // until the connection ends
				// Go's server reads on for a moment where it has refused a request.
				if took := time.Since(began); took < c.after || took > c.after+2*time.Second {
					t.Errorf("it is left after %s, not %s", took, c.after)
				}
				if status := strings.TrimPrefix(string(answer[:min(len(answer), 12)]), "HTTP/1.1 "); status != c.status {
					t.Errorf("it is answered %q, want the status %q", answer, c.status)
				}
				_ = conn.Close()
				<-sent

				other := ln.dial()
				go func() {
					_, _ = fmt.Fprintf(other, "%sContent-Length: %d\r\nConnection: close\r\n\r\n%s", start, len(hello), hello)
				}()
				if res, err := http.ReadResponse(bufio.NewReader(other), nil); err != nil || res.StatusCode != http.StatusOK {
					t.Errorf("another client gets %v, %v", res, err)
				}
				_ = other.Close()

				handler.Close(t.Context())
				_ = web.Close() // which closes the connections that are left
				<-served
				server.Close()
				if err := h.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
