//go:build unix

package scratch

import (
	"io/fs"
	"os"
	"syscall"
)

// lock takes a folder for this process. It reports false where another has it, or it
// cannot be locked.
func lock(dir string) (unlock func(), ok bool) {
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return func() {}, false
	}
	if syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		_ = syscall.Close(fd)
		return func() {}, false
	}
	return func() { _ = syscall.Close(fd) }, true
}

// own reports whether a file is this user's.
func own(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
