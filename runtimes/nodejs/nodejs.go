// Package nodejs runs the handlers of the node runtime on a real Node.js, for packages
// that need its engine or native addons: what a manifest asks for with "engine": "node".
//
//	rt := nodejs.New(&process.Options{Sandbox: sandbox.Require})
//	instance, err := rt.Open(ctx, spec)
//
// The handlers get the same arguments and the same ctx as in package node. Each call has
// a Node.js of its own, as every program of package process has; with "state": "plugin"
// one serves one call after the other. The author's files are run where they are, with
// nothing bundled. What they may touch the sandbox says; Node.js itself is told to start no
// other programs.
//
// [New] makes a [Runtime], which is a [runtimes.Runtime]. A loader knows both engines as the
// runtime "node": a host that has both gives it one whose Open hands a Spec with the Engine
// "node" to this one, and any other to package node. main must begin with process.Main.
package nodejs

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/process"
)

//go:embed bootstrap.js
var bootstrap string

const (
	// loadLimit is how long the handler modules of a plugin may take to evaluate together.
	loadLimit = 10 * time.Second
	// loadTool is the tool that evaluates all handler modules. No manifest can name it so.
	loadTool = "toolhost:load"
)

// Runtime opens plugins. It is safe for concurrent use.
type Runtime struct {
	programs *process.Runtime
	found    finder
}

var _ runtimes.Runtime = (*Runtime)(nil)

// New makes a Runtime; options may be nil.
func New(options *process.Options) *Runtime {
	var o process.Options
	if options != nil {
		o = *options
	}
	o.Context = true
	return &Runtime{programs: process.New(&o)}
}

// Open finds Node.js and evaluates the plugin's handler modules once, in a process that is
// thrown away.
func (r *Runtime) Open(ctx context.Context, spec runtimes.Spec) (runtimes.Instance, error) {
	spec = spec.WithDefaults()
	found, err := r.found.find(ctx)
	if err != nil {
		return nil, err
	}
	if err := found.runs(spec.Tools); err != nil {
		return nil, err
	}
	spec.Memory = memory(spec.Memory)
	spec.Protocol, spec.KeepAlive = "stdio", spec.State == "plugin"
	if err := r.try(ctx, found, spec); err != nil {
		return nil, err
	}
	if spec.Command, err = command(found, &spec, false); err != nil {
		return nil, err
	}
	return r.programs.Open(ctx, spec)
}

// memory gives what a process may use; 0 stands for the sandbox's default, which is enough.
func memory(stated int64) int64 {
	if stated == 0 {
		return 0
	}
	return max(stated, runtimes.LeastEngineMemory)
}

// command gives the command that runs the plugin's handlers.
func command(found *installed, spec *runtimes.Spec, load bool) ([]string, error) {
	handlers := map[string]string{}
	for _, t := range spec.Tools {
		if t.ID != loadTool {
			handlers[t.ID] = path.Clean(t.Handler)
		}
	}
	p := spec.Policy
	if p == nil {
		p = &permissions.Policy{}
	}
	known, err := json.Marshal(map[string]any{
		"dir": spec.Dir, "handlers": handlers, "load": load,
		"policy": map[string]bool{
			"toast": p.Toast, "session.getActive": p.SessionGetActive,
			"channels.getIntegrationConfig": p.ChannelsGetIntegrationConfig, "channels.setIntegrationConfig": p.ChannelsGetIntegrationConfig,
			"triggerInbound": p.HostTrigger, "respondToHitl": p.HostTrigger,
			"listChannels": p.HostTrigger, "getSessionHistory": p.HostTrigger, "settings.set": p.Settings, "session.sendMessage": true, "renderHtmlToPdf": p.RenderHTMLToPDF,
		},
	})
	if err != nil {
		return nil, err
	}
	argv := append([]string{found.path}, found.flags()...)
	if spec.Memory > 0 {
		// Half is left for buffers and for what is not JavaScript.
		argv = append(argv, fmt.Sprintf("--max-old-space-size=%d", spec.Memory/2>>20))
	}
	return append(argv, "--eval", bootstrap, string(known)), nil
}

// try evaluates the handler modules. What is wrong with them is a *runtimes.LoadError.
func (r *Runtime) try(ctx context.Context, found *installed, spec runtimes.Spec) error {
	policy := &permissions.Policy{Root: spec.Dir}
	if spec.Policy != nil {
		policy.Env = spec.Policy.Env
	}
	spec.Policy, spec.KeepAlive, spec.DataDir, spec.Services = policy, false, "", runtimes.Services{}
	spec.Tools = append([]runtimes.Tool{{ID: loadTool}}, spec.Tools...)
	var err error
	if spec.Command, err = command(found, &spec, true); err != nil {
		return err
	}
	instance, err := r.programs.Open(ctx, spec)
	if err != nil {
		return err
	}
	defer func() {
		if err := instance.Close(ctx); err != nil {
			spec.Log.Debug("closing the process that evaluated the modules", "err", err)
		}
	}()
	grant, err := policy.Resolve("", nil)
	if err != nil {
		return err
	}
	defer grant.Revoke()
	limited, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	result, err := instance.Handler(loadTool).Handle(limited, &host.Call{Tool: loadTool, Grant: grant, Log: spec.Log})
	var failure *process.Failure
	switch {
	case err == nil:
		return loadError(result)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return &runtimes.LoadError{Problems: []runtimes.Problem{{
			File: spec.Tools[1].Handler, Message: fmt.Sprintf("the handler modules were not evaluated within %s", loadLimit),
			Hint: "do the work in the handler, not while the module loads",
		}}}
	case errors.As(err, &failure):
		if p, ok := placed(spec.Dir, failure.Tail); ok {
			return &runtimes.LoadError{Problems: []runtimes.Problem{p}}
		}
	}
	return err
}
