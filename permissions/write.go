package permissions

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// WriteFile replaces a file, or makes it: the data goes to a hidden file beside it that
// then takes its name, so that nobody sees half a file. A file that was there keeps its
// mode, and its other names (hard links) keep the old content. perm is for a new file;
// 0 stands for 0o666.
func (f *FS) WriteFile(name string, data []byte, perm fs.FileMode) error {
	return f.at("open", name, true, []access{write}, func(p *place) error {
		s, err := stage(p, name, os.O_WRONLY, perm)
		if err != nil {
			return err
		}
		_, err = s.file.Write(data)
		return s.finish(p.dir, err == nil, err)
	})
}

// staged is a file that is to take the name of another one.
type staged struct {
	file *os.File
	temp string // its name for now
	name string
}

// stage makes the file that will replace what is at p. flag is the access mode.
func stage(p *place, name string, flag int, perm fs.FileMode) (*staged, error) {
	if p.name == "." || p.info != nil && p.info.IsDir() || p.asFolder {
		return nil, syscall.EISDIR
	}
	var keep fs.FileMode
	if p.info != nil {
		// Opened only to see whether the system would let it be written: a file that is
		// closed to its owner stays so, though its folder could be changed.
		old, info, err := p.handle(write, name, os.O_WRONLY)
		if err != nil {
			return nil, err
		}
		_ = old.Close()
		keep = info.Mode().Perm()
	}
	s := &staged{temp: ".toolhost-" + rand.Text() + ".tmp", name: p.name}
	var err error
	s.file, err = p.dir.OpenFile(s.temp, flag|os.O_CREATE|os.O_EXCL, newMode(perm, 0o666))
	if err != nil {
		return nil, err
	}
	if p.info != nil {
		if err := s.file.Chmod(keep); err != nil {
			return nil, s.finish(p.dir, false, err)
		}
	}
	return s, nil
}

// finish closes the file, and moves it into place where commit is set and nothing
// failed. Otherwise it goes. dir is its folder. It gives the first error.
func (s *staged) finish(dir *os.Root, commit bool, err error) error {
	if closing := s.file.Close(); err == nil {
		err = closing
	}
	if commit && err == nil {
		if err = dir.Rename(s.temp, s.name); err == nil {
			return nil
		}
	}
	_ = dir.Remove(s.temp)
	return err
}

// MayWriteFile gives the error with which WriteFile would refuse name, and changes nothing.
// Folders on the way may be missing.
func (f *FS) MayWriteFile(name string) error {
	return unlessMissing(f.at("open", name, true, []access{write}, func(p *place) error {
		p.looked = true
		if p.name == "." || p.info != nil && p.info.IsDir() || p.asFolder {
			return syscall.EISDIR
		}
		if p.info == nil {
			return nil
		}
		file, _, err := p.handle(write, name, os.O_WRONLY)
		if err != nil {
			return err
		}
		return file.Close()
	}))
}

// MayMkdir gives the error with which MkdirAll would refuse name, and changes nothing.
func (f *FS) MayMkdir(name string) error {
	return unlessMissing(f.at("mkdir", name, true, []access{makeDir}, func(p *place) error {
		if p.info != nil && !p.info.IsDir() {
			return syscall.EEXIST
		}
		return nil
	}))
}

// unlessMissing passes over that a folder on the way is missing.
func unlessMissing(err error) error {
	if errno(err) == syscall.ENOENT {
		return nil
	}
	return err
}

func newMode(perm, otherwise fs.FileMode) fs.FileMode {
	if perm == 0 {
		return otherwise
	}
	return perm.Perm()
}

// inPlace opens what is at p to be changed where it is. A file with more than one name
// is refused: the change would show at names that the check never saw.
func (p *place) inPlace(name string, flag int) (*os.File, error) {
	file, info, err := p.handle(write, name, flag)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		_ = file.Close()
		return nil, syscall.EISDIR
	}
	if err := severalNames(name, info); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

func severalNames(name string, info fs.FileInfo) error {
	if info.Mode().IsRegular() && linkCount(info) > 1 {
		return &DeniedError{Op: string(write), Target: shorten(name), Reason: "the file has another name (a hard link), and changing it in place would change what lies there; replace it as a whole instead"}
	}
	return nil
}

// create makes a new regular file at a place where nothing is.
func (p *place) create(flag int, perm fs.FileMode) (*os.File, error) {
	if p.asFolder {
		return nil, syscall.EISDIR
	}
	file, err := p.dir.OpenFile(p.name, flag|os.O_CREATE|os.O_EXCL, newMode(perm, 0o666))
	if errors.Is(err, fs.ErrExist) {
		err = errChanged
	}
	return file, err
}

// AppendFile adds data to the end of a file, or makes it. It is done in place, and
// refused for a file with more than one name (hard link). perm is for a new file; 0
// stands for 0o666.
func (f *FS) AppendFile(name string, data []byte, perm fs.FileMode) error {
	return f.at("open", name, true, []access{write}, func(p *place) error {
		var file *os.File
		var err error
		if p.info == nil {
			file, err = p.create(os.O_WRONLY|os.O_APPEND, perm)
		} else {
			file, err = p.inPlace(name, os.O_WRONLY|os.O_APPEND)
		}
		if err != nil {
			return err
		}
		_, err = file.Write(data)
		if closing := file.Close(); err == nil {
			err = closing
		}
		return err
	})
}

// Truncate cuts a file, or lengthens it with zeros, in place.
func (f *FS) Truncate(name string, size int64) error {
	return f.at("open", name, true, []access{write}, func(p *place) error {
		if size < 0 {
			return syscall.EINVAL
		}
		file, err := p.inPlace(name, os.O_WRONLY)
		if err != nil {
			return err
		}
		err = file.Truncate(size)
		if closing := file.Close(); err == nil {
			err = closing
		}
		return err
	})
}

// Chmod sets the permission bits of a file or folder; other bits of mode are left out.
func (f *FS) Chmod(name string, mode fs.FileMode) error {
	return f.at("chmod", name, true, []access{write}, func(p *place) error {
		file, info, err := p.handle(write, name, os.O_RDONLY)
		if errno(err) == syscall.EACCES {
			file, info, err = p.handle(write, name, os.O_WRONLY)
		}
		if err != nil {
			return err
		}
		defer file.Close()
		if err := severalNames(name, info); err != nil {
			return err
		}
		return file.Chmod(mode.Perm())
	})
}

// Chtimes sets the times of a file or folder; a zero time leaves that one as it is.
func (f *FS) Chtimes(name string, atime, mtime time.Time) error {
	return f.at("utime", name, true, []access{write}, func(p *place) error {
		switch {
		case p.info == nil:
			return syscall.ENOENT
		case !p.info.Mode().IsRegular() && !p.info.IsDir():
			return specialFile(write, name, p.info.Mode())
		}
		if err := severalNames(name, p.info); err != nil {
			return err
		}
		return p.dir.Chtimes(p.name, atime, mtime)
	})
}

// Mkdir makes a folder. It is allowed where writing is, and for the folders that lead
// to a place that the arguments or a glob open for writing. perm 0 stands for 0o777.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	return f.at("mkdir", name, false, []access{makeDir}, func(p *place) error { return p.mkdir(perm) })
}

func (p *place) mkdir(perm fs.FileMode) error {
	if p.info != nil {
		return syscall.EEXIST
	}
	return p.dir.Mkdir(p.name, newMode(perm, 0o777))
}

// MkdirAll makes a folder and those that lead to it. first is the first that it made,
// spelled as in name; "" where all were there.
func (f *FS) MkdirAll(name string, perm fs.FileMode) (first string, err error) {
	// What is asked for must be allowed before anything is made. Then each folder on the
	// way is checked for itself, but may also be one that only leads there.
	missing := false
	err = f.at("mkdir", name, true, []access{makeDir}, func(p *place) error {
		if p.info != nil && !p.info.IsDir() {
			return syscall.EEXIST
		}
		missing = p.info == nil
		return nil
	})
	if name == "" || err == nil && !missing {
		return "", err
	}
	if err != nil && errno(err) != syscall.ENOENT {
		return "", err
	}
	slash := filepath.ToSlash(name)
	for end := 1; end <= len(slash); end++ {
		if end < len(slash) && slash[end] != '/' || slash[end-1] == '/' {
			continue
		}
		part := name[:end]
		made := false
		err := f.leading(part, func(p *place) error {
			switch {
			case p.info != nil && p.info.IsDir():
				return nil
			case p.info != nil:
				return syscall.ENOTDIR
			}
			err := p.dir.Mkdir(p.name, newMode(perm, 0o777))
			if errors.Is(err, fs.ErrExist) {
				return errChanged // another call was faster
			}
			made = err == nil
			return err
		})
		if err != nil {
			return first, err
		}
		if made && first == "" {
			first = part
		}
	}
	return first, nil
}

// leading runs act on a folder on the way to one that may be made. Existing folders are
// passed without a check, since they are only walked through; missing ones are made
// unless a deny rule closes them.
func (f *FS) leading(name string, act func(p *place) error) error {
	if !f.g.begin() {
		return f.refused(makeDir, name)
	}
	defer f.g.mu.RUnlock()
	return f.again("mkdir", makeDir, name, func() error {
		p, err := f.g.trees.walk(name, true)
		if err != nil {
			return err
		}
		defer p.close()
		if p.err != nil {
			return p.err
		}
		if !p.in.folder && !p.in.plugin {
			return nil // the way to the folder itself
		}
		if p.info != nil {
			return act(p)
		}
		if r := f.g.rules.write.check(f.g, makeDir, p.in); r != nil && r.line == "" {
			return &DeniedError{Op: string(write), Target: shorten(name), Reason: r.reason}
		}
		return act(p)
	})
}

// MkdirTemp makes a folder whose name is prefix and six random characters, and gives
// its path in the spelling of prefix.
func (f *FS) MkdirTemp(prefix string) (string, error) {
	for range tries {
		name := prefix + rand.Text()[:6]
		err := f.Mkdir(name, 0o700)
		if errno(err) == syscall.EEXIST {
			continue
		}
		if err != nil {
			return "", err
		}
		return name, nil
	}
	return "", &fs.PathError{Op: "mkdtemp", Path: prefix, Err: syscall.EEXIST}
}

// Remove removes a file, a link or an empty folder.
func (f *FS) Remove(name string) error {
	return f.at("unlink", name, false, []access{write}, func(p *place) error {
		switch {
		case p.name == ".":
			return f.itself(p, name, "removed")
		case p.info == nil:
			return syscall.ENOENT
		}
		return p.dir.Remove(p.name)
	})
}

// itself refuses to take away the folder in which the call works, or one that was
// written with a "." or ".." at the end.
func (f *FS) itself(p *place, name, what string) error {
	if p.in.folder && p.in.folderPath == "." {
		return &DeniedError{Op: string(write), Target: shorten(name), Reason: "the agent's folder itself cannot be " + what}
	}
	return syscall.EINVAL
}

// RemoveAll removes a file, or a folder with all that is in it. Where anything in it
// is closed by a deny rule, nothing is removed. It is no error where there is nothing.
func (f *FS) RemoveAll(name string) error {
	return f.at("rm", name, false, []access{write}, func(p *place) error {
		switch {
		case p.name == ".":
			return f.itself(p, name, "removed")
		case p.info == nil:
			return nil
		case !p.info.IsDir():
			return p.dir.Remove(p.name)
		}
		if err := f.below(p.dir, p.name, p.info, p.in, 0, f.mayRemove(name)); err != nil {
			return err
		}
		return f.removeTree(p.dir, p.name, p.info, p.in, 0, f.mayRemove(name))
	})
}

// maxDepth is how deep a tree is that is removed or moved: each level holds a folder open.
const maxDepth = 256

func (f *FS) mayRemove(name string) func(location, fs.FileInfo) error {
	return func(in location, info fs.FileInfo) error { return f.mayWriteBelow(in, info, name) }
}

// mayWriteBelow refuses a place below name that a deny rule closes.
func (f *FS) mayWriteBelow(in location, info fs.FileInfo, name string) error {
	if plugin := f.g.trees.plugin; plugin != nil && plugin.info != nil && os.SameFile(info, plugin.info) {
		return &DeniedError{Op: string(write), Target: shorten(name), Reason: "the plugin's own folder lies in it, and is never written"}
	}
	if r := f.g.check(write, in); r != nil {
		return &DeniedError{Op: string(write), Target: shorten(name), Reason: inIt(in, r.reason)}
	}
	return nil
}

func inIt(in location, reason string) string {
	return "it holds " + quoteSome([]string{in.folderPath})[0] + ": " + reason
}

// below runs check on everything in the folder name of dir.
func (f *FS) below(dir *os.Root, name string, info fs.FileInfo, in location, depth int, check func(location, fs.FileInfo) error) error {
	return f.each(dir, name, info, in, depth, func(sub *os.Root, entry string, info fs.FileInfo, in location) error {
		if err := check(in, info); err != nil || !info.IsDir() {
			return err
		}
		return f.below(sub, entry, info, in, depth+1, check)
	})
}

// removeTree removes the folder name of dir, and checks once more what it finds in it.
func (f *FS) removeTree(dir *os.Root, name string, info fs.FileInfo, in location, depth int, check func(location, fs.FileInfo) error) error {
	err := f.each(dir, name, info, in, depth, func(sub *os.Root, entry string, info fs.FileInfo, in location) error {
		if err := check(in, info); err != nil {
			return err
		}
		if info.IsDir() {
			return f.removeTree(sub, entry, info, in, depth+1, check)
		}
		return sub.Remove(entry)
	})
	if err != nil {
		return err
	}
	return dir.Remove(name)
}

// each runs act on every entry of the folder name of dir.
func (f *FS) each(dir *os.Root, name string, info fs.FileInfo, in location, depth int, act func(sub *os.Root, entry string, info fs.FileInfo, in location) error) error {
	if depth > maxDepth {
		return syscall.ENAMETOOLONG
	}
	sub, err := enter(dir, name, info)
	if err != nil {
		return err
	}
	defer sub.Close()
	entries, err := entriesIn(sub)
	if err != nil {
		return err
	}
	for _, e := range entries {
		entry := e.Name()
		if f.g.over.Load() {
			return f.refused(write, entry)
		}
		info, err := sub.Lstat(entry)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := act(sub, entry, info, in.child(entry)); err != nil {
			return err
		}
	}
	return nil
}

func entriesIn(dir *os.Root) ([]fs.DirEntry, error) {
	file, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readEntries(file)
}

// child gives the location of an entry of the folder at in.
func (in location) child(name string) location {
	join := func(dir string) string {
		if dir == "." || dir == "" {
			return name
		}
		return dir + "/" + name
	}
	if in.folder {
		in.folderPath = join(in.folderPath)
	}
	if in.plugin {
		in.pluginPath = join(in.pluginPath)
	}
	if in.asked != "" {
		in.asked = join(in.asked)
	}
	return in
}

// two walks to two names for an act on both.
func (f *FS) two(op, from, to string, asFrom []access, act func(src, dst *place) error) error {
	if !f.g.begin() {
		err := f.refused(write, from)
		f.g.Refuse(err)
		return err
	}
	defer f.g.mu.RUnlock()
	err := f.again(op, write, from, func() error {
		src, err := f.open(from, false, asFrom)
		if err != nil {
			return err
		}
		defer src.close()
		dst, err := f.open(to, false, []access{write})
		if err != nil {
			return err
		}
		defer dst.close()
		switch {
		case src.name == ".":
			return f.itself(src, from, "moved")
		case dst.name == ".":
			return f.itself(dst, to, "replaced")
		case src.info == nil:
			return syscall.ENOENT
		case dst.asFolder && !src.info.IsDir():
			return syscall.ENOTDIR
		}
		if err := act(src, dst); err != nil {
			return err
		}
		for _, a := range asFrom {
			f.g.noteAccess(a, src.in)
		}
		f.g.noteAccess(write, dst.in)
		return nil
	})
	if err != nil {
		f.g.Refuse(err)
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return &os.LinkError{Op: op, Old: from, New: to, Err: p.Err}
	}
	return err
}

// Rename gives a file, link or folder another name; what has that name is replaced.
// It moves content, so the old name must be open to reading and writing, the new one
// to writing. Everything in a folder must be open to writing under both names, and what
// is closed to reading must stay so.
func (f *FS) Rename(from, to string) error {
	return f.two("rename", from, to, []access{read, write}, func(src, dst *place) error {
		if src.info.IsDir() {
			err := f.below(src.dir, src.name, src.info, src.in, 0, func(in location, info fs.FileInfo) error {
				return f.mayMove(src.in, in, dst.in, info, from, to)
			})
			if err != nil {
				return err
			}
		}
		return renameAt(f.g.trees.folder.root, src, dst)
	})
}

// mayMove checks one place below a folder that is moved, under its old and new name.
func (f *FS) mayMove(top, in, dst location, info fs.FileInfo, from, to string) error {
	if err := f.mayWriteBelow(in, info, from); err != nil {
		return err
	}
	moved := dst
	for name := range eachName(strings.TrimPrefix(in.folderPath, top.folderPath+"/")) {
		moved = moved.child(name)
	}
	if r := f.g.check(write, moved); r != nil {
		return &DeniedError{Op: string(write), Target: shorten(to), Reason: inIt(moved, r.reason)}
	}
	// What is closed to reading may move along as long as it stays closed.
	if r := f.g.check(read, in); r != nil && f.g.check(read, moved) == nil {
		return &DeniedError{Op: string(read), Target: shorten(from), Reason: inIt(in, r.reason)}
	}
	return nil
}

// Link gives a regular file a second name. The old one must be open to reading and
// writing, the new one to writing.
func (f *FS) Link(from, to string) error {
	return f.two("link", from, to, []access{read, write}, func(src, dst *place) error {
		switch {
		case dst.info != nil:
			return syscall.EEXIST
		case src.info.IsDir():
			return syscall.EPERM
		case !src.info.Mode().IsRegular():
			return specialFile(write, from, src.info.Mode())
		}
		return f.linkAt(src, dst)
	})
}

// linkAt links by paths below the agent's folder, since os.Root cannot link from one
// folder to another, and takes the new name back where it did not become what was checked.
func (f *FS) linkAt(src, dst *place) error {
	root := f.g.trees.folder.root
	if err := root.Link(filepath.FromSlash(src.in.folderPath), filepath.FromSlash(dst.in.folderPath)); err != nil {
		return err
	}
	now, err := dst.dir.Lstat(dst.name)
	if err == nil && os.SameFile(now, src.info) {
		return nil
	}
	if err == nil {
		_ = dst.dir.Remove(dst.name)
	}
	return errChanged
}

// Symlink is always refused: a link is a path that is decided upon later, by whoever
// follows it, and plugins have no need of one.
func (f *FS) Symlink(target, name string) error {
	err := f.at("symlink", name, false, []access{write}, func(p *place) error { p.looked = true; return nil })
	var denied *DeniedError
	if errors.As(err, &denied) {
		return err
	}
	err = &DeniedError{Op: string(write), Target: shorten(name), Reason: "plugins cannot make symbolic links; copy the file instead"}
	f.g.Refuse(err)
	return err
}
