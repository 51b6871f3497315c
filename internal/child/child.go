// Package child starts a program, drains what it says, and ends it with everything that
// it has started.
//
//	p, err := child.Start(ctx, &child.Options{Argv: []string{"/usr/bin/python3", "main.py"}, Dir: dir, Log: log})
//	defer p.Stop(time.Second)
//	_, err = p.Stdin().Write(request)
//	line, err := bufio.NewReader(p.Stdout()).ReadBytes('\n')
//	<-p.Done()
//	err = p.Err() // an *ExitError with the last lines of stderr, unless it ended with status 0
//
// No process outlives its [Process], nor this program. On Linux a child is the first
// process of a pid namespace of its own, and the kernel ends a namespace with its first
// process. Where the kernel allows no namespace, a supervisor (this same program) stands
// between: it adopts what loses its parent, and ends it all once this program is gone.
// For that, and for the sandbox, [Main] must be the first thing that main does.
//
// What the child says on stderr goes to the log, line by line; the last lines are kept
// for errors.
package child

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/permissions/sandbox"
)

// Options say what to start. Argv is required.
type Options struct {
	// Argv is the program, as an absolute path, and its arguments.
	Argv []string
	// Env is the whole environment, as "NAME=value"; nothing is inherited.
	Env []string
	// Dir is the working directory; "" is the root folder.
	Dir string
	// Rules say what the child may touch; nil is the least, see [sandbox.Rules].
	Rules *sandbox.Rules
	// Mode says whether the sandbox is required; the zero value requires it.
	Mode sandbox.Mode
	// Log takes what the child says on stderr; nil drops it.
	Log *slog.Logger
	// Stderr takes each line of stderr instead of Log; nil for Log. One goroutine calls
	// it, and the child waits while it does.
	Stderr func(line string)
	// Started is told of the child as soon as it runs, before Start returns; nil for nobody.
	Started func(p *Process)
	// Supervise uses the supervisor even where there are pid namespaces.
	Supervise bool
}

// Process is a started child. It is safe for concurrent use.
type Process struct {
	cmd           *exec.Cmd
	tree          tree
	confined      *sandbox.Child
	stdin, stdout *os.File // our ends
	stderr        *stderr
	log           *slog.Logger

	done chan struct{} // closed when the child has been waited for and stderr is drained
	err  error         // set before done is closed

	closing sync.Once
}

// tree is the child with all its descendants.
type tree interface {
	// terminate asks all of them to end.
	terminate()
	// kill ends all of them. They are gone when the child has been waited for.
	kill()
	// reaped is called when the child has been waited for.
	reaped()
	// decode gives the child's own end where what was waited for is not the child itself.
	decode(status int, signal syscall.Signal) (int, syscall.Signal)
}

// Start starts a child. The context is for the start; it does not bound the child's life.
// The caller must call Stop, also where the child has ended by itself.
func Start(ctx context.Context, options *Options) (*Process, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if len(options.Argv) == 0 {
		return nil, errors.New("starting a child: there is no command")
	}
	o := *options
	o.Argv, o.Env = slices.Clone(o.Argv), slices.Clone(o.Env)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Dir == "" {
		o.Dir = "/"
	}
	pipes, err := openPipes()
	if err != nil {
		return nil, fmt.Errorf("starting %q: %w", o.Argv[0], err)
	}
	p := &Process{stdin: pipes.stdin, stdout: pipes.stdout, log: o.Log, done: make(chan struct{})}
	p.stderr = &stderr{from: pipes.stderr, log: o.Log, to: o.Stderr, ended: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(&o, pipes, started)
	if err := <-started; err != nil {
		p.closePipes()
		_ = pipes.stderr.Close()
		return nil, fmt.Errorf("starting %q: %w", o.Argv[0], err)
	}
	if o.Started != nil {
		o.Started(p)
	}
	return p, nil
}

// run starts the child and waits for it. The thread is kept meanwhile: the kernel sends
// the signal of a dead parent when the thread ends that started the child.
func (p *Process) run(o *Options, pipes *pipes, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var err error
	p.cmd, p.tree, p.confined, err = spawn(o, pipes)
	pipes.closeTheirs()
	started <- err
	if err != nil {
		return
	}
	go p.stderr.drain()
	err = p.cmd.Wait()
	p.tree.reaped()
	p.stderr.finish()
	p.err = p.exitError(err)
	// Whoever still held the other end of stdout is gone; where one is not, a reader
	// must not wait for it.
	_ = p.stdout.SetReadDeadline(time.Now().Add(restLimit))
	if err := p.confined.Close(); err != nil {
		p.log.Warn("closing the sandbox of a process", "err", err)
	}
	close(p.done)
}

// restLimit is how long what a dead child has left in its pipes may take to read.
const restLimit = 2 * time.Second

// Stdin is the child's standard input; closing it tells the child that no more comes.
// Writing blocks while the child does not read: set a deadline.
func (p *Process) Stdin() *os.File { return p.stdin }

// Stdout is the child's standard output. It must be read until its end, or the child
// waits.
func (p *Process) Stdout() *os.File { return p.stdout }

// PID is the child's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the child has ended, with everything that it had started.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err gives how the child ended, once Done is closed: nil for status 0, else an
// *[ExitError]. It is nil while the child runs.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// Temp gives the child's temporary folder; "" where its rules give it none. It is removed
// when the child has ended.
func (p *Process) Temp() string { return p.confined.Temp() }

// Tail gives the last lines that the child has said on stderr, at most 16 KiB.
func (p *Process) Tail() string { return p.stderr.tail() }

// killLimit is how long the kernel may take to end a killed child. One that waits for a
// device may take longer; nothing can be done about it.
const killLimit = 2 * time.Second

// Stop ends the child and everything that it has started. It closes stdin and waits for
// the grace, asks by SIGTERM and waits for the grace again, and kills what is left. It
// returns when all of them have ended and the pipes are closed, two seconds after the
// kill at the latest. Without a grace it kills at once. It may be called more than once.
func (p *Process) Stop(grace time.Duration) {
	_ = p.stdin.Close()
	defer p.closePipes()
	if p.endsWithin(grace) {
		return
	}
	if grace > 0 {
		p.tree.terminate()
		if p.endsWithin(grace) {
			return
		}
	}
	p.tree.kill()
	if !p.endsWithin(killLimit) {
		p.log.Error("a killed process has not ended", "pid", p.PID())
	}
}

func (p *Process) endsWithin(limit time.Duration) bool {
	if limit <= 0 {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	}
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-p.done:
		return true
	case <-t.C:
		return false
	}
}

func (p *Process) closePipes() {
	p.closing.Do(func() {
		_ = p.stdin.Close()
		_ = p.stdout.Close()
	})
}

// pipes are the three standard streams, our ends and theirs.
type pipes struct {
	stdin, stdout, stderr *os.File
	theirs                [3]*os.File
}

func openPipes() (*pipes, error) {
	var p pipes
	var err error
	defer func() {
		if err != nil {
			p.closeTheirs()
			for _, f := range []*os.File{p.stdin, p.stdout, p.stderr} {
				_ = f.Close()
			}
		}
	}()
	if p.theirs[0], p.stdin, err = os.Pipe(); err != nil {
		return nil, err
	}
	if p.stdout, p.theirs[1], err = os.Pipe(); err != nil {
		return nil, err
	}
	if p.stderr, p.theirs[2], err = os.Pipe(); err != nil {
		return nil, err
	}
	return &p, nil
}

func (p *pipes) closeTheirs() {
	for _, f := range p.theirs {
		_ = f.Close()
	}
}
