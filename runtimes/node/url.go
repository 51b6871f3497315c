package node

import (
	"github.com/dop251/goja"
	gojaurl "github.com/dop251/goja_nodejs/url"
)

// urlHost gives what the URL libraries need of Go: the names of hosts in other scripts.
// The URL class of goja_nodejs is not used: it resolves "../c" wrongly, and decodes passwords.
func (e *engine) urlHost() goja.Value {
	module := e.vm.NewObject()
	theirs := e.vm.NewObject()
	_ = module.Set("exports", theirs) // a plain object
	gojaurl.Require(e.vm, module)
	return e.object(map[string]any{
		"domainToASCII":   theirs.Get("domainToASCII"),
		"domainToUnicode": theirs.Get("domainToUnicode"),
		"toWellFormed":    e.toWellFormed,
		"cwd":             func(goja.FunctionCall) goja.Value { return e.vm.ToValue(e.cwd()) },
		"windows":         platform() == "win32",
	})
}

func loadURL(e *engine) goja.Value { return urlLibrary.load(e, e.urlHost()) }

func loadWhatwgURL(e *engine) goja.Value { return whatwgURLLibrary.load(e, e.urlHost()) }
