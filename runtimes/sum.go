package runtimes

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
)

// MaxSummed is how large a file of a plugin may be, in bytes, for its content to count. Of a
// larger one, data most likely, size and time do: somebody may wait for the sum, and a file
// with holes can say any size.
const MaxSummed = 64 << 20

// Sum gives the sum by which a file of a plugin is known again; see [Instance.Inputs].
func Sum(file fs.File) (sum [sha256.Size]byte, err error) {
	info, err := file.Stat()
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	if info.Size() > MaxSummed {
		fmt.Fprintf(h, "%d %d", info.Size(), info.ModTime().UnixNano())
	} else if _, err := io.Copy(h, io.LimitReader(file, MaxSummed)); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
