//go:build !unix

package child

import (
	"os/exec"
	"syscall"

	"github.com/toolhost/toolhost/permissions/sandbox"
)

// Main must be the first thing that main does in every program that starts children, also
// in a test's TestMain. It calls [sandbox.Main].
func Main() { sandbox.Main() }

func attributes() *syscall.SysProcAttr { return nil }

// spawn starts the child. There is no way here to end what the child starts.
func spawn(o *Options, pipes *pipes) (*exec.Cmd, tree, *sandbox.Child, error) {
	cmd, confined, err := command(o, pipes)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := confined.Start(); err != nil {
		_ = confined.Close() // the error that counts is the one at hand
		return nil, nil, nil, err
	}
	return cmd, single{cmd}, confined, nil
}

// single is a child alone.
type single struct{ cmd *exec.Cmd }

func (s single) terminate() {}

func (s single) kill() { _ = s.cmd.Process.Kill() }

func (s single) reaped() {}

func (s single) decode(status int, signal syscall.Signal) (int, syscall.Signal) {
	return status, signal
}
