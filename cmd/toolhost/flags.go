package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/internal/consent"
	"github.com/toolhost/toolhost/internal/mounted"
	"github.com/toolhost/toolhost/loader"
)

// flags are those that every command with plugins takes.
type flags struct {
	plugins         []string
	installed       []string // folders of plugins that came from elsewhere
	noBundled       bool
	folder          string
	folderNamed     bool // by the command line or the configuration
	state           string
	keyFile         bool // the key of secrets is kept in the state folder, whatever keyring there is
	config          string
	isolation       string
	sandbox         string
	trust           bool
	policyFile      string
	policy          *consent.Policy // that of policyFile; nil where there is none
	strictArguments bool
	tools           []string
	pluginsOnly     bool
	profile         string // of the configuration
	maxText         int    // 0: texts are not cut
	poll            time.Duration
	strict          bool
	http            httpFlags // of the commands that serve
	logFormat       string
	logLevel        string
	json            bool
	limits          limits                    // of the configuration only
	cards           []loader.CardCopy         // of the configuration only
	mounts          map[string]mounted.Config // of the configuration only
	calls           calls                     // of the configuration only
}

// addFlags gives a command the flags of plugins; the configuration is read before it runs.
func (p *program) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var((*texts)(&p.flags.plugins), "plugins", "a plugin folder, or a folder of plugin folders; may be repeated (default $XDG_DATA_HOME/toolhost/plugins)")
	f.BoolVar(&p.flags.noBundled, "no-bundled", false, "leave out the plugins that ship with toolhost")
	f.StringVar(&p.flags.folder, "folder", "", "the agent's folder (default: the current folder)")
	f.StringVar(&p.flags.state, "state", "", "where toolhost keeps what it must remember (default $XDG_STATE_HOME/toolhost)")
	f.StringVar(&p.flags.config, "config", "", "the configuration, JSON (default $XDG_CONFIG_HOME/toolhost/config.json if it is there)")
	f.StringVar(&p.flags.isolation, "isolation", isolationAuto, "where node handlers run: in-process, worker (a confined process for each plugin) or auto (worker for what was installed from elsewhere and for code that cannot be held in process)")
	f.StringVar(&p.flags.sandbox, "sandbox", "require", "confine the programs that plugins run: require, best-effort or off")
	f.BoolVar(&p.flags.trust, "trust", false, "agree to every plugin and every change of one without asking, for development and CI")
	f.StringVar(&p.flags.policyFile, "policy", "", "a file that says which plugins may run and what they may ask for; nothing else is agreed to")
	f.BoolVar(&p.flags.strictArguments, "strict-arguments", false, "do not repair arguments losslessly")
	f.Var((*texts)(&p.flags.tools), "tools", "offer only the tools whose names match this glob; may be repeated")
	f.BoolVar(&p.flags.pluginsOnly, "plugins-only", false, "offer only the tools of plugins")
	f.StringVar(&p.flags.profile, "profile", "", "the profile of the configuration that says what is offered")
	f.DurationVar(&p.flags.poll, "poll", 0, "look at the plugin folders at this interval, for file systems that tell of no changes (default: wait to be told)")
	f.BoolVar(&p.flags.strict, "strict", false, "refuse plugins with warnings, and those that this machine cannot hold to their permissions")
	f.StringVar(&p.flags.logFormat, "log-format", "text", "the log on stderr: text or json")
	f.StringVar(&p.flags.logLevel, "log-level", "info", "debug, info, warn or error")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return p.settleFlags(cmd) }
}

// texts is the value of a flag that may be repeated. That of pflag writes its default as CSV,
// for each flag of each command at each start of the program.
type texts []string

var (
	_ pflag.Value      = (*texts)(nil)
	_ pflag.SliceValue = (*texts)(nil) // connect hands the texts on
)

// Set adds a text.
func (t *texts) Set(text string) error { *t = append(*t, text); return nil }

// String gives nothing: there is no default to be shown.
func (t *texts) String() string { return "" }

// Append adds a text, too.
func (t *texts) Append(text string) error { return t.Set(text) }

// Replace puts others in the place of all texts.
func (t *texts) Replace(all []string) error { *t = all; return nil }

// GetSlice gives the texts.
func (t *texts) GetSlice() []string { return *t }

// Type is what the usage calls the value.
func (t *texts) Type() string { return "stringArray" }

// addJSON gives a command that prints data the flag for it.
func (p *program) addJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&p.flags.json, "json", false, "one JSON document on stdout")
}

// settleFlags fills in what the command line leaves open, from the configuration and
// the defaults, and checks the values.
func (p *program) settleFlags(cmd *cobra.Command) error {
	if err := p.readConfig(cmd); err != nil {
		return err
	}
	if err := p.checkHTTP(cmd); err != nil {
		return err
	}
	f := &p.flags
	for _, e := range []struct {
		flag, value string
		allowed     []string
	}{
		{"isolation", f.isolation, []string{isolationAuto, isolationInProcess, isolationWorker}},
		{"sandbox", f.sandbox, []string{"require", "best-effort", "off"}},
		{"log-format", f.logFormat, []string{"text", "json"}},
		{"log-level", f.logLevel, []string{"debug", "info", "warn", "error"}},
	} {
		if !slices.Contains(e.allowed, e.value) {
			return usagef("it may be "+strings.Join(e.allowed, ", "), "--%s %q is unknown", e.flag, e.value)
		}
	}
	if err := p.readPolicy(); err != nil {
		return err
	}
	if f.poll < 0 || f.poll > 0 && f.poll < 10*time.Millisecond {
		return usagef("for example --poll 2s", "--poll %s is too short", f.poll)
	}
	for _, glob := range f.tools {
		if _, err := filepath.Match(glob, ""); err != nil {
			return usagef("for example --tools 'folder_*'", "--tools %q is no glob", glob)
		}
	}
	if f.folderNamed = f.folder != ""; !f.folderNamed {
		f.folder = "."
	}
	folder, err := filepath.Abs(f.folder)
	if err != nil {
		return failed(err)
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return usagef("name an existing folder with --folder", "the agent's folder %q is no folder", f.folder)
	}
	f.folder = folder
	if f.state == "" {
		f.state = ownDir("XDG_STATE_HOME", ".local/state")
	}
	if real := (realPaths{}); f.state != "" && real.of(f.state) == real.of(folder) {
		return usagef("name another folder with --state or with --folder", "the state folder %q is the agent's folder: its tools would read secrets, and write what you agree to", f.state)
	}
	if len(f.plugins) == 0 {
		if dir := ownDir("XDG_DATA_HOME", ".local/share"); dir != "" && isDir(filepath.Join(dir, "plugins")) {
			f.installed = []string{filepath.Join(dir, "plugins")}
		}
	}
	return nil
}

// ownDir gives the program's folder in one of the XDG base directory specification;
// relative values of the variable are invalid there and passed over. It is "" where the
// user has neither the variable nor a home: a folder that others can write, such as the
// temporary one, must not say what is run.
func ownDir(variable, below string) string {
	base := os.Getenv(variable)
	if !filepath.IsAbs(base) {
		home, err := os.UserHomeDir()
		if err != nil || !filepath.IsAbs(home) {
			return ""
		}
		base = filepath.Join(home, below)
	}
	return filepath.Join(base, "toolhost")
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// logger makes the log on stderr. Commands that end at once raise the least level.
func (p *program) logger(least slog.Level) *slog.Logger {
	if p.sink != nil {
		return slog.New(p.sink)
	}
	var level slog.Level
	_ = level.UnmarshalText([]byte(p.flags.logLevel)) // settleFlags has checked it
	options := &slog.HandlerOptions{Level: max(level, least)}
	if p.flags.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(p.err, options))
	}
	return slog.New(slog.NewTextHandler(p.err, options))
}
