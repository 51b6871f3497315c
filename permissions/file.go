package permissions

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// File is an open file of a call. It is closed when the grant ends.
type File struct {
	f      *FS
	name   string // as the handler wrote it
	file   *os.File
	append bool

	once   sync.Once
	closed error
	// Of a file that will replace another one: how, and the folder of both.
	staged *staged
	dir    *os.Root
}

// fileSet holds the open files of a grant.
type fileSet struct {
	mu   sync.Mutex
	open map[*File]struct{}
}

func (s *fileSet) add(f *File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[*File]struct{}{}
	}
	s.open[f] = struct{}{}
}

func (s *fileSet) remove(f *File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, f)
}

// closeAll closes what is open; files that were to replace others are given up.
func (s *fileSet) closeAll() {
	s.mu.Lock()
	open := s.open
	s.open = nil
	s.mu.Unlock()
	for f := range open {
		f.once.Do(func() { f.closed = f.end(false) })
	}
}

// OpenFile opens a regular file, or a folder for reading. flag is as for os.OpenFile:
// O_RDONLY, O_WRONLY or O_RDWR with O_APPEND, O_CREATE, O_EXCL, O_SYNC and O_TRUNC.
//
// With O_TRUNC (and no O_EXCL) nothing changes until Close: what is written goes to a
// hidden file that Close moves into place; when the grant ends before that, it is given
// up. Everything else is done in place, and refused for a file with more than one name
// (hard link). perm is for a new file; 0 stands for 0o666.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (*File, error) {
	const modes = os.O_RDONLY | os.O_WRONLY | os.O_RDWR
	const known = modes | os.O_APPEND | os.O_CREATE | os.O_EXCL | os.O_SYNC | os.O_TRUNC
	has := func(bit int) bool { return flag&bit != 0 }
	mode := flag & modes
	if flag&^known != 0 || mode == modes || mode == os.O_RDONLY && (has(os.O_TRUNC) || has(os.O_CREATE) || has(os.O_APPEND)) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EINVAL}
	}
	exclusive := has(os.O_CREATE) && has(os.O_EXCL)
	var as []access
	// What is new or was emptied holds only what was written by the same hand.
	if mode == os.O_RDONLY || mode == os.O_RDWR && !has(os.O_TRUNC) && !exclusive {
		as = append(as, read)
	}
	if mode != os.O_RDONLY {
		as = append(as, write)
	}
	result := &File{f: f, name: name, append: has(os.O_APPEND)}
	keep := flag & (modes | os.O_APPEND | os.O_SYNC)
	// O_EXCL is about the name itself: a link there is something that exists.
	err := f.at("open", name, !exclusive, as, func(p *place) error {
		var err error
		switch {
		case mode == os.O_RDONLY:
			result.file, _, err = p.handle(read, name, keep)
		case exclusive && p.info != nil:
			err = syscall.EEXIST
		case p.info == nil && !has(os.O_CREATE):
			err = syscall.ENOENT
		case has(os.O_TRUNC) && !exclusive:
			result.staged, err = stage(p, name, keep, perm)
			if err == nil {
				result.file = result.staged.file
				result.dir, err = p.dir.OpenRoot(".")
				if err != nil {
					err = result.staged.finish(p.dir, false, err)
				}
			}
		case p.info == nil:
			result.file, err = p.create(keep, perm)
		default:
			result.file, err = p.inPlace(name, keep)
		}
		if err == nil {
			f.g.files.add(result)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// do runs one act on the open file, unless the grant has ended.
func (f *File) do(op string, act func() error) error {
	if !f.f.g.begin() {
		return f.f.refused(f.access(op), f.name)
	}
	defer f.f.g.mu.RUnlock()
	err := act()
	if err == nil || err == io.EOF {
		return err
	}
	return f.f.explain(op, f.access(op), f.name, err)
}

func (f *File) access(op string) access {
	if op == "read" {
		return read
	}
	return write
}

// Read reads the next bytes. The error is io.EOF at the end.
func (f *File) Read(p []byte) (n int, err error) {
	err = f.do("read", func() (err error) { n, err = f.file.Read(p); return err })
	return n, err
}

// ReadAt reads at an offset. The error is io.EOF where the file ends before p is full.
func (f *File) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.do("read", func() (err error) {
		if off < 0 {
			return syscall.EINVAL
		}
		n, err = f.file.ReadAt(p, off)
		return err
	})
	return n, err
}

// Write writes at the place where the last Read or Write ended; at the end of a file
// that was opened for appending.
func (f *File) Write(p []byte) (n int, err error) {
	err = f.do("write", func() (err error) { n, err = f.file.Write(p); return err })
	return n, err
}

// WriteAt writes at an offset; at the end of a file that was opened for appending, as
// Linux does.
func (f *File) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.do("write", func() (err error) {
		switch {
		case off < 0:
			return syscall.EINVAL
		case f.append:
			n, err = f.file.Write(p)
		default:
			n, err = f.file.WriteAt(p, off)
		}
		return err
	})
	return n, err
}

// Seek sets where the next Read or Write starts.
func (f *File) Seek(off int64, whence int) (at int64, err error) {
	err = f.do("seek", func() (err error) { at, err = f.file.Seek(off, whence); return err })
	return at, err
}

// Stat describes the open file.
func (f *File) Stat() (info fs.FileInfo, err error) {
	err = f.do("fstat", func() (err error) { info, err = f.file.Stat(); return err })
	return info, err
}

// Truncate cuts the file, or lengthens it with zeros.
func (f *File) Truncate(size int64) error {
	return f.do("ftruncate", func() error {
		if size < 0 {
			return syscall.EINVAL
		}
		return f.file.Truncate(size)
	})
}

// Sync waits until what was written is on the disk.
func (f *File) Sync() error { return f.do("fsync", f.file.Sync) }

// Close closes the file; one that was opened with O_TRUNC takes its place now. Closing it
// again is an error with EBADF.
func (f *File) Close() error {
	err := error(syscall.EBADF)
	if !f.f.g.begin() {
		return f.f.refused(write, f.name)
	}
	defer f.f.g.mu.RUnlock()
	f.once.Do(func() {
		f.f.g.files.remove(f)
		f.closed = f.end(true)
		err = f.closed
	})
	return f.f.explain("close", write, f.name, err)
}

// Abandon closes the file without an error; one that was opened with O_TRUNC is given up,
// and what it was to replace stays as it was.
func (f *File) Abandon() {
	f.once.Do(func() {
		f.f.g.files.remove(f)
		f.closed = f.end(false)
	})
}

func (f *File) end(commit bool) error {
	if f.staged == nil {
		return f.file.Close()
	}
	defer f.dir.Close()
	err := f.staged.finish(f.dir, commit, nil)
	if errors.Is(err, os.ErrNotExist) {
		// The hidden file, or the folder, was taken away meanwhile.
		return syscall.ENOENT
	}
	return err
}
