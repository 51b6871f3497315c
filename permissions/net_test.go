package permissions

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

func TestHostsCheck(t *testing.T) {
	settings := map[string]string{"p.url": `"https://hooks.example.net:8443/a?b"`, "p.host": `"mail.example.net"`, "p.plain": `"http://nas.example.net/x"`,
		"p.v6": `"https://[2001:db8::7]/"`, "p.number": `7`, "p.empty": `""`, "p.wild": `"*.example.com"`, "p.user": `"https://good.example.net@evil.example.com/"`, "p.slash": `"https://good.example.net\\@evil.example.com/"`}
	setting := func(_ context.Context, key string) (json.RawMessage, error) {
		if key == "p.broken" {
			return nil, errors.New("the database is closed")
		}
		if v, ok := settings[key]; ok {
			return json.RawMessage(v), nil
		}
		return nil, nil
	}
	for _, c := range []struct {
		static, settings string
		host             string
		port             int
		want             string // the host dialled, or a piece of the error
		net              bool
	}{
		{"api.example.com", "", "api.example.com", 443, "api.example.com", false},
		{"api.example.com", "", "API.Example.COM.", 80, "api.example.com", false},
		{"API.example.com", "", "api.example.com", 443, "api.example.com", false},
		{"api.example.com", "", "api.example.com", 8080, `"api.example.com:8080"`, false},
		{"api.example.com", "", "api.example.com", 8080, "api.example.com", true},
		{"api.example.com:8080", "", "api.example.com", 8080, "api.example.com", false},
		{"api.example.com:8080", "", "api.example.com", 443, "other hosts or ports", false},
		{"api.example.com:8080", "", "api.example.com", 443, "other hosts or ports", true},
		{"api.example.com", "", "api.example.com.evil.example", 443, "other hosts or ports", false},
		{"api.example.com", "", "xapi.example.com", 443, "other hosts or ports", false},
		{"api.example.com", "", "api.example.com@evil.example", 443, "no host name", false},
		{"api.example.com", "", "evil.example/api.example.com", 443, "no host name", false},
		{"api.example.com", "", "api.example.com\x00.evil.example", 443, "no host name", false},
		{"*.example.com", "", "a.example.com", 443, "a.example.com", false},
		{"*.example.com", "", "a.b.example.com", 443, "a.b.example.com", false},
		{"*.example.com", "", "example.com", 443, "other hosts or ports", false},
		{"*.example.com", "", "evilexample.com", 443, "other hosts or ports", false},
		{"*.com", "", "example.com", 443, "other hosts or ports", false},
		{"*", "", "example.com", 443, "other hosts or ports", false},
		{"xn--bcher-kva.example", "", "bücher.example", 443, "xn--bcher-kva.example", false},
		{"xn--bcher-kva.example", "", "BÜCHER。example", 443, "xn--bcher-kva.example", false},
		{"127.0.0.1:9", "", "127.0.0.1", 9, "127.0.0.1", false},
		{"127.0.0.1:9", "", "127.0.0.1.", 9, "127.0.0.1", false},
		{"127.0.0.1", "", "0177.0.0.1", 443, "four decimal numbers", false},
		{"127.0.0.1", "", "0x7f000001", 443, "four decimal numbers", false},
		{"127.0.0.1", "", "2130706433", 443, "four decimal numbers", false},
		{"127.0.0.1", "", "127.1", 443, "four decimal numbers", false},
		{"127.0.0.1", "", "１２７.0.0.1", 443, "127.0.0.1", false},
		{"127.0.0.1", "", "::ffff:127.0.0.1", 443, "other hosts or ports", false},
		{"*.0.0.1", "", "127.0.0.1", 443, "other hosts or ports", false},
		{"[2001:db8::1]:9", "", "2001:DB8:0::1", 9, "2001:db8::1", false},
		{"[2001:db8::1]", "", "[2001:db8::1]", 443, "2001:db8::1", false},
		{"[fe80::1]", "", "fe80::1%eth0", 443, "no IPv6 address", false},
		{"[fe80::1]", "", "[fe80::1", 443, "not closed", false},
		{"a.example", "", "a.example", 0, "no port", false},
		{"a.example", "", "a.example", 65536, "no port", true},
		{"", "", "a.example", 443, `"permissions": {"fetch": {"static": ["a.example"]}}`, false},
		{"", "", "a.example", 443, `"permissions": {"net": {"static": ["a.example:443"]}}`, true},
		{"", "", "2001:db8::1", 99, `["[2001:db8::1]:99"]`, true},
		{"", "p.url", "hooks.example.net", 8443, "hooks.example.net", false},
		{"", "p.url", "hooks.example.net", 443, "other hosts or ports", false},
		{"", "p.plain", "nas.example.net", 80, "nas.example.net", false},
		{"", "p.plain", "nas.example.net", 443, "other hosts or ports", false},
		{"", "p.v6", "2001:db8::7", 443, "2001:db8::7", false},
		{"", "p.host", "mail.example.net", 465, "mail.example.net", true},
		{"", "p.host", "mail.example.net", 443, "mail.example.net", false},
		{"", "p.unset", "mail.example.net", 443, `no address is set in "p.unset", which the user can do by: toolhost settings set p.unset ADDRESS`, false},
		{"", "p.number", "7", 443, "four decimal numbers", false},
		{"", "p.empty", "a.example", 443, "no address is set", false},
		{"", "p.wild", "a.example.com", 443, "no address is set", false},
		{"", "p.user", "good.example.net", 443, "other hosts or ports", false},
		{"", "p.slash", "good.example.net", 443, "no address is set", false},
		{"", "p.slash", "evil.example.com", 443, "no address is set", false},
		{"", "p.broken", "a.example", 443, "the database is closed", false},
	} {
		hosts := HostPolicy{}
		if c.static != "" {
			hosts.Static = []string{c.static}
		}
		if c.settings != "" {
			hosts.Settings = []string{c.settings}
		}
		p := &Policy{Fetch: hosts, Setting: setting}
		g := grant(t, p, "")
		door := g.Fetch()
		if c.net {
			p.Fetch, p.Net = HostPolicy{}, hosts
			door = g.Net()
		}
		got, err := door.Check(t.Context(), c.host, c.port)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) || strings.Contains(c.want, ".") && !strings.Contains(c.want, " ") && c.want[0] != '"' && c.want[0] != '[' {
				t.Errorf("%q %q: %s:%d: %v, want %q", c.static, c.settings, c.host, c.port, err, c.want)
			}
			if c.settings != "p.broken" && !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s: %v is no denial", c.host, err)
			}
			continue
		}
		if got != c.want {
			t.Errorf("%q %q: %s:%d: %q, want %q", c.static, c.settings, c.host, c.port, got, c.want)
		}
	}
}

func TestHostsOfNoGrant(t *testing.T) {
	for _, g := range []*Grant{nil, {}} {
		if _, err := g.Fetch().Check(t.Context(), "a.example", 443); !errors.Is(err, ErrDenied) {
			t.Error(err)
		}
		if _, err := g.Net().Dial(t.Context(), nil, "127.0.0.1", 443); !errors.Is(err, ErrDenied) {
			t.Error(err)
		}
	}
}

func TestIsPublic(t *testing.T) {
	for addr, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "172.32.0.1": true, "100.128.0.1": true, "192.167.255.255": true, "169.253.1.1": true, "223.255.255.255": true,
		"0.0.0.0": false, "0.1.2.3": false, "10.1.2.3": false, "100.64.0.1": false, "100.100.100.200": false, "127.0.0.1": false, "127.255.255.255": false, "169.254.169.254": false,
		"172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false, "192.0.0.192": false, "198.18.0.1": false, "224.0.0.1": false, "239.1.1.1": false, "255.255.255.255": false, "240.0.0.1": false, "168.63.129.16": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd00:ec2::254": false, "ff02::1": false, "fec0::1": false, "2001:db8::1": false, "2001::1": false, "3fff::1": false, "100::1": false,
		"::ffff:10.0.0.1": false, "::ffff:8.8.8.8": true, "::127.0.0.1": false, "64:ff9b::7f00:1": false, "64:ff9b::808:808": true, "64:ff9b:1::808:808": false, "2002:7f00:1::": false, "2002:a00:1::1": false, "2002:808:808::1": true,
		"2606:4700:4700::1111": true, "2a00:1450:4001::1": true,
	} {
		if got := isPublic(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %v", addr, got)
		}
	}
	if isPublic(netip.Addr{}) {
		t.Error("no address is public")
	}
}

// nameServer answers every question of a resolver: A with an address, AAAA with none.
func nameServer(t *testing.T, answer func(name string) netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { conn.Close(); <-done })
	go func() {
		defer close(done)
		packet := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(packet[:n]) != nil {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: &dnsmessage.AResource{A: answer(q.Name.String()).As4()}}}
			}
			reply, err := m.Pack()
			if err == nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// echo listens on the loopback address and gives its port. It sends back what it gets.
func echo(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); c.Close() }()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

func TestDialRefusesWhatANameLeadsTo(t *testing.T) {
	port := echo(t)
	resolver := nameServer(t, func(string) netip.Addr { return netip.MustParseAddr("127.0.0.1") })
	p := &Policy{Net: HostPolicy{Static: []string{"rebound.example.com", "127.0.0.1", "localhost"}}}
	g := grant(t, p, "")
	for host, want := range map[string]string{"rebound.example.com": "denied", "127.0.0.1": "ok", "localhost": "ok"} {
		d := &Dialer{}
		if host == "rebound.example.com" {
			d.Resolver = resolver
		}
		conn, err := g.Net().Dial(t.Context(), d, host, port)
		if outcome(err) != want {
			t.Errorf("%s: %v, want %s", host, err, want)
		}
		if err != nil {
			if strings.Contains(err.Error(), "127.0.0.1") || !strings.Contains(err.Error(), host) {
				t.Errorf("%v", err)
			}
			continue
		}
		conn.Close()
	}
}

func TestRevokeClosesConnections(t *testing.T) {
	port := echo(t)
	g := grant(t, &Policy{Net: HostPolicy{Static: []string{"127.0.0.1"}}}, "")
	conn, err := g.Net().Dial(t.Context(), nil, "127.0.0.1", port)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		over <- err
	}()
	g.Revoke()
	select {
	case err := <-over:
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("%v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the connection outlives the grant")
	}
	if _, err := g.Net().Dial(t.Context(), nil, "127.0.0.1", port); !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "the call has ended") {
		t.Errorf("%v", err)
	}
}

// FuzzHosts: whatever the policy, a host that is allowed is one that it names, and where
// it may lead is public, or is what the policy names.
func FuzzHosts(f *testing.F) {
	f.Add("api.example.com", `"x"`, "api.example.com", 443, []byte{127, 0, 0, 1})
	f.Add("*.example.org:8443", `"https://hook.example/x"`, "A.example.org.", 8443, []byte{8, 8, 8, 8})
	f.Add("127.0.0.1:80", `"127.0.0.1"`, "0x7f.1", 80, []byte{127, 0, 0, 1})
	f.Add("[::1]", `"[::1]:9"`, "[::1]", 9, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})
	f.Add("localhost", `"user@localhost"`, "LOCALHOST", 80, []byte{10, 0, 0, 1})
	f.Add("xn--bcher-kva.example", `""`, "bücher.example", 443, []byte{100, 100, 100, 200})
	f.Fuzz(func(t *testing.T, static, setting, host string, port int, address []byte) {
		p := &Policy{Fetch: HostPolicy{Static: []string{static}, Settings: []string{"k"}}, Setting: func(context.Context, string) (json.RawMessage, error) { return json.RawMessage(setting), nil }}
		g, err := p.Resolve("", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Revoke()
		name, err := g.Fetch().Check(t.Context(), host, port)
		if err != nil {
			if !errors.Is(err, ErrDenied) {
				t.Fatal(err)
			}
			return
		}
		var user string
		_ = json.Unmarshal([]byte(setting), &user)
		plain := strings.ToLower(static)
		literal := false
		addr, addrErr := netip.ParseAddr(name)
		for _, from := range []string{plain, strings.ToLower(user)} {
			text := from
			if addrErr == nil {
				text = strings.ReplaceAll(text, "[", "")
				literal = literal || strings.Contains(canonical(text), name)
				continue
			}
			if suffix, ok := strings.CutPrefix(plain, "*."); ok && from == plain {
				suffix, _, _ = strings.Cut(suffix, ":")
				literal = literal || strings.HasSuffix(name, "."+suffix)
			}
			literal = literal || strings.Contains(from, name) || !isASCII(from)
		}
		if !literal {
			t.Fatalf("%q %q allow %q as %q", static, user, host, name)
		}
		parsed, err := parseHost(name)
		if err != nil || parsed.String() != name {
			t.Fatalf("%q is not in its one form: %v", name, err)
		}
		to, ok := netip.AddrFromSlice(address)
		if !ok || !reachable(parsed, to) {
			return
		}
		inside := to.Unmap().IsPrivate() || to.Unmap().IsLoopback() || to.Unmap().IsLinkLocalUnicast() || to.Unmap().IsMulticast() || to.Unmap().IsUnspecified()
		if inside && !(addrErr == nil && addr.Unmap() == to.Unmap()) && !(name == "localhost" && to.Unmap().IsLoopback()) {
			t.Fatalf("%q may lead to %s", name, to)
		}
	})
}

// canonical puts the addresses in a text in their one form.
func canonical(text string) string {
	var out []string
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("]/@ \t\n\\?#", r) }) {
		for _, candidate := range []string{part, part[:max(strings.LastIndexByte(part, ':'), 0)]} {
			if addr, err := netip.ParseAddr(strings.TrimSuffix(candidate, ".")); err == nil {
				out = append(out, addr.String())
			}
		}
	}
	return strings.Join(out, " ")
}
