package node

import (
	"reflect"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// newTarget is what new.target can be where a script stands. The engine leaves the value
// of the constructor around it to every function that a constructor calls.
type newTarget int

const (
	rightTarget   newTarget = iota // in the constructor of a class, which is never called without new
	doubtedTarget                  // in a function that may be called either way
	noTarget                       // in what new cannot call
)

// function walks a function in which new.target is of some kind.
func (r *rewriter) function(f *ast.FunctionLiteral, kind newTarget) {
	outer := r.target
	r.target = kind
	if f.Async || f.Generator {
		r.target = noTarget
	}
	r.walk(reflect.ValueOf(f).Elem())
	r.target = outer
}

// method walks a method of a class: its constructor is one.
func (r *rewriter) method(m *ast.MethodDefinition) {
	r.walk(reflect.ValueOf(&m.Key).Elem())
	kind := noTarget
	if key, ok := m.Key.(*ast.StringLiteral); ok && key.Value == "constructor" && !m.Static && !m.Computed {
		kind = rightTarget
	}
	r.function(m.Body, kind)
}

// replaceTarget gives what stands for a new.target; nil for the same.
func (r *rewriter) replaceTarget(x *ast.MetaProperty) ast.Expression {
	if !r.targets || x.Meta.Name != "new" {
		return nil
	}
	switch r.target {
	case doubtedTarget:
		return &ast.CallExpression{Callee: hostMember("target", x.Idx), ArgumentList: []ast.Expression{x, &ast.ThisExpression{Idx: x.Idx}}}
	case noTarget:
		return &ast.UnaryExpression{Operator: token.VOID, Idx: x.Idx, Operand: &ast.NumberLiteral{Idx: x.Idx, Literal: "0", Value: int64(0)}}
	}
	return nil
}

// checkTarget is (new.target, this) → new.target where this is what new has made, else undefined.
func (e *engine) checkTarget(call goja.FunctionCall) goja.Value {
	target, ok := call.Argument(0).(*goja.Object)
	if !ok {
		return goja.Undefined()
	}
	this, ok := call.Argument(1).(*goja.Object)
	if !ok || this.Prototype() == nil || !this.Prototype().SameAs(target.Get("prototype")) {
		return goja.Undefined()
	}
	return target
}
