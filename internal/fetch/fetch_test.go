package fetch_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/fetch"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a client with servers, and a grant for the hosts that a test names.
type world struct {
	t       *testing.T
	client  *fetch.Client
	grant   *permissions.Grant
	secrets map[string]string
	asked   []string // keys of secrets
}

func newWorld(t *testing.T, options *fetch.Options, hosts ...string) *world {
	t.Helper()
	w := &world{t: t, client: fetch.New(options), secrets: map[string]string{}}
	t.Cleanup(w.client.Close)
	policy := &permissions.Policy{Fetch: permissions.HostPolicy{Static: hosts}, Net: permissions.HostPolicy{Static: hosts}}
	grant, err := policy.Resolve("", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(grant.Revoke)
	w.grant = grant
	return w
}

func (w *world) fetch(ctx context.Context, r *runtimes.Request) (*runtimes.Response, error) {
	network := w.client.For(func(_ context.Context, key string) (string, bool, error) {
		w.asked = append(w.asked, key)
		v, ok := w.secrets[key]
		return v, ok, nil
	})
	return network.Fetch(ctx, w.grant, r)
}

// text gives the body of a response, or the error.
func (w *world) text(r *runtimes.Request) (*runtimes.Response, string) {
	w.t.Helper()
	response, err := w.fetch(w.t.Context(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return response, string(data)
}

func serve(t *testing.T, handler http.HandlerFunc) (base, host string) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL, strings.TrimPrefix(s.URL, "http://")
}

// mirror answers with what it was sent.
func mirror(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s\n", r.Method, r.RequestURI)
	_ = r.Header.Write(w)
	fmt.Fprintf(w, "\n%s", body)
}

func TestFetch(t *testing.T) {
	base, host := serve(t, mirror)
	w := newWorld(t, nil, host)
	response, got := w.text(&runtimes.Request{Method: "POST", URL: base + "/a%2Fb/ü|%zz?x=1|2#part", Body: []byte("hello"), Header: http.Header{
		"X-One": {"1", "2"}, "Host": {"evil.example"}, "Connection": {"close"}, "Content-Length": {"9999"}, "Transfer-Encoding": {"chunked"}, "Proxy-Authorization": {"x"}, "Content-Type": {"text/plain"},
	}})
	if response.Status != 200 || response.StatusText != "OK" || response.Redirected {
		t.Errorf("%d %q %v", response.Status, response.StatusText, response.Redirected)
	}
	want := "POST /a%2Fb/%C3%BC%7C%25zz?x=1|2\nAccept: */*\r\nAccept-Encoding: gzip, deflate, br\r\nAccept-Language: *\r\nContent-Length: 5\r\nContent-Type: text/plain\r\nUser-Agent: toolhost\r\nX-One: 1\r\nX-One: 2\r\n\nhello"
	if got != want {
		t.Errorf("%s\n%q", got, got)
	}
	if strings.Contains(response.URL, "#") {
		t.Error(response.URL)
	}
}

func TestFetchRefuses(t *testing.T) {
	base, host := serve(t, mirror)
	w := newWorld(t, &fetch.Options{MaxBody: 1000}, host, "localhost:1")
	many := http.Header{}
	for i := range 300 {
		many.Add("X", fmt.Sprint(i))
	}
	for _, c := range []struct {
		r    runtimes.Request
		want string
	}{
		{runtimes.Request{URL: "https://other.example/x"}, `connecting to "other.example" is not allowed`},
		{runtimes.Request{URL: "http://169.254.169.254/latest/meta-data"}, `connecting to "169.254.169.254" is not allowed`},
		{runtimes.Request{URL: "file:///etc/passwd"}, `begins with "file:"`},
		{runtimes.Request{URL: "gopher://a"}, `begins with "gopher:"`},
		{runtimes.Request{URL: "/x"}, `begins with ":"`},
		{runtimes.Request{URL: "http://user:pw@" + host}, "user name or a password"},
		{runtimes.Request{URL: "http://" + host + "@evil.example/"}, "user name or a password"},
		{runtimes.Request{URL: "http://"}, "names no host"},
		{runtimes.Request{URL: "http://[::1"}, "is no URL"},
		{runtimes.Request{URL: base + "/" + strings.Repeat("x", 70000)}, "may have 65536"},
		{runtimes.Request{URL: base, Method: "TRACE"}, "method TRACE"},
		{runtimes.Request{URL: base, Method: "G T"}, "no method"},
		{runtimes.Request{URL: base, Redirect: "x"}, "redirect is"},
		{runtimes.Request{URL: base, Header: http.Header{"a b": {"x"}}}, "no name of a header"},
		{runtimes.Request{URL: base, Header: http.Header{"A": {"x\r\nB: y"}}}, "line break"},
		{runtimes.Request{URL: base, Header: many}, "may have 200"},
		{runtimes.Request{URL: base, Header: http.Header{"A": {strings.Repeat("x", 70000)}}}, "may have 65536"},
		{runtimes.Request{URL: base, Method: "POST", Body: make([]byte, 1001)}, "may have 1000"},
		{runtimes.Request{URL: base + "/{{secret:none}}"}, "{{secret:none}} names no secret setting of this plugin that has a value; the user sets it with: toolhost settings set PLUGIN.none"},
		{runtimes.Request{URL: base + "/{{secret:test.none}}"}, "the user sets it with: toolhost settings set test.none"},
		{runtimes.Request{URL: "http://{{secret:none}}/"}, "is no URL"},
		{runtimes.Request{URL: "http://localhost:1/"}, "ECONNREFUSED"},
	} {
		response, err := w.fetch(t.Context(), &c.r)
		if err == nil {
			response.Body.Close()
			t.Errorf("%.60s: no error", c.r.URL)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: %v, want %s", c.r.URL, err, c.want)
		}
	}
	if _, err := w.client.For(nil).Fetch(t.Context(), nil, &runtimes.Request{URL: base}); !errors.Is(err, permissions.ErrDenied) {
		t.Errorf("without a grant: %v", err)
	}
}

func TestFetchRedirects(t *testing.T) {
	other, otherHost := serve(t, mirror)
	denied, _ := serve(t, mirror)
	var base string
	base, host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/to":
			var status int
			fmt.Sscan(r.URL.Query().Get("status"), &status)
			w.Header().Set("Location", r.URL.Query().Get("url"))
			w.WriteHeader(status)
		default:
			mirror(w, r)
		}
	})
	w := newWorld(t, nil, host, otherHost)
	to := func(status int, target string) string {
		return fmt.Sprintf("%s/to?status=%d&url=%s", base, status, url.QueryEscape(target))
	}
	header := func() http.Header {
		return http.Header{"Authorization": {"Bearer x"}, "Cookie": {"c=1"}, "Content-Type": {"text/plain"}, "X-Own": {"1"}}
	}
	for _, c := range []struct {
		name, method, url string
		want              []string
		not               []string
	}{
		{"302 of POST", "POST", to(302, "/x"), []string{"GET /x", "Authorization: Bearer x", "Cookie: c=1"}, []string{"Content-Type", "body"}},
		{"302 of PUT", "PUT", to(302, "/x"), []string{"PUT /x", "body"}, nil},
		{"303 of PUT", "PUT", to(303, "x?y"), []string{"GET /x?y"}, []string{"body"}},
		{"307", "POST", to(307, "/x"), []string{"POST /x", "body", "Content-Type: text/plain"}, nil},
		{"308 to another origin", "POST", to(308, other+"/x"), []string{"POST /x", "body", "X-Own: 1"}, []string{"Authorization", "Cookie"}},
	} {
		response, got := w.text(&runtimes.Request{Method: c.method, URL: c.url, Header: header(), Body: []byte("body")})
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %s", c.name, want, got)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %q in %s", c.name, not, got)
			}
		}
		if !response.Redirected || !strings.HasSuffix(strings.TrimSuffix(response.URL, "?y"), "/x") {
			t.Errorf("%s: %v %s", c.name, response.Redirected, response.URL)
		}
	}
	for name, c := range map[string]struct {
		r    runtimes.Request
		want string
	}{
		"loop":            {runtimes.Request{URL: base + "/loop"}, "redirect count exceeded"},
		"error":           {runtimes.Request{URL: base + "/loop", Redirect: "error"}, "unexpected redirect"},
		"another host":    {runtimes.Request{URL: to(302, denied)}, "is not allowed"},
		"another scheme":  {runtimes.Request{URL: to(302, "file:///etc/passwd")}, "HTTP(S) scheme"},
		"a user":          {runtimes.Request{URL: to(302, "http://u:p@"+host+"/")}, "user name"},
		"metadata":        {runtimes.Request{URL: to(302, "//169.254.169.254/")}, "is not allowed"},
		"no URL":          {runtimes.Request{URL: to(302, "http://[")}, "no URL"},
		"a secret's body": {runtimes.Request{Method: "POST", URL: to(307, other), Body: []byte("{{secret:k}}"), Header: http.Header{"Content-Type": {"text/plain"}}}, "another origin"},
	} {
		w.secrets["k"] = "value"
		response, err := w.fetch(t.Context(), &c.r)
		if err == nil {
			response.Body.Close()
			t.Errorf("%s: no error", name)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	response, _ := w.text(&runtimes.Request{URL: to(302, "/x"), Redirect: "manual"})
	if response.Status != 302 || response.Header.Get("Location") != "/x" {
		t.Errorf("manual: %d %v", response.Status, response.Header)
	}
}

func TestFetchSecrets(t *testing.T) {
	const value = `s3cr&t "/é\` + "=%7B"
	other, otherHost := serve(t, mirror)
	var base string
	base, host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/away") {
			http.Redirect(w, r, other+"/echo?"+r.URL.RawQuery, http.StatusTemporaryRedirect)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/near") && strings.HasSuffix(r.URL.Path, "/x") {
			http.Redirect(w, r, "there?"+r.URL.RawQuery, http.StatusFound)
			return
		}
		mirror(w, r)
	})
	w := newWorld(t, nil, host, otherHost)
	w.secrets["weather.key"], w.secrets["plain"], w.secrets["line"] = value, "123:AbC-d_e", "a\r\nb"

	_, got := w.text(&runtimes.Request{Method: "POST", URL: base + "/bot%7B%7Bsecret:plain%7D%7D/x?k={{secret:weather.key}}&l=%7B%7Bsecret%3Aplain%7D%7D",
		Header: http.Header{"Authorization": {"Bearer {{secret:plain}}"}, "Content-Type": {"application/json"}}, Body: []byte(`{"k":"{{secret:weather.key}}"}`)})
	for _, want := range []string{"POST /bot123:AbC-d_e/x?k=" + strings.ReplaceAll(url.QueryEscape(value), "+", "%20") + "&l=123%3AAbC-d_e\n", "Authorization: Bearer 123:AbC-d_e\r\n", `{"k":"s3cr&t \"/é\\=%7B"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for kind, want := range map[string]string{
		"text/plain": value, "application/x-www-form-urlencoded": strings.ReplaceAll(url.QueryEscape(value), "+", "%20"), "application/xml": "s3cr&amp;t &#34;/é\\=%7B", "application/octet-stream": "{{secret:weather.key}}", "": "{{secret:weather.key}}", "multipart/form-data; boundary=x": "{{secret:weather.key}}",
	} {
		header := http.Header{}
		if kind != "" {
			header.Set("Content-Type", kind)
		}
		if _, got := w.text(&runtimes.Request{Method: "POST", URL: base, Header: header, Body: []byte("<{{secret:weather.key}}>")}); !strings.HasSuffix(got, "\n<"+want+">") {
			t.Errorf("%q: %s", kind, got)
		}
	}

	response, got := w.text(&runtimes.Request{URL: base + "/near/%7B%7Bsecret:plain%7D%7D/x?k={{secret:weather.key}}", Header: http.Header{"X-Key": {"{{secret:plain}}"}}})
	if !strings.Contains(got, "GET /near/123:AbC-d_e/there") {
		t.Errorf("a redirect to a relative URL is not below the secret: %s", got)
	}
	noSecret(t, w, response.URL)

	response, got = w.text(&runtimes.Request{URL: base + "/away?k={{secret:plain}}", Header: http.Header{"X-Key": {"{{secret:plain}}"}, "X-Own": {"1"}}})
	if strings.Contains(got, "X-Key") || !strings.Contains(got, "X-Own") {
		t.Errorf("a redirect to another origin took the secret along: %s", got)
	}
	noSecret(t, w, response.URL)
	if !strings.Contains(response.URL, "{{secret:plain}}") {
		t.Error(response.URL)
	}

	_, err := w.fetch(t.Context(), &runtimes.Request{URL: base, Header: http.Header{"X-Key": {"{{secret:line}}"}}})
	if err == nil || !strings.Contains(err.Error(), "line break") {
		t.Errorf("%v", err)
	}
	w.asked = nil
	if _, err = w.fetch(t.Context(), &runtimes.Request{URL: "https://other.example/{{secret:plain}}"}); !errors.Is(err, permissions.ErrDenied) || len(w.asked) > 0 {
		t.Errorf("%v; a secret was read for a host that is not granted: %q", err, w.asked)
	}
}

func noSecret(t *testing.T, w *world, texts ...string) {
	t.Helper()
	for _, text := range texts {
		for _, value := range w.secrets {
			for _, form := range []string{value, url.QueryEscape(value), url.PathEscape(value)} {
				if strings.Contains(text, form) {
					t.Errorf("a secret stands in %q", text)
				}
			}
		}
	}
}

func TestErrorsHoldNoSecret(t *testing.T) {
	const value = "hunter2-and-more"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // answers with what it was asked, which is no HTTP
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p := make([]byte, 4096)
			n, _ := c.Read(p)
			_, _ = c.Write(p[:n])
			_ = c.Close()
		}
	}()
	defer func() { l.Close(); <-done }()
	w := newWorld(t, nil, l.Addr().String())
	w.secrets["k"] = value
	_, err = w.fetch(t.Context(), &runtimes.Request{URL: "http://" + l.Addr().String() + "/{{secret:k}}?{{secret:k}}", Header: http.Header{"X": {"{{secret:k}}"}}})
	if err == nil || strings.Contains(err.Error(), value) {
		t.Errorf("%v", err)
	}
}

func TestFetchBodies(t *testing.T) {
	text := strings.Repeat("All human beings are born free. ", 1000)
	squeeze := func(kind string) []byte {
		var b bytes.Buffer
		var w io.WriteCloser
		switch kind {
		case "gzip":
			w = gzip.NewWriter(&b)
		case "deflate":
			w = zlib.NewWriter(&b)
		case "br":
			w = brotli.NewWriter(&b)
		default:
			return []byte(text)
		}
		_, _ = io.WriteString(w, text)
		_ = w.Close()
		return b.Bytes()
	}
	base, host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		kind := strings.Trim(r.URL.Path, "/")
		switch kind {
		case "empty":
			w.Header().Set("Content-Encoding", "gzip")
			return
		case "broken":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(squeeze("gzip")[:30])
			return
		case "chunked":
			for range 100 {
				_, _ = io.WriteString(w, text[:32])
				w.(http.Flusher).Flush()
			}
			return
		}
		w.Header().Set("Content-Encoding", kind)
		_, _ = w.Write(squeeze(kind))
	})
	w := newWorld(t, &fetch.Options{MaxBody: int64(len(text))}, host)
	for _, kind := range []string{"gzip", "deflate", "br", "unknown"} {
		if _, got := w.text(&runtimes.Request{URL: base + "/" + kind}); got != text {
			t.Errorf("%s: %d bytes, want %d", kind, len(got), len(text))
		}
	}
	if _, got := w.text(&runtimes.Request{URL: base + "/empty"}); got != "" {
		t.Errorf("%q", got)
	}
	if _, got := w.text(&runtimes.Request{URL: base + "/gzip", Method: "HEAD"}); got != "" {
		t.Errorf("%q", got)
	}
	small := newWorld(t, &fetch.Options{MaxBody: 1000}, host)
	for _, kind := range []string{"gzip", "deflate", "br", "unknown", "chunked", "broken"} {
		response, err := small.fetch(t.Context(), &runtimes.Request{URL: base + "/" + kind})
		if err == nil {
			var data []byte
			data, err = io.ReadAll(response.Body)
			response.Body.Close()
			if len(data) > 1000 {
				t.Errorf("%s: %d bytes came", kind, len(data))
			}
		}
		want := "more than 1000 bytes"
		if kind == "broken" {
			want = "other side closed"
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestFetchEndsWithItsContextAndGrant(t *testing.T) {
	started := make(chan struct{}, 3)
	base, host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			_, _ = io.WriteString(w, "x")
			w.(http.Flusher).Flush()
		}
		started <- struct{}{}
		<-r.Context().Done()
	})
	w := newWorld(t, nil, host)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if _, err := w.fetch(ctx, &runtimes.Request{URL: base + "/header"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	response, err := w.fetch(ctx, &runtimes.Request{URL: base + "/body"})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(response.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	response.Body.Close()
	response, err = w.fetch(t.Context(), &runtimes.Request{URL: base + "/body"})
	if err != nil {
		t.Fatal(err)
	}
	w.grant.Revoke()
	if _, err := io.ReadAll(response.Body); err == nil {
		t.Error("the body outlives the grant")
	}
	if _, err := w.fetch(t.Context(), &runtimes.Request{URL: base}); !errors.Is(err, permissions.ErrDenied) {
		t.Errorf("%v", err)
	}
}

func TestFetchTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "https://")
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	w := newWorld(t, &fetch.Options{RootCAs: pool}, host)
	if _, got := w.text(&runtimes.Request{URL: s.URL}); got != "HTTP/2.0" {
		t.Error(got)
	}
	w = newWorld(t, nil, host)
	_, err := w.fetch(t.Context(), &runtimes.Request{URL: s.URL})
	var network *runtimes.NetworkError
	if !errors.As(err, &network) || network.Code != "UNABLE_TO_VERIFY_LEAF_SIGNATURE" && network.Code != "DEPTH_ZERO_SELF_SIGNED_CERT" {
		t.Errorf("%v", err)
	}
	_, port, _ := net.SplitHostPort(host)
	w = newWorld(t, nil, host)
	_, err = w.fetch(t.Context(), &runtimes.Request{URL: "http://127.0.0.1:" + port})
	if err != nil {
		t.Errorf("plain HTTP to a TLS port is answered with status 400 by Go: %v", err)
	}
}

func TestDial(t *testing.T) {
	base, host := serve(t, mirror)
	_ = base
	w := newWorld(t, nil, host)
	name, port, _ := net.SplitHostPort(host)
	var number int
	fmt.Sscan(port, &number)
	network := w.client.For(nil)
	conn, err := network.Dial(t.Context(), w.grant, name, number)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "GET /x HTTP/1.0\r\n\r\n")
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if data, err := io.ReadAll(conn); err != nil || !strings.Contains(string(data), "GET /x") {
		t.Errorf("%s %v", data, err)
	}
	conn.Close()
	if _, err := network.Dial(t.Context(), w.grant, name, 1); !errors.Is(err, permissions.ErrDenied) {
		t.Errorf("%v", err)
	}
}

// FuzzURL: whatever a handler asks for, a URL that is taken names the host that is checked,
// and nothing that is not ASCII or not printable reaches the wire.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{"http://a.example/b?c#d", "https://a.example:8443/%zz/ü", "http://a.example\\@b.example/", "http://a.example/{{secret:k}}?{{secret:k}}", "HTTP://[::1]:80/", "http://a.example:/", "//x", "http:a.example", "http://a.example/\x00"} {
		f.Add(seed)
	}
	client := fetch.New(nil)
	f.Fuzz(func(t *testing.T, text string) {
		policy := &permissions.Policy{Fetch: permissions.HostPolicy{Static: []string{"granted.invalid"}}}
		grant, err := policy.Resolve("", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer grant.Revoke()
		_, err = client.For(nil).Fetch(t.Context(), grant, &runtimes.Request{URL: text})
		var network *runtimes.NetworkError
		switch {
		case errors.Is(err, permissions.ErrDenied):
		case errors.As(err, &network) && network.Code == "ERR_INVALID_ARG_VALUE":
		case strings.Contains(strings.ToLower(text), "granted.invalid"):
		default:
			t.Fatalf("%q: %v", text, err)
		}
	})
}

// FuzzSecrets: what is concealed holds no secret any more, wherever it stood.
func FuzzSecrets(f *testing.F) {
	f.Add("s3cret", "x?y", "text/plain")
	f.Add("a/b c%&=\"", "{{secret:k}}", "application/json")
	f.Add("é\\", "%7B%7Bsecret%3Ak%7D%7D", "application/x-www-form-urlencoded")
	f.Fuzz(func(t *testing.T, secret, text, kind string) {
		if len(secret) < 8 || strings.Contains(text, secret) || strings.ContainsAny(secret, "{}") || strings.Contains("{{secret:k}}%7B%7Bsecret%3Ak%7D%7D", secret) {
			return
		}
		var sent string
		base, host := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("again") == "" {
				sent = r.URL.Query().Get("k")
				http.Redirect(w, r, "/?again=1&k="+url.QueryEscape(sent), http.StatusFound)
			}
		})
		w := newWorld(t, nil, host)
		w.secrets["k"] = secret
		response, err := w.fetch(t.Context(), &runtimes.Request{URL: base + "/?k={{secret:k}}", Header: http.Header{"Content-Type": {kind}}})
		if err != nil {
			return
		}
		response.Body.Close()
		if sent != secret {
			t.Fatalf("%q was sent as %q", secret, sent)
		}
		if strings.Contains(response.URL, url.QueryEscape(secret)) {
			t.Fatalf("%q stands in %q", secret, response.URL)
		}
	})
}
