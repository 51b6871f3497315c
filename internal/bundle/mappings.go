package bundle

import (
	"errors"
	"strings"
)

// rewriteMappings changes the mappings of a source map as the engine needs them: it counts
// columns from 1, and what was put before a line of a file is taken back. sources are the
// names of the author's files, by their index.
func rewriteMappings(mappings string, sources []string, prefixes map[string]prefix) (string, error) {
	var out strings.Builder
	out.Grow(len(mappings) + len(mappings)/16)
	var source, line, column int // as esbuild counts them, along the whole map
	var was [3]int               // the same as written
	for i, row := range strings.Split(mappings, ";") {
		if i > 0 {
			out.WriteByte(';')
		}
		generated, written := 0, 0
		if row == "" {
			continue
		}
		for j, segment := range strings.Split(row, ",") {
			if j > 0 {
				out.WriteByte(',')
			}
			var fields [5]int
			n := 0
			for rest := segment; rest != ""; n++ {
				if n == len(fields) {
					return "", errMappings
				}
				var err error
				if fields[n], rest, err = readVLQ(rest); err != nil {
					return "", err
				}
			}
			generated += fields[0]
			writeVLQ(&out, generated+1-written)
			written = generated + 1
			if n < 4 {
				continue
			}
			source, line, column = source+fields[1], line+fields[2], column+fields[3]
			if source < 0 || source >= len(sources) {
				return "", errMappings
			}
			at := column + 1
			if p, ok := prefixes[sources[source]]; ok && p.line == line+1 {
				at = max(1, at-p.length)
			}
			for k, now := range []int{source, line, at} { // names are left out
				writeVLQ(&out, now-was[k])
				was[k] = now
			}
		}
	}
	return out.String(), nil
}

var errMappings = errors.New("the mappings are malformed")

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// readVLQ reads one number of a source map.
func readVLQ(text string) (n int, rest string, err error) {
	for i, shift := 0, 0; i < len(text) && shift < 32; i, shift = i+1, shift+5 {
		digit := strings.IndexByte(base64Digits, text[i])
		if digit < 0 {
			return 0, "", errMappings
		}
		n |= digit & 31 << shift
		if digit&32 == 0 {
			if n&1 == 1 {
				return -(n >> 1), text[i+1:], nil
			}
			return n >> 1, text[i+1:], nil
		}
	}
	return 0, "", errMappings
}

func writeVLQ(b *strings.Builder, n int) {
	n <<= 1
	if n < 0 {
		n = -n | 1
	}
	for {
		digit := n & 31
		if n >>= 5; n > 0 {
			digit |= 32
		}
		b.WriteByte(base64Digits[digit])
		if n == 0 {
			return
		}
	}
}
