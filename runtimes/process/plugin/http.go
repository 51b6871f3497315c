package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// maxBody is how many bytes the body of a request may have.
const maxBody = 2 << 20

// HTTP gives a client whose requests the host makes: to the hosts that the manifest names
// under "permissions": {"fetch": …}, and with the secrets that the user has set in place of
// their {{names}}. Redirects are the client's to follow.
func (c *Call) HTTP() *http.Client { return &http.Client{Transport: &transport{c.stream}} }

// transport makes requests through the host.
type transport struct{ stream *stream }

var _ http.RoundTripper = (*transport)(nil)

// RoundTrip makes one request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	type pair = [2]string
	request := struct {
		URL      string `json:"url"`
		Method   string `json:"method"`
		Headers  []pair `json:"headers,omitempty"`
		Body     []byte `json:"body,omitempty"`
		Redirect string `json:"redirect"`
	}{URL: r.URL.String(), Method: r.Method, Redirect: "manual"}
	for name, values := range r.Header {
		for _, v := range values {
			request.Headers = append(request.Headers, pair{name, v})
		}
	}
	if r.Body != nil {
		defer r.Body.Close()
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
		if err != nil {
			return nil, err
		}
		if len(body) > maxBody {
			return nil, fmt.Errorf("the body of the request is larger than %d bytes, the limit", maxBody)
		}
		request.Body = body
	}
	var response struct {
		Status     int
		StatusText string
		Headers    []pair
		Body       []byte
	}
	if err := t.stream.ask(r.Context(), "fetch", request, &response); err != nil {
		return nil, err
	}
	if response.Status == 0 {
		return nil, errors.New("the host has answered without a status")
	}
	header := http.Header{}
	for _, h := range response.Headers {
		header.Add(h[0], h[1])
	}
	return &http.Response{
		StatusCode: response.Status, Status: fmt.Sprintf("%d %s", response.Status, response.StatusText),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Request: r,
		Body: io.NopCloser(bytes.NewReader(response.Body)), ContentLength: int64(len(response.Body)),
	}, nil
}
