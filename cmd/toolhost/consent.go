package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/consent"
	"github.com/toolhost/toolhost/internal/pack"
	"github.com/toolhost/toolhost/internal/scratch"
	"github.com/toolhost/toolhost/internal/state"
	"github.com/toolhost/toolhost/internal/suggest"
	"github.com/toolhost/toolhost/loader"
)

func (p *program) consentCommand() *cobra.Command {
	run := func(do func(ctx context.Context, db *state.DB, book *consent.Book, args []string) error) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, args []string) error {
			db := p.openState(p.logger(0))
			defer db.Close()
			book := consent.New(db, &consent.Options{Log: p.logger(0)})
			if err := p.refreshConsent(cmd.Context(), book); err != nil {
				return err
			}
			return do(cmd.Context(), db, book, args)
		}
	}
	one := func(cmd *cobra.Command, args []string) error {
		if err := needs("PLUGIN")(cmd, args); err != nil {
			return err
		}
		return needsNothing(cmd, args[1:])
	}
	sub := func(use, short, long, example string, args cobra.PositionalArgs, do func(ctx context.Context, db *state.DB, book *consent.Book, args []string) error) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: args, RunE: run(do)}
		p.addFlags(c)
		p.addJSON(c)
		return c
	}
	cmd := &cobra.Command{
		Use:   "consent",
		Short: "Say what you have agreed to, and decide about what waits",
		Long: `Plugins in a folder that you name with --plugins are agreed to as they are first
seen, installed ones at their installation. A later change that adds a tool, words
one otherwise or asks for more waits here, and the version that you agreed to
serves on.`,
		Example: `  toolhost consent
  toolhost consent show weather
  toolhost consent approve weather`,
		Args: knownSubcommand,
		RunE: run(p.consentList),
	}
	p.addFlags(cmd)
	p.addJSON(cmd)
	var yes bool
	approve := sub("approve PLUGIN", "Agree to what waits",
		"Shows what waits and agrees to it; on a terminal it asks first. Hosts that are running load it\nwithin a second. What was revoked is given back.",
		"  toolhost consent approve weather\n  toolhost consent approve ./plugins/weather --yes", one,
		func(ctx context.Context, db *state.DB, book *consent.Book, args []string) error {
			if err := p.decidedByPolicy("approve", "allow it in the policy"); err != nil {
				return err
			}
			return p.consentApprove(ctx, db, book, args[0], yes)
		})
	approve.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.AddCommand(
		sub("list", "List what you have agreed to, what waits, and what agents ask for", "Lists each plugin with how it was agreed to and what waits, then the requests of agents.", "  toolhost consent list --json", needsNothing, p.consentList),
		sub("show PLUGIN", "Show what a plugin may do, and what waits, as a diff", "Shows what you have agreed to of a plugin, its fingerprint, and how what waits differs.", "  toolhost consent show weather", one,
			func(ctx context.Context, db *state.DB, _ *consent.Book, args []string) error {
				return p.consentShow(ctx, db, args[0])
			}),
		approve,
		sub("revoke PLUGIN", "Take your consent back", "Takes the consent to a plugin back: nothing of it runs until it is approved again. Hosts that are\nrunning take its tools away within a second.", "  toolhost consent revoke weather", one,
			func(ctx context.Context, db *state.DB, book *consent.Book, args []string) error {
				if err := p.decidedByPolicy("revoke", "take it out of the policy"); err != nil {
					return err
				}
				return p.consentRevoke(ctx, db, book, args[0])
			}),
		sub("dismiss PLUGIN", "Forget what agents ask for", "Takes the requests of agents for a plugin away. Nothing is granted or refused by that.", "  toolhost consent dismiss weather", one,
			func(ctx context.Context, db *state.DB, _ *consent.Book, args []string) error {
				return p.consentDismiss(ctx, db, args[0])
			}),
	)
	return cmd
}

// consentListing is a plugin in consent list --json.
type consentListing struct {
	Plugin      string   `json:"plugin"`
	Dir         string   `json:"dir"`
	Origin      string   `json:"origin"`
	State       string   `json:"state"` // "agreed", "waiting", "revoked"
	How         string   `json:"how"`
	At          string   `json:"at"`
	Fingerprint string   `json:"fingerprint"` // of what was agreed to
	Tree        string   `json:"tree"`
	Waits       []string `json:"waits"`
}

type requestListing struct {
	ID         int64  `json:"id"`
	Plugin     string `json:"plugin"`
	Permission string `json:"permission"`
	Reason     string `json:"reason"`
	Agent      string `json:"agent"`
	At         string `json:"at"`
}

func newConsentListing(c *state.Consent) consentListing {
	l := consentListing{Plugin: c.Plugin, Dir: c.Folder, Origin: c.Origin, State: "agreed", How: c.How, At: c.At.UTC().Format(time.RFC3339), Waits: []string{}}
	if c.Agreed != nil {
		l.Fingerprint, l.Tree = c.Agreed.Fingerprint, c.Agreed.Tree
	}
	switch {
	case c.Revoked:
		l.State = "revoked"
	case c.Pending != nil:
		l.State = "waiting"
		l.Waits = append(l.Waits, c.Pending.Differs...)
	}
	return l
}

func (p *program) consentList(ctx context.Context, db *state.DB, _ *consent.Book, _ []string) error {
	records, err := db.Consents(ctx, "")
	if err != nil {
		return failed(err)
	}
	requests, err := db.ConsentRequests(ctx)
	if err != nil {
		return failed(err)
	}
	plugins, asked := []consentListing{}, []requestListing{}
	for _, c := range records {
		plugins = append(plugins, newConsentListing(c))
	}
	for _, r := range requests {
		asked = append(asked, requestListing{r.ID, r.Plugin, r.Permission, r.Reason, r.Agent, r.At.UTC().Format(time.RFC3339)})
	}
	if p.flags.json {
		return p.printJSON(map[string]any{"plugins": plugins, "requests": asked})
	}
	var b strings.Builder
	for _, l := range plugins {
		fmt.Fprintf(&b, "%-8s %s (%s), %s\n", l.State, oneLine(l.Plugin), oneLine(l.Dir), strings.TrimSpace(oneLine(l.How)+" "+l.At))
		for _, w := range l.Waits {
			fmt.Fprintf(&b, "           %s\n", oneLine(w))
		}
	}
	if len(plugins) == 0 {
		b.WriteString("nothing was agreed to yet\n")
	}
	if len(asked) > 0 {
		b.WriteString("\nagents ask for (their words; nothing is granted by that)\n")
	}
	for _, r := range asked {
		fmt.Fprintf(&b, "  plugin %s: %s\n    since: %s\n    %s, %s\n", oneLine(r.Plugin), oneLine(r.Permission), oneLine(r.Reason), oneLine(r.Agent), r.At)
	}
	if _, err := io.WriteString(p.out, b.String()); err != nil {
		return failed(err)
	}
	return nil
}

// findConsent gives the record of a plugin that is named, or is a folder.
func (p *program) findConsent(ctx context.Context, db *state.DB, name string) (*state.Consent, error) {
	records, err := db.Consents(ctx, "")
	if err != nil {
		return nil, failed(err)
	}
	folder := ""
	if strings.ContainsAny(name, `/\`) || name == "." {
		if abs, err := filepath.Abs(name); err == nil {
			folder = abs
			if real, err := filepath.EvalSymlinks(abs); err == nil {
				folder = real
			}
		}
	}
	var found []*state.Consent
	var names []string
	for _, c := range records {
		if c.Plugin == name || c.Folder == folder {
			found = append(found, c)
		}
		names = append(names, c.Plugin)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		hint := "toolhost consent list has what is known"
		if near := suggest.Nearest(name, names); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return nil, usagef(hint, "nothing is known of a plugin %q", name)
	}
	waiting := slices.DeleteFunc(slices.Clone(found), func(c *state.Consent) bool { return c.Pending == nil && !c.Revoked })
	if len(waiting) == 1 {
		return waiting[0], nil
	}
	var folders []string
	for _, c := range found {
		folders = append(folders, c.Folder)
	}
	return nil, usagef("name its folder: "+strings.Join(folders, ", "), "there are several plugins %q", name)
}

func (p *program) consentShow(ctx context.Context, db *state.DB, name string) error {
	c, err := p.findConsent(ctx, db, name)
	if err != nil {
		return err
	}
	agreed := consent.Recorded(c.Agreed)
	differs, files, lint := pendingChanges(c)
	if p.flags.json {
		type difference struct {
			Text   string `json:"text"`
			Detail string `json:"detail"`
			Wider  bool   `json:"wider"`
		}
		list, changed := []difference{}, []string{}
		for _, d := range differs {
			list = append(list, difference{d.Text, d.Detail, d.Wider})
		}
		for _, f := range files {
			changed = append(changed, f.Act+" "+f.Name)
		}
		waiting := ""
		if c.Pending != nil {
			waiting = c.Pending.Fingerprint
		}
		return p.printJSON(map[string]any{
			"consent": newConsentListing(c), "agreed": agreed, "waitingFingerprint": waiting, "differences": list, "files": changed, "warnings": append([]string{}, lint...),
		})
	}
	var b strings.Builder
	l := newConsentListing(c)
	fmt.Fprintf(&b, "%s (%s)\n  %s: %s %s\n", oneLine(l.Plugin), oneLine(l.Dir), l.State, oneLine(l.How), l.At)
	if agreed != nil {
		writeSummary(&b, "you have agreed to", agreed)
		fmt.Fprintf(&b, "  fingerprint %s\n", c.Agreed.Fingerprint)
	}
	if c.Pending != nil {
		writePending(&b, c, differs, files, lint)
	}
	if _, err := io.WriteString(p.out, b.String()); err != nil {
		return failed(err)
	}
	return nil
}

// writeSummary writes what a version asks for.
func writeSummary(b *strings.Builder, title string, s *loader.Summary) {
	fmt.Fprintf(b, "\n%s\n", title)
	if s.Runtime == "process" {
		fmt.Fprintf(b, "  program %s\n", oneLine(strings.Join(s.Command, " ")))
	}
	for _, t := range s.Tools {
		fmt.Fprintf(b, "  tool %s: %s\n", oneLine(t.ID), oneLine(t.Description))
	}
	for _, c := range s.Commands {
		fmt.Fprintf(b, "  command %s: %s\n", oneLine(c.ID), oneLine(c.Title))
	}
	for _, r := range s.Rights {
		if !strings.HasPrefix(r.Rule, "fs.list.") || !slices.Contains(s.Rights, loader.Right{Rule: "fs.read" + strings.TrimPrefix(r.Rule, "fs.list"), Value: r.Value}) {
			fmt.Fprintf(b, "  may %s\n", oneLine(consent.Words(r)))
		}
	}
}

// writePending writes what waits.
func writePending(b *strings.Builder, c *state.Consent, differs []consent.Difference, files []pack.Change, lint []string) {
	pending := consent.Recorded(c.Pending)
	if consent.Recorded(c.Agreed) == nil && pending != nil {
		writeSummary(b, "waits for you to agree", pending)
	} else {
		b.WriteString("\nwaits for you to agree (! asks for more)\n")
		if len(differs)+len(files) == 0 {
			b.WriteString("  it asks for what you have agreed to before\n")
		} else {
			writeDifferences(b, differs, files)
		}
	}
	for _, text := range lint {
		fmt.Fprintf(b, "  look twice: %s\n", oneLine(text))
	}
	fmt.Fprintf(b, "  fingerprint %s\n", c.Pending.Fingerprint)
	if c.Pending.Tree != "" {
		fmt.Fprintf(b, "  files %s\n", c.Pending.Tree)
	}
}

// pendingChanges gives how what waits differs from what was agreed to.
func pendingChanges(c *state.Consent) (differs []consent.Difference, files []pack.Change, lint []string) {
	pending, agreed := consent.Recorded(c.Pending), consent.Recorded(c.Agreed)
	if pending == nil {
		return nil, nil, nil
	}
	if agreed != nil {
		differs = consent.Differences(agreed, pending)
	}
	if c.Agreed != nil && c.Agreed.Copy != "" {
		now := c.Folder
		if c.Pending.Copy != "" {
			now = c.Pending.Copy
		}
		files, _ = pack.Compare(c.Agreed.Copy, now) // what cannot be compared is not shown; it is refused when it is loaded
	}
	return differs, files, consent.Lint(pending, nil)
}

func (p *program) consentApprove(ctx context.Context, db *state.DB, book *consent.Book, name string, yes bool) error {
	c, err := p.findConsent(ctx, db, name)
	if err != nil {
		return err
	}
	if c.Pending == nil && !c.Revoked {
		_, err := fmt.Fprintf(p.out, "nothing of %s waits\n", oneLine(c.Plugin))
		return err
	}
	if c.Pending != nil && !p.flags.json {
		var b strings.Builder
		differs, files, lint := pendingChanges(c)
		writePending(&b, c, differs, files, lint)
		if _, err := io.WriteString(p.out, strings.TrimPrefix(b.String(), "\n")); err != nil {
			return failed(err)
		}
	}
	if p.terminal() != nil && !yes {
		if err := p.confirm(ctx, "Approve "+oneLine(c.Plugin)+"?"); err != nil {
			return err
		}
	}
	if err := p.approve(ctx, db, book, c); err != nil {
		return failed(fmt.Errorf("approving %q: %w", c.Plugin, err))
	}
	if p.flags.json {
		now, err := db.Consent(ctx, c.Folder)
		if err != nil {
			return failed(err)
		}
		return p.printJSON(newConsentListing(now))
	}
	_, err = fmt.Fprintf(p.out, "approved: %s\n", oneLine(c.Plugin))
	return err
}

// decidedByPolicy refuses to note a decision of the user that would not count.
func (p *program) decidedByPolicy(what, instead string) error {
	if p.flags.policyFile == "" {
		return nil
	}
	return usagef(instead+", or leave the policy out", "the policy %s alone decides what may run: there is nothing to %s", oneLine(p.flags.policyFile), what)
}

// approve agrees to what waits. An update that waits is installed; of an installed plugin a copy
// is kept, and what waits must be what it was when it was looked at.
func (p *program) approve(ctx context.Context, db *state.DB, book *consent.Book, c *state.Consent) error {
	if c.Pending == nil || c.Origin != string(loader.Installed) {
		return book.Approve(ctx, c, consent.Approved)
	}
	from := c.Folder
	update := c.Pending.Copy != ""
	if update {
		from = c.Pending.Copy
	}
	root := filepath.Dir(c.Folder)
	dir := from
	if !update { // the files stay where they are: what is installed is a copy of them
		staged, err := os.MkdirTemp(root, ".install-")
		if err != nil {
			return err
		}
		defer scratch.Remove(staged)
		if _, err := pack.Copy(staged, from); err != nil {
			return err
		}
		dir = staged
	}
	tree, err := pack.Hash(dir)
	if err != nil {
		return err
	}
	m, q, err := p.examine(ctx, dir)
	if err != nil {
		return err
	}
	if q.Asks.Fingerprint() != c.Pending.Fingerprint || tree != c.Pending.Tree {
		return errors.Join(consent.ErrChanged, errors.New("install the plugin again"))
	}
	if m.Name != filepath.Base(c.Folder) {
		return fmt.Errorf("the plugin calls itself %q and stands in the folder %q; install it again", m.Name, filepath.Base(c.Folder))
	}
	return p.place(ctx, db, &candidate{root: root, dir: dir, folder: c.Folder, tree: tree, manifest: m, question: q})
}

func (p *program) consentRevoke(ctx context.Context, db *state.DB, book *consent.Book, name string) error {
	c, err := p.findConsent(ctx, db, name)
	if err != nil {
		return err
	}
	if err := book.Revoke(ctx, c.Folder); err != nil {
		return failed(fmt.Errorf("revoking the consent to %q: %w", c.Plugin, err))
	}
	if p.flags.json {
		c.Revoked, c.How, c.At = true, consent.Revoked, time.Now()
		return p.printJSON(newConsentListing(c))
	}
	_, err = fmt.Fprintf(p.out, "revoked: %s\n", oneLine(c.Plugin))
	return err
}

func (p *program) consentDismiss(ctx context.Context, db *state.DB, plugin string) error {
	n, err := db.DropConsentRequests(ctx, plugin)
	if err != nil {
		return failed(err)
	}
	if p.flags.json {
		return p.printJSON(map[string]any{"plugin": plugin, "dismissed": n})
	}
	_, err = fmt.Fprintf(p.out, "dismissed: %d\n", n)
	return err
}
