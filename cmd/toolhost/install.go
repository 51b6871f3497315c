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

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/consent"
	"github.com/toolhost/toolhost/internal/pack"
	"github.com/toolhost/toolhost/internal/scratch"
	"github.com/toolhost/toolhost/internal/state"
	"github.com/toolhost/toolhost/loader"
)

func (p *program) installCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "install SRC",
		Short: "Install a plugin from a folder or a .tgz, after showing what it asks for",
		Long: `Shows what a plugin contributes and may touch, who holds it to that on this machine,
and what somebody should look at twice; asks; and copies it into your folder of
plugins. Nothing of it runs before. Without a terminal nobody can be asked: then
--trust agrees, or --policy FILE decides, else nothing is installed.

An update shows what differs. One that is not agreed to waits, and the installed
version serves on: "toolhost consent approve NAME" installs it.`,
		Example: `  toolhost install ./weather-1.2.0.tgz
  toolhost install ./weather --trust
  toolhost install weather.tgz --policy toolhost-policy.json --json`,
		Args: needs("SRC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return needsNothing(cmd, args[1:])
			}
			return p.install(cmd.Context(), args[0])
		},
	}
	p.addFlags(cmd)
	p.addJSON(cmd)
	return cmd
}

// Folders beside the installed plugins; names that begin with a dot are no plugins.
const (
	keptDir = ".approved" // copies of what was agreed to, by plugin and hash
	heldDir = ".held"     // updates that wait, by plugin
)

// candidate is a plugin that is about to be installed.
type candidate struct {
	root     string // of the installed plugins, links resolved
	dir      string // where its files are for now
	folder   string // where it will be
	tree     string
	manifest *loader.Manifest
	question *loader.ConsentQuestion
	rules    []loader.Enforcement
	lint     []string

	old     *state.Consent // of the version that is installed; nil for a new plugin
	differs []consent.Difference
	files   []pack.Change
}

func (p *program) install(ctx context.Context, src string) error {
	db := p.openState(p.logger(0))
	defer db.Close()
	root, err := installRoot()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return failed(fmt.Errorf("installing %q: %w", src, err))
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return failed(fmt.Errorf("installing %q: %w", src, err))
	}
	staged, err := os.MkdirTemp(root, ".install-")
	if err != nil {
		return failed(fmt.Errorf("installing %q: %w", src, err))
	}
	defer scratch.Remove(staged)
	c, err := p.stage(ctx, db, root, src, staged)
	if err != nil {
		return err
	}
	if c.old != nil && len(c.differs)+len(c.files) == 0 && !c.old.Revoked && c.old.Agreed.Tree == c.tree {
		return p.printInstalled(c, "installed already")
	}
	if !p.flags.json {
		if err := c.print(p.out); err != nil {
			return failed(fmt.Errorf("writing what the plugin asks for: %w", err))
		}
	}
	if err := p.agree(ctx, c); err != nil {
		if c.old != nil && errors.Is(err, errNobody) {
			return p.holdUpdate(ctx, db, c, err)
		}
		return err
	}
	if err := p.place(ctx, db, c); err != nil {
		return failed(fmt.Errorf("installing %q: %w", src, err))
	}
	return p.printInstalled(c, "installed")
}

// stage brings the files of a plugin beside the installed ones, and looks at them.
func (p *program) stage(ctx context.Context, db *state.DB, root, src, staged string) (*candidate, error) {
	info, err := os.Stat(src)
	if err != nil {
		return nil, usagef("name a plugin folder, or a .tgz of one", "there is nothing to install at %q", src)
	}
	if info.IsDir() {
		_, err = pack.Copy(staged, src)
	} else {
		if err = unpackFile(staged, src, info); err != nil {
			return nil, &failure{code: exitFailed, err: fmt.Errorf("installing %q: %w", src, err), hint: `it takes a plugin folder, or a .tgz as "toolhost pack" writes it`}
		}
	}
	if err != nil {
		return nil, failed(fmt.Errorf("installing %q: %w", src, err))
	}
	c := &candidate{root: root, dir: staged}
	if !loader.IsPlugin(staged) { // an archive has one folder at its top
		folders, err := loader.Folders(staged)
		if err != nil || len(folders) != 1 {
			return nil, &failure{code: exitFailed, err: fmt.Errorf("installing %q: there is no plugin in it", src), hint: noPluginHint}
		}
		c.dir = folders[0]
	}
	if c.manifest, c.question, err = p.examine(ctx, c.dir); err != nil {
		return nil, err
	}
	c.question.Origin = loader.Installed
	if c.tree, err = pack.Hash(c.dir); err != nil {
		return nil, failed(fmt.Errorf("installing %q: %w", src, err))
	}
	c.folder = filepath.Join(root, c.manifest.Name)
	taken := map[string]string{}
	for _, name := range hostTools() {
		taken[name] = "the host"
	}
	for _, t := range c.question.Asks.Tools {
		if by := taken[t.ID]; by != "" {
			return nil, failed(fmt.Errorf("installing %q: the name of the tool %q is one of %s", src, t.ID, by))
		}
	}
	c.lint = consent.Lint(c.question.Asks, taken)
	where := p.whereRuns(c.manifest, c.dir, "")
	if where == loader.InProcess && p.flags.isolation == isolationAuto {
		where = loader.InWorker // as everything that came from elsewhere
	}
	c.rules = p.enforced(c.manifest, where)
	return c, c.compare(ctx, db)
}

// unpackFile unpacks an archive.
func unpackFile(dir, src string, info os.FileInfo) error {
	if !info.Mode().IsRegular() {
		return errors.New("it is neither a folder nor a file")
	}
	f, err := os.Open(src)
	if err != nil {
		return err
	}
	defer f.Close()
	return pack.Unpack(f, dir)
}

// compare finds out how an update differs from what is installed.
func (c *candidate) compare(ctx context.Context, db *state.DB) error {
	record, err := db.Consent(ctx, c.folder)
	if err != nil {
		return failed(fmt.Errorf("reading what you have agreed to: %w", err))
	}
	if record == nil || record.Agreed == nil || !isDir(c.folder) {
		return nil
	}
	c.old = record
	if old := consent.Recorded(record.Agreed); old != nil {
		c.differs = consent.Differences(old, c.question.Asks)
	}
	if c.files, err = pack.Compare(c.folder, c.dir); err != nil {
		c.files = nil // what is there is no tree any more; it is replaced
	}
	return nil
}

// print shows what a plugin asks for, the gravest first.
func (c *candidate) print(out io.Writer) error {
	var b strings.Builder
	asks := c.question.Asks
	fmt.Fprintf(&b, "%s\n", oneLine(strings.TrimSpace(asks.Plugin+" "+asks.Version)))
	if asks.Description != "" {
		fmt.Fprintf(&b, "  %s\n", oneLine(asks.Description))
	}
	if asks.Runtime == "process" {
		fmt.Fprintf(&b, "  starts the program %s\n", oneLine(strings.Join(asks.Command, " ")))
	}
	b.WriteString("\ntools that agents can call\n")
	for _, t := range asks.Tools {
		fmt.Fprintf(&b, "  %s: %s\n", oneLine(t.ID), oneLine(t.Description))
	}
	if len(asks.Commands) > 0 {
		b.WriteString("\ncommands that you can run, and plugins that may run commands of others\n")
	}
	for _, k := range asks.Commands {
		fmt.Fprintf(&b, "  %s: %s\n", oneLine(k.ID), oneLine(k.Title))
	}
	b.WriteString("\nmay, and who holds it to that on this machine\n")
	writeRules(&b, c.rules)
	if len(c.lint) > 0 {
		b.WriteString("\nlook at this twice\n")
		for _, text := range c.lint {
			fmt.Fprintf(&b, "  %s\n", oneLine(text))
		}
	}
	if c.old != nil {
		b.WriteString("\nwhat differs from the installed version\n")
		writeDifferences(&b, c.differs, c.files)
	}
	fmt.Fprintf(&b, "\nfiles %s\n", c.tree)
	_, err := io.WriteString(out, b.String())
	return err
}

// writeRules writes rules by risk.
func writeRules(b *strings.Builder, rules []loader.Enforcement) {
	rules = slices.Clone(rules)
	slices.SortStableFunc(rules, func(x, y loader.Enforcement) int { return int(consent.RiskOf(y)) - int(consent.RiskOf(x)) })
	for _, r := range rules {
		allows := r.Allows
		switch r.Rule { // what they allow is an amount, which says little without the rule
		case "execution.timeout":
			allows = "run for " + allows
		case "execution.memory":
			allows = "use " + allows + " of memory"
		}
		fmt.Fprintf(b, "  %-6s %s\n         (%s: %s)\n", consent.RiskOf(r), oneLine(allows), r.Enforced, oneLine(r.How))
	}
}

// maxFilesShown is how many changed files are named.
const maxFilesShown = 50

// writeDifferences writes what differs; what asks for more is marked.
func writeDifferences(b *strings.Builder, differs []consent.Difference, files []pack.Change) {
	for _, d := range differs {
		mark := " "
		if d.Wider {
			mark = "!"
		}
		fmt.Fprintf(b, "%s %s\n", mark, oneLine(d.Text))
		for line := range strings.Lines(d.Detail) {
			fmt.Fprintf(b, "      %s\n", oneLine(strings.TrimSuffix(line, "\n")))
		}
	}
	for i, f := range files {
		if i == maxFilesShown {
			fmt.Fprintf(b, "  and %d more files\n", len(files)-i)
			break
		}
		fmt.Fprintf(b, "  file %s: %s\n", f.Act, oneLine(f.Name))
	}
	if len(differs)+len(files) == 0 {
		b.WriteString("  nothing\n")
	}
}

// errNobody says that there is nobody who could agree.
var errNobody = errors.New("nobody could be asked: there is no terminal")

// agree has the user, --trust or the policy agree to a plugin.
func (p *program) agree(ctx context.Context, c *candidate) error {
	switch {
	case p.flags.policy != nil:
		refusals := p.flags.policy.Refusals(c.question.Asks, func() (string, error) { return c.tree, nil })
		for _, r := range refusals {
			p.errorf("%s", r)
		}
		if len(refusals) > 0 {
			return errReported
		}
		return nil
	case p.flags.trust:
		return nil
	case p.terminal() == nil:
		return &failure{code: exitFailed, err: errNobody, hint: "read what it asks for; then --trust agrees to it, or --policy FILE decides"}
	}
	verb := "Install"
	if c.old != nil {
		verb = "Update"
	}
	return p.confirm(ctx, fmt.Sprintf("%s %s?", verb, oneLine(c.manifest.Name)))
}

// place puts a plugin where it is loaded from, and notes that it was agreed to. A copy is
// kept, which serves if somebody changes the files.
func (p *program) place(ctx context.Context, db *state.DB, c *candidate) error {
	kept := filepath.Join(c.root, keptDir, c.manifest.Name+"-"+strings.TrimPrefix(c.tree, "sha256:")[:16])
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		return err
	}
	scratch.Remove(kept)
	if err := os.Mkdir(kept, 0o700); err != nil {
		return err
	}
	if tree, err := pack.Copy(kept, c.dir); err != nil || tree != c.tree {
		scratch.Remove(kept)
		return errors.Join(errors.New("the files were changed meanwhile"), err)
	}
	before, err := db.Consent(ctx, c.folder)
	if err != nil {
		return err
	}
	if err := p.book(db).Install(ctx, c.folder, c.question, c.tree, kept); err != nil {
		scratch.Remove(kept)
		return fmt.Errorf("noting that you agree: %w", err)
	}
	if err := os.Chmod(c.dir, 0o755); err != nil {
		return err
	}
	old, err := exchange(c.root, c.dir, c.folder)
	if err != nil {
		undo := db.UpdateConsent(ctx, c.folder, true, func(*state.Consent) (*state.Consent, error) { return before, nil })
		return errors.Join(err, undo)
	}
	scratch.Remove(old)
	dropCopies(c.root, c.manifest.Name, kept)
	return nil
}

// exchange moves a folder to a place, and gives where what stood there is now.
func exchange(root, from, to string) (old string, err error) {
	holder, err := os.MkdirTemp(root, ".old-")
	if err != nil {
		return "", err
	}
	moved := filepath.Join(holder, "plugin")
	switch err := os.Rename(to, moved); {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		scratch.Remove(holder)
		return "", err
	}
	if err := os.Rename(from, to); err != nil {
		_ = os.Rename(moved, to) // there may be nothing to put back
		scratch.Remove(holder)
		return "", err
	}
	return holder, nil
}

// dropCopies removes what is kept of other versions of a plugin, and an update that waits.
func dropCopies(root, plugin, but string) {
	entries, _ := os.ReadDir(filepath.Join(root, keptDir)) // where there is none there is nothing to remove
	for _, e := range entries {
		name, hash, _ := cutLast(e.Name(), "-")
		if path := filepath.Join(root, keptDir, e.Name()); name == plugin && len(hash) == 16 && path != but {
			scratch.Remove(path)
		}
	}
	scratch.Remove(filepath.Join(root, heldDir, plugin))
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// holdUpdate keeps an update that nobody has agreed to, until somebody does.
func (p *program) holdUpdate(ctx context.Context, db *state.DB, c *candidate, cause error) error {
	waiting := filepath.Join(c.root, heldDir, c.manifest.Name)
	if err := os.MkdirAll(filepath.Dir(waiting), 0o700); err != nil {
		return failed(err)
	}
	scratch.Remove(waiting)
	if err := os.Rename(c.dir, waiting); err != nil {
		return failed(err)
	}
	var differs []string
	for _, d := range c.differs {
		if d.Wider {
			differs = append(differs, d.Text)
		}
	}
	if len(c.files) > 0 {
		differs = append(differs, fmt.Sprintf("%d files differ", len(c.files)))
	}
	if err := p.book(db).Hold(ctx, c.folder, c.question, c.tree, waiting, differs); err != nil {
		return failed(fmt.Errorf("noting that the update waits: %w", err))
	}
	return &failure{code: exitFailed, err: fmt.Errorf("the update waits, and the installed version serves on: %w", cause), hint: "toolhost consent approve " + c.manifest.Name}
}

func (p *program) printInstalled(c *candidate, what string) error {
	if p.flags.json {
		differs := []string{}
		for _, d := range c.differs {
			differs = append(differs, d.Text)
		}
		return p.printJSON(map[string]any{
			"plugin": c.manifest.Name, "version": c.manifest.Version, "dir": c.folder, "tree": c.tree,
			"fingerprint": c.question.Asks.Fingerprint(), "warnings": append([]string{}, c.lint...), "differs": differs,
		})
	}
	_, err := fmt.Fprintf(p.out, "%s: %s (%s)\n", what, oneLine(strings.TrimSpace(c.manifest.Name+" "+c.manifest.Version)), oneLine(c.folder))
	return err
}
