package pack

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
)

// Unpack unpacks a .tgz (or a .tar) into an empty folder, and trusts nothing of it. It holds
// files and folders alone: an archive with links, devices, names that leave the folder, that
// stand twice or differ in case only, or with more than a tree may have, is refused. Names
// that begin with a dot are left out; owners, times and modes are not kept, but for whether a
// file can be executed. After an error the folder holds what came before it.
func Unpack(r io.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	plain, err := decompressed(r)
	if err != nil {
		return err
	}
	u := &unpacker{root: root, folded: map[string]string{}}
	// What stands between the files is bounded, too.
	all := &limited{r: plain, left: MaxBytes + MaxEntries*4096}
	in := tar.NewReader(all)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			if u.entries == 0 {
				return errors.New("the archive is empty")
			}
			return all.whole()
		}
		if err != nil {
			return fmt.Errorf("reading the archive: %w", err)
		}
		if err := u.entry(header, in); err != nil {
			return fmt.Errorf("unpacking the archive: %w", err)
		}
	}
}

// decompressed gives the tar of an archive.
func decompressed(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	magic, err := b.Peek(2)
	if err != nil {
		return nil, errors.New("the archive is empty")
	}
	if magic[0] != 0x1f || magic[1] != 0x8b {
		return b, nil
	}
	zipped, err := gzip.NewReader(b)
	if err != nil {
		return nil, fmt.Errorf("reading the archive: %w", err)
	}
	return zipped, nil
}

// limited is a reader that fails past its limit.
type limited struct {
	r     io.Reader
	left  int64
	ended bool // there was nothing left to read
}

// whole says why what was read of an archive is not all of it: the blocks that end one are
// missing, or the checksum, which is read last.
func (l *limited) whole() error {
	short := l.ended
	_, err := io.Copy(io.Discard, l)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), err == nil && short:
		return errors.New("reading the archive: it is cut off after its last file; get it again")
	case err != nil:
		return fmt.Errorf("reading the archive: %w", err)
	}
	return nil
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLarge
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	l.ended = n == 0 && err == io.EOF
	return n, err
}

// unpacker writes files into a folder.
type unpacker struct {
	root    *os.Root
	entries int
	bytes   int64
	folded  map[string]string // the names there are, by themselves without case; nil where they come from a file system
}

func (u *unpacker) entry(h *tar.Header, content io.Reader) error {
	if h.Typeflag == tar.TypeXGlobalHeader { // a comment, such as git writes
		return nil
	}
	if u.entries++; u.entries > MaxEntries {
		return errTooMany
	}
	name := strings.TrimPrefix(h.Name, "./")
	if h.Typeflag == tar.TypeDir {
		if name = strings.TrimSuffix(name, "/"); name == "" || name == "." {
			return nil
		}
	}
	if err := checkName(name); err != nil {
		return err
	}
	if strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return nil
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return u.claimFolders(name)
	case tar.TypeReg:
	case tar.TypeSymlink, tar.TypeLink:
		return &NameError{name, "is a link; plugins are files and folders alone"}
	default:
		return &NameError{name, "is neither a file nor a folder"}
	}
	if err := u.claimFolders(path.Dir(name)); err != nil {
		return err
	}
	if err := u.claim(name, false); err != nil {
		return err
	}
	return u.file(name, h.FileInfo().Mode()&0o111 != 0, func(w io.Writer) error {
		left := MaxBytes - u.bytes
		n, err := io.Copy(w, io.LimitReader(content, left+1))
		if u.bytes += n; err == nil && n > left {
			err = errTooLarge
		}
		return err
	})
}

// claimFolders notes a folder and those above it.
func (u *unpacker) claimFolders(name string) error {
	for ; name != "."; name = path.Dir(name) {
		if err := u.claim(name, true); err != nil {
			return err
		}
	}
	return nil
}

// claim refuses a name that is there already, or would be on a file system that does not
// look at case. A folder may come again.
func (u *unpacker) claim(name string, folder bool) error {
	key, kept := fold(name), name
	if folder {
		kept += "/"
	}
	switch before, there := u.folded[key]; {
	case !there:
		u.folded[key] = kept
	case folder && before == kept:
	case before == kept:
		return &NameError{name, "stands twice in it"}
	default:
		return &NameError{name, fmt.Sprintf("and %q are one name where case does not count", before)}
	}
	return nil
}

// fold gives a name without case.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}

// file makes a file with what write gives.
func (u *unpacker) file(name string, executable bool, write func(io.Writer) error) (err error) {
	if parent := path.Dir(name); parent != "." {
		if err := u.root.MkdirAll(filepath.FromSlash(parent), 0o755); err != nil {
			return err
		}
	}
	mode := fs.FileMode(0o644)
	if executable {
		mode = 0o755
	}
	out, err := u.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	if err := out.Chmod(mode); err != nil { // whatever the umask
		return err
	}
	return write(out)
}
