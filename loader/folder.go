package loader

import (
	"crypto/sha256"
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

	"github.com/toolhost/toolhost/internal/suggest"
)

// Folders gives the plugin folders of a folder: the folder itself where it has a
// manifest of either kind, else those of its folders that have one, by name in byte order. Names that
// begin with a dot, node_modules, plain files and folders without a manifest are passed
// over.
func Folders(dir string) ([]string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the plugin folder %q: %w", dir, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("reading the plugin folder %q: it is not a folder", dir)
	}
	if hasManifest(dir) {
		return []string{dir}, nil
	}
	entries, err := os.ReadDir(dir) // sorted by name in byte order
	if err != nil {
		return nil, fmt.Errorf("reading the plugin folder %q: %w", dir, err)
	}
	var folders []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" {
			continue
		}
		sub := filepath.Join(dir, e.Name())
		isDir := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(sub)
			isDir = err == nil && info.IsDir()
		}
		if isDir && hasManifest(sub) {
			folders = append(folders, sub)
		}
	}
	return folders, nil
}

// hasManifest reports whether a folder has something of a manifest's name. Where that
// cannot be told there is something to report, so the answer is yes.
func hasManifest(dir string) bool {
	return slices.ContainsFunc(manifestFiles(), func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) // of a file, or in one
	})
}

func manifestFiles() []string { return []string{ManifestFile, CardFile} }

// IsPlugin reports whether a folder has a manifest, so that it is one of a plugin.
func IsPlugin(dir string) bool { return hasManifest(dir) }

// folder is an open plugin folder. Nothing outside of it can be read through it.
type folder struct {
	root *os.Root
	dir  string            // absolute, links resolved
	sums sums              // of the files that were read through it
	kept map[string][]byte // files that stand for those of the folder
}

func openFolder(dir string) (*folder, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	resolved, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, err
	}
	return openResolved(resolved)
}

// openResolved is openFolder for a folder of which it is known where it is.
func openResolved(resolved string) (*folder, error) {
	root, err := os.OpenRoot(resolved)
	if err != nil {
		return nil, err
	}
	return &folder{root: root, dir: resolved, sums: sums{}}, nil
}

func (f *folder) close() { _ = f.root.Close() } // it was read only

var errNotRegular = errors.New("it is not a regular file")

// Open opens a regular file; it makes a folder an [fs.FS] for the schema files. A pipe
// or device is refused without waiting for its other end.
func (f *folder) Open(name string) (fs.File, error) {
	var file fs.File
	if data, ok := f.kept[name]; ok {
		file = newMemoryFile(name, data)
	} else {
		var err error
		if file, err = f.open(name); err != nil {
			return nil, err
		}
	}
	return &summedFile{File: file, hash: sha256.New(), note: func(sum [sha256.Size]byte) { f.sums[name] = sum }}, nil
}

func (f *folder) open(name string) (*os.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	file, err := f.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	if err != nil {
		_ = file.Close() // the error that counts is the one at hand
		return nil, err
	}
	return file, nil
}

// Stat says what a name is, without opening it.
func (f *folder) Stat(name string) (fs.FileInfo, error) {
	if data, ok := f.kept[name]; ok {
		return newMemoryFile(name, data), nil
	}
	return f.root.Stat(filepath.FromSlash(name))
}

// maxPrompt is how many bytes a prompt file may have.
const maxPrompt = 256 << 10

// prompt reads the file of a prompt. Bytes that are no UTF-8 become U+FFFD.
func (f *folder) prompt(name string) (string, error) {
	file, err := f.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxPrompt+1))
	switch {
	case err != nil:
		return "", err
	case len(data) > maxPrompt:
		return "", fmt.Errorf("a prompt has at most %d bytes", maxPrompt)
	}
	return strings.TrimPrefix(strings.ToValidUTF8(string(data), "\ufffd"), "\ufeff"), nil
}

// ReadManifest reads the manifest of a plugin folder as a load does: a regular file that lies
// in the folder, and of one that is too large as much as [ParseManifest] needs to say so.
func ReadManifest(dir string) ([]byte, error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer f.close()
	data, _, unreadable := f.manifest()
	if unreadable != nil {
		return nil, unreadable
	}
	return data, nil
}

// manifest reads the manifest, and gives the name of its file.
func (f *folder) manifest() (data []byte, name string, bad *ManifestError) {
	name = ManifestFile
	if f.holds(CardFile) {
		if f.holds(ManifestFile) {
			return nil, name, &ManifestError{
				Rule: ruleTwoManifests, File: CardFile, Msg: "the folder has a " + ManifestFile + " and a " + CardFile + "; a folder holds one plugin",
				Hint: "move one of the two into a folder of its own",
			}
		}
		name = CardFile
	}
	file, err := f.Open(name)
	if err != nil {
		return nil, name, unreadable(name, err)
	}
	defer file.Close()
	data, err = io.ReadAll(io.LimitReader(file, MaxManifest+1))
	if err != nil {
		return nil, name, unreadable(name, err)
	}
	return data, name, nil
}

// holds reports whether the folder has something of a name, or is to have it.
func (f *folder) holds(name string) bool {
	if f.kept != nil && (f.kept[ManifestFile] != nil || f.kept[CardFile] != nil) {
		return f.kept[name] != nil
	}
	_, err := f.root.Lstat(name)
	return err == nil
}

func unreadable(name string, err error) *ManifestError {
	e := &ManifestError{Rule: ruleUnreadable, File: name}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Msg, e.Hint = "the folder has no "+ManifestFile, "a plugin is a folder with a "+ManifestFile+", or with the "+CardFile+" of a card"
	case escapes(err):
		e.Msg, e.Hint = "the manifest is a link that leaves the plugin folder", "put the file itself there"
	case errors.Is(err, errNotRegular):
		e.Msg, e.Hint = "the manifest is not a regular file", "put a file of that name there"
	default:
		e.Msg = "the manifest cannot be read: " + err.Error()
	}
	return e
}

// escapes reports whether an os.Root refused a path that leaves it. The os package
// exports no error for that, only its text.
func escapes(err error) bool {
	return err != nil && strings.HasSuffix(err.Error(), "path escapes from parent")
}

// endings are what a handler's path may leave out.
var endings = []string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".json"}

// missing reports that a file that a tool names is not there, with one of the endings
// or without; nil where it is, or where that cannot be told.
func (f *folder) missing(c *checker, of, pointer, written string, endings []string) *ManifestError {
	name := path.Clean(written)
	for _, ending := range append([]string{""}, endings...) {
		if _, err := f.Stat(name + ending); !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	at := c.doc.Position(pointer)
	e := &ManifestError{
		Rule: ruleNoFile, File: c.file, Line: at.Line, Column: at.Column, Pointer: pointer,
		Msg:  fmt.Sprintf("the file %q of %s does not exist", cut(written), of),
		Hint: "paths start at the plugin folder",
	}
	if likely := f.nearest(name); likely != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", "./"+likely)
	}
	return e
}

// nearest gives the file beside name that was probably meant, or "".
func (f *folder) nearest(name string) string {
	parent, err := f.root.Open(filepath.FromSlash(path.Dir(name)))
	if err != nil {
		return ""
	}
	defer parent.Close()
	const most = 1000
	entries, err := parent.ReadDir(most)
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	if likely := suggest.Nearest(path.Base(name), names); likely != "" {
		return path.Join(path.Dir(name), likely)
	}
	return ""
}
