package schema

import "unicode"

// Hidden gives the first character of a text that people do not see and models read: a
// control character other than line breaks and tabs, one that changes the order of
// others, or one without width. With such characters a text can say to a model what
// nobody notices who looks at it. Joiners are let through, since some scripts and emoji
// need them.
func Hidden(text string) (r rune, found bool) {
	for _, r := range text {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u200c' || r == '\u200d':
		case unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r):
			return r, true
		}
	}
	return 0, false
}
