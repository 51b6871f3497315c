package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/suggest"
)

func (p *program) menuCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "menu FILE...",
		Short: "Show the context menu for a selection of files",
		Long: `Lists the tools that a context menu offers for a selection: those whose
fileExtensions match every selected file. Paths start at the working directory;
the files need not exist. "toolhost menu run" runs an entry.`,
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
list of files, else once a file. key=value words set the tool's other arguments.
It runs with the same grants, limits and log as an agent's call. With --json it
prints the result, or a list of results where there are several calls.`,
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

// menuEntry is one line of the context menu.
type menuEntry struct {
	Kind   string         `json:"kind"`
	ID     string         `json:"id"`
	Title  string         `json:"title"`
	Plugin string         `json:"plugin"`
	Params map[string]any `json:"params"`
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
	entries := []menuEntry{}
	for _, r := range s.host.ToolsFor(files...) {
		title := r.Title
		if title == "" {
			title = r.Name
		}
		entries = append(entries, menuEntry{Kind: "tool", ID: r.Name, Title: title, Plugin: r.Owner, Params: map[string]any{}})
	}
	if p.flags.json {
		return p.printJSON(struct {
			Files   []string    `json:"files"`
			Entries []menuEntry `json:"entries"`
		}{files, entries})
	}
	p.warnUnloaded(s)
	if len(entries) == 0 {
		p.hintf(`no tool is offered for this selection; "toolhost list" has the extensions of each`)
	}
	for _, e := range entries {
		if _, err := fmt.Fprintf(p.out, "%s\t%s\t%s\n", e.ID, oneLine(e.Title), e.Plugin); err != nil {
			return failed(fmt.Errorf("writing the menu: %w", err))
		}
	}
	return nil
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
	offered := s.host.ToolsFor(files...)
	i := slices.IndexFunc(offered, func(r host.Registered) bool { return r.Name == id })
	if i < 0 {
		return p.noEntry(s, id, offered)
	}
	tool := offered[i]
	calls, err := p.menuCalls(ctx, tool, files, words)
	if err != nil {
		return err
	}
	wrong := 0
	results := []callToolResult{}
	for _, args := range calls {
		result, err := p.callTool(ctx, s, tool.Name, args)
		if err != nil {
			return failed(fmt.Errorf("calling %q: %w", tool.Name, err))
		}
		if result.IsError {
			wrong++
		}
		if p.flags.json {
			results = append(results, newCallToolResult(result))
		} else if err := p.printContent(tool.Name, result, out); err != nil {
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
	case wrong > 0 && len(calls) > 1:
		return failed(fmt.Errorf("tool %q answered with a failed result for %d of %d files", tool.Name, wrong, len(calls)))
	case wrong > 0:
		return failedResult(tool.Name)
	}
	return nil
}

// noEntry reports an entry that the menu of a selection does not have.
func (p *program) noEntry(s *session, id string, offered []host.Registered) error {
	p.warnUnloaded(s)
	if tool, ok := s.host.Tool(id); ok {
		hint := fmt.Sprintf(`"toolhost call %s" takes any file`, tool.Name)
		if len(tool.Extensions) > 0 {
			hint = "it takes " + strings.Join(tool.Extensions, ", ") + "; " + hint
		}
		return usagef(hint, "the context menu of this selection has no entry %q", id)
	}
	var names []string
	for _, r := range offered {
		names = append(names, r.Name)
	}
	message := fmt.Sprintf("the context menu of this selection has no entry %q", id)
	if near := suggest.Nearest(id, names); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return usagef(`"toolhost menu FILE..." lists the entries`, "%s", message)
}

// menuCalls gives the arguments of the calls that an entry makes for a selection.
func (p *program) menuCalls(ctx context.Context, tool host.Registered, files, words []string) ([]json.RawMessage, error) {
	property, list := pathProperty(tool)
	if property == "" {
		return nil, usagef("", "the tool %q takes no file", tool.Name)
	}
	given, err := p.arguments(ctx, tool, words)
	if err != nil {
		return nil, err
	}
	values := map[string]json.RawMessage{}
	if given != nil {
		if err := json.Unmarshal(given, &values); err != nil {
			return nil, failed(err)
		}
	}
	var calls []json.RawMessage
	add := func(value any) error {
		text, err := json.Marshal(value)
		if err != nil {
			return failed(err)
		}
		values[property] = text
		args, err := json.Marshal(values)
		calls = append(calls, args)
		return err
	}
	if list {
		return calls, add(files)
	}
	for _, f := range files {
		if err := add(f); err != nil {
			return nil, err
		}
	}
	return calls, nil
}

// pathProperty gives the first property of a tool's arguments that takes a file, or a
// list of files; "" where none does. It asks the schema, by the rule that grants use,
// what a probing text there would be.
func pathProperty(tool host.Registered) (name string, list bool) {
	doc, err := jsondoc.Parse(tool.InputSchema)
	if err != nil {
		return "", false // a registered tool's schema is sound
	}
	types := propertyTypes(tool.InputSchema)
	for _, name := range doc.Keys("/properties") {
		list := slices.Contains(types[name], "array") && !slices.Contains(types[name], "string")
		var probe any = "probe"
		if list {
			probe = []string{"probe"}
		}
		args, err := json.Marshal(map[string]any{name: probe})
		if err == nil && len(tool.Input.PathArguments(args)) > 0 {
			return name, list
		}
	}
	return "", false
}
