//go:build unix

package bundle

import (
	"io/fs"
	"os"
	"syscall"
)

// noFollow has a link refused where a file is opened.
const noFollow = syscall.O_NOFOLLOW

// owned reports whether a file is this user's.
func owned(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
