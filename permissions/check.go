package permissions

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Check gives what is wrong with a policy's globs, hosts, settings and names of
// variables, each with the JSON pointer below "permissions" where it stands.
func (p *Policy) Check() []Problem {
	if p == nil {
		return nil
	}
	var c checker
	c.access("/fs/read", p.FS.Read, true)
	c.access("/fs/write", p.FS.Write, false)
	if p.FS.List != nil {
		c.access("/fs/list", *p.FS.List, true)
	}
	c.hosts("/fetch", p.Fetch)
	c.hosts("/net", p.Net)
	for i, name := range p.Env {
		if !isVariable(name) {
			c.add(at("/env", i), fmt.Sprintf("%q is no name of an environment variable", shorten(name)), `write the name alone, such as "LANG": letters, digits and "_", no digit first`)
		}
	}
	return c.problems
}

// Problem is one thing that is wrong with a policy.
type Problem struct {
	Pointer string // JSON pointer below "permissions"
	Message string // what is wrong, lower case, no full stop
	Hint    string // what to do about it
}

type checker struct{ problems []Problem }

func (c *checker) add(pointer, message, hint string) {
	c.problems = append(c.problems, Problem{Pointer: pointer, Message: message, Hint: hint})
}

func at(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }

func (c *checker) access(pointer string, a Access, pluginAllowed bool) {
	for i, g := range a.Paths {
		c.glob(at(pointer+"/paths", i), g)
		if strings.HasPrefix(g, pluginPrefix) && !pluginAllowed {
			c.add(at(pointer+"/paths", i), fmt.Sprintf("%q asks to write the plugin's own files, which is never allowed", shorten(g)), "leave it out; what a plugin keeps belongs into ctx.store or into the agent's folder")
		}
	}
	for i, g := range a.Deny {
		c.glob(at(pointer+"/deny", i), g)
	}
}

func (c *checker) glob(pointer, given string) {
	tidy, plugin := tidyGlob(given)
	mistake := globMistake(tidy)
	if mistake == "" {
		return
	}
	hint := `write a glob relative to the agent's folder, such as "docs/**" or "**/*.md"`
	switch {
	case strings.HasPrefix(tidy, "/") && strings.Trim(tidy, "/") != "":
		fixed := strings.TrimLeft(tidy, "/")
		if plugin {
			fixed = pluginPrefix + fixed
		}
		hint = fmt.Sprintf("did you mean %q? it starts at the agent's folder; nothing outside it can be granted", shorten(fixed))
	case strings.Contains(tidy, ".."):
		hint = "name what lies in the agent's folder; nothing outside it can be granted"
	case strings.Contains(mistake, "bracket"):
		hint = `close every "[" and "{", and put a backslash before one that is meant itself`
	case strings.Contains(mistake, "alternatives"), strings.Contains(mistake, "longer"):
		hint = "split it into several globs"
	}
	c.add(pointer, fmt.Sprintf("%q: %s", shorten(given), mistake), hint)
}

func (c *checker) hosts(pointer string, p HostPolicy) {
	for i, h := range p.Static {
		if message, hint := hostMistake(h); message != "" {
			c.add(at(pointer+"/static", i), fmt.Sprintf("%q: %s", shorten(h), message), hint)
		}
	}
	for i, key := range p.Settings {
		if key == "" || strings.ContainsAny(key, " \t\r\n/") {
			c.add(at(pointer+"/settings", i), fmt.Sprintf("%q is no key of a setting", shorten(key)), `write the key of a setting that holds the address, such as "my-plugin.webhookUrl"`)
		}
	}
}

// hostMistake says what is wrong with a host of a policy, and what to do; "" where
// nothing is.
func hostMistake(given string) (message, hint string) {
	const form = `write a host, with a port if need be: "api.example.com", "api.example.com:8443", "*.example.org"`
	if given == "" {
		return "the host is empty", form
	}
	if _, rest, ok := strings.Cut(given, "://"); ok {
		host, _, _ := strings.Cut(rest, "/")
		return "a host is named without a scheme", fmt.Sprintf("did you mean %q?", shorten(host))
	}
	if host, _, ok := strings.Cut(given, "/"); ok {
		if host == "" {
			return "a host is named without a path", form
		}
		return "a host is named without a path", fmt.Sprintf("did you mean %q?", shorten(host))
	}
	if strings.Contains(given, "@") {
		return "a host is named without a user", form
	}
	host, port := given, ""
	if strings.HasPrefix(given, "[") {
		inner, after, ok := strings.Cut(given[1:], "]")
		if addr, err := netip.ParseAddr(inner); !ok || err != nil || !addr.Is6() || addr.Zone() != "" || after != "" && after[0] != ':' {
			return "the brackets hold no IPv6 address", `write "[2001:db8::1]" or "[2001:db8::1]:8443"`
		}
		if after == "" {
			return "", ""
		}
		return portMistake(after[1:])
	}
	if addr, err := netip.ParseAddr(given); err == nil && addr.Is6() {
		return "an IPv6 address stands in brackets", fmt.Sprintf("did you mean %q?", "["+given+"]")
	}
	if i := strings.LastIndexByte(given, ':'); i >= 0 {
		host, port = given[:i], given[i+1:]
		if message, hint := portMistake(port); message != "" {
			return message, hint
		}
	}
	name, wild := strings.CutPrefix(host, "*.")
	if host == "*" || wild && !strings.Contains(name, ".") {
		return `"*." must be followed by at least two labels`, `name the domain: "*.example.org"; there is no way to allow every host`
	}
	if !isHostName(name) {
		return "this is no host name", form + `; names with other letters are written in their "xn--" form`
	}
	switch parsed, err := parseHost(name); {
	case err != nil:
		return "this is no host name: " + err.Error(), form
	case wild && parsed.addr.IsValid():
		return "an address has nothing below it", "name each address by itself"
	}
	return "", ""
}

func portMistake(port string) (message, hint string) {
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || port[0] == '0' || port[0] == '+' {
		return fmt.Sprintf("%q is no port", shorten(port)), "a port is a number from 1 to 65535; leave it and the colon out for the usual one"
	}
	return "", ""
}

func isHostName(name string) bool {
	if name == "" || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if !isWord(r) && r != '-' {
				return false
			}
		}
	}
	return true
}

func isVariable(name string) bool {
	for i, r := range name {
		if !isWord(r) || i == 0 && '0' <= r && r <= '9' {
			return false
		}
	}
	return name != ""
}

func isWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
}
