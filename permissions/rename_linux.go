package permissions

import (
	"os"
	"syscall"
)

// renameAt renames from one open folder to another, by single names: no path is walked
// again, so none can lead elsewhere meanwhile.
func renameAt(_ *os.Root, src, dst *place) error {
	from, err := src.dir.Open(".")
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := dst.dir.Open(".")
	if err != nil {
		return err
	}
	defer to.Close()
	return syscall.Renameat(int(from.Fd()), src.name, int(to.Fd()), dst.name)
}
