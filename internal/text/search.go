package text

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Match is a place where a pattern was found.
type Match struct {
	Line, Column int
	Match        string
	Text         string // of the line, at most MaxLine bytes of it
}

// MaxLine is how many bytes of a line a match shows.
const MaxLine = 1000

// SearchOptions of Search and SearchRegexp.
type SearchOptions struct {
	Limit int         // of the matches; 0 for all
	Stop  func() bool // asked now and then; true ends the search
}

// Search finds a text, line by line.
func Search(s, literal string, o SearchOptions) []Match {
	if literal == "" {
		return nil
	}
	return search(s, o, func(line string) (int, int) {
		i := strings.Index(line, literal)
		return i, i + len(literal)
	})
}

// SearchRegexp finds what an expression matches, line by line.
func SearchRegexp(s string, re *regexp.Regexp, o SearchOptions) []Match {
	var matches []Match
	number := 0
	needed := required(re)
	for line := range Lines(s) {
		if number++; number%1000 == 0 && o.Stop != nil && o.Stop() {
			break
		}
		if needed != "" && !strings.Contains(line, needed) {
			continue
		}
		limit := -1
		if o.Limit > 0 {
			limit = o.Limit - len(matches)
		}
		for _, at := range re.FindAllStringIndex(line, limit) {
			matches = append(matches, matchAt(line, number, at[0], at[1]))
		}
		if o.Limit > 0 && len(matches) >= o.Limit {
			break
		}
	}
	return matches
}

// required gives the longest text that every match of an expression holds; "" where none
// is known. Looking for a text is many times faster than matching.
func required(re *regexp.Regexp) string {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return ""
	}
	return requiredOf(tree)
}

func requiredOf(tree *syntax.Regexp) string {
	switch tree.Op {
	case syntax.OpLiteral:
		if tree.Flags&syntax.FoldCase == 0 {
			return string(tree.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return requiredOf(tree.Sub[0])
	case syntax.OpRepeat:
		if tree.Min > 0 {
			return requiredOf(tree.Sub[0])
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range tree.Sub {
			if one := requiredOf(sub); len(one) > len(longest) {
				longest = one
			}
		}
		return longest
	}
	return ""
}

// search finds what next finds.
func search(s string, o SearchOptions, next func(line string) (start, end int)) []Match {
	var matches []Match
	number := 0
	for line := range Lines(s) {
		if number++; number%1000 == 0 && o.Stop != nil && o.Stop() {
			break
		}
		for from := 0; from <= len(line); {
			start, end := next(line[from:])
			if start < 0 {
				break
			}
			matches = append(matches, matchAt(line, number, from+start, from+end))
			if o.Limit > 0 && len(matches) >= o.Limit {
				return matches
			}
			from += end
		}
	}
	return matches
}

func matchAt(line string, number, start, end int) Match {
	shown := line
	if len(shown) > MaxLine {
		from := max(0, min(start-MaxLine/2, len(line)-MaxLine))
		shown = strings.ToValidUTF8(line[from:from+MaxLine], "")
	}
	return Match{Line: number, Column: Units(line[:start]) + 1, Match: line[start:end], Text: shown}
}

// Units counts the UTF-16 units of a text.
func Units(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			n++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
