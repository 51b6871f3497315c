package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/state"
	"github.com/toolhost/toolhost/permissions/sandbox"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/nodejs"
)

func (p *program) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can enforce and run",
		Long: `Looks, by trying, at what this machine can do: what its kernel holds child processes
to, whether Node.js is there, whether the state folder can be written and where
the key of secrets is kept; and says what to do about what is missing. The exit
code is 0; with --strict it is 1 where anything is missing.`,
		Example: `  toolhost doctor
  toolhost doctor --json`,
		Args: needsNothing,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.doctor(cmd.Context()) },
	}
	p.addFlags(cmd)
	p.addJSON(cmd)
	return cmd
}

// doctor prints the report.
func (p *program) doctor(ctx context.Context) error {
	rows := sandbox.Report()
	rows = append(rows, workerRow(sandbox.Supported()), nodeRow(ctx), p.stateRow(), p.keyRow())
	rows = append(rows, p.mountRows()...)
	ok := true
	for _, r := range rows {
		ok = ok && r.OK
	}
	if p.flags.json {
		if err := p.printJSON(map[string]any{"ok": ok, "rows": rows}); err != nil {
			return err
		}
	} else if err := p.printRows(rows); err != nil {
		return err
	}
	if p.flags.strict && !ok {
		return errReported
	}
	return nil
}

// mountRows say of each mounted MCP server whether it could be started or reached.
func (p *program) mountRows() []sandbox.Row {
	var rows []sandbox.Row
	for _, name := range slices.Sorted(maps.Keys(p.flags.mounts)) {
		c := p.flags.mounts[name]
		row := sandbox.Row{Name: "mcp:" + name, OK: true, Detail: "the MCP server of the configuration can be started"}
		switch err := c.Check(); {
		case c.Disabled:
			row.Detail = "the MCP server is disabled by the configuration"
		case err != nil:
			row.OK, row.Detail, row.Hint = false, "the MCP server: "+err.Error(), `correct its entry in "mcpServers" of the configuration, or install its program`
		case c.URL != "":
			row.Detail = "the MCP server is reached over HTTP; \"toolhost list\" tries it"
		}
		rows = append(rows, row)
	}
	return rows
}

func (p *program) printRows(rows []sandbox.Row) error {
	var b strings.Builder
	for _, r := range rows {
		mark := "ok"
		if !r.OK {
			mark = "missing"
		}
		fmt.Fprintf(&b, "%-8s %-11s %s\n", mark, oneLine(r.Name), oneLine(r.Detail))
		if r.Hint != "" {
			fmt.Fprintf(&b, "%-8s %-11s to do: %s\n", "", "", oneLine(r.Hint))
		}
	}
	if _, err := fmt.Fprint(p.out, b.String()); err != nil {
		return failed(fmt.Errorf("writing the report: %w", err))
	}
	return nil
}

// workerRow says whether node handlers can run in a process of their own that is confined.
func workerRow(s *sandbox.Support) sandbox.Row {
	if s.Landlock > 0 && s.Seccomp || s.Profile {
		return sandbox.Row{Name: "worker", OK: true, Detail: "node handlers can run in a confined process of their own (--isolation worker)"}
	}
	return sandbox.Row{Name: "worker", Detail: "a worker process for node handlers cannot be confined here", Hint: "what is above about the sandbox holds for workers too; without it they still keep a crash away from the host (--sandbox best-effort)"}
}

// nodeRow says which Node.js there is for plugins with "engine": "node".
func nodeRow(ctx context.Context) sandbox.Row {
	path, version, err := nodejs.Version(ctx)
	var missing *runtimes.LoadError
	switch {
	case err == nil:
		return sandbox.Row{Name: "node", OK: true, Detail: fmt.Sprintf("Node.js v%s (%s)", version, path)}
	case errors.As(err, &missing):
		return sandbox.Row{Name: "node", Detail: missing.Problems[0].Message, Hint: missing.Problems[0].Hint}
	}
	return sandbox.Row{Name: "node", Detail: err.Error()}
}

// stateRow says whether the state folder can be written, by writing.
func (p *program) stateRow() sandbox.Row {
	dir := p.flags.state
	r := sandbox.Row{Name: "state", Hint: "name a folder that you can write with --state; without it no setting is kept, and plugins store nothing"}
	if dir == "" {
		r.Detail = "there is no state folder: neither $XDG_STATE_HOME nor a home folder is set"
		return r
	}
	// A folder that is not there yet is made with the first use.
	existing := dir
	for !isDir(existing) && filepath.Dir(existing) != existing {
		if _, err := os.Lstat(existing); err == nil {
			r.Detail = fmt.Sprintf("the state folder %q cannot be made: %q is no folder", dir, existing)
			return r
		}
		existing = filepath.Dir(existing)
	}
	f, err := os.CreateTemp(existing, ".toolhost-doctor-")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		r.Detail = fmt.Sprintf("the state folder %q cannot be written: %v", dir, err)
		return r
	}
	r.OK, r.Hint, r.Detail = true, "", fmt.Sprintf("%q can be written", dir)
	if existing != dir {
		r.Detail = fmt.Sprintf("%q will be made when it is needed", dir)
	}
	return r
}

// keyRow says where the key of secret settings is kept.
func (p *program) keyRow() sandbox.Row {
	if os.Getenv(keyringVariable) != "off" && state.OSKeyring() != nil {
		return sandbox.Row{Name: "secrets", OK: true, Detail: "secret settings are sealed with a key in the keyring of the operating system; in a file of the state folder where it does not answer"}
	}
	return sandbox.Row{Name: "secrets", OK: true, Detail: "there is no keyring: secret settings are sealed with a key in a file of the state folder that only you can read"}
}
