//go:build !linux

package loader

import (
	"fmt"
	"io/fs"
)

// stamp is what tells one state of a file from another without reading it.
func stamp(info fs.FileInfo) string {
	return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
}

// identity tells a folder from another that came to the same path later; "" where that
// cannot be told.
func identity(fs.FileInfo) string { return "" }
