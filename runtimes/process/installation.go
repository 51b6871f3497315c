package process

import (
	"os"
	"path/filepath"
)

// mayRun notes that a program is run, and of which installation it is a part.
func (f *finder) mayRun(file string) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return
	}
	f.out.exec = append(f.out.exec, real)
	if name := filepath.Base(filepath.Dir(real)); name == "bin" || name == "shims" {
		f.out.prefixes = append(f.out.prefixes, filepath.Dir(filepath.Dir(real)))
	}
}

// runs gives what a process may run and read for its programs to work, besides the system's:
// they themselves, and the parts of their installations. What else lies beside a folder bin
// is the user's: credentials in ~/.cargo and ~/.docker, a project with its settings. folder
// is the agent's: it is no installation, and neither is what it lies in.
func (c *command) runs(folder string) []string {
	list := append([]string{}, c.exec...)
	for _, prefix := range c.prefixes {
		if manyInstallations(prefix) || folder != "" && inside(folder, prefix) {
			continue
		}
		for _, part := range parts(prefix) {
			list = append(list, filepath.Join(prefix, part)) // what is missing is passed over
		}
	}
	return list
}

// parts gives the names of the parts of an installation.
func parts(prefix string) []string {
	list := []string{"bin", "lib", "lib32", "lib64", "libexec", "share", "include", "ssl"}
	has := func(names ...string) bool {
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(prefix, name)); err != nil {
				return false
			}
		}
		return true
	}
	switch {
	case has("lib/modules", "conf", "release"): // a Java machine
		list = append(list, "conf", "jmods", "legal", "release")
	case has("pkg/tool", "src/runtime", "VERSION"): // Go
		list = append(list, "pkg", "src", "VERSION", "go.env")
	case has("shims", "versions"), has("shims", "installs"): // a version manager
		list = append(list, "shims", "versions", "installs", "plugins", "version")
	}
	return list
}

// manyInstallations reports whether a folder is the system's, whose programs are open
// anyway, or holds what is no part of the program.
func manyInstallations(prefix string) bool {
	home, _ := os.UserHomeDir() // without one there is nothing to keep closed
	for _, closed := range []string{"/", "/usr", "/usr/local", "/home", "/root", home, filepath.Join(home, ".local"), filepath.Join(home, "go")} {
		if prefix == closed {
			return true
		}
	}
	return false
}

// inside reports whether a path is a folder or lies below it, by whatever names. Where that
// cannot be seen it is taken to be so.
func inside(path, folder string) bool {
	want, err := os.Stat(folder)
	if err != nil {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true
	}
	for {
		if info, err := os.Stat(real); err == nil && os.SameFile(info, want) {
			return true
		}
		up := filepath.Dir(real)
		if up == real {
			return false
		}
		real = up
	}
}
