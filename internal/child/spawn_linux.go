package child

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/permissions/sandbox"
)

// spawn starts the child in a pid namespace, or under a supervisor where the kernel
// allows none.
func spawn(o *Options, pipes *pipes) (*exec.Cmd, tree, *sandbox.Child, error) {
	cmd, confined, err := command(o, pipes)
	if err != nil {
		return nil, nil, nil, err
	}
	var t tree
	if o.Supervise || !sandbox.Supported().Namespaces {
		t, err = supervised(cmd, confined)
	} else {
		t, err = namespaced(cmd, confined)
	}
	if err != nil {
		_ = confined.Close() // the error that counts is the one at hand
		return nil, nil, nil, err
	}
	return cmd, t, confined, nil
}

// attributes are those of every process that we start: a session of its own, so that it
// has no terminal and a signal of the user's terminal does not reach it, and death with
// the thread that started it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// namespace is a child that is the first process of a pid namespace.
type namespace struct{ pid int }

// namespaced starts a child in a pid namespace.
func namespaced(cmd *exec.Cmd, confined *sandbox.Child) (tree, error) {
	a := cmd.SysProcAttr
	a.Cloneflags |= syscall.CLONE_NEWPID
	if os.Geteuid() != 0 && a.Cloneflags&syscall.CLONE_NEWUSER == 0 {
		// Only a user namespace lets a common user have a pid namespace. The user is the
		// same in it, and may do nothing that it may not do outside.
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	}
	if err := confined.Start(); err != nil {
		return nil, err
	}
	return &namespace{pid: cmd.Process.Pid}, nil
}

// terminate sends SIGTERM to the child's group. The first process of a namespace does not
// get a signal that it has no handler for; elsewhere that would have ended it, so it is
// killed then.
func (n *namespace) terminate() {
	if defaultTerm(n.pid) {
		n.kill()
		return
	}
	_ = syscall.Kill(-n.pid, syscall.SIGTERM) // it may have ended meanwhile
}

func (n *namespace) kill() { _ = syscall.Kill(n.pid, syscall.SIGKILL) }

func (n *namespace) reaped() {}

// decode takes SIGSYS for SIGKILL, in whose place the sandbox gives it to a child that
// kills itself.
func (n *namespace) decode(status int, signal syscall.Signal) (int, syscall.Signal) {
	if signal == syscall.SIGSYS {
		signal = syscall.SIGKILL
	}
	return status, signal
}

// supervisor is the process between us and a child; it is the one that we know.
type supervisor struct {
	pid      int
	lifeline *os.File // our end; its closing tells the supervisor to end them all
	done     chan struct{}
}

// supervised starts a supervisor that starts the child.
func supervised(cmd *exec.Cmd, confined *sandbox.Child) (tree, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd.Args = append([]string{supervisorName, strconv.Itoa(3 + len(cmd.ExtraFiles)), cmd.Path}, cmd.Args...)
	cmd.Path = "/proc/self/exe"
	cmd.ExtraFiles = append(cmd.ExtraFiles, theirs)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it ends by its lifeline, after its children
	if err := confined.Start(); err != nil {
		_ = ours.Close()
		return nil, err
	}
	return &supervisor{pid: cmd.Process.Pid, lifeline: ours, done: make(chan struct{})}, nil
}

func (s *supervisor) terminate() { _ = syscall.Kill(s.pid, syscall.SIGTERM) }

// wedgedAfter is how long a supervisor may take; an unconfined child can stop it.
const wedgedAfter = time.Second

func (s *supervisor) kill() {
	_ = s.lifeline.Close()
	go func() {
		t := time.NewTimer(wedgedAfter)
		defer t.Stop()
		select {
		case <-s.done:
		case <-t.C:
			killDescendants(s.pid)
			_ = syscall.Kill(s.pid, syscall.SIGKILL)
		}
	}()
}

func (s *supervisor) reaped() {
	_ = s.lifeline.Close()
	close(s.done)
}

// decode gives the end of the child, which the supervisor passes on as shells do.
func (s *supervisor) decode(status int, signal syscall.Signal) (int, syscall.Signal) {
	if signal == 0 && status > signalled && status <= signalled+64 {
		return -1, syscall.Signal(status - signalled)
	}
	return status, signal
}
