package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/suggest"
	"github.com/toolhost/toolhost/loader"
)

func (p *program) menuCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "menu FILE...",
		Short: "Show the context menu for a selection of files",
		Long: `Lists what a context menu offers for a selection: tools whose fileExtensions match
every selected file, actions by their scope and kinds of files, and commands whose
conditions hold. Paths start at the working directory; the files need not exist.
"toolhost menu run" runs an entry.`,
		Example: `  toolhost menu README.md
  toolhost menu run markdown_outline README.md`,
		Args: needs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.menu(cmd.Context(), args) },
	}
	p.addFlags(cmd)
	p.addJSON(cmd)
	var out string
	run := &cobra.Command{
		Use:   "run ID FILE... [key=value...]",
		Short: "Run an entry of the context menu",
		Long: `Runs an entry for the selected files: once with all of them where the tool takes a
list of files, else once a file. key=value words set the tool's other arguments, or
the parameters of an action. A command gets the files as "paths" and "files"; the prompt of an
action is printed, filled in. It runs with the same grants, limits and log as an
agent's call. With --json it prints the result, or a list of results where there are
several calls.`,
		Example: `  toolhost menu run count_words README.md docs/*.md
  toolhost menu run table_filter a.csv 'where=price>10'`,
		Args: needs("ID", "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.menuRun(cmd.Context(), args[0], args[1:], out) },
	}
	p.addFlags(run)
	p.addJSON(run)
	run.Flags().StringVar(&out, "out", "", "the folder into which images are written")
	cmd.AddCommand(run)
	return cmd
}

func (p *program) menu(ctx context.Context, args []string) error {
	files, err := selection(args)
	if err != nil {
		return err
	}
	s, err := p.load(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if problem := misspeltRun(args, func(name string) bool { _, ok := s.host.Tool(name); return ok }); problem != nil {
		return problem
	}
	entries := s.loader.Menu(ctx, loader.Selection{Paths: files, VaultOpen: true})
	if p.flags.json {
		return p.printJSON(struct {
			Files   []string           `json:"files"`
			Entries []loader.MenuEntry `json:"entries"`
		}{files, entries})
	}
	p.warnUnloaded(s)
	if len(entries) == 0 {
		p.hintf(`nothing is offered for this selection; "toolhost list" has the extensions of each tool`)
	}
	for _, e := range entries {
		kind := ""
		if e.Kind != loader.MenuTool {
			kind = "\t" + string(e.Kind)
		}
		if _, err := fmt.Fprintf(p.out, "%s\t%s\t%s%s\n", oneLine(e.ID), oneLine(e.Title), e.Plugin, kind); err != nil {
			return failed(fmt.Errorf("writing the menu: %w", err))
		}
	}
	return nil
}

// misspeltRun reports a "run" that is written otherwise: what follows it is a tool, and neither
// is a file.
func misspeltRun(args []string, isTool func(name string) bool) error {
	if len(args) < 2 || suggest.Nearest(args[0], []string{"run"}) == "" || !isTool(args[1]) {
		return nil
	}
	for _, name := range args[:2] {
		if _, err := os.Lstat(name); err == nil {
			return nil
		}
	}
	return usagef("toolhost menu run ID FILE... runs an entry; a file of this name is written ./"+args[0], `"toolhost menu %s" is no command; did you mean "run"?`, args[0])
}

// selection makes the selected files absolute, each once.
func selection(args []string) ([]string, error) {
	var files []string
	for _, a := range args {
		if a == "" {
			return nil, usagef("", "a selected file has an empty name")
		}
		path, err := filepath.Abs(a)
		if err != nil {
			return nil, failed(err)
		}
		if !slices.Contains(files, path) {
			files = append(files, path)
		}
	}
	return files, nil
}

func (p *program) menuRun(ctx context.Context, id string, args []string, out string) error {
	var words, names []string
	for _, a := range args {
		if key, _, ok := strings.Cut(a, "="); ok && !strings.ContainsAny(key, `/\.`) && key != "" {
			words = append(words, a)
		} else {
			names = append(names, a)
		}
	}
	files, err := selection(names)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return usagef("toolhost menu run ID FILE...", "no file is selected")
	}
	s, err := p.load(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	chosen := loader.Selection{Paths: files, VaultOpen: true}
	entries := s.loader.Menu(ctx, chosen)
	i := slices.IndexFunc(entries, func(e loader.MenuEntry) bool { return e.ID == id })
	if i < 0 {
		return p.noEntry(s, id, entries)
	}
	entry := entries[i]
	params, err := p.menuParams(ctx, s, entry, words)
	if err != nil {
		return err
	}
	run, err := s.loader.Run(entry, chosen, params)
	var bad *loader.MenuError
	if errors.As(err, &bad) {
		return usagef(bad.Hint, "%s", bad.Msg)
	}
	if err != nil {
		return failed(err)
	}
	if len(run.Calls) == 0 {
		return p.printPrompt(run.Prompt)
	}
	wrong := 0
	results := []callToolResult{}
	for _, c := range run.Calls {
		call := p.callTool
		if run.Commands {
			call = p.runCommand
		}
		result, err := call(ctx, s, c.Tool, c.Args)
		if err != nil {
			return failed(fmt.Errorf("calling %q: %w", c.Tool, err))
		}
		if result.IsError {
			wrong++
		}
		if p.flags.json {
			results = append(results, newCallToolResult(result))
		} else if err := p.printContent(entry.ID, result, out); err != nil {
			return err
		}
	}
	if p.flags.json {
		var document any = results
		if len(results) == 1 {
			document = results[0]
		}
		if err := p.printJSON(document); err != nil {
			return err
		}
	}
	switch {
	case wrong > 0 && len(run.Calls) > 1:
		return failed(fmt.Errorf("%s %q answered with a failed result for %d of %d files", entry.Kind, entry.ID, wrong, len(run.Calls)))
	case wrong > 0:
		return failed(fmt.Errorf("%s %q answered with a failed result", entry.Kind, entry.ID))
	}
	return nil
}

// menuParams reads key=value words: by the schema of a tool, else as texts.
func (p *program) menuParams(ctx context.Context, s *session, e loader.MenuEntry, words []string) (map[string]json.RawMessage, error) {
	tool := host.Registered{Tool: &host.Tool{}}
	if e.Kind == loader.MenuTool {
		tool, _ = s.host.Tool(e.ID)
	}
	given, err := p.arguments(ctx, tool, words)
	if err != nil {
		return nil, err
	}
	params := map[string]json.RawMessage{}
	if given != nil {
		if err := json.Unmarshal(given, &params); err != nil {
			return nil, failed(err)
		}
	}
	return params, nil
}

// printPrompt prints the filled prompt of an action.
func (p *program) printPrompt(prompt string) error {
	if p.flags.json {
		return p.printJSON(struct {
			Prompt string `json:"prompt"`
		}{prompt})
	}
	if !strings.HasSuffix(prompt, "\n") {
		prompt += "\n"
	}
	if onTerminal(p.out) {
		prompt = printable(prompt)
	}
	if _, err := io.WriteString(p.out, prompt); err != nil {
		return failed(fmt.Errorf("writing the prompt: %w", err))
	}
	return nil
}

// noEntry reports an entry that the menu of a selection does not have.
func (p *program) noEntry(s *session, id string, offered []loader.MenuEntry) error {
	p.warnUnloaded(s)
	if tool, ok := s.host.Tool(id); ok {
		hint := fmt.Sprintf(`"toolhost call %s" takes any file`, tool.Name)
		if len(tool.Extensions) > 0 {
			hint = "it takes " + strings.Join(tool.Extensions, ", ") + "; " + hint
		}
		return usagef(hint, "the context menu of this selection has no entry %q", id)
	}
	var names []string
	for _, e := range offered {
		names = append(names, e.ID)
	}
	message := fmt.Sprintf("the context menu of this selection has no entry %q", id)
	if near := suggest.Nearest(id, names); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return usagef(`"toolhost menu FILE..." lists the entries`, "%s", message)
}
