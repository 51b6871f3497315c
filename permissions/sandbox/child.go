package sandbox

import (
	"os/exec"

	"github.com/toolhost/toolhost/internal/shim"
)

// Child is a program that was confined. Its methods are for one goroutine.
type Child struct {
	cmd     *exec.Cmd
	path    string // the target
	temp    string
	cleanup []func()
	start   func() error // nil: cmd.Start
}

// Start starts the program and returns once it runs, or with a *[SetupError] that says
// why it does not. cmd.Wait is for the caller in the first case only.
func (c *Child) Start() error {
	if c.start == nil {
		if err := c.cmd.Start(); err != nil {
			return &SetupError{Step: shim.StepExec, Path: c.path, Err: err}
		}
		return nil
	}
	return c.start()
}

// Temp gives the program's temporary folder; "" where the rules give it none.
func (c *Child) Temp() string { return c.temp }

// Close takes away what the program was given: its temporary folder, its network. It is
// called after the program has ended, or when it was never started, and may be called
// more than once.
func (c *Child) Close() error {
	for i := len(c.cleanup) - 1; i >= 0; i-- {
		c.cleanup[i]()
	}
	c.cleanup = nil
	return nil
}
