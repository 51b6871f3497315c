package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/loader"
)

func (p *program) listCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tools, and what did not load",
		Long: `Lists the tools in the order in which they were registered: built-in tools, then
plugins in the order of --plugins and by folder name, then the bundled ones.
After them comes what was skipped since its name was taken, and what failed to
load and why; "toolhost check" is the command that fails on that.`,
		Example: `  toolhost list --plugins ./plugins
  toolhost list --plugins-only --json`,
		Args: needsNothing,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.list(cmd.Context()) },
	}
	p.addFlags(cmd)
	p.addJSON(cmd)
	return cmd
}

// toolListing, skippedListing and failedListing are the parts of list --json.
type toolListing struct {
	Name           string          `json:"name"`
	Source         string          `json:"source"`
	Plugin         string          `json:"plugin"`
	Runtime        string          `json:"runtime"`
	Isolation      string          `json:"isolation,omitempty"` // of the runtime node
	Title          string          `json:"title"`
	Description    string          `json:"description"`
	TimeoutMS      int64           `json:"timeoutMs"`
	FileExtensions []string        `json:"fileExtensions"`
	InputSchema    json.RawMessage `json:"inputSchema"`
	Dialect        string          `json:"dialect"`
	Enabled        bool            `json:"enabled"`
}

type skippedListing struct {
	Tool    string `json:"tool"`
	Plugin  string `json:"plugin"`
	TakenBy string `json:"takenBy"`
}

// stuckListing is a plugin with calls that were ended and cannot be stopped.
type stuckListing struct {
	Plugin string `json:"plugin"`
	Calls  int    `json:"calls"`
}

// serverListing is a mounted MCP server.
type serverListing struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Tools int    `json:"tools"`
	Error string `json:"error,omitempty"`
}

type failedListing struct {
	Plugin string                  `json:"plugin"`
	Dir    string                  `json:"dir"`
	Errors []*loader.ManifestError `json:"errors"`
}

// mountedRuntime is the runtime of the tools of mounted MCP servers.
const mountedRuntime = "mcp"

func newToolListing(r host.Registered) toolListing {
	l := toolListing{
		Name: r.Name, Source: r.Source.String(), Runtime: r.Runtime, Title: r.Title, Description: r.Description,
		TimeoutMS: r.Timeout.Milliseconds(), FileExtensions: append([]string{}, r.Extensions...),
		InputSchema: r.InputSchema, Dialect: r.Input.Dialect(), Enabled: r.Enabled,
	}
	if r.Source == host.Plugin || r.Runtime == mountedRuntime {
		l.Plugin = r.Owner
	}
	return l
}

// timeout writes a timeout as manifests do: the largest unit that gives a whole number.
func timeout(ms int64) string {
	switch {
	case ms%60_000 == 0:
		return fmt.Sprintf("%dm", ms/60_000)
	case ms%1000 == 0:
		return fmt.Sprintf("%ds", ms/1000)
	}
	return fmt.Sprintf("%dms", ms)
}

func (p *program) list(ctx context.Context) error {
	s, err := p.load(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	listing := struct {
		Tools   []toolListing    `json:"tools"`
		Skipped []skippedListing `json:"skipped"`
		Failed  []failedListing  `json:"failed"`
		Held    []heldListing    `json:"held"`
		Stuck   []stuckListing   `json:"stuck"`
		Servers []serverListing  `json:"servers"`
	}{[]toolListing{}, []skippedListing{}, []failedListing{}, p.held(ctx, s), []stuckListing{}, []serverListing{}}
	for _, r := range s.host.Tools() {
		l := newToolListing(r)
		if r.Runtime == "node" {
			l.Isolation = s.node.of(l.Plugin)
		}
		listing.Tools = append(listing.Tools, l)
	}
	for _, c := range s.host.Skipped() {
		listing.Skipped = append(listing.Skipped, skippedListing{c.Tool, c.Owner, c.TakenBy})
	}
	for _, st := range s.loader.Status() {
		if st.Stuck > 0 {
			listing.Stuck = append(listing.Stuck, stuckListing{st.Name, st.Stuck})
		}
		if len(st.Errors) > 0 {
			listing.Failed = append(listing.Failed, failedListing{st.Name, st.Dir, st.Errors})
		}
	}
	for _, m := range s.mounts.Status() {
		listing.Servers = append(listing.Servers, serverListing{m.Name, m.State, m.Tools, m.Err})
	}
	if p.flags.json {
		return p.printJSON(listing)
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "TOOL\tSOURCE\tPLUGIN\tRUNTIME\tTIMEOUT\tEXTENSIONS") // tabwriter reports at Flush
	for _, t := range listing.Tools {
		name := t.Name
		if !t.Enabled {
			name += " (disabled)"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", name, t.Source, t.Plugin, t.Runtime, timeout(t.TimeoutMS), oneLine(strings.Join(t.FileExtensions, " ")))
	}
	for _, m := range listing.Servers {
		_, _ = fmt.Fprintf(w, "\nMCP server %s: %s, %d tools", oneLine(m.Name), m.State, m.Tools)
		if m.Error != "" {
			_, _ = fmt.Fprintf(w, ": %s", oneLine(m.Error))
		}
	}
	for _, k := range listing.Skipped {
		_, _ = fmt.Fprintf(w, "\nskipped: tool %s of plugin %s: the name is taken by %s", k.Tool, k.Plugin, k.TakenBy)
	}
	for _, f := range listing.Failed {
		_, _ = fmt.Fprintf(w, "\nfailed: plugin %s (%s)", oneLine(f.Plugin), oneLine(f.Dir))
		for _, e := range f.Errors {
			_, _ = fmt.Fprintf(w, "\n  %s", indent(e.Error(), "    "))
		}
	}
	for _, k := range listing.Held {
		_, _ = fmt.Fprintf(w, "\nheld: plugin %s (%s) waits for your consent: %s", oneLine(k.Plugin), oneLine(k.Dir), oneLine(k.Hint))
		for _, text := range k.Waits {
			_, _ = fmt.Fprintf(w, "\n  %s", oneLine(text))
		}
		if len(k.Serves) > 0 {
			_, _ = fmt.Fprint(w, "\n  (the version that you agreed to serves on)")
		}
	}
	for _, k := range listing.Stuck {
		_, _ = fmt.Fprintf(w, "\nstuck: %d calls of plugin %s were ended and cannot be stopped", k.Calls, oneLine(k.Plugin))
	}
	if len(listing.Servers)+len(listing.Skipped)+len(listing.Failed)+len(listing.Held)+len(listing.Stuck) > 0 {
		_, _ = fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return failed(fmt.Errorf("writing the list: %w", err))
	}
	if len(listing.Tools) == 0 && len(p.flags.tools) > 0 {
		p.hintf(`no tool's name matches --tools; "toolhost list --tools '*'" lists all`)
	}
	return nil
}
