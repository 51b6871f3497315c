//go:build !unix

package child

import (
	"os/exec"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

// single is a child alone. There is no way here to end what it starts.
type single struct{ cmd *exec.Cmd }

func treeOf(cmd *exec.Cmd) tree { return single{cmd} }

func (s single) terminate() {}

func (s single) kill() { _ = s.cmd.Process.Kill() }

func (s single) reaped() {}

func (s single) decode(status int, signal syscall.Signal) (int, syscall.Signal) {
	return status, signal
}
