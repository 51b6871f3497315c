package child

import "os/exec"

// command makes the command for a child. The files in its ExtraFiles are for it alone.
func command(o *Options, pipes *pipes) (*exec.Cmd, error) {
	cmd := &exec.Cmd{Path: o.Argv[0], Args: o.Argv, Env: o.Env, Dir: o.Dir}
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would inherit ours
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes.theirs[0], pipes.theirs[1], pipes.theirs[2]
	return cmd, nil
}
