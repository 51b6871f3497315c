// Package process runs the calls of tools in programs of any language.
//
//	rt := process.New(&process.Options{Sandbox: sandbox.Require})
//	instance, err := rt.Open(ctx, spec) // spec.Command: ["python3", "./main.py"]
//	result, err := instance.Handler("hello").Handle(ctx, call)
//
// The program reads one JSON message a line from stdin and writes its answers to stdout;
// stderr is its log. Each call gets a process of its own, confined to what the call was
// granted; with "keepAlive" one process serves one call after the other. How processes are
// started and ended is in package internal/child, what the kernel holds them to in package
// permissions/sandbox.
//
// [New] makes a [Runtime], which is a [runtimes.Runtime]. What goes wrong with a process
// is a [Failure].
//
// main must begin with [Main].
package process

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/toolhost/toolhost/permissions/sandbox"
	"github.com/toolhost/toolhost/runtimes"
)

// Options of a Runtime. Zero fields are the defaults.
type Options struct {
	// Sandbox says whether processes must be confined; the zero value demands it.
	Sandbox sandbox.Mode
	// MaxProcesses is how many processes of one plugin run at once; 8. Further calls wait.
	MaxProcesses int
	// Idle is how long a process that is kept may have nothing to do before it is ended;
	// 5 min.
	Idle time.Duration
	// MaxResult is how many bytes a result may have, for the message where there are far
	// too many; 1 MiB.
	MaxResult int
	// Context adds to each request who calls, from where and until when, and leaves paths
	// that start at the agent's folder as they are: the program goes there itself.
	Context bool
	// Places bounds how many processes of all plugins run at once; nil does not.
	Places *runtimes.Places
	// Supervise keeps processes by a supervisor even where the kernel has pid namespaces.
	Supervise bool
}

// Runtime opens plugins. It is safe for concurrent use.
type Runtime struct{ options Options }

var _ runtimes.Runtime = (*Runtime)(nil)

// New makes a Runtime; options may be nil.
func New(options *Options) *Runtime {
	r := &Runtime{}
	if options != nil {
		r.options = *options
	}
	if r.options.MaxProcesses <= 0 {
		r.options.MaxProcesses = 8
	}
	if r.options.MaxResult <= 0 {
		r.options.MaxResult = 1 << 20
	}
	if r.options.Idle <= 0 {
		r.options.Idle = 5 * time.Minute
	}
	return r
}

// Open looks the plugin's command up. Nothing is started before the first call.
func (r *Runtime) Open(ctx context.Context, spec runtimes.Spec) (runtimes.Instance, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	spec = spec.WithDefaults()
	if spec.DataDir != "" {
		dir, err := filepath.Abs(spec.DataDir) // the program starts in its own folder
		if err != nil {
			return nil, fmt.Errorf("the data folder of plugin %q: %w", spec.Plugin, err)
		}
		spec.DataDir = dir
	}
	var problems []runtimes.Problem
	collect := func(err error) error {
		var load *runtimes.LoadError
		if !errors.As(err, &load) {
			return err
		}
		problems = append(problems, load.Problems...)
		return nil
	}
	protocol, err := protocolOf(&spec)
	if err := collect(err); err != nil {
		return nil, err
	}
	if err := collect(checkEnvironment(spec.Policy)); err != nil {
		return nil, err
	}
	found, err := lookUp(&spec)
	if err := collect(err); err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, &runtimes.LoadError{Problems: problems}
	}
	in := &instance{
		runtime: r, spec: spec, command: found, protocol: protocol,
		slots: make(chan struct{}, r.options.MaxProcesses), closing: make(chan struct{}),
	}
	if in.inputs, in.seen, err = readInputs(ctx, spec.Dir, found.own); err != nil {
		return nil, fmt.Errorf("reading the files of plugin %q: %w", spec.Plugin, err)
	}
	if err := in.confinable(); err != nil {
		return nil, err
	}
	in.base, in.stop = context.WithCancelCause(context.Background())
	switch {
	case spec.KeepAlive && writesFreely(spec.Policy):
		// A process knows one folder of what it writes, and has all its life for that: what
		// belongs to which call nobody could tell.
		spec.Log.Warn("keepAlive is passed over: a plugin that may write more than what its arguments name gets a process for each call")
	case protocol.several && !writes(spec.Policy) && !readsByArgument(spec.Policy):
		in.shared = &sharer{instance: in}
	case spec.KeepAlive:
		in.kept = &keeper{instance: in, turn: make(chan struct{}, 1)}
	}
	return in, nil
}
