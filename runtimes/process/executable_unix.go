//go:build unix

package process

import (
	"io/fs"
	"syscall"
)

// executable reports whether this user may execute a file.
func executable(file string, info fs.FileInfo) bool {
	const executeOK = 1
	return info.Mode().Perm()&0o111 != 0 && syscall.Access(file, executeOK) == nil
}
