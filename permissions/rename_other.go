//go:build !linux

package permissions

import (
	"os"
	"path/filepath"
)

// renameAt renames by single names where both are in one folder. Otherwise it goes by
// paths below root, the agent's folder, since os.Root cannot rename from one open
// folder to another: whoever exchanges a folder on the way for a link at that moment
// can lead it to another place in the agent's folder, but never out of it.
func renameAt(root *os.Root, src, dst *place) error {
	a, errA := src.dir.Lstat(".")
	b, errB := dst.dir.Lstat(".")
	if errA == nil && errB == nil && os.SameFile(a, b) {
		return src.dir.Rename(src.name, dst.name)
	}
	return root.Rename(filepath.FromSlash(src.in.folderPath), filepath.FromSlash(dst.in.folderPath))
}
