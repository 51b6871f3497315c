package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
)

func (p *program) callCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "call TOOL [ARGS]",
		Short: "Call a tool once",
		Long: `Calls a tool once and prints its answer. ARGS is one JSON object, or key=value
words (typed by the tool's schema; key=@file reads a file), or - for JSON on
stdin. Text goes to stdout; images go to files under --out DIR, and their names
are printed. The exit code is 1 when the tool's result is a failed one.`,
		Example: `  toolhost call count_words path=README.md
  toolhost call folder_search '{"pattern":"TODO","include":"**/*.go"}'
  echo '{"path":"a.csv"}' | toolhost call table_describe - --json`,
		Args: needs("TOOL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.call(cmd.Context(), args[0], args[1:], out)
		},
	}
	p.addFlags(cmd)
	p.addJSON(cmd)
	cmd.Flags().StringVar(&out, "out", "", "the folder into which images are written")
	return cmd
}

func (p *program) call(ctx context.Context, name string, words []string, out string) error {
	if !strings.Contains(name, "__") {
		p.flags.mounts = nil // no tool of a mounted server
	}
	s, err := p.load(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	tool, ok := s.host.Tool(name)
	if !ok {
		_, err := s.host.Call(ctx, &host.Call{Tool: name, Agent: commandLine})
		return p.unknownTool(s, err)
	}
	if !tool.Enabled {
		return &failure{code: exitUsage, err: fmt.Errorf("the tool %q is disabled", name), hint: fmt.Sprintf("toolhost tools enable %s", name)}
	}
	if tool.Source == host.Plugin {
		p.warnHeld(s, tool.Owner)
	}
	args, err := p.arguments(ctx, tool, words)
	if err != nil {
		return err
	}
	result, err := p.callTool(ctx, s, name, args)
	if unknown := (*host.UnknownToolError)(nil); errors.As(err, &unknown) {
		return p.unknownTool(s, err) // it is there, but disabled
	}
	if err != nil {
		return failed(fmt.Errorf("calling %q: %w", name, err))
	}
	return p.printResult(name, result, out)
}

// commandLine is the agent of calls that the person at the command line makes.
var commandLine = host.Agent{ID: "cli", Name: "cli"}

// callTool makes a call for the person at the command line; progress is a line on stderr.
func (p *program) callTool(ctx context.Context, s *session, tool string, args json.RawMessage) (*host.Result, error) {
	return p.callBy(ctx, s.host.Call, tool, args)
}

// runCommand is callTool for a command.
func (p *program) runCommand(ctx context.Context, s *session, command string, args json.RawMessage) (*host.Result, error) {
	return p.callBy(ctx, s.host.Execute, command, args)
}

func (p *program) callBy(ctx context.Context, call func(context.Context, *host.Call) (*host.Result, error), tool string, args json.RawMessage) (*host.Result, error) {
	status, drawn := p.err.(*statusLine)
	c := &host.Call{Tool: tool, Args: args, Agent: commandLine}
	c.Progress = func(message string) {
		message = oneLine(strings.Join(strings.Fields(message), " "))
		if drawn {
			status.set(message)
			return
		}
		_, _ = fmt.Fprintf(p.err, "toolhost: progress: %s\n", message) // nowhere left to say it
	}
	if drawn {
		defer status.set("")
	}
	return call(ctx, c)
}

// unknownTool reports a tool that is not there, with the plugins that did not load: the
// tool may be one of theirs.
func (p *program) unknownTool(s *session, err error) error {
	hint := `"toolhost list" lists the tools`
	if len(p.flags.plugins) == 0 {
		hint += "; a plugin that is not installed is named with --plugins DIR"
	}
	unknown := (*host.UnknownToolError)(nil)
	waits := errors.As(err, &unknown) && unknown.Plugin != ""
	if waits {
		hint = `"toolhost list" says what waits`
		if p.flags.policy == nil {
			hint = fmt.Sprintf(`"toolhost consent show %s" says what it asks for`, oneLine(unknown.Plugin))
		}
	}
	for _, st := range s.loader.Status() {
		for _, e := range st.Errors {
			p.warnf("plugin %s did not load: %s", oneLine(st.Name), e.Error())
		}
		if len(st.Errors) > 0 && !waits {
			hint = fmt.Sprintf(`"toolhost check %s" says what to do`, oneLine(st.Dir))
		}
	}
	for _, m := range s.mounts.Status() {
		if m.State == "failed" {
			p.warnf("the MCP server %s failed: %s", oneLine(m.Name), oneLine(m.Err))
		}
	}
	return &failure{code: exitUsage, err: err, hint: hint}
}

// maxInput is how much is read from stdin or a file for one argument, in bytes: what
// the largest limit of arguments that a configuration may set can hold.
const maxInput = 64 << 20

// arguments makes the JSON object of a call from words of the command line.
func (p *program) arguments(ctx context.Context, tool host.Registered, words []string) (json.RawMessage, error) {
	switch {
	case len(words) == 0:
		return nil, nil
	case len(words) == 1 && words[0] == "-":
		raw, err := p.readInput(ctx)
		if err != nil {
			return nil, failed(fmt.Errorf("reading the arguments from stdin: %w", err))
		}
		return object(raw)
	case len(words) == 1 && strings.HasPrefix(strings.TrimSpace(words[0]), "{"):
		return object([]byte(words[0]))
	}
	types := propertyTypes(tool.InputSchema)
	values := map[string]any{}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if !ok || key == "" {
			return nil, usagef(wordHint(tool, w), "the argument %q is no key=value", w)
		}
		if file, ok := strings.CutPrefix(value, "@"); ok {
			raw, err := readAtMost(file, maxInput)
			if err != nil {
				return nil, usagef("@ names a file; a text that begins with @ can be sent as JSON", "reading the value of %s: %w", oneLine(key), err)
			}
			value = string(raw)
		}
		list, again := values[key].([]any)
		switch {
		case again:
			values[key] = append(list, value)
		case values[key] != nil:
			return nil, usagef("give it once; only a list takes several", "the argument %q is given twice", key)
		default:
			values[key] = typed(value, types[key])
		}
	}
	return json.Marshal(values)
}

// wordHint says what can be written instead of a word that is no key=value. A lone
// file is the most common one.
func wordHint(tool host.Registered, word string) string {
	if property, _ := tool.FileArgument(); property != "" && word != "" && !strings.ContainsAny(word, `=[]{}"`) {
		return fmt.Sprintf("did you mean %s=%s?", property, oneLine(word))
	}
	return "write one JSON object, key=value words, or - to read JSON from stdin"
}

// readInput reads stdin. The end of ctx ends the wait, though not the read: that ends
// with the program.
func (p *program) readInput(ctx context.Context) ([]byte, error) {
	type answer struct {
		raw []byte
		err error
	}
	read := make(chan answer, 1)
	go func() {
		raw, err := io.ReadAll(io.LimitReader(p.in, maxInput+1))
		if err == nil && len(raw) > maxInput {
			err = fmt.Errorf("they are larger than %d bytes", maxInput)
		}
		read <- answer{raw, err}
	}()
	select {
	case a := <-read:
		return a.raw, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// object makes sure that a text is one JSON object; the host checks what is in it.
func object(raw []byte) (json.RawMessage, error) {
	const hint = `for example {"path": "README.md"}`
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\ufeff")))
	if json.Valid(raw) {
		if raw[0] != '{' {
			return nil, usagef(hint, "the arguments are no JSON object")
		}
		return raw, nil
	}
	_, err := jsondoc.Parse(raw)
	if syntax := (*jsondoc.SyntaxError)(nil); errors.As(err, &syntax) {
		return nil, usagef(hint, "the arguments are no JSON: line %d, column %d: %w", syntax.Line, syntax.Column, err)
	}
	return nil, usagef(hint, "the arguments are no JSON")
}

// propertyTypes gives the types that a schema allows for each property at its root.
func propertyTypes(schema json.RawMessage) map[string][]string {
	var root struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if json.Unmarshal(schema, &root) != nil {
		return nil // a property with another shape, such as true: every word is a text
	}
	types := map[string][]string{}
	for name, p := range root.Properties {
		switch t := p.Type.(type) {
		case string:
			types[name] = []string{t}
		case []any:
			for _, one := range t {
				types[name] = append(types[name], fmt.Sprint(one))
			}
		}
	}
	return types
}

// typed makes the value that a word stands for. A text stays one where the schema takes
// texts or says nothing; a word that does not fit its type is left for the check to report.
func typed(word string, types []string) any {
	for _, t := range types {
		if t == "string" {
			return word
		}
	}
	if len(types) == 0 {
		return word
	}
	var v any
	d := json.NewDecoder(strings.NewReader(word))
	d.UseNumber()
	if err := d.Decode(&v); err == nil && !d.More() {
		if _, isList := v.([]any); isList || types[0] != "array" {
			return v
		}
	}
	if types[0] == "array" {
		return []any{word}
	}
	return word
}

// printResult prints a result; a failed one gives an error.
func (p *program) printResult(tool string, r *host.Result, out string) error {
	if p.flags.json {
		if err := p.printJSON(newCallToolResult(r)); err != nil {
			return err
		}
	} else if err := p.printContent(tool, r, out); err != nil {
		return err
	}
	if r.IsError {
		return failedResult(tool)
	}
	return nil
}

func failedResult(tool string) error {
	return failed(fmt.Errorf("tool %q answered with a failed result", tool))
}

// callToolResult is a result as MCP has it.
type callToolResult struct {
	Content           []host.Content  `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent,omitempty"`
	IsError           bool            `json:"isError"`
	Meta              json.RawMessage `json:"_meta,omitempty"`
}

func newCallToolResult(r *host.Result) callToolResult {
	return callToolResult{Content: r.Content, IsError: r.IsError, StructuredContent: r.Structured, Meta: r.Meta}
}

func (p *program) printContent(tool string, r *host.Result, out string) error {
	for i, c := range r.Content {
		if c.Type() == "text" {
			text := c.Text()
			if onTerminal(p.out) {
				text = printable(text)
			}
			if !strings.HasSuffix(text, "\n") {
				text += "\n"
			}
			if _, err := io.WriteString(p.out, text); err != nil {
				return failed(fmt.Errorf("writing the answer: %w", err))
			}
			continue
		}
		data, mimeType, ok := c.Data()
		switch {
		case !ok:
			if err := p.printJSON(c); err != nil {
				return err
			}
		case out == "":
			p.hintf("block %d of the answer is %s of %d bytes; --out DIR writes it to a file", i+1, mimeType, len(data))
		default:
			name, err := writeBlock(out, fmt.Sprintf("%s-%d", tool, i+1), mimeType, data)
			if err != nil {
				return failed(fmt.Errorf("writing block %d of the answer: %w", i+1, err))
			}
			_, _ = fmt.Fprintln(p.out, name) // a broken pipe ends the program by itself
		}
	}
	return nil
}

// endings are the file endings of the types that tools give most.
var endings = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/bmp": ".bmp",
	"image/svg+xml": ".svg", "audio/wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg",
}

// writeBlock writes a block to a new file below dir; what is there is never overwritten.
func writeBlock(dir, name, mimeType string, data []byte) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	ending := endings[strings.ToLower(mimeType)]
	if ending == "" {
		ending = ".bin"
	}
	for n := 0; ; n++ {
		path := filepath.Join(dir, name+ending)
		if n > 0 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d%s", name, n, ending))
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if _, err := f.Write(data); err != nil {
			_ = f.Close() // the write's error says more
			return "", err
		}
		return path, f.Close()
	}
}

// printJSON prints one JSON document.
func (p *program) printJSON(v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	if err == nil {
		_, err = p.out.Write(escapeJSON(text.Bytes()))
	}
	if err != nil {
		return failed(fmt.Errorf("writing the answer: %w", err))
	}
	return nil
}

func onTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
