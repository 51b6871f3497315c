// Package garbage has garbage collected less often from the start of the program on. Packages
// make megabytes while they are initialised that stay, and this one is initialised before those
// that do, since it imports little and its path comes early: it is imported for that alone.
//
//	import _ "github.com/toolhost/toolhost/internal/garbage"
package garbage

import (
	"os"
	"runtime/debug"
)

// percent is GOGC where the user sets none. Scripts allocate much that dies at once: collecting
// less often costs memory that is there and saves up to half of the time.
const percent = 400

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
