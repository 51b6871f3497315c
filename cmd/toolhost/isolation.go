package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/toolhost/toolhost/permissions/sandbox"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
	"github.com/toolhost/toolhost/runtimes/nodejs"
	"github.com/toolhost/toolhost/runtimes/process"
	"github.com/toolhost/toolhost/runtimes/worker"
)

// The values of --isolation.
const (
	isolationAuto      = "auto"
	isolationInProcess = "in-process"
	isolationWorker    = "worker"
)

// isolation is the runtime "node": it decides for each plugin where its handlers run.
type isolation struct {
	mode      string
	inProcess runtimes.Runtime // in auto it refuses what it cannot hold
	worker    runtimes.Runtime
	nodejs    runtimes.Runtime // for "engine": "node"

	mu     sync.Mutex
	chosen map[string]string // by plugin
}

var (
	_ runtimes.Runtime  = (*isolation)(nil)
	_ runtimes.Advisor  = (*isolation)(nil)
	_ runtimes.Surveyor = (*isolation)(nil)
)

// newIsolation makes the runtime "node" as the flags ask for it.
func newIsolation(mode string, inProcess *node.Options, workers *worker.Options, programs *process.Options) *isolation {
	options := *inProcess
	options.RefuseRisky = mode == isolationAuto
	return &isolation{mode: mode, inProcess: node.New(&options), worker: worker.New(workers), nodejs: nodejs.New(programs), chosen: map[string]string{}}
}

// Open opens a plugin where it belongs: in a real Node.js where it asks for one, else in
// this process or in a worker. In auto a worker gets what was installed from elsewhere, and
// what has code that this process could not hold.
func (i *isolation) Open(ctx context.Context, spec runtimes.Spec) (runtimes.Instance, error) {
	if spec.Engine == "node" {
		return i.nodejs.Open(ctx, spec)
	}
	if i.mode != isolationWorker && (i.mode == isolationInProcess || !spec.Foreign) {
		instance, err := i.inProcess.Open(ctx, spec)
		var risk *node.RiskError
		if !errors.As(err, &risk) {
			i.note(spec.Plugin, isolationInProcess)
			return instance, err
		}
		if spec.Log != nil {
			spec.Log.Info("the plugin gets a process of its own", "err", err)
		}
	}
	i.note(spec.Plugin, isolationWorker)
	instance, err := i.worker.Open(ctx, spec)
	var unavailable *sandbox.UnavailableError
	if errors.As(err, &unavailable) {
		return nil, fmt.Errorf("%w; %s; or run it without a worker (--isolation in-process), if you trust it like a program of your own", err, unavailable.Hint)
	}
	return instance, err
}

// Advise looks through code that runs in the engine of this host, wherever that is.
func (i *isolation) Advise(ctx context.Context, spec runtimes.Spec) ([]runtimes.Problem, error) {
	if advisor, ok := i.inProcess.(runtimes.Advisor); ok && spec.Engine != "node" {
		return advisor.Advise(ctx, spec)
	}
	return nil, nil
}

// Survey looks through the code of handlers, wherever they run.
func (i *isolation) Survey(ctx context.Context, spec runtimes.Spec) (*runtimes.Survey, error) {
	if surveyor, ok := i.inProcess.(runtimes.Surveyor); ok {
		return surveyor.Survey(ctx, spec)
	}
	return &runtimes.Survey{}, nil
}

func (i *isolation) note(plugin, where string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.chosen[plugin] = where
}

// of says where the handlers of a plugin run; "" where that is not decided here.
func (i *isolation) of(plugin string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.chosen[plugin]
}
