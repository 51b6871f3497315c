package jsondoc

import "unicode/utf8"

// AppendText appends s as a JSON string, in the way of encoding/json without escaping what HTML
// would need: bytes that are no UTF-8 become U+FFFD, and U+2028 and U+2029 are escaped, which end
// lines for some readers.
func AppendText(text []byte, s string) []byte {
	const hex = "0123456789abcdef"
	text = append(text, '"')
	from := 0 // what is before it has been appended
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		size, escape := 1, ""
		switch c {
		case '"':
			escape = `\"`
		case '\\':
			escape = `\\`
		case '\b':
			escape = `\b`
		case '\f':
			escape = `\f`
		case '\n':
			escape = `\n`
		case '\r':
			escape = `\r`
		case '\t':
			escape = `\t`
		}
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				escape = `\ufffd`
			case r == '\u2028':
				escape = `\u2028`
			case r == '\u2029':
				escape = `\u2029`
			default:
				i += size
				continue
			}
		}
		text = append(text, s[from:i]...)
		if escape == "" { // another control character
			text = append(text, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
		text = append(text, escape...)
		i += size
		from = i
	}
	return append(append(text, s[from:]...), '"')
}
