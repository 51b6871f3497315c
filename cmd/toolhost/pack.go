package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/pack"
	"github.com/toolhost/toolhost/loader"
)

func (p *program) packCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "pack DIR",
		Short: "Pack a plugin into an archive that is the same for the same files",
		Long: `Writes a plugin folder as a .tgz for "toolhost install", and prints its name and the
hash of its files. The same files are the same bytes, whenever and wherever they
are packed. Names that begin with a dot are left out; node_modules is packed, since
the plugin needs it. Links, and a manifest with mistakes, are errors. Nothing of the
plugin is run.`,
		Example: `  toolhost pack ./weather
  toolhost pack ./weather --out dist/weather.tgz --json`,
		Args: needs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return needsNothing(cmd, args[1:])
			}
			return p.pack(cmd.Context(), args[0], out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the file to write (default: NAME-VERSION.tgz in the current folder)")
	p.addJSON(cmd)
	return cmd
}

func (p *program) pack(ctx context.Context, dir, out string) error {
	m, _, err := p.examine(ctx, dir)
	if err != nil {
		return err
	}
	if out == "" {
		out = strings.Join(append([]string{m.Name}, versionPart(m)...), "-") + ".tgz"
	}
	tree, err := writeNew(out, func(w io.Writer) (string, error) { return pack.Write(w, dir, m.Name) })
	if err != nil {
		return failed(fmt.Errorf("packing %q: %w", dir, err))
	}
	if p.flags.json {
		return p.printJSON(map[string]string{"plugin": m.Name, "version": m.Version, "file": out, "tree": tree})
	}
	_, err = fmt.Fprintf(p.out, "%s\n%s\n", oneLine(out), tree)
	return err
}

func versionPart(m *loader.Manifest) []string {
	if m.Version == "" {
		return nil
	}
	return []string{m.Version}
}

// examine reads a plugin without running anything of it; its mistakes are reported.
func (p *program) examine(ctx context.Context, dir string) (*loader.Manifest, *loader.ConsentQuestion, error) {
	if !isDir(dir) || !loader.IsPlugin(dir) {
		return nil, nil, usagef(noPluginHint, "there is no plugin in %q", dir)
	}
	limits, err := p.flags.limits.host()
	if err != nil {
		return nil, nil, failed(err)
	}
	e := loader.Examine(ctx, dir, &loader.Options{MaxTimeout: limits.MaxTimeout, Strict: p.flags.strict, Enforced: p.enforcedInLoad})
	if e.Question == nil {
		for _, mistake := range e.Errors {
			p.errorf("%v", mistake)
			if mistake.Hint != "" {
				p.hintf("%s", mistake.Hint)
			}
		}
		return nil, nil, errReported
	}
	return e.Manifest, e.Question, nil
}

// writeNew writes a file in one step, in the place of one that is there.
func writeNew(path string, write func(io.Writer) (string, error)) (result string, err error) {
	dir := filepath.Dir(path)
	if !isDir(dir) {
		return "", fmt.Errorf("the folder %q of the new file is not there", dir)
	}
	temporary, err := os.CreateTemp(dir, ".toolhost-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(temporary.Name()) // it is not there any more after the rename
	result, err = write(temporary)
	if err == nil {
		err = temporary.Chmod(0o644)
	}
	if e := temporary.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	return result, err
}
