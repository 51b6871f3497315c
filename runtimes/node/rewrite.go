package node

import (
	"math/big"
	"reflect"
	"regexp"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// rewriter changes a parsed script where the engine has no other place for a limit.
type rewriter struct{ powers, eval bool }

var (
	// bigPower shows that a script may have a power or a shift of big integers.
	bigPower = regexp.MustCompile(`\b[0-9][0-9a-fA-FxXoObB_]*n\b[^;]*(\*\*|<<|>>)|(\*\*|<<|>>)[^;]*\b[0-9][0-9a-fA-FxXoObB_]*n\b`)
	evalWord = regexp.MustCompile(`\beval\b`)
)

// rewrite changes what needs it in the script of this text.
func rewrite(code string, script *ast.Program) {
	r := rewriter{powers: bigPower.MatchString(code), eval: evalWord.MatchString(code)}
	if r.powers || r.eval {
		r.walk(reflect.ValueOf(script))
	}
}

var expressionType = reflect.TypeFor[ast.Expression]()

func (r *rewriter) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		switch x := v.Interface().(type) {
		case *ast.Identifier:
			if r.eval && x.Name == "eval" && v.Type() == expressionType && v.CanSet() {
				v.Set(reflect.ValueOf(hostMember("eval", x.Idx)))
			}
			return
		case *ast.PropertyShort: // {eval}
			if r.eval && x.Name.Name == "eval" && x.Initializer == nil && v.CanSet() {
				v.Set(reflect.ValueOf(&ast.PropertyKeyed{
					Key: &ast.StringLiteral{Idx: x.Name.Idx, Literal: `"eval"`, Value: "eval"}, Kind: ast.PropertyKindValue, Value: hostMember("eval", x.Name.Idx),
				}))
				return
			}
		}
		r.walk(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			r.walk(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			// DeclarationList repeats what stands in the body.
			if f := v.Field(i); f.CanSet() && v.Type().Field(i).Name != "DeclarationList" {
				r.walk(f)
			}
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		switch x := v.Interface().(type) {
		case *big.Int, *file.File:
			return
		case *ast.BinaryExpression:
			r.keepPower(x)
		case *ast.CallExpression:
			if id, ok := x.Callee.(*ast.Identifier); ok && r.eval && id.Name == "eval" {
				r.walk(reflect.ValueOf(&x.ArgumentList).Elem())
				checkFirst(x)
				return
			}
		}
		r.walk(v.Elem())
	}
}

// keepPower makes the compiler leave powers and shifts of big integers to the run time:
// it computes constant expressions while it compiles, where neither a deadline nor an
// interrupt reaches it, and 9n ** 9n ** 9n never ends.
func (r *rewriter) keepPower(x *ast.BinaryExpression) {
	switch x.Operator {
	case token.EXPONENT, token.SHIFT_LEFT, token.SHIFT_RIGHT:
		if r.powers {
			x.Left = &ast.SequenceExpression{Sequence: []ast.Expression{x.Left}} // never a constant, whatever is in it
		}
	}
}

// checkFirst makes eval(x) eval(__host.source(x)): eval sees the variables around it only
// as the engine's own function, so that no other function can stand in its place.
func checkFirst(x *ast.CallExpression) {
	if len(x.ArgumentList) == 0 {
		return
	}
	first := x.ArgumentList[0]
	if _, spread := first.(*ast.SpreadElement); spread {
		return
	}
	x.ArgumentList[0] = &ast.CallExpression{Callee: hostMember("source", first.Idx0()), ArgumentList: []ast.Expression{first}}
}

// hostMember is __host.name, which a bundle gets as its second argument.
func hostMember(name string, at file.Idx) ast.Expression {
	return &ast.DotExpression{Left: &ast.Identifier{Name: "__host", Idx: at}, Identifier: ast.Identifier{Name: unistring.String(name), Idx: at}}
}
