package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/state"
	"github.com/toolhost/toolhost/internal/suggest"
	"github.com/toolhost/toolhost/loader"
	"github.com/toolhost/toolhost/plugins"
)

func (p *program) settingsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "settings",
		Short: "Set what plugins want to know from you",
		Long: `Sets, shows and takes away the settings that plugins declare, by their full
keys. A setting that was set while "toolhost serve" runs counts from the next call
on. Secrets are stored sealed, and never printed.`,
		Example: `  toolhost settings list
  toolhost settings set weather.unit metric
  toolhost settings set weather.token            # asks, and does not show what you type
  toolhost settings set weather.token - < token.txt`,
		Args: knownSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	sub := func(use, short, long, example string, args cobra.PositionalArgs, run func(s *settings, ctx context.Context, args []string) error) {
		c := &cobra.Command{
			Use: use, Short: short, Long: long, Example: example, Args: args,
			RunE: func(cmd *cobra.Command, args []string) error {
				s := p.openSettings()
				defer s.close()
				return run(s, cmd.Context(), args)
			},
		}
		p.addFlags(c)
		p.addJSON(c)
		c.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
			wrong := flagError(cmd, err)
			unknown, f := (*pflag.NotExistError)(nil), (*failure)(nil)
			if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "" && errors.As(wrong, &f) {
				f.hint = "a value that begins with - comes after --: " + cmd.CommandPath() + " KEY -- VALUE"
			}
			return wrong
		})
		cmd.AddCommand(c)
	}
	sub("set KEY [VALUE]", "Set a setting",
		`Sets a setting. VALUE is a text, a number, or true or false, as the plugin's
manifest says; one that begins with - comes after --. Without VALUE, or with -,
one line is read from stdin; on a terminal it is not shown.`,
		`  toolhost settings set weather.unit metric
  toolhost settings set weather.offset -- -5
  toolhost settings set weather.token - < token.txt`,
		between("KEY", 2), (*settings).set)
	sub("get KEY", "Print a setting, or its default",
		`Prints the value of a setting, or its default; nothing where it has neither. Of a
secret it says "set" or "unset".`,
		`  toolhost settings get weather.unit`,
		between("KEY", 1), (*settings).get)
	sub("unset KEY", "Take the value of a setting away",
		`Takes the value of a setting away; its default counts again.`,
		`  toolhost settings unset weather.unit`,
		between("KEY", 1), (*settings).unset)
	sub("list [PLUGIN]", "List the settings of all plugins, or of one",
		`Lists the settings of all plugins, or of one, and how they stand.`,
		`  toolhost settings list
  toolhost settings list weather --json`,
		between("", 1), (*settings).list)
	sub("import FILE.json", "Set many settings from a file",
		`Sets the settings of a file: one JSON object of full keys and values. Either all
of them are set or, where one is wrong, none.`,
		`  echo '{"weather.unit": "metric", "weather.token": "abc"}' > s.json
  toolhost settings import s.json`,
		between("FILE.json", 1), (*settings).load)
	return cmd
}

// knownSubcommand refuses words that are no subcommand.
func knownSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	message := fmt.Sprintf("unknown command %q", args[0])
	if near := suggest.Nearest(args[0], commandNames(cmd)); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return usagef(helpHint(cmd), "%s", message)
}

// between demands the word name, if it is not empty, and allows most words.
func between(name string, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if name != "" {
			if err := needs(name)(cmd, args); err != nil {
				return err
			}
		}
		if len(args) > most {
			return needsNothing(cmd, args[most:])
		}
		return nil
	}
}

// settings are those of all plugins there are, for one command.
type settings struct {
	p       *program
	db      *state.DB
	plugins []declaringPlugin // in load order
}

// declaringPlugin is a plugin with the settings that it declares.
type declaringPlugin struct {
	name     string
	declared []state.Declaration
}

// openSettings reads the manifests; what goes wrong with the state is an error of the command,
// and no line of the log. Nothing is loaded: the settings of a plugin that does
// not load, perhaps for want of one, can be set too.
func (p *program) openSettings() *settings {
	s := &settings{p: p, db: p.openState(p.logger(slog.LevelError + 1))}
	for _, dir := range slices.Concat(p.flags.plugins, p.flags.installed) {
		folders, err := loader.Folders(dir)
		if err != nil {
			p.warnf("%v", err)
		}
		for _, f := range folders {
			text, err := loader.ReadManifest(f)
			s.add(f, text, err)
		}
	}
	if !p.flags.noBundled {
		names, err := fs.Glob(plugins.FS(), "*/"+loader.ManifestFile)
		if err != nil {
			p.warnf("the bundled plugins are left out: %v", err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(plugins.FS(), name)
			s.add(path.Dir(name), text, err)
		}
	}
	return s
}

// add adds the plugin of a manifest. Of one with mistakes nothing can be relied on.
func (s *settings) add(dir string, text []byte, err error) {
	if err != nil {
		s.p.warnf("the plugin %s is left out: %v", oneLine(dir), err)
		return
	}
	m, mistakes, _ := loader.ParseManifest(text, nil)
	if m == nil || len(mistakes) > 0 {
		s.p.warnf("the plugin %s is left out, since its manifest has mistakes; \"toolhost check\" lists them", oneLine(dir))
		return
	}
	if slices.ContainsFunc(s.plugins, func(p declaringPlugin) bool { return p.name == m.Name }) {
		return
	}
	s.plugins = append(s.plugins, declaringPlugin{m.Name, declarations(m)})
	for _, k := range s.p.flags.cards { // each copy has values of its own
		if k.Card != m.Name || m.Card == nil || k.ID == m.Name {
			continue
		}
		own := m.ForCopy(k.ID)
		declared := slices.DeleteFunc(declarations(own), func(d state.Declaration) bool { return !strings.HasPrefix(d.Key, own.Keeper()+".") })
		if len(declared) > 0 {
			s.plugins = append(s.plugins, declaringPlugin{own.Keeper(), declared})
		}
	}
}

func (s *settings) close() {
	if err := s.db.Close(); err != nil {
		s.p.warnf("closing the state: %v", err)
	}
}

// stateFailure gives the error of a command for one of the database.
func stateFailure(err error) error {
	f := &failure{code: exitFailed, err: err}
	var bad *state.Error
	if errors.As(err, &bad) {
		f.hint = bad.Hint
	}
	return f
}

// find gives a setting by its full key.
func (s *settings) find(key string) (plugin string, d state.Declaration, err error) {
	var keys []string
	for _, p := range s.plugins {
		for _, d := range p.declared {
			if d.Key == key {
				return p.name, d, nil
			}
			keys = append(keys, d.Key)
		}
	}
	message := fmt.Sprintf("there is no setting %q", key)
	near := suggest.Nearest(key, keys)
	if i := slices.IndexFunc(keys, func(k string) bool { return strings.HasSuffix(k, "."+key) }); near == "" && i >= 0 {
		near = keys[i] // without the plugin's name
	}
	if near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return "", state.Declaration{}, usagef(`"toolhost settings list" lists the settings; a plugin that is not installed is named with --plugins DIR`, "%s", message)
}

func (s *settings) set(ctx context.Context, args []string) error {
	plugin, d, err := s.find(args[0])
	if err != nil {
		return err
	}
	if !d.HasValue() {
		return failed(d.Check(nil))
	}
	text := "-"
	if len(args) > 1 {
		text = args[1]
	}
	if text == "-" {
		if text, err = s.p.readLine(ctx, d.Key); err != nil {
			return failed(fmt.Errorf("reading the value of %s from stdin: %w", d.Key, err))
		}
	}
	value, err := d.Parse(text)
	if err != nil {
		return failed(err)
	}
	if err := s.db.SetSettings(ctx, []state.Change{{Plugin: plugin, Declaration: d, Value: value}}); err != nil {
		return stateFailure(err)
	}
	return s.changed(ctx, d.Key)
}

func (s *settings) unset(ctx context.Context, args []string) error {
	plugin, d, err := s.find(args[0])
	if err != nil {
		// What a plugin has left behind that is gone, or declares it no more, can go too.
		plugin, _, _ = strings.Cut(args[0], ".")
		had, dbErr := s.db.UnsetSetting(ctx, plugin, args[0])
		switch {
		case dbErr != nil:
			return stateFailure(dbErr)
		case had:
			return s.changed(ctx)
		}
		return err
	}
	if _, err := s.db.UnsetSetting(ctx, plugin, d.Key); err != nil {
		return stateFailure(err)
	}
	return s.changed(ctx, d.Key)
}

func (s *settings) get(ctx context.Context, args []string) error {
	_, d, err := s.find(args[0])
	if err != nil {
		return err
	}
	if !d.HasValue() {
		return failed(d.Check(nil))
	}
	rows, err := s.rows(ctx, d.Key)
	if err != nil {
		return err
	}
	if s.p.flags.json {
		return s.p.printJSON(rows)
	}
	text := rows[0].text()
	if rows[0].Value == nil && !rows[0].Secret {
		s.p.hintf("the setting %s is not set and has no default", d.Key)
		return nil
	}
	if onTerminal(s.p.out) {
		text = printable(text)
	}
	if _, err := fmt.Fprintln(s.p.out, text); err != nil {
		return failed(fmt.Errorf("writing the setting: %w", err))
	}
	return nil
}

func (s *settings) list(ctx context.Context, args []string) error {
	if len(args) > 0 {
		var names []string
		for _, p := range s.plugins {
			names = append(names, p.name)
		}
		if !slices.Contains(names, args[0]) {
			message := fmt.Sprintf("there is no plugin %q", args[0])
			if near := suggest.Nearest(args[0], names); near != "" {
				message += fmt.Sprintf("; did you mean %q?", near)
			}
			return usagef(`"toolhost list" lists the plugins with their tools`, "%s", message)
		}
		s.plugins = slices.DeleteFunc(s.plugins, func(p declaringPlugin) bool { return p.name != args[0] })
	}
	rows, err := s.rows(ctx)
	if err != nil {
		return err
	}
	if s.p.flags.json {
		return s.p.printJSON(rows)
	}
	w := tabwriter.NewWriter(s.p.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "KEY\tTYPE\tVALUE\tNOTE") // tabwriter reports at Flush
	for _, r := range rows {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", oneLine(r.Key), r.Type, oneLine(r.text()), r.note())
	}
	if err := w.Flush(); err != nil {
		return failed(fmt.Errorf("writing the list: %w", err))
	}
	return nil
}

// load sets the settings of a file.
func (s *settings) load(ctx context.Context, args []string) error {
	const hint = `it must hold one JSON object, such as {"weather.unit": "metric"}`
	file := args[0]
	text, err := readAtMost(file, maxSettingsFile)
	if err != nil {
		return usagef("", "reading the settings: %w", err)
	}
	doc, err := jsondoc.Parse(text)
	if syntax := (*jsondoc.SyntaxError)(nil); errors.As(err, &syntax) {
		return usagef(hint, "%s:%d:%d: the file is no JSON", file, syntax.Line, syntax.Column) // what stands there may be a secret
	}
	if err != nil {
		return usagef(hint, "reading the settings: %w", err)
	}
	if _, ok := doc.Value.(map[string]any); !ok {
		return usagef(hint, "%s is no JSON object", file)
	}
	var wrong []error
	code := exitFailed
	at := func(pointer string, err error) {
		place := doc.KeyPosition(pointer)
		wrong = append(wrong, fmt.Errorf("%s:%d:%d: %w", file, place.Line, place.Column, err))
	}
	for _, pointer := range doc.Duplicates {
		at(pointer, errors.New("stands twice; keep one of them"))
	}
	var changes []state.Change
	var keys []string
	for _, key := range doc.Keys("") {
		pointer := "/" + jsondoc.Escape(key)
		plugin, d, err := s.find(key)
		if err != nil {
			code = exitUsage
			at(pointer, err)
			continue
		}
		value := json.RawMessage(doc.TextOf(pointer))
		if err := d.Check(value); err != nil {
			at(pointer, err)
			continue
		}
		changes, keys = append(changes, state.Change{Plugin: plugin, Declaration: d, Value: value}), append(keys, key)
	}
	if len(wrong) > 0 {
		return &failure{code: code, err: errors.Join(wrong...), hint: "nothing was set"}
	}
	if err := s.db.SetSettings(ctx, changes); err != nil {
		return stateFailure(err)
	}
	return s.changed(ctx, keys...)
}

// maxSettingsFile is how large a file of settings may be, in bytes.
const maxSettingsFile = 4 << 20

// changed says what a command has changed where it is asked for as JSON.
func (s *settings) changed(ctx context.Context, keys ...string) error {
	if !s.p.flags.json {
		return nil
	}
	rows := []settingListing{}
	if len(keys) > 0 {
		var err error
		if rows, err = s.rows(ctx, keys...); err != nil {
			return err
		}
	}
	return s.p.printJSON(rows)
}

// settingListing is one row of --json. The value of a secret is never there.
type settingListing struct {
	Key    string          `json:"key"`
	Plugin string          `json:"plugin"`
	Type   string          `json:"type"`
	Secret bool            `json:"secret"`
	Set    bool            `json:"set"`
	Value  json.RawMessage `json:"value"` // what is set, or the default; null where there is neither, and for secrets

	required bool
}

// text gives the value as people see it.
func (l settingListing) text() string {
	var text string
	switch {
	case l.Secret && l.Set:
		return "set"
	case l.Secret:
		return "unset"
	case l.Value == nil:
		return ""
	case json.Unmarshal(l.Value, &text) == nil:
		return text
	}
	return string(l.Value)
}

func (l settingListing) note() string {
	var notes []string
	if l.Secret {
		notes = append(notes, "secret")
	}
	switch {
	case !l.Set && l.Value != nil:
		notes = append(notes, "default")
	case !l.Set && l.required:
		notes = append(notes, "required, and not set")
	case !l.Set && !l.Secret:
		notes = append(notes, "not set")
	}
	return strings.Join(notes, ", ")
}

// rows gives how the settings stand, or those of keys.
func (s *settings) rows(ctx context.Context, keys ...string) ([]settingListing, error) {
	rows := []settingListing{}
	for _, p := range s.plugins {
		list, err := s.db.Settings(p.name, p.declared).List(ctx)
		if err != nil {
			return nil, stateFailure(err)
		}
		for _, one := range list {
			if len(keys) == 0 || slices.Contains(keys, one.Key) {
				rows = append(rows, settingListing{one.Key, one.Plugin, one.Type, one.Secret, one.Set, one.Value, one.Required})
			}
		}
	}
	return rows, nil
}

// readLine reads a line from stdin; on a terminal it asks for it, and does not show it.
// The end of ctx ends the wait, though not the read: that ends with the program.
func (p *program) readLine(ctx context.Context, what string) (string, error) {
	read := func() (string, error) {
		text, err := bufio.NewReader(io.LimitReader(p.in, state.MaxSetting+2)).ReadString('\n')
		if errors.Is(err, io.EOF) {
			if err = nil; text == "" {
				err = errors.New("nothing came")
			}
		}
		return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), err
	}
	if f, ok := p.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		before, err := term.GetState(int(f.Fd()))
		if err != nil {
			return "", err
		}
		defer term.Restore(int(f.Fd()), before) // when the wait ends first, the echo is still off
		_, _ = fmt.Fprintf(p.err, "%s: ", what)
		defer fmt.Fprintln(p.err)
		read = func() (string, error) {
			text, err := term.ReadPassword(int(f.Fd()))
			return string(text), err
		}
	}
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		text, err := read()
		got <- answer{text, err}
	}()
	select {
	case a := <-got:
		return a.text, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
