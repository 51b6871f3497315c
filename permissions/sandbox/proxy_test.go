package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/permissions"
)

// startProxy serves a proxy whose connections go to far, for the hosts that are allowed.
func startProxy(t *testing.T, far string, allowed ...string) (*proxy, string) {
	t.Helper()
	p := newProxy(func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == "broken.test:80" {
			return nil, errors.New("no route")
		}
		for _, a := range allowed {
			if a == address {
				return (&net.Dialer{}).DialContext(ctx, network, far)
			}
		}
		return nil, &permissions.DeniedError{Op: "net", Target: address}
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.serve(l)
	t.Cleanup(p.close)
	return p, l.Addr().String()
}

func TestProxyAnswers(t *testing.T) {
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Forwarded", r.Header.Get("X-Forwarded-For")+r.Header.Get("Proxy-Authorization"))
		_, _ = fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Host, r.URL, body)
	}))
	defer far.Close()
	_, address := startProxy(t, strings.TrimPrefix(far.URL, "http://"), "allowed.test:80", "allowed.test:8080")
	transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: address})}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for name, c := range map[string]struct {
		url, body string
		code      int
		want      string
	}{
		"plain":        {"http://allowed.test/a?b=c", "", 200, "GET allowed.test /a?b=c "},
		"with a port":  {"http://allowed.test:8080/", "text", 200, "POST allowed.test:8080 / text"},
		"another port": {"http://allowed.test:81/", "", 403, `connecting to "allowed.test:81" is not allowed`},
		"denied":       {"http://evil.test/", "", 403, `connecting to "evil.test:80" is not allowed`},
		"an address":   {"http://169.254.169.254/latest", "", 403, "169.254.169.254"},
		"broken":       {"http://broken.test/", "", 502, "no route"},
	} {
		method := http.MethodGet
		if c.body != "" {
			method = http.MethodPost
		}
		request, err := http.NewRequestWithContext(t.Context(), method, c.url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != c.code || !strings.Contains(string(body), c.want) {
			t.Errorf("%s: %d %q, %v", name, response.StatusCode, body, err)
		}
		if got := response.Header.Get("X-Forwarded"); got != "" {
			t.Errorf("%s: the host learns %q", name, got)
		}
	}
	// It is a proxy, and serves nothing itself.
	response, err := http.Get("http://" + address + "/")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("asked for itself it answers %d", response.StatusCode)
	}
	http.DefaultClient.CloseIdleConnections()
}

// A tunnel carries what was sent along with the request, both ends close one after the
// other, and close ends one that is open.
func TestProxyTunnel(t *testing.T) {
	far, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	echoed := make(chan struct{}, 2)
	go func() {
		for {
			c, err := far.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
				echoed <- struct{}{}
			}()
		}
	}()
	p, address := startProxy(t, far.Addr().String(), "allowed.test:443")
	connect := func(more string) (net.Conn, *bufio.Reader) {
		t.Helper()
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "CONNECT allowed.test:443 HTTP/1.1\r\nHost: allowed.test:443\r\n\r\n"+more); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(c)
		for _, want := range []string{"HTTP/1.1 200 Connection established\r\n", "\r\n"} {
			if line, err := r.ReadString('\n'); err != nil || line != want {
				t.Fatalf("%q, %v", line, err)
			}
		}
		return c, r
	}
	c, r := connect("early ")
	if _, err := io.WriteString(c, "late"); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if back, err := io.ReadAll(r); err != nil || string(back) != "early late" {
		t.Errorf("%q, %v", back, err)
	}
	_ = c.Close()
	<-echoed

	c, r = connect("")
	defer c.Close()
	p.close()
	if _, err := r.ReadByte(); err == nil {
		t.Error("the tunnel is still open")
	}
	<-echoed
}
