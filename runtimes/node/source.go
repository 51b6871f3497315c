package node

import (
	"fmt"
	"sync"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/internal/bundle"
)

// maxSource is how many UTF-16 units of text a script may have compiled in one go.
const maxSource = 8 << 20

// checkSource throws where text that is about to be compiled is nested too deep: the
// engine's parser descends once for each level, and its end is that of the process.
func (e *engine) checkSource(v goja.Value) {
	s, ok := v.(goja.String)
	if !ok {
		return
	}
	if s.Length() > maxSource {
		panic(e.makeError("RangeError", fmt.Sprintf("code of %d characters is more than this host's limit of %d", s.Length(), maxSource)))
	}
	if what := bundle.TooDeep(s.String()); what != "" {
		panic(e.makeError("RangeError", what))
	}
}

// indirectEval is eval for code that calls it by another name: it sees only globals.
func (e *engine) indirectEval() goja.Value {
	if e.api.eval == nil {
		original, ok := goja.AssertFunction(e.vm.Get("eval"))
		if !ok {
			return goja.Undefined()
		}
		checked := e.vm.ToValue(func(call goja.FunctionCall) goja.Value {
			e.checkSource(call.Argument(0))
			return runBuiltin(original, call)
		}).(*goja.Object)
		_ = checked.DefineDataProperty("name", e.vm.ToValue("eval"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		e.api.eval = checked
	}
	return e.api.eval
}

// wrapFunction checks what Function is to compile.
func (g *guards) wrapFunction() {
	check := func(args []goja.Value) {
		for _, a := range args {
			g.e.checkSource(a)
		}
	}
	none := func(*goja.Object, []goja.Value) {}
	g.replaceConstructor("Function", check, none)
	v, err := g.e.vm.RunProgram(functionConstructors())
	if err != nil {
		panic(err) // our own script
	}
	list := v.ToObject(g.e.vm)
	for _, i := range []string{"0", "1"} {
		c := list.Get(i).ToObject(g.e.vm)
		g.exchangeConstructor(c.Get("name").String(), c, check, none)
	}
}

// functionConstructors is a script that gives the constructors which have no global names.
var functionConstructors = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("node:internal/functions", "[(async () => {}).constructor, (function* () {}).constructor]", true)
})

// pattern checks a text that becomes a regular expression.
func (g *guards) pattern(original builtin, call goja.FunctionCall) goja.Value {
	if s, ok := call.Argument(0).(goja.String); ok {
		if err := bundle.CheckGroups(s.String()); err != nil {
			panic(g.e.makeError("SyntaxError", "Invalid regular expression: "+err.Error()))
		}
	}
	return runBuiltin(original, call)
}
