package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/internal/scratch"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/permissions/sandbox"
	"github.com/toolhost/toolhost/runtimes"
)

// started is a process that runs, with the link to it.
type started struct {
	in *instance
	connection
	// stage is where the calls of a process that is kept find what their arguments name;
	// "" where they name nothing. The process can write there only where its calls may write.
	stage string
	said  *words
	// folder is the agent's folder for which the process was started.
	folder string
	// opened is what the grant opened to it.
	opened *sandbox.Rules
	undo   []func() // when it has ended
}

// end ends the process. It is called once.
func (s *started) end(grace time.Duration) {
	s.stop(grace)
	runAll(s.undo)
}

func runAll(undo []func()) {
	for _, f := range slices.Backward(undo) {
		f()
	}
}

// start starts a process with what the grant opens. stage adds what a call's arguments
// need; it may be nil. said is of this process alone.
func (in *instance) start(ctx context.Context, grant *permissions.Grant, stage *sandbox.Stage, said *words, log *slog.Logger) (_ *started, err error) {
	if err := in.unchanged(ctx); err != nil {
		return nil, err
	}
	leave, err := in.runtime.options.Places.Take(ctx)
	if err != nil {
		return nil, err
	}
	s := &started{in: in, said: said, folder: grant.Folder(), undo: []func(){leave}}
	defer func() {
		if err != nil {
			runAll(s.undo)
		}
	}()
	if s.opened, err = sandbox.FromGrant(grant, in.spec.Dir); err != nil {
		return nil, &Failure{What: "its process cannot be confined to what was granted", Err: err}
	}
	rules := in.rules(*s.opened, grant)
	env, use := environment(&in.spec), use{cancelGrace, 1}
	switch {
	case in.shared != nil:
		use.grace, use.stuck = sharedCancelGrace, maxStuck
	case in.kept != nil:
		use.grace = keptCancelGrace
	}
	if stage != nil {
		stage.Open(rules)
		env = append(env, stage.Env()...)
	} else if readsByArgument(in.spec.Policy) || writes(in.spec.Policy) {
		var release func()
		if s.stage, release, err = scratch.Folder("", "calls"); err != nil {
			return nil, &Failure{What: "no folder could be made for what its calls read", Err: err}
		}
		s.undo = append(s.undo, release)
		if writes(in.spec.Policy) {
			rules.Write = append(rules.Write, s.stage)
		} else {
			rules.Read = append(rules.Read, s.stage)
		}
	}
	if folder := grant.Folder(); folder != "" {
		env = append(env, "TOOLHOST_FOLDER="+folder)
	}
	if in.spec.DataDir != "" {
		if err := os.MkdirAll(in.spec.DataDir, 0o700); err != nil {
			return nil, &Failure{What: "its data folder cannot be made", Err: err}
		}
	}
	c, err := in.protocol.start(ctx, in, &child.Options{
		Argv: in.command.argv, Env: env, Dir: in.spec.Dir, Rules: rules, Mode: in.runtime.options.Sandbox,
		Log: log, Supervise: in.runtime.options.Supervise, Started: said.process.Store,
	}, use)
	if err != nil {
		return nil, said.ofStart(err)
	}
	s.connection = *c
	forget := context.AfterFunc(in.base, func() { s.p.Stop(0) })
	s.undo = append(s.undo, func() { forget() })
	return s, nil
}

// rules give what a process may do: what the grant opens, r, and what every process of the
// plugin needs.
func (in *instance) rules(r sandbox.Rules, grant *permissions.Grant) *sandbox.Rules {
	r.Exec = append(r.Exec, in.command.runs(grant.Folder())...)
	r.Limits.Memory = in.spec.Memory
	if in.spec.DataDir != "" {
		r.Private = append(r.Private, in.spec.DataDir)
	}
	if p := in.spec.Policy; p != nil && !in.protocol.hosted && len(p.Fetch.Static)+len(p.Fetch.Settings)+len(p.Net.Static)+len(p.Net.Settings) > 0 {
		r.Dial = func(ctx context.Context, _, address string) (net.Conn, error) { return dial(ctx, grant, address) }
	}
	return &r
}

// dial connects a process to a host that its grant allows.
func dial(ctx context.Context, grant *permissions.Grant, address string) (net.Conn, error) {
	name, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("the port %q is no number", text)
	}
	conn, err := grant.Fetch().Dial(ctx, &permissions.Dialer{}, name, port)
	if errors.Is(err, permissions.ErrDenied) {
		if other, otherErr := grant.Net().Dial(ctx, &permissions.Dialer{}, name, port); !errors.Is(otherErr, permissions.ErrDenied) {
			return other, otherErr
		}
	}
	return conn, err
}

// readsByArgument reports whether calls may read what their arguments name.
func readsByArgument(p *permissions.Policy) bool {
	return p != nil && (p.FS.Read.Parameter || p.FS.List != nil && p.FS.List.Parameter)
}

// readsFreely reports whether calls may read or list files whatever their arguments are.
func readsFreely(p *permissions.Policy) bool {
	free := func(a *permissions.Access) bool { return a != nil && (a.Folder || len(a.Paths) > 0) }
	return p != nil && (free(&p.FS.Read) || free(p.FS.List))
}

// writes reports whether calls may write files of the agent's folder.
func writes(p *permissions.Policy) bool {
	return writesFreely(p) || p != nil && p.FS.Write.Parameter
}

// writesFreely reports whether calls may write files whatever their arguments are.
func writesFreely(p *permissions.Policy) bool {
	return p != nil && (p.FS.Write.Folder || len(p.FS.Write.Paths) > 0)
}

// confinable reports, as a *runtimes.LoadError, that the sandbox is required and this
// machine has none.
func (in *instance) confinable() error {
	err := child.Confinable(in.rules(sandbox.Rules{}, nil), in.runtime.options.Sandbox)
	var lacking *sandbox.UnavailableError
	if !errors.As(err, &lacking) {
		return err
	}
	return &runtimes.LoadError{Problems: []runtimes.Problem{{
		File: runtimes.ManifestFile, Field: "/command", Message: "the plugin runs a program, which this machine cannot confine: " + lacking.Error(), Hint: lacking.Hint,
	}}}
}

// staged makes the stage of a call, and gives its arguments as the process gets them.
// folder is where the stage is made for a process that is kept; "" for one of this call.
func (in *instance) staged(call *host.Call, folder string) (*sandbox.Stage, json.RawMessage, error) {
	options := &sandbox.StageOptions{Dir: folder, All: folder != ""}
	stage, err := sandbox.NewStage(call.Grant, call.Paths, options)
	if err != nil {
		return nil, nil, &Failure{What: "the files of the call cannot be given to its process", Err: err}
	}
	args, err := arguments(call, in.spec.Policy, stage.Arguments(), !in.runtime.options.Context)
	if err != nil {
		_ = stage.Close()
		return nil, nil, err
	}
	return stage, args, nil
}
