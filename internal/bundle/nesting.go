package bundle

import (
	"fmt"
	"strings"
)

// Limits of nesting. Parsers descend once for each level, and a stack that outgrows its
// limit ends the process, so that what is deeper is refused before it is parsed.
const (
	maxBrackets = 2_000
	maxChain    = 10_000  // operators, arrows, prefixes in one expression or statement
	maxMembers  = 5_000   // a.b.c…: the bundler's work grows with the square
	maxPostfix  = 20_000  // members and calls of one expression, commas of one
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
	brackets  []bracket
	depth     depth
	elses     int
	members   int
	last      byte // last byte that was no white space
	afterWord bool // last is the end of a word after which an expression begins
	blockWord bool // that word is else or do: a brace begins a block
	what      string
	seen      func(start, end int, before byte) // told of each word, and what stands before it; may be nil
}

// depth is how deep what is read now may stand below what it is a part of.
type depth struct{ chain, postfix, commas int }

// bracket is one that is open.
type bracket struct {
	kind  byte  // '(', '[', 'c' for those of a call, '{' of a literal, 'b' of a block, '`' of a template's ${
	depth depth // at the bracket
}

// outside is the depth at which the parts of the innermost bracket begin.
func (s *scanner) outside() depth {
	if n := len(s.brackets); n > 0 {
		return s.brackets[n-1].depth
	}
	return depth{}
}

func (s *scanner) open(kind byte) {
	s.brackets = append(s.brackets, bracket{kind, s.depth})
	if len(s.brackets) > maxBrackets {
		s.what = fmt.Sprintf("the code is nested more than %d brackets deep", maxBrackets)
	}
}

// close ends a bracket. What follows is as deep as what stood before it, unless that was a
// block that ends a statement.
func (s *scanner) close() {
	n := len(s.brackets)
	if n == 0 {
		s.depth = depth{}
		return
	}
	last := s.brackets[n-1]
	s.brackets, s.depth = s.brackets[:n-1], last.depth
	switch {
	case last.kind == '`':
		s.template()
	case last.kind == 'b' && !s.continues():
		s.depth = s.outside()
	}
}

// continues reports whether an expression goes on after a brace, as after that of a function.
func (s *scanner) continues() bool {
	rest := strings.TrimLeft(s.code[s.at:], " \t\r\n")
	if rest == "" {
		return false
	}
	if isWord(rest[0]) {
		end := strings.IndexFunc(rest, func(c rune) bool { return c < 0x80 && !isWord(byte(c)) })
		if end < 0 {
			end = len(rest)
		}
		return rest[:end] == "in" || rest[:end] == "instanceof"
	}
	return strings.IndexByte("?:*|&=+-.([`<>^%,", rest[0]) >= 0
}

// scan reports whether the text is nested within the limits.
func (s *scanner) scan() bool {
	for s.at < len(s.code) && s.what == "" {
		s.step()
	}
	return s.what == ""
}

// step passes over one thing: a word, a text, a sign.
func (s *scanner) step() {
	c := s.code[s.at]
	switch {
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		s.at++
		return
	case c == '"' || c == '\'' && !s.json:
		s.quoted(c)
	case c == '`' && !s.json:
		s.at++
		s.append()
		s.template()
	case c == '/' && !s.json && s.comment():
		return
	case c == '/' && !s.json && s.regexpMayStart() && s.regexp():
	case isWord(c):
		s.word()
		return
	default:
		s.punctuation(c)
	}
	if s.what == "" {
		s.last, s.afterWord = c, false
	}
}

func (s *scanner) punctuation(c byte) {
	s.at++
	switch c {
	case '(':
		kind := c
		if isWord(s.last) && !s.afterWord || s.last == ')' || s.last == ']' {
			kind = 'c'
		}
		s.append()
		s.open(kind)
	case '[':
		s.append()
		s.open(c)
	case '{':
		kind := byte('b')
		if s.json || s.afterWord && !s.blockWord || strings.IndexByte("(,=:[!&|?+-*~^<%/", s.last) >= 0 {
			kind = c
		}
		s.open(kind)
	case ')', ']', '}':
		s.close()
	case ';':
		s.depth = s.outside()
	case ',':
		s.comma()
	case '.':
		s.append()
		if s.members++; s.members > maxMembers {
			s.what = fmt.Sprintf("one expression has more than %d members", maxMembers)
		}
		return
	case '@', '#', '\\':
	default: // an operator
		s.link()
	}
	s.members = 0
}

// comma ends a part of a list, or of an expression, which is nested in the next.
func (s *scanner) comma() {
	if n := len(s.brackets); n > 0 {
		if kind := s.brackets[n-1].kind; kind == '[' || kind == 'c' || kind == '{' {
			s.depth = s.outside()
			return
		}
	}
	s.depth.chain, s.depth.postfix = s.outside().chain, s.outside().postfix
	if s.depth.commas++; s.depth.commas > maxPostfix {
		s.what = fmt.Sprintf("one expression has more than %d commas", maxPostfix)
	}
}

// append counts what is put behind an expression, which is nested in it.
func (s *scanner) append() {
	if s.depth.postfix++; s.depth.postfix > maxPostfix {
		s.what = fmt.Sprintf("one expression has more than %d members or calls", maxPostfix)
	}
}

func (s *scanner) link() {
	if s.depth.chain++; s.depth.chain > maxChain {
		s.what = fmt.Sprintf("one expression has more than %d operators", maxChain)
	}
}

func (s *scanner) word() {
	start := s.at
	for s.at < len(s.code) && isWord(s.code[s.at]) {
		s.at++
	}
	word := s.code[start:s.at]
	if s.seen != nil {
		s.seen(start, s.at, s.last)
	}
	if s.last != '.' {
		s.members = 0
	}
	s.last, s.afterWord, s.blockWord = s.code[s.at-1], false, word == "else" || word == "do"
	switch word {
	case "else":
		if s.elses++; s.elses > maxElse {
			s.what = fmt.Sprintf("the file has more than %d else branches", maxElse)
		}
		s.afterWord = true
	case "typeof", "void", "delete", "await", "new", "yield", "in", "of", "instanceof", "if", "for", "while", "do", "with",
		"class", "extends", "keyof", "readonly", "unique", "infer", "asserts":
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
				s.open('`')
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
