package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/host/mcpserver"
	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/internal/metrics"
	"github.com/toolhost/toolhost/loader"
)

const (
	// headerTime is how long a client may take to send a header, headerBytes how large that
	// may be.
	headerTime  = 10 * time.Second
	headerBytes = 64 << 10
	// idleTime is how long a connection is kept without a request.
	idleTime = 2 * time.Minute
	// leaveTime is how long connections get to end when nothing runs on them any more.
	leaveTime = 300 * time.Millisecond
)

// httpFlags say how the tools are served over HTTP. The configuration has the same keys.
type httpFlags struct {
	Addr       string   `json:"http"`
	TokenFile  string   `json:"token-file"`
	NoToken    bool     `json:"no-token"`
	TLSCert    string   `json:"tls-cert"`
	TLSKey     string   `json:"tls-key"`
	AllowHosts []string `json:"allow-host"`
}

// addHTTPFlags gives a command that serves the flags of HTTP.
func (p *program) addHTTPFlags(cmd *cobra.Command) {
	f, h := cmd.Flags(), &p.flags.http
	f.StringVar(&h.Addr, "http", "", "serve streamable HTTP at /mcp on this address, such as 127.0.0.1:8080; port 0 takes a free one")
	f.StringVar(&h.TokenFile, "token-file", "", "the file of the token that clients must send (default: one made at the first run, kept in the state folder)")
	f.BoolVar(&h.NoToken, "no-token", false, "ask for no token; on loopback addresses only")
	f.StringVar(&h.TLSCert, "tls-cert", "", "the certificate chain for HTTPS, PEM")
	f.StringVar(&h.TLSKey, "tls-key", "", "its key, PEM")
	f.Var((*texts)(&h.AllowHosts), "allow-host", "a name or address by which clients reach the server, beside those of this machine; may be repeated")
}

// fill takes from the configuration what the command line leaves open.
func (h *httpFlags) fill(set func(flag string) bool, c httpFlags, below func(string) string) {
	for flag, v := range map[string]struct {
		from   string
		to     *string
		isFile bool
	}{
		"http": {c.Addr, &h.Addr, false}, "token-file": {c.TokenFile, &h.TokenFile, true},
		"tls-cert": {c.TLSCert, &h.TLSCert, true}, "tls-key": {c.TLSKey, &h.TLSKey, true},
	} {
		if set(flag) || v.from == "" {
			continue
		}
		*v.to = v.from
		if v.isFile {
			*v.to = below(v.from)
		}
	}
	switch {
	case set("no-token") && h.NoToken && !set("token-file"):
		h.TokenFile = "" // the configuration's, which the command line overrules
	case !set("no-token") && !set("token-file"):
		h.NoToken = c.NoToken
	}
	if !set("allow-host") {
		h.AllowHosts = c.AllowHosts
	}
}

// checkHTTP refuses what does not fit together. Commands that do not serve have no such flags.
func (p *program) checkHTTP(cmd *cobra.Command) error {
	if cmd.Flags().Lookup("http") == nil {
		return nil
	}
	if p.flags.http.Addr != "" {
		return p.flags.http.check()
	}
	for _, flag := range []string{"token-file", "no-token", "tls-cert", "tls-key", "allow-host"} {
		if cmd.Flags().Changed(flag) {
			return usagef("for example --http 127.0.0.1:8080", "--%s is of use with --http only", flag)
		}
	}
	return nil
}

// check refuses what cannot be meant, and what would open the tools to others by accident.
func (h *httpFlags) check() error {
	host, _, err := net.SplitHostPort(h.Addr)
	if err != nil {
		return usagef("for example --http 127.0.0.1:8080", "--http %q is no address with a port", h.Addr)
	}
	switch {
	case h.NoToken && h.TokenFile != "":
		return usagef("leave one of them out", "--no-token and --token-file exclude each other")
	case (h.TLSCert == "") != (h.TLSKey == ""):
		return usagef("name both", "--tls-cert and --tls-key belong together")
	case !isLoopback(host) && h.NoToken:
		return usagef("serve on 127.0.0.1, or ask for a token with --token-file", "--no-token is for loopback addresses only, and %q is none: everybody who reaches it could call every tool", h.Addr)
	case !isLoopback(host) && h.TokenFile == "":
		return usagef("write a long random text to a file that only you can read and name it with --token-file", "serving on %q, which others can reach, needs a token that you have chosen", h.Addr)
	}
	return nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// web serves a session's tools over HTTP.
type web struct {
	p       *program
	s       *session
	ln      net.Listener
	handler *mcpserver.HTTPHandler
	metrics *metrics.Metrics
	mux     *http.ServeMux
	tls     bool
	token   string // the file it is in; "" where none is asked for
}

// openHTTP listens as the flags ask for, so that what is wrong is said at once; nil where
// they do not. It is called before the first load. close must follow, unless serve does.
func (p *program) openHTTP(s *session, server *mcpserver.Server) (*web, error) {
	f := &p.flags.http
	if f.Addr == "" {
		return nil, nil
	}
	w := &web{p: p, s: s, tls: f.TLSCert != ""}
	var token string
	if !f.NoToken {
		var err error
		if w.token, token, err = p.httpToken(); err != nil {
			return nil, err
		}
	}
	var certificate tls.Certificate
	if w.tls {
		var err error
		if certificate, err = tls.LoadX509KeyPair(f.TLSCert, f.TLSKey); err != nil {
			return nil, usagef("--tls-cert takes a PEM file with the certificate and those that it was signed with, --tls-key one with the private key of that certificate",
				"reading the certificate %q and its key %q: %w", f.TLSCert, f.TLSKey, err)
		}
		if leaf := certificate.Leaf; leaf != nil && time.Now().After(leaf.NotAfter) {
			s.log.Warn("the certificate has expired: clients will refuse it", "certificate", f.TLSCert, "expired", leaf.NotAfter)
		}
	}
	ln, err := net.Listen("tcp", f.Addr)
	if err != nil {
		return nil, &failure{code: exitFailed, err: fmt.Errorf("serving on %q: %w", f.Addr, err), hint: "name an address of this machine and a port that nothing else listens at; port 0 takes a free one"}
	}
	hosts := f.AllowHosts
	if host, _, _ := net.SplitHostPort(f.Addr); host != "" && !isUnspecified(host) {
		hosts = append(hosts[:len(hosts):len(hosts)], host)
	}
	if w.tls {
		ln = tls.NewListener(ln, &tls.Config{
			Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		})
	}
	w.ln = ln
	w.handler = server.Handler(&mcpserver.HTTPOptions{Token: token, Hosts: hosts})
	w.metrics = metrics.New(s.host, &metrics.Options{
		Version:  version(),
		Sessions: w.handler.Sessions,
		Children: child.Descendants,
		Stuck: func() int {
			n := 0
			for _, st := range s.loader.Status() {
				n += st.Stuck
			}
			return n
		},
		Plugins: func() int {
			n := 0
			for _, st := range s.loader.Status() {
				if st.State == loader.Loaded {
					n++
				}
			}
			return n
		},
	})
	s.loads = append(s.loads, func(e loader.Event) { w.metrics.PluginEvent(e.Kind.String()) })
	w.mux = http.NewServeMux()
	w.mux.Handle("/mcp", w.handler)
	w.mux.Handle("GET /metrics", w.handler.Guard(w.metrics.Handler()))
	w.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n")) // whoever is gone does not want to know
	})
	return w, nil
}

func isUnspecified(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsUnspecified()
}

// url gives where MCP is served.
func (w *web) url() string {
	scheme := "http"
	if w.tls {
		scheme = "https"
	}
	return scheme + "://" + w.ln.Addr().String() + "/mcp"
}

// httpServer makes a server that bounds what its clients may send, and how slowly.
func httpServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		MaxHeaderBytes:    headerBytes,
		IdleTimeout:       idleTime,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug), // what clients do wrong
	}
}

// serve serves until ctx ends: running calls then get closeTimeout.
func (w *web) serve(ctx context.Context) error {
	defer w.metrics.Close()
	server := httpServer(w.mux, w.s.log)
	attrs := []any{"url", w.url()}
	if w.token != "" {
		attrs = append(attrs, "tokenFile", w.token)
	}
	w.s.log.Info("serving MCP over HTTP", attrs...)
	if host, _, _ := net.SplitHostPort(w.p.flags.http.Addr); !w.tls && !isLoopback(host) {
		w.s.log.Warn("the token and all that is said go over the network unencrypted; use --tls-cert and --tls-key, or a proxy that encrypts")
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(w.ln) }()
	var err error
	select {
	case err = <-served:
		served <- err
	case <-ctx.Done():
	}
	w.leave(server)
	if err = <-served; err != nil && !errors.Is(err, http.ErrServerClosed) {
		return failed(fmt.Errorf("serving on %s: %w", w.ln.Addr(), err))
	}
	return nil
}

// leave ends what is served. A server that is shut down first waits for its streams, which
// do not end by themselves.
func (w *web) leave(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	w.handler.Close(ctx)
	ctx, cancel = context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		_ = server.Close() // it says that connections were open, which is why it is called
	}
}
