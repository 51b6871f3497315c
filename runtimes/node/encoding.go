package node

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// encodeText gives the bytes of a string in one of Node's encodings: "utf8",
// "utf16le", "latin1" (also for ascii and binary), "hex", "base64", "base64url".
func encodeText(s goja.String, encoding string) []byte {
	switch encoding {
	case "utf16le":
		b := make([]byte, 0, 2*s.Length())
		for i := range s.Length() {
			c := s.CharAt(i)
			b = append(b, byte(c), byte(c>>8))
		}
		return b
	case "latin1":
		b := make([]byte, s.Length())
		for i := range b {
			b[i] = byte(s.CharAt(i))
		}
		return b
	case "hex":
		return decodeHex(s)
	case "base64", "base64url":
		return decodeBase64(s.String())
	}
	return []byte(s.String())
}

// decodeText is the other way round.
func (e *engine) decodeText(b []byte, encoding string) goja.Value {
	switch encoding {
	case "utf16le":
		units := make([]uint16, len(b)/2)
		for i := range units {
			units[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
		}
		return goja.StringFromUTF16(units)
	case "latin1":
		if isASCII(b) {
			return e.vm.ToValue(string(b))
		}
		units := make([]uint16, len(b))
		for i, c := range b {
			units[i] = uint16(c)
		}
		return goja.StringFromUTF16(units)
	case "ascii":
		c := bytes.Clone(b)
		for i := range c {
			c[i] &= 0x7f
		}
		return e.vm.ToValue(string(c))
	case "hex":
		return e.vm.ToValue(hex.EncodeToString(b))
	case "base64":
		return e.vm.ToValue(base64.StdEncoding.EncodeToString(b))
	case "base64url":
		return e.vm.ToValue(base64.RawURLEncoding.EncodeToString(b))
	}
	return e.text(b)
}

// decodeHex stops at the first pair that is no hexadecimal number, as Node does.
func decodeHex(s goja.String) []byte {
	b := make([]byte, 0, s.Length()/2)
	for i := 0; i+1 < s.Length(); i += 2 {
		hi, lo := hexDigit(s.CharAt(i)), hexDigit(s.CharAt(i+1))
		if hi < 0 || lo < 0 {
			break
		}
		b = append(b, byte(hi<<4|lo))
	}
	return b
}

func hexDigit(c uint16) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// decodeBase64 takes both alphabets, mixed, passes over what is in neither, and ends
// at the first "=", as Node does.
func decodeBase64(s string) []byte {
	if b, err := base64.StdEncoding.DecodeString(s); err == nil && !strings.ContainsAny(s, "\r\n") {
		return b
	}
	b := make([]byte, 0, len(s)/4*3+3)
	var bits uint32
	n := 0
	for i := range len(s) {
		v := base64Digit(s[i])
		if v < 0 {
			if s[i] == '=' {
				break
			}
			continue
		}
		bits = bits<<6 | uint32(v)
		if n++; n == 4 {
			b = append(b, byte(bits>>16), byte(bits>>8), byte(bits))
			bits, n = 0, 0
		}
	}
	switch n {
	case 2:
		b = append(b, byte(bits>>4))
	case 3:
		b = append(b, byte(bits>>10), byte(bits>>2))
	}
	return b
}

// forgivingBase64 decodes as atob does. problem is -1 where there is none, 0 for a
// character that does not belong, 1 for a length that none has.
func forgivingBase64(s goja.String) (b []byte, problem int) {
	text := make([]byte, 0, s.Length())
	for i := range s.Length() {
		switch c := s.CharAt(i); {
		case c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r':
		case c >= utf8.RuneSelf || c == '-' || c == '_' || c != '=' && base64Digit(byte(c)) < 0:
			return nil, 0
		default:
			text = append(text, byte(c))
		}
	}
	if len(text)%4 == 0 {
		text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("=")), []byte("="))
	}
	if bytes.IndexByte(text, '=') >= 0 {
		return nil, 0
	}
	if len(text)%4 == 1 {
		return nil, 1
	}
	return decodeBase64(string(text)), -1
}

func base64Digit(c byte) int {
	switch {
	case 'A' <= c && c <= 'Z':
		return int(c - 'A')
	case 'a' <= c && c <= 'z':
		return int(c-'a') + 26
	case '0' <= c && c <= '9':
		return int(c-'0') + 52
	case c == '+' || c == '-':
		return 62
	case c == '/' || c == '_':
		return 63
	}
	return -1
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// repairUTF8 puts U+FFFD in place of each maximal part of an ill-formed sequence.
func repairUTF8(b []byte) []byte {
	out := make([]byte, 0, len(b)+8)
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			n, _ := brokenUTF8(b)
			out = append(out, "\ufffd"...)
			b = b[n:]
			continue
		}
		out = append(out, b[:size]...)
		b = b[size:]
	}
	return out
}

// brokenUTF8 measures the ill-formed sequence that b starts with: how many bytes
// belong to it, and whether b ends before it could become well-formed.
func brokenUTF8(b []byte) (n int, unfinished bool) {
	lo, hi, need := byte(0x80), byte(0xbf), 0
	switch c := b[0]; {
	case c >= 0xc2 && c <= 0xdf:
		need = 1
	case c >= 0xe0 && c <= 0xef:
		need = 2
		if c == 0xe0 {
			lo = 0xa0
		} else if c == 0xed {
			hi = 0x9f
		}
	case c >= 0xf0 && c <= 0xf4:
		need = 3
		if c == 0xf0 {
			lo = 0x90
		} else if c == 0xf4 {
			hi = 0x8f
		}
	default:
		return 1, false
	}
	for n = 1; n <= need; n++ {
		if n == len(b) {
			return n, true
		}
		if b[n] < lo || b[n] > hi {
			return n, false
		}
		lo, hi = 0x80, 0xbf
	}
	return n, false
}

// unfinishedUTF8 gives how many bytes at the end of b are the start of a character
// that b does not finish.
func unfinishedUTF8(b []byte) int {
	for i := 1; i <= min(3, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if c < utf8.RuneSelf {
				return 0
			}
			if n, unfinished := brokenUTF8(b[len(b)-i:]); unfinished && n == i {
				return i
			}
			return 0
		}
	}
	return 0
}

// utf8Length is the length of a string as UTF-8; a lone surrogate counts three bytes.
func utf8Length(s goja.String) int {
	n := 0
	for i := 0; i < s.Length(); i++ {
		switch c := s.CharAt(i); {
		case c < 0x80:
			n++
		case c < 0x800:
			n += 2
		case utf16.IsSurrogate(rune(c)) && i+1 < s.Length() && utf16.DecodeRune(rune(c), rune(s.CharAt(i+1))) != utf8.RuneError:
			n += 4
			i++
		default:
			n += 3
		}
	}
	return n
}

// loadEncoding gives what the libraries of TextEncoder, TextDecoder, Buffer and
// StringDecoder need of Go.
func loadEncoding(e *engine) goja.Value {
	return e.object(map[string]any{
		"encode": func(c goja.FunctionCall) goja.Value { // (text, encoding) → ArrayBuffer
			return e.vm.ToValue(e.vm.NewArrayBuffer(encodeText(textOf(c.Argument(0)), c.Argument(1).String())))
		},
		"decode": func(c goja.FunctionCall) goja.Value { // (Uint8Array, encoding, start, end) → text
			b := e.mustBytes(c.Argument(0))
			start, end := int(c.Argument(2).ToInteger()), int(c.Argument(3).ToInteger())
			if start < 0 || end > len(b) || start > end {
				panic(e.newError("RangeError", "ERR_OUT_OF_RANGE", "the range %d to %d is outside of %d bytes", start, end, len(b)))
			}
			encoding, length := c.Argument(1).String(), end-start
			if encoding == "hex" {
				length *= 2
			}
			if length > maxStringLength {
				panic(e.newError("Error", "ERR_STRING_TOO_LONG", "Cannot create a string longer than 0x%x characters", maxStringLength))
			}
			return e.decodeText(b[start:end], encoding)
		},
		"byteLength": func(c goja.FunctionCall) goja.Value { return e.vm.ToValue(utf8Length(textOf(c.Argument(0)))) },
		"maxBytes":   maxBytes,
		"atob": func(c goja.FunctionCall) goja.Value { // → text, or 0 for a wrong character, 1 for a wrong length
			b, problem := forgivingBase64(textOf(c.Argument(0)))
			if problem >= 0 {
				return e.vm.ToValue(problem)
			}
			return e.decodeText(b, "latin1")
		},
		"btoa": func(c goja.FunctionCall) goja.Value { // → text, or undefined for a wrong character
			s := textOf(c.Argument(0))
			for i := range s.Length() {
				if s.CharAt(i) > 0xff {
					return goja.Undefined()
				}
			}
			return e.decodeText(encodeText(s, "latin1"), "base64")
		},
		"validUTF8":    func(c goja.FunctionCall) goja.Value { return e.vm.ToValue(utf8.Valid(e.mustBytes(c.Argument(0)))) },
		"toWellFormed": e.toWellFormed,
		"unfinishedUTF8": func(c goja.FunctionCall) goja.Value {
			return e.vm.ToValue(unfinishedUTF8(e.mustBytes(c.Argument(0))))
		},
		"encodeInto": func(c goja.FunctionCall) goja.Value { // (text, Uint8Array) → [read, written]
			s, b := textOf(c.Argument(0)), e.mustBytes(c.Argument(1))
			read, written := encodeInto(s, b)
			return e.vm.NewArray(read, written)
		},
	})
}

// encodeInto writes whole characters of s to b as UTF-8 while they fit.
func encodeInto(s goja.String, b []byte) (read, written int) {
	for read < s.Length() {
		r, units := rune(s.CharAt(read)), 1
		if utf16.IsSurrogate(r) {
			if read+1 < s.Length() {
				if pair := utf16.DecodeRune(r, rune(s.CharAt(read+1))); pair != utf8.RuneError {
					r, units = pair, 2
				}
			}
			if units == 1 {
				r = utf8.RuneError
			}
		}
		if written+utf8.RuneLen(r) > len(b) {
			break
		}
		written += utf8.EncodeRune(b[written:], r)
		read += units
	}
	return read, written
}
