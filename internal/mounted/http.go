package mounted

import (
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
		HTTPClient:   &http.Client{Transport: &withHeaders{base, u, c.Headers}},
		MaxEventSize: maxBody,
	}, base.CloseIdleConnections, nil
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
