package node

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// maxJSONDepth is how deep JSON text, and a value that becomes JSON, may be nested. The
// engine's own functions descend once for each level, in time that grows with its square.
const maxJSONDepth = 1_000

// jsonGuard is a replacer for JSON.stringify that lets every value through, and throws
// where they are nested too deep or become too much text.
type jsonGuard struct {
	engine  *engine
	limit   int             // of the text, in bytes; 0 for none
	replace goja.Callable   // the script's own replacer; nil where it has none
	only    map[string]bool // the members that the script's list of names lets through; nil for all
	open    []*goja.Object  // from the root to the object whose members come
	size    int
}

func (g *jsonGuard) visit(call goja.FunctionCall) goja.Value {
	holder, _ := call.This.(*goja.Object)
	key, v := call.Argument(0), call.Argument(1)
	for len(g.open) > 0 && g.open[len(g.open)-1] != holder {
		g.open = g.open[:len(g.open)-1]
	}
	if g.replace != nil {
		out, err := g.replace(call.This, key, v)
		if err != nil {
			panic(err)
		}
		v = out
	}
	if g.only != nil && len(g.open) > 0 && holder.ClassName() != "Array" && !g.only[key.String()] {
		return goja.Undefined()
	}
	// What is added is never more than what comes of it: a result that fits must pass.
	inArray := holder != nil && holder.ClassName() == "Array"
	if inArray {
		g.size++ // the comma
	} else if k, ok := key.(goja.String); ok && inJSON(v) {
		g.size += k.Length() + len(`"":,`)
	}
	switch x := v.(type) {
	case goja.String:
		g.size += x.Length() + len(`""`)
	case *goja.Object:
		if len(g.open) > maxJSONDepth {
			panic(g.engine.makeError("RangeError", fmt.Sprintf("the value is nested more than %d levels deep, which is as deep as JSON may be here", maxJSONDepth)))
		}
		g.open = append(g.open, x)
		if inJSON(v) {
			g.size += len("{}")
		}
	default:
		if inJSON(v) {
			g.size++
		}
	}
	if g.limit > 0 && g.size > 2*g.limit {
		panic(g.engine.makeError("RangeError", tooLarge(g.size, g.limit).Error()))
	}
	return v
}

// inJSON reports whether JSON.stringify has something to write for a value: members
// without are left out.
func inJSON(v goja.Value) bool {
	switch v := v.(type) {
	case *goja.Symbol:
		return false
	case *goja.Object:
		_, function := goja.AssertFunction(v)
		return !function
	}
	return v != nil && !goja.IsUndefined(v)
}

// stringify is JSON.stringify as it was before any script ran, within limits; undefined
// for what JSON leaves out. It panics with what a script throws.
func (e *engine) stringify(v goja.Value, limit int) goja.Value {
	g := &jsonGuard{engine: e, limit: limit}
	return e.mustCall(e.pristine.stringify, v, e.vm.ToValue(g.visit))
}

// guardedStringify is what scripts have as JSON.stringify.
func (e *engine) guardedStringify(call goja.FunctionCall) goja.Value {
	v, replacer, space := call.Argument(0), call.Argument(1), call.Argument(2)
	if _, ok := v.(*goja.Object); !ok {
		return e.mustCall(e.pristine.stringify, v, replacer, space)
	}
	g := &jsonGuard{engine: e}
	if f, ok := goja.AssertFunction(replacer); ok {
		g.replace = f
	} else if list, ok := replacer.(*goja.Object); ok && list.ClassName() == "Array" {
		// The engine takes a list or a function, not both: look first, then write.
		g.only = map[string]bool{}
		e.vm.ForOf(list, func(name goja.Value) bool {
			g.only[name.String()] = true
			return true
		})
		e.mustCall(e.pristine.stringify, v, e.vm.ToValue(g.visit))
		return e.mustCall(e.pristine.stringify, v, replacer, space)
	}
	return e.mustCall(e.pristine.stringify, v, e.vm.ToValue(g.visit), space)
}

// mustCall calls a function from Go code that a script called; what it throws is thrown on.
func (e *engine) mustCall(f goja.Callable, args ...goja.Value) goja.Value {
	v, err := f(goja.Undefined(), args...)
	if err != nil {
		panic(err)
	}
	return v
}

// guardedParse is what scripts have as JSON.parse.
func (e *engine) guardedParse(call goja.FunctionCall) goja.Value {
	text := call.Argument(0).ToString()
	v, err := e.parseJSON([]byte(text.String()))
	if err != nil {
		panic(e.makeError("SyntaxError", err.Error()))
	}
	if _, ok := goja.AssertFunction(call.Argument(1)); ok {
		// The engine's own parser walks the value for the reviver; that the text is not too deep is known by now.
		return e.mustCall(e.pristine.parse, text, call.Argument(1))
	}
	return v
}

// parseJSON makes the value of JSON text: objects, arrays and strings as a script would
// have made them. A member named __proto__ is a member like any other.
func (e *engine) parseJSON(text []byte) (goja.Value, error) {
	p := &jsonReader{vm: e.vm, text: text}
	p.space()
	v := p.value(0)
	p.space()
	if p.err == nil && p.at < len(p.text) {
		p.unexpected()
	}
	if p.err != nil {
		return nil, p.err
	}
	return v, nil
}

type jsonReader struct {
	vm   *goja.Runtime
	text []byte
	at   int
	err  error
}

func (p *jsonReader) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// unexpected words the error as Node does.
func (p *jsonReader) unexpected() goja.Value {
	if p.err != nil {
		return nil
	}
	if p.at >= len(p.text) {
		//lint:ignore ST1005 scripts see it, in Node's words
		p.err = errors.New("Unexpected end of JSON input")
		return nil
	}
	r, _ := utf8.DecodeRune(p.text[p.at:])
	const around = 10
	begin, end := max(0, p.at-around), min(len(p.text), p.at+around)
	lead, trail := "", ""
	if begin > 0 {
		lead = "..."
	}
	if end < len(p.text) {
		trail = "..."
	}
	if len(p.text) <= 40 {
		begin, end, lead, trail = 0, len(p.text), "", ""
	}
	//lint:ignore ST1005 scripts see it, in Node's words
	p.err = fmt.Errorf("Unexpected token '%c', %s\"%s\"%s is not valid JSON", r, lead, p.text[begin:end], trail)
	return nil
}

func (p *jsonReader) value(depth int) goja.Value {
	if p.err != nil || p.at >= len(p.text) {
		return p.unexpected()
	}
	if depth > maxJSONDepth {
		p.err = fmt.Errorf("the text is nested more than %d levels deep, which is as deep as JSON may be here", maxJSONDepth)
		return nil
	}
	switch c := p.text[p.at]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		return p.string()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case p.word("true"):
		return p.vm.ToValue(true)
	case p.word("false"):
		return p.vm.ToValue(false)
	case p.word("null"):
		return goja.Null()
	}
	return p.unexpected()
}

func (p *jsonReader) word(w string) bool {
	for i := range len(w) {
		if p.at+i >= len(p.text) || p.text[p.at+i] != w[i] {
			return false
		}
	}
	p.at += len(w)
	return true
}

// next passes over space and one byte, which must be one of two; it gives which.
func (p *jsonReader) next(more, end byte) (again bool) {
	p.space()
	if p.err != nil || p.at >= len(p.text) || p.text[p.at] != more && p.text[p.at] != end {
		p.unexpected()
		return false
	}
	p.at++
	return p.text[p.at-1] == more
}

func (p *jsonReader) array(depth int) goja.Value {
	p.at++
	p.space()
	var items []any
	if p.at < len(p.text) && p.text[p.at] == ']' {
		p.at++
		return p.vm.NewArray()
	}
	for {
		p.space()
		items = append(items, p.value(depth+1))
		if p.err != nil || !p.next(',', ']') {
			break
		}
	}
	if p.err != nil {
		return nil
	}
	return p.vm.NewArray(items...)
}

func (p *jsonReader) object(depth int) goja.Value {
	p.at++
	o := p.vm.NewObject()
	p.space()
	if p.at < len(p.text) && p.text[p.at] == '}' {
		p.at++
		return o
	}
	for {
		p.space()
		if p.at >= len(p.text) || p.text[p.at] != '"' {
			return p.unexpected()
		}
		key := p.string()
		if p.err != nil {
			return nil
		}
		p.next(':', ':')
		if p.err != nil {
			return nil
		}
		p.space()
		v := p.value(depth + 1)
		if p.err != nil {
			return nil
		}
		if err := o.DefineDataProperty(key.String(), v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
			p.err = err
			return nil
		}
		if !p.next(',', '}') {
			return o
		}
	}
}

func (p *jsonReader) number() goja.Value {
	start := p.at
	digits := func() int {
		n := p.at
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		return p.at - n
	}
	whole := true
	if p.text[p.at] == '-' {
		p.at++
	}
	if p.at < len(p.text) && p.text[p.at] == '0' {
		p.at++
	} else if digits() == 0 {
		return p.unexpected()
	}
	if p.at < len(p.text) && p.text[p.at] == '.' {
		whole = false
		p.at++
		if digits() == 0 {
			return p.unexpected()
		}
	}
	if p.at < len(p.text) && (p.text[p.at] == 'e' || p.text[p.at] == 'E') {
		whole = false
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
			p.at++
		}
		if digits() == 0 {
			return p.unexpected()
		}
	}
	text := string(p.text[start:p.at])
	if whole && len(text) < 16 && text != "-0" {
		n, _ := strconv.ParseInt(text, 10, 64) // at most 15 digits
		return p.vm.ToValue(n)
	}
	f, _ := strconv.ParseFloat(text, 64) // out of range is ±Infinity, as in JavaScript
	if f == 0 && text[0] == '-' {
		f = math.Copysign(0, -1)
	}
	return p.vm.ToValue(f)
}

func (p *jsonReader) string() goja.Value {
	p.at++
	start := p.at
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return p.vm.ToValue(string(p.text[start : p.at-1]))
		case c == '\\':
			return p.escaped(start)
		case c < 0x20:
			return p.unexpected()
		}
		p.at++
	}
	return p.unexpected()
}

// escaped reads a string with escapes, which may give halves of surrogate pairs.
func (p *jsonReader) escaped(start int) goja.Value {
	units := utf16.Encode([]rune(string(p.text[start:p.at])))
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '"':
			p.at++
			return goja.StringFromUTF16(units)
		case c < 0x20:
			return p.unexpected()
		case c != '\\':
			r, n := utf8.DecodeRune(p.text[p.at:])
			units = utf16.AppendRune(units, r)
			p.at += n
			continue
		}
		p.at++
		if p.at >= len(p.text) {
			break
		}
		switch c := p.text[p.at]; c {
		case '"', '\\', '/':
			units = append(units, uint16(c))
		case 'b':
			units = append(units, '\b')
		case 'f':
			units = append(units, '\f')
		case 'n':
			units = append(units, '\n')
		case 'r':
			units = append(units, '\r')
		case 't':
			units = append(units, '\t')
		case 'u':
			if p.at+5 > len(p.text) {
				p.at = len(p.text)
				return p.unexpected()
			}
			n, err := strconv.ParseUint(string(p.text[p.at+1:p.at+5]), 16, 16)
			if err != nil {
				return p.unexpected()
			}
			units = append(units, uint16(n))
			p.at += 4
		default:
			return p.unexpected()
		}
		p.at++
	}
	return p.unexpected()
}
