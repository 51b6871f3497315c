package node

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"

	"github.com/toolhost/toolhost/internal/bundle"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

var _ runtimes.Surveyor = (*Runtime)(nil)

// Survey finds what the plugin's code asks of the host.
func (r *Runtime) Survey(ctx context.Context, spec runtimes.Spec) (*runtimes.Survey, error) {
	root, err := os.OpenRoot(spec.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the folder of plugin %q: %w", spec.Plugin, err)
	}
	defer root.Close()
	handlers := map[string]bool{}
	var files []string
	for _, t := range spec.Tools {
		files = append(files, cleanHandler(t.Handler))
		handlers[cleanHandler(t.Handler)] = true
	}
	built, err := r.builder.Build(ctx, root, files)
	if err != nil {
		return nil, bundleProblems(err)
	}
	found := &runtimes.Survey{}
	var code strings.Builder
	for name, script := range built.Scripts {
		uses, err := usesIn(name, script, handlers)
		if err != nil {
			return nil, err
		}
		found.Uses = append(found.Uses, uses...)
		code.WriteString(script.Modules())
	}
	found.Code = code.String()
	for i := range found.Uses {
		if u := &found.Uses[i]; u.Kind == runtimes.UseModule {
			u.Hint = wayAround(u.Name)
		}
	}
	slices.SortFunc(found.Uses, func(a, b runtimes.Use) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	found.Uses = slices.Compact(found.Uses) // handlers share modules
	return found, nil
}

// wayAround says what to do instead of using a module that this runtime has not.
func wayAround(module string) string {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	e := newEngine(ctx, "/", &permissions.Grant{}, slog.New(slog.DiscardHandler))
	defer e.loop.close()
	ways := e.internal("unsupported").ToObject(e.vm).Get("ways").ToObject(e.vm)
	if way, ok := ways.Get(module).(goja.String); ok {
		return way.String()
	}
	return ""
}

// usesIn finds the uses in one bundle.
func usesIn(name string, script *bundle.Script, handlers map[string]bool) (found []runtimes.Use, err error) {
	defer func() {
		if v := recover(); v != nil { // the parser, on what compile reports
			found, err = nil, panicError(v)
		}
	}()
	program, err := goja.Parse(scriptPrefix+name, script.Code, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, syntaxProblems(name, script.Map, err)
	}
	where, err := script.Map.Open()
	if err != nil {
		return nil, err
	}
	s := &surveyor{script: program.File, where: where, handlers: handlers, modules: map[string]string{}, bound: map[inFile]string{}}
	s.visit = s.learn
	s.walk(reflect.ValueOf(program))
	s.visit = s.find
	s.walk(reflect.ValueOf(program))
	return s.found, nil
}

// surveyor goes through a bundle twice: first it learns what names stand for, then it finds
// what is done with them. Names are those of one file: two modules may use one for different
// things.
type surveyor struct {
	script   *file.File
	where    *bundle.Positions
	handlers map[string]bool
	visit    func(node any)
	modules  map[string]string // built-in modules by the function that the bundler makes for each
	bound    map[inFile]string // what variables hold: see the constants
	found    []runtimes.Use
}

type inFile struct{ file, name string }

// What an expression stands for: one of these, or a built-in module's name after isModule.
const (
	isModule  = "module "
	isContext = "ctx"    // a handler's second argument
	isFiles   = "ctx.fs" // its member
	isEnv     = "process.env"
	isOwn     = "own" // something of the file's own, which hides a global
)

func (s *surveyor) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.Kind() == reflect.Pointer {
			if _, ok := v.Interface().(*file.File); ok {
				return
			}
			s.visit(v.Interface())
		}
		s.walk(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			s.walk(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			// DeclarationList repeats what stands in the body.
			if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" {
				s.walk(v.Field(i))
			}
		}
	}
}

// place gives where a place of the bundle is in the author's own files.
func (s *surveyor) place(at file.Idx) (name string, line, column int, ok bool) {
	p := s.script.Position(int(at) - s.script.Base())
	name, line, column, ok = s.where.Find(p.Line, p.Column)
	if !ok || strings.Contains("/"+name, "/node_modules/") {
		return "", 0, 0, false
	}
	return name, line, column, true
}

func (s *surveyor) bind(id *ast.Identifier, what string) {
	if name, _, _, ok := s.place(id.Idx); ok {
		s.bound[inFile{name, id.Name.String()}] = what
	}
}

// learn takes down what names stand for.
func (s *surveyor) learn(node any) {
	switch x := node.(type) {
	case *ast.Binding:
		id, ok := x.Target.(*ast.Identifier)
		if !ok {
			return
		}
		if module, ok := builtinOf(x.Initializer); ok {
			s.modules[id.Name.String()] = module
			return
		}
		if what := s.meaning(x.Initializer); what != "" {
			s.bind(id, what)
		} else if s.meaning(id) == "" { // else a parameter, which was seen with its function
			s.bind(id, isOwn)
		}
	case *ast.FunctionLiteral:
		if x.Name != nil {
			s.bind(x.Name, isOwn)
		}
		s.parameters(x.ParameterList)
	case *ast.ArrowFunctionLiteral:
		s.parameters(x.ParameterList)
	case *ast.ObjectPattern:
		for _, p := range x.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				s.bind(&p.Name, isOwn)
			case *ast.PropertyKeyed:
				if id, ok := p.Value.(*ast.Identifier); ok {
					s.bind(id, isOwn)
				}
			}
		}
	}
}

// parameters takes down those of a function. A handler's second one is mostly named ctx.
func (s *surveyor) parameters(list *ast.ParameterList) {
	for i, p := range list.List {
		id, ok := p.Target.(*ast.Identifier)
		if !ok {
			continue
		}
		what := isOwn
		if name := id.Name.String(); name == "ctx" || name == "context" && i == 1 {
			what = isContext
		}
		s.bind(id, what)
	}
}

// builtinOf gives the module of which the bundler makes a function:
// __commonJS({"builtin:fs"(exports, module) { … }}).
func builtinOf(e ast.Expression) (string, bool) {
	call, ok := e.(*ast.CallExpression)
	if !ok || len(call.ArgumentList) != 1 {
		return "", false
	}
	object, ok := call.ArgumentList[0].(*ast.ObjectLiteral)
	if !ok || len(object.Value) != 1 {
		return "", false
	}
	p, ok := object.Value[0].(*ast.PropertyKeyed)
	if !ok {
		return "", false
	}
	return strings.CutPrefix(keyOf(p.Key), "builtin:")
}

func keyOf(e ast.Expression) string {
	switch k := e.(type) {
	case *ast.StringLiteral:
		return k.Value.String()
	case *ast.Identifier:
		return k.Name.String()
	}
	return ""
}

// meaning gives what an expression stands for; "" where that is not known.
func (s *surveyor) meaning(e ast.Expression) string {
	switch x := e.(type) {
	case *ast.Identifier:
		if name, _, _, ok := s.place(x.Idx); ok {
			if what, ok := s.bound[inFile{name, x.Name.String()}]; ok {
				return what
			}
			if x.Name == "process" {
				return isModule + "process"
			}
		}
	case *ast.CallExpression:
		id, ok := x.Callee.(*ast.Identifier)
		if !ok {
			return s.imported(x)
		}
		if module, ok := s.modules[id.Name.String()]; ok {
			return isModule + module
		}
		if id.Name == "__toESM" && len(x.ArgumentList) > 0 {
			return s.meaning(x.ArgumentList[0])
		}
	case *ast.AwaitExpression:
		return s.meaning(x.Argument)
	case *ast.OptionalChain:
		return s.meaning(x.Expression)
	case *ast.Optional:
		return s.meaning(x.Expression)
	case *ast.DotExpression:
		return memberOf(s.meaning(x.Left), x.Identifier.Name.String())
	}
	return ""
}

// imported gives what import("node:fs") stands for, of which the bundler makes
// Promise.resolve().then(() => __toESM(require_fs())).
func (s *surveyor) imported(x *ast.CallExpression) string {
	if d, ok := x.Callee.(*ast.DotExpression); !ok || d.Identifier.Name != "then" || len(x.ArgumentList) != 1 {
		return ""
	}
	f, ok := x.ArgumentList[0].(*ast.ArrowFunctionLiteral)
	if !ok {
		return ""
	}
	if body, ok := f.Body.(*ast.ExpressionBody); ok {
		if what := s.meaning(body.Expression); strings.HasPrefix(what, isModule) {
			return what
		}
	}
	return ""
}

// memberOf gives what a member of something stands for.
func memberOf(what, name string) string {
	switch {
	case strings.HasPrefix(what, isModule) && name == "default":
		return what
	case what == isModule+"fs" && name == "promises":
		return isModule + "fs/promises"
	case what == isModule+"process" && name == "env":
		return isEnv
	case what == isContext && name == "fs":
		return isFiles
	}
	return ""
}

// find takes down what the code asks of the host.
func (s *surveyor) find(node any) {
	switch x := node.(type) {
	case *ast.CallExpression:
		if id, ok := x.Callee.(*ast.Identifier); ok {
			if module := s.modules[id.Name.String()]; slices.Contains(unsupportedModules, module) {
				s.add(x.Idx0(), runtimes.UseModule, module, "node:"+module)
			}
			if id.Name == "fetch" && s.meaning(id) == "" {
				s.add(id.Idx, runtimes.UseFetch, hostIn(x.ArgumentList), "fetch")
			}
		}
		if d, ok := x.Callee.(*ast.DotExpression); ok && s.meaning(d.Left) == isContext && d.Identifier.Name == "fetch" {
			s.add(d.Left.Idx0(), runtimes.UseFetch, hostIn(x.ArgumentList), "ctx.fetch")
		}
	case *ast.DotExpression:
		s.member(x.Left.Idx0(), s.meaning(x.Left), x.Identifier.Name.String())
	case *ast.Binding:
		if pattern, ok := x.Target.(*ast.ObjectPattern); ok {
			s.members(pattern, s.meaning(x.Initializer))
		}
	case *ast.FunctionLiteral:
		s.destructured(x.ParameterList)
	case *ast.ArrowFunctionLiteral:
		s.destructured(x.ParameterList)
	}
}

// destructured looks at a second parameter that takes the handler's context apart.
func (s *surveyor) destructured(list *ast.ParameterList) {
	if len(list.List) != 2 {
		return
	}
	pattern, ok := list.List[1].Target.(*ast.ObjectPattern)
	if !ok {
		return
	}
	if name, _, _, ok := s.place(pattern.LeftBrace); ok && s.handlers[name] {
		s.members(pattern, isContext)
	}
}

// members looks at what a pattern takes out of something.
func (s *surveyor) members(pattern *ast.ObjectPattern, what string) {
	if what == "" || what == isOwn {
		return
	}
	for _, p := range pattern.Properties {
		switch p := p.(type) {
		case *ast.PropertyShort:
			s.member(p.Name.Idx, what, p.Name.Name.String())
		case *ast.PropertyKeyed:
			if p.Computed {
				continue
			}
			name := keyOf(p.Key)
			s.member(p.Key.Idx0(), what, name)
			if inner, ok := p.Value.(*ast.ObjectPattern); ok {
				s.members(inner, memberOf(what, name))
			}
		}
	}
}

var (
	// writing are the members of node:fs that write; each has a twin that ends with Sync.
	writing = []string{"appendFile", "copyFile", "cp", "createWriteStream", "mkdir", "mkdtemp", "rename", "rm", "rmdir", "truncate", "unlink", "utimes", "writeFile"}
	// askedOf are the members of ctx that need a permission, with the kind of their use.
	askedOf = map[string]string{
		"settings": runtimes.UseSettings, "store": runtimes.UseStore, "execute": runtimes.UseExecute, "ai": runtimes.UseAI,
		"toast": runtimes.UseToast, "session": runtimes.UseSession, "channels": runtimes.UseChannels, "renderHtmlToPdf": runtimes.UsePDF,
	}
	// reaching are the members of modules that reach the network.
	reaching = map[string][]string{
		"http": {"get", "request"}, "https": {"get", "request"}, "undici": {"fetch", "request"},
		"net": {"connect", "createConnection", "Socket"}, "tls": {"connect", "TLSSocket"},
	}
)

// member takes down the use of a member of something that is known.
func (s *surveyor) member(at file.Idx, what, name string) {
	module, isOne := strings.CutPrefix(what, isModule)
	switch {
	case what == isContext && name == "fetch":
		s.add(at, runtimes.UseFetch, "", "ctx.fetch")
	case what == isContext && askedOf[name] != "":
		s.add(at, askedOf[name], "", "ctx."+name)
	case what == isFiles && (name == "write" || name == "mkdir"):
		s.add(at, runtimes.UseWrite, "", "ctx.fs."+name)
	case what == isEnv && name != "NODE_ENV":
		s.add(at, runtimes.UseEnv, name, "process.env."+name)
	case isOne && (module == "fs" || module == "fs/promises") && slices.Contains(writing, strings.TrimSuffix(name, "Sync")):
		s.add(at, runtimes.UseWrite, "", name+" of node:"+module)
	case isOne && slices.Contains(reaching[module], name):
		kind := runtimes.UseFetch
		if module == "net" || module == "tls" {
			kind = runtimes.UseNet
		}
		s.add(at, kind, "", name+" of "+map[bool]string{true: module, false: "node:" + module}[module == "undici"])
	}
}

func (s *surveyor) add(at file.Idx, kind, name, text string) {
	file, line, column, ok := s.place(at)
	if !ok {
		return
	}
	// What is called is looked at as a member, too; the host may be known only then.
	for i := range s.found {
		if u := &s.found[i]; u.Kind == kind && u.File == file && u.Line == line && u.Column == column && (u.Name == "" || name == "" || u.Name == name) {
			u.Name = cmp.Or(u.Name, name)
			return
		}
	}
	s.found = append(s.found, runtimes.Use{Kind: kind, Name: name, Text: text, File: file, Line: line, Column: column})
}

// hostIn gives the host of a request to an address that is written out.
func hostIn(arguments []ast.Expression) string {
	if len(arguments) == 0 {
		return ""
	}
	text := ""
	switch x := arguments[0].(type) {
	case *ast.StringLiteral:
		text = x.Value.String()
	case *ast.TemplateLiteral:
		if len(x.Elements) > 0 {
			text = x.Elements[0].Literal
			if rest := strings.TrimPrefix(strings.TrimPrefix(text, "https://"), "http://"); len(x.Elements) > 1 && !strings.ContainsAny(rest, "/?#") {
				return "" // the host goes on with what is not known
			}
		}
	}
	if u, err := url.Parse(text); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return u.Hostname()
	}
	return ""
}
