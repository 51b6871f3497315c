package sandbox

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"

	"github.com/toolhost/toolhost/permissions"
)

// proxy serves HTTP and CONNECT to one child, and makes each connection by a function
// that knows what is granted.
type proxy struct {
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	server *http.Server
	plain  *httputil.ReverseProxy
	ctx    context.Context
	stop   context.CancelFunc
	work   sync.WaitGroup
}

func newProxy(dial func(ctx context.Context, network, address string) (net.Conn, error)) *proxy {
	p := &proxy{dial: dial}
	p.ctx, p.stop = context.WithCancel(context.Background())
	quiet := log.New(io.Discard, "", 0) // what a child does wrong is answered to it alone
	p.server = &http.Server{
		Handler:           p,
		ReadHeaderTimeout: 30 * time.Second,
		ErrorLog:          quiet,
		BaseContext:       func(net.Listener) context.Context { return p.ctx },
	}
	p.plain = &httputil.ReverseProxy{
		Rewrite:       func(*httputil.ProxyRequest) {}, // the request names its host itself
		Transport:     &http.Transport{DialContext: dial, DisableCompression: true, MaxIdleConns: 16, IdleConnTimeout: 30 * time.Second},
		ErrorLog:      quiet,
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, err error) { refuseConnection(w, err) },
	}
	return p
}

// serve answers what comes in at l, until close.
func (p *proxy) serve(l net.Listener) {
	p.work.Go(func() { _ = p.server.Serve(l) }) // it ends with close
}

// close ends all connections and waits for what serves them.
func (p *proxy) close() {
	p.stop()
	_ = p.server.Close()
	p.work.Wait()
	p.plain.Transport.(*http.Transport).CloseIdleConnections()
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		p.plain.ServeHTTP(w, r)
	default:
		http.Error(w, "this is a proxy: send the whole URL, or CONNECT", http.StatusBadRequest)
	}
}

// tunnel connects and then carries bytes both ways.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	far, err := p.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		refuseConnection(w, err)
		return
	}
	defer far.Close()
	near, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer near.Close()
	// A connection that was taken over is not the server's to end.
	p.work.Add(1)
	defer p.work.Done()
	defer context.AfterFunc(p.ctx, func() {
		_ = near.Close()
		_ = far.Close()
	})()
	if _, err := io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	var up sync.WaitGroup
	up.Go(func() {
		_, _ = io.Copy(far, &drained{r: buffered.Reader, then: near})
		closeWrite(far)
	})
	_, _ = io.Copy(near, far)
	closeWrite(near)
	up.Wait()
}

// drained reads what was buffered, then from the connection itself.
type drained struct {
	r    *bufio.Reader
	then io.Reader
}

func (d *drained) Read(b []byte) (int, error) {
	if d.r.Buffered() > 0 {
		return d.r.Read(b[:min(len(b), d.r.Buffered())])
	}
	return d.then.Read(b)
}

func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = c.Close()
}

// refuseConnection answers that there is no connection, and why.
func refuseConnection(w http.ResponseWriter, err error) {
	code := http.StatusBadGateway
	if errors.Is(err, permissions.ErrDenied) {
		code = http.StatusForbidden
	}
	http.Error(w, err.Error(), code)
}
