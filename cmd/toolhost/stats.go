package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
)

func (p *program) statsCommand() *cobra.Command {
	var filter callFilter
	var failures bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show how often tools were called, how long they took, and what they never used",
		Long: `Shows for each tool of the call log how many calls there were, how they failed,
and the times within which half of them, 95 and 99 of 100 had ended (at most 5 %
off). After them come permissions that a tool has and none of its calls used: a
manifest without them is easier to agree to. --since counts from the beginning of
that day (UTC).`,
		Example: `  toolhost stats --since 7d
  toolhost stats --plugin weather --json`,
		Args: needsNothing,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.stats(cmd.Context(), filter, failures) },
	}
	p.addFlags(cmd)
	filter.add(cmd)
	cmd.Flags().BoolVar(&failures, "failed", false, "only tools of which calls failed")
	cmd.Flags().BoolVar(&p.flags.json, "json", false, "one JSON object a line")
	return cmd
}

// toolStats is a line of stats --json.
type toolStats struct {
	Tool     string         `json:"tool"` // "" for calls of what was not there
	Plugin   string         `json:"plugin"`
	Calls    int            `json:"calls"`
	Failed   int            `json:"failed"`
	Failures map[string]int `json:"failures"` // by kind
	P50      float64        `json:"p50ms"`
	P95      float64        `json:"p95ms"`
	P99      float64        `json:"p99ms"`
	// Unused are permissions of the tool that no call used; null where the tool is not there.
	Unused []string `json:"unused"`
}

func (p *program) stats(ctx context.Context, filter callFilter, failures bool) error {
	q, err := filter.query(time.Now())
	if err != nil {
		return err
	}
	s, err := p.load(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	found, err := s.state.CallStats(ctx, q.Since)
	if err != nil {
		return stateFailure(err)
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	list := []toolStats{}
	for _, f := range found {
		one := toolStats{Tool: f.Tool, Plugin: f.Plugin, Calls: f.Calls, Failures: f.Failures, P50: ms(f.P50), P95: ms(f.P95), P99: ms(f.P99)}
		for _, n := range f.Failures {
			one.Failed += n
		}
		if q.Tool != "" && q.Tool != f.Tool || q.Plugin != "" && q.Plugin != f.Plugin || failures && one.Failed == 0 {
			continue
		}
		if one.Unused, err = s.unused(ctx, f.Plugin, f.Tool); err != nil {
			return stateFailure(err)
		}
		list = append(list, one)
	}
	if p.flags.json {
		for _, one := range list {
			if _, err := p.out.Write(append(escapeJSON(jsondoc.Marshal(one)), '\n')); err != nil {
				return failed(fmt.Errorf("writing the figures: %w", err))
			}
		}
		return nil
	}
	return p.printStats(list)
}

// unused gives the permissions of a tool that is there and that no call of the log used.
func (s *session) unused(ctx context.Context, plugin, tool string) ([]string, error) {
	all := append(s.host.Tools(), s.host.Commands()...)
	i := slices.IndexFunc(all, func(r host.Registered) bool { return r.Owner == plugin && r.Name == tool })
	if i < 0 {
		return nil, nil
	}
	used, err := s.state.UsedPermissions(ctx, plugin, tool)
	if err != nil {
		return nil, err
	}
	elsewhere := all[i].Runtime == "process" || all[i].Runtime == "node" && !slices.Contains([]string{isolationInProcess, isolationWorker}, s.node.of(plugin))
	unused := []string{}
	for _, permission := range all[i].Policy.Granted() {
		word, _, _ := strings.Cut(permission, " ")
		if elsewhere && (strings.HasPrefix(word, "fs.") || word == "env") {
			continue // a program touches them, and the host does not see it
		}
		if _, ok := used[permission]; !ok {
			unused = append(unused, permission)
		}
	}
	return unused, nil
}

func (p *program) printStats(list []toolStats) error {
	if len(list) == 0 {
		p.hintf("no such call is in the log")
		return nil
	}
	took := func(ms float64) string { return took(time.Duration(ms * float64(time.Millisecond))) }
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "TOOL\tPLUGIN\tCALLS\tFAILED\tP50\tP95\tP99\tFAILURES") // tabwriter reports at Flush
	for _, t := range list {
		name := t.Tool
		if name == "" {
			name = "(unknown)"
		}
		var kinds []string
		for _, kind := range host.FailureKinds() {
			if n := t.Failures[string(kind)]; n > 0 {
				kinds = append(kinds, fmt.Sprintf("%s %d", kind, n))
			}
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\n", oneLine(name), oneLine(t.Plugin), t.Calls, t.Failed, took(t.P50), took(t.P95), took(t.P99), strings.Join(kinds, ", "))
	}
	for _, t := range list {
		if len(t.Unused) > 0 {
			_, _ = fmt.Fprintf(w, "\nnever used: tool %s of plugin %s: %s", oneLine(t.Tool), oneLine(t.Plugin), oneLine(strings.Join(t.Unused, ", ")))
		}
	}
	if slices.ContainsFunc(list, func(t toolStats) bool { return len(t.Unused) > 0 }) {
		_, _ = fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return failed(fmt.Errorf("writing the figures: %w", err))
	}
	return nil
}
