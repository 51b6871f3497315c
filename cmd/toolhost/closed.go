package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/loader"
	"github.com/toolhost/toolhost/permissions"
)

// closed gives what of the agent's folder is closed to every tool: an agent, or a plugin that
// may write the folder, must neither read secrets there nor write what is run, or agreed to,
// without anybody being asked.
func (p *program) closed() permissions.Closed {
	f, c, real := &p.flags, permissions.Closed{}, realPaths{}
	for _, path := range []string{f.state, p.configFile(), f.http.TokenFile, f.http.TLSKey} {
		globs := p.globsOf(path, real)
		c.Read, c.Write = append(c.Read, globs...), append(c.Write, globs...)
	}
	for _, path := range []string{f.policyFile, f.http.TLSCert} {
		c.Write = append(c.Write, p.globsOf(path, real)...)
	}
	for _, dir := range slices.Concat(f.plugins, f.installed) {
		c.Write = append(c.Write, p.globsOf(dir, real)...)
		entries, _ := os.ReadDir(dir) // what is wrong with it is said by the load
		for _, e := range entries {
			// All others lie in the folder that is closed already.
			if link := filepath.Join(dir, e.Name()); e.Type()&fs.ModeSymlink != 0 && loader.IsPlugin(link) {
				c.Write = append(c.Write, p.globsOf(link, real)...)
			}
		}
		// Where the agent's folder is a folder of plugins itself, or lies in one, a manifest
		// makes a plugin. The rest must stay open.
		for _, manifest := range []string{loader.ManifestFile, loader.CardFile} {
			switch real.of(dir) {
			case real.of(f.folder):
				c.Write = append(c.Write, manifest, "*/"+manifest)
			case filepath.Dir(real.of(f.folder)):
				c.Write = append(c.Write, manifest)
			}
		}
	}
	for _, list := range []*[]string{&c.Read, &c.Write} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return c
}

// globsOf gives the globs of a place that lies in the agent's folder, by all names that lead
// to it; none for other places.
func (p *program) globsOf(path string, real realPaths) []string {
	if path == "" {
		return nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	var globs []string
	for _, folder := range []string{p.flags.folder, real.of(p.flags.folder)} {
		for _, place := range []string{path, filepath.Join(real.of(filepath.Dir(path)), filepath.Base(path)), real.of(path)} {
			below, err := filepath.Rel(folder, place)
			if err != nil || below == "." || !filepath.IsLocal(below) {
				continue
			}
			if glob := globMeta.Replace(filepath.ToSlash(below)); !slices.Contains(globs, glob) {
				globs = append(globs, glob)
			}
		}
	}
	return globs
}

// globMeta has characters stand for themselves in a glob.
var globMeta = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, ",", `\,`)

// realPaths remembers paths with the links followed, by their absolute names: those of a
// hundred plugins have most of it in common.
type realPaths map[string]string

// of gives a path with the links followed in as much of it as there is.
func (r realPaths) of(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return r.follow(path)
}

// follow is of for an absolute path.
func (r realPaths) follow(path string) string {
	above := filepath.Dir(path)
	if above == path {
		return path
	}
	real, known := r[path]
	if known {
		return real
	}
	real = filepath.Join(r.follow(above), filepath.Base(path))
	if info, err := os.Lstat(real); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if followed, err := filepath.EvalSymlinks(real); err == nil {
			real = followed
		}
	}
	r[path] = real
	return real
}
