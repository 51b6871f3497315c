package permissions

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Hosts is a grant's door to the network. It is safe for concurrent use.
//
// Which ports does a host without one mean? For fetch those of its schemes, 80 and 443. For
// net all of that host: a setting such as "smtp.example.com" has its port in another
// setting, and protocols that change their port are common.
type Hosts struct {
	g  *Grant
	op string // "fetch" or "net"
}

// Fetch gives the door to the hosts of permissions.fetch.
func (g *Grant) Fetch() *Hosts { return &Hosts{g: g, op: "fetch"} }

// Net gives the door to the hosts of permissions.net.
func (g *Grant) Net() *Hosts { return &Hosts{g: g, op: "net"} }

// Check gives a host in the one form in which it is dialled, or a *DeniedError where the
// grant does not allow a connection to it and the port. What the name resolves to is
// looked at by the [Dialer]. ctx bounds reading the settings that name hosts.
func (h *Hosts) Check(ctx context.Context, host string, port int) (string, error) {
	name, permission, err := h.check(ctx, host, port)
	if err != nil {
		h.g.Refuse(err)
		return "", err
	}
	if h.g.recording() {
		list := fetched
		if h.op == "net" {
			list = connected
		}
		h.g.note(list, h.target(name, port))
		h.g.Use(permission)
	}
	return name.String(), nil
}

func (h *Hosts) check(ctx context.Context, host string, port int) (name hostName, permission string, err error) {
	name, err = parseHost(host)
	if err != nil {
		return name, "", &DeniedError{Op: h.op, Target: host, Reason: err.Error()}
	}
	if port < 1 || port > 65535 {
		return name, "", h.denied(name, port, fmt.Sprintf("%d is no port", port))
	}
	if h.g == nil || h.g.policy == nil {
		return name, "", h.denied(name, port, "")
	}
	if h.g.over.Load() {
		return name, "", &DeniedError{Op: h.op, Target: h.target(name, port), Reason: ended}
	}
	policy := h.policy()
	for _, text := range policy.Static {
		if rule, ok := parseRule(text); ok && rule.allows(h.op, name, port) {
			return name, h.op + " " + text, nil
		}
	}
	var unset []string
	for _, key := range policy.Settings {
		rule, ok, err := h.setting(ctx, key)
		switch {
		case err != nil:
			return name, "", fmt.Errorf("reading the setting %q: %w", key, err)
		case !ok:
			unset = append(unset, strconv.Quote(shorten(key)))
		case rule.allows(h.op, name, port):
			return name, h.op + " setting " + key, nil
		}
	}
	reason := ""
	switch {
	case len(unset) > 0:
		reason = fmt.Sprintf("the plugin's manifest does not name this host, and no address is set in %s", strings.Join(unset, ", "))
		if key := strings.Trim(unset[0], `"`); plainKey(key) {
			reason += ", which the user can do by: toolhost settings set " + key + " ADDRESS"
		}
	case len(policy.Static)+len(policy.Settings) > 0:
		reason = "the plugin's manifest allows other hosts or ports only"
	}
	return name, "", h.denied(name, port, reason)
}

// plainKey reports whether a key may stand in a command that somebody is told to run: keys are
// the plugin's own words.
func plainKey(key string) bool {
	return key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == "" && key[0] != '-'
}

func (h *Hosts) policy() HostPolicy {
	if h.op == "net" {
		return h.g.policy.Net
	}
	return h.g.policy.Fetch
}

// target is a host and port as a manifest names them.
func (h *Hosts) target(name hostName, port int) string {
	text := name.bracketed()
	if h.op == "fetch" && (port == 80 || port == 443) {
		return text
	}
	return text + ":" + strconv.Itoa(port)
}

func (h *Hosts) denied(name hostName, port int, reason string) *DeniedError {
	target := h.target(name, port)
	return &DeniedError{Op: h.op, Target: target, Reason: reason, Rule: fmt.Sprintf(`"permissions": {%q: {"static": [%q]}}`, h.op, target)}
}

// setting reads the host of a user setting; ok is false where it holds none.
func (h *Hosts) setting(ctx context.Context, key string) (rule hostRule, ok bool, err error) {
	if h.g.policy.Setting == nil {
		return rule, false, nil
	}
	raw, err := h.g.policy.Setting(ctx, key)
	if err != nil || raw == nil {
		return rule, false, err
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return rule, false, nil
	}
	rule, ok = parseSetting(text)
	return rule, ok, nil
}

// Dial connects to a host and port that the grant allows. The connection is closed when
// the grant ends. A nil d counts as one with its zero value.
func (h *Hosts) Dial(ctx context.Context, d *Dialer, host string, port int) (net.Conn, error) {
	name, err := h.Check(ctx, host, port)
	if err != nil {
		return nil, err
	}
	if d == nil {
		d = &Dialer{}
	}
	conn, err := d.Dial(ctx, name, port)
	if err != nil {
		return nil, h.Denied(err)
	}
	release, err := h.Keep(conn)
	if err != nil {
		return nil, err
	}
	return &grantedConn{Conn: conn, release: release}, nil
}

// Denied makes the refusal of a [Dialer] one of this door; it gives any other error as it is.
func (h *Hosts) Denied(err error) error {
	if denied := asDenied(err); denied != nil {
		err = &DeniedError{Op: h.op, Target: denied.Target, Reason: denied.Reason}
		h.g.Refuse(err)
	}
	return err
}

// Keep has c closed when the grant ends. The caller calls release once it has closed c
// itself. Where the grant has ended already, c is closed and the error is a *DeniedError.
func (h *Hosts) Keep(c io.Closer) (release func(), err error) {
	if h.g == nil || !h.g.links.add(c) {
		_ = c.Close() // nobody was given it
		return nil, &DeniedError{Op: h.op, Reason: ended}
	}
	return func() { h.g.links.remove(c) }, nil
}

// grantedConn is a connection that its grant closes.
type grantedConn struct {
	net.Conn
	release func()
}

// Close closes the connection, and has the grant forget it.
func (c *grantedConn) Close() error {
	c.release()
	return c.Conn.Close()
}

// CloseWrite tells the other side that nothing more will be sent.
func (c *grantedConn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return c.Close()
	}
	return half.CloseWrite()
}

// linkSet holds what a grant keeps open of the network.
type linkSet struct {
	mu     sync.Mutex
	closed bool
	all    map[io.Closer]bool
}

func (s *linkSet) add(c io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.all == nil {
		s.all = map[io.Closer]bool{}
	}
	s.all[c] = true
	return true
}

func (s *linkSet) remove(c io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, c)
}

func (s *linkSet) closeAll() {
	s.mu.Lock()
	all := s.all
	s.closed, s.all = true, nil
	s.mu.Unlock()
	for c := range all {
		_ = c.Close() // whoever uses it is told by its next read or write
	}
}

// hostRule is one host of a policy.
type hostRule struct {
	host hostName
	wild bool // what is below host, not host itself
	port int  // 0: the usual ones
}

// parseRule reads a host of a manifest; ok is false where it is none.
func parseRule(text string) (rule hostRule, ok bool) {
	if message, _ := hostMistake(text); message != "" {
		return rule, false
	}
	host, port := text, ""
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, ']') {
		host, port = text[:i], text[i+1:]
	}
	host, rule.wild = strings.CutPrefix(host, "*.")
	name, err := parseHost(host)
	if err != nil || rule.wild && name.addr.IsValid() {
		return rule, false
	}
	rule.host = name
	rule.port, _ = strconv.Atoi(port) // checked above; none is 0
	return rule, true
}

// SchemePort gives the port of URLs of a scheme that name none; 0 where it is not known.
func SchemePort(scheme string) int {
	switch strings.ToLower(scheme) {
	case "http", "ws":
		return 80
	case "https", "wss":
		return 443
	}
	return 0
}

// parseSetting reads the address that a user has set: a URL, or a host with or without a
// port. ok is false where it is none.
func parseSetting(text string) (rule hostRule, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "//" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return rule, false
	}
	name, err := parseHost(u.Hostname())
	if err != nil {
		return rule, false
	}
	rule = hostRule{host: name, port: SchemePort(u.Scheme)}
	if port := u.Port(); port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return rule, false
		}
		rule.port = int(n)
	}
	return rule, true
}

// allows reports whether the rule is for a host and port.
func (r hostRule) allows(op string, name hostName, port int) bool {
	switch {
	case r.port != 0 && r.port != port:
		return false
	case r.port == 0 && op == "fetch" && !slices.Contains([]int{80, 443}, port):
		return false
	case r.wild:
		return !name.addr.IsValid() && strings.HasSuffix(name.name, "."+r.host.name)
	}
	return name == r.host
}
