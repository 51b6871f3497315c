package node

import (
	"context"
	"log/slog"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
)

// scope is what belongs to one call, or to the evaluation of modules: who is asked when
// script reads a file, writes to the log or sets a timer. An engine has one where it serves
// one call. Where the calls of a plugin share an engine, each has its own, which goes with
// its script over callbacks, timers and promise jobs.
type scope struct {
	call  *host.Call         // nil while modules load
	grant *permissions.Grant // never nil; allows no file but the plugin's own while modules load
	log   *slog.Logger
	ctx   context.Context // operations get it; nil: that of the engine
	over  bool            // the call has ended: nothing of it begins or goes on

	console     logOutput
	partial     map[string]string // lines that process.stdout and stderr have begun
	abortSignal goja.Callable     // aborts ctx.signal; nil until that is touched
	aborted     error             // why the call was aborted; nil while it was not
	rejections  int               // that nothing handles, of those that are kept for the log
}

// in runs f for a scope.
func (e *engine) in(s *scope, f func() error) error {
	before := e.scope
	e.enter(s)
	defer e.enter(before)
	return f()
}

// share prepares an engine whose calls have scopes of their own. turn runs what the loop
// runs for a scope, and says with an error that the loop must end.
func (e *engine) share(turn func(s *scope, f func() error) error) {
	e.shared = true
	e.loop.in, e.loop.awaited = turn, nil
	e.enter(e.scope)
	e.vm.SetAsyncContextTracker(contextTracker{e})
}

// leave ends what a scope has begun: its timers, files, requests, connections and the
// rejections that are kept.
func (e *engine) leave(s *scope) {
	for _, id := range e.loop.drop(s) {
		if e.api.forgetTimer != nil {
			e.api.forgetTimer(id)
		}
	}
	for fd, file := range e.api.files {
		if file.scope == s {
			_ = file.Close() // nobody is left who could be told
			delete(e.api.files, fd)
		}
	}
	e.closeExchanges(s)
	e.closeSockets(s)
	for p, of := range e.rejected {
		if of == s {
			delete(e.rejected, p)
		}
	}
}

// enter makes s the scope of the script that runs from now on.
func (e *engine) enter(s *scope) {
	e.scope = s
	e.loop.runs.Store(s)
}
