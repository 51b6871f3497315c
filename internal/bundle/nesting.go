package bundle

import (
	"fmt"
	"strings"
)

// Limits of nesting. Parsers descend once for each level, and a stack that outgrows its
// limit ends the process, so that what is deeper is refused before it is parsed.
const (
	maxBrackets = 2_000
	maxChain    = 10_000  // operators, arrows, prefixes in one expression
	maxElse     = 100_000 // of a whole file: each "else if" is nested in the one before
	maxGroups   = 500     // of a regular expression
)

// TooDeep says what is nested too deep in JavaScript that is made at run time; "" where
// nothing is.
func TooDeep(code string) string {
	_, _, what := tooDeep(code, false)
	return what
}

// CheckGroups refuses a regular expression whose groups are nested too deep.
func CheckGroups(pattern string) error {
	depth, inClass := 0, false
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			inClass = true
		case ']':
			inClass = false
		case '(':
			if inClass {
				continue
			}
			if depth++; depth > maxGroups {
				return fmt.Errorf("its groups are nested more than %d deep", maxGroups)
			}
		case ')':
			if !inClass {
				depth--
			}
		}
	}
	return nil
}

// tooDeep finds the place where a text is nested too deep; what is "" where it is not.
// It reads JavaScript only as closely as it needs to: it knows strings, templates,
// comments and most regular expressions.
func tooDeep(code string, isJSON bool) (line, column int, what string) {
	s := scanner{code: code, json: isJSON}
	if s.scan() {
		return 0, 0, ""
	}
	before := code[:min(s.at, len(code))]
	return strings.Count(before, "\n") + 1, len(before) - strings.LastIndexByte(before, '\n'), s.what
}

type scanner struct {
	code      string
	json      bool
	at        int
	brackets  []byte // '(' for any bracket, '`' for a template's ${
	chain     int
	elses     int
	last      byte // last byte that was no white space
	afterWord bool // last is the end of a word after which an expression begins
	what      string
}

// scan reports whether the text is nested within the limits.
func (s *scanner) scan() bool {
	for s.at < len(s.code) {
		c := s.code[s.at]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			s.at++
			continue
		case c == '"' || c == '\'' && !s.json:
			s.quoted(c)
		case c == '`' && !s.json:
			s.at++
			s.template()
		case c == '/' && !s.json && s.comment():
			continue
		case c == '/' && !s.json && s.regexpMayStart() && s.regexp():
		case isWord(c):
			if s.word(); s.what != "" {
				return false
			}
			continue
		default:
			s.punctuation(c)
		}
		if s.what != "" {
			return false
		}
		s.last, s.afterWord = c, false
	}
	return s.what == ""
}

func (s *scanner) punctuation(c byte) {
	s.at++
	switch c {
	case '(', '[', '{':
		s.brackets = append(s.brackets, '(')
		if len(s.brackets) > maxBrackets {
			s.what = fmt.Sprintf("the code is nested more than %d brackets deep", maxBrackets)
		}
	case ')', ']', '}':
		if c == '}' {
			s.chain = 0
		}
		if n := len(s.brackets); n > 0 {
			open := s.brackets[n-1]
			s.brackets = s.brackets[:n-1]
			if c == '}' && open == '`' {
				s.template()
			}
		}
	case ';', ',':
		s.chain = 0
	case '.', '@', '#', '\\':
	default: // an operator
		s.link()
	}
}

func (s *scanner) link() {
	if s.chain++; s.chain > maxChain {
		s.what = fmt.Sprintf("one expression has more than %d operators", maxChain)
	}
}

func (s *scanner) word() {
	start := s.at
	for s.at < len(s.code) && isWord(s.code[s.at]) {
		s.at++
	}
	s.last, s.afterWord = s.code[s.at-1], false
	switch s.code[start:s.at] {
	case "else":
		if s.elses++; s.elses > maxElse {
			s.what = fmt.Sprintf("the file has more than %d else branches", maxElse)
		}
		s.afterWord = true
	case "typeof", "void", "delete", "await", "new", "yield", "in", "of", "instanceof", "if", "for", "while", "do", "with":
		s.link()
		s.afterWord = true
	case "return", "case", "throw", "default":
		s.afterWord = true
	}
}

// quoted passes over a string that ends on its line.
func (s *scanner) quoted(quote byte) {
	for s.at++; s.at < len(s.code); s.at++ {
		switch s.code[s.at] {
		case '\\':
			s.at++
		case quote:
			s.at++
			return
		case '\n':
			return
		}
	}
}

// template passes over the text of a template up to its end or to an expression in it.
func (s *scanner) template() {
	for ; s.at < len(s.code); s.at++ {
		switch s.code[s.at] {
		case '\\':
			s.at++
		case '`':
			s.at++
			return
		case '$':
			if strings.HasPrefix(s.code[s.at:], "${") {
				s.at += 2
				s.brackets = append(s.brackets, '`')
				if len(s.brackets) > maxBrackets {
					s.what = fmt.Sprintf("the code is nested more than %d brackets deep", maxBrackets)
				}
				return
			}
		}
	}
}

func (s *scanner) comment() bool {
	rest := s.code[s.at:]
	end := ""
	switch {
	case strings.HasPrefix(rest, "//"):
		end = "\n"
	case strings.HasPrefix(rest, "/*"):
		end = "*/"
	default:
		return false
	}
	if i := strings.Index(rest[2:], end); i >= 0 {
		s.at += 2 + i + len(end)
	} else {
		s.at = len(s.code)
	}
	return true
}

// regexpMayStart says whether a slash begins a regular expression, by what stands before it.
func (s *scanner) regexpMayStart() bool {
	return s.afterWord || s.last == 0 || strings.IndexByte("(,=:[!&|?{};+-*%~^<>", s.last) >= 0
}

// regexp passes over a regular expression; false where the line has no end of one.
func (s *scanner) regexp() bool {
	class := false
	for i := s.at + 1; i < len(s.code); i++ {
		switch s.code[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				if err := CheckGroups(s.code[s.at+1 : i]); err != nil {
					s.what = "a regular expression is refused: " + err.Error()
				}
				s.at = i + 1
				return true
			}
		case '\n':
			return false
		}
	}
	return false
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
