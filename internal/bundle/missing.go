package bundle

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/toolhost/toolhost/internal/suggest"
)

// maxNames is how many names of a folder are looked through for a correction.
const maxNames = 1_000

// unresolved begins esbuild's text about a module that is not there.
const unresolved = "Could not resolve "

// missing says of a module that is not there what is wrong and what to do.
func (r *resolver) missing(text, importer string) (message, hint string) {
	quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(text, unresolved))
	if err != nil {
		return "", ""
	}
	spec, err := strconv.Unquote(quoted)
	if err != nil {
		return "", ""
	}
	from := path.Dir(importer)
	switch {
	case strings.HasPrefix(spec, "./"), strings.HasPrefix(spec, "../"), spec == ".", spec == "..":
		message = fmt.Sprintf("no such file: %q", cut(spec))
		dir, base := path.Split(spec)
		switch near := r.files.nearest(path.Join(from, dir), base); {
		case r.files.isDir(path.Join(from, spec)):
			return message, "it is a folder without an index file"
		case near != "":
			return message, fmt.Sprintf("did you mean %q?", dir+near)
		case !r.files.isDir(path.Join(from, dir)):
			return message, fmt.Sprintf("there is no folder %q in the plugin", path.Join(from, dir))
		}
		return message, "relative imports start at the folder of the file that has them"
	case strings.HasPrefix(spec, "#"):
		return fmt.Sprintf("no such import: %q", cut(spec)), `names with "#" are those under "imports" in the plugin's package.json`
	}
	name, sub := splitPackage(spec)
	if name != "" && r.installed(name, from) {
		if sub == "." {
			return fmt.Sprintf("the package %q has no main file", name), "its package.json names none that exists; import a file of it by its path"
		}
		return fmt.Sprintf("the package %q exports no %q", name, sub), `see "exports" in its package.json`
	}
	if near := suggest.Nearest(spec, r.options.Builtins); near != "" {
		return "", fmt.Sprintf("did you mean %q? otherwise install the package into the plugin's own node_modules", "node:"+near)
	}
	return "", "install the package into the plugin's own node_modules, or correct the name"
}

// installed reports whether a package is in a node_modules folder that Node would look into.
func (r *resolver) installed(name, from string) bool {
	for dir := from; ; dir = path.Dir(dir) {
		if path.Base(dir) != "node_modules" && r.files.isDir(path.Join(dir, "node_modules", name)) {
			return true
		}
		if dir == "." {
			return false
		}
	}
}

// nearest gives the name in a folder that was probably meant, without the ending where
// the wrong one has none; "" where none is near.
func (f *files) nearest(dir, base string) string {
	folder, err := f.root.Open(dir)
	if err != nil {
		return ""
	}
	defer folder.Close()
	entries, err := folder.ReadDir(maxNames)
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if ext := path.Ext(name); path.Ext(base) == "" && slices.Contains(extensions, ext) {
			name = strings.TrimSuffix(name, ext)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return suggest.Nearest(base, names)
}

// typeScriptHint says so where a file that does not parse as JavaScript does as TypeScript.
func (f *files) typeScriptHint(name string) string {
	loader, err := loaderOf(name, "")
	if err != nil || loader != api.LoaderJS && loader != api.LoaderJSX {
		return ""
	}
	data, err := f.read(name)
	if err != nil {
		return ""
	}
	try := func(loader api.Loader) bool {
		return len(api.Transform(string(data), api.TransformOptions{Loader: loader, TsconfigRaw: `{}`, LogLevel: api.LogLevelSilent}).Errors) == 0
	}
	ext := path.Ext(name)
	typed := map[string]string{"": ".ts", ".js": ".ts", ".mjs": ".mts", ".cjs": ".cts", ".jsx": ".tsx"}[strings.ToLower(ext)]
	switch {
	case try(loader): // it is about something else
		return ""
	case try(api.LoaderTS):
		return fmt.Sprintf("this is TypeScript: name the file %q", path.Base(strings.TrimSuffix(name, ext))+typed)
	case try(api.LoaderTSX), try(api.LoaderJSX):
		return fmt.Sprintf("this is JSX: name the file %q", path.Base(strings.TrimSuffix(name, ext))+".tsx")
	}
	return ""
}
