package node

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/host"
)

// run evaluates the module, calls its handler and gives the shaped result. An error is
// a *failure, an *exitError, or why the engine was ended.
func (e *engine) run(p *program, maxResult int) (result *host.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
			var internal *internalError
			if errors.As(err, &internal) {
				e.log.Error("the engine panicked", "err", err, "stack", string(debug.Stack()))
			}
		}
	}()
	params, err := e.parseJSON(e.call.Args) // before the module can change what objects are made of
	if err != nil {
		return nil, fmt.Errorf("reading the arguments: %w", err)
	}
	handlers, err := e.load(p)
	if err != nil {
		return nil, err
	}
	v, err := handlers[0].handler(goja.Undefined(), params, e.newContext())
	if err != nil {
		return nil, e.failureOf(err)
	}
	v, err = e.settle(v)
	if err != nil {
		return nil, err
	}
	result, err = e.shape(v, maxResult)
	if err != nil {
		return nil, e.failureOf(err)
	}
	e.logRejections()
	return result, nil
}

// report turns the error of a call that failed into its result, and logs it.
func (e *engine) report(err error) (*host.Result, error) {
	var failed *failure
	var internal *internalError
	switch {
	case errors.As(err, &failed):
		e.log.Error("the handler failed", failed.attributes()...)
		return host.ErrorResult(failed.message), nil
	case errors.As(err, &internal):
		e.log.Error("the engine failed", "err", err)
		return host.ErrorResult("internal error of the JavaScript engine; the host's log has more"), nil
	}
	e.log.Error("the handler failed", "err", err)
	return host.ErrorResult(err.Error()), nil
}
