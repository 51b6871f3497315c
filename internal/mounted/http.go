package mounted

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// httpTransport gives the transport to a server that is reached by HTTP. What it says on the way
// of calls goes to progress.
func httpTransport(c Config, progress func(json.RawMessage)) (mcp.Transport, func(), error) {
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
		HTTPClient:   &http.Client{Transport: &front{base: base, to: u, headers: c.Headers, gate: gate{progress: progress}}, CheckRedirect: stay},
		MaxEventSize: -1, // what passes the gate may have grown; events has looked at what came
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

// front stands between the SDK and a server. It adds the headers of the configuration to
// requests that go where the configuration says, and to no others: they hold secrets, and a
// server may redirect. What the server says passes the gate.
type front struct {
	base    http.RoundTripper
	to      *url.URL
	headers map[string]string
	gate    gate
}

func (f *front) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme == f.to.Scheme && req.URL.Host == f.to.Host {
		req = req.Clone(req.Context())
		for name, value := range f.headers {
			req.Header.Set(name, value)
		}
	}
	answers := f.answers(req)
	res, err := f.base.RoundTrip(req)
	if answers && (err != nil || res.Header.Get("Location") == "") { // elsewhere it goes on
		f.gate.answered()
	}
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		res.Body = newEvents(&f.gate, res.Body)
	} else {
		res.Body = &document{gate: &f.gate, body: res.Body}
	}
	res.ContentLength = -1
	return res, nil
}

// answers reports whether a request holds an answer to one of the server.
func (f *front) answers(req *http.Request) bool {
	if req.GetBody == nil || !f.gate.asking() {
		return false
	}
	body, err := req.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	raw, err := io.ReadAll(body)
	if err != nil {
		return false
	}
	msg, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		return false
	}
	_, answer := msg.(*jsonrpc.Response)
	return answer
}
