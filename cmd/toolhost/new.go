package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/scaffold"
	"github.com/toolhost/toolhost/loader"
)

func (p *program) newCommand() *cobra.Command {
	o := scaffold.Options{ManifestSchema: loader.ManifestSchema(), CardSchema: loader.CardSchema(), CardName: loader.CardNameProblem}
	var kind string
	var types bool
	cmd := &cobra.Command{
		Use:   "new DIR",
		Short: "Write a new plugin that works at once",
		Long: `Writes the folder of a new plugin, named for the folder: manifest, schema, handler,
cases, and the types that let an editor complete params and ctx. With --types only
the types of an existing plugin are written anew, from the schemas of its tools.`,
		Example: `  toolhost new ./my-plugin
  toolhost new ./my-plugin --lang ts
  toolhost new ./my-plugin --lang python
  toolhost new ./my-card --kind card
  toolhost new ./my-plugin --types`,
		Args: needs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return needsNothing(cmd, args[1:])
			}
			if kind != loader.KindFiler && kind != loader.KindCard {
				return usagef("it may be filer or card", "--kind %q is unknown", kind)
			}
			o.Card = kind == loader.KindCard
			if types {
				return p.writeTypes(args[0])
			}
			return p.newPlugin(cmd.Context(), args[0], &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&kind, "kind", loader.KindFiler, "the kind of plugin: filer, or card (a NeuroSquad card without a page)")
	f.StringVar(&o.Runtime, "runtime", "", "node or process (default: what the language needs)")
	f.StringVar(&o.Lang, "lang", "js", "js, ts, python or go")
	f.BoolVar(&types, "types", false, "write only the types for the editor, of a plugin that is there")
	p.addJSON(cmd)
	return cmd
}

func (p *program) newPlugin(ctx context.Context, dir string, o *scaffold.Options) error {
	made, err := scaffold.New(dir, o)
	var usage *scaffold.UsageError
	if errors.As(err, &usage) {
		return usagef(usage.Hint, "%s", usage.Msg)
	}
	if err != nil {
		return failed(fmt.Errorf("writing the plugin %q: %w", dir, err))
	}
	if len(made.Build) > 0 {
		p.build(ctx, dir, made.Build)
	}
	if p.flags.json {
		return p.printJSON(map[string]any{"dir": dir, "name": made.Name, "tool": made.Tool, "files": made.Files})
	}
	text := fmt.Sprintf("the plugin %s, with the tool %s:\n", made.Name, made.Tool)
	for _, f := range made.Files {
		text += "  " + f + "\n"
	}
	text += fmt.Sprintf("next:\n  toolhost dev %[1]s\n  toolhost test %[1]s\n  toolhost serve --plugins %[1]s --folder .\n", shellWord(dir))
	if _, err := fmt.Fprint(p.out, text); err != nil {
		return failed(fmt.Errorf("writing the report: %w", err))
	}
	return nil
}

// build makes the program of a new plugin where that can be done here.
func (p *program) build(ctx context.Context, dir string, command []string) {
	build := exec.CommandContext(ctx, command[0], command[1:]...)
	build.Dir = dir
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		p.warnf("the program is not built yet: %v: %s", err, strings.TrimSpace(string(out)))
		p.hintf("build it with: cd %s && %s", shellWord(dir), strings.Join(command, " "))
	}
}

// shellWord writes a path so that a shell takes it as one word.
func shellWord(path string) string {
	if strings.IndexFunc(path, func(r rune) bool {
		return !strings.ContainsRune("/._-+", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// writeTypes writes the types of a plugin that is there.
func (p *program) writeTypes(dir string) error {
	schemas, err := loader.Schemas(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("name the folder of a plugin", "reading the plugin %q: %w", dir, err)
	}
	if err != nil {
		return failed(fmt.Errorf("reading the plugin %q: %w", dir, err))
	}
	if err := scaffold.WriteTypes(dir, schemas); err != nil {
		return failed(fmt.Errorf("writing the types of %q: %w", dir, err))
	}
	return nil
}
