// Package jsondoc reads one JSON document and remembers where everything in it
// stands, so that a mistake can be shown with its line and column.
//
//	d, err := jsondoc.Parse(text) // the error is a *jsondoc.SyntaxError with its place
//	at := d.Position("/tools/0/id")
//	fmt.Printf("%d:%d: no such tool", at.Line, at.Column)
//
// A [Document] holds the value, the places by JSON pointer, and the text, of which an
// [Edit] changes one place and leaves the rest as it stands.
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
	// Duplicates holds the pointers of members whose name their object has twice,
	// the first hundred of them.
	Duplicates []string

	src  []byte
	root *entry
}

// entry is where one value stands. Entries form a tree, since a map from
// pointers would cost the length of a long name once for each value below it.
type entry struct {
	key, start, end int      // offsets of the member's name (-1 for no member), of the value and behind it
	name            string   // of the member
	items           []*entry // of a list, or all members of an object
	// byName has the members of an object that has many, or has one twice: of these the last
	// one counts. nil for other objects, which are most.
	byName map[string]*entry
}

// fewMembers is up to how many members of an object are looked through for a name.
const fewMembers = 16

// note takes a member down. twice says that there is one of its name.
func (e *entry) note(member *entry, twice bool) {
	e.items = append(e.items, member)
	if e.byName == nil && (twice || len(e.items) > fewMembers) {
		e.byName = make(map[string]*entry, len(e.items))
		for _, m := range e.items {
			e.byName[m.name] = m
		}
	}
	if e.byName != nil {
		e.byName[member.name] = member
	}
}

// member gives the member of a name; nil where there is none.
func (e *entry) member(name string) *entry {
	if e.byName != nil {
		return e.byName[name]
	}
	for _, m := range e.items {
		if m.key >= 0 && m.name == name {
			return m
		}
	}
	return nil
}

// maxDuplicates is how many duplicate members are remembered.
const maxDuplicates = 100

// Parse reads src. The error is a *SyntaxError.
func Parse(src []byte) (*Document, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	d := &Document{src: src, root: &entry{key: -1}}
	if i := invalidUTF8(src); i >= 0 {
		return nil, d.syntaxError(i, fmt.Sprintf("the file is not UTF-8 (byte 0x%02x)", src[i]))
	}
	if len(bytes.TrimSpace(src)) == 0 {
		return nil, d.syntaxError(0, "the file is empty; it must hold a JSON value")
	}
	if json.Valid(src) && d.readQuick() {
		return d, nil
	}
	if err := d.read(); err != nil {
		return nil, err
	}
	return d, nil
}

// readQuick reads a text of which it is known that it is one JSON value and UTF-8; it gives
// false where that is nested too deeply.
func (d *Document) readQuick() bool {
	q := quick{doc: d, src: string(d.src)}
	v := q.value(d.root, 0)
	if q.deep {
		d.root, d.Duplicates = &entry{key: -1}, nil
		return false
	}
	d.Value = v
	return true
}

// read reads any text. The error is a *SyntaxError.
func (d *Document) read() error {
	p := parser{doc: d, dec: json.NewDecoder(bytes.NewReader(d.src))}
	p.dec.UseNumber()
	v, err := p.value(d.root, 0)
	if err != nil {
		return err
	}
	d.Value = v
	if rest := d.skip(int(p.dec.InputOffset()), ""); rest < len(d.src) {
		return d.syntaxError(rest, "there is text after the end of the JSON value")
	}
	return nil
}

type parser struct {
	doc  *Document
	dec  *json.Decoder
	path []string // tokens down to the value that is being read
}

// value reads the value that comes next and notes its place in e.
func (p *parser) value(e *entry, depth int) (any, error) {
	if depth > MaxDepth {
		return nil, p.doc.syntaxError(int(p.dec.InputOffset()), fmt.Sprintf("nested more than %d deep", MaxDepth))
	}
	e.start = p.doc.skip(int(p.dec.InputOffset()), ":,")
	defer func() { e.end = int(p.dec.InputOffset()) }()
	tok, err := p.token()
	if err != nil {
		return nil, err
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return tok, nil
	}
	if delim == '[' {
		return p.list(e, depth)
	}
	return p.object(e, depth)
}

func (p *parser) list(e *entry, depth int) (any, error) {
	list := []any{}
	for p.dec.More() {
		if err := p.comma(len(list) == 0, ']'); err != nil {
			return nil, err
		}
		item := &entry{key: -1}
		e.items = append(e.items, item)
		p.path = append(p.path, strconv.Itoa(len(list)))
		v, err := p.value(item, depth+1)
		if err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
		list = append(list, v)
	}
	_, err := p.token()
	return list, err
}

func (p *parser) object(e *entry, depth int) (any, error) {
	object := map[string]any{}
	for p.dec.More() {
		if err := p.comma(len(e.items) == 0, '}'); err != nil {
			return nil, err
		}
		at := p.doc.skip(int(p.dec.InputOffset()), ",")
		if at < len(p.doc.src) && p.doc.src[at] == '/' {
			return nil, p.doc.syntaxError(at, "JSON has no comments")
		}
		if at < len(p.doc.src) && p.doc.src[at] != '"' {
			return nil, p.doc.syntaxError(at, "a member name must be a string in double quotes")
		}
		tok, err := p.token()
		if err != nil {
			return nil, err
		}
		name, _ := tok.(string)
		p.path = append(p.path, name)
		_, twice := object[name]
		if twice {
			p.doc.duplicate(p.path)
		}
		member := &entry{key: at, name: name}
		e.note(member, twice)
		v, err := p.value(member, depth+1)
		if err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
		object[name] = v
	}
	_, err := p.token()
	return object, err
}

// duplicate takes down that there is a member twice, whose path is given by its tokens.
func (d *Document) duplicate(path []string) {
	if len(d.Duplicates) >= maxDuplicates {
		return
	}
	var pointer strings.Builder
	for _, token := range path {
		pointer.WriteString("/" + Escape(token))
	}
	d.Duplicates = append(d.Duplicates, pointer.String())
}

// comma looks at what stands before an item. The two commas that people get wrong are
// told here: the decoder would point behind them, at what it did not expect.
func (p *parser) comma(first bool, closing byte) error {
	at := p.doc.skip(int(p.dec.InputOffset()), "")
	switch {
	case first:
	case at < len(p.doc.src) && p.doc.src[at] != ',':
		return p.doc.syntaxError(at, "a comma is missing before this")
	default:
		if next := p.doc.skip(at+1, ""); next < len(p.doc.src) && p.doc.src[next] == closing {
			return p.doc.syntaxError(at, fmt.Sprintf("this comma is one too many: %q follows", closing))
		}
	}
	return nil
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
func (d *Document) Position(pointer string) Position {
	e, _ := d.find(pointer)
	return d.position(e.start)
}

// KeyPosition gives the place of the name of the member at a JSON pointer, or of
// the value where it is no member.
func (d *Document) KeyPosition(pointer string) Position {
	e, _ := d.find(pointer)
	if e.key >= 0 {
		return d.position(e.key)
	}
	return d.position(e.start)
}

// Keys gives the member names of the object at a JSON pointer in the order in
// which those that count stand in the text.
func (d *Document) Keys(pointer string) []string {
	e, found := d.find(pointer)
	if !found {
		return nil
	}
	var names []string
	for _, m := range e.items {
		if m.key >= 0 && e.member(m.name) == m {
			names = append(names, m.name)
		}
	}
	return names
}

// Text gives the text as it was parsed, without a byte order mark.
func (d *Document) Text() []byte { return d.src }

// TextOf gives the text of the value at a JSON pointer; nil where there is none.
func (d *Document) TextOf(pointer string) []byte {
	e, found := d.find(pointer)
	if !found {
		return nil
	}
	return d.src[e.start:e.end]
}

// find gives the entry at a pointer, or the nearest one around it and false.
func (d *Document) find(pointer string) (*entry, bool) {
	e := d.root
	for pointer != "" {
		token, rest, more := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		pointer = ""
		if more {
			pointer = "/" + rest
		}
		next := e.member(Unescape(token))
		if i, err := strconv.Atoi(token); next == nil && err == nil && i >= 0 && i < len(e.items) && e.items[i].key < 0 {
			next = e.items[i]
		}
		if next == nil {
			return e, false
		}
		e = next
	}
	return e, true
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
