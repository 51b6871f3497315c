package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// flight is one request with its redirects.
type flight struct {
	client   *Client
	door     *permissions.Hosts
	secrets  *filler
	redirect string

	method string
	url    *url.URL // what is asked
	shown  *url.URL // the same, with placeholders
	header http.Header
	body   []byte

	secretHeaders []string // those that secrets were put into
	secretBody    bool
}

// fly sends the request until an answer is no redirect.
func (f *flight) fly(ctx context.Context, r *runtimes.Request) (*runtimes.Response, error) {
	if err := f.prepare(r); err != nil {
		return nil, err
	}
	if _, err := f.check(ctx, f.shown); err != nil { // before any secret is read
		return nil, err
	}
	if err := f.fill(ctx, r); err != nil {
		return nil, err
	}
	for hop := 0; ; hop++ {
		response, err := f.send(ctx)
		if err != nil {
			return nil, err
		}
		to := response.Header.Get("Location")
		if !isRedirect(response.StatusCode) || to == "" || f.redirect == "manual" {
			return f.answer(ctx, response, hop > 0)
		}
		_, _ = io.CopyN(io.Discard, response.Body, maxDrained) // its end lets the connection be used again
		_ = response.Body.Close()
		switch {
		case f.redirect == "error":
			return nil, errors.New("unexpected redirect")
		case hop == maxRedirects:
			return nil, errors.New("redirect count exceeded")
		}
		if err := f.follow(response.StatusCode, to); err != nil {
			return nil, err
		}
	}
}

func isRedirect(status int) bool {
	return slices.Contains([]int{301, 302, 303, 307, 308}, status)
}

// prepare checks the request as the handler gave it.
func (f *flight) prepare(r *runtimes.Request) error {
	f.method = r.Method
	if f.method == "" {
		f.method = http.MethodGet
	}
	switch {
	case !isToken(f.method):
		return mistake("%q is no method of HTTP", cut(f.method))
	case slices.Contains([]string{"CONNECT", "TRACE", "TRACK"}, strings.ToUpper(f.method)):
		return mistake("the method %s is not allowed", f.method)
	case !slices.Contains([]string{"", "follow", "manual", "error"}, f.redirect):
		return mistake("redirect is %q, and not \"follow\", \"manual\" or \"error\"", cut(f.redirect))
	case len(r.URL) > maxURL:
		return mistake("the URL has %d bytes, and may have %d", len(r.URL), maxURL)
	case int64(len(r.Body)) > f.client.maxBody:
		return mistake("the request's body has %d bytes, and may have %d", len(r.Body), f.client.maxBody)
	}
	shown, err := parseURL(r.URL)
	if err != nil {
		return err
	}
	f.shown = shown
	return checkHeader(r.Header)
}

// fill makes the request with its secrets.
func (f *flight) fill(ctx context.Context, r *runtimes.Request) error {
	text, err := f.secrets.fillURL(ctx, f.shown.String())
	if err != nil {
		return err
	}
	if f.url, err = parseURL(text); err != nil {
		return err
	}
	if f.url.Host != f.shown.Host || f.url.Scheme != f.shown.Scheme {
		return mistake("a placeholder for a secret can stand in the path or the query of a URL, in a header or in a text, not in a host")
	}
	f.header = http.Header{}
	for name, values := range r.Header {
		name = http.CanonicalHeaderKey(name)
		if isForbidden(name) {
			continue
		}
		for _, value := range values {
			filled, err := f.secrets.fill(ctx, value, inText)
			if err != nil {
				return err
			}
			if filled != value {
				f.secretHeaders = append(f.secretHeaders, name)
				if !isHeaderValue(filled) {
					return mistake("the secret in the header %q holds a line break, or another character that no header can", name)
				}
			}
			f.header.Add(name, filled)
		}
	}
	body, err := f.secrets.fillBody(ctx, r.Body, f.header.Get("Content-Type"))
	if err != nil {
		return err
	}
	f.body, f.secretBody = body, !bytes.Equal(body, r.Body)
	f.defaultHeader("Accept", "*/*")
	f.defaultHeader("Accept-Encoding", "gzip, deflate, br")
	f.defaultHeader("Accept-Language", "*")
	f.defaultHeader("User-Agent", "toolhost")
	return nil
}

func (f *flight) defaultHeader(name, value string) {
	if _, ok := f.header[name]; !ok {
		f.header[name] = []string{value}
	}
}

// check asks the grant about a URL's host, and gives host and port as they are sent.
func (f *flight) check(ctx context.Context, u *url.URL) (string, error) {
	usual := permissions.SchemePort(u.Scheme)
	port := usual
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			return "", mistake("%q is no port", cut(p))
		}
		port = int(n)
	}
	name, err := f.door.Check(ctx, u.Hostname(), port)
	if err != nil {
		return "", err
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if port == usual {
		return name, nil
	}
	return name + ":" + strconv.Itoa(port), nil
}

// send makes one request.
func (f *flight) send(ctx context.Context) (*http.Response, error) {
	host, err := f.check(ctx, f.url)
	if err != nil {
		return nil, err
	}
	target := *f.url
	target.Host = host
	var body io.Reader // a nil *bytes.Reader would be a body
	if f.body != nil {
		body = bytes.NewReader(f.body)
	}
	request, err := http.NewRequestWithContext(ctx, f.method, target.String(), body)
	if err != nil {
		return nil, mistake("%s", err)
	}
	request.Header = f.header.Clone()
	response, err := f.client.transport.RoundTrip(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		port, _ := strconv.Atoi(target.Port())
		if port == 0 {
			port = permissions.SchemePort(target.Scheme)
		}
		return nil, runtimes.AsNetworkError(f.door.Denied(err), target.Hostname(), port)
	}
	if response.StatusCode < 200 {
		_ = response.Body.Close()
		return nil, fmt.Errorf("%s answers with status %d, which is no end of a request", host, response.StatusCode)
	}
	return response, nil
}

// follow makes the request that a redirect asks for.
func (f *flight) follow(status int, location string) error {
	if !utf8.ValidString(location) {
		return errors.New("the redirect leads to no URL")
	}
	next, err := resolve(f.url, location)
	if err != nil {
		return err
	}
	shown, err := resolve(f.shown, f.secrets.concealText(location))
	if err != nil {
		return err
	}
	other := next.Scheme != f.url.Scheme || next.Host != f.url.Host
	f.url, f.shown = next, shown
	if status == 303 && f.method != "GET" && f.method != "HEAD" || status < 303 && f.method == "POST" {
		f.method, f.body, f.secretBody = "GET", nil, false
		for _, name := range []string{"Content-Encoding", "Content-Language", "Content-Location", "Content-Type"} {
			f.header.Del(name)
		}
	}
	if !other {
		return nil
	}
	if f.secretBody {
		return errors.New("the redirect leads to another origin, and the request's body holds a secret, which only goes to the host that the handler named")
	}
	for _, name := range append([]string{"Authorization", "Cookie"}, f.secretHeaders...) {
		f.header.Del(name)
	}
	return nil
}

func resolve(base *url.URL, location string) (*url.URL, error) {
	ref, err := url.Parse(tidy(location))
	if err != nil {
		return nil, errors.New("the redirect leads to no URL")
	}
	next := base.ResolveReference(ref)
	if next.Scheme != "http" && next.Scheme != "https" {
		return nil, errors.New("URL scheme must be a HTTP(S) scheme")
	}
	return parseURL(next.String())
}

// answer gives the response to the handler.
func (f *flight) answer(ctx context.Context, response *http.Response, redirected bool) (*runtimes.Response, error) {
	_, text, _ := strings.Cut(response.Status, " ")
	header := response.Header
	if len(f.secrets.used) > 0 {
		for _, name := range []string{"Location", "Content-Location", "Refresh", "Link"} {
			for i, value := range header[name] {
				header[name][i] = f.secrets.concealText(value)
			}
		}
	}
	body := newBody(ctx, response, f)
	release, err := f.door.Keep(response.Body)
	if err != nil {
		return nil, err
	}
	body.release = release
	if length := response.ContentLength; length > f.client.maxBody && f.method != http.MethodHead {
		_ = body.Close()
		return nil, body.tooLarge()
	}
	return &runtimes.Response{Status: response.StatusCode, StatusText: text, URL: f.shown.String(), Redirected: redirected, Header: header, Body: body}, nil
}
