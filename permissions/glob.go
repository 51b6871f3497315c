package permissions

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
)

// ErrBadGlob is what Match gives for a glob that cannot be read.
var ErrBadGlob = errors.New("malformed glob")

// Match reports whether a slash path matches a doublestar glob: "*" and "?" stay within
// a name, "**" as a whole name stands for any number of folders, "[a-z]" and "{a,b}"
// choose, and a backslash takes the next character as it is. "docs/**" matches "docs"
// too. A glob that cannot be read, or that has too many alternatives, is ErrBadGlob.
func Match(pattern, name string) (bool, error) {
	if reason := badGlob(pattern); reason != "" {
		return false, fmt.Errorf("%w: %s", ErrBadGlob, reason)
	}
	return doublestar.MatchUnvalidated(pattern, name), nil
}

const (
	longestGlob = 1024
	// maxAlternatives bounds what braces multiply to: "{a,b}{a,b}…" doubles the work with
	// each pair.
	maxAlternatives = 512
)

// badGlob says why a glob cannot be matched; "" where it can.
func badGlob(pattern string) string {
	if len(pattern) > longestGlob {
		return fmt.Sprintf("it is longer than %d bytes", longestGlob)
	}
	if !doublestar.ValidatePattern(pattern) {
		return "a bracket or brace is not closed, or it ends in a backslash"
	}
	var open []int // alternatives so far of each open brace
	total, escaped, class := 1, false, false
	for _, r := range pattern {
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case class:
			class = r != ']'
		case r == '[':
			class = true
		case r == '{':
			open = append(open, 1)
		case r == ',' && len(open) > 0:
			open[len(open)-1]++
		case r == '}' && len(open) > 0:
			if total *= open[len(open)-1]; total > maxAlternatives {
				return fmt.Sprintf("its braces give more than %d alternatives", maxAlternatives)
			}
			open = open[:len(open)-1]
		}
	}
	return ""
}

// hasMeta reports whether a glob is more than a name.
func hasMeta(pattern string) bool { return strings.ContainsAny(pattern, `*?[{\`) }

// fold gives a text in which names that some file system takes for the same are the
// same: case does not count, nor do characters that cannot be seen.
func fold(s string) string {
	ascii := true
	for i := range len(s) {
		if s[i] >= 0x80 {
			ascii = false
			break
		}
	}
	if ascii {
		return strings.ToLower(s)
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		// The smallest of the runes that fold to each other: for letters of ASCII the
		// upper case one.
		least := r
		for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
			least = min(least, o)
		}
		return unicode.ToLower(least)
	}, s)
}

// prefixes yields each folder on the way to a slash path, and the path itself.
func prefixes(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := range len(name) {
			if name[i] == '/' && !yield(name[:i]) {
				return
			}
		}
		yield(name)
	}
}

// eachName yields each name in a slash path.
func eachName(name string) func(yield func(string) bool) { return strings.SplitSeq(name, "/") }

// allowList is a list of globs of which one must match.
type allowList []allowGlob

type allowGlob struct {
	pattern string
	// subtree: the glob ends in a plain name, which covers what is below it too.
	subtree bool
	// base is the path before the first wildcard: folders on the way there may be made.
	base string
}

// newAllowList takes the globs for the agent's folder, or for the plugin's own. A glob
// that cannot be read allows nothing.
func newAllowList(globs []string, plugin bool) allowList {
	var l allowList
	for _, given := range globs {
		g, ofPlugin := tidyGlob(given)
		if ofPlugin != plugin || globMistake(g) != "" {
			continue
		}
		base, last := doublestar.SplitPattern(g)
		if !hasMeta(last) {
			base = g
		}
		l = append(l, allowGlob{pattern: g, subtree: !hasMeta(g[strings.LastIndexByte(g, '/')+1:]), base: base})
	}
	return l
}

func (l allowList) match(name string) bool {
	for _, g := range l {
		switch {
		case name == ".":
			// "*" would match an empty name, but it is about what is in the folder.
			if g.pattern == "." || g.pattern == "**" || g.pattern == "**/*" {
				return true
			}
		case g.pattern == ".":
			return true
		case doublestar.MatchUnvalidated(g.pattern, name):
			return true
		case g.subtree:
			for p := range prefixes(name) {
				if doublestar.MatchUnvalidated(g.pattern, p) {
					return true
				}
			}
		}
	}
	return false
}

// leadsTo reports whether name is a folder on the way to what a glob may match.
func (l allowList) leadsTo(name string) bool {
	for _, g := range l {
		if g.base != "." && (g.base == name || strings.HasPrefix(g.base, name+"/")) {
			return true
		}
	}
	return false
}

// tidyGlob takes away what does not change a glob: "./" before and "/" behind it. It
// reports whether the glob is about the plugin's own files.
func tidyGlob(glob string) (tidy string, plugin bool) {
	tidy, plugin = strings.CutPrefix(glob, pluginPrefix)
	for strings.HasPrefix(tidy, "./") {
		tidy = tidy[2:]
	}
	for len(tidy) > 1 && strings.HasSuffix(tidy, "/") && !strings.HasSuffix(tidy, `\/`) {
		tidy = tidy[:len(tidy)-1]
	}
	if tidy == "" && plugin {
		tidy = "."
	}
	return tidy, plugin
}

// pluginPrefix marks globs that are about the plugin's own files.
const pluginPrefix = "plugin:"

// denyList is a list of globs of which none may match the path or a folder on the way
// to it. Case does not count.
type denyList struct {
	// The frequent forms are looked up rather than matched.
	names    map[string]string // "**/NAME", "**/NAME/**": by the folded name
	runs     []denyGlob        // "**/NAME/NAME", "**/NAME/NAME/**": by "/NAME/NAME/", folded
	suffixes []denyGlob        // "**/*.EXT": by the folded ending
	globs    []denyGlob
	broken   string // a glob that cannot be read; it closes everything
}

type denyGlob struct{ given, exact, folded string }

func newDenyList(globs []string, plugin bool) denyList {
	l := denyList{}
	for _, given := range globs {
		g, ofPlugin := tidyGlob(given)
		if ofPlugin != plugin {
			continue
		}
		if globMistake(g) != "" {
			l.broken = given
			continue
		}
		name, anywhere := strings.CutPrefix(g, "**/")
		name = strings.TrimSuffix(name, "/**")
		ext, anyStem := strings.CutPrefix(name, "*.")
		switch {
		case anywhere && !hasMeta(name) && !strings.Contains(name, "/"):
			if l.names == nil {
				l.names = map[string]string{}
			}
			l.names[fold(name)] = given
		case anywhere && !hasMeta(name):
			l.runs = append(l.runs, denyGlob{given: given, folded: "/" + fold(name) + "/"})
		case anywhere && anyStem && !hasMeta(ext) && !strings.Contains(ext, "/"):
			l.suffixes = append(l.suffixes, denyGlob{given: given, folded: "." + fold(ext)})
		default:
			l.globs = append(l.globs, denyGlob{given: given, exact: g, folded: fold(g)})
		}
	}
	return l
}

// closes gives the glob that closes name, a slash path; "" where none does.
func (l *denyList) closes(name string) string {
	if l.broken != "" {
		return l.broken
	}
	if name == "" || len(l.names) == 0 && len(l.runs) == 0 && len(l.suffixes) == 0 && len(l.globs) == 0 {
		return ""
	}
	folded := fold(name)
	for n := range eachName(folded) {
		if given, ok := l.names[n]; ok {
			return given
		}
		// Some file systems pass over dots and spaces at the end of a name.
		short := strings.TrimRight(n, ". ")
		if given, ok := l.names[short]; ok && short != n {
			return given
		}
		for _, s := range l.suffixes {
			if strings.HasSuffix(n, s.folded) || strings.HasSuffix(short, s.folded) {
				return s.given
			}
		}
	}
	if len(l.runs) > 0 {
		whole := "/" + folded + "/"
		short := whole
		if strings.Contains(whole, "./") || strings.Contains(whole, " /") {
			short = tails().ReplaceAllString(whole, "/")
		}
		for _, r := range l.runs {
			if strings.Contains(whole, r.folded) || strings.Contains(short, r.folded) {
				return r.given
			}
		}
	}
	for _, g := range l.globs {
		for p := range prefixes(folded) {
			if doublestar.MatchUnvalidated(g.folded, p) {
				return g.given
			}
		}
		for p := range prefixes(name) {
			if doublestar.MatchUnvalidated(g.exact, p) {
				return g.given
			}
		}
	}
	return ""
}

// tails are dots and spaces at the end of a name.
var tails = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[. ]+/`) }) // few programs need it

// globMistake says what is wrong with a tidied glob; "" where nothing is.
func globMistake(g string) string {
	switch {
	case g == "":
		return "the glob is empty"
	case strings.HasPrefix(g, "/"):
		return "a glob is relative to the folder and must not begin with \"/\""
	case strings.IndexByte(g, 0) >= 0:
		return "the glob holds a NUL character"
	}
	for part := range eachName(g) {
		if part == ".." {
			return "a glob must not leave the folder with \"..\""
		}
	}
	return badGlob(g)
}
