//go:build !linux

package child

import (
	"os/exec"

	"github.com/toolhost/toolhost/permissions/sandbox"
)

// Main must be the first thing that main does in every program that starts children, also
// in a test's TestMain. It calls [sandbox.Main].
func Main() { sandbox.Main() }

// spawn starts the child. How much of what it starts can be ended is for its tree to say.
func spawn(o *Options, pipes *pipes) (*exec.Cmd, tree, *sandbox.Child, error) {
	cmd, confined, err := command(o, pipes)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := confined.Start(); err != nil {
		_ = confined.Close() // the error that counts is the one at hand
		return nil, nil, nil, err
	}
	return cmd, treeOf(cmd), confined, nil
}
