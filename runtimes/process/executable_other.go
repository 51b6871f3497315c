//go:build !unix

package process

import "io/fs"

// executable reports whether this user may execute a file: its name decides, later.
func executable(string, fs.FileInfo) bool { return true }
