package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/toolhost/toolhost/internal/shim"
)

// sandboxExec is the system's program that runs another one under a profile.
const sandboxExec = "/usr/bin/sandbox-exec"

// Main turns this process into the confined program where it was started for that; on
// this system another program does it, so it returns at once.
func Main() {}

func probe() *Support {
	s := &Support{OS: runtime.GOOS, Arch: runtime.GOARCH, Why: map[string]string{}}
	if _, err := os.Stat(sandboxExec); err != nil {
		s.Why["profile"] = err.Error()
	} else {
		s.Profile = true
	}
	return s
}

func confine(cmd *exec.Cmd, rules *Rules, mode Mode, s *Support) (*Child, error) {
	if cmd.Err != nil {
		return nil, &SetupError{Step: shim.StepExec, Path: cmd.Path, Err: cmd.Err}
	}
	if err := s.lacks(rules); err != nil && mode == Require {
		return nil, err
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
	if mode == Off || !s.Profile {
		return c, nil
	}
	program, err := filepath.EvalSymlinks(cmd.Path)
	if err != nil {
		_ = c.Close()
		return nil, &SetupError{Step: shim.StepExec, Path: cmd.Path, Err: err}
	}
	real := *rules
	for _, list := range []*[]string{&real.Read, &real.List, &real.Write, &real.Private, &real.Exec} {
		*list = realPaths(*list)
	}
	if real.Sockets != "" {
		if sockets := realPaths([]string{real.Sockets}); len(sockets) == 1 {
			real.Sockets = sockets[0]
		}
	}
	cmd.Args = append([]string{sandboxExec, "-p", profile(program, c.temp, &real), cmd.Path}, cmd.Args[min(1, len(cmd.Args)):]...)
	cmd.Path = sandboxExec
	return c, nil
}

// realPaths follows the links in paths; what is missing is left out.
func realPaths(paths []string) []string {
	var real []string
	for _, p := range paths {
		if r, err := filepath.EvalSymlinks(p); err == nil {
			real = append(real, r)
		}
	}
	return real
}
