package loader

import "sync"

// hider is a Registrar whose tools can be hidden by their plugins.
type hider interface {
	Hide(owner, name string, hidden bool)
}

// visibility holds which of its tools a plugin hides. What it says while it is opened counts
// from the moment on that its tools are registered, and nothing counts once others are.
type visibility struct {
	mu     sync.Mutex
	hidden map[string]bool                // by the names that the plugin asks for
	hide   func(name string, hidden bool) // nil while its tools are not registered
}

func (v *visibility) set(name string, hidden bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.hidden == nil {
		v.hidden = map[string]bool{}
	}
	v.hidden[name] = hidden
	if v.hide != nil {
		v.hide(name, hidden)
	}
}

func (v *visibility) hides(name string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.hidden[name]
}

// attach begins to tell reg, under the name of the owner, what the plugin hides.
func (v *visibility) attach(reg Registrar, owner string) {
	h, ok := reg.(hider)
	if !ok {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hide = func(name string, hidden bool) { h.Hide(owner, name, hidden) }
	for name, hidden := range v.hidden { // the plugin may have said something since
		v.hide(name, hidden)
	}
}

func (v *visibility) detach() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hide = nil
}
