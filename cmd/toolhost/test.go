package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/plugintest"
	"github.com/toolhost/toolhost/internal/state"
	"github.com/toolhost/toolhost/internal/suggest"
	"github.com/toolhost/toolhost/loader"
)

func (p *program) testCommand() *cobra.Command {
	var update bool
	cmd := &cobra.Command{
		Use:   "test DIR...",
		Short: "Run the cases that a plugin brings along",
		Long: `Runs the files tests/*.json of a plugin: each is one call, with the files of the
agent's folder, the settings and the answers of hosts, and what must come of it.
Every case has a folder, settings and a store of its own; no host is reached.
--update writes what is answered into the cases that do not say what they expect,
and into those that expect something else.`,
		Example: `  toolhost test ./my-plugin
  toolhost test ./plugins/* --update`,
		Args: needs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.test(cmd.Context(), args, update) },
	}
	p.addFlags(cmd)
	p.addJSON(cmd)
	cmd.Flags().BoolVar(&update, "update", false, "write what is answered into the cases that fail")
	return cmd
}

// testResult is what became of one case.
type testResult struct {
	Dir        string   `json:"dir"`
	Case       string   `json:"case"`
	Tool       string   `json:"tool"`
	OK         bool     `json:"ok"`
	Updated    bool     `json:"updated"`
	DurationMs int64    `json:"durationMs"`
	Problems   []string `json:"problems"`
	Log        string   `json:"log,omitempty"` // of a case that failed
}

func (p *program) test(ctx context.Context, dirs []string, update bool) error {
	results, broken := []testResult{}, false
	for _, dir := range dirs {
		folders, err := loader.Folders(dir)
		if err != nil {
			return usagef("name a plugin folder, or a folder of plugin folders", "testing %q: %w", dir, err)
		}
		if len(folders) == 0 {
			return usagef(noPluginHint, "there is no plugin in %q", dir)
		}
		for _, f := range folders {
			found, err := p.testPlugin(ctx, f, update)
			if err != nil { // the other plugins are tested all the same
				p.reportEach(err)
				broken = true
			}
			results = append(results, found...)
		}
	}
	if len(results) == 0 && broken {
		if p.flags.json {
			return errors.Join(p.printJSON(map[string]any{"ok": false, "results": results}), errReported)
		}
		return errReported
	}
	if len(results) == 0 {
		return usagef(`a case is a file tests/NAME.json: {"tool": "…", "arguments": {…}, "files": {…}}; "toolhost test --update" writes what it answers`,
			"there is no case in %s", strings.Join(dirs, ", "))
	}
	return p.reportTests(results, broken)
}

// reportEach writes an error that may hold several, each of them once.
func (p *program) reportEach(err error) {
	list := []error{err}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		list = many.Unwrap()
	}
	said := map[string]bool{}
	for _, e := range list {
		if text := e.Error(); !said[text] {
			said[text] = true
			p.errorf("%s", text)
		}
	}
}

// testPlugin runs the cases of one plugin, as many at a time as there are processors. The error
// has what is wrong with cases that could not be run; the others are run all the same.
func (p *program) testPlugin(ctx context.Context, dir string, update bool) ([]testResult, error) {
	cases, wrong := plugintest.Load(dir)
	results := make([]testResult, len(cases))
	errs := make([]error, len(cases))
	var running sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, c := range cases {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			results[i], errs[i] = p.testCase(ctx, dir, c, update)
		})
	}
	running.Wait()
	ran := []testResult{}
	problems := []error{}
	if many, ok := wrong.(interface{ Unwrap() []error }); ok {
		problems = many.Unwrap()
	} else if wrong != nil {
		problems = append(problems, wrong)
	}
	for i, r := range results {
		if errs[i] == nil {
			ran = append(ran, r)
		} else {
			problems = append(problems, errs[i])
		}
	}
	return ran, errors.Join(problems...)
}

// testCase runs one case in a host of its own.
func (p *program) testCase(ctx context.Context, dir string, c *plugintest.Case, update bool) (testResult, error) {
	r := testResult{Dir: dir, Case: c.Name, Tool: c.Tool, Problems: []string{}}
	started := time.Now()
	log := &strings.Builder{}
	own, err := os.MkdirTemp("", "toolhost-test-")
	if err != nil {
		return r, err
	}
	defer func() { _ = os.RemoveAll(own) }() // a leftover in the temporary folder
	alone := p.alone(own, dir, log)
	if err := alone.setSettings(ctx, c); err != nil {
		return r, fmt.Errorf("%s: %w", c.File, err)
	}
	s, err := alone.open(false)
	if err != nil {
		return r, err
	}
	defer s.close()
	s.network = c.Network()
	<-s.hidden
	if err := s.loader.LoadAll(ctx); err != nil {
		return r, err
	}
	for _, status := range s.loader.Status() {
		if len(status.Errors) > 0 {
			return r, fmt.Errorf("the plugin in %q does not load: %w; \"toolhost check\" says what to do", dir, status.Errors[0])
		}
	}
	if problem := unknownCaseTool(s, c.Tool); problem != "" {
		r.Problems = append(r.Problems, problem)
		return r, nil
	}
	folder := filepath.Join(own, "folder")
	outcome, err := c.Run(ctx, s.host, folder)
	if err != nil {
		return r, err
	}
	r.Problems = append(r.Problems, outcome.Problems...)
	r.OK = len(r.Problems) == 0
	r.DurationMs = time.Since(started).Milliseconds()
	if !r.OK && update {
		if err := c.Update(outcome.Got); err != nil {
			return r, fmt.Errorf("updating %q: %w", c.File, err)
		}
		r.OK, r.Updated = true, true
	}
	if !r.OK {
		r.Log = log.String()
	}
	return r, nil
}

// alone gives a program that shares nothing with the user's, nor with another case.
func (p *program) alone(own, dir string, log *strings.Builder) *program {
	alone := *p
	alone.err = log
	f := &alone.flags
	f.plugins, f.installed, f.noBundled, f.tools, f.pluginsOnly = []string{dir}, nil, true, nil, true
	f.folder, f.state, f.keyFile = filepath.Join(own, "folder"), filepath.Join(own, "state"), true
	return &alone
}

// setSettings makes the folder of a case, and sets what it has as the user's settings.
func (p *program) setSettings(ctx context.Context, c *plugintest.Case) error {
	if err := os.Mkdir(p.flags.folder, 0o755); err != nil {
		return err
	}
	if len(c.Settings) == 0 {
		return nil
	}
	s := p.openSettings()
	defer s.close()
	var changes []state.Change
	for key, value := range c.Settings {
		plugin, d, err := s.find(key)
		if err != nil {
			return err
		}
		changes = append(changes, state.Change{Plugin: plugin, Declaration: d, Value: value})
	}
	return s.db.SetSettings(ctx, changes)
}

// unknownCaseTool says of a tool that the plugin does not have what it may have meant; ""
// where it has it.
func unknownCaseTool(s *session, tool string) string {
	if _, ok := s.host.Tool(tool); ok {
		return ""
	}
	var names []string
	for _, t := range s.host.Tools() {
		names = append(names, t.Name)
	}
	problem := fmt.Sprintf("the plugin has no tool %q", tool)
	if near := suggest.Nearest(tool, names); near != "" {
		problem += fmt.Sprintf("; did you mean %q?", near)
	}
	return problem
}

// reportTests prints what became of the cases.
func (p *program) reportTests(results []testResult, broken bool) error {
	bad := broken || slices.ContainsFunc(results, func(r testResult) bool { return !r.OK })
	if p.flags.json {
		if err := p.printJSON(map[string]any{"ok": !bad, "results": results}); err != nil {
			return err
		}
	} else if err := printTests(p.out, results); err != nil {
		return failed(fmt.Errorf("writing the report: %w", err))
	}
	if bad {
		return errReported
	}
	return nil
}

func printTests(out io.Writer, results []testResult) error {
	passed := 0
	for _, r := range results {
		verdict := "FAIL"
		switch {
		case r.Updated:
			verdict = "new "
		case r.OK:
			verdict = "ok  "
		}
		if r.OK {
			passed++
		}
		text := fmt.Sprintf("%s %s (%s, %d ms)\n", verdict, oneLine(r.Case), oneLine(r.Tool), r.DurationMs)
		for _, problem := range r.Problems {
			if !r.Updated {
				text += "     " + indent(problem, "     ") + "\n"
			}
		}
		if r.Log != "" {
			text += "     the log:\n     " + indent(strings.TrimSuffix(r.Log, "\n"), "     ") + "\n"
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%d of %d cases passed\n", passed, len(results))
	return err
}
