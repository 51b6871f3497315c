package bundle

import (
	"slices"
	"syscall"
)

// stampOf looks at a name; what is not there has the zero stamp. It gives false for a link, a
// pipe, and what cannot be looked at.
func stampOf(path string) (stamp, bool) {
	var s syscall.Stat_t
	err := syscall.Lstat(path, &s)
	for err == syscall.EINTR {
		err = syscall.Lstat(path, &s)
	}
	if err != nil {
		return stamp{}, err == syscall.ENOENT || err == syscall.ENOTDIR
	}
	return stamp{
		Device: uint64(s.Dev), Inode: uint64(s.Ino), Size: uint64(s.Size),
		Modified: uint64(s.Mtim.Nano()), Changed: uint64(s.Ctim.Nano()),
	}, s.Mode&syscall.S_IFMT == syscall.S_IFREG || s.Mode&syscall.S_IFMT == syscall.S_IFDIR
}

// stamps reports whether the file system of a folder is one that has good stamps. Those of other
// machines may give what they were told a while ago.
func stamps(dir string) bool {
	const ext, xfs, btrfs, f2fs, tmpfs, overlay = 0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x01021994, 0x794c7630
	var s syscall.Statfs_t
	return syscall.Statfs(dir, &s) == nil && slices.Contains([]uint32{ext, xfs, btrfs, f2fs, tmpfs, overlay}, uint32(s.Type))
}
