package node

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
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
	open    []jsonLevel     // from the root to the object whose members come
	size    int
}

// jsonLevel is an object that is being written, and the key under which it was found.
type jsonLevel struct {
	object *goja.Object
	key    goja.Value
}

// circle describes a cycle as Node does: the first object, the way, and the key that closes it.
func (g *jsonGuard) circle(way []jsonLevel, last goja.Value) string {
	member := func(holder *goja.Object, key goja.Value) string {
		if holder.ClassName() == "Array" {
			return "index " + cutString(key)
		}
		return "property '" + cutString(key) + "'"
	}
	object := func(o *goja.Object) string {
		if c, ok := o.Get("constructor").(*goja.Object); ok {
			if name, ok := c.Get("name").(goja.String); ok {
				return "object with constructor '" + cutString(name) + "'"
			}
		}
		return "object with constructor 'Object'"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Converting circular structure to JSON\n    --> starting at %s", object(way[0].object))
	for i, level := range way[1:] {
		if i > 1 && i < len(way)-2 {
			if i == 2 {
				b.WriteString("\n    |     ...")
			}
			continue
		}
		fmt.Fprintf(&b, "\n    |     %s -> %s", member(way[i].object, level.key), object(level.object))
	}
	fmt.Fprintf(&b, "\n    --- %s closes the circle", member(way[len(way)-1].object, last))
	return b.String()
}

func (g *jsonGuard) visit(call goja.FunctionCall) goja.Value {
	holder, _ := call.This.(*goja.Object)
	key, v := call.Argument(0), call.Argument(1)
	for len(g.open) > 0 && g.open[len(g.open)-1].object != holder {
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
		for i := range g.open {
			if g.open[i].object == x {
				panic(g.engine.makeError("TypeError", g.circle(g.open[i:], key)))
			}
		}
		g.open = append(g.open, jsonLevel{x, key})
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
	e.takeJSON()
	g := &jsonGuard{engine: e, limit: limit}
	return e.mustCall(e.pristine.stringify, v, e.vm.ToValue(g.visit))
}

// guardedStringify is what scripts have as JSON.stringify.
func (e *engine) guardedStringify(call goja.FunctionCall) goja.Value {
	e.takeJSON()
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
		e.takeJSON()
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
		p.fail("Unexpected non-whitespace character after")
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

// fail words the error as Node does; its position counts UTF-16 units.
func (p *jsonReader) fail(what string) goja.Value {
	if p.err == nil {
		if !strings.HasSuffix(what, " after") {
			what += " in"
		}
		p.err = fmt.Errorf("%s JSON at position %d", what, p.units(p.at))
	}
	return nil
}

// units gives how many UTF-16 units the text has up to a byte.
func (p *jsonReader) units(at int) int {
	return len(utf16.Encode([]rune(string(p.text[:at]))))
}

// unexpected is the error for a character that cannot stand where it does.
func (p *jsonReader) unexpected() goja.Value {
	if p.err != nil {
		return nil
	}
	if p.at >= len(p.text) {
		//lint:ignore ST1005 scripts see it, in Node's words
		p.err = errors.New("Unexpected end of JSON input")
		return nil
	}
	switch c := p.text[p.at]; {
	case c == '"':
		return p.fail("Unexpected string")
	case c == '-' || c >= '0' && c <= '9':
		return p.fail("Unexpected number")
	}
	switch text := string(p.text); text {
	case "undefined", "NaN", "Infinity", "[object Object]":
		p.err = fmt.Errorf("%q is not valid JSON", text)
		return nil
	}
	const around = 10
	units := utf16.Encode([]rune(string(p.text)))
	at := p.units(p.at)
	begin, end, lead, trail := 0, len(units), "", ""
	if len(units) > 2*around {
		if at >= around {
			begin, lead = at-around, "..."
		}
		if at < around || at < len(units)-around {
			end, trail = at+around, "..."
		}
	}
	r, _ := utf8.DecodeRune(p.text[p.at:])
	//lint:ignore ST1005 scripts see it, in Node's words
	p.err = fmt.Errorf("Unexpected token '%c', %s\"%s\"%s is not valid JSON", r, lead, string(utf16.Decode(units[begin:end])), trail)
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
	case c == 't':
		return p.word("true", p.vm.ToValue(true))
	case c == 'f':
		return p.word("false", p.vm.ToValue(false))
	case c == 'n':
		return p.word("null", goja.Null())
	}
	return p.unexpected()
}

func (p *jsonReader) word(w string, v goja.Value) goja.Value {
	for i := range len(w) {
		if p.at >= len(p.text) || p.text[p.at] != w[i] {
			return p.unexpected()
		}
		p.at++
	}
	return v
}

// next passes over space and one byte, which must be one of two; it gives which. wanted is
// the error for another one, "" for that of an unexpected character.
func (p *jsonReader) next(more, end byte, wanted string) (again bool) {
	p.space()
	if p.err != nil {
		return false
	}
	if p.at >= len(p.text) || p.text[p.at] != more && p.text[p.at] != end {
		if wanted == "" {
			p.unexpected()
		} else {
			p.fail(wanted)
		}
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
		if p.err != nil || !p.next(',', ']', "Expected ',' or ']' after array element") {
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
	name, colon := "Expected property name or '}'", "Expected ':' after property name"
	for {
		p.space()
		if p.at >= len(p.text) || p.text[p.at] != '"' {
			return p.fail(name)
		}
		key := p.string()
		if p.err != nil {
			return nil
		}
		p.next(':', ':', colon)
		name, colon = "Expected double-quoted property name", ""
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
		if !p.next(',', '}', "Expected ',' or '}' after property value") {
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
		if p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			return p.fail("Unexpected number")
		}
	} else if digits() == 0 {
		return p.fail("No number after minus sign")
	}
	if p.at < len(p.text) && p.text[p.at] == '.' {
		whole = false
		p.at++
		if digits() == 0 {
			return p.fail("Unterminated fractional number")
		}
	}
	if p.at < len(p.text) && (p.text[p.at] == 'e' || p.text[p.at] == 'E') {
		whole = false
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
			p.at++
		}
		if digits() == 0 {
			return p.fail("Exponent part is missing a number")
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
			return p.fail("Bad control character in string literal")
		}
		p.at++
	}
	return p.fail("Unterminated string")
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
			return p.fail("Bad control character in string literal")
		case c != '\\':
			r, n := utf8.DecodeRune(p.text[p.at:])
			units = utf16.AppendRune(units, r)
			p.at += n
			continue
		}
		p.at++
		if p.at >= len(p.text) {
			return p.unexpected()
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
			n := 0
			for range 4 {
				p.at++
				digit := -1
				if p.at < len(p.text) {
					digit = hexDigit(uint16(p.text[p.at]))
				}
				if digit < 0 {
					return p.fail("Bad Unicode escape")
				}
				n = n<<4 | digit
			}
			units = append(units, uint16(n))
		default:
			return p.fail("Bad escaped character")
		}
		p.at++
	}
	return p.fail("Unterminated string")
}
