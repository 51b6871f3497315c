//go:build !linux

package node

import "io/fs"

func systemStat(info fs.FileInfo) fileStat {
	return fileStat{nlink: 1, blksize: 4096, blocks: (info.Size() + 511) / 512, atime: info.ModTime(), ctime: info.ModTime(), birthtime: info.ModTime()}
}
