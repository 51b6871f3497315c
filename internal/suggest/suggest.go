// Package suggest finds what somebody probably meant: the nearest of a list of
// known names to a name that is not among them.
//
//	suggest.Nearest("fileExtension", []string{"fileExtensions", "folder"}) // "fileExtensions"
//
// [Nearest] is all there is.
package suggest

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest gives the candidate that word was probably meant to be, or "" where
// none is near. Case, "-" and "_" do not count; otherwise one edit is forgiven
// in words of up to four letters, two in longer ones; two letters that changed places
// are one edit. The first of equally near
// candidates wins. It is safe for concurrent use.
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", -1
	folded := fold(word)
	limit := 2
	if len([]rune(folded)) <= 4 {
		limit = 1
	}
	for _, c := range candidates {
		d := distance(folded, fold(c))
		if d <= limit && (bestDistance < 0 || d < bestDistance) {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the number of edits between two words. One swap of neighbours is told from two
// edits only where nothing else differs: that is the slip of short words, where two are too many.
func distance(a, b string) int {
	if d := levenshtein.ComputeDistance(a, b); d != 2 || !swapped([]rune(a), []rune(b)) {
		return d
	}
	return 1
}

// swapped reports whether two words differ in two neighbours that changed places, and nothing else.
func swapped(a, b []rune) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && slices.Equal(a[i+2:], b[i+2:])
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
