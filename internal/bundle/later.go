package bundle

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"
)

// NotFoundError says that there is no module of a name.
type NotFoundError struct {
	Message string
	Hidden  bool // the package is there, and exports no such thing
}

func (e *NotFoundError) Error() string { return e.Message }

// Find gives the module that a name stands for in a file of a folder below root, as a build
// would find it: a slash path below root, or the name of a built-in module.
func (b *Builder) Find(root *os.Root, spec, folder string, isImport bool) (file, builtin string, err error) {
	r := &resolver{files: newFiles(root, b.options.MaxFile, b.options.MaxTotal), options: &b.options}
	if name, ok := strings.CutPrefix(spec, "node:"); ok {
		if !b.options.Builtin(name) {
			return "", "", &NotFoundError{Message: fmt.Sprintf("there is no built-in module %q", cut(spec))}
		}
		return "", name, nil
	}
	found, err := r.find(spec, folder, isImport, "")
	switch {
	case err != nil:
		return "", "", fmt.Errorf("import of %q is refused: %w", cut(spec), err)
	case found != "":
		if name, ok := strings.CutPrefix(found, builtinMark); ok {
			return "", name, nil
		}
		return found, "", nil
	}
	e := &NotFoundError{Message: fmt.Sprintf("Cannot find module '%s'", cut(spec))}
	if name, sub := splitPackage(spec); name != "" && sub != "." && r.installed(name, folder) {
		e.Message, e.Hidden = fmt.Sprintf("the package %q exports no %q", name, sub), true
	}
	return "", "", e
}

// Read reads a file below root as a build does.
func (b *Builder) Read(root *os.Root, file string) ([]byte, error) {
	return newFiles(root, b.options.MaxFile, b.options.MaxTotal).read(file)
}

// BuildOne builds the script of one module that [Builder.Find] gave, with all it imports.
func (b *Builder) BuildOne(ctx context.Context, root *os.Root, file string) (*Bundle, error) {
	if _, err := loaderOf(file, ""); err != nil {
		return nil, &Error{Problems: []Problem{{File: file, Message: err.Error()}}}
	}
	return b.build(ctx, root, []entry{{path.Clean(file), []string{path.Clean(file)}}})
}

// Holds reports whether a build would give the same bundle once more.
func (b *Bundle) Holds(root *os.Root) bool { return b.answers != nil && keep(b).holds(root) }

// CommonJS reports whether a file is a CommonJS module in a script.
func (s *Script) CommonJS(file string) bool {
	for _, m := range commonJS.FindAllStringSubmatch(s.Code, -1) {
		if m[1] == file {
			return true
		}
	}
	return false
}

// LoadsLater reports whether code may load modules that are known only at run time.
func LoadsLater(code string) bool {
	for _, word := range []string{laterRequire, laterImport, "createRequire"} {
		if strings.Contains(code, word) {
			return true
		}
	}
	return false
}
