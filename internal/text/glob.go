package text

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds of a glob: its alternatives are tried one after the other.
const (
	MaxGlob         = 1000
	maxAlternatives = 8
)

// CheckGlob says what is wrong with a pattern.
func CheckGlob(pattern string) error {
	switch {
	case len(pattern) > MaxGlob:
		return fmt.Errorf("a glob may have %d bytes, this one has %d", MaxGlob, len(pattern))
	case strings.Count(pattern, "{") > maxAlternatives:
		return fmt.Errorf("a glob may have %d alternatives in braces", maxAlternatives)
	case strings.Count(pattern, "**") > maxAlternatives:
		return fmt.Errorf("a glob may have ** %d times", maxAlternatives)
	case !doublestar.ValidatePattern(pattern):
		return fmt.Errorf("the glob %q is not well-formed", pattern)
	}
	return nil
}

// Glob reports whether a slash path matches a pattern that CheckGlob lets through: * and ?
// stay within a name, ** goes through folders, [a-z] and {a,b} are as in a shell.
func Glob(pattern, path string) bool { return doublestar.MatchUnvalidated(pattern, path) }
