package node

import "github.com/dop251/goja"

// errorValue turns an error of Go into a JavaScript Error with Node's code, errno,
// syscall and path where it is one of the file system, and into a PluginPermissionError
// where access was denied.
func (e *engine) errorValue(err error) goja.Value { return e.vm.NewGoError(err) }
