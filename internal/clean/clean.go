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
	"unicode/utf16"
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
			format := `\u%04x`
			if r > 0xffff {
				format = `\U%08x`
			}
			fmt.Fprintf(&b, format, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// hidden reports whether a character ends a line, drives a terminal, changes the order in
// which others are shown, or is not seen at all: names that differ would look alike, and a text
// would say to a model what nobody reads. Joiners are let through, since some scripts and emoji
// need them, and so are signs of Arabic and other scripts that stand around others.
func hidden(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' '
	case r == '\u200c' || r == '\u200d' || unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Cf, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && r != '\u034f' || r >= 0xe0100 && r <= 0xe01ef
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
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		}
		text = text[size:]
	}
	return out
}
