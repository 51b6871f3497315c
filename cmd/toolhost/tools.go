package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/suggest"
)

// toolsEvery is how often a running host looks which tools were disabled or enabled, and
// toolsPause how long it waits after it could not see that.
const (
	toolsEvery = 500 * time.Millisecond
	toolsPause = 10 * time.Second
)

func (p *program) toolsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "Show or hide tools",
		Long: `Hides tools from agents, and shows them again. That is remembered, by the names of
the tools, and a running "toolhost serve" on the same --state takes it over within
a second and tells its agents. Without a subcommand it lists the tools.`,
		Example: `  toolhost tools
  toolhost tools disable folder_delete web_fetch
  toolhost tools enable folder_delete`,
		Args: knownSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.listSwitches(cmd.Context()) },
	}
	p.addFlags(cmd)
	p.addJSON(cmd)
	for _, c := range []struct {
		word, short, long string
		off               bool
	}{
		{"enable", "Show tools to agents again", "Shows tools to agents again that were hidden.", false},
		{"disable", "Hide tools from agents", "Hides tools from agents; calls of them fail. \"toolhost tools enable\" shows them again.", true},
	} {
		sub := &cobra.Command{
			Use: c.word + " NAME...", Short: c.short, Long: c.long, Example: "  toolhost tools " + c.word + " folder_delete",
			Args: needs("NAME"),
			RunE: func(cmd *cobra.Command, args []string) error { return p.switchTools(cmd.Context(), args, c.off) },
		}
		p.addFlags(sub)
		p.addJSON(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

// toolSwitch is a tool in tools --json.
type toolSwitch struct {
	Name    string `json:"name"`
	Plugin  string `json:"plugin"`
	Enabled bool   `json:"enabled"`
}

// switches gives the tools there are, and names that are disabled and that no tool has now.
func (s *session) switches(ctx context.Context) ([]toolSwitch, error) {
	off, err := s.state.ToolsOff(ctx)
	if err != nil {
		return nil, stateFailure(err)
	}
	list := []toolSwitch{}
	for _, r := range s.host.Tools() {
		list = append(list, toolSwitch{r.Name, newToolListing(r).Plugin, r.Enabled})
		off = slices.DeleteFunc(off, func(name string) bool { return name == r.Name })
	}
	for _, name := range off {
		list = append(list, toolSwitch{Name: name})
	}
	return list, nil
}

func (p *program) listSwitches(ctx context.Context) error {
	s, err := p.load(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	list, err := s.switches(ctx)
	if err != nil {
		return err
	}
	if p.flags.json {
		return p.printJSON(list)
	}
	return p.printSwitches(list)
}

func (p *program) printSwitches(list []toolSwitch) error {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, t := range list {
		how := "enabled"
		if !t.Enabled {
			how = "disabled"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", t.Name, how, oneLine(t.Plugin)) // tabwriter reports at Flush
	}
	if err := w.Flush(); err != nil {
		return failed(fmt.Errorf("writing the list: %w", err))
	}
	return nil
}

func (p *program) switchTools(ctx context.Context, names []string, off bool) error {
	s, err := p.load(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	before, err := s.switches(ctx)
	if err != nil {
		return err
	}
	known := make([]string, len(before))
	for i, t := range before {
		known[i] = t.Name
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		p.warnUnloaded(s)
		message := fmt.Sprintf("there is no tool %q", name)
		slices.Sort(known)
		if near := suggest.Nearest(name, known); near != "" {
			message += fmt.Sprintf("; did you mean %q?", near)
		}
		return usagef(`"toolhost tools" lists the tools`, "%s", message)
	}
	var now []toolSwitch
	for _, name := range names {
		if _, err := s.state.SetToolOff(ctx, name, off); err != nil {
			return stateFailure(err)
		}
		one := before[slices.IndexFunc(before, func(t toolSwitch) bool { return t.Name == name })]
		one.Enabled = !off
		now = append(now, one)
	}
	if p.flags.json {
		return p.printJSON(now)
	}
	return p.printSwitches(now)
}

// switched are the tools that the user has disabled, as a session knows it.
type switched struct {
	session *session
	off     map[string]bool
}

// apply has the host show what is enabled now.
func (w *switched) apply(ctx context.Context) error {
	names, err := w.session.state.ToolsOff(ctx)
	if err != nil {
		return err
	}
	off := map[string]bool{}
	for _, name := range names {
		off[name] = true
		if !w.off[name] {
			w.session.host.SetEnabled(name, false)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.off)) {
		if !off[name] {
			w.session.host.SetEnabled(name, true)
		}
	}
	w.off = off
	return nil
}

// watch has the host follow what other programs enable and disable, until ctx ends.
func (w *switched) watch(ctx context.Context) {
	timer := time.NewTimer(toolsEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		wait := toolsEvery
		if w.apply(ctx) != nil {
			wait = toolsPause // why it cannot be seen is in the log
		}
		timer.Reset(wait)
	}
}
