package node

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"regexp"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/toolhost/toolhost/internal/text"
)

// loadText makes the module @toolhost/text. Its arguments are checked in text.js.
func loadText(e *engine) goja.Value {
	return textLibrary.load(e, e.object(map[string]any{
		"wordCount": func(c goja.FunctionCall) goja.Value { return e.vm.ToValue(text.CountWords(e.longText(c.Argument(0)))) },
		"wordFrequency": func(c goja.FunctionCall) goja.Value { // (text, caseSensitive, minLength, limit)
			words := text.WordFrequency(e.longText(c.Argument(0)), text.FrequencyOptions{
				CaseSensitive: c.Argument(1).ToBoolean(), MinLength: int(c.Argument(2).ToInteger()), Limit: int(c.Argument(3).ToInteger()),
			})
			list := make([]any, len(words))
			for i, w := range words {
				o := e.vm.NewObject()
				_ = o.Set("word", w.Word) // a plain object
				_ = o.Set("count", w.Count)
				list[i] = o
			}
			return e.vm.NewArray(list...)
		},
		"lines": func(c goja.FunctionCall) goja.Value {
			s := e.longText(c.Argument(0))
			n := strings.Count(s, "\n") + strings.Count(s, "\r") + 1
			e.checkList(n)
			part := e.parts(c.Argument(0), s)
			list := make([]any, 0, n)
			for start, line := range text.LinesAt(s) {
				list = append(list, part(start, line))
			}
			return e.vm.NewArray(list...)
		},
		"search": e.searchText,
		"diff": func(c goja.FunctionCall) goja.Value { // (text, text, name, name)
			name := func(v goja.Value) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(v.String()) }
			return e.vm.ToValue(text.Diff(e.longText(c.Argument(0)), e.longText(c.Argument(1)), name(c.Argument(2)), name(c.Argument(3))))
		},
		"hash":         e.hashText,
		"parseCSV":     e.parseCSV,
		"stringifyCSV": e.stringifyCSV,
		"glob": func(c goja.FunctionCall) goja.Value { // (pattern, paths) → whether each matches
			pattern := c.Argument(0).String()
			if err := text.CheckGlob(pattern); err != nil {
				panic(e.newError("TypeError", "ERR_INVALID_ARG_VALUE", "%s", err))
			}
			var found []any
			e.vm.ForOf(c.Argument(1), func(path goja.Value) bool {
				found = append(found, text.Glob(pattern, path.String()))
				return !e.ended.Load()
			})
			return e.vm.NewArray(found...)
		},
	}))
}

// longText gives a string, or the text that bytes are.
func (e *engine) longText(v goja.Value) string {
	if b, ok := e.bytes(v); ok {
		return string(b)
	}
	return v.String()
}

// parts gives what makes values of parts of a text, which is v: the place of a part and the part
// itself. The engine's own parts of a text in ASCII are a third as large as strings of Go's.
func (e *engine) parts(v goja.Value, s string) func(start int, part string) goja.Value {
	if own, ok := v.(goja.String); ok && own.Length() == len(s) { // no character has more than a byte
		return func(start int, part string) goja.Value { return own.Substring(start, start+len(part)) }
	}
	return func(_ int, part string) goja.Value { return e.vm.ToValue(part) }
}

func (e *engine) checkList(n int) {
	if n > maxListLength {
		panic(e.makeError("RangeError", fmt.Sprintf("Invalid array length: %d is more than this host's limit of %d", n, maxListLength)))
	}
}

// searchText is (text, pattern, flags, limit); without flags the pattern is a plain text.
func (e *engine) searchText(c goja.FunctionCall) goja.Value {
	s, pattern := e.longText(c.Argument(0)), c.Argument(1).String()
	options := text.SearchOptions{Limit: int(c.Argument(3).ToInteger()), Stop: e.ended.Load}
	var matches []text.Match
	if goja.IsUndefined(c.Argument(2)) {
		matches = text.Search(s, pattern, options)
	} else {
		matches = text.SearchRegexp(s, e.linearRegexp(pattern, c.Argument(2).String()), options)
	}
	list := make([]any, len(matches))
	for i, m := range matches {
		o := e.vm.NewObject()
		_ = o.Set("line", m.Line) // a plain object
		_ = o.Set("column", m.Column)
		_ = o.Set("match", m.Match)
		_ = o.Set("text", m.Text)
		list[i] = o
	}
	return e.vm.NewArray(list...)
}

// linearRegexp compiles an expression of JavaScript for the engine whose time is in
// proportion to the text.
func (e *engine) linearRegexp(pattern, flags string) *regexp.Regexp {
	var re *regexp.Regexp
	source, err := parser.TransformRegExp(pattern, strings.Contains(flags, "s"), strings.Contains(flags, "u"))
	if err == nil {
		var modes string
		for _, mode := range "ims" {
			if strings.ContainsRune(flags, mode) {
				modes += string(mode)
			}
		}
		if modes != "" {
			source = "(?" + modes + ":" + source + ")"
		}
		re, err = regexp.Compile(source)
	}
	if err == nil {
		return re
	}
	var incompatible parser.RegexpErrorIncompatible
	if errors.As(err, &incompatible) {
		panic(e.newError("TypeError", "ERR_INVALID_ARG_VALUE", "search cannot use the expression /%s/%s: look-around and back references would take it more than one pass; use matchAll", pattern, flags))
	}
	panic(e.newError("TypeError", "ERR_INVALID_ARG_VALUE", "search cannot use the expression /%s/%s: %s", pattern, flags, err))
}

// hashText is (text, algorithm, encoding).
func (e *engine) hashText(c goja.FunctionCall) goja.Value {
	var h hash.Hash
	switch name := c.Argument(1).String(); name {
	case "md5":
		h = md5.New()
	case "sha1":
		h = sha1.New()
	case "sha256":
		h = sha256.New()
	case "sha384":
		h = sha512.New384()
	case "sha512":
		h = sha512.New()
	default:
		panic(e.newError("TypeError", "ERR_INVALID_ARG_VALUE", "hash knows sha256, sha384, sha512, sha1 and md5, not %q", name))
	}
	if b, ok := e.bytes(c.Argument(0)); ok {
		h.Write(b)
	} else {
		part := make([]byte, 32<<10) // not all copied at once
		for s := c.Argument(0).String(); s != ""; {
			n := copy(part, s)
			h.Write(part[:n])
			s = s[n:]
		}
	}
	sum := h.Sum(nil)
	switch c.Argument(2).String() {
	case "base64":
		return e.vm.ToValue(base64.StdEncoding.EncodeToString(sum))
	case "base64url":
		return e.vm.ToValue(base64.RawURLEncoding.EncodeToString(sum))
	}
	return e.vm.ToValue(hex.EncodeToString(sum))
}

// parseCSV is (text, delimiter, header, limit) → arrays, or objects where the first row names the fields.
func (e *engine) parseCSV(c goja.FunctionCall) goja.Value {
	header, limit := c.Argument(2).ToBoolean(), int(c.Argument(3).ToInteger())
	s := strings.TrimPrefix(e.longText(c.Argument(0)), "\ufeff")
	var names []string
	var rows []any
	err := text.ParseCSV(s, byte(c.Argument(1).ToInteger()), func(fields []string) bool {
		switch {
		case header && names == nil:
			names = append([]string{}, fields...)
			return true
		case header:
			o := e.vm.NewObject()
			for i, name := range names {
				value := ""
				if i < len(fields) {
					value = fields[i]
				}
				e.member(o, name, value)
			}
			rows = append(rows, o)
		default:
			row := make([]any, len(fields))
			for i, f := range fields {
				row[i] = e.vm.ToValue(f)
			}
			rows = append(rows, e.vm.NewArray(row...))
		}
		e.checkList(len(rows))
		return (limit == 0 || len(rows) < limit) && !(len(rows)%1000 == 0 && e.ended.Load())
	})
	var wrong *text.CSVError
	if errors.As(err, &wrong) {
		o := e.newError("Error", "ERR_INVALID_CSV", "%s", wrong)
		_ = o.Set("line", wrong.Line) // a fresh error
		panic(o)
	}
	return e.vm.NewArray(rows...)
}

// member sets an own member, whatever its name: __proto__ is one as well.
func (e *engine) member(o *goja.Object, name, value string) {
	_ = o.DefineDataProperty(name, e.vm.ToValue(value), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// maxColumns is how many fields a row may have that is written as CSV.
const maxColumns = 1 << 20

// stringifyCSV is (rows, delimiter, line end, cell), where cell makes a text of an object;
// undefined where some row is no array.
func (e *engine) stringifyCSV(c goja.FunctionCall) goja.Value {
	delimiter, end := byte(c.Argument(1).ToInteger()), c.Argument(2).String()
	cell, _ := goja.AssertFunction(c.Argument(3))
	field := func(v goja.Value) string {
		switch v.(type) {
		case nil:
			return ""
		case *goja.Object, *goja.Symbol:
			return e.apply(cell, v).String()
		}
		if goja.IsUndefined(v) || goja.IsNull(v) {
			return ""
		}
		return v.String()
	}
	list := c.Argument(0).ToObject(e.vm)
	rows := make([]*goja.Object, 0, min(list.Get("length").ToInteger(), maxListLength))
	for i := range list.Get("length").ToInteger() {
		row, ok := list.Get(strconv.FormatInt(i, 10)).(*goja.Object)
		if !ok || row.ClassName() != "Array" {
			return goja.Undefined()
		}
		rows = append(rows, row)
		if i%1000 == 0 && e.ended.Load() {
			break
		}
	}
	var b strings.Builder
	var fields []string
	for i, row := range rows {
		columns := row.Get("length").ToInteger()
		if columns > maxColumns {
			panic(e.makeError("RangeError", fmt.Sprintf("row %d of csv.stringify has %d fields; this host's limit is %d", i, columns, maxColumns)))
		}
		fields = fields[:0]
		for j := range columns {
			fields = append(fields, field(row.Get(strconv.FormatInt(j, 10))))
		}
		text.AppendCSV(&b, fields, delimiter)
		b.WriteString(end)
		if b.Len() > maxStringLength {
			panic(e.makeError("RangeError", fmt.Sprintf("Invalid string length: the rows give more than this host's limit of %d", maxStringLength)))
		}
		if i == sampledRows {
			b.Grow(min(b.Len()/sampledRows*(len(rows)-i), maxStringLength)) // the rest is mostly like the beginning
		}
		if e.ended.Load() {
			break
		}
	}
	return e.vm.ToValue(b.String())
}

// sampledRows is after how many rows it is guessed how long all of them will be.
const sampledRows = 256
