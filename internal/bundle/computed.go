package bundle

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/lazyregexp"
)

// Names that stand for require and import where the module that they ask for is known only
// at run time. They are as long as the words themselves, so that places stay right.
const (
	laterRequire = "_Requir"
	laterImport  = "_Impor"
)

// maxLater is how many places of a file are looked at that ask for modules at run time, and
// maxLookAhead how far for the end of each.
const (
	maxLater     = 1_000
	maxLookAhead = 64 << 10
)

// ownRequire shows that a function of a file has a require of its own, as those of bundles do.
var ownRequire = lazyregexp.New(`\bfunction\b[^(){}]*\([^()]*\brequire\b[^()]*\)|\([^()]*\brequire\b[^()]*\)\s*=>`)

// leaveForLater gives what a file asks for at run time names of the host's own. The bundler
// would take a path that begins with a text as a pattern of names, and look for files that
// match it by itself.
func leaveForLater(code string) string {
	if !strings.Contains(code, "require") && !strings.Contains(code, "import") || ownRequire.MatchString(code) && !strings.Contains(code, "import") {
		return code
	}
	renamed := []byte(nil)
	own, n := ownRequire.MatchString(code), 0
	put := func(at int, name string) {
		if renamed == nil {
			renamed = []byte(code)
		}
		copy(renamed[at:], name)
	}
	s := scanner{code: code}
	s.seen = func(start, end int, before byte) {
		word := code[start:end]
		if before == '.' || word != "import" && (word != "require" || own) || n >= maxLater {
			return
		}
		next := skipSpace(code, end)
		switch {
		case strings.HasPrefix(code[next:], "("):
			if takesText(code, next) {
				return
			}
			if n++; declares(code, next) {
				return
			}
		case word != "require" || !strings.HasPrefix(code[next:], "."):
			return
		}
		if word == "require" {
			put(start, laterRequire)
		} else {
			put(start, laterImport)
		}
	}
	s.scan()
	if renamed == nil {
		return code
	}
	return string(renamed)
}

// skipSpace gives the place after white space and comments.
func skipSpace(code string, at int) int {
	for at < len(code) {
		switch rest := code[at:]; {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			at++
		case strings.HasPrefix(rest, "//"):
			i := strings.IndexByte(rest, '\n')
			if i < 0 {
				return len(code)
			}
			at += i
		case strings.HasPrefix(rest, "/*"):
			i := strings.Index(rest[2:], "*/")
			if i < 0 {
				return len(code)
			}
			at += 4 + i
		default:
			return at
		}
	}
	return at
}

// takesText reports whether a call, whose bracket is at a place, has a text alone as its
// first argument.
func takesText(code string, at int) bool {
	at = skipSpace(code, at+1)
	if at >= len(code) || code[at] != '"' && code[at] != '\'' {
		return false
	}
	s := scanner{code: code, at: at}
	s.quoted(code[at])
	at = skipSpace(code, min(s.at, len(code)))
	return at < len(code) && (code[at] == ')' || code[at] == ',')
}

// declares reports whether what looks like a call is the head of a function or a method.
func declares(code string, at int) bool {
	s := scanner{code: code[at:min(len(code), at+maxLookAhead)]}
	for s.at < len(s.code) {
		one := s.at
		if s.step(); len(s.brackets) == 0 && s.at > one {
			break
		}
	}
	next := skipSpace(code, at+s.at)
	return next < len(code) && code[next] == '{'
}

// escaped shows a letter of require that is not written as itself.
var escaped = lazyregexp.New(`\\u(?:\{0*|00)(?:7[125]|6[59])`)

// mayBePattern reports whether the bundler may find a pattern of names in a file, which
// it is to find nowhere. Any doubt counts.
func mayBePattern(code string) bool {
	for _, word := range []string{"require", "import"} {
		for at := 0; ; {
			i := strings.Index(code[at:], word)
			if i < 0 {
				break
			}
			start := at + i
			at = start + len(word)
			if start > 0 && isWord(code[start-1]) || at < len(code) && isWord(code[at]) {
				continue
			}
			next := skipSpace(code, at)
			rest := code[next:]
			switch {
			case strings.HasPrefix(rest, "(") && takesText(code, next):
			case word == "import" && !strings.HasPrefix(rest, "(") && !strings.HasPrefix(rest, "."):
			case word == "import" && strings.HasPrefix(rest, ".meta"):
			default:
				return true
			}
		}
	}
	return escaped.MatchString(code)
}

// nowhereFor gives a folder that is not there, so deep that no pattern in a file leads out of
// it: each step up is written with a slash behind a dot, or an escape.
func nowhereFor(code string) string {
	steps := strings.Count(code, `\`) + 1
	for i := 1; i < len(code); i++ {
		if code[i] == '/' && slices.Contains([]byte("./'\"`}"), code[i-1]) {
			steps++
		}
	}
	return string(filepath.Separator) + "no folder of toolhost" + strings.Repeat(string(filepath.Separator)+"x", steps)
}
