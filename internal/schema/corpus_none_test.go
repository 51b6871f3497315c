//go:build !outside

package schema

import "testing"

// realTools are none where the corpus of real schemas is not asked for.
func realTools(testing.TB) []corpusTool { return nil }
