package schema

import "reflect"

// work estimates the steps that an engine needs for a value: it walks the value
// with the schemas as the engines do, without comparing anything. It gives up
// beyond maxWork. Recursive schemas can make a small value cost any number of
// steps, and a verdict cannot be interrupted.
func (s *Schema) work(v parsed) int {
	if s.plain && v.count*len(s.tree.order) < quickWork {
		return 0
	}
	w := worker{done: map[workKey]int{}}
	w.visit(s.tree.root, v.value)
	return w.steps
}

type workKey struct {
	n     *node
	value uintptr
}

type worker struct {
	steps int
	done  map[workKey]int // steps of what several references lead to
}

// maxRemembered bounds the memory of a walk; beyond it steps are counted again.
const maxRemembered = 200_000

func (w *worker) visit(n *node, v any) {
	if w.steps > maxWork {
		return
	}
	var key workKey
	if n.definition != "" || n.parent == nil {
		if key = (workKey{n, identity(v)}); key.value != 0 {
			if steps, ok := w.done[key]; ok {
				w.steps += steps
				return
			}
		}
	}
	before := w.steps
	w.steps += 1 + n.valueCost
	for _, part := range n.inPlace() {
		w.visit(part, v)
	}
	switch v := v.(type) {
	case string:
		if n.pattern != nil {
			w.steps += 1 + len(v)*n.pattern.size/16
		}
	case []any:
		w.items(n, v)
	case map[string]any:
		w.members(n, v)
	}
	if key.value != 0 && len(w.done) < maxRemembered && w.steps <= maxWork {
		w.done[key] = w.steps - before
	}
}

func (w *worker) items(n *node, list []any) {
	if n.object["uniqueItems"] == true {
		w.steps += len(list)
	}
	for i, item := range list {
		if part := n.item(i); part != nil {
			w.visit(part, item)
		}
		for _, k := range []string{"contains", "unevaluatedItems"} {
			if part := n.one[k]; part != nil {
				w.visit(part, item)
			}
		}
	}
}

func (w *worker) members(n *node, object map[string]any) {
	w.steps += len(object)
	for _, p := range n.patterns {
		// gojsonschema compiles these anew for each name.
		w.steps += len(object) * (20 + p.pattern.size)
	}
	if w.steps > maxWork {
		return
	}
	for name, v := range object {
		for _, part := range n.member(name) {
			w.visit(part, v)
		}
		if part := n.one["unevaluatedProperties"]; part != nil {
			w.visit(part, v)
		}
		if part := n.one["propertyNames"]; part != nil {
			w.visit(part, name)
		}
	}
}

// identity tells lists and objects apart that are not empty; others give 0.
func identity(v any) uintptr {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			return reflect.ValueOf(v).Pointer()
		}
	case map[string]any:
		if len(v) > 0 {
			return reflect.ValueOf(v).Pointer()
		}
	}
	return 0
}
