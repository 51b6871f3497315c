package node

import (
	"reflect"

	"github.com/dop251/goja"
)

var (
	arrayBufferType = reflect.TypeFor[goja.ArrayBuffer]()
	proxyType       = reflect.TypeFor[goja.Proxy]()
)

// kindOf says what an object is by its internal slots, whatever its prototype and tags say.
func kindOf(o *goja.Object) string {
	switch t := o.ExportType(); {
	case t == proxyType:
		return "Proxy"
	case t == arrayBufferType:
		return "ArrayBuffer"
	case t == promiseType:
		return "Promise"
	}
	switch class := o.ClassName(); class {
	case "AsyncFunction", "GeneratorFunction":
		return "Function"
	default:
		return class
	}
}

func loadInspect(e *engine) goja.Value {
	types := e.internal("types_host").ToObject(e.vm)
	return inspectLibrary.load(e, types)
}

// loadTypes gives what util.inspect and util.types ask of Go.
func loadTypes(e *engine) goja.Value {
	isView, _ := goja.AssertFunction(e.vm.Get("ArrayBuffer").ToObject(e.vm).Get("isView"))
	dataView := e.vm.Get("DataView")
	return e.object(map[string]any{
		"kindOf": func(c goja.FunctionCall) goja.Value {
			o, ok := c.Argument(0).(*goja.Object)
			if !ok {
				return goja.Undefined()
			}
			kind := kindOf(o)
			if kind == "Object" && e.apply(isView, o).ToBoolean() {
				if kind = "TypedArray"; e.vm.InstanceOf(o, dataView.ToObject(e.vm)) {
					kind = "DataView"
				}
			}
			return e.vm.ToValue(kind)
		},
		"authorStack": func(c goja.FunctionCall) goja.Value { return e.vm.ToValue(e.authorStack(c.Argument(0).String())) },
		"promiseState": func(c goja.FunctionCall) goja.Value {
			p, ok := c.Argument(0).Export().(*goja.Promise)
			if !ok {
				return goja.Undefined()
			}
			switch p.State() {
			case goja.PromiseStateFulfilled:
				return e.vm.NewArray("fulfilled", p.Result())
			case goja.PromiseStateRejected:
				return e.vm.NewArray("rejected", p.Result())
			}
			return e.vm.NewArray("pending", goja.Undefined())
		},
		"proxyParts": func(c goja.FunctionCall) goja.Value {
			p, ok := c.Argument(0).Export().(goja.Proxy)
			if !ok {
				return goja.Undefined()
			}
			target, handler := goja.Null(), goja.Null()
			if o := p.Target(); o != nil {
				target = o
			}
			if o := p.Handler(); o != nil {
				handler = o
			}
			return e.vm.NewArray(target, handler)
		},
	})
}
