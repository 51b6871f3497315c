package node

import (
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// Helpers that the bundler makes "for await" and "using" of.
const (
	forAwaitHelper    = "__forAwait"
	callDisposeHelper = "__callDispose"
)

// forget makes a try statement that stands for "for await" or "using" begin anew each time
// that it runs. The bundler keeps what was thrown in variables of the function, which still
// hold it when a loop comes round again: the error would be thrown a second time.
func forget(x *ast.TryStatement) {
	var names []*ast.Identifier
	switch {
	case x.Catch == nil || x.Finally == nil || len(x.Finally.List) == 0:
		return
	case len(x.Body.List) > 0 && awaits(x.Body.List[0]) != nil:
		names = []*ast.Identifier{assigned(awaits(x.Body.List[0]).Test)}
		if s, ok := first(x.Catch.Body).(*ast.ExpressionStatement); ok {
			names = append(names, assigned(s.Expression))
		}
	default:
		if call := disposes(x.Finally.List[0]); call != nil && len(call.ArgumentList) == 3 {
			for _, argument := range call.ArgumentList[1:] {
				name, _ := argument.(*ast.Identifier)
				names = append(names, name)
			}
		}
	}
	var list []ast.Statement
	for _, name := range names {
		if name != nil {
			list = append(list, clearing(name, x.Try))
		}
	}
	x.Body.List = append(list, x.Body.List...)
}

// awaits gives the loop where a statement is one that stands for "for await".
func awaits(s ast.Statement) *ast.ForStatement {
	for {
		label, ok := s.(*ast.LabelledStatement)
		if !ok {
			break
		}
		s = label.Statement
	}
	loop, ok := s.(*ast.ForStatement)
	if !ok {
		return nil
	}
	var value ast.Expression
	switch begin := loop.Initializer.(type) {
	case *ast.ForLoopInitializerVarDeclList:
		value = begin.List[0].Initializer
	case *ast.ForLoopInitializerExpression:
		if assign, ok := begin.Expression.(*ast.AssignExpression); ok {
			value = assign.Right
		}
	}
	if helperCall(value, forAwaitHelper) == nil {
		return nil
	}
	return loop
}

// disposes gives the call that ends a "using", in the first statement of its finally.
func disposes(s ast.Statement) *ast.CallExpression {
	var value ast.Expression
	switch s := s.(type) {
	case *ast.VariableStatement:
		value = s.List[0].Initializer
	case *ast.ExpressionStatement:
		value = s.Expression
		if assign, ok := value.(*ast.AssignExpression); ok {
			value = assign.Right
		}
	}
	return helperCall(value, callDisposeHelper)
}

// helperCall gives an expression that calls a helper of the bundler; nil for another.
func helperCall(x ast.Expression, helper string) *ast.CallExpression {
	call, ok := x.(*ast.CallExpression)
	if !ok {
		return nil
	}
	if callee, ok := call.Callee.(*ast.Identifier); !ok || !strings.HasPrefix(callee.Name.String(), helper) {
		return nil
	}
	return call
}

// assigned gives the variable that an expression assigns to; nil where it is another.
func assigned(x ast.Expression) *ast.Identifier {
	if assign, ok := x.(*ast.AssignExpression); ok {
		name, _ := assign.Left.(*ast.Identifier)
		return name
	}
	return nil
}

func first(b *ast.BlockStatement) ast.Statement {
	if b == nil || len(b.List) == 0 {
		return nil
	}
	return b.List[0]
}

// clearing is the statement name = void 0.
func clearing(name *ast.Identifier, at file.Idx) ast.Statement {
	return &ast.ExpressionStatement{Expression: &ast.AssignExpression{
		Operator: token.ASSIGN, Left: &ast.Identifier{Name: name.Name, Idx: at},
		Right: &ast.UnaryExpression{Operator: token.VOID, Idx: at, Operand: &ast.NumberLiteral{Idx: at, Literal: "0", Value: int64(0)}},
	}}
}
