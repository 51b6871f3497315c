package mcpserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// guard decides whose requests are served at all.
type guard struct {
	token *[sha256.Size]byte // nil asks for none
	hosts map[string]bool
}

type refusal struct {
	status int
	text   string
}

func newGuard(token string, hosts []string) guard {
	g := guard{hosts: map[string]bool{}}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		g.token = &sum
	}
	for _, h := range hosts {
		g.hosts[canonicalHost(h)] = true
	}
	return g
}

// check gives why a request is refused, or nil.
func (g guard) check(w http.ResponseWriter, r *http.Request) *refusal {
	if !g.knows(hostname(r.Host)) {
		return &refusal{http.StatusForbidden, fmt.Sprintf("this server does not go by the name %.100q", r.Host)}
	}
	if !g.isOwn(r) {
		return &refusal{http.StatusForbidden, "requests of other web sites are refused"}
	}
	if !g.authorized(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="toolhost"`)
		return &refusal{http.StatusUnauthorized, `a token is needed: send the header "Authorization: Bearer TOKEN"`}
	}
	return nil
}

// Guard serves next to whoever the handler serves: with the same token, by the same names.
func (h *HTTPHandler) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wrong := h.guard.check(w, r); wrong != nil {
			http.Error(w, wrong.text, wrong.status)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// authorized compares sums, so that the time it takes tells nothing of the token, not
// even its length.
func (g guard) authorized(r *http.Request) bool {
	if g.token == nil {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// isOwn reports whether a request comes from a program, or from a page of this server
// itself. Browsers send at least one of the two headers with what pages ask for.
func (g guard) isOwn(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		site := r.Header.Get("Sec-Fetch-Site")
		return site == "" || site == "same-origin" || site == "none"
	}
	if len(origins) > 1 {
		return false
	}
	origin, err := url.Parse(origins[0])
	if err != nil || origin.Host == "" || origin.Scheme != "http" && origin.Scheme != "https" {
		return false // "null" too: a page without an origin is nobody's
	}
	name := canonicalHost(origin.Hostname())
	if isLoopback(name) {
		// Other programs of this machine serve pages too, whether the address was named or not.
		_, port, _ := net.SplitHostPort(r.Host)
		return origin.Port() == port
	}
	return g.hosts[name]
}

func (g guard) knows(name string) bool { return isLoopback(name) || g.hosts[name] }

// hostname gives the name in a Host header, without the port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return canonicalHost(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
}

// canonicalHost gives the one form of a name or an address.
func canonicalHost(host string) string {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String()
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
