package node

import (
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
)

// asyncGeneratorHelper is what the bundler makes async generators of.
const asyncGeneratorHelper = "__asyncGenerator"

// generatorPrototype gives what stands for Object.getPrototypeOf(async function* () {}), by
// which packages find the prototype of async iterators; nil for another call. A function
// of the bundle stands where the generator stood.
func (r *rewriter) generatorPrototype(x *ast.CallExpression) ast.Expression {
	if !r.generators || len(x.ArgumentList) != 1 {
		return nil
	}
	callee, ok := x.Callee.(*ast.DotExpression)
	if !ok || callee.Identifier.Name != "getPrototypeOf" {
		return nil
	}
	f, ok := x.ArgumentList[0].(*ast.FunctionLiteral)
	if !ok || f.Body == nil || len(f.Body.List) != 1 {
		return nil
	}
	statement, ok := f.Body.List[0].(*ast.ReturnStatement)
	if !ok {
		return nil
	}
	call, ok := statement.Argument.(*ast.CallExpression)
	if !ok {
		return nil
	}
	if helper, ok := call.Callee.(*ast.Identifier); !ok || !strings.HasPrefix(helper.Name.String(), asyncGeneratorHelper) {
		return nil
	}
	return hostMember("asyncGenerator", x.Idx0())
}

// asyncGenerator gives the prototype of async generator functions.
func (e *engine) asyncGenerator() goja.Value {
	e.internal("symbols")
	f, _ := goja.AssertFunction(e.internal("language_more").ToObject(e.vm).Get("asyncGenerator"))
	return e.apply(f)
}
