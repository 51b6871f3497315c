// Package clean makes texts that others wrote fit to be shown on a terminal: whoever wrote
// a plugin, or named its folder, must not be able to drive the terminal, to forge a line of
// a listing, or to show a line in another order than it has.
//
//	fmt.Println("plugin", clean.Line(name))
package clean

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text gives a text of several lines as it can be shown.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return utf8.RuneError
		}
		return r
	}, s)
}

// Line gives a text as it can be shown on a line of its own, or in a column of one. What
// cannot be shown there is escaped as Go and JSON do it, so that it can be seen.
func Line(s string) string {
	if !strings.ContainsFunc(s, hidden) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// hidden reports whether a character ends a line, drives a terminal, or changes the order
// in which others are shown.
func hidden(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

// JSON escapes in JSON text what encoding/json leaves as it is though it drives some
// terminals. The value stays the same.
func JSON(text []byte) []byte {
	plain := func(r rune) bool { return r < 0x7f || !hidden(r) }
	if bytes.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if plain(r) {
			out = append(out, text[:size]...)
		} else {
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[size:]
	}
	return out
}
