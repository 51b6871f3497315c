package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/internal/suggest"
	"github.com/toolhost/toolhost/runtimes"
)

// command is a plugin's command, looked up.
type command struct {
	argv []string // the program as an absolute path, and its arguments
	own  []string // slash paths of the plugin's own files among them
	exec []string // what the sandbox must let run besides the system's programs: files
	// prefixes are the folders of the installations that those belong to.
	prefixes []string
}

// finder looks a command up. The plugin's own files are reached through root.
type finder struct {
	spec     *runtimes.Spec
	root     *os.Root
	problems []runtimes.Problem
	field    string // the JSON pointer of the word that is looked at
	out      command
}

// lookUp finds the programs and files of the plugin's command. The error is a
// *runtimes.LoadError.
func lookUp(spec *runtimes.Spec) (*command, error) {
	root, err := os.OpenRoot(spec.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the folder of plugin %q: %w", spec.Plugin, err)
	}
	defer root.Close()
	f := &finder{spec: spec, root: root, field: "/command"}
	if len(spec.Command) == 0 || spec.Command[0] == "" {
		f.problem("there is no command", `write the program, or a list of the program and its arguments, such as "command": ["python3", "./main.py"]`)
		return nil, &runtimes.LoadError{Problems: f.problems}
	}
	f.field = "/command/0"
	program := f.program(spec.Command[0])
	if program != "" {
		f.out.argv = f.runnable(program, spec.Command[0], 0)
	}
	for i, word := range spec.Command[1:] {
		f.field = "/command/" + strconv.Itoa(i+1)
		f.out.argv = append(f.out.argv, f.argument(word))
	}
	if len(f.problems) > 0 {
		return nil, &runtimes.LoadError{Problems: f.problems}
	}
	slices.Sort(f.out.own)
	f.out.own = slices.Compact(f.out.own)
	return &f.out, nil
}

func (f *finder) problem(message, hint string) {
	f.problems = append(f.problems, runtimes.Problem{File: runtimes.ManifestFile, Field: f.field, Message: message, Hint: hint})
}

// program finds the program that a word names; "" where there is none, and a problem.
func (f *finder) program(word string) string {
	switch {
	case strings.HasPrefix(word, "./"):
		file, ok := f.ownFile(word)
		if !ok {
			hint := f.nearby(word)
			if hint == fromPluginFolder {
				hint = "build it into the plugin folder, or correct the name; " + hint
			}
			f.problem(fmt.Sprintf("the program %q is not in the plugin folder", word), hint)
		}
		return file
	case filepath.IsAbs(word):
		if _, err := os.Stat(word); err != nil {
			f.problem(fmt.Sprintf("the program %q cannot be run: %s", word, reason(err)),
				"install it, or name a program that is in the PATH of the host, or one of the plugin with ./")
			return ""
		}
		return word
	case strings.Contains(word, "/"):
		f.problem(fmt.Sprintf("the program %q is neither a name, nor a path from the plugin folder, nor an absolute one", word),
			fmt.Sprintf("write %q for a file of the plugin", "./"+strings.TrimLeft(path.Clean("/"+word), "/")))
		return ""
	}
	if found := LookPath(word); found != "" {
		return found
	}
	f.problem(fmt.Sprintf("the program %q is not in the PATH of the host", word),
		fmt.Sprintf("install %s, or start the host with a PATH that has its folder, or write ./%s for a file of the plugin", word, word))
	return ""
}

// LookPath finds a program in the host's PATH; "" where there is none. What version
// managers put there under the real name, a script that looks for the version to run, is
// the last choice: it needs the home folder of the user, which a plugin does not get.
func LookPath(name string) string {
	last := ""
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) { // it would depend on where the host was started
			continue
		}
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() || !executable(file, info) {
			continue
		}
		if filepath.Base(dir) != "shims" {
			return file
		}
		if last == "" {
			last = file
		}
	}
	return last
}

// argument gives a word as the program gets it: a file of the plugin by its absolute path.
func (f *finder) argument(word string) string {
	if !strings.HasPrefix(word, "./") {
		return word
	}
	file, ok := f.ownFile(word)
	switch {
	case file != "":
		return file
	case !ok && strings.ContainsAny(word, " \t\n"):
		return word // a line for a shell
	case !ok:
		f.problem(fmt.Sprintf("the file %q of the command is not in the plugin folder", word), f.nearby(word))
	}
	return word
}

// ownFile gives a file of the plugin by its absolute path. It is "" where there is none
// (ok is false then), or where it leads out of the folder, which is a problem.
func (f *finder) ownFile(word string) (file string, ok bool) {
	name := path.Clean(word)
	info, err := f.root.Stat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false
	case err != nil:
		f.problem(fmt.Sprintf("the file %q of the command cannot be used: %s", word, reason(err)),
			"keep the files of a plugin, and what its links point to, inside its folder")
		return "", true
	case info.Mode().IsRegular():
		f.out.own = append(f.out.own, name)
	}
	return filepath.Join(f.spec.Dir, filepath.FromSlash(name)), true
}

// fromPluginFolder is the hint where no other name is near.
const fromPluginFolder = "paths of a command start at the plugin folder"

// nearby says which file was probably meant.
func (f *finder) nearby(word string) string {
	dir, err := f.root.Open(filepath.FromSlash(path.Dir(path.Clean(word))))
	if err != nil {
		return fromPluginFolder
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(1000) // as many as there are
	if near := suggest.Nearest(path.Base(word), names); near != "" {
		return fmt.Sprintf("write %q", "./"+path.Join(path.Dir(path.Clean(word)), near))
	}
	return fromPluginFolder
}

// reason gives what the system said, without the path.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
