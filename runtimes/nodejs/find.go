package nodejs

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"sync"
	"time"

	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/process"
)

// versionLimit is how long Node.js may take to say its version.
const versionLimit = 10 * time.Second

// installed is a Node.js that can be run.
type installed struct {
	path                string
	major, minor, patch int
}

// atLeast reports whether the version is one or a later one.
func (i *installed) atLeast(major, minor int) bool {
	return i.major > major || i.major == major && i.minor >= minor
}

// flags take from Node.js what no handler has: starting other programs. Files and network
// are the sandbox's affair, which knows each call's grant.
func (i *installed) flags() []string {
	permission := "--experimental-permission"
	if i.atLeast(23, 5) || i.major == 22 && i.minor >= 13 {
		permission = "--permission"
	}
	flags := []string{
		permission, "--allow-fs-read=*", "--allow-fs-write=*", "--allow-addons", "--allow-worker", "--allow-wasi",
		"--disable-warning=ExperimentalWarning", "--disable-warning=SecurityWarning", "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON",
	}
	if i.major >= 25 {
		flags = append(flags, "--allow-net", "--allow-inspector")
	}
	return flags
}

// runs reports, as a *runtimes.LoadError, handlers that this Node.js cannot run.
func (i *installed) runs(tools []runtimes.Tool) error {
	var e runtimes.LoadError
	for _, t := range tools {
		switch path.Ext(t.Handler) {
		case ".ts", ".mts", ".cts":
			if i.atLeast(23, 6) || i.major == 22 && i.minor >= 18 {
				continue
			}
		case ".tsx", ".jsx":
		default:
			continue
		}
		e.Problems = append(e.Problems, runtimes.Problem{
			File: path.Clean(t.Handler), Message: fmt.Sprintf("Node.js %d.%d does not run this kind of file by itself", i.major, i.minor),
			Hint: `use Node.js 22.18 or newer for TypeScript, or compile it to JavaScript, or write "engine": "goja"`,
		})
	}
	if len(e.Problems) > 0 {
		return &e
	}
	return nil
}

// finder finds Node.js, and remembers the version of the file that it has found.
type finder struct {
	mu    sync.Mutex
	known map[string]remembered
}

type remembered struct {
	info fs.FileInfo
	node installed
}

// Version gives where Node.js is and its version, for reports of what this machine has.
func Version(ctx context.Context) (file, version string, err error) {
	found, err := (&finder{}).find(ctx)
	if err != nil {
		return "", "", err
	}
	return found.path, fmt.Sprintf("%d.%d.%d", found.major, found.minor, found.patch), nil
}

// find looks for Node.js in the host's PATH. The error is a *runtimes.LoadError.
func (f *finder) find(ctx context.Context) (*installed, error) {
	lacking := func(message string) error {
		return &runtimes.LoadError{Problems: []runtimes.Problem{{
			File: runtimes.ManifestFile, Field: "/engine", Message: `"engine": "node" ` + message,
			Hint: `install Node.js 20.19 or newer and start the host with a PATH that has its folder, or write "engine": "goja"`,
		}}}
	}
	file := process.LookPath("node")
	if file == "" {
		return nil, lacking("needs Node.js, which is not in the PATH of the host")
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, lacking("needs Node.js, which cannot be run: " + err.Error())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if k, ok := f.known[file]; ok && os.SameFile(k.info, info) && k.info.ModTime().Equal(info.ModTime()) {
		return &k.node, nil
	}
	node, err := ask(ctx, file)
	if err != nil {
		return nil, lacking(fmt.Sprintf("needs Node.js, and %s does not say its version: %v", file, err))
	}
	if !node.atLeast(20, 19) || node.major == 21 || node.major == 22 && node.minor < 12 {
		return nil, lacking(fmt.Sprintf("needs Node.js 20.19, 22.12 or newer; %s is %d.%d", file, node.major, node.minor))
	}
	if f.known == nil {
		f.known = map[string]remembered{}
	}
	f.known[file] = remembered{info, *node}
	return node, nil
}

// ask has a Node.js say its version.
func ask(ctx context.Context, file string) (*installed, error) {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, file, "--version")
	cmd.Env, cmd.WaitDelay = []string{"PATH=/usr/bin:/bin"}, time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	i := &installed{path: file}
	if _, err := fmt.Sscanf(string(bytes.TrimSpace(out)), "v%d.%d.%d", &i.major, &i.minor, &i.patch); err != nil {
		return nil, fmt.Errorf("it says %.40q", out)
	}
	return i, nil
}
