package loader

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/schema"
	"github.com/toolhost/toolhost/runtimes"
)

// CheckReport is everything that is wrong with a plugin.
type CheckReport struct {
	Plugin   string           `json:"-"` // its name, or its folder's name
	Tools    []string         `json:"-"` // their ids
	Dir      string           `json:"dir"`
	OK       bool             `json:"ok"` // whether there are no errors
	Errors   []*ManifestError `json:"errors"`
	Warnings []*ManifestError `json:"warnings"`
	Infos    []*ManifestError `json:"infos,omitempty"` // what is only worth knowing, with Options.All
}

// Check loads a plugin folder without registering its tools, and looks for what a model,
// a client or another author would stumble over. options may be nil; of it MaxTimeout,
// Strict (warnings are errors), All, Enforced, HostTools, Taken and Log count.
func Check(ctx context.Context, dir string, rts map[string]runtimes.Runtime, options *Options) CheckReport {
	o := Options{}
	if options != nil {
		o = *options
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Enforced == nil {
		o.Enforced = enforcedAnywhere
	}
	op := &opener{rts: rts, maxTimeout: o.MaxTimeout, strict: o.Strict, lint: true, hostTools: o.HostTools, taken: o.Taken, enforced: o.Enforced, log: o.Log}
	p := op.open(ctx, dir)
	p.abandon(o.Log)
	r := CheckReport{Plugin: p.name, Dir: dir, Errors: []*ManifestError{}, Warnings: []*ManifestError{}}
	for _, t := range p.tools {
		r.Tools = append(r.Tools, t.Name)
	}
	for _, w := range p.warnings {
		if w.Rule == ruleToolTwice {
			e := *w
			e.Warning = false
			r.Errors = append(r.Errors, &e)
			continue
		}
		r.Warnings = append(r.Warnings, w)
	}
	r.Errors = append(r.Errors, p.errors...)
	if o.All {
		r.Infos = append(r.Infos, p.notes...)
	}
	sortByPlace(r.Errors)
	sortByPlace(r.Warnings)
	sortByPlace(r.Infos)
	r.OK = len(r.Errors) == 0
	return r
}

// refuseWarnings makes every warning an error.
func (p *opened) refuseWarnings() {
	for _, w := range p.warnings {
		e := *w
		e.Warning = false
		p.errors = append(p.errors, &e)
	}
	p.warnings = nil
}

// shortDescription is how many characters a tool's description should have at least.
const shortDescription = 20

// lint warns about what loads and still does not do what its author expects.
func (p *opened) lint(o *opener, c *checker) {
	m := p.manifest
	note := func(pointer, rule, msg, hint string, info bool) {
		at := c.doc.KeyPosition(pointer)
		p.add(&ManifestError{
			Rule: rule, File: p.file, Line: at.Line, Column: at.Column, Pointer: pointer,
			Msg: msg, Hint: hint, Warning: true, info: info,
		})
	}
	texts := map[string]string{} // of descriptions, with the first tool that has each
	for _, t := range m.Tools {
		if by := o.taken[m.ToolName(t.ID)]; by != "" && t.ID != "" && m.Card == nil { // a card's tool takes another name
			note(t.Pointer+"/id", ruleIDTaken, fmt.Sprintf("the id %q is also that of a tool of %s; the one that loads later is skipped", cut(t.ID), by), "give the tool an id of its own, such as "+strconv.Quote(p.idOfOwn(t.ID)), false)
		}
		if said := squeeze(t.Description); said != "" && !c.covered[t.Pointer+"/description"] {
			switch first := texts[said]; {
			case first != "" && first != t.ID:
				note(t.Pointer+"/description", ruleSameText, fmt.Sprintf("%s is described as %q is; the model cannot choose between them", c.toolTitle(t.Pointer), cut(first)), "say what this one does that the other does not", false)
			case said == squeeze(t.ID):
				note(t.Pointer+"/description", ruleSaysNothing, fmt.Sprintf("the description of %s only repeats its id", c.toolTitle(t.Pointer)), "say what the tool does, what it needs and what it gives", false)
			}
			if texts[said] == "" {
				texts[said] = t.ID
			}
		}
		if t.Title == "" && !c.covered[t.Pointer+"/title"] {
			note(t.Pointer, ruleNoTitle, fmt.Sprintf("%s has no title; people see its id", c.toolTitle(t.Pointer)), `add "title"`, false)
		}
		if n := utf8.RuneCountInString(t.Description); n > 0 && n < shortDescription && !c.covered[t.Pointer+"/description"] {
			note(t.Pointer+"/description", ruleShort, fmt.Sprintf("the description of %s is short; the model has nothing else to choose it by", c.toolTitle(t.Pointer)),
				"say what the tool does, what it needs and what it gives", false)
		}
		for _, field := range []struct{ name, text string }{{"title", t.Title}, {"description", t.Description}} {
			if r, found := schema.Hidden(field.text); found {
				note(t.Pointer+"/"+field.name, ruleHidden, fmt.Sprintf("the %s of %s holds the character %U, which people do not see and the model reads", field.name, c.toolTitle(t.Pointer), r),
					"take it out", false)
			}
		}
	}
	if m.Runtime == RuntimePage && o.rts[RuntimePage] == nil {
		what, hint := fmt.Sprintf("the tools of the card run in its page (%s), which this host does not show: calls are told to have it opened", m.Card.Entry), `for a card without a page write "entry": "card.js"`
		if len(m.Tools) == 0 {
			what, hint = fmt.Sprintf("the card is a page (%s), which this host does not show, and has no tools: there is nothing of it for agents", m.Card.Entry), ""
		}
		note("/entry", ruleCardPage, what, hint, true)
	}
	kept := m.Contributes
	if len(kept.Hooks) > 0 {
		note("/contributes/hooks", ruleNotRun, fmt.Sprintf("this host does not run hooks; the plugin has %d", len(kept.Hooks)), "nothing in the plugin may depend on them here", false)
	}
	if len(kept.Views) > 0 {
		note("/contributes/views", ruleNotRun, fmt.Sprintf("this host does not show views; the plugin has %d", len(kept.Views)), "nothing in the plugin may depend on them here", false)
	}
	for i, a := range kept.Actions {
		at := "/contributes/actions/" + strconv.Itoa(i)
		if a.Generate != nil {
			note(at+"/generate", ruleNotOffered, fmt.Sprintf("this host has no button that fills a parameter; %s has one", actionTitle(map[string]any{"id": a.ID}, at)), "", true)
		}
		if a.ToolScope != "" {
			note(at+"/toolScope", ruleNotOffered, fmt.Sprintf("this host prints the prompt of %s and does not choose tools for it", actionTitle(map[string]any{"id": a.ID}, at)), "", true)
		}
	}
	if len(m.Tools)+len(kept.Hooks)+len(kept.Views)+len(kept.Actions)+len(kept.Commands)+len(kept.Settings) == 0 && m.Runtime != RuntimePage && len(p.errors) == 0 {
		note("", ruleNothing, "the plugin contributes nothing", `add "tools"`, false)
	}
	if m.Runtime == "process" && !c.covered["/permissions"] && !c.around["/permissions"] { // what a program does with the files nobody sees
		p.marksWithoutRule("read")
	}
	for _, r := range o.enforced(m, p.dir) {
		if r.Enforced == Advisory {
			note(r.place(m), ruleAdvisory, fmt.Sprintf("nobody holds the plugin to %q (%s): %s", r.Rule, r.Allows, r.How), r.remedy(m), false)
		}
	}
}

// squeeze gives a text with nothing left but its letters and digits, in lower case.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// idOfOwn gives an id that no other plugin has, most likely.
func (p *opened) idOfOwn(id string) string {
	return strings.ReplaceAll(p.name, "-", "_") + "_" + id
}

// Schemas gives the published schemas of a plugin's tools by tool id, without opening the
// plugin. The error is a *[LoadError] where its manifest or schemas have mistakes.
func Schemas(dir string) (map[string]json.RawMessage, error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer f.close()
	p := &opened{name: filepath.Base(f.dir), dir: f.dir}
	data, file, unreadable := f.manifest()
	if unreadable != nil {
		return nil, &LoadError{Plugin: p.name, Dir: dir, Errors: []*ManifestError{unreadable}}
	}
	p.file = file
	c := newChecker(&ParseOptions{File: file})
	p.manifest = c.parse(data)
	p.errors, p.warnings = c.results()
	if p.manifest != nil {
		(&opener{log: slog.New(slog.DiscardHandler)}).compile(p, f, c)
	}
	if len(p.errors) > 0 {
		return nil, &LoadError{Plugin: p.name, Dir: dir, Errors: p.errors}
	}
	schemas := map[string]json.RawMessage{}
	for i, t := range p.tools {
		if _, twice := schemas[p.ids[i]]; twice {
			continue
		}
		schemas[p.ids[i]] = t.InputSchema
		if p.manifest.Card != nil { // as the handler sees the arguments
			schemas[p.ids[i]] = p.manifest.Tools[i].InputSchema
		}
	}
	return schemas, nil
}
