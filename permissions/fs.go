package permissions

import (
	"io/fs"
	"time"
)

// FS is the door to files of one call. Every method checks. Paths are as a handler
// writes them: relative ones start at the agent's folder. Errors are a *DeniedError
// or a *fs.PathError (*os.LinkError for two paths) that wraps a syscall.Errno.
// It is safe for concurrent use.
type FS struct{}

func (f *FS) ReadFile(name string, limit int64) ([]byte, error)                { panic("stub") }
func (f *FS) WriteFile(name string, data []byte, perm fs.FileMode) error       { panic("stub") }
func (f *FS) AppendFile(name string, data []byte, perm fs.FileMode) error      { panic("stub") }
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (*File, error)  { panic("stub") }
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error)                       { panic("stub") }
func (f *FS) Stat(name string) (fs.FileInfo, error)                            { panic("stub") }
func (f *FS) Lstat(name string) (fs.FileInfo, error)                           { panic("stub") }
func (f *FS) Exists(name string) bool                                          { panic("stub") }
func (f *FS) Access(name string, read, write bool) error                       { panic("stub") }
func (f *FS) RealPath(name string) (string, error)                             { panic("stub") }
func (f *FS) ReadLink(name string) (string, error)                             { panic("stub") }
func (f *FS) Mkdir(name string, perm fs.FileMode) error                        { panic("stub") }
func (f *FS) MkdirAll(name string, perm fs.FileMode) (first string, err error) { panic("stub") }
func (f *FS) MkdirTemp(prefix string) (string, error)                          { panic("stub") }
func (f *FS) Remove(name string) error                                         { panic("stub") }
func (f *FS) RemoveAll(name string) error                                      { panic("stub") }
func (f *FS) Rename(from, to string) error                                     { panic("stub") }
func (f *FS) Link(from, to string) error                                       { panic("stub") }
func (f *FS) Symlink(target, name string) error                                { panic("stub") }
func (f *FS) Truncate(name string, size int64) error                           { panic("stub") }
func (f *FS) Chmod(name string, mode fs.FileMode) error                        { panic("stub") }
func (f *FS) Chtimes(name string, atime, mtime time.Time) error                { panic("stub") }

// WalkDir walks the tree below name in byte order. Folders that may not be listed
// and links to folders are not entered; names given to fn are as fs.WalkDir gives them, below name.
func (f *FS) WalkDir(name string, fn fs.WalkDirFunc) error { panic("stub") }

// File is an open file of a call. It is closed when the grant ends.
type File struct{}

func (f *File) Read(p []byte) (int, error)                { panic("stub") }
func (f *File) ReadAt(p []byte, off int64) (int, error)   { panic("stub") }
func (f *File) Write(p []byte) (int, error)               { panic("stub") }
func (f *File) WriteAt(p []byte, off int64) (int, error)  { panic("stub") }
func (f *File) Seek(off int64, whence int) (int64, error) { panic("stub") }
func (f *File) Stat() (fs.FileInfo, error)                { panic("stub") }
func (f *File) Truncate(size int64) error                 { panic("stub") }
func (f *File) Sync() error                               { panic("stub") }
func (f *File) Close() error                              { panic("stub") }

// Match reports whether a slash path matches a doublestar glob.
func Match(pattern, name string) (bool, error) { panic("stub") }
