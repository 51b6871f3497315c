package node

import (
	"strings"

	"github.com/dop251/goja"
)

// languageParts are the parts of the language that goja lacks, each with the words by
// which code shows that it may use it. Adding one changes objects that goja makes only
// when they are touched, so a part that no code names costs nothing.
var languageParts = []struct {
	name  string
	words []string
}{
	{"symbols", []string{"asyncIterator", "ispose"}},
	{"groupBy", []string{"groupBy"}},
	{"fromAsync", []string{"fromAsync"}},
	{"promise", []string{"withResolvers", ".try"}},
	{"wellFormed", []string{"ellFormed"}},
	{"errors", []string{"captureStackTrace", "stackTraceLimit"}},
	{"transfer", []string{".transfer"}},
	{"iterator", []string{"terator", ".values(", ".keys(", ".entries(", "matchAll", "*"}},
	{"compare", []string{"localeCompare"}},
	{"casing", []string{"toLocaleUpperCase", "toLocaleLowerCase"}},
	{"locale", []string{"toLocale"}},
	{"find", []string{".find(Boolean", ".findIndex(Boolean", ".findLast(Boolean", ".findLastIndex(Boolean"}},
	{"resizable", []string{"resizable", "maxByteLength"}},
	{"oldDates", []string{"getYear", "setYear", "toGMTString"}},
	{"oldAccessors", []string{"__define", "__lookup"}},
	{"oldTags", []string{".anchor(", ".big(", ".blink(", ".bold(", ".fixed(", ".fontcolor(", ".fontsize(", ".italics(", ".link(", ".small(", ".strike(", ".sub(", ".sup("}},
}

// languageFor gives the parts that code may use. Code that makes code may use all.
func languageFor(code string) []string {
	all := strings.Contains(code, "eval") || strings.Contains(code, "Function(")
	var parts []string
	for _, part := range languageParts {
		named := all
		for _, word := range part.words {
			named = named || strings.Contains(code, word)
		}
		if named {
			parts = append(parts, part.name)
		}
	}
	if all || namesDate(code) {
		parts = append(parts, "dates")
	}
	return parts
}

// installLanguage adds parts of the language. Code of a plugin may take
// Symbol.asyncIterator at its first line, so it cannot wait until they are used.
func (e *engine) installLanguage(parts []string) {
	var exports *goja.Object
	for _, part := range parts {
		if part == "symbols" {
			e.internal("symbols")
			continue
		}
		if exports == nil {
			exports = e.internal("language").ToObject(e.vm)
		}
		install, _ := goja.AssertFunction(exports.Get(part))
		e.apply(install)
	}
}

func loadLanguage(e *engine) goja.Value {
	return languageLibrary.load(e, e.object(map[string]any{
		"isWellFormed":      e.isWellFormed,
		"toWellFormed":      e.toWellFormed,
		"captureStackTrace": e.captureStackTrace,
		"dateArgument":      e.dateArgument,
		"readDate":          e.readDate,
	}))
}

func (e *engine) isWellFormed(c goja.FunctionCall) goja.Value {
	return e.vm.ToValue(wellFormed(textOf(c.Argument(0))))
}

// toWellFormed puts U+FFFD in place of surrogates without their other half.
func (e *engine) toWellFormed(c goja.FunctionCall) goja.Value {
	s := textOf(c.Argument(0))
	if wellFormed(s) {
		return s
	}
	return e.vm.ToValue(s.String())
}

// wellFormed reports whether every surrogate of a string has its other half.
func wellFormed(s goja.String) bool {
	for i := 0; i < s.Length(); i++ {
		c := s.CharAt(i)
		if c < 0xd800 || c > 0xdfff {
			continue
		}
		if c > 0xdbff || i+1 == s.Length() {
			return false
		}
		if i++; s.CharAt(i) < 0xdc00 || s.CharAt(i) > 0xdfff {
			return false
		}
	}
	return true
}

// loadTurns makes what the host calls script by.
func loadTurns(e *engine) goja.Value {
	v := turnsLibrary.load(e, e.object(map[string]any{"context": e.kept, "setContext": e.setKept, "uncaught": e.reportUncaught}))
	exports := v.ToObject(e.vm)
	e.api.turn, _ = goja.AssertFunction(exports.Get("turn"))
	e.api.capture, _ = goja.AssertFunction(exports.Get("capture"))
	return v
}

func (e *engine) captureFunction() goja.Value {
	return e.internal("turns").ToObject(e.vm).Get("capture")
}

// loadSymbols adds the symbols that goja lacks.
func loadSymbols(e *engine) goja.Value {
	symbol := e.vm.Get("Symbol").ToObject(e.vm)
	for _, name := range []string{"asyncIterator", "dispose", "asyncDispose"} {
		if symbol.Get(name) == nil {
			_ = symbol.DefineDataProperty(name, goja.NewSymbol("Symbol."+name), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
		}
	}
	return goja.Undefined()
}
