// Package worker runs the handlers of plugins of the runtime node in processes of their
// own, so that no handler can end the host or hold it up.
//
//	func main() {
//		worker.Main() // before anything else
//		…
//		rt := worker.New(&worker.Options{Folder: folder})
//		instance, err := rt.Open(ctx, spec)
//		result, err := instance.Handler("hello").Handle(ctx, call)
//	}
//
// [New] makes a [Runtime], which is a [runtimes.Runtime]. A worker is this same program,
// started anew: it opens the plugin with package runtimes/node and serves its calls, several
// at once, under what the kernel enforces: files by the plugin's policy, no network, no
// other programs, bounded memory. There is one for each plugin and agent folder; it is
// started by the first call, ended when no call has come for a while, and killed when a
// call goes on after its time. When it crashes, the calls in it fail, and the next call
// starts another.
//
// A worker has no secrets and no network: settings, stored values, requests and connections
// are the host's, which does for a call what the call's own grant allows. A call is a
// stream, so a worker cannot speak for a call that is not its own.
package worker

import (
	"context"
	"errors"
	"time"

	"github.com/toolhost/toolhost/permissions/sandbox"
	"github.com/toolhost/toolhost/runtimes"
)

// Options of a Runtime. Zero fields are the defaults.
type Options struct {
	// MaxResult is how many bytes a result may have; 1 MiB.
	MaxResult int
	// LoadLimit is how long the modules of a plugin may take to evaluate; 10 s.
	LoadLimit time.Duration
	// Sandbox says what happens where the kernel cannot enforce what a worker may touch.
	Sandbox sandbox.Mode
	// Folder is the agent's folder that most calls will have: the worker in which a plugin
	// is opened can serve them.
	Folder string
	// IdleStop is after how long without a call a worker is stopped; 5 min.
	IdleStop time.Duration
	// Places bounds how many processes of all plugins run at once; nil does not.
	Places *runtimes.Places
}

const (
	// openIdle is how long the worker in which a plugin was opened waits for a first call.
	openIdle = 10 * time.Second
	// maxOpenIdle is how many such workers wait at once; others are stopped.
	maxOpenIdle = 4
)

// Runtime opens plugins. It is safe for concurrent use.
type Runtime struct {
	options Options
	waiting chan struct{} // holds one for each worker that waits for a first call
	command []string      // what a worker is; nil for this program
}

var _ runtimes.Runtime = (*Runtime)(nil)

// New makes a Runtime; options may be nil.
func New(options *Options) *Runtime {
	r := &Runtime{waiting: make(chan struct{}, maxOpenIdle)}
	if options != nil {
		r.options = *options
	}
	if r.options.MaxResult <= 0 {
		r.options.MaxResult = 1 << 20
	}
	if r.options.LoadLimit <= 0 {
		r.options.LoadLimit = 10 * time.Second
	}
	if r.options.IdleStop <= 0 {
		r.options.IdleStop = 5 * time.Minute
	}
	return r
}

// maxMessage is how many bytes one message of a worker may have.
func (r *Runtime) maxMessage() int { return maxRequest + 16*r.options.MaxResult }

// Open opens the plugin in a worker. What its modules do there while they are evaluated
// ends no other process.
func (r *Runtime) Open(ctx context.Context, spec runtimes.Spec) (runtimes.Instance, error) {
	in := &instance{runtime: r, spec: spec.WithDefaults(), slots: map[string]*slot{}}
	in.base, in.end = context.WithCancelCause(context.Background())
	o, err := r.start(ctx, &in.spec, r.options.Folder, nil)
	if err != nil {
		in.end(err)
		var crash *crashError
		if errors.As(err, &crash) && !crash.start {
			return nil, &runtimes.LoadError{Problems: []runtimes.Problem{{
				Message: "loading it ended its process: " + crash.reason,
				Hint:    "the code of a module runs when it is loaded; do the work in the handler",
			}}}
		}
		if errors.Is(err, errOpenLimit) {
			return nil, &runtimes.LoadError{Problems: []runtimes.Problem{{
				Message: err.Error(), Hint: "do the work in the handler, not while the module loads",
			}}}
		}
		return nil, err
	}
	in.inputs = o.inputs
	in.sources = readSources(spec.Dir, o.inputs)
	r.keep(in, o.process)
	return in, nil
}

// keep lets the worker in which a plugin was opened wait for a first call, where not too
// many do.
func (r *Runtime) keep(in *instance, p *process) {
	s := in.slot(r.options.Folder)
	ready := make(chan struct{})
	close(ready)
	s.current = &attempt{ready: ready, process: p}
	in.watch(s, p)
	select {
	case r.waiting <- struct{}{}:
	default:
		p.stopIdle(0)
		return
	}
	p.stopIdle(openIdle)
	wait := func() {
		t := time.NewTimer(openIdle)
		defer t.Stop()
		select {
		case <-p.ended:
		case <-t.C:
		}
		<-r.waiting
	}
	if !in.work(wait) {
		<-r.waiting
	}
}
