package foldertools

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/suggest"
	"github.com/toolhost/toolhost/permissions"
)

// folder is the agent's folder as one call may touch it.
type folder struct {
	*permissions.FS
	dir string // absolute, as the user named it
}

// rel writes a path for the answer: relative to the agent's folder where it lies there,
// with slashes. It is for reading only; nothing is decided by it.
func (f folder) rel(name string) string {
	if filepath.IsAbs(name) && f.dir != "" {
		if rel, err := filepath.Rel(f.dir, name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
	}
	return path.Clean(filepath.ToSlash(name))
}

// show is rel for text in which the path is not quoted anyway.
func (f folder) show(name string) string { return printable(f.rel(name)) }

// printable quotes a name that could be taken for more than a name: a line break in it
// would forge a line of the answer.
func printable(name string) string {
	odd := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
	if name == "" || strings.ContainsFunc(name, odd) {
		return strconv.Quote(name)
	}
	return name
}

// file gives the facts of a regular file; anything else is an error that says what to do.
func (f folder) file(name string) (fs.FileInfo, error) {
	info, err := f.Stat(name)
	switch {
	case err != nil:
		return nil, f.explain(name, err)
	case info.IsDir():
		return nil, fmt.Errorf("%q is a folder, not a file; folder_list shows what is in it", f.rel(name))
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is a %s, not a regular file; it cannot be read or written", f.rel(name), kind(info.Mode()))
	}
	return info, nil
}

// open opens a file for reading and reads the beginning that its kind is told by.
func (f folder) open(name string) (file *permissions.File, sample []byte, err error) {
	if file, err = f.OpenFile(name, os.O_RDONLY, 0); err != nil {
		return nil, nil, err
	}
	sample = make([]byte, sampleSize)
	n, err := io.ReadFull(file, sample)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, sample[:n], nil
}

// explain turns an error about a path into one that tells the model what to do.
func (f folder) explain(name string, err error) error {
	shown := f.rel(name)
	var denied *permissions.DeniedError
	switch {
	case errors.As(err, &denied):
		return err
	case errors.Is(err, fs.ErrNotExist):
		if near := f.nearest(name); near != "" {
			return fmt.Errorf("%q does not exist; did you mean %q?", shown, near)
		}
		return fmt.Errorf("%q does not exist; folder_list and folder_find show what does", shown)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%q: a part of the path is a file, not a folder", shown)
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%q is a folder, not a file", shown)
	case errors.Is(err, syscall.ELOOP):
		return fmt.Errorf("%q: the links on the way go round in a circle", shown)
	case errors.Is(err, syscall.ENAMETOOLONG):
		if len(name) < 255 {
			return fmt.Errorf("%q: a path in it is longer, or has more levels, than can be worked on at once", shown)
		}
		return fmt.Errorf("the path is longer than the file system allows (%d bytes)", len(name))
	case errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("%q has more in it than is read or listed at once", shown)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%q: the operating system does not permit it (%w)", shown, cause(err))
	}
	return fmt.Errorf("%q: %w", shown, cause(err))
}

// cause strips the path from an error, since the answer names it as the agent does.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// nearest gives the path that was probably meant by one that does not exist.
func (f folder) nearest(name string) string {
	dir, base := path.Split(path.Clean(filepath.ToSlash(name)))
	if dir == "" {
		dir = "."
	}
	entries, err := f.ReadDir(dir)
	if err != nil {
		return ""
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	near := suggest.Nearest(base, names)
	if near == "" {
		return ""
	}
	return f.rel(path.Join(dir, near))
}

// kind names what stands at a path.
func kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	default:
		return "special file"
	}
}

// count writes "1 line", "2 lines".
func count[N int | int64](n N, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	if stem, ok := strings.CutSuffix(unit, "entry"); ok {
		return fmt.Sprintf("%d %sentries", n, stem)
	}
	if strings.HasSuffix(unit, "match") {
		return fmt.Sprintf("%d %ses", n, unit)
	}
	return fmt.Sprintf("%d %ss", n, unit)
}
