package node

import (
	"math/big"
	"reflect"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"github.com/toolhost/toolhost/internal/lazyregexp"
)

// rewriter changes a parsed script where the engine has no other place for a limit.
type rewriter struct {
	powers, eval, doubling, surrogates, targets, generators, again, webAssembly bool
	target                                                                      newTarget // where the walk is
}

var (
	// bigPower shows that a script may have a power or a shift of big integers.
	bigPower = lazyregexp.New(`\b[0-9][0-9a-fA-FxXoObB_]*n\b[^;]*(\*\*|<<|>>)|(\*\*|<<|>>)[^;]*\b[0-9][0-9a-fA-FxXoObB_]*n\b`)
	evalWord = lazyregexp.New(`\beval\b`)
	// surrogateWord shows that a script may have a regular expression with halves of pairs.
	surrogateWord = lazyregexp.New(`\\u[dD][89a-fA-F]|[^\x{0}-\x{ffff}]`)
)

// ownWebAssembly shows that a script brings one of its own.
var ownWebAssembly = lazyregexp.New(`\b(?:var|let|const|function|class)\s+WebAssembly\b`)

// rewrite changes what needs it in the script of this text.
func rewrite(code string, script *ast.Program) {
	r := rewriter{powers: bigPower.MatchString(code), eval: evalWord.MatchString(code), doubling: mayDouble(code), surrogates: surrogateWord.MatchString(code), targets: strings.Contains(code, "new.target"), generators: strings.Contains(code, "getPrototypeOf") && strings.Contains(code, asyncGeneratorHelper),
		again: strings.Contains(code, forAwaitHelper) || strings.Contains(code, callDisposeHelper)}
	r.webAssembly = strings.Contains(code, "WebAssembly") && !ownWebAssembly.MatchString(code)
	if r != (rewriter{}) {
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
		case *ast.MetaProperty:
			if made := r.replaceTarget(x); made != nil && v.Type() == expressionType && v.CanSet() {
				v.Set(reflect.ValueOf(made))
			}
			return
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
		case *ast.CallExpression:
			if made := r.generatorPrototype(x); made != nil && v.CanSet() {
				v.Set(reflect.ValueOf(made))
				return
			}
		case *ast.FunctionLiteral:
			r.function(x, doubtedTarget)
			return
		case *ast.MethodDefinition:
			r.method(x)
			return
		case *ast.PropertyKeyed:
			if f, ok := x.Value.(*ast.FunctionLiteral); ok && x.Kind != ast.PropertyKindValue {
				r.walk(reflect.ValueOf(&x.Key).Elem())
				r.function(f, noTarget)
				return
			}
		case *ast.TryStatement:
			if r.again {
				forget(x)
			}
		case *ast.RegExpLiteral:
			if r.surrogates && !strings.Contains(x.Flags, "u") && namesSurrogates(x.Pattern) && v.Type() == expressionType && v.CanSet() {
				v.Set(reflect.ValueOf(&ast.CallExpression{Callee: hostMember("regexp", x.Idx), ArgumentList: []ast.Expression{
					&ast.StringLiteral{Idx: x.Idx, Value: unistring.NewFromString(x.Pattern)}, &ast.StringLiteral{Idx: x.Idx, Value: unistring.NewFromString(x.Flags)},
				}}))
			}
			return
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
		case *ast.FunctionLiteral: // of a declaration
			r.function(x, doubtedTarget)
			return
		case *ast.BinaryExpression:
			r.walk(v.Elem())
			x.Right = r.power(x.Operator, x.Right)
			if x.Operator == token.PLUS {
				x.Right = r.half(x.Left, x.Right)
			}
			return
		case *ast.AssignExpression:
			r.walk(v.Elem())
			x.Right = r.power(x.Operator, x.Right)
			if x.Operator == token.PLUS {
				x.Right = r.half(x.Left, x.Right)
			}
			return
		case *ast.TemplateLiteral:
			for i := 1; i < len(x.Expressions); i++ {
				x.Expressions[i] = r.half(x.Expressions[i-1], x.Expressions[i])
			}
		case *ast.DotExpression: // typeof WebAssembly stays: code asks by it
			if id, ok := x.Left.(*ast.Identifier); ok && r.webAssembly && id.Name == "WebAssembly" {
				x.Left = hostMember("webAssembly", id.Idx)
				return
			}
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

// power gives __host.exponent(right), which refuses big integers that make one too big to
// hold. It also keeps the compiler from computing what is constant: neither a deadline nor
// an interrupt reaches it there, and 9n ** 9n ** 9n never ends.
func (r *rewriter) power(operator token.Token, right ast.Expression) ast.Expression {
	switch operator {
	case token.EXPONENT, token.SHIFT_LEFT, token.SHIFT_RIGHT:
		if r.powers {
			return &ast.CallExpression{Callee: hostMember("exponent", right.Idx0()), ArgumentList: []ast.Expression{right}}
		}
	}
	return right
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

// sameTwice shows two names in a template.
var sameTwice = lazyregexp.New("\\$\\{(\\w+)\\}[^`$]*\\$\\{(\\w+)\\}")

// mayDouble reports whether code adds a variable to itself. A text that is doubled fills
// the memory in thirty steps, faster than anybody looks; one that grows by pieces does not.
func mayDouble(code string) bool {
	for i := strings.IndexByte(code, '+'); i >= 0; {
		before := strings.TrimRight(code[max(0, i-100):i], " ")
		after := strings.TrimLeft(strings.TrimPrefix(code[i+1:min(len(code), i+100)], "="), " ")
		name := before[strings.LastIndexFunc(before, notWord)+1:]
		if name != "" && strings.HasPrefix(after, name) && (len(after) == len(name) || notWord(rune(after[len(name)]))) {
			return true
		}
		next := strings.IndexByte(code[i+1:], '+')
		if next < 0 {
			break
		}
		i += next + 1
	}
	for _, m := range sameTwice.FindAllStringSubmatch(code, -1) {
		if m[1] == m[2] {
			return true
		}
	}
	return false
}

func notWord(c rune) bool {
	return c != '_' && c != '$' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
}

// half gives __host.half(right) where both are the same variable, else right as it is. It
// lets all through but a text that is too long to be doubled.
func (r *rewriter) half(left, right ast.Expression) ast.Expression {
	a, ok := left.(*ast.Identifier)
	b, same := right.(*ast.Identifier)
	if !r.doubling || !ok || !same || a.Name != b.Name {
		return right
	}
	return &ast.CallExpression{Callee: hostMember("half", b.Idx), ArgumentList: []ast.Expression{right}}
}
