package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/scratch"
)

// makeTemp gives the child a temporary folder of its own, and names it in its environment:
// as TMPDIR, and as HOME where it has none.
func (c *Child) makeTemp() error {
	dir, release, err := scratch.Folder("", "tmp")
	if err != nil {
		return fmt.Errorf("making a temporary folder for %q: %w", c.path, err)
	}
	c.temp = dir
	c.cleanup = append(c.cleanup, release)
	env := slices.DeleteFunc(slices.Clone(c.cmd.Env), func(v string) bool {
		return slices.ContainsFunc(tempNames, func(name string) bool { return strings.HasPrefix(v, name+"=") })
	})
	for _, name := range tempNames {
		env = append(env, name+"="+dir)
	}
	if !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "HOME=") }) {
		env = append(env, "HOME="+dir)
	}
	c.cmd.Env = env
	return nil
}

// makeEmpty makes an empty folder that nobody may list.
func (c *Child) makeEmpty() (string, error) {
	dir, release, err := scratch.Folder("", "empty")
	if err != nil {
		return "", err
	}
	c.cleanup = append(c.cleanup, release)
	return dir, os.Chmod(dir, 0o111) // but a path may lead through it
}

// tempNames are the variables by which programs find their temporary folder.
var tempNames = []string{"TMPDIR", "TMP", "TEMP"}
