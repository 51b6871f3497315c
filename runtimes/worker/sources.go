package worker

import (
	"bytes"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/toolhost/toolhost/internal/scratch"
)

// maxSources is how many bytes of modules are kept for each plugin.
const maxSources = 32 << 20

// sources are the modules that a plugin was loaded from. A worker that is started later
// runs these, whatever stands on the disk by then.
type sources struct{ files map[string][]byte }

// readSources reads the files that went into a plugin; nil where they are too large, or one
// is not any more what was loaded.
func readSources(dir string, inputs map[string][sha256.Size]byte) *sources {
	s := &sources{files: make(map[string][]byte, len(inputs))}
	left := int64(maxSources)
	ok := eachFile(dir, inputs, func(name string, content []byte) bool {
		left -= int64(len(content))
		s.files[name] = content
		return left >= 0
	}, &left)
	if !ok {
		return nil
	}
	return s
}

// same reports whether the files on the disk are those that were loaded.
func (s *sources) same(dir string) bool {
	inputs := make(map[string][sha256.Size]byte, len(s.files))
	for name, content := range s.files {
		inputs[name] = sha256.Sum256(content)
	}
	left := int64(2 * maxSources)
	return eachFile(dir, inputs, func(name string, content []byte) bool { return bytes.Equal(content, s.files[name]) }, &left)
}

// eachFile gives every file to a function, as long as that says true, each has its sum, and
// none is larger than what is left.
func eachFile(dir string, inputs map[string][sha256.Size]byte, do func(name string, content []byte) bool, left *int64) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	read := func(name string) ([]byte, error) {
		// A pipe that has taken the place of a file must not hold us up.
		f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() || info.Size() > *left {
			return nil, os.ErrInvalid
		}
		return io.ReadAll(io.LimitReader(f, *left+1))
	}
	for name, sum := range inputs {
		content, err := read(name)
		if err != nil || sha256.Sum256(content) != sum || !do(name, content) {
			return false
		}
	}
	return true
}

// write writes the modules into a folder of their own, and gives it and what removes it.
// It is "" where there are none.
func (s *sources) write() (dir string, remove func(), err error) {
	if s == nil {
		return "", func() {}, nil
	}
	if dir, remove, err = scratch.Folder("", "worker"); err != nil {
		return "", nil, err
	}
	for name, content := range s.files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err = os.MkdirAll(filepath.Dir(full), 0o700); err == nil {
			err = os.WriteFile(full, content, 0o600)
		}
		if err != nil {
			remove()
			return "", nil, err
		}
	}
	return dir, remove, nil
}
