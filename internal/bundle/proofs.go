package bundle

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
)

// Proofs remembers between runs of the program of which bytes it was seen that they are
// good, by a sum of them: so that what was checked once need not be checked at each start.
// They are kept in a file of the folder of a [Cache], under the same conditions. It is safe
// for concurrent use, by several processes too. A nil *Proofs remembers nothing.
type Proofs struct {
	cache *Cache
	log   func(error)

	mu   sync.Mutex
	sums map[[sha256.Size]byte]bool // nil before the file was read
	lost bool                       // what is proven now is not kept
}

const (
	proofFile = "proofs"
	// maxProofs is how many bytes the file of proofs has at most; a full one begins anew.
	maxProofs = 1 << 20
)

// NewProofs keeps proofs in a folder, which need not be there yet; the one that it lies in
// must be. failed is told once why they cannot be kept.
func NewProofs(dir string, failed func(error)) *Proofs {
	return &Proofs{cache: NewCache(dir), log: failed}
}

// Proven reports whether a sum was proven, by this program.
func (p *Proofs) Proven(sum [sha256.Size]byte) bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read()
	return p.sums[sum]
}

// read takes the sums from the file. p.mu is held.
func (p *Proofs) read() {
	if p.sums != nil {
		return
	}
	p.sums = map[[sha256.Size]byte]bool{}
	folder, err := p.cache.open(false)
	if err != nil {
		return // it is not there yet, or not the user's own: Prove says so
	}
	defer folder.Close()
	data, err := readProofs(folder.Root)
	if err != nil || len(data) < sha256.Size || [sha256.Size]byte(data) != p.mark() {
		return
	}
	for data = data[sha256.Size:]; len(data) >= sha256.Size; data = data[sha256.Size:] {
		p.sums[[sha256.Size]byte(data)] = true
	}
}

// mark begins a file of this program.
func (p *Proofs) mark() [sha256.Size]byte { return p.cache.mark([sha256.Size]byte{}) }

func readProofs(folder *os.Root) ([]byte, error) {
	f, _, err := openOwn(folder, proofFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxProofs))
}

// Prove notes that a sum is proven.
func (p *Proofs) Prove(sum [sha256.Size]byte) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read()
	if p.sums[sum] || p.lost {
		return
	}
	p.sums[sum] = true
	if err := p.write(sum); err != nil {
		p.lost = true
		p.log(err)
	}
}

// write adds a sum to the file. p.mu is held.
func (p *Proofs) write(sum [sha256.Size]byte) error {
	folder, err := p.cache.open(true)
	if err != nil {
		return err
	}
	defer folder.Close()
	mark := p.mark()
	data, err := readProofs(folder.Root)
	ours := err == nil && len(data) >= sha256.Size && len(data)%sha256.Size == 0 && [sha256.Size]byte(data) == mark
	if !ours || len(data)+sha256.Size > maxProofs {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			_ = folder.Remove(proofFile) // the next step says what is wrong
		}
		return writeEntry(folder.Root, proofFile, mark[:], sum[:])
	}
	f, err := folder.OpenFile(proofFile, os.O_WRONLY|os.O_APPEND|noFollow, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(sum[:])
	return errors.Join(err, f.Close())
}
