package permissions

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

// Dialer connects to hosts, but never to an address of this machine or its networks unless
// the host is that address, or "localhost". It looks at the address that is connected to,
// after the name was resolved, so that no answer of a name server leads inside. The zero
// value is ready for use. It asks no grant: see [Hosts].
type Dialer struct {
	Resolver *net.Resolver // nil: the system's
}

// dialTimeout is how long one connection may take to come about.
const dialTimeout = 30 * time.Second

// Dial connects to a host and port over TCP. The error is, or wraps, a *DeniedError where
// the host leads to an address that it may not.
func (d *Dialer) Dial(ctx context.Context, host string, port int) (net.Conn, error) {
	name, err := parseHost(host)
	if err != nil {
		return nil, &DeniedError{Op: "net", Target: host, Reason: err.Error()}
	}
	target := net.JoinHostPort(name.String(), strconv.Itoa(port))
	dialer := net.Dialer{
		Timeout:  dialTimeout,
		Resolver: d.Resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err == nil && reachable(name, to.Addr()) {
				return nil
			}
			return &DeniedError{Op: "net", Target: target, Reason: "it leads to an address of this machine or its networks, which is connected to only where the manifest, or a setting that it names, has the address itself in place of a name"}
		},
	}
	return dialer.DialContext(ctx, "tcp", target)
}

func asDenied(err error) *DeniedError {
	var denied *DeniedError
	if errors.As(err, &denied) {
		return denied
	}
	return nil
}

// reachable reports whether a host may lead to an address.
func reachable(host hostName, to netip.Addr) bool {
	switch {
	case host.addr.IsValid():
		return host.addr.Unmap() == to.Unmap()
	case host.name == "localhost":
		return to.Unmap().IsLoopback()
	}
	return isPublic(to)
}

// notPublic are the blocks that lead to this machine, its networks, or nowhere. They
// are never changed.
var notPublic = parsePrefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", // this host, private, shared, loopback, link-local
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", // protocols, relays, benchmarks, documentation
	"224.0.0.0/4", "240.0.0.0/4", // multicast, reserved, broadcast
	"168.63.129.16/32",           // the host of an Azure machine, which serves its metadata
	"2001::/23", "2001:db8::/32", // protocols (Teredo among them), documentation
	"3fff::/20", // documentation
)

var (
	globalIPv6 = netip.MustParsePrefix("2000::/3")
	sixToFour  = netip.MustParsePrefix("2002::/16")
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
)

func parsePrefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// isPublic reports whether an address belongs to the internet at large. An address that
// carries an IPv4 address is as public as that.
func isPublic(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		b := addr.As16()
		switch {
		case nat64.Contains(addr):
			return isPublic(netip.AddrFrom4([4]byte(b[12:16])))
		case sixToFour.Contains(addr):
			return isPublic(netip.AddrFrom4([4]byte(b[2:6])))
		case !globalIPv6.Contains(addr):
			return false
		}
	}
	for _, block := range notPublic {
		if block.Contains(addr) {
			return false
		}
	}
	return addr.IsValid()
}
