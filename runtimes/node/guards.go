package node

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/internal/bundle"
	"github.com/toolhost/toolhost/internal/lazyregexp"
)

// Limits of what one built-in function does in one go. No interrupt reaches it there, and
// memory that cannot be had ends the process.
const (
	maxStringLength = 64 << 20 // UTF-16 units that one function makes
	maxListLength   = 32 << 20 // elements that one function looks at
	maxArguments    = 100_000  // of one call by apply
	maxBytes        = 256 << 20
	maxExponent     = 1 << 24 // of a big integer, and bits of a shift
	maxNesting      = 1_000   // of arrays in arrays, proxies of proxies, bound bound functions
)

// guards puts limits on built-in functions that an engine runs without one. They are
// against mistakes and common tricks: code that means harm finds ways around them, and
// belongs in a process of its own.
type guards struct {
	e       *engine
	nesting int                  // join calls that are running
	depth   map[*goja.Object]int // of proxies, bound functions and objects made from others
}

// builtin is a function of the engine.
type builtin = goja.Callable

// guard is one built-in function with its limit. owner is where it is found.
type guard struct {
	owner, name string
	check       func(*guards, builtin, goja.FunctionCall) goja.Value
}

// guarded are the functions with limits.
func guarded() []guard {
	return []guard{
		{"String.prototype", "repeat", (*guards).repeat},
		{"String.prototype", "padStart", (*guards).pad},
		{"String.prototype", "padEnd", (*guards).pad},
		{"String.prototype", "replace", (*guards).replace},
		{"String.prototype", "replaceAll", (*guards).replace},
		{"String.prototype", "concat", (*guards).concatText},
		{"Array.prototype", "concat", (*guards).concat},
		{"String.prototype", "match", (*guards).pattern},
		{"String.prototype", "matchAll", (*guards).pattern},
		{"String.prototype", "search", (*guards).pattern},
		{"Array.prototype", "flat", (*guards).flat},
		{"Array.prototype", "fill", (*guards).long},
		{"Array.prototype", "indexOf", (*guards).long},
		{"Array.prototype", "lastIndexOf", (*guards).long},
		{"Array.prototype", "includes", (*guards).long},
		{"Array.prototype", "reverse", (*guards).long},
		{"Array.prototype", "sort", (*guards).long},
		{"Array", "from", (*guards).from},
		{"Function.prototype", "apply", (*guards).apply},
		{"Function.prototype", "bind", (*guards).bind},
		{"Object", "create", (*guards).create},
		{"Reflect", "apply", (*guards).reflectApply},
		{"Reflect", "construct", (*guards).reflectConstruct},
		{"JSON", "parse", func(g *guards, _ builtin, call goja.FunctionCall) goja.Value { return g.e.guardedParse(call) }},
		{"JSON", "stringify", func(g *guards, _ builtin, call goja.FunctionCall) goja.Value { return g.e.guardedStringify(call) }},
	}
}

// byteConstructors are those that take memory by a number.
func byteConstructors() []string {
	return []string{"ArrayBuffer", "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
		"Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array"}
}

// guardSet says which guards the engines of a program get: those whose name its text has.
// Each costs a few microseconds an engine, and few are needed.
type guardSet struct {
	functions    []guard
	constructors []string
	proxy        bool
	function     bool
	iterator     bool // lists may be long without their elements being there
}

// makesNames reports whether code may make code, or the names of what it uses, at run time.
func makesNames(code string) bool {
	return bundle.LoadsLater(code) || slices.ContainsFunc([]string{"eval", "Function", "globalThis", "fromCharCode", "fromCodePoint", "getOwnProperty", "Reflect", "with ("},
		func(word string) bool { return strings.Contains(code, word) })
}

// constructorWord shows that a script takes the constructor of an object, not only that a
// class has one.
var constructorWord = lazyregexp.New(`\.\s*constructor\b|\bconstructor\s*[^\s(]`)

// guardsFor looks through the text of a script, and how it reaches members. One that makes
// code or names at run time gets all.
func guardsFor(code string, c computed) guardSet {
	all := makesNames(code) || c.names
	var set guardSet
	for _, g := range guarded() {
		if all || strings.Contains(code, g.name) {
			set.functions = append(set.functions, g)
		}
	}
	for _, name := range byteConstructors() {
		if all || strings.Contains(code, name) {
			set.constructors = append(set.constructors, name)
		}
	}
	set.proxy = all || strings.Contains(code, "Proxy")
	set.iterator = all || c.indexes || strings.Contains(code, "Array(")
	set.function = all || constructorWord.MatchString(code)
	return set
}

// guard installs guards in an engine that has run no script yet.
func (e *engine) guard(set guardSet) {
	g := &guards{e: e}
	// Arrays in arrays without end become text in many ways, so this one is always there.
	// An array knows its prototype without the constructor, which the engine makes when it is touched.
	g.wrap(e.vm.NewArray().Prototype(), guard{name: "join", check: (*guards).join})
	for _, one := range set.functions {
		if one.owner == "JSON" {
			e.takeJSON() // the guards call the engine's own functions, which must not be themselves
		}
		g.wrap(g.find(one.owner), one)
	}
	for _, name := range set.constructors {
		g.wrapConstructor(name)
	}
	if set.proxy {
		g.wrapProxy()
	}
	if set.function {
		g.wrapFunction()
	}
	if set.iterator {
		g.wrapIterator()
	}
}

func (g *guards) find(owner string) *goja.Object {
	vm := g.e.vm
	name, prototype := strings.CutSuffix(owner, ".prototype")
	o := vm.GlobalObject().Get(name).ToObject(vm)
	if prototype {
		return o.Get("prototype").ToObject(vm)
	}
	return o
}

func (g *guards) wrap(o *goja.Object, one guard) {
	original, ok := goja.AssertFunction(o.Get(one.name))
	if !ok {
		return
	}
	v := g.e.vm.ToValue(func(call goja.FunctionCall) goja.Value { return one.check(g, original, call) }).(*goja.Object)
	_ = v.DefineDataProperty("name", g.e.vm.ToValue(one.name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = o.DefineDataProperty(one.name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// replaceConstructor puts another function in the place of a global constructor, with its
// static members. after sees what was made.
func (g *guards) replaceConstructor(name string, before func(args []goja.Value), after func(made *goja.Object, args []goja.Value)) {
	vm := g.e.vm
	if c := g.exchangeConstructor(name, vm.GlobalObject().Get(name).ToObject(vm), before, after); c != nil {
		_ = vm.GlobalObject().DefineDataProperty(name, c, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}

// exchangeConstructor puts another function in the place of a constructor where objects find it by
// their prototype; it gives nil for what is none.
func (g *guards) exchangeConstructor(name string, original *goja.Object, before func(args []goja.Value), after func(made *goja.Object, args []goja.Value)) *goja.Object {
	vm := g.e.vm
	construct, ok := goja.AssertConstructor(original)
	if !ok {
		return nil
	}
	c := vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
		before(call.Arguments)
		made, err := construct(call.NewTarget, call.Arguments...)
		if err != nil {
			panic(err)
		}
		after(made, call.Arguments)
		return made
	}).(*goja.Object)
	_ = c.SetPrototype(original.Prototype())
	for _, member := range original.GetOwnPropertyNames() {
		if member != "name" && member != "length" && member != "prototype" {
			_ = c.DefineDataProperty(member, original.Get(member), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
	if name == "ArrayBuffer" {
		self := vm.ToValue(func(call goja.FunctionCall) goja.Value { return call.This })
		_ = c.DefineAccessorPropertySymbol(goja.SymSpecies, self, nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	_ = c.DefineDataProperty("name", vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = c.DefineDataProperty("length", original.Get("length"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	if p, ok := original.Get("prototype").(*goja.Object); ok {
		_ = c.DefineDataProperty("prototype", p, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
		_ = p.DefineDataProperty("constructor", c, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return c
}

func (g *guards) wrapConstructor(name string) {
	size := 1.0
	if n := g.find(name).Get("BYTES_PER_ELEMENT"); n != nil {
		size = n.ToFloat()
	}
	g.replaceConstructor(name, func(args []goja.Value) {
		if len(args) == 0 {
			return
		}
		n := 0.0
		if o, ok := args[0].(*goja.Object); !ok {
			n = args[0].ToFloat()
		} else if o.ClassName() != "ArrayBuffer" {
			n = g.length(o)
		}
		g.refuse("typed array length in bytes", n*size, maxBytes)
	}, func(*goja.Object, []goja.Value) {})
}

// wrapIterator has the iterator of lists look whether the engine was ended: where the
// engine itself takes one element after the other, no script runs between them, and no
// interrupt is seen.
func (g *guards) wrapIterator() {
	vm := g.e.vm
	begin, _ := goja.AssertFunction(vm.NewArray().GetSymbol(goja.SymIterator))
	iterator := g.e.apply(func(_ goja.Value, args ...goja.Value) (goja.Value, error) { return begin(vm.NewArray(), args...) }).ToObject(vm)
	pause := goja.Callable(nil)
	g.wrap(iterator.Prototype(), guard{name: "next", check: func(g *guards, original builtin, call goja.FunctionCall) goja.Value {
		if g.e.ended.Load() {
			if pause == nil {
				v, err := vm.RunProgram(emptyFunction())
				if err != nil {
					panic(err)
				}
				pause, _ = goja.AssertFunction(v)
			}
			g.e.apply(pause) // here the interrupt is seen
		}
		return runBuiltin(original, call)
	}})
}

// emptyFunction is a script that gives a function which does nothing.
var emptyFunction = sync.OnceValue(func() *goja.Program { return goja.MustCompile("node:internal/pause", "(function () {})", true) })

func (g *guards) wrapProxy() {
	g.wrap(g.find("Proxy"), guard{name: "revocable", check: func(g *guards, original builtin, call goja.FunctionCall) goja.Value {
		v := runBuiltin(original, call)
		g.deepen(v.ToObject(g.e.vm).Get("proxy"), call.Argument(0), "proxy")
		return v
	}})
	g.replaceConstructor("Proxy", func([]goja.Value) {}, func(made *goja.Object, args []goja.Value) {
		if len(args) > 0 {
			g.deepen(made, args[0], "proxy")
		}
	})
}

// runBuiltin runs the built-in function; what it throws is thrown on.
func runBuiltin(original builtin, call goja.FunctionCall) goja.Value {
	v, err := original(call.This, call.Arguments...)
	if err != nil {
		panic(err)
	}
	return v
}

func (g *guards) refuse(what string, n float64, limit int) {
	if n > float64(limit) && !math.IsInf(n, 1) {
		panic(g.e.makeError("RangeError", fmt.Sprintf("Invalid %s: %.0f is more than this host's limit of %d", what, n, limit)))
	}
}

// length gives the length of a text or a list without running code of a script where
// that can be told beforehand; 0 for what has none.
func (g *guards) length(v goja.Value) float64 {
	switch x := v.(type) {
	case goja.String:
		return float64(x.Length())
	case *goja.Object:
		if n := x.Get("length"); n != nil {
			return n.ToFloat()
		}
	}
	return 0
}

func (g *guards) repeat(original builtin, call goja.FunctionCall) goja.Value {
	if n := call.Argument(0).ToFloat(); n > 1 {
		g.refuse("string length", g.length(call.This)*n, maxStringLength)
	}
	return runBuiltin(original, call)
}

func (g *guards) pad(original builtin, call goja.FunctionCall) goja.Value {
	g.refuse("string length", call.Argument(0).ToFloat(), maxStringLength)
	return runBuiltin(original, call)
}

func (g *guards) concatText(original builtin, call goja.FunctionCall) goja.Value {
	n := g.length(call.This)
	for _, a := range call.Arguments {
		if s, ok := a.(goja.String); ok {
			n += float64(s.Length())
		}
	}
	g.refuse("string length", n, maxStringLength)
	return runBuiltin(original, call)
}

// concat adds up the arrays; what is spread besides arrays is rare.
func (g *guards) concat(original builtin, call goja.FunctionCall) goja.Value {
	n := g.length(call.This)
	for _, a := range call.Arguments {
		if o, ok := a.(*goja.Object); ok && o.ClassName() == "Array" {
			n += g.length(o)
		}
	}
	g.refuse("array length", n, maxListLength)
	return runBuiltin(original, call)
}

// replace counts what a long replacement adds, where it could become too much.
func (g *guards) replace(original builtin, call goja.FunctionCall) goja.Value {
	text, ok := call.This.(goja.String)
	with, isText := call.Argument(1).(goja.String)
	if !ok || !isText || float64(text.Length())*float64(with.Length()) <= maxStringLength {
		return runBuiltin(original, call)
	}
	for i := range with.Length() {
		if with.CharAt(i) == '$' {
			return runBuiltin(original, call)
		}
	}
	size := float64(text.Length())
	count := g.e.vm.ToValue(func(goja.FunctionCall) goja.Value {
		size += float64(with.Length())
		g.refuse("string length", size, maxStringLength)
		return with
	})
	call.Arguments = []goja.Value{call.Argument(0), count}
	return runBuiltin(original, call)
}

// long refuses lists that are too long to look through in one go.
func (g *guards) long(original builtin, call goja.FunctionCall) goja.Value {
	g.refuse("array length", g.length(call.This), maxListLength)
	return runBuiltin(original, call)
}

// join also ends where arrays hold arrays that hold arrays without end.
func (g *guards) join(original builtin, call goja.FunctionCall) goja.Value {
	n := g.length(call.This)
	g.refuse("array length", n, maxListLength)
	if s, ok := call.Argument(0).(goja.String); ok {
		g.refuse("string length", n*float64(s.Length()), maxStringLength)
	}
	g.refuse("string length", g.textOf(call.This, n), maxStringLength)
	g.nesting++
	defer func() { g.nesting-- }()
	if g.nesting > maxNesting {
		panic(g.e.makeError("RangeError", "Maximum call stack size exceeded"))
	}
	return runBuiltin(original, call)
}

// textOf adds up the texts in a list where the first of them are long.
func (g *guards) textOf(list goja.Value, n float64) float64 {
	o, ok := list.(*goja.Object)
	if !ok || n == 0 || o.ClassName() != "Array" {
		return 0
	}
	first, ok := o.Get("0").(goja.String)
	if !ok || n*float64(first.Length()) <= maxStringLength {
		return 0
	}
	total := 0.0
	for i := range int(n) {
		total += g.length(o.Get(fmt.Sprint(i)))
		if total > maxStringLength {
			break
		}
	}
	return total
}

// flat flattens step by step, within limits of depth and length.
func (g *guards) flat(original builtin, call goja.FunctionCall) goja.Value {
	depth := 1.0
	if d := call.Argument(0); !goja.IsUndefined(d) {
		depth = d.ToFloat()
	}
	g.refuse("array length", g.length(call.This), maxListLength)
	if o, ok := call.This.(*goja.Object); ok && depth > 1 {
		seen := 0
		g.nested(o, int(min(depth, math.MaxInt32)), 0, &seen)
	}
	return runBuiltin(original, call)
}

// nested goes through arrays in arrays as flat will, and throws where they are too many or too deep.
func (g *guards) nested(o *goja.Object, depth, level int, seen *int) {
	if level > maxNesting {
		panic(g.e.makeError("RangeError", fmt.Sprintf("Invalid array nesting: it is deeper than this host's limit of %d", maxNesting)))
	}
	n := g.length(o)
	g.refuse("array length", n, maxListLength)
	*seen += int(n)
	g.refuse("array length", float64(*seen), maxListLength)
	if depth == 0 {
		return
	}
	for i := range int(n) {
		if item, ok := o.Get(fmt.Sprint(i)).(*goja.Object); ok && item.ClassName() == "Array" {
			g.nested(item, depth-1, level+1, seen)
		}
	}
}

func (g *guards) apply(original builtin, call goja.FunctionCall) goja.Value {
	g.arguments(call.Argument(1))
	return runBuiltin(original, call)
}

func (g *guards) reflectApply(original builtin, call goja.FunctionCall) goja.Value {
	g.arguments(call.Argument(2))
	return runBuiltin(original, call)
}

func (g *guards) reflectConstruct(original builtin, call goja.FunctionCall) goja.Value {
	g.arguments(call.Argument(1))
	return runBuiltin(original, call)
}

func (g *guards) arguments(list goja.Value) {
	if o, ok := list.(*goja.Object); ok {
		g.refuse("number of arguments", g.length(o), maxArguments)
	}
}

func (g *guards) from(original builtin, call goja.FunctionCall) goja.Value {
	if o, ok := call.Argument(0).(*goja.Object); ok && o.GetSymbol(goja.SymIterator) == nil {
		g.refuse("array length", g.length(o), maxListLength)
	}
	return runBuiltin(original, call)
}

// deepen remembers that o stands on below, and throws where too many stand on each other.
func (g *guards) deepen(o goja.Value, below goja.Value, what string) {
	made, ok := o.(*goja.Object)
	base, isObject := below.(*goja.Object)
	if !ok || !isObject {
		return
	}
	d := g.depth[base] + 1
	if d > maxNesting {
		panic(g.e.makeError("RangeError", fmt.Sprintf("Invalid %s: more than this host's limit of %d stand on each other", what, maxNesting)))
	}
	if g.depth == nil {
		g.depth = map[*goja.Object]int{}
	}
	g.depth[made] = d
}

func (g *guards) bind(original builtin, call goja.FunctionCall) goja.Value {
	v := runBuiltin(original, call)
	g.deepen(v, call.This, "bound function")
	return v
}

func (g *guards) create(original builtin, call goja.FunctionCall) goja.Value {
	v := runBuiltin(original, call)
	g.deepen(v, call.Argument(0), "prototype")
	return v
}
