package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxFile is how large a configuration may be.
const maxFile = 32 << 20

// File is a configuration as it was read.
type File struct {
	Path string // where it really is, after symbolic links
	Text string // "" where there is none yet
	mode fs.FileMode
	old  []byte
	made bool // there is one
}

// Open reads a configuration. A symbolic link is followed, as programs do that read it:
// Path says where it leads.
func Open(path string) (*File, error) {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("%s is a link that leads nowhere", path)
		}
		return &File{Path: path, mode: 0o600}, nil
	case err != nil:
		return nil, fmt.Errorf("following the links of %s: %w", path, err)
	}
	text, info, err := read(real)
	if err != nil {
		return nil, err
	}
	return &File{Path: real, Text: string(text), mode: info.Mode().Perm(), old: text, made: true}, nil
}

func read(path string) ([]byte, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is no regular file", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return text, info, err
}

// BackupSuffix is added to the name of a configuration for the copy of what it was before.
const BackupSuffix = ".before-toolhost"

// Write puts a text in the place of what was read, in one step, and keeps what was there
// in a file beside it. It fails where the file is read-only, or has changed since it was opened.
func (f *File) Write(text string) error {
	if f.made {
		if f.mode&0o222 == 0 { // it could be replaced all the same, which is not what its owner wants
			return fmt.Errorf("%s is read-only; nothing is written", f.Path)
		}
		now, _, err := read(f.Path)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, f.old) {
			return fmt.Errorf("%s was changed by another program meanwhile; nothing is written", f.Path)
		}
		if err := replace(f.Path+BackupSuffix, f.old, f.mode); err != nil {
			return fmt.Errorf("keeping a copy: %w", err)
		}
	} else {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
			return err
		}
		if _, err := os.Lstat(f.Path); err == nil {
			return fmt.Errorf("%s was made by another program meanwhile; nothing is written", f.Path)
		}
	}
	return replace(f.Path, []byte(text), f.mode)
}

// replace puts a file of that content in a place. What stands there is not written into,
// and a link there is not followed.
func replace(path string, content []byte, mode fs.FileMode) (err error) {
	t, err := os.CreateTemp(filepath.Dir(path), ".toolhost-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(t.Name())
		}
	}()
	_, err = t.Write(content)
	if err == nil {
		err = t.Chmod(mode)
	}
	if err == nil {
		err = t.Sync()
	}
	if e := t.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(t.Name(), path)
}
