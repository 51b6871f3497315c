package mounted

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxBody bounds an answer that is one JSON document, and one event of a stream.
const maxBody = 16 << 20

// httpTransport gives the transport to a server that is reached by HTTP.
func httpTransport(c Config) (mcp.Transport, func(), error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, nil, err
	}
	base := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true,
		IdleConnTimeout:        time.Minute,
	}
	return &mcp.StreamableClientTransport{
		Endpoint:     c.URL,
		HTTPClient:   &http.Client{Transport: &withHeaders{base, u, c.Headers}, CheckRedirect: stay},
		MaxEventSize: maxBody,
	}, base.CloseIdleConnections, nil
}

// maxRedirects is how many redirects of one request are followed.
const maxRedirects = 5

// stay follows redirects to the same origin only: what a request holds is meant for no other.
func stay(to *http.Request, via []*http.Request) error {
	if from := via[0].URL; to.URL.Scheme != from.Scheme || to.URL.Host != from.Host {
		return fmt.Errorf("it redirects to %s://%s, where calls are not sent; if that is right, put this address into the configuration", to.URL.Scheme, to.URL.Host)
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("it redirects more than %d times", maxRedirects)
	}
	return nil
}

// withHeaders adds the headers of the configuration to requests that go where the
// configuration says, and to no others: they hold secrets, and a server may redirect.
type withHeaders struct {
	base    http.RoundTripper
	to      *url.URL
	headers map[string]string
}

func (t *withHeaders) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme == t.to.Scheme && req.URL.Host == t.to.Host {
		req = req.Clone(req.Context())
		for name, value := range t.headers {
			req.Header.Set(name, value)
		}
	}
	res, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		res.Body = limited{io.LimitReader(res.Body, maxBody), res.Body}
	}
	return res, nil
}

type limited struct {
	io.Reader
	io.Closer
}
