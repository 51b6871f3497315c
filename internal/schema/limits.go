package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// The bounds on schemas and on values. They are far above what real tools need
// (of 342 public ones the largest schema has 10 kB and is 6 deep) and far below
// what either engine chokes on.
const (
	maxSchemaBytes = 256 << 10
	maxSchemaDepth = 64
	maxSubschemas  = 5000
	maxInPlace     = 10_000 // schemas that one value may meet without a step into it
	maxFiles       = 100    // files that one schema may consist of
	maxPatternSize = 100_000
	maxFindings    = 100

	maxValueBytes = 4 << 20
	maxValueDepth = 64
	maxWork       = 2_000_000 // steps that one check may cost: a second or so
	largeWork     = 200_000   // steps from which on mistakes are not listed
	quickWork     = 20_000    // steps from which on gojsonschema, which writes a text for each mistake, is too slow
	maxIssues     = 1000

	// Names end up in pointers, one a value below them.
	maxNameBytes = 1024
	// Digits cost the square of their count in exact arithmetic.
	maxNumberBytes = 1024
	// Beyond float64's exponents exact arithmetic needs as many digits.
	maxExponent = 400
)

// numberProblem says why a number is not worked with; "" where nothing is wrong.
func numberProblem(n json.Number) string {
	if len(n) > maxNumberBytes {
		return fmt.Sprintf("number of %d characters is too long", len(n))
	}
	if i := strings.IndexAny(string(n), "eE"); i >= 0 {
		if e, err := strconv.Atoi(string(n[i+1:])); err != nil || e > maxExponent || e < -maxExponent {
			return fmt.Sprintf("number %s is out of range", clip(string(n), maxEcho))
		}
	}
	if _, err := strconv.ParseFloat(string(n), 64); err != nil {
		return fmt.Sprintf("number %s is out of range", clip(string(n), maxEcho))
	}
	return ""
}

// maxEcho is how much of a value a message repeats, in characters.
const maxEcho = 60

// clip cuts a text to at most n characters.
func clip(s string, n int) string {
	count := 0
	for i := range s {
		if count == n {
			return s[:i] + "…"
		}
		count++
	}
	return s
}
