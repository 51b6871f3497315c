//go:build !darwin && !(linux && (amd64 || arm64))

package sandbox

import (
	"os/exec"
	"runtime"

	"github.com/toolhost/toolhost/internal/shim"
)

// Main turns this process into the confined program where it was started for that; on
// this system it never is, so it returns at once.
func Main() {}

func probe() *Support {
	why := "programs cannot be confined on " + runtime.GOOS + "/" + runtime.GOARCH
	return &Support{OS: runtime.GOOS, Arch: runtime.GOARCH, Why: map[string]string{"landlock": why, "seccomp": why, "namespaces": why, "network": why}}
}

func confine(cmd *exec.Cmd, rules *Rules, mode Mode, s *Support) (*Child, error) {
	if cmd.Err != nil {
		return nil, &SetupError{Step: shim.StepExec, Path: cmd.Path, Err: cmd.Err}
	}
	if mode == Require {
		return nil, s.lacks(rules)
	}
	c := &Child{cmd: cmd, path: cmd.Path}
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	if rules.Temp {
		if err := c.makeTemp(); err != nil {
			return nil, err
		}
	}
	return c, nil
}
