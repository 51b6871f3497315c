// Package pack carries plugin folders from one machine to another: as an archive that is the
// same bytes for the same folder, with a hash of all files, and out of archives that nobody
// has looked at yet.
//
//	tree, err := pack.Write(out, "./weather", "weather") // a .tgz
//	err = pack.Unpack(in, dir)
//	again, err := pack.Hash(dir) // tree
//
// A tree holds folders and regular files alone. Names that begin with a dot are left out,
// wherever they stand; links, devices and pipes are refused. Of a file count its name, its
// bytes and whether it can be executed.
package pack

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of a tree.
const (
	MaxEntries = 20_000    // files and folders
	MaxBytes   = 256 << 20 // of all files
	MaxName    = 1024      // bytes of a path below the tree
	MaxDepth   = 64        // folders in folders
)

// NameError says what is wrong with one entry of a tree or an archive.
type NameError struct {
	Name string
	Msg  string // "is a symbolic link"
}

func (e *NameError) Error() string { return fmt.Sprintf("%q %s", e.Name, e.Msg) }

var (
	errTooMany  = fmt.Errorf("there are more than %d files and folders", MaxEntries)
	errTooLarge = fmt.Errorf("the files have more than %d MiB", MaxBytes>>20)
)

// file is a regular file of a tree.
type file struct {
	name       string // slash path
	executable bool
	size       int64
}

// list gives the files of a folder by name in byte order. dots has entries count whose names
// begin with a dot.
func list(root *os.Root, dots bool) ([]file, error) {
	var files []file
	entries, total := 0, int64(0)
	folders := []string{"."}
	for len(folders) > 0 {
		folder := folders[len(folders)-1]
		folders = folders[:len(folders)-1]
		opened, err := root.Open(filepath.FromSlash(folder))
		if err != nil {
			return nil, err
		}
		found, err := opened.ReadDir(MaxEntries + 1)
		_ = opened.Close() // it was read only
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		for _, e := range found {
			if !dots && strings.HasPrefix(e.Name(), ".") {
				continue
			}
			if entries++; entries > MaxEntries {
				return nil, errTooMany
			}
			name := path.Join(folder, e.Name())
			if err := checkName(name); err != nil {
				return nil, err
			}
			info, err := e.Info()
			switch {
			case err != nil:
				return nil, err
			case info.IsDir():
				folders = append(folders, name)
			case info.Mode()&fs.ModeSymlink != 0:
				return nil, &NameError{name, "is a symbolic link; a plugin that is carried elsewhere holds files alone"}
			case !info.Mode().IsRegular():
				return nil, &NameError{name, "is neither a file nor a folder"}
			default:
				if total += info.Size(); total > MaxBytes {
					return nil, errTooLarge
				}
				files = append(files, file{name, info.Mode()&0o111 != 0, info.Size()})
			}
		}
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

// checkName refuses names that another system would understand in another way.
func checkName(name string) error {
	switch {
	case !fs.ValidPath(name) || name == ".":
		return &NameError{name, "leaves the folder, or is no path"}
	case len(name) > MaxName:
		return &NameError{name[:64] + "…", fmt.Sprintf("has more than %d bytes", MaxName)}
	case strings.Count(name, "/") >= MaxDepth:
		return &NameError{name, fmt.Sprintf("lies more than %d folders deep", MaxDepth)}
	case strings.ContainsAny(name, `\:`):
		return &NameError{name, `has a \ or : in its name`}
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) }):
		return &NameError{name, "has characters in its name that cannot be seen"}
	}
	return nil
}

// open opens a file of the tree. What was exchanged for a pipe meanwhile is not waited for.
func open(root *os.Root, f file) (*os.File, error) {
	opened, err := root.OpenFile(filepath.FromSlash(f.name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := opened.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() != f.size) {
		err = &NameError{f.name, "was changed while it was read"}
	}
	if err != nil {
		_ = opened.Close() // it was read only
		return nil, err
	}
	return opened, nil
}

// tree hashes the files of a tree as they come by.
type tree struct{ lines []string }

func (t *tree) add(f file, sum []byte) {
	mode := "-"
	if f.executable {
		mode = "x"
	}
	t.lines = append(t.lines, fmt.Sprintf("%s %s %q\n", mode, hex.EncodeToString(sum), f.name))
}

func (t *tree) hash() string {
	slices.Sort(t.lines)
	sum := sha256.Sum256([]byte(strings.Join(t.lines, "")))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// copyFile copies a file to w and notes it.
func (t *tree) copyFile(w io.Writer, root *os.Root, f file) error {
	in, err := open(root, f)
	if err != nil {
		return err
	}
	defer in.Close()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, h), io.LimitReader(in, f.size+1))
	if err == nil && n != f.size {
		err = &NameError{f.name, "was changed while it was read"}
	}
	if err == nil {
		t.add(f, h.Sum(nil))
	}
	return err
}

// Hash gives "sha256:" and the hash of all files of a folder. Names that begin with a dot
// count too: in a folder that [Unpack] or [Copy] has made there are none.
func Hash(dir string) (string, error) {
	t := &tree{}
	err := each(dir, true, func(root *os.Root, f file) error { return t.copyFile(io.Discard, root, f) })
	if err != nil {
		return "", fmt.Errorf("hashing %q: %w", dir, err)
	}
	return t.hash(), nil
}

func each(dir string, dots bool, do func(*os.Root, file) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	files, err := list(root, dots)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := do(root, f); err != nil {
			return err
		}
	}
	return nil
}

// Write writes a folder as a .tgz, its files below a folder of the name top, and gives its
// hash. The same files are the same bytes: they are sorted, and nothing of their times and
// owners is kept.
func Write(w io.Writer, dir, top string) (hash string, err error) {
	t := &tree{}
	zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	out := tar.NewWriter(zipped)
	err = each(dir, false, func(root *os.Root, f file) error {
		mode := int64(0o644)
		if f.executable {
			mode = 0o755
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: path.Join(top, f.name), Size: f.size, Mode: mode, ModTime: time.Unix(0, 0)}
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		return t.copyFile(out, root, f)
	})
	if err == nil {
		err = out.Close()
	}
	if err == nil {
		err = zipped.Close()
	}
	if err != nil {
		return "", fmt.Errorf("packing %q: %w", dir, err)
	}
	return t.hash(), nil
}

// Copy copies the tree of a folder into an empty one and gives its hash.
func Copy(to, from string) (hash string, err error) {
	into, err := os.OpenRoot(to)
	if err != nil {
		return "", err
	}
	defer into.Close()
	t := &tree{}
	u := &unpacker{root: into}
	err = each(from, false, func(root *os.Root, f file) error {
		return u.file(f.name, f.executable, func(w io.Writer) error { return t.copyFile(w, root, f) })
	})
	if err != nil {
		return "", fmt.Errorf("copying %q: %w", from, err)
	}
	return t.hash(), nil
}

// Change is a file in which two folders differ.
type Change struct {
	Name string
	Act  string // "added", "removed" or "changed"
}

// Compare gives the files in which the folder now differs from the folder old, by name.
func Compare(old, now string) ([]Change, error) {
	lines := func(dir string) (map[string]string, error) {
		files := map[string]string{}
		err := each(dir, true, func(root *os.Root, f file) error {
			t := &tree{}
			err := t.copyFile(io.Discard, root, f)
			files[f.name] = t.hash()
			return err
		})
		return files, err
	}
	before, err := lines(old)
	if err != nil {
		return nil, err
	}
	after, err := lines(now)
	if err != nil {
		return nil, err
	}
	var list []Change
	for name, sum := range after {
		switch was, known := before[name]; {
		case !known:
			list = append(list, Change{name, "added"})
		case was != sum:
			list = append(list, Change{name, "changed"})
		}
	}
	for name := range before {
		if _, there := after[name]; !there {
			list = append(list, Change{name, "removed"})
		}
	}
	slices.SortFunc(list, func(a, b Change) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}
