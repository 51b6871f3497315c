package node

import (
	"fmt"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/host"
)

// shape turns what a handler returned into a result. It uses nothing that a script can
// have changed, except what the value itself brings: getters, toJSON and proxies run.
func (e *engine) shape(v goja.Value, limit int) (*host.Result, error) {
	if v == nil || goja.IsUndefined(v) {
		return &host.Result{}, nil
	}
	if s, ok := v.(goja.String); ok {
		if s.Length() > limit {
			return nil, tooLarge(limit)
		}
		return host.TextResult(s.String()), nil
	}
	var text goja.Value
	if err := e.protect(func() { text = e.stringify(v, limit) }); err != nil {
		return nil, err
	}
	s, ok := text.(goja.String)
	switch {
	case !ok: // a function or a symbol, or toJSON gave one
		return &host.Result{}, nil
	case s.Length() > 2*limit:
		return nil, tooLarge(limit)
	}
	return host.ValueResult([]byte(s.String())), nil
}

func tooLarge(limit int) error {
	return &failure{message: fmt.Sprintf("the result is larger than the limit of %d bytes", limit)}
}
