package bundle

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"

	"github.com/go-sourcemap/sourcemap"
)

// SourceMap tells where in the author's files a place of a script comes from. It is
// kept compressed, since it is needed only when something is thrown; Open unpacks it.
type SourceMap struct {
	packed   []byte
	prefixes map[string]prefix
}

func newSourceMap(text []byte, prefixes map[string]prefix) (*SourceMap, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return &SourceMap{packed: bytes.Clone(b.Bytes()), prefixes: prefixes}, nil
}

// Positions looks places up.
type Positions struct {
	consumer *sourcemap.Consumer
	prefixes map[string]prefix
}

// Open unpacks the map.
func (m *SourceMap) Open() (*Positions, error) {
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(m.packed)))
	if err != nil {
		return nil, fmt.Errorf("unpacking a source map: %w", err)
	}
	c, err := sourcemap.Parse("", text)
	if err != nil {
		return nil, fmt.Errorf("reading a source map: %w", err)
	}
	return &Positions{consumer: c, prefixes: m.prefixes}, nil
}

// Find gives the author's file, line and column of a place in the script; all count
// from 1. ok is false for a place that is not the author's.
func (p *Positions) Find(line, column int) (file string, l, c int, ok bool) {
	source, _, l, c, ok := p.consumer.Source(line, column-1)
	if !ok || len(source) <= len(fileSpace) || source[:len(fileSpace)+1] != fileSpace+":" {
		return "", 0, 0, false
	}
	file = sourceName(source)
	c++
	if x := p.prefixes[file]; x.line == l {
		c = max(1, c-x.length)
	}
	return file, l, c, true
}
