package child

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// spawn starts the child in a pid namespace, or under a supervisor where the kernel
// refuses that.
func spawn(o *Options, pipes *pipes) (*exec.Cmd, tree, error) {
	if !o.Supervise {
		cmd, err := command(o, pipes)
		if err != nil {
			return nil, nil, err
		}
		cmd.SysProcAttr = attributes()
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWPID
		if os.Geteuid() != 0 {
			// Only a user namespace lets a common user have a pid namespace. The user is
			// the same in it, and may do nothing that it may not do outside.
			cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		}
		err = start(cmd)
		if err == nil {
			return cmd, &namespace{pid: cmd.Process.Pid}, nil
		}
		if !refused(err) {
			return nil, nil, err
		}
	}
	return superviseChild(o, pipes)
}

// attributes are those of every process that we start: a session of its own, so that it
// has no terminal and a signal of the user's terminal does not reach it, and death with
// the thread that started it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// start is cmd.Start. What is open for the command only is closed in any case.
func start(cmd *exec.Cmd) error {
	err := cmd.Start()
	for _, f := range cmd.ExtraFiles {
		_ = f.Close()
	}
	return err
}

// refused reports whether the kernel, or who set it up, allows no namespaces.
func refused(err error) bool {
	for _, e := range []error{syscall.EPERM, syscall.EACCES, syscall.EINVAL, syscall.ENOSPC, syscall.ENOSYS, syscall.EUSERS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// namespace is a child that is the first process of a pid namespace.
type namespace struct{ pid int }

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

// supervised is a child below a supervisor, which is the process that we know.
type supervised struct {
	pid      int
	lifeline *os.File // our end; its closing tells the supervisor to end them all
	done     chan struct{}
}

// superviseChild starts a supervisor that starts the child.
func superviseChild(o *Options, pipes *pipes) (*exec.Cmd, tree, error) {
	inner, err := command(o, pipes)
	if err != nil {
		return nil, nil, err
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, start(&exec.Cmd{ExtraFiles: inner.ExtraFiles}))
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = append([]string{supervisorName, strconv.Itoa(3 + len(inner.ExtraFiles)), inner.Path}, inner.Args...)
	cmd.Env, cmd.Dir = inner.Env, inner.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inner.Stdin, inner.Stdout, inner.Stderr
	cmd.ExtraFiles = append(inner.ExtraFiles, theirs)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it ends by its lifeline, after its children
	if err := start(cmd); err != nil {
		_ = ours.Close()
		return nil, nil, err
	}
	return cmd, &supervised{pid: cmd.Process.Pid, lifeline: ours, done: make(chan struct{})}, nil
}

func (s *supervised) terminate() { _ = syscall.Kill(s.pid, syscall.SIGTERM) }

// wedgedAfter is how long a supervisor may take; an unconfined child can stop it.
const wedgedAfter = time.Second

func (s *supervised) kill() {
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

func (s *supervised) reaped() {
	_ = s.lifeline.Close()
	close(s.done)
}

// decode gives the end of the child, which the supervisor passes on as shells do.
func (s *supervised) decode(status int, signal syscall.Signal) (int, syscall.Signal) {
	if signal == 0 && status > signalled && status <= signalled+64 {
		return -1, syscall.Signal(status - signalled)
	}
	return status, signal
}
