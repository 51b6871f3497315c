package node

import "github.com/dop251/goja"

// newContext makes the second argument of a handler.
func (e *engine) newContext() *goja.Object { return e.vm.NewObject() }

// abort aborts the call's signal.
func (e *engine) abort(cause error) error { e.api.aborted = cause; return nil }
