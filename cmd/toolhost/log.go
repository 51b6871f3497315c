package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/calllog"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/state"
)

// followEvery is how often log --follow looks for new calls.
const followEvery = 250 * time.Millisecond

// callFilter are the flags that say which calls are wanted.
type callFilter struct {
	tool, plugin, since string
}

func (f *callFilter) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.tool, "tool", "", "only calls of this tool or command")
	cmd.Flags().StringVar(&f.plugin, "plugin", "", "only calls of this plugin's tools")
	cmd.Flags().StringVar(&f.since, "since", "", "only calls that ended since then: a time ago (90m, 12h, 7d), a day (2026-03-01) or a time (2026-03-01T12:00:00Z)")
}

// query gives the query of the flags.
func (f *callFilter) query(now time.Time) (state.CallQuery, error) {
	q := state.CallQuery{Tool: f.tool, Plugin: f.plugin}
	if f.since == "" {
		return q, nil
	}
	at, ok := parseSince(f.since, now)
	if !ok {
		return q, usagef("for example --since 12h, --since 7d or --since 2026-03-01", "--since %q is no time", f.since)
	}
	q.Since = at
	return q, nil
}

// parseSince reads a time ago, a day or a time.
func parseSince(text string, now time.Time) (at time.Time, ok bool) {
	if ago, ok := parseAge(text); ok {
		return now.Add(-ago), true
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", time.DateTime} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, true
		}
	}
	at, err := time.Parse(time.RFC3339, text)
	return at, err == nil
}

// parseAge reads a duration, which may also be in days.
func parseAge(text string) (time.Duration, bool) {
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		n, err := strconv.Atoi(days)
		return time.Duration(n) * 24 * time.Hour, err == nil && n >= 0 && n <= 36_500
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0
}

func (p *program) logCommand() *cobra.Command {
	var filter callFilter
	var failures, follow bool
	var n int
	cmd := &cobra.Command{
		Use:   "log [CALL_ID]",
		Short: "Show the calls that were made",
		Long: `Shows the last calls, whoever made them: agents, or you with "toolhost call". With
CALL_ID, or the beginning of one, it shows all that is known of one call: its
arguments and result, what it said, read and wrote, and what it was denied.
Secrets are taken out before a call is written down.`,
		Example: `  toolhost log --failed --since 24h
  toolhost log --tool folder_read -n 5 --json
  toolhost log --follow
  toolhost log 4QXK7`,
		Args: between("", 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return p.showCall(cmd.Context(), args[0])
			}
			if n < 0 {
				return usagef("-n 0 shows all", "-n %d is no number of calls", n)
			}
			q, err := filter.query(time.Now())
			if err != nil {
				return err
			}
			q.Failed, q.Limit = failures, n
			if filter.since != "" && !cmd.Flags().Changed("n") {
				q.Limit = 0
			}
			return p.showCalls(cmd.Context(), q, follow)
		},
	}
	p.addFlags(cmd)
	filter.add(cmd)
	cmd.Flags().BoolVar(&failures, "failed", false, "only calls that failed")
	cmd.Flags().IntVarP(&n, "n", "n", 20, "how many calls, the last ones; 0 is all (the default with --since)")
	cmd.Flags().BoolVar(&follow, "follow", false, "go on showing calls as they end")
	cmd.Flags().BoolVar(&p.flags.json, "json", false, "one JSON object a line")
	return cmd
}

// openLog gives the database for a command that reports its errors itself.
func (p *program) openLog() *state.DB { return p.openState(p.logger(slog.LevelError + 1)) }

func (p *program) showCalls(ctx context.Context, q state.CallQuery, follow bool) error {
	db := p.openLog()
	defer db.Close()
	last, err := db.LastCall(ctx)
	if err != nil {
		return stateFailure(err)
	}
	calls, err := db.Calls(ctx, q)
	if err != nil {
		return stateFailure(err)
	}
	if len(calls) == 0 && !follow {
		p.hintf("no such call is in the log")
	}
	if err := p.printCalls(calls, true); err != nil {
		return err
	}
	q.Limit, q.Since = 0, time.Time{}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for follow {
		for _, c := range calls {
			last = max(last, c.N)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if last == 0 {
			q.After = -1 // there was none yet
		} else {
			q.After = last
		}
		if calls, err = db.Calls(ctx, q); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return stateFailure(err)
		}
		if err := p.printCalls(calls, false); err != nil {
			return err
		}
	}
	return nil
}

// printCalls prints a line a call.
func (p *program) printCalls(calls []*state.Call, header bool) error {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	if header && !p.flags.json && len(calls) > 0 {
		_, _ = fmt.Fprintln(w, "TIME\tCALL\tTOOL\tPLUGIN\tAGENT\tTOOK\tOUTCOME") // tabwriter reports at Flush
	}
	for _, c := range calls {
		e, err := calllog.FromRow(c)
		if err != nil {
			p.warnf("%v", err)
			continue
		}
		if p.flags.json {
			_, _ = fmt.Fprintf(w, "%s\n", escapeJSON(jsondoc.Marshal(e)))
			continue
		}
		outcome := "ok"
		if e.Failure != "" {
			outcome = e.Failure
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Time.Local().Format(time.DateTime), oneLine(shortID(e.ID)), oneLine(e.Tool), oneLine(e.Plugin), oneLine(e.Agent), took(c.Duration), oneLine(outcome))
	}
	if err := w.Flush(); err != nil {
		return failed(fmt.Errorf("writing the calls: %w", err))
	}
	return nil
}

// shortID is as much of a call's ID as tells it from others.
func shortID(id string) string { return id[:min(len(id), 10)] }

// took writes a duration for people.
func took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}

// findCall gives a call of the log by its ID, or the beginning of it.
func (p *program) findCall(ctx context.Context, db *state.DB, id string) (*calllog.Entry, error) {
	row, err := db.Call(ctx, strings.ToUpper(id))
	switch {
	case errors.Is(err, state.ErrSeveralCalls):
		return nil, usagef(`write more of it; "toolhost log --json" has whole IDs`, "several calls have IDs that begin with %q", id)
	case err != nil:
		return nil, stateFailure(err)
	case row == nil:
		return nil, usagef(`"toolhost log" lists the last calls`, "no call %q is in the log", id)
	}
	e, err := calllog.FromRow(row)
	if err != nil {
		return nil, failed(err)
	}
	return e, nil
}

func (p *program) showCall(ctx context.Context, id string) error {
	db := p.openLog()
	defer db.Close()
	e, err := p.findCall(ctx, db, id)
	if err != nil {
		return err
	}
	if p.flags.json {
		_, err = p.out.Write(append(escapeJSON(jsondoc.Marshal(e)), '\n'))
	} else {
		_, err = fmt.Fprint(p.out, describeCall(e))
	}
	if err != nil {
		return failed(fmt.Errorf("writing the call: %w", err))
	}
	return nil
}

// describeCall says all that is known of a call.
func describeCall(e *calllog.Entry) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name+":", oneLine(value))
		}
	}
	line("call", e.ID)
	line("time", e.Time.Local().Format(time.RFC3339))
	line("tool", e.Tool)
	line("plugin", strings.TrimSpace(e.Plugin+" "+e.Version))
	line("runtime", e.Runtime)
	line("agent", e.Agent)
	line("session", e.Session)
	line("folder", e.Folder)
	line("took", took(time.Duration(e.DurationMS*float64(time.Millisecond))))
	if e.Failure == "" {
		line("outcome", "ok")
	} else {
		line("outcome", "failed: "+e.Failure)
	}
	line("error", e.Error)
	list := func(name string, values []string) {
		for _, v := range values {
			line(name, v)
		}
	}
	list("read", e.Read)
	list("written", e.Written)
	list("fetched", e.Fetched)
	list("connected", e.Connected)
	list("env", e.Env)
	for _, d := range e.Denied {
		line("denied", strings.TrimSpace(d.Op+" "+d.Target)+": "+strings.TrimSuffix(d.Reason+"; "+d.Rule, "; "))
	}
	if e.MoreTouched > 0 {
		line("and", fmt.Sprintf("%d more of these", e.MoreTouched))
	}
	list("progress", e.Progress)
	if e.MoreProgress > 0 {
		line("and", fmt.Sprintf("%d more lines of progress", e.MoreProgress))
	}
	block := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n%s\n%s\n", title, strings.TrimRight(printable(text), "\n"))
		}
	}
	block(fmt.Sprintf("arguments (%d bytes):", e.ArgumentBytes), indented(e.Arguments)+e.ArgumentsText)
	block("as the handler got them:", indented(e.Checked))
	if e.Result != nil {
		title := fmt.Sprintf("result (%d bytes):", e.ResultBytes)
		if e.Result.Cut {
			title = fmt.Sprintf("result (%d bytes, the beginning):", e.ResultBytes)
		}
		block(title, e.Result.Text())
	}
	return b.String()
}

func indented(raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	text, err := json.MarshalIndent(raw, "", "  ")
	if err != nil {
		return string(raw)
	}
	return string(text)
}
