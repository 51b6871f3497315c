//go:build unix && !linux

package child

import (
	"os/exec"
	"syscall"
)

// Main must be the first thing that main does in every program that starts children, also
// in a test's TestMain.
func Main() {}

// spawn starts the child as the leader of a session and group of its own. There is no way
// here to end what leaves the group, or to end anything once this program was killed.
func spawn(o *Options, pipes *pipes) (*exec.Cmd, tree, error) {
	cmd, err := command(o, pipes)
	if err != nil {
		return nil, nil, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	return cmd, &supervised{pid: cmd.Process.Pid}, nil
}

// supervised is a child with its process group.
type supervised struct{ pid int }

func (s *supervised) terminate() { _ = syscall.Kill(-s.pid, syscall.SIGTERM) }

func (s *supervised) kill() { _ = syscall.Kill(-s.pid, syscall.SIGKILL) }

// reaped ends what the child has left behind in its group.
func (s *supervised) reaped() { s.kill() }

func (s *supervised) decode(status int, signal syscall.Signal) (int, syscall.Signal) {
	return status, signal
}
