package lazyregexp_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/lazyregexp"
)

// TestRegexp checks that it does what a compiled expression does, and that nothing is compiled
// before it is used.
func TestRegexp(t *testing.T) {
	r := lazyregexp.New(`(a)(b*)`)
	if r.String() != `(a)(b*)` || !r.MatchString("xabb") || !r.Match([]byte("ab")) || r.MatchString("b") || r.FindString("xabbx") != "abb" ||
		!slices.Equal(r.FindStringSubmatch("xabbx"), []string{"abb", "a", "bb"}) ||
		len(r.FindAllStringSubmatch("abab", -1)) != 2 || string(r.ReplaceAllFunc([]byte("xabb"), bytes.ToUpper)) != "xABB" ||
		r.ReplaceAllString("xabbx", "$2") != "xbbx" || r.ReplaceAllStringFunc("xabb", strings.ToUpper) != "xABB" {
		t.Error("it does not do what a compiled expression does")
	}
	wrong := lazyregexp.New(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression was used without a panic")
		}
	}()
	wrong.MatchString("")
}
