package loader

import (
	"fmt"
	"io/fs"
	"syscall"
)

// stamp is what tells one state of a file from another without reading it. The time of
// its last change of status is in it, which nobody can set back.
func stamp(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
	}
	return fmt.Sprint(s.Mode, s.Size, s.Mtim, s.Ctim, s.Dev, s.Ino)
}

// identity tells a folder from another that came to the same path later.
func identity(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprint(s.Dev, s.Ino)
}
