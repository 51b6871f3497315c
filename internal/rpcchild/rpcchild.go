// Package rpcchild starts children that serve gRPC in the way of HashiCorp's go-plugin, and
// connects to them.
//
//	c, err := rpcchild.Start(ctx, &rpcchild.Options{
//		Child: child.Options{Argv: argv, Rules: rules}, Cookie: [2]string{"NAME", "value"}, Version: 1, Service: "name",
//	})
//	defer c.Stop(time.Second)
//	client := pb.NewServiceClient(c.Connection())
//
// Everything that is dangerous about go-plugin with a child that is not to be trusted is
// dealt with here. The child is started by package internal/child, so it does not inherit
// the host's standard input and environment. Only one line of its standard output reaches
// go-plugin, the one that says where it serves. The host connects only to a socket in the
// folder that the child was given, once. Messages are bounded, and so is stopping: go-plugin
// itself would wait for ever for a child that hangs.
package rpcchild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/internal/scratch"
	"github.com/toolhost/toolhost/permissions/sandbox"
)

// Options say what to start. Child.Argv, Cookie, Version and Service are required.
type Options struct {
	// Child says how to start the child. What go-plugin has to say is added to Env, and the
	// folder for the socket to Rules, which may be nil.
	Child child.Options
	// Cookie is the name and the value of the variable by which the child knows that it is
	// run as a plugin.
	Cookie [2]string
	// Version is that of the protocol.
	Version int
	// Service is the name under which the child reports its health.
	Service string
	// StartLimit is how long the child may take to say where it serves; 10 s.
	StartLimit time.Duration
	// MaxMessage is how many bytes one message of the child may have; 4 MiB.
	MaxMessage int
	// Said takes what the child says on standard output besides; nil drops it. Several
	// goroutines may call it.
	Said func(line string)
}

// Child is a child that runs and serves.
type Child struct {
	process *child.Process
	client  *goplugin.Client
	conn    *grpc.ClientConn
	asking  sync.Once
	asked   chan struct{} // closed when go-plugin has asked the child to end, and seen it end
	undo    func()
	undoing sync.Once
}

// StartError says why a child did not come so far as to serve.
type StartError struct {
	What string           // "its process ended before it served (exit status 3)"
	Tail string           // the last lines that it said on stderr; may be empty
	Err  error            // the cause; may be nil
	Exit *child.ExitError // how it ended, where it ended with another status than 0
}

func (e *StartError) Error() string {
	if e.Err != nil {
		return e.What + ": " + e.Err.Error()
	}
	return e.What
}

func (e *StartError) Unwrap() error { return e.Err }

// Start starts a child and connects to it. ctx bounds the start. What went wrong with the
// child is a *[StartError]; nothing is left of it then.
func Start(ctx context.Context, options *Options) (*Child, error) {
	o := *options
	if o.StartLimit <= 0 {
		o.StartLimit = 10 * time.Second
	}
	if o.MaxMessage <= 0 {
		o.MaxMessage = 4 << 20
	}
	if o.Said == nil {
		o.Said = func(string) {}
	}
	// Paths of sockets are short; the user's folder of temporary files may not be.
	temp, release, err := scratch.Folder(socketBase(), "rpc")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the socket of a process: %w", err)
	}
	run := &childRunner{said: o.Said, limit: o.MaxMessage}
	stdout, stderr := &lineWriter{said: o.Said}, &lineWriter{said: o.Said}
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  goplugin.HandshakeConfig{ProtocolVersion: uint(o.Version), MagicCookieKey: o.Cookie[0], MagicCookieValue: o.Cookie[1]},
		VersionedPlugins: map[int]goplugin.PluginSet{o.Version: {o.Service: &connected{}}},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, sockets string) (runner.Runner, error) {
			run.prepare(o.Child, cmd.Env, sockets)
			return run, nil
		},
		SkipHostEnv:      true,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		StartTimeout:     o.StartLimit,
		Logger:           hclog.NewNullLogger(),
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: temp},
		SyncStdout:       stdout, SyncStderr: stderr,
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithContextDialer(run.dial),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(o.MaxMessage)),
			grpc.WithInitialWindowSize(1 << 20), grpc.WithInitialConnWindowSize(1 << 20),
		},
	})
	c := &Child{client: client, asked: make(chan struct{})}
	c.undo = func() {
		if p := run.process.Load(); p != nil {
			p.Stop(0)
		}
		client.Kill() // at once, now that the child is gone
		stdout.flush()
		stderr.flush()
		release()
	}
	stop := context.AfterFunc(ctx, func() { _ = run.Kill(ctx) })
	protocol, err := client.Client()
	stop()
	if err == nil && ctx.Err() == nil {
		var raw any
		if raw, err = protocol.Dispense(o.Service); err == nil {
			c.process, c.conn = run.process.Load(), raw.(*grpc.ClientConn)
			return c, nil
		}
	}
	if ctx.Err() != nil {
		c.undoing.Do(c.undo)
		return nil, context.Cause(ctx)
	}
	err = run.startError(err, o.StartLimit)
	c.undoing.Do(c.undo)
	return nil, err
}

// Process gives the child. Stop it by [Child.Stop].
func (c *Child) Process() *child.Process { return c.process }

// Connection gives the connection to the child.
func (c *Child) Connection() *grpc.ClientConn { return c.conn }

// Stop asks the child to end, waits for the grace, and ends it with all that it has
// started, as [child.Process.Stop] does. Nothing is left of it when Stop returns. It may be
// called more than once.
func (c *Child) Stop(grace time.Duration) {
	if grace > 0 {
		c.Ask()
	}
	c.process.Stop(grace)
	c.Ask() // where nobody has asked, it only puts go-plugin's things in order
	<-c.asked
	c.undoing.Do(c.undo)
}

// Ask asks the child to end by itself. It does not wait for that.
func (c *Child) Ask() {
	c.asking.Do(func() {
		go func() {
			defer close(c.asked)
			c.client.Kill() // a request without a limit; the end of the child ends it
		}()
	})
}

// connected gives the connection itself as the client of a service.
type connected struct {
	goplugin.NetRPCUnsupportedPlugin
}

var _ goplugin.GRPCPlugin = (*connected)(nil)

func (*connected) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return errors.New("the host serves nothing")
}

func (*connected) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return c, nil
}

// startError says why a child does not serve.
func (r *childRunner) startError(err error, limit time.Duration) error {
	p := r.process.Load()
	if p == nil { // it was not even started
		return &StartError{What: "its process could not be started", Err: err}
	}
	e := &StartError{}
	fill := func() *StartError {
		e.Tail = p.Tail()
		var exit *child.ExitError
		if errors.As(p.Err(), &exit) {
			e.Exit = exit
		}
		return e
	}
	// go-plugin has no error values for these.
	switch text := err.Error(); {
	case r.noise.Load():
		e.What = fmt.Sprintf("its process wrote more than %d lines to stdout before the one that says where it serves", maxNoise)
	case strings.Contains(text, "timeout while waiting"):
		e.What = fmt.Sprintf("its process did not say within %s where it serves", limit)
	case r.ended(p):
		how := "exit status 0"
		if err := p.Err(); err != nil {
			how = err.Error()
		}
		e.What = "its process ended before it served (" + how + ")"
	case strings.Contains(text, "Unrecognized remote plugin message"):
		e.What = "its process closed its stdout without the line that says where it serves"
	default:
		text, _, _ = strings.Cut(text, "\n")
		e.What, e.Err = "its process does not serve as it should", errors.New(text)
	}
	return fill()
}

// ended reports whether the child has ended by itself.
func (r *childRunner) ended(p *child.Process) bool {
	select {
	case <-p.Done():
		return !r.killed.Load()
	default:
		return false
	}
}

// prepare readies the runner for the child of options.
func (r *childRunner) prepare(options child.Options, env []string, sockets string) {
	r.sockets = sockets
	rules := &sandbox.Rules{}
	if options.Rules != nil {
		*rules = *options.Rules
	}
	rules.Sockets = sockets
	options.Rules, options.Env = rules, append(append([]string{}, options.Env...), env...)
	r.options = &options
}

// socketBase is where the folders for sockets are made. Their paths may have about 100
// bytes, of which what stands below it takes 70.
func socketBase() string {
	const longest = 32
	for _, dir := range []string{os.TempDir(), os.Getenv("XDG_RUNTIME_DIR"), "/tmp"} {
		if real, err := filepath.EvalSymlinks(dir); err == nil && dir != "" && len(real) <= longest {
			return real
		}
	}
	return os.TempDir()
}
