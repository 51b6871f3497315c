package node

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/dop251/goja"
)

// metaResolve gives import.meta.resolve of a module of the plugin: specifier → URL. Like
// Node's it looks for packages only.
func (e *engine) metaResolve(module string) goja.Value {
	path := filepath.Join(e.dir, filepath.FromSlash(module))
	base := (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	return e.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		v, ok := c.Argument(0).(goja.String)
		if !ok {
			panic(e.newError("TypeError", "ERR_INVALID_ARG_TYPE", "The \"specifier\" argument must be of type string"))
		}
		specifier := v.String()
		if name := strings.TrimPrefix(specifier, "node:"); builtinModules[name] != nil {
			return e.vm.ToValue("node:" + name)
		}
		args := []goja.Value{v, e.vm.ToValue(base)}
		if scheme, _, ok := strings.Cut(specifier, ":"); ok && !strings.ContainsAny(scheme, "/?#") {
			args = args[:1]
		} else if !strings.HasPrefix(specifier, "/") && !strings.HasPrefix(specifier, "./") && !strings.HasPrefix(specifier, "../") {
			found := e.resolveModule(v, filepath.ToSlash(filepath.Dir(module)), true)
			return e.vm.ToValue((&url.URL{Scheme: "file", Path: filepath.ToSlash(found)}).String())
		}
		made, err := e.vm.New(e.internal("whatwg_url").ToObject(e.vm).Get("URL"), args...)
		if err != nil {
			panic(err)
		}
		return made.Get("href")
	})
}
