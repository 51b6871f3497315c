package node

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/dop251/goja"
)

// metaResolve gives import.meta.resolve of a module of the plugin: specifier → URL. Like
// Node's it looks at no file. Packages are part of the bundle, so they have no URL.
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
			panic(e.newError("Error", "ERR_MODULE_NOT_FOUND", "%s", fmt.Sprintf("Cannot find package '%s' imported from %s: packages are part of the plugin's bundle and have no URL", specifier, path)))
		}
		made, err := e.vm.New(e.internal("whatwg_url").ToObject(e.vm).Get("URL"), args...)
		if err != nil {
			panic(err)
		}
		return made.Get("href")
	})
}
