package worker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/rpcchild"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	pb "github.com/toolhost/toolhost/runtimes/worker/workerpb"
)

const (
	// startLimit is how long a worker may take until it answers.
	startLimit = 10 * time.Second
	// goneLimit is how long a worker may take to end whose connection has ended.
	goneLimit = 3 * time.Second
)

// process is a worker that runs, with the plugin open in it.
type process struct {
	child  *child.Process
	worker pb.WorkerClient
	log    *slog.Logger
	places *runtimes.Places
	// ended is closed when the child is gone and nothing of it is left.
	ended chan struct{}

	mu      sync.Mutex
	stopped error // why we ended it; nil where we did not
	crashed bool  // it ended by itself, or we ended it for what it did
	calls   int
	idle    *time.Timer
	busy    func() // ends its rest, see [runtimes.Places]
	noNew   bool   // it takes no more calls

	counted bool // its end was looked at; guarded by the mutex of its slot
}

// opened is what became of opening a plugin in a worker.
type opened struct {
	process *process
	inputs  map[string][sha256.Size]byte
}

// start starts a worker and opens the plugin in it. What is wrong with the plugin is a
// *runtimes.LoadError, an end of the worker a *crashError. The modules are read from copies,
// where there are some.
func (r *Runtime) start(ctx context.Context, spec *runtimes.Spec, folder string, copies *sources) (_ *opened, err error) {
	command := r.command
	if command == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("finding this program, which serves as the worker: %w", err)
		}
		command = []string{self, argument}
	}
	leave, err := r.options.Places.Take(ctx)
	if err != nil {
		return nil, err
	}
	from, removeCopies, err := copies.write()
	if err != nil {
		leave()
		return nil, fmt.Errorf("copying the modules for the worker: %w", err)
	}
	said := &firstLines{}
	c, err := rpcchild.Start(ctx, &rpcchild.Options{
		Child: child.Options{
			Argv: command, Env: environment(), Mode: r.options.Sandbox, Stderr: said.add,
			Rules: rules([]string{spec.Dir, from}, folder, spec.Policy, memory(spec.Memory)),
		},
		Cookie: [2]string{handshake.MagicCookieKey, handshake.MagicCookieValue}, Version: protocolVersion, Service: serviceName,
		StartLimit: startLimit, MaxMessage: r.maxMessage(),
	})
	if err != nil {
		removeCopies()
		leave()
		return nil, startError(said, err)
	}
	p := &process{child: c.Process(), worker: pb.NewWorkerClient(c.Connection()), log: spec.Log, places: r.options.Places, ended: make(chan struct{})}
	go func() {
		<-p.child.Done()
		c.Stop(0)
		removeCopies()
		leave()
		p.mu.Lock()
		p.noNew = true
		if p.stopped == nil {
			p.crashed = true
			p.stopped = &crashError{reason: said.reason(p.child.Err())}
		}
		p.mu.Unlock()
		close(p.ended)
	}()
	inputs, err := p.open(ctx, r, spec, from)
	if err != nil {
		p.stop(errOpenFailed)
		<-p.ended
		return nil, err
	}
	return &opened{p, inputs}, nil
}

var errOpenFailed = errors.New("the plugin could not be opened in it")

// startError says why a worker did not come up.
func startError(said *firstLines, err error) error {
	var start *rpcchild.StartError
	switch {
	case !errors.As(err, &start):
		return err
	case start.Exit != nil && start.Err == nil:
		return &crashError{reason: said.reason(start.Exit), start: true}
	}
	return fmt.Errorf("the plugin's worker could not be started: %w", err)
}

// environment gives what a worker finds in its environment besides what go-plugin has to
// say: what Go needs. What the plugin was granted comes with the plugin.
func environment() []string {
	env := []string{"GOTRACEBACK=single"}
	for _, name := range []string{"TZ", "GORACE"} { // the second is read by the race detector, where a program has it
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// open opens the plugin in the worker.
func (p *process) open(ctx context.Context, r *Runtime, spec *runtimes.Spec, from string) (map[string][sha256.Size]byte, error) {
	policy, err := encodePolicy(spec.Policy)
	if err != nil {
		return nil, fmt.Errorf("handing the policy to the plugin's worker: %w", err)
	}
	m := &pb.Plugin{
		Name: spec.Plugin, Version: spec.Version, Dir: spec.Dir, Policy: policy, State: spec.State, Engine: spec.Engine, Env: map[string][]byte{},
		MaxResult: int64(r.options.MaxResult), MaxHeap: memory(spec.Memory) / 2, LoadLimit: int64(r.options.LoadLimit), Sources: from,
	}
	if spec.Card != nil {
		m.Card = jsondoc.Marshal(spec.Card)
	}
	for _, t := range spec.Tools {
		m.Tools = append(m.Tools, &pb.Tool{Id: t.ID, Handler: t.Handler, Field: t.Field})
	}
	if spec.Policy != nil {
		for _, name := range spec.Policy.Env {
			if value, ok := os.LookupEnv(name); ok {
				m.Env[name] = []byte(value)
			}
		}
	}
	own := &permissions.Policy{}
	if spec.Policy != nil {
		own.Root, own.Env = spec.Policy.Root, spec.Policy.Env
	}
	grant, err := own.Resolve("", nil)
	if err != nil {
		return nil, err
	}
	defer grant.Revoke()
	ctx, cancel := context.WithTimeoutCause(ctx, r.options.LoadLimit+startLimit, errOpenLimit)
	defer cancel()
	stream, err := p.worker.Open(ctx)
	if err != nil {
		return nil, p.failure(ctx, err)
	}
	h := &hosted{stream: stream, services: spec.Services, grant: grant, log: spec.Log}
	last, err := h.run(ctx, &pb.FromHost{Message: &pb.FromHost_Plugin{Plugin: m}})
	if err != nil {
		return nil, p.failure(ctx, err)
	}
	return p.opened(last.GetOpened())
}

// errOpenLimit is why an opening ends that no limit inside the worker has ended.
var errOpenLimit = errors.New("loading took too long: its code could not be interrupted")

// maxInputs is how many files may go into a plugin.
const maxInputs = 50_000

// opened reads what became of the opening. Nothing in it is taken on trust.
func (p *process) opened(m *pb.Opened) (map[string][sha256.Size]byte, error) {
	if m == nil {
		return nil, p.misbehaves("it has not said what became of the plugin")
	}
	if err := decodeError(m.GetError()); err != nil {
		return nil, err
	}
	if list := m.GetProblems(); len(list) > 0 {
		load := &runtimes.LoadError{}
		for _, q := range list[:min(len(list), 1000)] {
			load.Problems = append(load.Problems, runtimes.Problem{
				File: printable(q.GetFile()), Line: int(q.GetLine()), Column: int(q.GetColumn()), Message: printable(q.GetMessage()), Hint: printable(q.GetHint()),
			})
		}
		return nil, load
	}
	if len(m.GetInputs()) > maxInputs {
		return nil, fmt.Errorf("the plugin is made of more than %d files", maxInputs)
	}
	inputs := map[string][sha256.Size]byte{}
	for _, i := range m.GetInputs() {
		name := string(i.GetPath())
		if !fs.ValidPath(name) || len(i.GetSha256()) != sha256.Size {
			return nil, p.misbehaves("it names a file that is none of the plugin")
		}
		inputs[name] = [sha256.Size]byte(i.GetSha256())
	}
	return inputs, nil
}

// printable gives a text of the worker without what is no UTF-8, and cut.
func printable(b []byte) string {
	const longest = 16 << 10
	return strings.ToValidUTF8(string(b[:min(len(b), longest)]), "\ufffd")
}

// misbehaves ends a worker that does what ours never does.
func (p *process) misbehaves(what string) error {
	p.stopCrashed(&crashError{reason: "it does not keep to the protocol: " + what})
	return p.why()
}

// begin counts a call; it is false where the worker takes no more.
func (p *process) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.noNew {
		return false
	}
	p.calls++
	p.wake()
	return true
}

// expect counts calls that waited for the worker while it was started.
func (p *process) expect(calls int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls += calls
}

// takes reports whether the worker takes calls.
func (p *process) takes() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.noNew
}

// done ends a call. Where it was the last one the worker is stopped after a while.
func (p *process) done(idle time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls--
	p.waitIdle(idle)
}

// stopIdle has a worker stopped that gets no call for a while.
func (p *process) stopIdle(after time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waitIdle(after)
}

func (p *process) waitIdle(after time.Duration) {
	if p.calls > 0 || p.noNew {
		return
	}
	p.wake()
	p.idle, p.busy = time.AfterFunc(after, p.rest), p.places.Rest(p.rest)
}

// rest stops the worker where it has no call.
func (p *process) rest() {
	p.mu.Lock()
	idle := p.calls == 0
	p.noNew = p.noNew || idle
	p.mu.Unlock()
	if idle {
		p.stop(errIdle)
	}
}

// wake ends the waiting for the end of a rest. The mutex is held.
func (p *process) wake() {
	if p.idle != nil {
		p.idle.Stop()
		p.busy()
	}
}

var errIdle = errors.New("it was not needed for a while")

// stop ends the worker. The first reason stands.
func (p *process) stop(why error) {
	p.mu.Lock()
	p.noNew = true
	if p.stopped == nil {
		p.stopped = why
	}
	p.wake()
	p.mu.Unlock()
	go p.child.Stop(0) // ended says when
}

func (p *process) stopCrashed(why error) {
	p.mu.Lock()
	if p.stopped == nil {
		p.crashed = true
	}
	p.mu.Unlock()
	p.stop(why)
}

// why gives why the worker has ended or is ending; nil while it runs.
func (p *process) why() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopped
}

// failure gives why a stream has ended before its time.
func (p *process) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var broken *protocolError
	if errors.As(err, &broken) {
		return p.misbehaves(broken.what)
	}
	if errors.Is(err, io.EOF) {
		return p.misbehaves("it ends a call without an outcome")
	}
	switch status.Code(err) {
	case codes.ResourceExhausted:
		return p.misbehaves("it sends more at once than it may")
	case codes.Unavailable, codes.Canceled, codes.Internal, codes.Unknown:
	default:
		return p.misbehaves("it answers " + status.Code(err).String())
	}
	t := time.NewTimer(goneLimit)
	defer t.Stop()
	select {
	case <-p.ended:
	case <-t.C:
		return p.misbehaves("it has hung up")
	}
	return p.why()
}
