package schema

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// backtrackTime is how long one match of a pattern that needs backtracking may
// take; what takes longer does not match.
const backtrackTime = 100 * time.Millisecond

// pattern is a regular expression of a schema. RE2 takes nearly all of them, in
// linear time; those with look-around or back-references need backtracking.
type pattern struct {
	expr string
	re   *regexp.Regexp
	slow *regexp2.Regexp
	size int           // steps for one character, roughly
	late *atomic.Int32 // checks whose time is over: then nothing matches; may be nil
}

var _ jsonschema.Regexp = (*pattern)(nil)

func (p *pattern) String() string { return p.expr }

// MatchString says whether the pattern is found in s.
func (p *pattern) MatchString(s string) bool {
	if p.re != nil {
		return p.re.MatchString(s)
	}
	if p.late != nil && p.late.Load() > 0 {
		return false
	}
	ok, err := p.slow.MatchString(s)
	return ok && err == nil
}

// errPatternSize says that a pattern would need too much memory.
var errPatternSize = errors.New("the pattern is too large")

// compilePattern compiles a pattern of at most limit states.
func compilePattern(expr string, limit int, late *atomic.Int32) (*pattern, error) {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err == nil {
		size := patternSize(parsed, limit)
		if size > limit {
			return nil, errPatternSize
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			return nil, err
		}
		return &pattern{expr: expr, re: re, size: size}, nil
	}
	if len(expr) > limit {
		return nil, errPatternSize
	}
	slow, err2 := regexp2.Compile(expr, regexp2.ECMAScript|regexp2.Unicode)
	if err2 != nil {
		return nil, err // RE2 words its complaints better
	}
	slow.MatchTimeout = backtrackTime
	return &pattern{expr: expr, slow: slow, size: len(expr), late: late}, nil
}

// patternSize counts the states that an expression compiles to, up to about limit.
func patternSize(re *syntax.Regexp, limit int) int {
	size := 1 + len(re.Rune)/8
	if re.Op == syntax.OpLiteral {
		size = 1 + len(re.Rune)
	}
	for _, sub := range re.Sub {
		size += patternSize(sub, limit)
		if size > limit {
			return limit + 1
		}
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return min(size, limit+1)
}
