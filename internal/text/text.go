// Package text works through long texts faster than a script can: words, lines, matches,
// differences, CSV, globs.
//
//	n := text.CountWords("three short words")
//	for _, m := range matches { … }
//
// Everything takes time in proportion to the text, and gives at most what a limit allows.
// Positions count from 1; columns are UTF-16 units, as in JavaScript.
package text

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CountWords counts what stands between white space.
func CountWords(s string) int {
	n, inWord := 0, false
	for i := 0; i < len(s); {
		c := s[i]
		var space bool
		if c < utf8.RuneSelf {
			space = asciiSpace[c]
			i++
		} else {
			r, size := utf8.DecodeRuneInString(s[i:])
			space = isSpace(r)
			i += size
		}
		if !space && !inWord {
			n++
		}
		inWord = !space
	}
	return n
}

var asciiSpace = [utf8.RuneSelf]bool{' ': true, '\t': true, '\n': true, '\v': true, '\f': true, '\r': true}

// isSpace is \s of JavaScript.
func isSpace(r rune) bool {
	return r == '\ufeff' || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Zs, r)
}

// WordCount is a word and how often it occurs.
type WordCount struct {
	Word  string
	Count int
}

// FrequencyOptions of WordFrequency.
type FrequencyOptions struct {
	CaseSensitive bool // else all is in lower case
	MinLength     int  // in characters; shorter words do not count
	Limit         int  // of the result; 0 for all
}

// WordFrequency counts words: letters, marks and digits of any script, with an apostrophe
// or a hyphen inside. The most frequent comes first, of equal ones the first by the alphabet.
func WordFrequency(s string, o FrequencyOptions) []WordCount {
	counts := map[string]*int{}
	var lower []byte
	each(s, func(word string, ascii bool) {
		if o.MinLength > 1 && utf8.RuneCountInString(word) < o.MinLength {
			return
		}
		if !o.CaseSensitive {
			if ascii {
				lower = lower[:0]
				for i := range len(word) {
					c := word[i]
					if 'A' <= c && c <= 'Z' {
						c += 'a' - 'A'
					}
					lower = append(lower, c)
				}
				if n, ok := counts[string(lower)]; ok {
					*n++
					return
				}
				word = string(lower)
			} else {
				word = strings.ToLower(word)
			}
		}
		if n, ok := counts[word]; ok {
			*n++
			return
		}
		n := 1
		counts[strings.Clone(word)] = &n // not the whole text
	})
	list := make([]WordCount, 0, len(counts))
	for word, n := range counts {
		list = append(list, WordCount{word, *n})
	}
	slices.SortFunc(list, func(a, b WordCount) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Word, b.Word)) })
	if o.Limit > 0 && len(list) > o.Limit {
		list = list[:o.Limit]
	}
	return list
}

// each calls f with each word.
func each(s string, f func(word string, ascii bool)) {
	for i := 0; i < len(s); {
		n := wordPart(s[i:])
		if n == 0 {
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
			continue
		}
		start, ascii := i, true
		for n > 0 {
			ascii = ascii && n == 1
			i += n
			if n = wordPart(s[i:]); n == 0 && i < len(s) {
				if joint := jointPart(s[i:]); joint > 0 && wordPart(s[i+joint:]) > 0 {
					n = joint
				}
			}
		}
		f(s[start:i], ascii)
	}
}

// wordPart gives how many bytes of a letter, mark or digit a text begins with.
func wordPart(s string) int {
	if s == "" {
		return 0
	}
	if c := s[0]; c < utf8.RuneSelf {
		if asciiWord[c] {
			return 1
		}
		return 0
	}
	r, size := utf8.DecodeRuneInString(s)
	if r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)) {
		return size
	}
	return 0
}

var asciiWord = func() (set [utf8.RuneSelf]bool) {
	for _, c := range "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" {
		set[c] = true
	}
	return set
}()

// jointPart gives how many bytes of an apostrophe or a hyphen a text begins with.
func jointPart(s string) int {
	for _, joint := range []string{"'", "-", "’"} {
		if strings.HasPrefix(s, joint) {
			return len(joint)
		}
	}
	return 0
}

// Lines gives the lines of a text. They end with \n, \r\n or \r, which belong to none of
// them; an end at the very end makes no line.
func Lines(s string) iter.Seq[string] {
	return func(yield func(line string) bool) {
		LinesAt(s)(func(_ int, line string) bool { return yield(line) })
	}
}

// LinesAt is Lines that gives the byte at which each begins too.
func LinesAt(s string) iter.Seq2[int, string] {
	return func(yield func(start int, line string) bool) {
		plain := strings.IndexByte(s, '\r') < 0 // what is quicker to look through
		for start := 0; start < len(s); {
			n := -1
			if plain {
				n = strings.IndexByte(s[start:], '\n')
			} else {
				n = strings.IndexAny(s[start:], "\r\n")
			}
			if n < 0 {
				yield(start, s[start:])
				return
			}
			end := start + n
			if !yield(start, s[start:end]) {
				return
			}
			if s[end] == '\r' && end+1 < len(s) && s[end+1] == '\n' {
				end++
			}
			start = end + 1
		}
	}
}
