//go:build unix && !linux

package child

import (
	"os/exec"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// group is a child as the leader of a session and group of its own. There is no way here to
// end what leaves the group, or to end anything once this program was killed.
type group struct{ pid int }

func treeOf(cmd *exec.Cmd) tree { return group{cmd.Process.Pid} }

func (g group) terminate() { _ = syscall.Kill(-g.pid, syscall.SIGTERM) }

func (g group) kill() { _ = syscall.Kill(-g.pid, syscall.SIGKILL) }

// reaped ends what the child has left behind in its group.
func (g group) reaped() { g.kill() }

func (g group) decode(status int, signal syscall.Signal) (int, syscall.Signal) {
	return status, signal
}
