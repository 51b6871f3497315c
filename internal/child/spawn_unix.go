//go:build unix && !linux

package child

import (
	"os/exec"
	"syscall"

	"github.com/toolhost/toolhost/permissions/sandbox"
)

// Main must be the first thing that main does in every program that starts children, also
// in a test's TestMain. It calls [sandbox.Main].
func Main() { sandbox.Main() }

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// spawn starts the child as the leader of a session and group of its own. There is no way
// here to end what leaves the group, or to end anything once this program was killed.
func spawn(o *Options, pipes *pipes) (*exec.Cmd, tree, *sandbox.Child, error) {
	cmd, confined, err := command(o, pipes)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := confined.Start(); err != nil {
		_ = confined.Close() // the error that counts is the one at hand
		return nil, nil, nil, err
	}
	return cmd, group{cmd.Process.Pid}, confined, nil
}

// group is a child with its process group.
type group struct{ pid int }

func (g group) terminate() { _ = syscall.Kill(-g.pid, syscall.SIGTERM) }

func (g group) kill() { _ = syscall.Kill(-g.pid, syscall.SIGKILL) }

// reaped ends what the child has left behind in its group.
func (g group) reaped() { g.kill() }

func (g group) decode(status int, signal syscall.Signal) (int, syscall.Signal) {
	return status, signal
}
