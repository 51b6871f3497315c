package text

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff gives the difference of two texts in the unified format, with three lines around
// each change; "" where there is none. It finds its way by lines that occur once in both,
// so that its time is no square of the length.
func Diff(from, to, fromName, toName string) string {
	out := diff.Diff(fromName, []byte(from), toName, []byte(to))
	if len(out) == 0 {
		return ""
	}
	_, out, _ = bytes.Cut(out, []byte("\n")) // the command line that made it
	return string(out)
}
