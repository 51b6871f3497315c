// Package plugins holds the plugins that ship with the host: word-count,
// markdown-tools, table-tools and image-tools. They are ordinary plugin folders, loaded
// like any other; only their files come out of the program itself.
//
//	dirs, err := plugins.Materialise(filepath.Join(stateDir, "bundled"))
//
// A runtime needs real folders, so [Materialise] writes them; [FS] gives them as they
// are embedded.
package plugins

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

//go:embed image-tools markdown-tools table-tools word-count
var embedded embed.FS

// FS gives the embedded plugins, one folder each. It cannot be changed.
func FS() fs.FS { return embedded }

// Materialise writes the embedded plugins below dir, which is made where it is missing,
// and gives their folders in the order of their names. They stand in a folder that is
// named for what is in it, appear there in one step, and are left alone when they are
// there already and complete: several processes may do it at once, also those of
// different versions. Files are read-only.
func Materialise(dir string) ([]string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("finding the folder of the bundled plugins: %w", err)
	}
	files, hash, err := list(embedded)
	if err != nil {
		return nil, fmt.Errorf("reading the bundled plugins: %w", err)
	}
	final := filepath.Join(dir, hash[:24])
	if !complete(final, files) {
		if err := write(dir, final, files); err != nil {
			return nil, fmt.Errorf("writing the bundled plugins to %q: %w", final, err)
		}
	}
	names, err := fs.ReadDir(embedded, ".")
	if err != nil {
		return nil, fmt.Errorf("reading the bundled plugins: %w", err)
	}
	dirs := make([]string, len(names))
	for i, n := range names {
		dirs[i] = filepath.Join(final, n.Name())
	}
	return dirs, nil
}

// list gives the files of a tree by slash path, and one hash of their names and contents.
func list(tree fs.FS) (files map[string][]byte, hash string, err error) {
	files = map[string][]byte{}
	h := sha256.New()
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		files[name] = data
		fmt.Fprintf(h, "%d %s %d ", len(name), name, len(data))
		h.Write(data)
		return nil
	})
	return files, hex.EncodeToString(h.Sum(nil)), err
}

// complete reports whether dir holds exactly the files, as regular ones: what runs must
// be what this program was built with, whoever wrote the folder.
func complete(dir string, files map[string][]byte) bool {
	found := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		want, known := files[filepath.ToSlash(rel)]
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !known || !info.Mode().IsRegular() || info.Size() != int64(len(want)) {
			return errDiffers
		}
		got, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !slices.Equal(got, want) {
			return errDiffers
		}
		found++
		return nil
	})
	return err == nil && found == len(files)
}

var errDiffers = errors.New("the folder differs from what is embedded")

// attempts is how often a folder is put in place. More than one is needed only where
// another process puts its own there at the same moment.
const attempts = 10

// write makes the folder beside its place and renames it there. A folder that is in the
// way was not complete: it is moved aside first, so that nobody sees half of it.
func write(dir, final string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(dir, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	made := filepath.Join(temp, "made")
	for name, data := range files {
		file := filepath.Join(made, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o444); err != nil {
			return err
		}
	}
	for i := range attempts {
		if err = os.Rename(made, final); err == nil || complete(final, files) {
			return nil
		}
		aside := filepath.Join(temp, fmt.Sprintf("old%d", i))
		if gone := os.Rename(final, aside); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			return gone
		}
	}
	return err
}
