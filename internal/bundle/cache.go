package bundle

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Cache keeps bundles between runs of the program, in a folder, for builds that would give
// the same again. It is safe for concurrent use, by several processes too. A nil *Cache
// keeps nothing.
//
// What it holds is code that will be run, so it takes nothing that another user could have
// written: the folder and the one that it lies in must be the user's own.
type Cache struct {
	dir     string
	program [sha256.Size]byte // which program, since another one may build otherwise

	most    int64 // bytes of all entries
	now     func() time.Time
	stamps  func(dir string) bool // whether those of a folder's file system are good
	mu      sync.Mutex
	written int64     // bytes since old entries were last dropped; below zero before the first time
	reading *place    // from which entries are read; nil until there is one
	checked time.Time // when it was last the user's own
}

const (
	// maxCached is how many bytes a Cache holds together, maxEntry how many one entry has.
	maxCached = 256 << 20
	maxEntry  = 64 << 20
	// touchAfter is after what time an entry that is used is marked as used again.
	touchAfter = 24 * time.Hour
	// unfinished begins the names of files that are being written. leftAfter is when nobody
	// writes them any more.
	unfinished = ".new-"
	leftAfter  = time.Hour
	// checkEvery is how often the folder is looked at again that entries are read from.
	checkEvery = time.Second
)

// NewCache makes a Cache of a folder, which need not be there yet; the one that it lies in
// must be.
func NewCache(dir string) *Cache {
	return &Cache{dir: dir, program: thisProgram(), most: maxCached, now: time.Now, stamps: stamps, written: -1}
}

// thisProgram tells this program from others. A build that was changed by hand has the
// version of what it was made from, so the file itself counts too.
func thisProgram() [sha256.Size]byte {
	h := sha256.New()
	if info, ok := debug.ReadBuildInfo(); ok {
		fmt.Fprintln(h, info)
	}
	if path, err := os.Executable(); err == nil {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(h, info.Size(), info.ModTime().UnixNano())
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// kept is what an entry holds.
type kept struct {
	Inputs  []Input
	Sights  []sight // nil where files are to be read
	Answers []told
	Scripts []keptScript
}

// told is an answer that finding modules goes by.
type told struct {
	Question question
	Answer   string
}

type keptScript struct {
	Name, Code       string
	Async            bool
	MapText, MapPack []byte
}

// head comes before what an entry holds: what it was made for, and the sum of the rest.
const head = 2 * sha256.Size

// Get gives the bundle that was put in under a name and for the same made, where the files
// below a folder are those that it was built from, and a build would find no others: they are
// read where they do not look as they did when they were read before. It is nil where there is
// none. An entry that is no whole one is removed.
func (c *Cache) Get(dir, name string, made [sha256.Size]byte) *Bundle {
	if c == nil {
		return nil
	}
	folder := c.forReading()
	if folder == nil {
		return nil
	}
	file := fileName(name)
	data, err := readEntry(folder, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var k kept
	if err == nil {
		if [sha256.Size]byte(data[:sha256.Size]) != c.mark(made) {
			return nil // of another program, or for something else; the next Put replaces it
		}
		err = k.decode(data[head:])
	}
	if err != nil {
		_ = folder.Remove(file) // it is overwritten otherwise
		return nil
	}
	if k.unchanged(dir) {
		return k.bundle()
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	var sights []sight
	if c.stamps(dir) {
		sights = k.look(dir, c.now()) // before what is read: what changes from now on has another stamp
	}
	if !k.holds(root) {
		return nil
	}
	if sights != nil {
		k.Sights = sights
		body := k.encode()
		mark, sum := c.mark(made), sha256.Sum256(body)
		_ = writeEntry(folder, file, mark[:], sum[:], body) // the files are read again otherwise
	}
	return k.bundle()
}

// Put keeps a bundle of which it is known that its modules load.
func (c *Cache) Put(name string, made [sha256.Size]byte, b *Bundle) error {
	if c == nil || b.answers == nil {
		return nil
	}
	body := keep(b).encode()
	if len(body) > min(maxEntry, int(c.most)/2)-head {
		return nil
	}
	folder, err := c.open(true)
	if err != nil {
		return fmt.Errorf("keeping a bundle: %w", err)
	}
	mark, sum := c.mark(made), sha256.Sum256(body)
	if err := writeEntry(folder.Root, fileName(name), mark[:], sum[:], body); err != nil {
		folder.Close()
		return fmt.Errorf("keeping a bundle: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// What is read from now on is read where this was written: the folder that was there
	// before may have been removed. Its descriptor goes with its last reader.
	c.reading = folder
	first := c.written < 0
	if c.written += int64(len(body)) + head; first || c.written > c.most/8 {
		c.written = 0
		c.dropOld(folder.Root)
	}
	return nil
}

// mark is what an entry is made for by this program.
func (c *Cache) mark(made [sha256.Size]byte) [sha256.Size]byte {
	return sha256.Sum256(slices.Concat(c.program[:], made[:]))
}

func fileName(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

// forReading gives the folder, opened once for all plugins of a start; nil where there is none
// that is the user's own.
func (c *Cache) forReading() *os.Root {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	switch {
	case c.reading == nil:
		c.reading, _ = c.open(false) // why it cannot be is told by what is written to it
	case now.Sub(c.checked) < checkEvery:
		return c.reading.Root
	case c.reading.check() != nil:
		c.reading = nil // its descriptors go with its last reader
	}
	if c.reading == nil {
		return nil
	}
	c.checked = now
	return c.reading.Root
}

// place is the open folder of a [Cache], with the one that it lies in.
type place struct {
	*os.Root
	above *os.Root
}

// open opens the folder, where nobody but the user can have written into it.
func (c *Cache) open(create bool) (*place, error) {
	above, err := os.OpenRoot(filepath.Dir(c.dir))
	if err != nil {
		return nil, err
	}
	base := filepath.Base(c.dir)
	if create && own(above, 0o022) == nil { // else it is refused below
		if err := above.Mkdir(base, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			above.Close()
			return nil, err
		}
	}
	folder, err := above.OpenRoot(base)
	if err != nil {
		above.Close()
		return nil, err
	}
	p := &place{folder, above}
	if err := p.check(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// check says why the folder is not the user's alone. Who may write into the folder above may
// put another in the place of this one.
func (p *place) check() error {
	if err := own(p.above, 0o022); err != nil {
		return err
	}
	return own(p.Root, 0o077)
}

// Close closes both.
func (p *place) Close() { _, _ = p.Root.Close(), p.above.Close() } // nothing was written through them

// own says why an open folder is not the user's alone.
func own(folder *os.Root, others fs.FileMode) error {
	info, err := folder.Stat(".")
	if err != nil {
		return err
	}
	return ownInfo(info, others)
}

func ownInfo(info fs.FileInfo, others fs.FileMode) error {
	if !owned(info) || info.Mode().Perm()&others != 0 {
		return fmt.Errorf("%q is not the user's own, or others may use it", info.Name())
	}
	return nil
}

// openOwn opens a regular file that is the user's own and nobody else's to use.
func openOwn(folder *os.Root, name string) (*os.File, fs.FileInfo, error) {
	f, err := folder.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|noFollow, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = ownInfo(info, 0o077)
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errNoEntry
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// readEntry reads a whole entry.
func readEntry(folder *os.Root, name string) ([]byte, error) {
	f, info, err := openOwn(folder, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() < head || info.Size() > maxEntry {
		return nil, errNoEntry
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, err
	}
	if sha256.Sum256(data[head:]) != [sha256.Size]byte(data[sha256.Size:head]) {
		return nil, errors.New("not what was written")
	}
	if now := time.Now(); now.Sub(info.ModTime()) > touchAfter {
		_ = folder.Chtimes(name, now, now) // it is dropped sooner otherwise
	}
	return data, nil
}

// writeEntry writes an entry so that nobody sees half of it.
func writeEntry(folder *os.Root, name string, parts ...[]byte) error {
	temporary := unfinished + rand.Text()
	f, err := folder.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err == nil {
			_, err = f.Write(p)
		}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = folder.Rename(temporary, name)
	}
	if err != nil {
		_ = folder.Remove(temporary) // the first error says more
	}
	return err
}

// dropOld removes the entries that were used longest ago until the rest takes three
// quarters of the room, and what was never finished.
func (c *Cache) dropOld(folder *os.Root) {
	dir, err := folder.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	entries, err := dir.Readdir(-1)
	if err != nil {
		return
	}
	var total int64
	for _, e := range entries {
		total += e.Size()
	}
	slices.SortFunc(entries, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	over := total > c.most
	for _, e := range entries {
		left := strings.HasPrefix(e.Name(), unfinished) && time.Since(e.ModTime()) > leftAfter
		if left || over && total > c.most/4*3 {
			if folder.Remove(e.Name()) == nil {
				total -= e.Size()
			}
		}
	}
}

// keep gives what an entry of a bundle holds.
func keep(b *Bundle) *kept {
	k := &kept{Inputs: b.Inputs}
	for q, a := range b.answers {
		k.Answers = append(k.Answers, told{q, a})
	}
	for name, s := range b.Scripts {
		k.Scripts = append(k.Scripts, keptScript{Name: name, Code: s.Code, Async: s.Async, MapText: s.Map.text, MapPack: s.Map.packed})
	}
	return k
}

// holds reports whether a build would find and read what this one did.
func (k *kept) holds(root *os.Root) bool {
	f := newFiles(root, maxEntry, 1<<62)
	for _, i := range k.Inputs {
		if _, err := f.read(i.Path); err != nil || f.sums[i.Path] != i.Sum {
			return false
		}
		f.answers[question{Name: i.Path}] = answer{text: isOther} // it was opened, and is a regular file
	}
	for _, t := range k.Answers {
		if f.ask(t.Question).text != t.Answer {
			return false
		}
	}
	return true
}

func (k *kept) bundle() *Bundle {
	b := &Bundle{Scripts: make(map[string]*Script, len(k.Scripts)), Inputs: k.Inputs}
	for _, s := range k.Scripts {
		b.Scripts[s.Name] = &Script{Code: s.Code, Async: s.Async, Map: &SourceMap{text: s.MapText, packed: s.MapPack}}
	}
	return b
}
