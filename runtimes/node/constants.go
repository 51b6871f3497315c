package node

import "github.com/dop251/goja"

// loadConstants gives the old module of all constants: those of os, fs and crypto in one object.
func loadConstants(e *engine) goja.Value {
	all := e.vm.NewObject()
	var add func(o *goja.Object)
	add = func(o *goja.Object) {
		for _, name := range o.Keys() {
			if group, ok := o.Get(name).(*goja.Object); ok {
				add(group) // errno, signals, priority, dlopen
				continue
			}
			_ = all.Set(name, o.Get(name)) // a plain object
		}
	}
	for _, module := range []string{"os", "fs", "crypto"} {
		m, _ := e.require(module)
		if o, ok := m.ToObject(e.vm).Get("constants").(*goja.Object); ok {
			add(o)
		}
	}
	return all
}
