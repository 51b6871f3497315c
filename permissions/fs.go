package permissions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// FS is the door to files of one call. Every method checks. Paths are as a handler
// writes them: relative ones start at the agent's folder. Errors are a *DeniedError
// or a *fs.PathError (*os.LinkError for two paths) that wraps a syscall.Errno.
// It is safe for concurrent use.
type FS struct{ g *Grant }

// DefaultReadLimit is how many bytes ReadFile reads where it is given no limit.
const DefaultReadLimit = 64 << 20

// maxEntries is how many entries of one folder are listed.
const maxEntries = 1 << 20

// at walks to a name, checks each access, and runs act on the place. It is done anew
// when something on the way is exchanged meanwhile. act must close nothing of the place.
func (f *FS) at(op, name string, follow bool, as []access, act func(p *place) error) error {
	err := f.visit(op, name, follow, as, act)
	if err != nil {
		f.g.Refuse(err)
	}
	return err
}

// visit is at for what the handler did not ask for by this name: a denial is not noted.
func (f *FS) visit(op, name string, follow bool, as []access, act func(p *place) error) error {
	if !f.g.begin() {
		return f.refused(as[0], name)
	}
	defer f.g.mu.RUnlock()
	return f.again(op, as[0], name, func() error {
		p, err := f.open(name, follow, as)
		if err != nil {
			return err
		}
		defer p.close()
		err = act(p)
		if err == nil && !p.looked {
			for _, a := range as {
				f.g.noteAccess(a, p.in)
			}
		}
		return err
	})
}

// again runs act until nothing is exchanged under its hands, and gives its error as
// one about name.
func (f *FS) again(op string, a access, name string, act func() error) error {
	var err error
	for range tries {
		if err = act(); !errors.Is(err, errChanged) {
			break
		}
		if f.g.over.Load() {
			return f.refused(a, name)
		}
	}
	return f.explain(op, a, name, err)
}

// open gives the place of name, checked; it must be closed.
func (f *FS) open(name string, follow bool, as []access) (*place, error) {
	p, err := f.g.trees.walk(name, follow)
	if err != nil {
		return nil, err
	}
	for _, a := range as {
		if r := f.g.check(a, p.in); r != nil {
			p.close()
			return nil, &DeniedError{Op: a.word(), Target: shorten(name), Rule: r.line, Reason: r.reason}
		}
	}
	if p.err != nil {
		p.close()
		return nil, p.err
	}
	return p, nil
}

// refused is the answer of a grant that allows nothing.
func (f *FS) refused(a access, name string) error {
	e := &DeniedError{Op: a.word(), Target: shorten(name)}
	if f.g != nil && f.g.over.Load() {
		e.Reason = ended
	} else {
		word := e.Op
		if a == stat || a == list {
			word = string(read)
		}
		e.Rule = fmt.Sprintf(`"permissions": {"fs": {"%s": {"folder": true}}}`, word)
	}
	return e
}

// explain gives err as an error about name: what os.Root says of its own paths never
// reaches a caller.
func (f *FS) explain(op string, a access, name string, err error) error {
	if err == nil {
		return nil
	}
	var denied *DeniedError
	if errors.As(err, &denied) {
		return denied
	}
	return &fs.PathError{Op: op, Path: name, Err: cause(err)}
}

// cause gives what a caller may learn of an error: the system's error number.
func cause(err error) error {
	var large *TooLargeError
	n := errno(err)
	switch {
	case errors.As(err, &large):
		return large
	case errors.Is(err, errChanged):
		return syscall.EBUSY
	case n != 0:
		return n
	case errors.Is(err, os.ErrClosed):
		return syscall.EBADF
	case errors.Is(err, fs.ErrExist):
		return syscall.EEXIST
	case errors.Is(err, fs.ErrNotExist):
		return syscall.ENOENT
	case errors.Is(err, fs.ErrPermission):
		return syscall.EACCES
	case errors.Is(err, fs.ErrInvalid):
		return syscall.EINVAL
	}
	return syscall.EIO
}

// specialFile refuses whatever is neither a file nor a folder: opening a pipe waits for
// its other end, and a device does what no grant speaks of.
func specialFile(a access, name string, mode fs.FileMode) error {
	kind := "a special file"
	switch {
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	return &DeniedError{Op: a.word(), Target: shorten(name), Reason: fmt.Sprintf("it is %s; only regular files are opened", kind)}
}

// handle opens what is at the place, a regular file or a folder, without ever waiting.
// flag is for os.OpenFile, without O_CREATE and O_TRUNC. It is errChanged where
// something else took the place.
func (p *place) handle(a access, name string, flag int) (*os.File, fs.FileInfo, error) {
	if p.info == nil {
		return nil, nil, syscall.ENOENT
	}
	if !p.info.Mode().IsRegular() && !p.info.IsDir() {
		return nil, nil, specialFile(a, name, p.info.Mode())
	}
	// O_NONBLOCK, since a named pipe may have taken the place of a file.
	file, err := p.dir.OpenFile(p.name, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		if n := errno(err); n == 0 || n == syscall.ENOENT || n == syscall.ENXIO || n == syscall.ELOOP {
			err = errChanged
		}
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(info, p.info) {
		// A file that replaced the other one is as good; a link that was followed is not.
		var now fs.FileInfo
		if now, err = p.dir.Lstat(p.name); err != nil || !os.SameFile(info, now) {
			err = errChanged
		}
	}
	if err == nil && info.IsDir() != p.info.IsDir() {
		err = errChanged
	}
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = errChanged
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// ReadFile reads a whole regular file. Where it has more than limit bytes the error
// wraps a *TooLargeError; a limit of 0 or less stands for DefaultReadLimit.
func (f *FS) ReadFile(name string, limit int64) ([]byte, error) {
	if limit <= 0 {
		limit = DefaultReadLimit
	}
	var data []byte
	err := f.at("open", name, true, []access{read}, func(p *place) error {
		file, info, err := p.handle(read, name, os.O_RDONLY)
		if err != nil {
			return err
		}
		defer file.Close()
		if info.IsDir() {
			return syscall.EISDIR
		}
		if info.Size() > limit {
			return &TooLargeError{Size: info.Size(), Limit: limit}
		}
		data, err = readAll(file, info.Size(), limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// readAll reads to the end; size is only how long the file was when it was opened.
func readAll(r io.Reader, size, limit int64) ([]byte, error) {
	// One byte more, so that the end is seen without growing.
	data := make([]byte, 0, size+1)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if int64(len(data)) > limit {
			return nil, &TooLargeError{Size: int64(len(data)), Limit: limit}
		}
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, 512)
		}
	}
}

// ReadDir lists a folder in byte order. Names are given for entries that may not be
// read too.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := f.readDir(name)
	if err != nil {
		f.g.Refuse(err)
	}
	return entries, err
}

func (f *FS) readDir(name string) ([]fs.DirEntry, error) {
	var entries []fs.DirEntry
	err := f.visit("scandir", name, true, []access{list}, func(p *place) error {
		var err error
		entries, err = f.entries(p, name)
		return err
	})
	return entries, err
}

// entries lists the folder at a place.
func (f *FS) entries(p *place, name string) ([]fs.DirEntry, error) {
	if p.info == nil {
		return nil, syscall.ENOENT
	}
	if !p.info.IsDir() {
		return nil, syscall.ENOTDIR
	}
	dir, _, err := p.handle(list, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	found, err := readEntries(dir)
	if err != nil {
		return nil, err
	}
	entries := make([]fs.DirEntry, len(found))
	for i, e := range found {
		entries[i] = &dirEntry{f: f, path: joinName(name, e.Name()), name: e.Name(), mode: e.Type()}
	}
	return entries, nil
}

// readEntries reads an open folder to its end and sorts what is in it.
func readEntries(dir *os.File) ([]fs.DirEntry, error) {
	var entries []fs.DirEntry
	for {
		some, err := dir.ReadDir(1024)
		entries = append(entries, some...)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(entries) > maxEntries {
			return nil, syscall.EFBIG
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// joinName puts a name behind a path as the handler wrote it, without tidying: "a/.."
// is not "." where a is a link.
func joinName(dir, name string) string {
	switch {
	case dir == "." || dir == "":
		return name
	case strings.HasSuffix(filepath.ToSlash(dir), "/"):
		return dir + name
	}
	return dir + "/" + name
}

// dirEntry is an entry of a folder. What lies behind its name is looked up when it is
// asked for, and checked then.
type dirEntry struct {
	f          *FS
	path, name string
	mode       fs.FileMode
}

func (e *dirEntry) Name() string               { return e.name }
func (e *dirEntry) IsDir() bool                { return e.mode.IsDir() }
func (e *dirEntry) Type() fs.FileMode          { return e.mode }
func (e *dirEntry) Info() (fs.FileInfo, error) { return e.f.Lstat(e.path) }
func (e *dirEntry) String() string             { return fs.FormatDirEntry(e) }

// Stat describes what a path leads to. It is allowed where reading, listing or writing is.
func (f *FS) Stat(name string) (fs.FileInfo, error) { return f.info("stat", name, true) }

// Lstat is Stat, but describes a link itself where the path ends in one.
func (f *FS) Lstat(name string) (fs.FileInfo, error) { return f.info("lstat", name, false) }

func (f *FS) info(op, name string, follow bool) (fs.FileInfo, error) {
	var info fs.FileInfo
	err := f.at(op, name, follow, []access{stat}, func(p *place) error {
		if p.info == nil {
			return syscall.ENOENT
		}
		info = p.info
		return nil
	})
	return info, err
}

// Exists reports whether there is something at the end of a path. It is false for what
// may not be looked at.
func (f *FS) Exists(name string) bool {
	_, err := f.Stat(name)
	return err == nil
}

// Access gives why a file may not be read or written, by the grant or by the system's
// own permissions; nil where it exists and may. For a folder, read means listing.
func (f *FS) Access(name string, reading, writing bool) error {
	return f.at("access", name, true, []access{stat}, func(p *place) error {
		if p.info == nil {
			return syscall.ENOENT
		}
		for _, want := range []struct {
			asked bool
			a     access
			flag  int
		}{{reading, read, os.O_RDONLY}, {writing, write, os.O_WRONLY}} {
			if !want.asked {
				continue
			}
			a := want.a
			if p.info.IsDir() && a == read {
				a = list
			}
			if r := f.g.check(a, p.in); r != nil {
				return &DeniedError{Op: a.word(), Target: shorten(name), Rule: r.line, Reason: r.reason}
			}
			if p.info.IsDir() && a == write {
				continue // a folder cannot be opened for writing, whoever may write into it
			}
			file, _, err := p.handle(a, name, want.flag)
			if err != nil {
				return err
			}
			_ = file.Close()
		}
		return nil
	})
}

// RealPath gives the absolute path of what a path leads to, with all links followed.
func (f *FS) RealPath(name string) (string, error) {
	var real string
	err := f.at("realpath", name, true, []access{stat}, func(p *place) error {
		if p.info == nil {
			return syscall.ENOENT
		}
		real = f.g.realPath(p.in)
		return nil
	})
	return real, err
}

func (g *Grant) realPath(in location) string {
	if in.folder {
		return filepath.Join(g.trees.folder.real, filepath.FromSlash(in.folderPath))
	}
	return filepath.Join(g.trees.plugin.real, filepath.FromSlash(in.pluginPath))
}

// ReadLink gives the text of a link.
func (f *FS) ReadLink(name string) (string, error) {
	var target string
	err := f.at("readlink", name, false, []access{stat}, func(p *place) error {
		switch {
		case p.info == nil:
			return syscall.ENOENT
		case p.info.Mode()&fs.ModeSymlink == 0:
			return syscall.EINVAL
		}
		var err error
		target, err = p.dir.Readlink(p.name)
		return err
	})
	return target, err
}

// WalkDir walks the tree below name in byte order. Folders that may not be listed
// and links to folders are not entered. The names given to fn are as fs.WalkDir gives
// them: name itself first, then paths below it that begin with name, fit for the other
// methods. fn may use the FS; fs.SkipDir and fs.SkipAll do what they do there.
func (f *FS) WalkDir(name string, fn fs.WalkDirFunc) error {
	info, err := f.Stat(name)
	if err != nil {
		err = fn(name, nil, err)
	} else {
		err = f.walkDir(name, fs.FileInfoToDirEntry(info), fn, true)
	}
	if err == fs.SkipDir || err == fs.SkipAll {
		return nil
	}
	return err
}

func (f *FS) walkDir(name string, d fs.DirEntry, fn fs.WalkDirFunc, top bool) error {
	if err := fn(name, d, nil); err != nil || !d.IsDir() {
		if err == fs.SkipDir && d.IsDir() {
			return nil
		}
		return err
	}
	entries, err := f.readDir(name)
	if err != nil {
		if top {
			f.g.Refuse(err)
		}
		if errors.Is(err, ErrDenied) && !top && !f.g.over.Load() {
			return nil
		}
		if err = fn(name, d, err); err != nil {
			if err == fs.SkipDir {
				return nil
			}
			return err
		}
	}
	for _, e := range entries {
		if err := f.walkDir(joinName(name, e.Name()), e, fn, false); err != nil {
			if err == fs.SkipDir {
				break
			}
			return err
		}
	}
	return nil
}
