//go:build unix

package process

import (
	"io/fs"
	"syscall"
)

// identity tells a file from another one that came to its path later.
func identity(info fs.FileInfo) (device, inode uint64) {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(sys.Dev), sys.Ino
	}
	return 0, 0
}
