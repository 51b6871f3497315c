package node

import (
	"io/fs"
	"syscall"
	"time"
)

func systemStat(info fs.FileInfo) fileStat {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileStat{nlink: 1, blksize: 4096, blocks: (info.Size() + 511) / 512, atime: info.ModTime(), ctime: info.ModTime(), birthtime: info.ModTime()}
	}
	changed := time.Unix(s.Ctim.Unix())
	return fileStat{dev: int64(s.Dev), ino: int64(s.Ino), nlink: int64(s.Nlink), uid: int64(s.Uid), gid: int64(s.Gid), rdev: int64(s.Rdev),
		blksize: int64(s.Blksize), blocks: s.Blocks, atime: time.Unix(s.Atim.Unix()), ctime: changed, birthtime: changed}
}
