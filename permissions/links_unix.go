//go:build unix

package permissions

import (
	"io/fs"
	"syscall"
)

// linkCount gives how many names a file has.
func linkCount(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}
