package main

import (
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
	f, c := &p.flags, permissions.Closed{}
	for _, path := range []string{f.state, p.configFile(), f.http.TokenFile, f.http.TLSKey} {
		globs := p.globsOf(path)
		c.Read, c.Write = append(c.Read, globs...), append(c.Write, globs...)
	}
	for _, path := range []string{f.policyFile, f.http.TLSCert} {
		c.Write = append(c.Write, p.globsOf(path)...)
	}
	for _, dir := range slices.Concat(f.plugins, f.installed) {
		c.Write = append(c.Write, p.globsOf(dir)...)
		folders, _ := loader.Folders(dir) // what is wrong with it is said by the load
		for _, folder := range folders {
			c.Write = append(c.Write, p.globsOf(folder)...) // a link leads to it
		}
		// Where the agent's folder is a folder of plugins itself, or lies in one, a manifest
		// makes a plugin. The rest must stay open.
		for _, manifest := range []string{loader.ManifestFile, loader.CardFile} {
			switch realPath(dir) {
			case realPath(f.folder):
				c.Write = append(c.Write, manifest, "*/"+manifest)
			case filepath.Dir(realPath(f.folder)):
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
func (p *program) globsOf(path string) []string {
	if path == "" {
		return nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	var globs []string
	for _, folder := range []string{p.flags.folder, realPath(p.flags.folder)} {
		for _, place := range []string{path, filepath.Join(realPath(filepath.Dir(path)), filepath.Base(path)), realPath(path)} {
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

// realPath gives a path with the links followed in as much of it as there is.
func realPath(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if filepath.Dir(at) == at {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
