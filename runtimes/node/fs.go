package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/permissions"
)

const (
	// inlineSize is up to how many bytes are read and written on the loop itself: below
	// it a goroutine costs more than the work.
	inlineSize = 256 << 10
	// maxFileSize is how many bytes of a file are read at once.
	maxFileSize = permissions.DefaultReadLimit
	// maxOpenFiles is how many file descriptors a call may have open.
	maxOpenFiles = 1024
)

// fileOp is an operation of node:fs. It reads its arguments on the loop and gives the
// work, which must not touch the VM, and whether that may take long.
type fileOp struct {
	syscall string // Node's name of it in errors
	begin   func(e *engine, c fileArgs) (work func() (any, error), slow bool)
}

// fileArgs are the arguments of an operation: fs.js has checked their types.
type fileArgs []goja.Value

func (a fileArgs) at(i int) goja.Value {
	if i < len(a) {
		return a[i]
	}
	return goja.Undefined()
}
func (a fileArgs) text(i int) string { return a.at(i).String() }
func (a fileArgs) int(i int) int64   { return a.at(i).ToInteger() }
func (a fileArgs) mode(i int) fs.FileMode {
	m := a.int(i)
	mode := fs.FileMode(m & 0o777)
	for bit, flag := range map[int64]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if m&bit != 0 {
			mode |= flag
		}
	}
	return mode
}
func (a fileArgs) time(i int) time.Time {
	return time.UnixMicro(int64(a.at(i).ToFloat() * 1e6))
}

// quick makes an operation of work that is fast.
func quick(syscall string, run func(f *permissions.FS, a fileArgs) (any, error)) fileOp {
	return fileOp{syscall, func(e *engine, a fileArgs) (func() (any, error), bool) {
		f := e.grant.FS()
		return func() (any, error) { return run(f, a) }, false
	}}
}

// slow makes an operation of work that may take long; prepare reads the arguments.
func slow(syscall string, prepare func(f *permissions.FS, a fileArgs) func() (any, error)) fileOp {
	return fileOp{syscall, func(e *engine, a fileArgs) (func() (any, error), bool) { return prepare(e.grant.FS(), a), true }}
}

func only(err error) (any, error) { return nil, err }

// encoded is file content that is to become a string.
type encoded struct {
	data     []byte
	encoding string
}

// written is how many bytes were written.
type written int

// fileOps are the operations by name. The table is not changed.
var fileOps = map[string]fileOp{
	"readFile": {"open", beginReadFile},
	"writeFile": {"open", func(e *engine, a fileArgs) (func() (any, error), bool) { // (path, bytes, flags, mode)
		f, name, flags, mode := e.grant.FS(), a.text(0), int(a.int(2)), a.mode(3)
		data := e.fileData(a.at(1))
		return func() (any, error) { return only(writeFile(f, name, data, flags, mode)) }, len(data) > inlineSize
	}},
	"open": {"open", func(e *engine, a fileArgs) (func() (any, error), bool) { // (path, flags, mode)
		f, name, flags, mode := e.grant.FS(), a.text(0), int(a.int(1)), a.mode(2)
		return func() (any, error) {
			if len(e.api.files) >= maxOpenFiles {
				return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EMFILE}
			}
			return f.OpenFile(name, flags, mode)
		}, false
	}},
	"close": {"close", func(e *engine, a fileArgs) (func() (any, error), bool) {
		fd := int(a.int(0))
		file, ok := e.api.files[fd]
		delete(e.api.files, fd)
		return func() (any, error) {
			if !ok {
				return nil, syscall.EBADF
			}
			return only(file.Close())
		}, false
	}},
	"read": onFile("read", func(e *engine, file *permissions.File, a fileArgs) (func() (any, error), bool) { // (fd, length, position)
		length, position := min(a.int(1), maxFileSize), a.int(2)
		return func() (any, error) {
			b := make([]byte, length)
			n, err := 0, error(nil)
			if position < 0 {
				n, err = file.Read(b)
			} else {
				n, err = file.ReadAt(b, position)
			}
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return b[:n], err
		}, length > inlineSize
	}),
	"write": onFile("write", func(e *engine, file *permissions.File, a fileArgs) (func() (any, error), bool) { // (fd, bytes, position)
		data, position := e.fileData(a.at(1)), a.int(2)
		return func() (any, error) {
			n, err := 0, error(nil)
			if position < 0 {
				n, err = file.Write(data)
			} else {
				n, err = file.WriteAt(data, position)
			}
			return written(n), err
		}, len(data) > inlineSize
	}),
	"fstat": onFile("fstat", func(_ *engine, file *permissions.File, _ fileArgs) (func() (any, error), bool) {
		return func() (any, error) { return file.Stat() }, false
	}),
	"ftruncate": onFile("ftruncate", func(_ *engine, file *permissions.File, a fileArgs) (func() (any, error), bool) {
		size := a.int(1)
		return func() (any, error) { return only(file.Truncate(size)) }, false
	}),
	"fsync": onFile("fsync", func(_ *engine, file *permissions.File, _ fileArgs) (func() (any, error), bool) {
		return func() (any, error) { return only(file.Sync()) }, true
	}),

	"stat":   quick("stat", func(f *permissions.FS, a fileArgs) (any, error) { return f.Stat(a.text(0)) }),
	"lstat":  quick("lstat", func(f *permissions.FS, a fileArgs) (any, error) { return f.Lstat(a.text(0)) }),
	"exists": quick("access", func(f *permissions.FS, a fileArgs) (any, error) { return f.Exists(a.text(0)), nil }),
	"access": quick("access", func(f *permissions.FS, a fileArgs) (any, error) {
		mode := a.int(1)
		return only(f.Access(a.text(0), mode&4 != 0, mode&2 != 0))
	}),
	"readdir": quick("scandir", func(f *permissions.FS, a fileArgs) (any, error) { return f.ReadDir(a.text(0)) }),
	"opendir": quick("opendir", func(f *permissions.FS, a fileArgs) (any, error) {
		_, err := f.ReadDir(a.text(0))
		return nil, err
	}),
	"mkdir": quick("mkdir", func(f *permissions.FS, a fileArgs) (any, error) { return only(f.Mkdir(a.text(0), a.mode(1))) }),
	"mkdirp": quick("mkdir", func(f *permissions.FS, a fileArgs) (any, error) {
		first, err := f.MkdirAll(a.text(0), a.mode(1))
		if first == "" {
			return nil, err
		}
		return first, err
	}),
	"mkdtemp":  quick("mkdtemp", func(f *permissions.FS, a fileArgs) (any, error) { return f.MkdirTemp(a.text(0)) }),
	"unlink":   quick("unlink", func(f *permissions.FS, a fileArgs) (any, error) { return only(removeKind(f, a.text(0), false)) }),
	"rmdir":    quick("rmdir", func(f *permissions.FS, a fileArgs) (any, error) { return only(removeKind(f, a.text(0), true)) }),
	"realpath": quick("realpath", func(f *permissions.FS, a fileArgs) (any, error) { return f.RealPath(a.text(0)) }),
	"readlink": quick("readlink", func(f *permissions.FS, a fileArgs) (any, error) { return f.ReadLink(a.text(0)) }),
	"rename":   quick("rename", func(f *permissions.FS, a fileArgs) (any, error) { return only(f.Rename(a.text(0), a.text(1))) }),
	"link":     quick("link", func(f *permissions.FS, a fileArgs) (any, error) { return only(f.Link(a.text(0), a.text(1))) }),
	"symlink":  quick("symlink", func(f *permissions.FS, a fileArgs) (any, error) { return only(f.Symlink(a.text(0), a.text(1))) }),
	"truncate": quick("open", func(f *permissions.FS, a fileArgs) (any, error) { return only(f.Truncate(a.text(0), a.int(1))) }),
	"chmod":    quick("chmod", func(f *permissions.FS, a fileArgs) (any, error) { return only(f.Chmod(a.text(0), a.mode(1))) }),
	"utimes": quick("utime", func(f *permissions.FS, a fileArgs) (any, error) {
		return only(f.Chtimes(a.text(0), a.time(1), a.time(2)))
	}),
	"rmtree": slow("rm", func(f *permissions.FS, a fileArgs) func() (any, error) {
		name := a.text(0)
		return func() (any, error) { return only(f.RemoveAll(name)) }
	}),
	"copyFile": slow("copyfile", func(f *permissions.FS, a fileArgs) func() (any, error) { // (from, to, mode)
		from, to, exclusive := a.text(0), a.text(1), a.int(2)&1 != 0
		return func() (any, error) { return only(copyFile(f, from, to, exclusive)) }
	}),
}

// onFile makes an operation on a file descriptor, its first argument.
func onFile(name string, begin func(e *engine, file *permissions.File, a fileArgs) (func() (any, error), bool)) fileOp {
	return fileOp{name, func(e *engine, a fileArgs) (func() (any, error), bool) {
		file, ok := e.api.files[int(a.int(0))]
		if !ok {
			return func() (any, error) { return nil, syscall.EBADF }, false
		}
		return begin(e, file.File, a)
	}}
}

// fileData copies what is to be written: script may change it before it is.
func (e *engine) fileData(v goja.Value) []byte {
	if b, ok := e.bytes(v); ok {
		return bytes.Clone(b)
	}
	return []byte(v.String())
}

// beginReadFile is (path, encoding or undefined, flags). The file is opened at once, so
// that a small one is read on the loop and only a big one waits for a goroutine.
func beginReadFile(e *engine, a fileArgs) (func() (any, error), bool) {
	encoding := ""
	if v := optional(a.at(1)); v != nil {
		encoding = v.String()
	}
	fail := func(err error) (func() (any, error), bool) { return func() (any, error) { return nil, err }, false }
	file, err := e.grant.FS().OpenFile(a.text(0), int(a.int(2)), 0o666)
	if err != nil {
		return fail(err)
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return fail(err)
	}
	return func() (any, error) {
		defer file.Close()
		if info.IsDir() {
			return nil, &fs.PathError{Op: "read", Err: syscall.EISDIR}
		}
		if info.Size() > maxFileSize {
			return nil, tooBig(info.Size())
		}
		b := make([]byte, 0, info.Size()+1)
		for {
			n, err := file.Read(b[len(b):cap(b)])
			b = b[:len(b)+n]
			switch {
			case errors.Is(err, io.EOF):
				if encoding != "" {
					return encoded{b, encoding}, nil
				}
				return b, nil
			case err != nil:
				return nil, &fs.PathError{Op: "read", Err: err}
			case len(b) > maxFileSize:
				return nil, tooBig(int64(len(b)))
			case len(b) == cap(b):
				b = slices.Grow(b, len(b))
			}
		}
	}, info.Size() > inlineSize
}

func tooBig(size int64) error {
	return &scriptError{class: "RangeError", code: "ERR_FS_FILE_TOO_LARGE",
		message: fmt.Sprintf("File size (%d) is greater than %d MiB", size, maxFileSize>>20)}
}

// writeFile replaces, appends or makes anew, as the flags say.
func writeFile(f *permissions.FS, name string, data []byte, flags int, mode fs.FileMode) (err error) {
	switch {
	case flags == os.O_WRONLY|os.O_CREATE|os.O_TRUNC:
		return f.WriteFile(name, data, mode)
	case flags == os.O_WRONLY|os.O_CREATE|os.O_APPEND:
		return f.AppendFile(name, data, mode)
	}
	file, err := f.OpenFile(name, flags, mode)
	if err != nil {
		return err
	}
	defer func() {
		if e := file.Close(); err == nil {
			err = e
		}
	}()
	_, err = file.Write(data)
	return err
}

// removeKind removes a folder or what is none, and refuses the other kind as the
// system calls of that name do.
func removeKind(f *permissions.FS, name string, folder bool) error {
	info, err := f.Lstat(name)
	if err != nil {
		var denied *permissions.DeniedError
		if !errors.As(err, &denied) {
			return err
		}
		// What may not be looked at may still be removable: only removing tells.
		return f.Remove(name)
	}
	if info.IsDir() && !folder {
		return &fs.PathError{Op: "unlink", Path: name, Err: syscall.EISDIR}
	}
	if !info.IsDir() && folder {
		return &fs.PathError{Op: "rmdir", Path: name, Err: syscall.ENOTDIR}
	}
	return f.Remove(name)
}

// copyFile copies the content and the permission bits of a file.
func copyFile(f *permissions.FS, from, to string, exclusive bool) error {
	source, err := f.OpenFile(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return &os.LinkError{Op: "copyfile", Old: from, New: to, Err: syscall.EISDIR}
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if exclusive {
		flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	}
	target, err := f.OpenFile(to, flags, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if e := target.Close(); err == nil {
		err = e
	}
	return err
}

// blame words an error as Node does: with its name of the operation and the path as
// the handler wrote it.
func blame(err error, op fileOp, a fileArgs) error {
	var denied *permissions.DeniedError
	var script *scriptError
	var errno syscall.Errno
	if err == nil || errors.As(err, &denied) || errors.As(err, &script) || !errors.As(err, &errno) {
		return err
	}
	name := op.syscall
	var path *fs.PathError
	if errors.As(err, &path) && path.Op == "read" {
		return err
	}
	switch name {
	case "rename", "link", "copyfile":
		return &os.LinkError{Op: name, Old: a.text(0), New: a.text(1), Err: errno}
	case "symlink":
		return &os.LinkError{Op: name, Old: a.text(0), New: a.text(1), Err: errno}
	case "read", "write", "close", "fstat", "ftruncate", "fsync":
		return &fs.PathError{Op: name, Err: errno}
	case "mkdtemp":
		return &fs.PathError{Op: name, Path: a.text(0) + "XXXXXX", Err: errno}
	}
	return &fs.PathError{Op: name, Path: a.text(0), Err: errno}
}

// fileResult turns what the work gave into a value of the VM.
func (e *engine) fileResult(v any) goja.Value {
	switch v := v.(type) {
	case nil:
		return goja.Undefined()
	case []byte:
		return e.buffer(v)
	case encoded:
		return e.decodeText(v.data, v.encoding)
	case written:
		return e.vm.ToValue(int(v))
	case *permissions.File:
		return e.vm.ToValue(e.keepFile(v))
	case fs.FileInfo:
		return e.vm.ToValue(e.vm.NewArray(statNumbers(v)...))
	case []fs.DirEntry:
		list := make([]any, 0, 2*len(v))
		for _, entry := range v {
			list = append(list, entry.Name(), int(nodeMode(entry.Type())&modeType))
		}
		return e.vm.NewArray(list...)
	}
	return e.vm.ToValue(v)
}

// openFile is an open file with the scope that opened it.
type openFile struct {
	*permissions.File
	scope *scope
}

// keepFile gives a file a descriptor, the lowest that is free. 0 to 2 are never given.
func (e *engine) keepFile(file *permissions.File) int {
	if e.api.files == nil {
		e.api.files = map[int]openFile{}
	}
	fd := 3
	for e.api.files[fd].File != nil {
		fd++
	}
	e.api.files[fd] = openFile{file, e.scope}
	return fd
}

// Node's bits of a mode.
const (
	modeType   = 0o170000
	modeFile   = 0o100000
	modeFolder = 0o040000
	modeLink   = 0o120000
	modeFIFO   = 0o010000
	modeSocket = 0o140000
	modeChar   = 0o020000
	modeBlock  = 0o060000
)

// nodeMode gives a mode as the system numbers it.
func nodeMode(m fs.FileMode) int64 {
	mode := int64(m.Perm())
	if m&fs.ModeSetuid != 0 {
		mode |= 0o4000
	}
	if m&fs.ModeSetgid != 0 {
		mode |= 0o2000
	}
	if m&fs.ModeSticky != 0 {
		mode |= 0o1000
	}
	switch {
	case m.IsDir():
		return mode | modeFolder
	case m&fs.ModeSymlink != 0:
		return mode | modeLink
	case m&fs.ModeNamedPipe != 0:
		return mode | modeFIFO
	case m&fs.ModeSocket != 0:
		return mode | modeSocket
	case m&fs.ModeCharDevice != 0:
		return mode | modeChar
	case m&fs.ModeDevice != 0:
		return mode | modeBlock
	}
	return mode | modeFile
}

// statNumbers gives dev, ino, mode, nlink, uid, gid, rdev, size, blksize, blocks, and
// the times atime, mtime, ctime and birthtime in nanoseconds as text.
func statNumbers(info fs.FileInfo) []any {
	s := systemStat(info)
	return []any{s.dev, s.ino, nodeMode(info.Mode()), s.nlink, s.uid, s.gid, s.rdev, info.Size(), s.blksize, s.blocks,
		nanoseconds(s.atime), nanoseconds(info.ModTime()), nanoseconds(s.ctime), nanoseconds(s.birthtime)}
}

func nanoseconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e6 }

// fileStat is what a FileInfo does not tell on every system.
type fileStat struct {
	dev, ino, nlink, uid, gid, rdev, blksize, blocks int64
	atime, ctime, birthtime                          time.Time
}

// fileHost is what the libraries of node:fs call.
func (e *engine) fileHost() goja.Value {
	if e.api.fileHost != nil {
		return e.api.fileHost
	}
	e.api.fileHost = e.object(map[string]any{
		// (operation, arguments…) → result
		"sync": func(c goja.FunctionCall) goja.Value {
			op, args := fileOps[c.Argument(0).String()], fileArgs(c.Arguments[1:])
			work, _ := op.begin(e, args)
			v, err := work()
			if err != nil {
				panic(e.errorValue(blame(err, op, args)))
			}
			return e.fileResult(v)
		},
		// (callback(error, result), operation, arguments…)
		"start": func(c goja.FunctionCall) goja.Value {
			done := e.captureContext(c.Argument(0))
			// The engine takes the list of arguments back when this function returns.
			op, args := fileOps[c.Argument(1).String()], fileArgs(slices.Clone(c.Arguments[2:]))
			work, slow := op.begin(e, args)
			here := e.here()
			finish := func(v any, err error) func() error {
				if err == nil {
					return func() error { return e.macrotask(done, goja.Null(), e.fileResult(v)) }
				}
				return here(func() error { return e.macrotask(done, e.errorValue(blame(err, op, args))) })
			}
			if slow {
				e.loop.start(func(context.Context) func() error { return finish(work()) })
			} else {
				e.loop.later(finish(work()))
			}
			return goja.Undefined()
		},
		// (callback): calls it in a turn of its own
		"later": func(c goja.FunctionCall) goja.Value {
			f := c.Argument(0)
			e.loop.later(func() error { return e.macrotask(f) })
			return goja.Undefined()
		},
		"flags": e.object(fileFlags()),
	})
	return e.api.fileHost
}

// fileFlags gives the system's numbers of open flags.
func fileFlags() map[string]any {
	return map[string]any{"O_RDONLY": os.O_RDONLY, "O_WRONLY": os.O_WRONLY, "O_RDWR": os.O_RDWR, "O_CREAT": os.O_CREATE,
		"O_EXCL": os.O_EXCL, "O_TRUNC": os.O_TRUNC, "O_APPEND": os.O_APPEND, "O_SYNC": os.O_SYNC}
}
