package node

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// computed says how a script reaches members by names that are not written out. A guard
// that is installed by the names in a script would not see those.
type computed struct {
	names   bool // a member may have any name
	indexes bool // a list may get an element at any index, and so any length

	from    file.Idx                              // where the modules begin; the bundler's own helpers stand before
	members []ast.Expression                      // in brackets
	values  map[unistring.String][]ast.Expression // what variables of a name are set to; nil expressions are anything
}

// computedIn looks through a script. A member by a number is not by a name: variables that
// only ever hold numbers are told by all that is assigned to variables of their name.
func computedIn(script *ast.Program, from file.Idx) computed {
	c := computed{from: from, values: map[unistring.String][]ast.Expression{}}
	c.walk(reflect.ValueOf(script))
	for changed := true; changed; {
		changed = false
		for name, list := range c.values {
			for _, e := range list {
				if !c.numeric(e) {
					delete(c.values, name)
					changed = true
					break
				}
			}
		}
	}
	for _, m := range c.members {
		c.names = c.names || !c.numeric(m)
	}
	return c
}

// numeric reports whether an expression is a number for certain, or the text of one.
func (c *computed) numeric(e ast.Expression) bool {
	switch x := e.(type) {
	case *ast.NumberLiteral:
		return true
	case *ast.Identifier:
		return c.values[x.Name] != nil
	case *ast.UnaryExpression: // ++ and --, too
		switch x.Operator {
		case token.INCREMENT, token.DECREMENT, token.MINUS, token.PLUS, token.BITWISE_NOT:
			return true
		}
	case *ast.BinaryExpression:
		switch x.Operator {
		case token.MINUS, token.MULTIPLY, token.SLASH, token.REMAINDER, token.EXPONENT, token.AND, token.OR, token.EXCLUSIVE_OR, token.SHIFT_LEFT, token.SHIFT_RIGHT, token.UNSIGNED_SHIFT_RIGHT:
			return true
		case token.PLUS:
			_, literal := x.Right.(*ast.NumberLiteral) // no guarded name ends with a digit
			return literal || c.numeric(x.Left) && c.numeric(x.Right)
		}
	case *ast.AssignExpression:
		return x.Operator == token.ASSIGN && c.numeric(x.Right)
	case *ast.ConditionalExpression:
		return c.numeric(x.Consequent) && c.numeric(x.Alternate)
	}
	return false
}

func (c *computed) set(target any, value ast.Expression) {
	if id, ok := target.(*ast.Identifier); ok {
		if id != nil {
			c.values[id.Name] = append(c.values[id.Name], value)
		}
		return
	}
	c.spoil(reflect.ValueOf(target))
}

// spoil marks every variable in a pattern: it may hold anything.
func (c *computed) spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			c.spoil(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.spoil(v.Index(i))
		}
	case reflect.Struct:
		if id, ok := v.Interface().(ast.Identifier); ok {
			c.values[id.Name] = append(c.values[id.Name], nil)
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.spoil(v.Field(i))
			}
		}
	case reflect.Pointer:
		if _, isFile := v.Interface().(*file.File); !isFile && !v.IsNil() {
			c.spoil(v.Elem())
		}
	}
}

func (c *computed) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			c.walk(v.Elem())
		}
		return
	case reflect.Slice:
		for i := range v.Len() {
			c.walk(v.Index(i))
		}
		return
	case reflect.Struct:
		if p, ok := v.Interface().(ast.PropertyKeyed); ok && p.Computed {
			c.key(p.Key)
		}
		for i := range v.NumField() {
			// DeclarationList repeats what stands in the body.
			if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" {
				c.walk(v.Field(i))
			}
		}
		return
	case reflect.Pointer:
	default:
		return
	}
	if v.IsNil() {
		return
	}
	switch x := v.Interface().(type) {
	case *file.File:
		return
	case *ast.BracketExpression:
		c.key(x.Member)
	case *ast.Binding:
		if x.Initializer != nil {
			c.set(x.Target, x.Initializer)
		} else if _, plain := x.Target.(*ast.Identifier); !plain {
			c.spoil(reflect.ValueOf(x.Target))
		}
	case *ast.AssignExpression:
		switch left := x.Left.(type) {
		case *ast.Identifier:
			if x.Operator == token.ASSIGN || x.Operator == token.PLUS || x.Operator == token.LOGICAL_AND || x.Operator == token.LOGICAL_OR || x.Operator == token.COALESCE {
				c.set(left, x.Right)
			}
		case *ast.BracketExpression:
			c.indexes = c.indexes || left.Idx0() >= c.from
		case *ast.DotExpression:
			c.indexes = c.indexes || left.Identifier.Name == "length" && left.Idx0() >= c.from
		default:
			c.spoil(reflect.ValueOf(x.Left))
		}
	case *ast.ParameterList:
		for _, b := range x.List {
			c.spoil(reflect.ValueOf(b.Target))
		}
		if x.Rest != nil {
			c.spoil(reflect.ValueOf(x.Rest))
		}
	case *ast.ForInStatement:
		c.spoil(reflect.ValueOf(x.Into))
	case *ast.ForOfStatement:
		c.spoil(reflect.ValueOf(x.Into))
	case *ast.CatchStatement:
		c.spoil(reflect.ValueOf(x.Parameter))
	case *ast.FunctionLiteral:
		c.set(x.Name, nil)
	case *ast.ClassLiteral:
		c.set(x.Name, nil)
	case *ast.PropertyKeyed:
		if x.Computed {
			c.key(x.Key)
		}
	}
	c.walk(v.Elem())
}

// key takes what stands in brackets. Names that are written out are seen in the text.
func (c *computed) key(e ast.Expression) {
	if _, literal := e.(*ast.StringLiteral); !literal && e.Idx0() >= c.from {
		c.members = append(c.members, e)
	}
}
