package runtimes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
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
	} else if _, err := io.CopyBuffer(h, io.LimitReader(file, MaxSummed), make([]byte, min(info.Size()+minBuffer, maxBuffer))); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// minBuffer and maxBuffer are how many bytes are summed at once: most files of plugins are small.
const minBuffer, maxBuffer = 512, 32 << 10

// AppendSums appends what files held by their sums, a line a file, in the order of their names.
func AppendSums(b []byte, sums map[string][sha256.Size]byte) []byte {
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		sum := sums[name]
		b = append(strconv.AppendQuote(b, name), ' ')
		b = append(hex.AppendEncode(b, sum[:]), '\n')
	}
	return b
}
