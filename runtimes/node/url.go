package node

import (
	"github.com/dop251/goja"
	gojaurl "github.com/dop251/goja_nodejs/url"
)

func loadURL(e *engine) goja.Value {
	module := e.vm.NewObject()
	exports := e.vm.NewObject()
	_ = module.Set("exports", exports) // a plain object
	gojaurl.Require(e.vm, module)
	_ = exports.Set("cwd", func(goja.FunctionCall) goja.Value { return e.vm.ToValue(e.cwd()) })
	_ = exports.Set("windows", platform() == "win32")
	return urlLibrary.load(e, exports)
}
