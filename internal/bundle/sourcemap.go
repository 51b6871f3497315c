package bundle

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/go-sourcemap/sourcemap"
)

// SourceMap tells where in the author's files a place of a script comes from. A large one
// is kept compressed, since it is needed only when something is thrown; Open unpacks it.
type SourceMap struct {
	text   []byte // nil where it is packed
	packed []byte
}

// packFrom is how long a map must be, in bytes, to be compressed: a compressor takes more
// than a megabyte to begin with, which a small map does not give back.
const packFrom = 8 << 10

func newSourceMap(text []byte, prefixes map[string]prefix) (*SourceMap, error) {
	text, err := rewrite(text, prefixes)
	if err != nil {
		return nil, fmt.Errorf("reading a source map: %w", err)
	}
	if len(text) < packFrom {
		return &SourceMap{text: text}, nil
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
	return &SourceMap{packed: bytes.Clone(b.Bytes())}, nil
}

// rewrite makes the map one of the author's files as he knows them.
func rewrite(text []byte, prefixes map[string]prefix) ([]byte, error) {
	var doc struct {
		Version  int      `json:"version"`
		Sources  []string `json:"sources"`
		Mappings string   `json:"mappings"`
		Names    []string `json:"names"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	for i, name := range doc.Sources {
		doc.Sources[i] = sourceName(name)
	}
	var err error
	if doc.Mappings, err = rewriteMappings(doc.Mappings, doc.Sources, prefixes); err != nil {
		return nil, err
	}
	doc.Names = []string{} // the mappings name none
	return json.Marshal(doc)
}

// Attach makes an engine show places in the author's files by itself. file is the engine's
// view of the script. The unpacked map stays in memory with it.
func (m *SourceMap) Attach(file interface{ SetSourceMap(*sourcemap.Consumer) }) error {
	p, err := m.Open()
	if err != nil {
		return err
	}
	file.SetSourceMap(p.consumer)
	return nil
}

// Positions looks places up.
type Positions struct{ consumer *sourcemap.Consumer }

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
	return &Positions{consumer: c}, nil
}

// Find gives the author's file, line and column of a place in the script; all count
// from 1. ok is false for a place that is not the author's.
func (p *Positions) Find(line, column int) (file string, l, c int, ok bool) {
	file, _, l, c, ok = p.consumer.Source(line, column)
	if !ok || strings.HasPrefix(file, entrySpace+":") || strings.HasPrefix(file, builtinSpace+":") {
		return "", 0, 0, false
	}
	return file, l, c, true
}
