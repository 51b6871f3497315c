package loader

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/runtimes"
)

// The names of manifests: that of a Filer plugin, and that of a card.
const (
	ManifestFile = runtimes.ManifestFile
	CardFile     = runtimes.CardFile
)

// ManifestError is one thing that is wrong with a plugin: with its manifest, a schema
// file or a handler module.
type ManifestError struct {
	Rule    string `json:"rule"`    // the rule's id: one of [Rules], or a schema rule such as "S02"
	File    string `json:"file"`    // slash path below the plugin's folder; "" where it is about no file
	Line    int    `json:"line"`    // from 1; 0 where the place is not known
	Column  int    `json:"column"`  // from 1, in characters; 0 where the place is not known
	Pointer string `json:"pointer"` // JSON pointer within File
	Msg     string `json:"message"` // what is wrong, lower case, no full stop
	Hint    string `json:"hint"`    // what to do about it; may be empty
	// Warning says that the plugin loads all the same.
	Warning bool `json:"-"`

	info bool // shown only when everything is asked for
}

// Error gives `filer-plugin.json:3:11: message`, without the hint.
func (e *ManifestError) Error() string {
	switch {
	case e.File == "":
		return e.Msg
	case e.Line == 0:
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
}

// LoadError holds everything for which a plugin was not loaded.
type LoadError struct {
	Plugin string // the plugin's name, or its folder's name where the manifest has none
	Dir    string
	Errors []*ManifestError
}

// Error gives one line a mistake.
func (e *LoadError) Error() string {
	lines := make([]string, len(e.Errors))
	for i, m := range e.Errors {
		lines[i] = m.Error()
	}
	return fmt.Sprintf("loading plugin %q: %s", e.Plugin, strings.Join(lines, "\n"))
}

// Unwrap gives the mistakes.
func (e *LoadError) Unwrap() []error {
	errs := make([]error, len(e.Errors))
	for i, m := range e.Errors {
		errs[i] = m
	}
	return errs
}

// sortByPlace puts the mistakes of each file in the order in which an author meets
// them, files in the order of their first mistake.
func sortByPlace(errs []*ManifestError) {
	files := map[string]int{}
	for _, e := range errs {
		if _, ok := files[e.File]; !ok {
			files[e.File] = len(files)
		}
	}
	slices.SortStableFunc(errs, func(a, b *ManifestError) int {
		return cmp.Or(cmp.Compare(files[a.File], files[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
