// Package fetch makes the requests and connections of handlers.
//
//	client := fetch.New(nil)
//	defer client.Close()
//	network := client.For(secrets) // a runtimes.Network for one plugin
//	response, err := network.Fetch(ctx, call.Grant, &runtimes.Request{URL: "https://api.example.com/"})
//
// Each hop of a request is checked against the call's grant, and each connection at the
// address that it is made to. The client fills placeholders for secrets in, and takes them
// out of what it gives back. It keeps no cookies, uses no proxy and caches nothing.
package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// Options are what a [Client] can be told. The zero value of each field is its default.
type Options struct {
	// MaxBody is how many bytes the body of a request may have, and that of a response
	// once it is decompressed. 0: 64 MiB.
	MaxBody int64
	// RootCAs are whom the certificates of servers must come from. nil: whom the system trusts.
	RootCAs *x509.CertPool
	// Resolver resolves names. nil: the system's.
	Resolver *net.Resolver
}

const (
	defaultMaxBody   = 64 << 20
	maxHeaderBytes   = 64 << 10 // of a request or a response
	maxHeaderCount   = 200
	maxURL           = 64 << 10
	maxRedirects     = 20
	maxDrained       = 64 << 10 // of a response that only redirects, to use its connection again
	maxIdle          = 100
	maxIdleOfHost    = 6
	idleTimeout      = 90 * time.Second
	handshakeTimeout = 15 * time.Second
)

// Client makes requests. It is safe for concurrent use. All grants share its connections:
// a grant is asked whenever a request is made, and whether an address may be connected
// to depends on the host that the request names alone.
type Client struct {
	transport *http.Transport
	dialer    *permissions.Dialer
	maxBody   int64
}

// New makes a client. nil options are the defaults.
func New(options *Options) *Client {
	var o Options
	if options != nil {
		o = *options
	}
	if o.MaxBody == 0 {
		o.MaxBody = defaultMaxBody
	}
	c := &Client{dialer: &permissions.Dialer{Resolver: o.Resolver}, maxBody: o.MaxBody}
	c.transport = &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			number, err := strconv.Atoi(port)
			if err != nil {
				return nil, err
			}
			return c.dialer.Dial(ctx, host, number)
		},
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
		TLSHandshakeTimeout:    handshakeTimeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // what is decompressed is counted here
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdleOfHost,
		IdleConnTimeout:        idleTimeout,
	}
	return c
}

// Close closes the connections that no request uses.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Secrets gives the value of a secret setting of one plugin; ok is false where the plugin
// has no such setting, it is not secret, or no value is set.
type Secrets func(ctx context.Context, key string) (value string, ok bool, err error)

// For gives the network of one plugin. nil secrets: it has none.
func (c *Client) For(secrets Secrets) runtimes.Network {
	return &network{client: c, secrets: secrets}
}

// network is what the handlers of one plugin reach others by.
type network struct {
	client  *Client
	secrets Secrets
}

var _ runtimes.Network = (*network)(nil)

// Dial connects to a host of permissions.net.
func (n *network) Dial(ctx context.Context, grant *permissions.Grant, host string, port int) (net.Conn, error) {
	conn, err := grant.Net().Dial(ctx, n.client.dialer, host, port)
	if err != nil {
		return nil, runtimes.AsNetworkError(err, host, port)
	}
	return conn, nil
}

// Fetch sends a request to a host of permissions.fetch, and follows redirects to such hosts.
func (n *network) Fetch(ctx context.Context, grant *permissions.Grant, request *runtimes.Request) (*runtimes.Response, error) {
	f := &flight{client: n.client, door: grant.Fetch(), secrets: &filler{lookup: n.secrets}, redirect: request.Redirect}
	response, err := f.fly(ctx, request)
	if err != nil {
		return nil, f.secrets.conceal(err)
	}
	return response, nil
}

// mistake is an error in a request, told before anything is sent.
func mistake(format string, args ...any) error {
	return &runtimes.NetworkError{Code: "ERR_INVALID_ARG_VALUE", Message: fmt.Sprintf(format, args...)}
}
