package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/loader"
)

func (p *program) checkCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "check DIR...",
		Short: "Say everything that is wrong with a plugin",
		Long: `Reports all mistakes in a plugin at once, each with its place and what to do about
it, and warns of what a model or a client will stumble over. DIR is a plugin
folder, or a folder of plugin folders. The exit code is 1 when there is an error
(with --strict: or a warning).`,
		Example: `  toolhost check ./my-plugin
  toolhost check ./plugins --all --json`,
		Args: needs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.check(cmd.Context(), args, all) },
	}
	p.addFlags(cmd)
	p.addJSON(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "report remarks too, not only errors and warnings")
	return cmd
}

func (p *program) check(ctx context.Context, dirs []string, all bool) error {
	limits, err := p.flags.limits.host()
	if err != nil {
		return failed(err)
	}
	reports := []loader.CheckReport{}
	taken := map[string]string{}
	for _, name := range hostTools() {
		taken[name] = "the host"
	}
	for _, dir := range dirs {
		found, err := loader.Folders(dir)
		if err != nil {
			return usagef("name a plugin folder, or a folder of plugin folders", "checking %q: %w", dir, err)
		}
		if len(found) == 0 {
			return usagef(noPluginHint, "there is no plugin in %q", dir)
		}
		for _, plugin := range found {
			r := loader.Check(ctx, plugin, p.runtimes(limits, ""), &loader.Options{MaxTimeout: limits.MaxTimeout, All: all, Enforced: p.enforcedInLoad, HostTools: hostTools(), Taken: taken})
			for _, id := range r.Tools {
				if taken[id] == "" {
					taken[id] = fmt.Sprintf("the plugin %q", r.Plugin)
				}
			}
			reports = append(reports, r)
		}
	}
	bad := false
	for _, r := range reports {
		bad = bad || !r.OK || p.flags.strict && len(r.Warnings) > 0
	}
	if p.flags.json {
		err = p.printJSON(map[string]any{"plugins": reports})
	} else {
		err = printReports(p.out, reports)
	}
	if err != nil {
		return err
	}
	if bad {
		return errReported
	}
	return nil
}

func printReports(out io.Writer, reports []loader.CheckReport) error {
	for _, r := range reports {
		verdict := "ok"
		if !r.OK {
			verdict = "errors"
		}
		if _, err := fmt.Fprintf(out, "%s: %s\n", oneLine(r.Dir), verdict); err != nil {
			return failed(err)
		}
		for _, part := range []struct {
			kind string
			list []*loader.ManifestError
		}{{"error", r.Errors}, {"warning", r.Warnings}, {"info", r.Infos}} {
			for _, e := range part.list {
				line := fmt.Sprintf("  %s: %s [%s]\n", part.kind, indent(e.Error(), "    "), e.Rule)
				if e.Hint != "" {
					line += fmt.Sprintf("    %s\n", indent(e.Hint, "    "))
				}
				if _, err := io.WriteString(out, line); err != nil {
					return failed(err)
				}
			}
		}
	}
	return nil
}

// indent makes every line of a message fit to be shown, and sets those after the first
// behind a margin, so that none of them passes for a line of the report.
func indent(message, margin string) string {
	lines := strings.Split(message, "\n")
	for i, line := range lines {
		lines[i] = oneLine(line)
	}
	return strings.Join(lines, "\n"+margin)
}
