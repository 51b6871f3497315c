package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/calllog"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/text"
)

func (p *program) replayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay CALL_ID",
		Short: "Make a call of the log again, and show the difference",
		Long: `Calls the same tool again with the same arguments in the same folder, and shows
what is different in the result. What the call does it does once more: think of
that before you replay one that writes. A call from whose arguments a secret was
taken out, or whose arguments were too long to be kept, cannot be made again. The
exit code is 0 when the result is the same, 1 when it is not.`,
		Example: `  toolhost log --failed -n 1
  toolhost replay 4QXK7 --plugins ./plugins`,
		Args: between("CALL_ID", 1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.replay(cmd.Context(), args[0]) },
	}
	p.addFlags(cmd)
	cmd.Flags().BoolVar(&p.flags.json, "json", false, "one JSON object on a line")
	return cmd
}

// replayed is what replay --json prints.
type replayed struct {
	Call    string          `json:"call"`
	Tool    string          `json:"tool"`
	Same    bool            `json:"same"`
	Then    *calllog.Result `json:"then"`
	Now     *calllog.Result `json:"now"`
	Partial bool            `json:"partial,omitempty"` // only the beginnings were compared
}

func (p *program) replay(ctx context.Context, id string) error {
	db := p.openLog()
	defer db.Close()
	e, err := p.findCall(ctx, db, id)
	if err != nil {
		return err
	}
	if err := e.Replayable(); err != nil {
		return &failure{code: exitFailed, err: fmt.Errorf("the call %s cannot be made again: %w", e.ID, err), hint: fmt.Sprintf("call it yourself: toolhost call %s '{…}'", oneLine(e.Tool))}
	}
	if !p.flags.folderNamed && e.Folder != "" {
		if !isDir(e.Folder) {
			return &failure{code: exitFailed, err: fmt.Errorf("the folder of the call, %q, is not there any more", e.Folder), hint: "name another one with --folder"}
		}
		p.flags.folder = e.Folder
	}
	s, err := p.load(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	call := p.callTool
	if e.Command {
		call = p.runCommand
	}
	result, err := call(ctx, s, e.Tool, e.Arguments)
	if unknown := (*host.UnknownToolError)(nil); errors.As(err, &unknown) {
		return p.unknownTool(s, err)
	}
	if err != nil {
		return failed(fmt.Errorf("calling %q: %w", e.Tool, err))
	}
	secrets, err := db.Secrets(ctx)
	if err != nil {
		return stateFailure(err)
	}
	now := calllog.NewResult(result, calllog.NewRedactor(secrets))
	difference := text.Diff(e.Result.Text(), now.Text(), "then", "now")
	partial := now.Cut || e.Result != nil && e.Result.Cut
	switch {
	case p.flags.json:
		line := jsondoc.Marshal(replayed{e.ID, e.Tool, difference == "", e.Result, now, partial})
		_, err = p.out.Write(append(escapeJSON(line), '\n'))
	case difference == "" && partial:
		_, err = fmt.Fprintln(p.out, "the same result, as far as it was kept")
	case difference == "":
		_, err = fmt.Fprintln(p.out, "the same result")
	default:
		_, err = fmt.Fprint(p.out, printable(difference))
	}
	if err != nil {
		return failed(fmt.Errorf("writing the difference: %w", err))
	}
	if difference != "" {
		return errReported
	}
	return nil
}
