package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/suggest"
	"github.com/toolhost/toolhost/loader"
	"github.com/toolhost/toolhost/permissions/sandbox"
)

func (p *program) inspectCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect PLUGIN|DIR",
		Short: "Say what a plugin contributes and may touch, and who holds it to that",
		Long: `Prints what a plugin contributes, where its code runs, and each rule of its
permissions with who enforces it on this machine: the kernel, the host, or nobody
(advisory). Nothing of the plugin is run. With --strict the exit code is 1 where
a rule is advisory.`,
		Example: `  toolhost inspect word-count
  toolhost inspect ./my-plugin --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := needs("PLUGIN|DIR")(cmd, args); err != nil {
				return err
			}
			return needsNothing(cmd, args[1:])
		},
		RunE: func(cmd *cobra.Command, args []string) error { return p.inspect(cmd.Context(), args[0]) },
	}
	p.addFlags(cmd)
	p.addJSON(cmd)
	return cmd
}

// pluginListing is what inspect says of a plugin.
type pluginListing struct {
	Plugin      string                  `json:"plugin"`
	Version     string                  `json:"version"`
	Description string                  `json:"description"`
	Dir         string                  `json:"dir"`
	Runtime     string                  `json:"runtime"`
	Engine      string                  `json:"engine,omitempty"`
	Protocol    string                  `json:"protocol,omitempty"`
	Command     []string                `json:"command,omitempty"`
	Runs        loader.Place            `json:"runs"`
	Contributes contributed             `json:"contributes"`
	Permissions []loader.Enforcement    `json:"permissions"`
	Errors      []*loader.ManifestError `json:"errors"`
}

// noPluginHint says what makes a folder one of a plugin.
const noPluginHint = "a plugin folder holds a " + loader.ManifestFile + ", or the " + loader.CardFile + " of a card"

// contributed is what a manifest contributes, by name.
type contributed struct {
	Tools    []contribution `json:"tools"`
	Actions  []contribution `json:"actions"`
	Commands []contribution `json:"commands"`
	Settings []contribution `json:"settings"`
	Hooks    []string       `json:"hooks"`
	Views    []contribution `json:"views"`
}

type contribution struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	TimeoutMS   int64  `json:"timeoutMs,omitempty"` // of a tool that states one
}

func (p *program) inspect(ctx context.Context, name string) error {
	dir, isolated, err := p.findPlugin(ctx, name)
	if err != nil {
		return err
	}
	text, err := loader.ReadManifest(dir)
	if err != nil {
		return failed(fmt.Errorf("inspecting %q: %w", name, err))
	}
	limits, err := p.flags.limits.host()
	if err != nil {
		return failed(err)
	}
	m, mistakes, _ := loader.ParseManifest(text, &loader.ParseOptions{MaxTimeout: limits.MaxTimeout})
	if m == nil {
		for _, e := range mistakes {
			p.errorf("%v", e)
		}
		return errReported
	}
	l := describe(m, dir)
	l.Runs = p.whereRuns(m, dir, isolated)
	l.Permissions = p.enforced(m, l.Runs)
	l.Errors = append(l.Errors, mistakes...)
	if p.flags.json {
		err = p.printJSON(l)
	} else {
		err = l.print(p.out)
	}
	if err != nil {
		return err
	}
	for _, e := range mistakes {
		p.errorf("%v", e)
	}
	loose := slices.ContainsFunc(l.Permissions, func(r loader.Enforcement) bool { return r.Enforced == loader.Advisory })
	if len(mistakes) > 0 || p.flags.strict && loose {
		return errReported
	}
	return nil
}

// findPlugin gives the folder of a plugin that is named, or is a folder itself; and of one
// that was loaded, where its handlers were put: see [isolation].
func (p *program) findPlugin(ctx context.Context, name string) (dir, isolated string, err error) {
	if strings.ContainsAny(name, `/\`) || name == "." || name == ".." {
		if !isDir(name) {
			return "", "", usagef("name a plugin, or the folder of one", "there is no folder %q", name)
		}
		if !loader.IsPlugin(name) {
			return "", "", usagef(noPluginHint, "there is no plugin in %q", name)
		}
		return name, "", nil
	}
	s, err := p.load(ctx)
	if err != nil {
		return "", "", err
	}
	defer s.close()
	var names []string
	for _, st := range s.loader.Status() {
		if st.Name == name {
			return st.Dir, s.node.of(name), nil
		}
		names = append(names, st.Name)
	}
	if isDir(name) && loader.IsPlugin(name) {
		return name, "", nil
	}
	hint := `"toolhost list" has the plugins; a folder is named with a slash, such as ./` + name
	if near := suggest.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return "", "", usagef(hint, "there is no plugin %q", name)
}

// whereRuns says where the code of a plugin runs. Of a plugin that was not loaded it is
// not known whether its code can be held in process.
func (p *program) whereRuns(m *loader.Manifest, dir, isolated string) loader.Place {
	switch {
	case m.Runtime == "process" || m.Engine == "node":
		return loader.InChild
	case isolated == isolationWorker, p.flags.isolation == isolationWorker, p.flags.isolation == isolationAuto && loader.Foreign(dir, p.flags.installed):
		return loader.InWorker
	}
	return loader.InProcess
}

// enforced gives what a plugin may touch that runs at a place, and who holds it to that here.
func (p *program) enforced(m *loader.Manifest, at loader.Place) []loader.Enforcement {
	mode, _ := sandbox.ParseMode(p.flags.sandbox) // settleFlags has checked it
	return loader.Enforce(m, at, mode, sandbox.Supported())
}

// enforcedInLoad is enforced for a plugin that is about to be loaded from a folder.
func (p *program) enforcedInLoad(m *loader.Manifest, dir string) []loader.Enforcement {
	return p.enforced(m, p.whereRuns(m, dir, ""))
}

// describe gives what a manifest contributes.
func describe(m *loader.Manifest, dir string) *pluginListing {
	l := &pluginListing{
		Plugin: m.Name, Version: m.Version, Description: m.Description, Dir: dir, Runtime: m.Runtime,
		Contributes: contributed{[]contribution{}, []contribution{}, []contribution{}, []contribution{}, []string{}, []contribution{}},
		Errors:      []*loader.ManifestError{},
	}
	if l.Runtime == "" {
		l.Runtime = "node"
	}
	if l.Runtime == "process" {
		l.Command, l.Protocol = m.Command, m.Protocol
		if l.Protocol == "" {
			l.Protocol = "stdio"
		}
	} else if l.Engine = m.Engine; l.Engine == "" {
		l.Engine = "goja"
	}
	c := &l.Contributes
	for _, t := range m.Tools {
		c.Tools = append(c.Tools, contribution{ID: t.ID, Title: t.Title, Description: t.Description, TimeoutMS: t.Timeout.Milliseconds()})
	}
	for _, a := range m.Contributes.Actions {
		c.Actions = append(c.Actions, contribution{ID: a.ID, Title: a.Title, Description: a.Description})
	}
	for _, k := range m.Contributes.Commands {
		c.Commands = append(c.Commands, contribution{ID: k.ID, Title: k.Title})
	}
	for _, key := range slices.Sorted(maps.Keys(m.Contributes.Settings)) {
		s := m.Contributes.Settings[key]
		c.Settings = append(c.Settings, contribution{ID: key, Title: s.Title, Description: s.Description})
	}
	c.Hooks = append(c.Hooks, slices.Sorted(maps.Keys(m.Contributes.Hooks))...)
	for _, v := range m.Contributes.Views {
		c.Views = append(c.Views, contribution{ID: v.ID, Title: v.Title})
	}
	return l
}

func (l *pluginListing) print(out io.Writer) error {
	var b strings.Builder
	title := strings.TrimSpace(l.Plugin + " " + l.Version)
	fmt.Fprintf(&b, "%s (%s)\n", oneLine(title), oneLine(l.Dir))
	if l.Description != "" {
		fmt.Fprintf(&b, "  %s\n", oneLine(l.Description))
	}
	how := "engine " + l.Engine
	if l.Runtime == "process" {
		how = "protocol " + l.Protocol + ", command " + strings.Join(l.Command, " ")
	}
	fmt.Fprintf(&b, "  runtime %s, %s; runs %s\n\ncontributes\n", oneLine(l.Runtime), oneLine(how), l.Runs)
	some := false
	for _, part := range []struct {
		kind string
		list []contribution
	}{{"tool", l.Contributes.Tools}, {"action", l.Contributes.Actions}, {"command", l.Contributes.Commands}, {"setting", l.Contributes.Settings}, {"view", l.Contributes.Views}} {
		for _, c := range part.list {
			some = true
			about := c.Description
			if about == "" {
				about = c.Title
			}
			fmt.Fprintf(&b, "  %-8s %s: %s\n", part.kind, oneLine(c.ID), oneLine(about))
		}
	}
	for _, h := range l.Contributes.Hooks {
		some = true
		fmt.Fprintf(&b, "  %-8s %s\n", "hook", oneLine(h))
	}
	if !some {
		b.WriteString("  nothing\n")
	}
	b.WriteString("\nmay touch, and who holds it to that\n")
	for _, r := range l.Permissions {
		fmt.Fprintf(&b, "  %-8s %-17s %s\n", r.Enforced, r.Rule, oneLine(r.Allows))
		fmt.Fprintf(&b, "  %-8s %-17s (%s)\n", "", "", oneLine(r.How))
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return failed(fmt.Errorf("writing what was found: %w", err))
	}
	return nil
}
