package bundle

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/suggest"
)

// resolver finds modules as Node does, below the root only.
type resolver struct {
	files   *files
	options *Options
}

// resolve answers esbuild. A module that is not there is left to esbuild, which makes it
// an error, or a run-time one where the import stands in a try block.
func (r *resolver) resolve(args api.OnResolveArgs) (api.OnResolveResult, error) {
	fail := func(format string, v ...any) (api.OnResolveResult, error) {
		return api.OnResolveResult{Errors: []api.Message{{Text: fmt.Sprintf(format, v...)}}}, nil
	}
	spec := args.Path
	if scheme, rest, ok := strings.Cut(spec, ":"); ok {
		switch scheme {
		case "node":
			if r.options.Builtin(rest) {
				return api.OnResolveResult{Path: rest, Namespace: builtinSpace}, nil
			}
			if near := suggest.Nearest(rest, r.options.Builtins); near != "" {
				return fail("there is no built-in module %q; did you mean %q?", spec, "node:"+near)
			}
			return fail("there is no built-in module %q", spec)
		case "http", "https", "file", "data", "blob":
			return fail("%q cannot be imported: modules come from the plugin's folder only", cut(spec))
		}
	}
	from := "."
	if args.Namespace == fileSpace {
		from = path.Dir(strings.TrimSuffix(args.Importer, moduleMark))
	}
	isImport := args.Kind != api.ResolveJSRequireCall && args.Kind != api.ResolveJSRequireResolve
	found, err := r.find(spec, from, isImport, path.Ext(strings.TrimSuffix(args.Importer, moduleMark)))
	switch {
	case err != nil:
		return fail("import of %q is refused: %s", cut(spec), err)
	case found == "" && args.Namespace == entrySpace:
		return r.noHandler(path.Clean(spec))
	case found == "":
		return api.OnResolveResult{}, nil
	case strings.HasPrefix(found, builtinMark):
		return api.OnResolveResult{Path: strings.TrimPrefix(found, builtinMark), Namespace: builtinSpace}, nil
	}
	result := api.OnResolveResult{Path: found, Namespace: fileSpace}
	if p := r.packageOf(path.Dir(found)); p != nil {
		if p.Type == "module" && (strings.HasSuffix(found, ".js") || strings.HasSuffix(found, ".ts")) {
			result.Path += moduleMark
		}
		if p.SideEffectFree && strings.Contains(found, "node_modules/") {
			result.SideEffects = api.SideEffectsFalse
		}
	}
	return result, nil
}

func (r *resolver) noHandler(name string) (api.OnResolveResult, error) {
	p := &Problem{Message: fmt.Sprintf("the handler file %q does not exist", name)}
	dir, base := path.Split(name)
	if near := r.files.nearest(path.Clean(dir), base); near != "" {
		p.Hint = fmt.Sprintf("did you mean %q?", dir+near)
	}
	return api.OnResolveResult{Errors: []api.Message{{Text: p.Message, Detail: error(p)}}}, nil
}

// builtinMark is before the name of a built-in module where find gives one.
const builtinMark = "node:"

// find gives the real path of a module, or "" where there is none. An error says that
// it may not be imported.
func (r *resolver) find(spec, from string, isImport bool, importerExt string) (string, error) {
	switch {
	case spec == "." || spec == ".." || strings.HasPrefix(spec, "./") || strings.HasPrefix(spec, "../"):
		name := path.Join(from, spec)
		if leaves(name) {
			return "", errLeaves
		}
		if strings.HasSuffix(spec, "/") || strings.HasSuffix(spec, "/.") || strings.HasSuffix(spec, "/..") || spec == "." || spec == ".." {
			return r.folder(name)
		}
		return r.fileOrFolder(name, importerExt)
	case strings.HasPrefix(spec, "/"), len(spec) > 2 && spec[1] == ':':
		return "", errLeaves
	case strings.HasPrefix(spec, "#"):
		p := r.packageOf(from)
		if p == nil {
			return "", nil
		}
		target := p.target("/imports", spec, conditions(isImport))
		return r.target(p, target, isImport)
	}
	if r.options.Builtin(spec) {
		return builtinMark + spec, nil
	}
	return r.bare(spec, from, isImport)
}

// bare finds a module of a package.
func (r *resolver) bare(spec, from string, isImport bool) (string, error) {
	name, sub := splitPackage(spec)
	if name == "" {
		return "", nil
	}
	if p := r.packageOf(from); p != nil && p.Name == name && p.has("/exports") {
		return r.target(p, p.target("/exports", sub, conditions(isImport)), isImport)
	}
	for dir := from; ; dir = path.Dir(dir) {
		if path.Base(dir) != "node_modules" {
			folder := path.Join(dir, "node_modules", name)
			if r.files.exists(folder) {
				return r.inPackage(folder, sub, isImport)
			}
			if sub == "." && r.files.isFile(folder+".js") {
				return r.real(folder + ".js")
			}
		}
		if dir == "." {
			return "", nil
		}
	}
}

func (r *resolver) inPackage(folder, sub string, isImport bool) (string, error) {
	if !r.files.isDir(folder) {
		if _, err := r.files.realPath(folder); err != nil {
			return "", err // a link that leaves the root, or hangs
		}
	}
	if p := r.packageAt(folder); p != nil && p.has("/exports") {
		return r.target(p, p.target("/exports", sub, conditions(isImport)), isImport)
	}
	if sub == "." {
		return r.folder(folder)
	}
	return r.fileOrFolder(path.Join(folder, sub), "")
}

// target finds what a package.json names.
func (r *resolver) target(p *packageJSON, target string, isImport bool) (string, error) {
	switch {
	case target == "":
		return "", nil
	case strings.HasPrefix(target, "./"):
		name := path.Join(p.dir, target)
		if leaves(name) {
			return "", errLeaves
		}
		if !r.files.isFile(name) {
			return "", nil
		}
		return r.real(name)
	case strings.HasPrefix(target, builtinMark) && r.options.Builtin(target[len(builtinMark):]):
		return target, nil
	case r.options.Builtin(target):
		return builtinMark + target, nil
	case strings.HasPrefix(target, "/"), strings.HasPrefix(target, "../"):
		return "", errLeaves
	}
	return r.bare(target, p.dir, isImport)
}

// extensions are tried in this order; TypeScript first, since its compiled twin may lie beside it.
var extensions = []string{".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".json"}

// sourceOf says which TypeScript files may stand behind a name that ends as compiled ones do.
var sourceOf = map[string][]string{".js": {".ts", ".tsx"}, ".jsx": {".tsx"}, ".mjs": {".mts"}, ".cjs": {".cts"}}

func (r *resolver) fileOrFolder(name, importerExt string) (string, error) {
	if r.files.isFile(name) {
		return r.real(name)
	}
	if r.files.exists(name) && !r.files.isDir(name) {
		if _, err := r.files.realPath(name); err != nil {
			return "", err // a link that leaves the root, or hangs
		}
	}
	for _, ext := range extensions {
		if r.files.isFile(name + ext) {
			return r.real(name + ext)
		}
	}
	if strings.HasPrefix(importerExt, ".t") || strings.HasPrefix(importerExt, ".mt") || strings.HasPrefix(importerExt, ".ct") {
		ext := path.Ext(name)
		for _, source := range sourceOf[ext] {
			if found := strings.TrimSuffix(name, ext) + source; r.files.isFile(found) {
				return r.real(found)
			}
		}
	}
	return r.folder(name)
}

func (r *resolver) folder(name string) (string, error) {
	if !r.files.isDir(name) {
		return "", nil
	}
	if p := r.packageAt(name); p != nil {
		for _, main := range p.Main {
			file := path.Join(name, main)
			if leaves(file) {
				return "", errLeaves
			}
			for _, candidate := range append([]string{""}, extensions...) {
				if r.files.isFile(file + candidate) {
					return r.real(file + candidate)
				}
			}
			for _, ext := range extensions {
				if index := path.Join(file, "index"+ext); r.files.isFile(index) {
					return r.real(index)
				}
			}
		}
	}
	for _, ext := range extensions {
		if index := path.Join(name, "index"+ext); r.files.isFile(index) {
			return r.real(index)
		}
	}
	return "", nil
}

func (r *resolver) real(name string) (string, error) {
	found, err := r.files.realPath(name)
	if err != nil {
		return "", err
	}
	return found, nil
}

// splitPackage gives a package's name and "." or "./sub" of a bare import.
func splitPackage(spec string) (name, sub string) {
	parts := strings.Split(spec, "/")
	n := 1
	if strings.HasPrefix(spec, "@") {
		n = 2
	}
	if len(parts) < n {
		return "", ""
	}
	for _, p := range parts {
		if p == ".." || strings.Contains(p, `\`) {
			return "", ""
		}
	}
	name = strings.Join(parts[:n], "/")
	sub = strings.Join(parts[n:], "/")
	if name == "." || name == "" || strings.HasPrefix(name, ".") {
		return "", ""
	}
	if sub == "" {
		return name, "."
	}
	return name, "./" + sub
}

// conditions are those of Node and, as bundlers have it, "module".
func conditions(isImport bool) []string {
	if isImport {
		return []string{"import", "node", "module", "default"}
	}
	return []string{"require", "node", "module", "default"}
}

// packageJSON is what module resolution needs of a package.json.
type packageJSON struct {
	dir            string
	Name, Type     string
	Main           []string // main, then module
	SideEffectFree bool
	doc            *jsondoc.Document
}

// packageOf gives the nearest package.json above a folder that Node would go by.
func (r *resolver) packageOf(dir string) *packageJSON {
	for ; ; dir = path.Dir(dir) {
		if path.Base(dir) == "node_modules" {
			return nil
		}
		if p := r.packageAt(dir); p != nil {
			return p
		}
		if dir == "." {
			return nil
		}
	}
}

// packageAt reads a folder's package.json; nil where there is none that can be read.
func (r *resolver) packageAt(dir string) *packageJSON {
	r.files.mu.Lock()
	p, known := r.files.packages[dir]
	r.files.mu.Unlock()
	if known {
		return p
	}
	if r.files.isFile(path.Join(dir, "package.json")) {
		p = r.readPackage(dir)
	}
	r.files.mu.Lock()
	r.files.packages[dir] = p
	r.files.mu.Unlock()
	return p
}

func (r *resolver) readPackage(dir string) *packageJSON {
	data, err := r.files.read(path.Join(dir, "package.json"))
	if err != nil {
		return nil
	}
	doc, err := jsondoc.Parse(data)
	if err != nil {
		return nil
	}
	fields, ok := doc.Value.(map[string]any)
	if !ok {
		return nil
	}
	p := &packageJSON{dir: dir, doc: doc}
	p.Name, _ = fields["name"].(string)
	p.Type, _ = fields["type"].(string)
	for _, f := range []string{"main", "module"} {
		if s, ok := fields[f].(string); ok && s != "" {
			p.Main = append(p.Main, s)
		}
	}
	if free, ok := fields["sideEffects"].(bool); ok {
		p.SideEffectFree = !free
	}
	return p
}

func (p *packageJSON) has(pointer string) bool {
	v, _ := p.doc.Value.(map[string]any)
	return v[pointer[1:]] != nil
}

// target gives what the exports or imports of a package name for a key ("." , "./sub",
// "#name"), "" where they name nothing.
func (p *packageJSON) target(pointer, key string, conditions []string) string {
	fields, _ := p.doc.Value.(map[string]any)
	value := fields[pointer[1:]]
	entries, isObject := value.(map[string]any)
	if !isObject || pointer == "/exports" && !hasPaths(entries) {
		if key != "." {
			return ""
		}
		return p.choose(pointer, value, "", conditions)
	}
	if v, ok := entries[key]; ok && !strings.Contains(key, "*") {
		return p.choose(pointer+"/"+jsondoc.Escape(key), v, "", conditions)
	}
	best, match := "", ""
	for pattern := range entries {
		before, after, ok := strings.Cut(pattern, "*")
		if !ok || len(key) < len(before)+len(after) || !strings.HasPrefix(key, before) || !strings.HasSuffix(key, after) {
			continue
		}
		if old, _, _ := strings.Cut(best, "*"); best == "" || len(before) > len(old) || len(before) == len(old) && len(pattern) > len(best) {
			best, match = pattern, key[len(before):len(key)-len(after)]
		}
	}
	if best == "" {
		return ""
	}
	return p.choose(pointer+"/"+jsondoc.Escape(best), entries[best], match, conditions)
}

func hasPaths(entries map[string]any) bool {
	for key := range entries {
		return strings.HasPrefix(key, ".") // all do or none does
	}
	return false
}

// choose follows conditions in the order in which the file has them.
func (p *packageJSON) choose(pointer string, value any, match string, conditions []string) string {
	switch v := value.(type) {
	case string:
		return strings.ReplaceAll(v, "*", match)
	case []any:
		for i, item := range v {
			if t := p.choose(fmt.Sprintf("%s/%d", pointer, i), item, match, conditions); t != "" {
				return t
			}
		}
	case map[string]any:
		for _, key := range p.doc.Keys(pointer) {
			for _, c := range conditions {
				if key == c {
					if t := p.choose(pointer+"/"+jsondoc.Escape(key), v[key], match, conditions); t != "" {
						return t
					}
				}
			}
		}
	case json.Number, bool, nil:
	}
	return ""
}

func cut(s string) string {
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "…" // not half a character
	}
	return s
}
