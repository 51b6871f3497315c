package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/scratch"
	"github.com/toolhost/toolhost/internal/state"
	"github.com/toolhost/toolhost/internal/suggest"
	"github.com/toolhost/toolhost/loader"
)

func (p *program) removeCommand() *cobra.Command {
	var yes, purge bool
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove an installed plugin",
		Long: `Removes a plugin that was installed, and what you have agreed to of it. Its settings,
what it has stored and its data folder stay, unless --purge takes them away too. On
a terminal it asks first.`,
		Example: `  toolhost remove weather
  toolhost remove weather --purge --yes`,
		Args: needs("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return needsNothing(cmd, args[1:])
			}
			return p.remove(cmd.Context(), args[0], yes, purge)
		},
	}
	p.addFlags(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&purge, "purge", false, "also take away its settings, what it has stored, and its data folder")
	return cmd
}

func (p *program) remove(ctx context.Context, name string, yes, purge bool) error {
	root, err := installRoot()
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	var names []string
	folders, err := loader.Folders(root)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return failed(err)
	}
	folder := ""
	for _, f := range folders {
		names = append(names, filepath.Base(f))
		if filepath.Base(f) == name {
			folder = f
		}
	}
	if folder == "" {
		hint := "toolhost consent list has the installed plugins"
		if near := suggest.Nearest(name, names); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return usagef(hint, "no plugin %q is installed", name)
	}
	if p.terminal() != nil && !yes {
		what := "Remove " + oneLine(name) + "?"
		if purge {
			what = "Remove " + oneLine(name) + ", its settings and all that it has stored?"
		}
		if err := p.confirm(ctx, what); err != nil {
			return err
		}
	}
	db := p.openState(p.logger(0))
	defer db.Close()
	holder, err := os.MkdirTemp(root, ".old-")
	if err != nil {
		return failed(fmt.Errorf("removing %q: %w", name, err))
	}
	defer scratch.Remove(holder)
	if err := os.Rename(folder, filepath.Join(holder, "plugin")); err != nil { // at once, for hosts that are running
		return failed(fmt.Errorf("removing %q: %w", name, err))
	}
	dropCopies(root, name, "")
	err = db.UpdateConsent(ctx, folder, true, func(*state.Consent) (*state.Consent, error) { return nil, nil })
	if purge && err == nil {
		err = db.Forget(ctx, name)
		if p.dataDir() != "" && !strings.HasPrefix(name, ".") {
			scratch.Remove(filepath.Join(p.dataDir(), name))
		}
	}
	if err != nil {
		return failed(fmt.Errorf("removing what is remembered of %q: %w", name, err))
	}
	_, err = fmt.Fprintf(p.out, "removed: %s\n", oneLine(name))
	return err
}
