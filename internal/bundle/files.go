package bundle

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/evanw/esbuild/pkg/api"
)

// Names that stand for __dirname, __filename, import.meta.url and import.meta.resolve in a
// file that uses them.
const (
	placeDirname  = "__toolhost_dirname"
	placeFilename = "__toolhost_filename"
	placeURL      = "__toolhost_url"
	placeResolve  = "__toolhost_resolve"
)

// moduleMark at the end of a path tells esbuild that the file is an ES module because
// its package.json says so: it goes by the ending of a path that a plugin resolved.
const moduleMark = "?module.mjs"

// files reads the files of one build. esbuild calls it from several goroutines.
type files struct {
	root              *os.Root
	maxFile, maxTotal int64

	mu       sync.Mutex
	total    int64
	sums     map[string][sha256.Size]byte
	prefix   map[string]prefix
	packages map[string]*packageJSON // by folder; nil where there is none
	answers  map[question]answer
	unread   bool // a file could not be read
}

// question is one that finding modules asks of the file system.
type question struct {
	Name string
	Link bool // about the name itself, not about what a link leads to
}

// answer to a question. Text is what finding modules goes by.
type answer struct {
	text string // one of those below, or linkTo with the target
	err  error  // of nothing
}

const (
	nothing  = ""
	isFolder = "folder"
	isOther  = "other"
	linkTo   = "link "
)

// prefix is text that was put before a line of a file.
type prefix struct{ line, length int }

func newFiles(root *os.Root, maxFile, maxTotal int64) *files {
	return &files{root: root, maxFile: maxFile, maxTotal: maxTotal, sums: map[string][sha256.Size]byte{},
		prefix: map[string]prefix{}, packages: map[string]*packageJSON{}, answers: map[question]answer{}}
}

// ask asks the file system, each question once: a build sees one state of it, and what it
// was told says later whether it would find the same modules again.
func (f *files) ask(q question) answer {
	f.mu.Lock()
	a, known := f.answers[q]
	f.mu.Unlock()
	if known {
		return a
	}
	a = f.look(q)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[q] = a
	return a
}

func (f *files) look(q question) answer {
	stat := f.root.Stat
	if q.Link {
		stat = f.root.Lstat
	}
	info, err := stat(q.Name)
	switch {
	case err != nil:
		return answer{err: err}
	case info.IsDir():
		return answer{text: isFolder}
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := f.root.Readlink(q.Name)
		if err != nil {
			return answer{err: err}
		}
		return answer{text: linkTo + target}
	}
	return answer{text: isOther}
}

// read reads a regular file within the limits, and remembers it as an input.
func (f *files) read(name string) ([]byte, error) {
	data, err := f.readRegular(name)
	if err != nil {
		f.mu.Lock()
		f.unread = true
		f.mu.Unlock()
	}
	return data, err
}

func (f *files) readRegular(name string) ([]byte, error) {
	// A fifo must not block the build, so it is opened without waiting for a writer.
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(file, f.maxFile+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > f.maxFile {
		return nil, fmt.Errorf("the file is larger than the limit of %d bytes", f.maxFile)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.sums[name]; !known {
		f.total += int64(len(data))
	}
	if f.total > f.maxTotal {
		return nil, fmt.Errorf("the files of the plugin's code are larger than the limit of %d bytes together", f.maxTotal)
	}
	f.sums[name] = sha256.Sum256(data)
	return data, nil
}

func (f *files) inputs() []Input {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []Input
	for _, name := range slices.Sorted(maps.Keys(f.sums)) {
		list = append(list, Input{Path: name, Sum: f.sums[name]})
	}
	return list
}

// told gives the answers of the file system; nil where something could not be read, about
// which nothing is known.
func (f *files) told() map[question]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unread {
		return nil
	}
	told := make(map[question]string, len(f.answers))
	for q, a := range f.answers {
		told[q] = a.text
	}
	return told
}

func (f *files) prefixes() map[string]prefix {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.prefix)
}

// shift says by how much a column of a line was moved to the right.
func (f *files) shift(name string, line int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.prefix[name]; p.line == line {
		return p.length
	}
	return 0
}

// isFile reports whether name is something other than a folder.
func (f *files) isFile(name string) bool { return f.ask(question{Name: name}).text == isOther }

func (f *files) isDir(name string) bool { return f.ask(question{Name: name}).text == isFolder }

// exists reports whether there is something of that name, a link that leads nowhere included.
func (f *files) exists(name string) bool {
	return f.ask(question{Name: name, Link: true}).text != nothing
}

// realPath resolves every link in name, as Node does before it looks for a module's own
// imports. A link that leaves the root is an error.
func (f *files) realPath(name string) (string, error) {
	done := "."
	rest := strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		next := path.Join(done, rest[0])
		found := f.ask(question{Name: next, Link: true})
		if found.text == nothing {
			return "", found.err
		}
		rest = rest[1:]
		target, isLink := strings.CutPrefix(found.text, linkTo)
		if !isLink {
			done = next
			continue
		}
		if links++; links > 40 {
			return "", &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
		}
		if path.IsAbs(target) || leaves(path.Join(done, target)) {
			return "", errLeaves
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return done, nil
}

var errLeaves = errors.New("it leaves the plugin's folder")

// leaves reports whether a cleaned relative path goes above where it starts.
func leaves(name string) bool { return name == ".." || strings.HasPrefix(name, "../") }

// load gives esbuild a file.
func (f *files) load(name, kind string) (api.OnLoadResult, error) {
	fail := func(p Problem) (api.OnLoadResult, error) {
		return api.OnLoadResult{Errors: []api.Message{{Text: p.Message, Detail: error(&p)}}}, nil
	}
	data, err := f.read(name)
	if err != nil {
		return fail(Problem{File: name, Message: "reading the file: " + withoutPath(err)})
	}
	loader, err := loaderOf(name, kind)
	if err != nil {
		return fail(Problem{File: name, Message: err.Error()})
	}
	code := string(data)
	switch loader {
	case api.LoaderText, api.LoaderBinary:
		return api.OnLoadResult{Contents: &code, Loader: loader}, nil
	}
	code = strings.TrimPrefix(code, "\ufeff")
	if line, column, what := tooDeep(code, loader == api.LoaderJSON); what != "" {
		return fail(Problem{File: name, Line: line, Column: column, Message: what, Hint: "split the expression, or read the data from a file at run time"})
	}
	if loader == api.LoaderJSON {
		return api.OnLoadResult{Contents: &code, Loader: loader}, nil
	}
	code = leaveForLater(openUniversal(sourceMapComments.Replace(code)))
	nowhere := ""
	if mayBePattern(code) {
		nowhere = nowhereFor(code)
	}
	code = f.addPlaces(name, code)
	return api.OnLoadResult{Contents: &code, Loader: loader, ResolveDir: nowhere}, nil
}

// sourceMapComments makes comments that name a source map mean nothing: esbuild would
// read the file that they name, wherever it is. In a string the escape means the same.
var sourceMapComments = strings.NewReplacer("# sourceMappingURL=", `# sourceMappingUR\x4c=`, "@ sourceMappingURL=", `@ sourceMappingUR\x4c=`)

// openUniversal lets the bundler see what a module of the universal form imports:
// TypeScript makes its body a function that gets require as a parameter, which hides the
// real one. The other name is as long, so that places stay right.
func openUniversal(code string) string {
	if !strings.Contains(code, "factory(require, exports)") {
		return code
	}
	return strings.Replace(code, "})(function (require, exports) {", "})(function (_equire, exports) {", 1)
}

// addPlaces defines what stands for __dirname and its like where a file uses them. It
// stays on one line, so that the lines of the file keep their numbers.
func (f *files) addPlaces(name, code string) string {
	var vars []string
	add := func(variable, method string, words ...string) {
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(code, w) }) {
			vars = append(vars, fmt.Sprintf("%s=__host.%s(%s)", variable, method, strconv.Quote(name)))
		}
	}
	add(placeDirname, "dirname", "__dirname", "import.meta")
	add(placeFilename, "filename", "__filename", "import.meta")
	add(placeURL, "url", "import.meta")
	add(placeResolve, "resolve", "import.meta.resolve")
	add(laterRequire, "requireFrom", laterRequire)
	add(laterImport, "importFrom", laterImport)
	if len(vars) == 0 {
		return code
	}
	text := "var " + strings.Join(vars, ",") + ";"
	at, line := 0, 1
	if strings.HasPrefix(code, "#!") {
		i := strings.IndexByte(code, '\n')
		if i < 0 {
			return code
		}
		at, line = i+1, 2
	}
	f.mu.Lock()
	f.prefix[name] = prefix{line: line, length: len(text)}
	f.mu.Unlock()
	return code[:at] + text + code[at:]
}

// loaderOf says how a file is read: by the import's type attribute, else by its ending.
func loaderOf(name, kind string) (api.Loader, error) {
	switch kind {
	case "text":
		return api.LoaderText, nil
	case "bytes":
		return api.LoaderBinary, nil
	case "json":
		return api.LoaderJSON, nil
	case "":
	default:
		return 0, fmt.Errorf("imports of type %q are not supported; json, text and bytes are", kind)
	}
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".js", ".mjs", ".cjs", "":
		return api.LoaderJS, nil
	case ".jsx":
		return api.LoaderJSX, nil
	case ".ts", ".mts", ".cts":
		return api.LoaderTS, nil
	case ".tsx":
		return api.LoaderTSX, nil
	case ".json":
		return api.LoaderJSON, nil
	case ".txt", ".md", ".html", ".css", ".sql", ".csv", ".tsv", ".xml", ".svg", ".yaml", ".yml", ".toml", ".graphql", ".gql":
		return api.LoaderText, nil
	case ".node":
		return 0, errors.New("native addons cannot be loaded by this runtime; use a pure JavaScript package")
	case ".wasm":
		return 0, errors.New(`WebAssembly is not available in this host's own engine; write "engine": "node" in the manifest, or use a pure JavaScript package`)
	default:
		return 0, fmt.Errorf("files ending in %q cannot be imported; read the file with node:fs, or import it with { type: \"text\" }", ext)
	}
}

// withoutPath gives the text of an error without the path, which the problem names itself.
func withoutPath(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
