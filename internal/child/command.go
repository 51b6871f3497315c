package child

import (
	"os/exec"

	"github.com/toolhost/toolhost/permissions/sandbox"
)

// command makes the command for a child, confined by its rules. The sandbox is closed
// after the child has ended, or when it was not started.
func command(o *Options, pipes *pipes) (*exec.Cmd, *sandbox.Child, error) {
	cmd := &exec.Cmd{Path: o.Argv[0], Args: o.Argv, Env: o.Env, Dir: o.Dir, SysProcAttr: attributes()}
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would inherit ours
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes.theirs[0], pipes.theirs[1], pipes.theirs[2]
	confined, err := sandbox.Confine(cmd, o.Rules, o.Mode)
	return cmd, confined, err
}

// Confinable gives the error with which [Start] would refuse these rules on this machine,
// a *[sandbox.UnavailableError]; nil where it would not.
func Confinable(rules *sandbox.Rules, mode sandbox.Mode) error {
	confined, err := sandbox.Confine(&exec.Cmd{Path: "/"}, rules, mode)
	if err != nil {
		return err
	}
	return confined.Close()
}
