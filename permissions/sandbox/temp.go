package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// makeTemp gives the child a temporary folder of its own, and names it in its environment:
// as TMPDIR, and as HOME where it has none.
func (c *Child) makeTemp() error {
	dir, release, err := scratch("tmp")
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
	dir, release, err := scratch("empty")
	if err != nil {
		return "", err
	}
	c.cleanup = append(c.cleanup, release)
	return dir, os.Chmod(dir, 0o111) // but a path may lead through it
}

// tempNames are the variables by which programs find their temporary folder.
var tempNames = []string{"TMPDIR", "TMP", "TEMP"}

// removeTree removes a folder, also where the child has taken away the rights to do so.
func removeTree(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	openFolders(root, ".", 0)
	_ = os.RemoveAll(dir)
}

// openFolders makes folders below root the owner's again, without following a link.
func openFolders(root *os.Root, name string, depth int) {
	const deepest = 256
	if depth > deepest || root.Chmod(name, 0o700) != nil {
		return
	}
	dir, err := root.Open(name)
	if err != nil {
		return
	}
	entries, _ := dir.ReadDir(-1)
	_ = dir.Close()
	for _, e := range entries {
		if e.IsDir() {
			openFolders(root, filepath.Join(name, e.Name()), depth+1)
		}
	}
}
