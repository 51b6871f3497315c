package plugintest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/internal/suggest"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// Network gives a network in which hosts answer what the case says. What the grant of a
// call does not allow is denied as anywhere else.
func (c *Case) Network() runtimes.Network { return &network{c.Responses} }

type network struct{ responses map[string]Response }

var _ runtimes.Network = (*network)(nil)

func (n *network) Fetch(ctx context.Context, grant *permissions.Grant, r *runtimes.Request) (*runtimes.Response, error) {
	u, err := url.Parse(r.URL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is no URL", r.URL)
	}
	port := map[string]int{"http": 80, "https": 443}[u.Scheme]
	if u.Port() != "" {
		port, _ = strconv.Atoi(u.Port()) // url.Parse has checked that these are digits; what is none is denied
	}
	if _, err := grant.Fetch().Check(ctx, u.Hostname(), port); err != nil {
		return nil, err
	}
	answer, ok := n.responses[r.URL]
	if !ok {
		message := fmt.Sprintf("the case has no response for %q", r.URL)
		if near := suggest.Nearest(r.URL, slices.Sorted(maps.Keys(n.responses))); near != "" {
			message += fmt.Sprintf("; it has one for %q", near)
		}
		return nil, &runtimes.NetworkError{Message: message}
	}
	if answer.Status == 0 {
		answer.Status = http.StatusOK
	}
	header := http.Header{}
	for name, value := range answer.Headers {
		header.Set(name, value)
	}
	return &runtimes.Response{
		Status: answer.Status, StatusText: http.StatusText(answer.Status), URL: r.URL, Header: header,
		Body: io.NopCloser(strings.NewReader(answer.Body)),
	}, nil
}

func (n *network) Dial(ctx context.Context, grant *permissions.Grant, host string, port int) (net.Conn, error) {
	if _, err := grant.Net().Check(ctx, host, port); err != nil {
		return nil, err
	}
	return nil, &runtimes.NetworkError{Message: fmt.Sprintf("no connection to %s is made in a test", net.JoinHostPort(host, strconv.Itoa(port)))}
}
