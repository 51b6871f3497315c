package node

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"

	"github.com/toolhost/toolhost/internal/bundle"
	"github.com/toolhost/toolhost/internal/lazyregexp"
	"github.com/toolhost/toolhost/runtimes"
)

// scriptPrefix begins the names under which bundles show in stack frames.
const scriptPrefix = "bundle:"

// program is the compiled script of one handler module. Engines share it.
type program struct {
	file     string // the handler file, as the manifest names it, or bundle.Together
	code     *goja.Program
	async    bool
	where    *bundle.SourceMap
	own      ownNames
	guard    guardSet
	language []string // parts of the language that the engine lacks and the code names
}

// lazyProgram is a script that is compiled when it is first needed.
type lazyProgram struct{ get func() (*program, error) }

func newLazyProgram(file string, s *bundle.Script) *lazyProgram {
	return &lazyProgram{sync.OnceValues(func() (*program, error) {
		return compile(file, s) // the script is let go after that
	})}
}

// compile compiles a bundled script. Its error is a *runtimes.LoadError.
func compile(file string, s *bundle.Script) (p *program, err error) {
	defer func() {
		// The compiler panics on some valid texts; that must stay a report about one plugin.
		if v := recover(); v != nil {
			err = loadError(runtimes.Problem{File: file, Message: fmt.Sprintf("the compiler cannot digest this code: %v", v)})
		}
	}()
	ast, err := goja.Parse(scriptPrefix+file, s.Code, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, syntaxProblems(file, s.Map, err)
	}
	found := computedIn(ast, modulesAt(s))
	rewrite(s.Modules(), ast)
	if strings.Contains(s.Modules(), "stack") {
		// The script may read the stacks of errors. It costs memory, so others do without.
		if err := s.Map.Attach(ast.File); err != nil {
			return nil, err
		}
	}
	code, err := goja.CompileAST(ast, false)
	if err != nil {
		return nil, syntaxProblems(file, s.Map, err)
	}
	return &program{file: file, code: code, async: s.Async, where: s.Map, own: ownNamesIn(s.Modules(), found), guard: guardsFor(s.Modules(), found), language: languageFor(s.Modules())}, nil
}

// modulesAt is where the modules of a script begin for the parser, which counts from 1.
func modulesAt(s *bundle.Script) file.Idx { return file.Idx(len(s.Code) - len(s.Modules()) + 1) }

func loadError(problems ...runtimes.Problem) *runtimes.LoadError {
	return &runtimes.LoadError{Problems: problems}
}

// syntaxProblems reports what the engine could not parse or compile at its place in the author's file.
func syntaxProblems(file string, where *bundle.SourceMap, err error) *runtimes.LoadError {
	p := runtimes.Problem{File: file, Message: err.Error(), Hint: "this runtime does not know the syntax"}
	var list parser.ErrorList
	var one *parser.Error
	var compiler *goja.CompilerSyntaxError
	line, column := 0, 0
	switch {
	case errors.As(err, &list) && len(list) > 0:
		line, column, p.Message = list[0].Position.Line, list[0].Position.Column, list[0].Message
	case errors.As(err, &one):
		line, column, p.Message = one.Position.Line, one.Position.Column, one.Message
	case errors.As(err, &compiler):
		p.Message = compiler.Message
		if compiler.File != nil {
			at := compiler.File.Position(compiler.Offset)
			line, column = at.Line, at.Column
		}
	}
	if open, err := where.Open(); err == nil && line > 0 {
		if f, l, c, ok := open.Find(line, column); ok {
			p.File, p.Line, p.Column = f, l, c
		}
	}
	return loadError(p)
}

// place gives the author's file, line and column of a place in a script of this engine.
func (e *engine) place(script string, line, column int) (file string, l, c int, ok bool) {
	if strings.HasSuffix(script, laterMark) {
		return e.laterPlace(script, line, column)
	}
	if e.program == nil || script != scriptPrefix+e.program.file {
		return "", 0, 0, false
	}
	if e.positions == nil {
		open, err := e.program.where.Open()
		if err != nil {
			e.log.Warn("the source map of a handler cannot be read", "err", err)
			return "", 0, 0, false
		}
		e.positions = open
	}
	return e.positions.Find(line, column)
}

// frame is one line of goja's stack text: function, script, line, column and program counter.
var frame = lazyregexp.New(`^\s*at (?:(.*) \()?(.+?):(\d+):(\d+)\(\d+\)\)?$`)

const (
	maxFrames    = 20
	maxStackText = 16 << 10
)

// authorStack turns the text of an error's stack into what its author knows: his own
// files, lines and columns, as Node writes them. Frames of the host are left out.
func (e *engine) authorStack(text string) string {
	if len(text) > maxStackText {
		text = text[:maxStackText]
	}
	var out []string
	frames := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(line, "\tat ") {
			if line != "" {
				out = append(out, line)
			}
			continue
		}
		if at := e.authorFrame(line); at != "" && frames < maxFrames {
			frames++
			out = append(out, at)
		}
	}
	return strings.Join(out, "\n")
}

// authorFrame is authorStack for one frame; "" for one that is not the author's.
func (e *engine) authorFrame(line string) string {
	m := frame.FindStringSubmatch(line)
	if m == nil || strings.HasPrefix(m[2], "node:") || strings.HasPrefix(m[2], "entry:") {
		return ""
	}
	l, _ := strconv.Atoi(m[3])
	c, _ := strconv.Atoi(m[4])
	if strings.HasPrefix(m[2], scriptPrefix) {
		file, l2, c2, ok := e.place(m[2], l, c)
		if !ok {
			return ""
		}
		m[2], l, c = file, l2, c2
	}
	at := fmt.Sprintf("%s:%d:%d", m[2], l, c)
	if m[1] != "" {
		at = fmt.Sprintf("%s (%s)", m[1], at)
	}
	return "    at " + at
}

// authorText is authorStack for the frames in a text of any kind, such as a stack that a
// script writes to the log.
func (e *engine) authorText(text string) string {
	if !strings.Contains(text, "\tat ") {
		return text
	}
	var out []string
	for line := range strings.Lines(text) {
		if before, at, ok := strings.Cut(line, "\tat "); ok && strings.TrimSpace(before) == "" && frame.MatchString("\tat "+strings.TrimRight(at, "\n")) {
			if at = e.authorFrame("\tat " + strings.TrimRight(at, "\n")); at == "" {
				continue
			}
			line = before + at + "\n"
		}
		out = append(out, line)
	}
	return strings.TrimSuffix(strings.Join(out, ""), "\n")
}

// framesText writes stack frames as goja does in an error's stack, without those of Go functions.
func framesText(frames []goja.StackFrame) string {
	var b strings.Builder
	n := 0
	for i := range frames {
		if frames[i].SrcName() == "<native>" {
			continue
		}
		if n++; n > maxFrames {
			break
		}
		at := frames[i].Position() // its file is the author's where the source map is attached
		fmt.Fprintf(&b, "\tat %s (%s:%d:%d(0))\n", frames[i].FuncName(), at.Filename, at.Line, at.Column)
	}
	return b.String()
}
