//go:build !unix

package child

import (
	"os/exec"
	"syscall"
)

// Main must be the first thing that main does in every program that starts children, also
// in a test's TestMain.
func Main() {}

// spawn starts the child. There is no way here to end what the child starts.
func spawn(o *Options, pipes *pipes) (*exec.Cmd, tree, error) {
	cmd, err := command(o, pipes)
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	return cmd, &supervised{cmd}, nil
}

// supervised is a child.
type supervised struct{ cmd *exec.Cmd }

func (s *supervised) terminate() {}

func (s *supervised) kill() { _ = s.cmd.Process.Kill() }

func (s *supervised) reaped() {}

func (s *supervised) decode(status int, signal syscall.Signal) (int, syscall.Signal) {
	return status, signal
}
