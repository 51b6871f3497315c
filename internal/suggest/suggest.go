// Package suggest finds what somebody probably meant: the nearest of a list of
// known names to a name that is not among them.
//
//	suggest.Nearest("fileExtension", []string{"fileExtensions", "folder"}) // "fileExtensions"
//
// [Nearest] is all there is.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest gives the candidate that word was probably meant to be, or "" where
// none is near. Case, "-" and "_" do not count; otherwise one edit is forgiven
// in words of up to four letters, two in longer ones. The first of equally near
// candidates wins. It is safe for concurrent use.
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", -1
	folded := fold(word)
	limit := 2
	if len([]rune(folded)) <= 4 {
		limit = 1
	}
	for _, c := range candidates {
		d := levenshtein.ComputeDistance(folded, fold(c))
		if d <= limit && (bestDistance < 0 || d < bestDistance) {
			best, bestDistance = c, d
		}
	}
	return best
}

// longest is the longest name that is compared, in bytes: the distance of two
// names costs the product of their lengths, and names may be hostile.
const longest = 128

func fold(s string) string {
	if len(s) > longest {
		s = s[:longest]
	}
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s))
}
