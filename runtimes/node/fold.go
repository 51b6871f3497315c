package node

import (
	"math/big"
	"reflect"
	"regexp"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// bigPower shows that a script may have a power or a shift of big integers.
var bigPower = regexp.MustCompile(`\b[0-9][0-9a-fA-FxXoObB_]*n\b[^;]*(\*\*|<<|>>)|(\*\*|<<|>>)[^;]*\b[0-9][0-9a-fA-FxXoObB_]*n\b`)

// keepPowers makes the compiler leave powers and shifts of big integers to the run time:
// it computes constant expressions while it compiles, where neither a deadline nor an
// interrupt reaches it, and 9n ** 9n ** 9n never ends.
func keepPowers(code string, script *ast.Program) {
	if bigPower.MatchString(code) {
		keepPowersIn(reflect.ValueOf(script))
	}
}

func keepPowersIn(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			keepPowersIn(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			keepPowersIn(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			// DeclarationList repeats what stands in the body.
			if f := v.Field(i); f.CanSet() && v.Type().Field(i).Name != "DeclarationList" {
				keepPowersIn(f)
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
			switch x.Operator {
			case token.EXPONENT, token.SHIFT_LEFT, token.SHIFT_RIGHT:
				// A sequence is never a constant, whatever is in it.
				x.Left = &ast.SequenceExpression{Sequence: []ast.Expression{x.Left}}
			}
		}
		keepPowersIn(v.Elem())
	}
}
