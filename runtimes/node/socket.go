package node

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/runtimes"
)

// socket is a connection that a script has made. Reads and writes of it run on
// goroutines, at most one of each at a time.
type socket struct {
	scope *scope
	host  string
	port  int

	reading, writing sync.Mutex // held by the read and the write that is under way

	mu        sync.Mutex
	conn      net.Conn // nil until it is connected
	closed    bool
	upgrading bool // a read that is under way must end without closing anything
}

// maxSockets is how many connections one engine may have open. Each may hold two
// operations, and others must find room.
const maxSockets = 24

var errSocketClosed = &runtimes.NetworkError{Code: "ECONNRESET", Syscall: "read", Message: "read ECONNRESET"}

func (s *socket) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.conn != nil {
		_ = s.conn.Close() // who reads is told
	}
}

func (s *socket) current() (conn net.Conn, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.conn == nil {
		return nil, errSocketClosed
	}
	return s.conn, nil
}

// connected takes the connection over; ctx's end closes it.
func (s *socket) connected(ctx context.Context, conn net.Conn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = conn.Close()
		return errSocketClosed
	}
	s.conn = conn
	context.AfterFunc(ctx, func() { s.close() })
	return nil
}

// wordly words an error of the connection as Node does.
func (s *socket) wordly(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, net.ErrClosed) {
		return errSocketClosed
	}
	return runtimes.AsNetworkError(err, s.host, s.port)
}

// loadSockets makes what node:net and node:tls call.
func loadSockets(e *engine) goja.Value {
	return e.object(map[string]any{
		"open":   e.openSocket,
		"read":   e.readSocket,
		"write":  e.writeSocket,
		"secure": e.secureSocket,
		"pause": func(c goja.FunctionCall) goja.Value { // (id): ends the read that is under way, without closing anything
			if s := e.api.sockets[int(c.Argument(0).ToInteger())]; s != nil {
				s.pause()
			}
			return goja.Undefined()
		},
		"capture": e.captureFunction(),
		"end": func(c goja.FunctionCall) goja.Value { // (id) → promise: nothing more is sent
			return e.onSocket(c, func(_ context.Context, s *socket, _ net.Conn) (func() goja.Value, error) {
				s.writing.Lock()
				defer s.writing.Unlock()
				conn, err := s.current()
				if err != nil {
					return undefined, err
				}
				half, ok := conn.(interface{ CloseWrite() error })
				if !ok {
					return undefined, conn.Close()
				}
				return undefined, half.CloseWrite()
			})
		},
		"close": func(c goja.FunctionCall) goja.Value { // (id)
			id := int(c.Argument(0).ToInteger())
			if s := e.api.sockets[id]; s != nil {
				delete(e.api.sockets, id)
				s.close()
			}
			return goja.Undefined()
		},
	})
}

func undefined() goja.Value { return goja.Undefined() }

// onSocket runs work for an open socket, and gives a promise of what it gives.
func (e *engine) onSocket(c goja.FunctionCall, work func(ctx context.Context, s *socket, conn net.Conn) (func() goja.Value, error)) goja.Value {
	s := e.api.sockets[int(c.Argument(0).ToInteger())]
	return e.serve(func(ctx context.Context) (func() (goja.Value, error), error) {
		if s == nil {
			return nil, errSocketClosed
		}
		conn, err := s.current()
		if err != nil {
			return nil, err
		}
		finish, err := work(ctx, s, conn)
		if err != nil {
			return nil, s.wordly(ctx, err)
		}
		return func() (goja.Value, error) { return finish(), nil }, nil
	})
}

// openSocket is (host, port) → [id, promise of the addresses].
func (e *engine) openSocket(c goja.FunctionCall) goja.Value {
	if len(e.api.sockets) >= maxSockets {
		panic(e.newError("RangeError", "ERR_OUT_OF_RANGE", "more than %d connections are open; end those that are not needed", maxSockets))
	}
	s := &socket{scope: e.scope, host: c.Argument(0).String(), port: int(c.Argument(1).ToInteger())}
	if e.api.sockets == nil {
		e.api.sockets = map[int]*socket{}
	}
	e.api.lastSocket++
	id := e.api.lastSocket
	e.api.sockets[id] = s
	grant, network, call := e.grant, e.services.Network, e.call
	return e.vm.NewArray(id, e.serve(func(ctx context.Context) (func() (goja.Value, error), error) {
		var conn net.Conn
		err := withoutCall("net", net.JoinHostPort(s.host, strconv.Itoa(s.port)))
		if call != nil {
			conn, err = network.Dial(ctx, grant, s.host, s.port)
		}
		if err == nil {
			err = s.connected(ctx, conn)
		}
		if err != nil {
			return func() (goja.Value, error) {
				delete(e.api.sockets, id)
				return nil, err
			}, nil
		}
		local, remote := addressOf(conn.LocalAddr()), addressOf(conn.RemoteAddr())
		return func() (goja.Value, error) {
			return e.vm.NewArray(local.Addr().String(), local.Port(), remote.Addr().String(), remote.Port(), map[bool]string{true: "IPv6", false: "IPv4"}[remote.Addr().Is6()]), nil
		}, nil
	}))
}

func addressOf(a net.Addr) netip.AddrPort {
	if a == nil {
		return netip.AddrPort{}
	}
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

// readSocket is (id) → promise of a Uint8Array, null at the end, undefined where the
// connection goes on as another.
func (e *engine) readSocket(c goja.FunctionCall) goja.Value {
	return e.onSocket(c, func(_ context.Context, s *socket, _ net.Conn) (func() goja.Value, error) {
		s.reading.Lock()
		defer s.reading.Unlock()
		conn, err := s.current() // which goes on as another while this waits
		if err != nil {
			return undefined, err
		}
		data := make([]byte, bodyChunk)
		n, err := conn.Read(data)
		s.mu.Lock()
		upgrading := s.upgrading
		s.mu.Unlock()
		switch {
		case upgrading:
			return undefined, nil
		case n > 0:
			return func() goja.Value { return e.uint8Array(slices.Clone(data[:n])) }, nil
		case errors.Is(err, io.EOF):
			return func() goja.Value { return goja.Null() }, nil
		}
		return undefined, err
	})
}

// writeSocket is (id, Uint8Array) → promise.
func (e *engine) writeSocket(c goja.FunctionCall) goja.Value {
	data := slices.Clone(e.mustBytes(c.Argument(1)))
	return e.onSocket(c, func(_ context.Context, s *socket, _ net.Conn) (func() goja.Value, error) {
		s.writing.Lock()
		defer s.writing.Unlock()
		conn, err := s.current()
		if err != nil {
			return undefined, err
		}
		_, err = conn.Write(data)
		var op *net.OpError
		if errors.As(err, &op) {
			op.Op = "write"
		}
		return undefined, err
	})
}

// secureSocket is (id, options) → promise of what TLS has agreed on. Options: servername,
// ca, cert, key (PEM), alpn, insecure, tls13.
func (e *engine) secureSocket(c goja.FunctionCall) goja.Value {
	o := c.Argument(1).ToObject(e.vm)
	text := func(name string) string {
		if v := optional(o.Get(name)); v != nil {
			return v.String()
		}
		return ""
	}
	config := &tls.Config{ServerName: text("servername"), MinVersion: tls.VersionTLS12}
	if o.Get("tls13").ToBoolean() {
		config.MinVersion = tls.VersionTLS13
	}
	if v := optional(o.Get("alpn")); v != nil {
		if err := e.vm.ExportTo(v, &config.NextProtos); err != nil {
			panic(err)
		}
	}
	if ca := text("ca"); ca != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(ca)) {
			panic(e.newError("Error", "ERR_OSSL_PEM_NO_START_LINE", "the option \"ca\" holds no certificate in PEM form"))
		}
	}
	if cert := text("cert"); cert != "" {
		pair, err := tls.X509KeyPair([]byte(cert), []byte(text("key")))
		if err != nil {
			panic(e.newError("Error", "ERR_OSSL_PEM_NO_START_LINE", "the options \"cert\" and \"key\" are no certificate with its key in PEM form"))
		}
		config.Certificates = []tls.Certificate{pair}
	}
	insecure := o.Get("insecure").ToBoolean()
	return e.onSocket(c, func(ctx context.Context, s *socket, conn net.Conn) (func() goja.Value, error) {
		if insecure {
			// A certificate that nobody vouches for is usual at home and in tests only.
			if to := addressOf(conn.RemoteAddr()).Addr(); !to.IsLoopback() && !to.IsPrivate() && !to.IsLinkLocalUnicast() {
				return undefined, &runtimes.NetworkError{Code: "ERR_UNSUPPORTED_IN_HOST", Message: "rejectUnauthorized: false is taken only for addresses of this machine or its networks; for others give the certificate to trust as the option \"ca\""}
			}
			config.InsecureSkipVerify = true
		}
		secured := tls.Client(conn, config)
		if err := s.upgrade(ctx, secured); err != nil {
			return undefined, err
		}
		state := secured.ConnectionState()
		return func() goja.Value { return e.secured(state, insecure) }, nil
	})
}

// pause ends the read that is under way, and those that begin before the connection goes
// on as TLS: they would take what belongs to TLS.
func (s *socket) pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.upgrading = true
		_ = s.conn.SetReadDeadline(time.Unix(1, 0)) // upgrade tells where there is none
	}
}

// upgrade makes the connection go on as TLS.
func (s *socket) upgrade(ctx context.Context, secured *tls.Conn) error {
	s.pause()
	s.reading.Lock()
	defer s.reading.Unlock()
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := secured.NetConn().SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	if err := secured.HandshakeContext(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.upgrading = false
	s.conn = secured
	if s.closed {
		_ = secured.Close()
		return errSocketClosed
	}
	return nil
}

// secured tells a script of a connection over TLS.
func (e *engine) secured(state tls.ConnectionState, insecure bool) goja.Value {
	members := map[string]any{
		"alpn":     state.NegotiatedProtocol,
		"protocol": strings.ReplaceAll(tls.VersionName(state.Version), "TLS 1", "TLSv1"),
		"cipher":   tls.CipherSuiteName(state.CipherSuite),
		"problem":  goja.Null(),
	}
	if len(state.PeerCertificates) > 0 {
		cert := state.PeerCertificates[0]
		members["certificate"] = e.certificate(cert)
		if insecure {
			options := x509.VerifyOptions{DNSName: state.ServerName, Intermediates: x509.NewCertPool()}
			for _, c := range state.PeerCertificates[1:] {
				options.Intermediates.AddCert(c)
			}
			if _, err := cert.Verify(options); err != nil {
				members["problem"] = e.errorValue(runtimes.AsNetworkError(err, state.ServerName, 0))
			}
		}
	}
	return e.object(members)
}

// certificate gives the fields of a certificate by the names of Node.
func (e *engine) certificate(c *x509.Certificate) goja.Value {
	name := func(n string, country, org, unit []string) *goja.Object {
		o := e.vm.NewObject()
		for _, f := range []struct {
			key    string
			values []string
		}{{"C", country}, {"O", org}, {"OU", unit}, {"CN", []string{n}}} {
			if len(f.values) > 0 && f.values[0] != "" {
				_ = o.Set(f.key, strings.Join(f.values, ", ")) // a plain object
			}
		}
		return o
	}
	var alternatives []string
	for _, n := range c.DNSNames {
		alternatives = append(alternatives, "DNS:"+n)
	}
	for _, ip := range c.IPAddresses {
		alternatives = append(alternatives, "IP Address:"+ip.String())
	}
	hex := func(b []byte) string {
		parts := make([]string, len(b))
		for i, x := range b {
			parts[i] = fmt.Sprintf("%02X", x)
		}
		return strings.Join(parts, ":")
	}
	one, two := sha1.Sum(c.Raw), sha256.Sum256(c.Raw)
	const layout = "Jan _2 15:04:05 2006 GMT"
	return e.object(map[string]any{
		"subject":        name(c.Subject.CommonName, c.Subject.Country, c.Subject.Organization, c.Subject.OrganizationalUnit),
		"issuer":         name(c.Issuer.CommonName, c.Issuer.Country, c.Issuer.Organization, c.Issuer.OrganizationalUnit),
		"subjectaltname": strings.Join(alternatives, ", "),
		"valid_from":     c.NotBefore.UTC().Format(layout),
		"valid_to":       c.NotAfter.UTC().Format(layout),
		"serialNumber":   strings.ToUpper(c.SerialNumber.Text(16)),
		"fingerprint":    hex(one[:]),
		"fingerprint256": hex(two[:]),
		"ca":             c.IsCA,
		"raw":            e.buffer(slices.Clone(c.Raw)),
	})
}

// closeSockets closes those of a scope.
func (e *engine) closeSockets(s *scope) {
	for id, socket := range e.api.sockets {
		if socket.scope == s {
			delete(e.api.sockets, id)
			socket.close()
		}
	}
}
