package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificate writes a certificate of this machine, which ends at a time, and its key.
func certificate(t *testing.T, end time.Time) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: end.Add(-48 * time.Hour), NotAfter: end,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(leaf)
	return certFile, keyFile, pool
}

func TestServeTLS(t *testing.T) {
	cert, key, pool := certificate(t, time.Now().Add(time.Hour))
	s := startHTTP(t, "--state", t.TempDir(), "--no-token", "--tls-cert", cert, "--tls-key", key)
	if !strings.HasPrefix(s.url, "https://") {
		t.Fatalf("it serves at %s", s.url)
	}
	const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"folder_list","arguments":{},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	for protocol, h2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: h2}
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport}
		for _, c := range []struct{ body, want string }{{hello, `"serverInfo"`}, {call, `"resultType":"complete"`}} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/mcp", strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("Content-Type", "application/json")
			if c.body == call {
				r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
				r.Header.Set("Mcp-Method", "tools/call")
				r.Header.Set("Mcp-Name", "folder_list")
			}
			res, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(text), c.want) || res.Proto != protocol || res.TLS.Version < tls.VersionTLS12 {
				t.Errorf("%s: %s %s %s, %v, want %s", protocol, res.Status, res.Proto, text, err, c.want)
			}
		}
	}

	addr := strings.TrimPrefix(s.url, "https://")
	for name, c := range map[string]struct {
		config *tls.Config
		want   string
	}{
		"this machine's own": {&tls.Config{RootCAs: pool}, ""},
		"by its name":        {&tls.Config{RootCAs: pool, ServerName: "localhost"}, ""},
		"of nobody":          {&tls.Config{RootCAs: x509.NewCertPool()}, "unknown authority"},
		"of another name":    {&tls.Config{RootCAs: pool, ServerName: "example.com"}, "example.com"},
		"too old":            {&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, "version"},
	} {
		conn, err := tls.Dial("tcp", addr, c.config)
		if err == nil {
			_ = conn.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("a certificate that is %s: %v, want %q", name, err, c.want)
		}
	}
	// Whoever does not encrypt is told.
	if status, text := ask(t, "GET", "http://"+addr+"/healthz", "", ""); status != http.StatusBadRequest || !strings.Contains(text, "HTTPS") {
		t.Errorf("without encryption: %d %s", status, text)
	}
}

// What is no certificate with its key is said at once, and nothing is served.
func TestWrongCertificates(t *testing.T) {
	cert, key, _ := certificate(t, time.Now().Add(time.Hour))
	_, other, _ := certificate(t, time.Now().Add(time.Hour))
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ cert, key, want string }{
		"another key": {cert, other, "private key does not match public key"},
		"exchanged":   {key, cert, "PEM"},
		"no PEM":      {text, key, "PEM"},
		"no key":      {cert, text, "PEM"},
		"no file":     {cert, text + "x", "no such file"},
		"a folder":    {filepath.Dir(cert), key, "is a directory"},
	} {
		var said bytes.Buffer
		code := run(t.Context(), []string{"serve", "--http", "127.0.0.1:0", "--no-token", "--no-bundled", "--folder", t.TempDir(), "--plugins", t.TempDir(),
			"--state", t.TempDir(), "--tls-cert", c.cert, "--tls-key", c.key}, strings.NewReader(""), io.Discard, &said)
		if code != exitUsage {
			t.Errorf("%s: it ended with %d", name, code)
		}
		for _, want := range []string{"reading the certificate", c.want, c.cert, c.key, "hint: --tls-cert takes a PEM file"} {
			if !strings.Contains(said.String(), want) {
				t.Errorf("%s: it says %q, want %q in it", name, said.String(), want)
			}
		}
	}
	cert, key, _ = certificate(t, time.Now().Add(-time.Hour))
	s := startHTTP(t, "--state", t.TempDir(), "--no-token", "--tls-cert", cert, "--tls-key", key)
	s.log.await(t, "the certificate has expired")
}
