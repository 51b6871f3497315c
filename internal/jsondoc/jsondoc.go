// Package jsondoc reads one JSON document and remembers where everything in it
// stands, so that a mistake can be shown with its line and column.
//
// It is stricter than encoding/json: bytes that are no UTF-8, anything after
// the value, and nesting beyond a limit are errors. One leading byte order mark
// is passed over. Duplicate member names are reported, the last one counts.
package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how deep a document may be nested.
const MaxDepth = 512

// Position is a place in the text: both count from 1, columns in characters.
type Position struct{ Line, Column int }

// SyntaxError says that the text is no JSON document, and where it stops being one.
type SyntaxError struct {
	Position
	Msg string
}

func (e *SyntaxError) Error() string { return e.Msg }

// Document is a parsed document. It is not changed after Parse and may be read
// by several goroutines.
type Document struct {
	// Value is the document: map[string]any, []any, json.Number, string, bool or nil.
	Value any
	// Duplicates holds the pointers of members whose name their object has twice.
	Duplicates []string

	src    []byte
	places map[string]place
	keys   map[string][]string
}

type place struct{ key, value int }

// Parse reads src. The error is a *SyntaxError.
func Parse(src []byte) (*Document, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	d := &Document{src: src, places: map[string]place{}, keys: map[string][]string{}}
	if i := invalidUTF8(src); i >= 0 {
		return nil, d.syntaxError(i, fmt.Sprintf("the file is not UTF-8 (byte 0x%02x)", src[i]))
	}
	if len(bytes.TrimSpace(src)) == 0 {
		return nil, d.syntaxError(0, "the file is empty; it must hold a JSON value")
	}
	p := parser{doc: d, dec: json.NewDecoder(bytes.NewReader(src))}
	p.dec.UseNumber()
	v, err := p.value("", 0)
	if err != nil {
		return nil, err
	}
	d.Value = v
	if rest := d.skip(int(p.dec.InputOffset()), ""); rest < len(src) {
		return nil, d.syntaxError(rest, "there is text after the end of the JSON value")
	}
	return d, nil
}

type parser struct {
	doc *Document
	dec *json.Decoder
}

// value reads the value that comes next; its place goes under pointer.
func (p *parser) value(pointer string, depth int) (any, error) {
	if depth > MaxDepth {
		return nil, p.doc.syntaxError(int(p.dec.InputOffset()), fmt.Sprintf("nested more than %d deep", MaxDepth))
	}
	pl := p.doc.places[pointer]
	pl.value = p.doc.skip(int(p.dec.InputOffset()), ":,")
	p.doc.places[pointer] = pl
	tok, err := p.token()
	if err != nil {
		return nil, err
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return tok, nil
	}
	if delim == '[' {
		list := []any{}
		for p.dec.More() {
			v, err := p.value(pointer+"/"+strconv.Itoa(len(list)), depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := p.token()
		return list, err
	}
	object := map[string]any{}
	for p.dec.More() {
		at := p.doc.skip(int(p.dec.InputOffset()), ",")
		tok, err := p.token()
		if err != nil {
			return nil, err
		}
		name, ok := tok.(string)
		if !ok {
			return nil, p.doc.syntaxError(at, "a member name must be a string in double quotes")
		}
		member := pointer + "/" + Escape(name)
		if _, twice := object[name]; twice {
			p.doc.Duplicates = append(p.doc.Duplicates, member)
		} else {
			p.doc.keys[pointer] = append(p.doc.keys[pointer], name)
		}
		p.doc.places[member] = place{key: at}
		v, err := p.value(member, depth+1)
		if err != nil {
			return nil, err
		}
		object[name] = v
	}
	_, err = p.token()
	return object, err
}

func (p *parser) token() (json.Token, error) {
	tok, err := p.dec.Token()
	if err == nil {
		return tok, nil
	}
	at := p.doc.skip(int(p.dec.InputOffset()), "")
	msg := err.Error()
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		at, msg = len(p.doc.src), "the text ends in the middle of a value"
	case errors.As(err, &syntax):
		msg = syntax.Error()
		if strings.HasPrefix(msg, "unexpected end") {
			at, msg = len(p.doc.src), "the text ends in the middle of a value"
		}
	}
	return nil, p.doc.syntaxError(at, msg)
}

// skip gives the offset of the first byte from offset on that is neither white
// space nor one of also.
func (d *Document) skip(offset int, also string) int {
	for offset < len(d.src) && (strings.IndexByte(" \t\r\n", d.src[offset]) >= 0 || strings.IndexByte(also, d.src[offset]) >= 0) {
		offset++
	}
	return offset
}

func (d *Document) syntaxError(offset int, msg string) error {
	return &SyntaxError{Position: d.position(offset), Msg: msg}
}

func (d *Document) position(offset int) Position {
	before := d.src[:min(offset, len(d.src))]
	line := bytes.Count(before, []byte("\n")) + 1
	start := bytes.LastIndexByte(before, '\n') + 1
	return Position{Line: line, Column: utf8.RuneCount(before[start:]) + 1}
}

// Position gives the place of the value at a JSON pointer ("" is the whole
// document). Where there is no such value it gives the nearest one around it.
func (d *Document) Position(pointer string) Position { return d.position(d.find(pointer).value) }

// KeyPosition gives the place of the name of the member at a JSON pointer, or of
// the value where it is no member.
func (d *Document) KeyPosition(pointer string) Position {
	p := d.find(pointer)
	if p.key > 0 {
		return d.position(p.key)
	}
	return d.position(p.value)
}

func (d *Document) find(pointer string) place {
	for {
		if p, ok := d.places[pointer]; ok || pointer == "" {
			return p
		}
		pointer = pointer[:max(strings.LastIndexByte(pointer, '/'), 0)]
	}
}

// Keys gives the member names of the object at a JSON pointer in the order in
// which they stand in the text, each once.
func (d *Document) Keys(pointer string) []string { return d.keys[pointer] }

// Escape writes a member name as one token of a JSON pointer (RFC 6901).
func Escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// Unescape is the reverse of Escape.
func Unescape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return -1
}
