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
		if s.Length() > 16*limit { // below that the host counts, and says the exact size
			return nil, tooLarge(s.Length(), limit)
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
		return nil, tooLarge(s.Length(), limit)
	}
	return host.ValueResult([]byte(s.String())), nil
}

// tooLarge says of a result that is not even turned into JSON how large it is at least.
func tooLarge(size, limit int) error {
	return &failure{message: fmt.Sprintf("the result is at least %d bytes; the limit is %d bytes", size, limit)}
}
