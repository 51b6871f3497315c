package loader

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/runtimes"
)

// sums holds what files held, by slash path below a plugin's folder.
type sums map[string][sha256.Size]byte

// summedFile notes the sum of what was read of a file when it is closed.
type summedFile struct {
	fs.File
	hash hash.Hash
	note func([sha256.Size]byte)
}

func (f *summedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	_, _ = f.hash.Write(p[:n]) // a hash never fails
	return n, err
}

func (f *summedFile) Close() error {
	f.note([sha256.Size]byte(f.hash.Sum(nil)))
	return f.File.Close()
}

// hold reports whether the files of a folder hold still what they held.
func (s sums) hold(dir string) bool {
	f, err := openFolder(dir)
	if err != nil {
		return false
	}
	defer f.close()
	for name, want := range s {
		file, err := f.open(name)
		if err != nil {
			return false
		}
		sum, err := runtimes.Sum(file)
		_ = file.Close() // it was read only
		if err != nil || sum != want {
			return false
		}
	}
	return true
}

// without gives those of the files that others do not stand for.
func (s sums) without(others map[string][]byte) sums {
	rest := sums{}
	for name, sum := range s {
		if _, there := others[name]; !there {
			rest[name] = sum
		}
	}
	return rest
}

// digest gives one hash of all of them.
func (s sums) digest() string {
	sum := sha256.Sum256(runtimes.AppendSums(nil, s))
	return hex.EncodeToString(sum[:])
}

// folders gives the folders that hold the files, and those above them below the
// plugin's own, which is ".".
func (s sums) folders() []string {
	seen := map[string]bool{".": true}
	for name := range s {
		for dir := path.Dir(name); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
		}
	}
	var list []string
	for dir := range seen {
		list = append(list, dir)
	}
	slices.Sort(list)
	return list
}

const (
	// maxFolders is how many folders of one plugin are watched while it is not known what
	// goes into it.
	maxFolders = 500
	// maxEntries is how many names of one plugin are looked at, to see that something changed.
	maxEntries = 20_000
)

// allFolders gives the folders of a plugin that does not load, as far as a repair may
// happen in them: those whose names begin with a dot are left out, and of node_modules
// only the packages' own folders are named.
func allFolders(dir string) []string {
	list := []string{"."}
	for i := 0; i < len(list) && len(list) < maxFolders; i++ {
		depth := strings.Count(list[i], "/")
		if in := strings.Index("/"+list[i]+"/", "/node_modules/"); in >= 0 && depth > strings.Count(list[i][:in], "/")+1 {
			continue
		}
		entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(list[i])))
		if err != nil {
			continue // it went away meanwhile
		}
		for _, e := range entries {
			if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && len(list) < maxFolders {
				list = append(list, path.Join(list[i], e.Name()))
			}
		}
	}
	return list
}

// sighting is what the folders of a plugin looked like. The zero value is nothing seen.
type sighting struct {
	names  [sha256.Size]byte // the names that say which file an import means
	status [sha256.Size]byte // names, sizes, times and numbers of everything
}

// look takes a sighting of folders below dir.
func look(dir string, folders []string) sighting {
	names, status := sha256.New(), sha256.New()
	left := maxEntries
	for _, folder := range folders {
		entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(folder)))
		if err != nil {
			continue // it went away: that is a change too
		}
		for _, e := range entries {
			if left--; left < 0 {
				break
			}
			name := path.Join(folder, e.Name())
			if !strings.HasPrefix(e.Name(), ".") && (e.Type()&fs.ModeType != 0 || code(e.Name())) {
				_, _ = io.WriteString(names, name+"\x00") // a hash never fails
			}
			if info, err := e.Info(); err == nil {
				_, _ = io.WriteString(status, name+"\x00"+stamp(info)+"\x00")
			}
		}
	}
	return sighting{names: [sha256.Size]byte(names.Sum(nil)), status: [sha256.Size]byte(status.Sum(nil))}
}

// stirs reports whether something in folders below dir was changed less than a while ago. The
// clock of the file system may be a little ahead; a time far off was set by somebody.
func stirs(dir string, folders []string, while time.Duration) bool {
	recent := func(info fs.FileInfo, err error) bool {
		// What went away changed the folder that held it.
		return err == nil && time.Since(info.ModTime()).Abs() < while
	}
	left := maxEntries
	for _, folder := range folders {
		at := filepath.Join(dir, filepath.FromSlash(folder))
		if recent(os.Stat(at)) {
			return true
		}
		entries, err := os.ReadDir(at)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if left--; left < 0 {
				return false
			}
			if recent(e.Info()) {
				return true
			}
		}
	}
	return false
}

// code reports whether an import can mean a file of that name.
func code(name string) bool {
	return slices.Contains(endings, path.Ext(name))
}
