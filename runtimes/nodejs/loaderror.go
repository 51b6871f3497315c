package nodejs

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/lazyregexp"
	"github.com/toolhost/toolhost/runtimes"
)

// loadError turns what the bootstrap found wrong into a *runtimes.LoadError; nil where
// that is nothing.
func loadError(result *host.Result) error {
	var found []struct{ File, Message, Stack string }
	if err := json.Unmarshal(result.Value, &found); err != nil {
		text := "nothing"
		if len(result.Content) > 0 {
			text = result.Content[0].Text()
		}
		return fmt.Errorf("evaluating the handler modules: Node.js said %.500q", text)
	}
	if len(found) == 0 {
		return nil
	}
	e := &runtimes.LoadError{}
	for _, f := range found {
		p := runtimes.Problem{File: f.File, Line: 1, Column: 1, Message: f.Message}
		if m := frame.FindStringSubmatch(f.Stack); m != nil {
			p.File = m[1]
			p.Line, _ = strconv.Atoi(m[2])   // digits
			p.Column, _ = strconv.Atoi(m[3]) // digits
		}
		if strings.Contains(f.Message, "Cannot find package") || strings.Contains(f.Message, "Cannot find module") {
			p.Hint = "put the package into node_modules in the plugin's folder, or correct the name"
		}
		e.Problems = append(e.Problems, p)
	}
	return e
}

// frame is the first line of a stack with a place below the plugin's folder.
var frame = lazyregexp.New(`(?m)^    at (?:.* \()?([^():/][^():]*):(\d+):(\d+)\)?$`)

// place is how Node.js begins to print a mistake in the syntax of a file.
var place = lazyregexp.New(`(?m)^(file://)?(/.*):(\d+)\n.*\n( *)\^+\n\n(?:\w*Error: )(.*)$`)

// placed reads where a mistake in the syntax is from what Node.js printed.
func placed(dir, text string) (runtimes.Problem, bool) {
	m := place.FindStringSubmatch(text)
	if m == nil {
		return runtimes.Problem{}, false
	}
	file := m[2]
	if m[1] != "" {
		if u, err := url.PathUnescape(file); err == nil {
			file = u
		}
	}
	rel, err := filepath.Rel(dir, file)
	if err != nil || !filepath.IsLocal(rel) {
		return runtimes.Problem{}, false
	}
	p := runtimes.Problem{File: filepath.ToSlash(rel), Column: len(m[4]) + 1, Message: m[5]}
	p.Line, _ = strconv.Atoi(m[3]) // digits
	return p, true
}
