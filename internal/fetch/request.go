package fetch

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// forbidden are headers that say how a request travels. They are the client's own; what a
// handler puts there is left out, as in a browser. Host among them: it must be the host
// that was checked.
var forbidden = []string{"Connection", "Content-Length", "Expect", "Host", "Http2-Settings", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Via"}

func isForbidden(name string) bool {
	return slices.Contains(forbidden, name) || strings.HasPrefix(name, "Proxy-")
}

func checkHeader(header http.Header) error {
	count, size := 0, 0
	for name, values := range header {
		if !isToken(name) {
			return mistake("%q is no name of a header", cut(name))
		}
		for _, value := range values {
			if !isHeaderValue(value) {
				return mistake("the header %q holds a line break, or another character that no header can", cut(name))
			}
			count++
			size += len(name) + len(value) + 4
		}
	}
	switch {
	case count > maxHeaderCount:
		return mistake("the request has %d headers, and may have %d", count, maxHeaderCount)
	case size > maxHeaderBytes:
		return mistake("the request's headers have %d bytes, and may have %d", size, maxHeaderBytes)
	}
	return nil
}

// isToken reports whether a text may be a method or the name of a header.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

func isHeaderValue(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// parseURL reads an absolute URL of HTTP.
func parseURL(text string) (*url.URL, error) {
	if !utf8.ValidString(text) {
		return nil, mistake("the URL is no text")
	}
	u, err := url.Parse(tidy(text))
	switch {
	case err != nil:
		return nil, mistake("%q is no URL", cut(withoutQuery(text)))
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, mistake("the URL begins with %q; fetch takes http: and https: only", cut(u.Scheme)+":")
	case u.User != nil:
		return nil, mistake("the URL holds a user name or a password; send the header Authorization instead")
	case u.Hostname() == "":
		return nil, mistake("%q names no host", cut(withoutQuery(text)))
	}
	u.Fragment, u.RawFragment = "", ""
	if u.Path == "" {
		u.Path = "/"
	}
	u.ForceQuery = false
	return u, nil
}

// tidy percent-encodes what Go's reader of URLs refuses or would change, and browsers do not.
func tidy(text string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	query := false
	for i := range len(text) {
		c := text[i]
		query = query || c == '?'
		stray := c == '%' && !(i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]))
		if stray || c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\", c) >= 0 || !query && strings.IndexByte("^`{|}", c) >= 0 {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func withoutQuery(text string) string {
	before, _, _ := strings.Cut(text, "?")
	return before
}

// cut keeps a hostile text from filling a message.
func cut(text string) string {
	const longest = 200
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}
