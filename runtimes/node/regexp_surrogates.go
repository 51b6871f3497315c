package node

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/internal/lazyregexp"
)

// surrogateEscape shows that a pattern may name halves of surrogate pairs.
var surrogateEscape = lazyregexp.New(`\\u[dD][89a-fA-F]`)

// statics shows that a script may read RegExp.$1 and the like.
var statics = lazyregexp.New(`RegExp\.(\$|last(Match|Paren)|(left|right)Context|input\b)|\}\s*=\s*RegExp\b|\bRegExp\[`)

// namesSurrogates reports whether a pattern without the flag u, which matches code units,
// has classes that name halves of surrogate pairs.
func namesSurrogates(pattern string) bool {
	return strings.Contains(pattern, "[") && (surrogateEscape.MatchString(pattern) || strings.ContainsFunc(pattern, func(r rune) bool { return r > 0xffff }))
}

// patternText gives a pattern as text; a lone half of a surrogate pair becomes its escape.
func patternText(s goja.String) string {
	var b strings.Builder
	for i := 0; i < s.Length(); i++ {
		c := rune(s.CharAt(i))
		if !utf16.IsSurrogate(c) {
			b.WriteRune(c)
			continue
		}
		if i+1 < s.Length() {
			if pair := utf16.DecodeRune(c, rune(s.CharAt(i+1))); pair != utf8.RuneError {
				b.WriteRune(pair)
				i++
				continue
			}
		}
		fmt.Fprintf(&b, `\u%04x`, c)
	}
	return b.String()
}

// distinguish makes the classes of a pattern without the flag u tell apart. The
// backtracking engine takes two of them for the same when they differ in surrogates only,
// so that [\ud800-\udbff][\udc00-\udfff] never matches. Every such class but the first gets
// a character of its own, which is then kept from matching.
func distinguish(pattern string) string {
	if !namesSurrogates(pattern) {
		return pattern
	}
	var b strings.Builder
	seen := map[string]string{} // by the class as it stands
	for i := 0; i < len(pattern); {
		switch pattern[i] {
		case '\\':
			n := min(2, len(pattern)-i)
			b.WriteString(pattern[i : i+n])
			i += n
			continue
		case '[':
			text, end := classText(pattern, i)
			out, ok := seen[text]
			if !ok {
				out = text
				if c, ok := parseClass(text); ok && c.surrogates {
					if len(seen) > 0 {
						out = c.with(len(seen))
					}
					seen[text] = out
				}
			}
			b.WriteString(out)
			i = end
			continue
		}
		b.WriteByte(pattern[i])
		i++
	}
	return b.String()
}

// classText gives the class that begins at a place, and where it ends.
func classText(pattern string, start int) (text string, end int) {
	for i := start + 1; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case ']':
			return pattern[start : i+1], i + 1
		}
	}
	return pattern[start:], len(pattern)
}

// class is a class of a pattern without the flag u.
type class struct {
	items      string // what stands between the brackets, without ^
	negated    bool
	spans      []span
	surrogates bool // an item is a half of a surrogate pair
}

// parseClass reads a class; ok is false for one whose characters it does not know.
func parseClass(text string) (c class, ok bool) {
	if !strings.HasSuffix(text, "]") {
		return c, false
	}
	c.items = text[1 : len(text)-1]
	c.items, c.negated = strings.CutPrefix(c.items, "^")
	var units []rune // -1 stands for \d, \s and \w, -2 for a hyphen that is not escaped
	for i := 0; i < len(c.items); {
		r, n := utf8.DecodeRuneInString(c.items[i:])
		i += n
		switch {
		case r == '-':
			units = append(units, -2)
		case r > 0xffff:
			first, second := utf16.EncodeRune(r)
			units = append(units, first, second)
		case r != '\\' || i >= len(c.items):
			units = append(units, r)
		default:
			r, n := utf8.DecodeRuneInString(c.items[i:])
			i += n
			digits := map[rune]int{'u': 4, 'x': 2}[r]
			if digits > 0 && i+digits <= len(c.items) {
				if v, err := strconv.ParseUint(c.items[i:i+digits], 16, 16); err == nil {
					units = append(units, rune(v))
					i += digits
					continue
				}
			}
			switch r {
			case 'd', 's', 'w':
				units = append(units, -1)
			case 'D', 'S', 'W':
				return c, false // nearly everything
			default:
				units = append(units, r) // a control character or itself: nothing that is chosen
			}
		}
	}
	for i := 0; i < len(units); i++ {
		s := span{units[i], units[i]}
		if i+2 < len(units) && units[i+1] == -2 && units[i] >= 0 && units[i+2] >= 0 {
			s.hi = units[i+2]
			i += 2
		}
		c.spans = append(c.spans, s)
		c.surrogates = c.surrogates || s.lo <= 0xdfff && s.hi >= 0xd800
	}
	return c, true
}

// with gives a group that matches what the class does, whose set has a character more.
func (c class) with(n int) string {
	for _, base := range []rune{0xe100, 0x3400, 0xa000} { // without other cases; more than a pattern has classes
		mark := base + rune(2*n)
		free := n < 0x400
		for _, s := range c.spans {
			free = free && (mark+1 < s.lo || mark-1 > s.hi)
		}
		if !free {
			continue
		}
		escaped := fmt.Sprintf(`\u%04x`, mark)
		items := escaped + c.items
		if strings.HasPrefix(c.items, "-") {
			items = escaped + `\` + c.items // else it made a range of the mark
		}
		if c.negated {
			return "(?:[^" + items + "]|" + escaped + ")"
		}
		return "(?:(?!" + escaped + ")[" + items + "])"
	}
	return "[" + map[bool]string{true: "^"}[c.negated] + c.items + "]"
}
