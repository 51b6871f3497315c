package bundle

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"

	"github.com/go-sourcemap/sourcemap"
)

// SourceMap tells where in the author's files a place of a script comes from. A large one
// is kept compressed, since it is needed only when something is thrown; Open unpacks it.
type SourceMap struct {
	text     []byte // nil where it is packed
	packed   []byte
	prefixes map[string]prefix
}

// packFrom is how long a map must be, in bytes, to be compressed: a compressor takes more
// than a megabyte to begin with, which a small map does not give back.
const packFrom = 8 << 10

func newSourceMap(text []byte, prefixes map[string]prefix) (*SourceMap, error) {
	if len(text) < packFrom {
		return &SourceMap{text: bytes.Clone(text), prefixes: prefixes}, nil
	}
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

// Attach makes an engine show places in the author's files by itself. file is the engine's
// view of the script. The unpacked map stays in memory with it.
func (m *SourceMap) Attach(file interface{ SetSourceMap(*sourcemap.Consumer) }) error {
	text, err := m.unpack()
	if err != nil {
		return err
	}
	var doc map[string]json.RawMessage
	var sources []string
	if err := json.Unmarshal(text, &doc); err != nil {
		return fmt.Errorf("reading a source map: %w", err)
	}
	if err := json.Unmarshal(doc["sources"], &sources); err != nil {
		return fmt.Errorf("reading a source map: %w", err)
	}
	for i, s := range sources {
		sources[i] = sourceName(s)
	}
	if doc["sources"], err = json.Marshal(sources); err != nil {
		return fmt.Errorf("writing a source map: %w", err)
	}
	if text, err = json.Marshal(doc); err != nil {
		return fmt.Errorf("writing a source map: %w", err)
	}
	c, err := sourcemap.Parse("", text)
	if err != nil {
		return fmt.Errorf("reading a source map: %w", err)
	}
	file.SetSourceMap(c)
	return nil
}

// Column gives the author's column for one of a script to which the map is attached: in
// the line of a file before which something was put, the engine counts that too.
func (m *SourceMap) Column(file string, line, column int) int {
	if x := m.prefixes[file]; x.line == line {
		return max(1, column-x.length)
	}
	return column
}

func (m *SourceMap) unpack() ([]byte, error) {
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(m.packed)))
	if err != nil {
		return nil, fmt.Errorf("unpacking a source map: %w", err)
	}
	return text, nil
}

// Positions looks places up.
type Positions struct {
	consumer *sourcemap.Consumer
	of       *SourceMap
}

// Open unpacks the map.
func (m *SourceMap) Open() (*Positions, error) {
	text := m.text
	if text == nil {
		var err error
		if text, err = io.ReadAll(flate.NewReader(bytes.NewReader(m.packed))); err != nil {
			return nil, fmt.Errorf("unpacking a source map: %w", err)
		}
	}
	c, err := sourcemap.Parse("", text)
	if err != nil {
		return nil, fmt.Errorf("reading a source map: %w", err)
	}
	return &Positions{consumer: c, of: m}, nil
}

// Find gives the author's file, line and column of a place in the script; all count
// from 1. ok is false for a place that is not the author's.
func (p *Positions) Find(line, column int) (file string, l, c int, ok bool) {
	source, _, l, c, ok := p.consumer.Source(line, column-1)
	if !ok || len(source) <= len(fileSpace) || source[:len(fileSpace)+1] != fileSpace+":" {
		return "", 0, 0, false
	}
	file = sourceName(source)
	return file, l, p.of.Column(file, l, c+1), true
}
