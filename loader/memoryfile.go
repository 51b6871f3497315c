package loader

import (
	"bytes"
	"io/fs"
	"path"
	"time"
)

// memoryFile is a regular file that is kept in memory.
type memoryFile struct {
	bytes.Reader
	name string
	size int64
}

var (
	_ fs.File     = (*memoryFile)(nil)
	_ fs.FileInfo = (*memoryFile)(nil)
)

func newMemoryFile(name string, data []byte) *memoryFile {
	f := &memoryFile{name: path.Base(name), size: int64(len(data))}
	f.Reset(data)
	return f
}

func (f *memoryFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *memoryFile) Close() error               { return nil }
func (f *memoryFile) Name() string               { return f.name }
func (f *memoryFile) Size() int64                { return f.size }
func (f *memoryFile) Mode() fs.FileMode          { return 0o444 }
func (f *memoryFile) ModTime() time.Time         { return time.Time{} }
func (f *memoryFile) IsDir() bool                { return false }
func (f *memoryFile) Sys() any                   { return nil }
