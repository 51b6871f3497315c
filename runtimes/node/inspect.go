package node

import (
	"reflect"

	"github.com/dop251/goja"
)

var (
	arrayBufferType = reflect.TypeFor[goja.ArrayBuffer]()
	mapType         = reflect.TypeFor[[][2]any]()
	listType        = reflect.TypeFor[[]any]()
	proxyType       = reflect.TypeFor[goja.Proxy]()
)

// kindOf says what an object is by its internal slots, whatever its prototype and tags say.
func kindOf(o *goja.Object) string {
	switch o.ExportType() {
	case proxyType:
		return "Proxy"
	case arrayBufferType:
		return "ArrayBuffer"
	case promiseType:
		return "Promise"
	case mapType:
		return "Map"
	}
	if _, ok := goja.AssertFunction(o); ok {
		return "Function"
	}
	class := o.ClassName()
	if class == "Object" && o.ExportType() == listType {
		return "Set"
	}
	return class
}

func loadInspect(e *engine) goja.Value {
	types := e.internal("types_host").ToObject(e.vm)
	return inspectLibrary.load(e, types)
}

// loadTypes gives what util.inspect and util.types ask of Go.
func loadTypes(e *engine) goja.Value {
	// What has no class of its own is told by functions that refuse all but their kind.
	ofPrototype := func(class, name string) goja.Callable {
		f, _ := goja.AssertFunction(e.vm.Get(class).ToObject(e.vm).Get("prototype").ToObject(e.vm).Get(name))
		return f
	}
	isView, _ := goja.AssertFunction(e.vm.Get("ArrayBuffer").ToObject(e.vm).Get("isView"))
	weakMapHas, weakSetHas := ofPrototype("WeakMap", "has"), ofPrototype("WeakSet", "has")
	bigInt, symbol := ofPrototype("BigInt", "valueOf"), ofPrototype("Symbol", "valueOf")
	dataView := e.vm.Get("DataView").ToObject(e.vm)
	plain := e.vm.NewObject().Prototype()
	refine := func(o *goja.Object) string {
		if p := o.Prototype(); p == nil || p == plain {
			return "Object"
		}
		if e.apply(isView, o).ToBoolean() {
			if e.vm.InstanceOf(o, dataView) {
				return "DataView"
			}
			return "TypedArray"
		}
		if _, err := weakMapHas(o, o); err == nil {
			return "WeakMap"
		}
		if _, err := weakSetHas(o, o); err == nil {
			return "WeakSet"
		}
		if _, err := bigInt(o); err == nil {
			return "BigInt"
		}
		if _, err := symbol(o); err == nil {
			return "Symbol"
		}
		return "Object"
	}
	return e.object(map[string]any{
		"kindOf": func(c goja.FunctionCall) goja.Value {
			o, ok := c.Argument(0).(*goja.Object)
			if !ok {
				return goja.Undefined()
			}
			kind := kindOf(o)
			if e.api.lazy[o] {
				kind = "Object"
			}
			if kind == "Object" {
				kind = refine(o)
			}
			return e.vm.ToValue(kind)
		},
		"systemErrors": func(goja.FunctionCall) goja.Value { return e.systemErrorList() },
		"isWellFormed": e.isWellFormed,
		"toWellFormed": e.toWellFormed,
		"authorStack":  func(c goja.FunctionCall) goja.Value { return e.vm.ToValue(e.authorStack(c.Argument(0).String())) },
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
