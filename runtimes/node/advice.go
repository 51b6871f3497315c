package node

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"

	"github.com/toolhost/toolhost/internal/bundle"
	"github.com/toolhost/toolhost/runtimes"
)

var _ runtimes.Advisor = (*Runtime)(nil)

// Advise finds where the plugin's own code appends to a text in a loop: the engine copies
// the whole text each time, so that 50,000 pieces take seconds.
func (r *Runtime) Advise(ctx context.Context, spec runtimes.Spec) ([]runtimes.Problem, error) {
	root, err := os.OpenRoot(spec.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the folder of plugin %q: %w", spec.Plugin, err)
	}
	defer root.Close()
	var files []string
	for _, t := range spec.Tools {
		files = append(files, cleanHandler(t.Handler))
	}
	built, err := r.builder.Build(ctx, root, files)
	if err != nil {
		return nil, bundleProblems(err)
	}
	var found []runtimes.Problem
	for handler, script := range built.Scripts {
		list, err := appends(handler, script)
		if err != nil {
			return nil, err
		}
		found = append(found, list...)
	}
	slices.SortFunc(found, func(a, b runtimes.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(found), nil // handlers share modules
}

// appends finds the places of one bundle.
func appends(handler string, script *bundle.Script) (found []runtimes.Problem, err error) {
	defer func() {
		if v := recover(); v != nil { // the parser, on what compile reports
			found, err = nil, panicError(v)
		}
	}()
	program, err := goja.Parse(scriptPrefix+handler, script.Code, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, syntaxProblems(handler, script.Map, err)
	}
	where, err := script.Map.Open()
	if err != nil {
		return nil, err
	}
	a := &appendFinder{scopes: []map[string]*variable{{}}}
	a.walk(reflect.ValueOf(program))
	for _, one := range a.found {
		if one.variable.reset {
			continue
		}
		place := program.File.Position(int(one.at) - program.File.Base())
		source, line, column, ok := where.Find(place.Line, place.Column)
		if !ok || strings.Contains("/"+source, "/node_modules/") {
			continue
		}
		found = append(found, runtimes.Problem{
			File: source, Line: line, Column: column, Message: "text is appended to in a loop; each time the whole text is copied",
			Hint: "collect the pieces in an array and join them when the loop is over",
		})
	}
	return found, nil
}

// appendFinder goes through a script with what is known of its variables.
type appendFinder struct {
	scopes []map[string]*variable // of the functions around
	loops  int                    // around, in the innermost function
	found  []appended
}

// appended is a place where a text grows.
type appended struct {
	at       file.Idx
	variable *variable
}

// variable is what is known of a variable.
type variable struct {
	text  bool // it began as one
	loops int  // around its declaration
	reset bool // it begins anew in a loop: what is copied stays short
}

func (a *appendFinder) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.Kind() == reflect.Pointer && a.node(v.Interface()) {
			return
		}
		a.walk(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			a.walk(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" {
				a.walk(v.Field(i))
			}
		}
	}
}

// node looks at one; true where nothing is left to look at in it.
func (a *appendFinder) node(node any) bool {
	switch x := node.(type) {
	case *file.File:
		return true
	case *ast.FunctionLiteral:
		a.function(x.ParameterList, x.Body, 0)
		return true
	case *ast.ArrowFunctionLiteral:
		a.function(x.ParameterList, x.Body, 0)
		return true
	case *ast.CallExpression:
		// The function of list.forEach(…) is the body of a loop.
		if callee, ok := x.Callee.(*ast.DotExpression); ok && callee.Identifier.Name == "forEach" && len(x.ArgumentList) > 0 {
			a.walk(reflect.ValueOf(&x.Callee))
			switch f := x.ArgumentList[0].(type) {
			case *ast.FunctionLiteral:
				a.function(f.ParameterList, f.Body, 1)
				return true
			case *ast.ArrowFunctionLiteral:
				a.function(f.ParameterList, f.Body, 1)
				return true
			}
		}
	case *ast.ForStatement:
		a.walk(reflect.ValueOf(x.Initializer))
		a.loop(x.Test, x.Update, x.Body)
		return true
	case *ast.ForInStatement:
		a.walk(reflect.ValueOf(x.Source))
		a.loop(x.Into, x.Body)
		return true
	case *ast.ForOfStatement:
		a.walk(reflect.ValueOf(x.Source))
		a.loop(x.Into, x.Body)
		return true
	case *ast.WhileStatement:
		a.loop(x.Test, x.Body)
		return true
	case *ast.DoWhileStatement:
		a.loop(x.Body, x.Test)
		return true
	case *ast.Binding:
		if name, ok := x.Target.(*ast.Identifier); ok {
			a.scopes[len(a.scopes)-1][name.Name.String()] = &variable{text: isText(x.Initializer), loops: a.loops}
		}
	case *ast.AssignExpression:
		a.assign(x)
	}
	return false
}

func (a *appendFinder) loop(parts ...any) {
	a.loops++
	for _, part := range parts {
		if v := reflect.ValueOf(part); v.IsValid() {
			a.walk(v)
		}
	}
	a.loops--
}

func (a *appendFinder) function(parameters *ast.ParameterList, body any, loops int) {
	outer := a.loops
	a.loops = loops
	a.scopes = append(a.scopes, map[string]*variable{})
	a.walk(reflect.ValueOf(parameters))
	a.walk(reflect.ValueOf(body))
	a.scopes = a.scopes[:len(a.scopes)-1]
	a.loops = outer
}

// assign notes text += piece and text = text + piece, where text is older than the loop.
func (a *appendFinder) assign(x *ast.AssignExpression) {
	name, ok := x.Left.(*ast.Identifier)
	if !ok || a.loops == 0 {
		return
	}
	text, reset := isText(x.Right), false
	switch x.Operator {
	case token.PLUS:
	case token.ASSIGN:
		first := x.Right
		for {
			sum, ok := first.(*ast.BinaryExpression)
			if !ok || sum.Operator != token.PLUS {
				break
			}
			first = sum.Left
		}
		id, ok := first.(*ast.Identifier)
		reset = !ok || first == x.Right || id.Name != name.Name
	default:
		return
	}
	for i := len(a.scopes) - 1; i >= 0; i-- {
		v, ok := a.scopes[i][name.Name.String()]
		switch {
		case !ok:
			continue
		case reset:
			v.reset = true
		case (v.text || text) && (i < len(a.scopes)-1 || v.loops < a.loops):
			a.found = append(a.found, appended{name.Idx, v})
		}
		return
	}
}

// isText reports whether an expression is a text for certain.
func isText(e ast.Expression) bool {
	switch x := e.(type) {
	case *ast.StringLiteral, *ast.TemplateLiteral:
		return true
	case *ast.BinaryExpression:
		return x.Operator == token.PLUS && (isText(x.Left) || isText(x.Right))
	}
	return false
}
