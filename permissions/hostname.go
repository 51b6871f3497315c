package permissions

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

// hostName is a host in one form: an address, or a name in ASCII and lower case, without
// the dot that may end it.
type hostName struct {
	addr netip.Addr // not valid where it is a name
	name string
}

// String gives the host without brackets.
func (h hostName) String() string {
	if h.addr.IsValid() {
		return h.addr.String()
	}
	return h.name
}

// bracketed gives the host as it stands in a URL.
func (h hostName) bracketed() string {
	if h.addr.Is6() {
		return "[" + h.addr.String() + "]"
	}
	return h.String()
}

// parseHost reads a host. An IPv6 address may stand in brackets. What a resolver would take
// for an address in another form (010.1, 0x7f000001) is refused, so that a name never
// stands for an address that nobody named.
func parseHost(text string) (hostName, error) {
	inner, bracket := strings.CutPrefix(text, "[")
	if bracket {
		var ok bool
		if inner, ok = strings.CutSuffix(inner, "]"); !ok {
			return hostName{}, errors.New("this is no host: the bracket is not closed")
		}
	}
	if bracket || strings.Contains(inner, ":") {
		addr, err := netip.ParseAddr(inner)
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return hostName{}, errors.New("this is no IPv6 address that can be connected to")
		}
		return hostName{addr: addr}, nil
	}
	if addr, err := netip.ParseAddr(text); err == nil {
		return hostName{addr: addr}, nil
	}
	name := strings.TrimSuffix(text, ".")
	if !isASCII(name) {
		ascii, err := idna.Lookup.ToASCII(name)
		if err != nil {
			return hostName{}, errors.New("this is no host name")
		}
		name = ascii
	}
	name = strings.ToLower(name)
	if addr, err := netip.ParseAddr(name); err == nil { // "127.0.0.1.", or digits in another script
		return hostName{addr: addr}, nil
	}
	if !isHostName(name) {
		return hostName{}, errors.New("this is no host name")
	}
	if last := name[strings.LastIndexByte(name, '.')+1:]; isNumber(last) {
		return hostName{}, fmt.Errorf("an address is written as four decimal numbers, such as %q", "192.0.2.1")
	}
	return hostName{name: name}, nil
}

// isNumber reports whether a label is a number of an IPv4 address in any of its forms.
func isNumber(label string) bool {
	digits, hex := strings.CutPrefix(label, "0x")
	for _, c := range digits {
		if ('0' > c || c > '9') && !(hex && 'a' <= c && c <= 'f') {
			return false
		}
	}
	return digits != "" || hex
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 127 })
}
